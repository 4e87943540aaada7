"""The sandbox page of the test environment: business clock, sandbox actions and magic values."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.kit.forms import FormField, build_request
from kasuwa.console.kit.values import time_text
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.kit.vocabulary import label
from kasuwa.core.money import CURRENCIES
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.scenario import OPERATIONS

RAILS = ("bank", "card", "biller", "mobile", "identity", "issuer", "decider")
FAULT_KINDS = ("timeout", "reset", "unavailable", "decline", "none")
FAULT_OPERATIONS = tuple(dict.fromkeys(name for names in OPERATIONS.values() for name in names))

# Forms for actions of `PUT /sandbox`: action, title, description and fields. Only deployed actions are shown.
SANDBOX_FORMS: tuple[tuple[str, str, str, tuple[FormField, ...]], ...] = (
    (
        "advance",
        "Advance clock",
        "Moves your business time forward and runs all jobs that fall due in between. "
        "A time is written 2026-01-31T10:00:00+01:00.",
        (
            FormField("days", "Days", input_mode="numeric", value_type="whole"),
            FormField("hours", "Hours", input_mode="numeric", value_type="whole"),
            FormField("minutes", "Minutes", input_mode="numeric", value_type="whole"),
            FormField("seconds", "Seconds", input_mode="numeric", value_type="whole"),
            FormField("until", "Or until a time"),
        ),
    ),
    (
        "fund_wallet",
        "Fund wallet",
        "Credits a wallet with test money.",
        (
            FormField("currency", "Currency", options=CURRENCIES),
            FormField("amount", "Amount", input_mode="decimal", required=True),
        ),
    ),
    (
        "settle",
        "Complete a pending transaction",
        "Simulates the rail's callback for a payment, transfer, bill or refund.",
        (
            FormField("txnRef", "Reference", required=True),
            FormField("outcome", "Outcome", options=("successful", "failed")),
        ),
    ),
    (
        "fault",
        "Inject a rail fault",
        "Makes your next calls to a rail fail in the chosen way.",
        (
            FormField("rail", "Rail", options=RAILS),
            FormField("on", "Only calls of (empty: all)", options=("", *FAULT_OPERATIONS)),
            FormField("kind", "Fault", options=FAULT_KINDS),
            FormField("times", "Times", input_mode="numeric", value_type="whole"),
        ),
    ),
    (
        "pay_account",
        "Pay into an account",
        "Simulates a customer's bank transfer to one of your account numbers.",
        (
            FormField("accountNumber", "Account number", input_mode="numeric", required=True),
            FormField("amount", "Amount", input_mode="decimal", required=True),
            FormField("sender_name", "Sender"),
        ),
    ),
    (
        "card_purchase",
        "Buy with a virtual card",
        "Simulates a purchase with one of your virtual cards.",
        (
            FormField("reference", "Card reference", required=True),
            FormField("amount", "Amount", input_mode="decimal", required=True),
            FormField("merchant_name", "Shop"),
        ),
    ),
    (
        "redeem_cashcode",
        "Redeem a cashcode",
        "Simulates a cash withdrawal with a cashcode.",
        (
            FormField("cashcode", "Cashcode", input_mode="numeric", required=True, input_type="password"),
            FormField("pin", "PIN", input_mode="numeric", required=True, input_type="password"),
            FormField("amount", "Amount", input_mode="decimal", required=True),
            FormField("channel", "Channel", options=("ATM", "WEB", "POS")),
        ),
    ),
    (
        "beneficiary",
        "Add a split beneficiary",
        "Adds somebody who receives a share of split payments. Returns a ref_code.",
        (
            FormField("name", "Name", required=True),
            FormField("bankcode", "Bank code", input_mode="numeric", required=True),
            FormField("accountnumber", "Account number", input_mode="numeric", required=True),
        ),
    ),
    (
        "dispute",
        "Dispute a payment",
        "The payer's bank disputes a successful payment, or a part of it.",
        (
            FormField("txnRef", "Payment", required=True),
            FormField("amount", "Amount", input_mode="decimal"),
            FormField("reason", "Reason", required=True),
            FormField("hours", "Hours to respond", input_mode="numeric", value_type="whole"),
        ),
    ),
    (
        "card_dispute_outcome",
        "Decide a cardholder's dispute",
        "The card network decides for the holder of a virtual card or for the shop.",
        (
            FormField("dispute_id", "Dispute", required=True),
            FormField("outcome", "Outcome", options=("won", "lost")),
        ),
    ),
    (
        "dispute_outcome",
        "Decide a dispute",
        "The payer's bank decides for you or for the payer.",
        (
            FormField("dispute_id", "Dispute", required=True),
            FormField("outcome", "Outcome", options=("won", "lost")),
        ),
    ),
    (
        "snapshot",
        "Store a world",
        "Stores everything that you have now, to come back to it.",
        (FormField("name", "Name", required=True),),
    ),
    ("delete_world", "Delete a world", "Deletes a world for good.", (FormField("name", "Name", required=True),)),
    ("reset", "Reset", "Starts with new, empty books. The old ones are archived.", ()),
)
RESET_CONSEQUENCE = (
    "All transactions, balances and records of this merchant are archived, and it starts again with new, empty books. "
    "Key, webhook and users stay. This cannot be undone."
)


async def show_sandbox(visit: Visit, status: int = 200, **values: Any) -> Response:
    clock = await visit.call_action("sandbox", action="clock")
    forms = [form for form in SANDBOX_FORMS if is_offered(visit, form[0])]
    magic = load_reference_data("magic_values")
    shared = {"now": clock.body["now"], "forms": forms, "magic": magic, "submitted": {}, "open_form": ""}
    return visit.render("sandbox.html", status, **{**shared, **values})


def is_offered(visit: Visit, name: str) -> bool:
    """Returns whether the deployment has the action and the user may request it."""
    action = visit.services.find_action("sandbox", {"action": name})
    return action is not None and visit.is_allowed("sandbox", action)


async def run_sandbox_action(visit: Visit) -> Response:
    action = visit.path_parameter("action")
    fields = next((fields for name, _, _, fields in SANDBOX_FORMS if name == action), None)
    if fields is None or not visit.services.has_action("sandbox", action):
        raise NotFound
    submitted = {field.name: visit.form_text(field.name) for field in fields}
    request = {"action": action, **build_request(fields, visit.form_text)}
    if action == "reset":
        visit.ask_first("Reset this merchant?", RESET_CONSEQUENCE, "Reset", visit.next_path or "/sandbox")
    reply = await visit.run_action("sandbox", request, f"used the sandbox: {action}")
    if not reply.is_success:
        return await show_sandbox(visit, 422, faults=reply.faults, submitted=submitted, open_form=action)
    return visit.redirect(visit.next_path or "/sandbox", summarize_result(action, reply.body))


def summarize_result(action: str, body: dict[str, Any]) -> str:
    """Returns the flash message for a sandbox action's reply."""
    if action == "advance":
        ran = ", ".join(f"{count} × {kind}" for kind, count in body["ran"].items())
        more = f" More jobs are due: advance until {body['until']} to continue." if body.get("more") else ""
        return f"Business time is now {time_text(body['now'])}. Jobs run: {ran or 'none'}.{more}"
    if action == "reset":
        return "The merchant starts with new, empty books."
    shown = ((label(name), value) for name, value in body.items() if name not in ("status", "message"))
    values = ", ".join(f"{name}: {value}" for name, value in shown if not isinstance(value, dict | list))
    return ". ".join(part for part in (body.get("message", ""), values) if part)
