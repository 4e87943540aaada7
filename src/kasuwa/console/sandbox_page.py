"""The scripted world of the test environment: its clock, its buttons, its magic values."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.forms import FormField, build_request
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.money import CURRENCIES
from kasuwa.core.reference_tables import load_reference_data

RAILS = ("bank", "card", "biller", "mobile", "identity", "issuer")
FAULT_KINDS = ("timeout", "reset", "unavailable", "decline", "none")

# The buttons of `PUT /sandbox`: each an action, what it is called, and what it asks for. One whose action is not
# there yet is not shown.
SANDBOX_FORMS: tuple[tuple[str, str, str, tuple[FormField, ...]], ...] = (
    (
        "advance",
        "Let time pass",
        "Moves your business time forward and runs everything that falls due on the way.",
        (
            FormField("days", "Days", input_mode="numeric", value_type="whole"),
            FormField("hours", "Hours", input_mode="numeric", value_type="whole"),
            FormField("minutes", "Minutes", input_mode="numeric", value_type="whole"),
            FormField("seconds", "Seconds", input_mode="numeric", value_type="whole"),
            FormField("until", "Or until, such as 2026-01-31T10:00:00+01:00"),
        ),
    ),
    (
        "fund_wallet",
        "Fund the wallet",
        "Credits a wallet, as if money had come in.",
        (
            FormField("currency", "Currency", options=CURRENCIES),
            FormField("amount", "Amount", input_mode="decimal", required=True),
        ),
    ),
    (
        "settle",
        "Settle something pending",
        "Plays the rail's call-back for a payment, transfer, bill or refund.",
        (
            FormField("txnRef", "txnRef or orderRef", required=True),
            FormField("outcome", "Outcome", options=("successful", "failed")),
        ),
    ),
    (
        "fault",
        "Make a rail fail",
        "Your next calls of that rail fail so.",
        (
            FormField("rail", "Rail", options=RAILS),
            FormField("kind", "Fault", options=FAULT_KINDS),
            FormField("times", "Times", input_mode="numeric", value_type="whole"),
        ),
    ),
    (
        "pay_account",
        "Pay into an account",
        "A customer's bank transfer into an account number of yours.",
        (
            FormField("accountNumber", "Account number", input_mode="numeric", required=True),
            FormField("amount", "Amount", input_mode="decimal", required=True),
            FormField("sender_name", "Sender"),
        ),
    ),
    (
        "card_purchase",
        "Buy with a virtual card",
        "A shop charges one of your virtual cards.",
        (
            FormField("reference", "Card reference", required=True),
            FormField("amount", "Amount", input_mode="decimal", required=True),
            FormField("merchant_name", "Shop"),
        ),
    ),
    (
        "redeem_cashcode",
        "Draw cash",
        "Somebody uses a cashcode.",
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
        "Somebody who gets a part of payments; answers a ref_code.",
        (
            FormField("name", "Name", required=True),
            FormField("bankcode", "Bank code", input_mode="numeric", required=True),
            FormField("accountnumber", "Account number", input_mode="numeric", required=True),
        ),
    ),
    ("reset", "Begin anew", "Fresh books, as on day one; the old ones are kept aside.", ()),
)


async def show_sandbox(visit: Visit, status: int = 200, **values: Any) -> Response:
    clock = await visit.call_action("sandbox", action="clock")
    shown = [button for button in SANDBOX_FORMS if visit.services.has_action("sandbox", button[0])]
    magic = load_reference_data("magic_values")
    shared = {"now": clock.body["now"], "buttons": shown, "magic": magic, "said": {}, "pressed": ""}
    return visit.render("sandbox.html", status, **{**shared, **values})


async def run_sandbox_action(visit: Visit) -> Response:
    action = visit.path_parameter("action")
    asks = next((asks for name, _, _, asks in SANDBOX_FORMS if name == action), None)
    if asks is None or not visit.services.has_action("sandbox", action):
        raise NotFound
    said = {ask.name: visit.form_text(ask.name) for ask in asks}
    given = build_request(asks, visit.form_text)
    reply = await visit.run_action("sandbox", {"action": action, **given}, f"used the sandbox: {action}")
    if not reply.is_success:
        return await show_sandbox(visit, 422, faults=reply.faults, said=said, pressed=action)
    return visit.redirect("/sandbox", summarize_result(action, reply.body))


def summarize_result(action: str, body: dict[str, Any]) -> str:
    if action == "advance":
        ran = ", ".join(f"{count} × {kind}" for kind, count in body["ran"].items())
        more = f" More is due: advance until {body['until']} to go on." if body.get("more") else ""
        return f"It is {body['now']} now. Ran: {ran or 'nothing fell due'}.{more}"
    told = ", ".join(f"{name}: {value}" for name, value in body.items() if name not in ("status", "message"))
    return ". ".join(part for part in (body.get("message", ""), told) if part)
