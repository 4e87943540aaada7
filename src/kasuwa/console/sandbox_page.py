"""The scripted world of the test environment: its clock, its buttons, its magic values."""

from typing import Any

from starlette.responses import Response

from kasuwa.console.forms import Ask, typed
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.catalogue import load
from kasuwa.core.money import CURRENCIES

RAILS = ("bank", "card", "biller", "mobile", "identity", "issuer")
FAULT_KINDS = ("timeout", "reset", "unavailable", "decline", "none")

# The buttons of `PUT /sandbox`: each an action, what it is called, and what it asks for. One whose action is not
# there yet is not shown.
BUTTONS: tuple[tuple[str, str, str, tuple[Ask, ...]], ...] = (
    (
        "advance",
        "Let time pass",
        "Moves your business time forward and runs everything that falls due on the way.",
        (
            Ask("days", "Days", mode="numeric", kind="whole"),
            Ask("hours", "Hours", mode="numeric", kind="whole"),
            Ask("minutes", "Minutes", mode="numeric", kind="whole"),
            Ask("seconds", "Seconds", mode="numeric", kind="whole"),
            Ask("until", "Or until, such as 2026-01-31T10:00:00+01:00"),
        ),
    ),
    (
        "fund_wallet",
        "Fund the wallet",
        "Credits a wallet, as if money had come in.",
        (Ask("currency", "Currency", options=CURRENCIES), Ask("amount", "Amount", mode="decimal", required=True)),
    ),
    (
        "settle",
        "Settle something pending",
        "Plays the rail's call-back for a payment, transfer, bill or refund.",
        (
            Ask("txnRef", "txnRef or orderRef", required=True),
            Ask("outcome", "Outcome", options=("successful", "failed")),
        ),
    ),
    (
        "fault",
        "Make a rail fail",
        "Your next calls of that rail fail so.",
        (
            Ask("rail", "Rail", options=RAILS),
            Ask("kind", "Fault", options=FAULT_KINDS),
            Ask("times", "Times", mode="numeric", kind="whole"),
        ),
    ),
    (
        "pay_account",
        "Pay into an account",
        "A customer's bank transfer into an account number of yours.",
        (
            Ask("accountNumber", "Account number", mode="numeric", required=True),
            Ask("amount", "Amount", mode="decimal", required=True),
            Ask("sender_name", "Sender"),
        ),
    ),
    (
        "card_purchase",
        "Buy with a virtual card",
        "A shop charges one of your virtual cards.",
        (
            Ask("reference", "Card reference", required=True),
            Ask("amount", "Amount", mode="decimal", required=True),
            Ask("merchant_name", "Shop"),
        ),
    ),
    (
        "redeem_cashcode",
        "Draw cash",
        "Somebody uses a cashcode.",
        (
            Ask("cashcode", "Cashcode", mode="numeric", required=True, type="password"),
            Ask("pin", "PIN", mode="numeric", required=True, type="password"),
            Ask("amount", "Amount", mode="decimal", required=True),
            Ask("channel", "Channel", options=("ATM", "WEB", "POS")),
        ),
    ),
    (
        "beneficiary",
        "Add a split beneficiary",
        "Somebody who gets a part of payments; answers a ref_code.",
        (
            Ask("name", "Name", required=True),
            Ask("bankcode", "Bank code", mode="numeric", required=True),
            Ask("accountnumber", "Account number", mode="numeric", required=True),
        ),
    ),
    ("reset", "Begin anew", "Fresh books, as on day one; the old ones are kept aside.", ()),
)


async def show_sandbox(visit: Visit, status: int = 200, **told: Any) -> Response:
    clock = await visit.act("sandbox", action="clock")
    shown = [button for button in BUTTONS if visit.parts.has_action("sandbox", button[0])]
    magic = load("magic_values")
    shared = {"now": clock.body["now"], "buttons": shown, "magic": magic, "said": {}, "pressed": ""}
    return visit.show("sandbox.html", status, **{**shared, **told})


async def press_button(visit: Visit) -> Response:
    action = visit.path("action")
    asks = next((asks for name, _, _, asks in BUTTONS if name == action), None)
    if asks is None or not visit.parts.has_action("sandbox", action):
        raise NotFound
    said = {ask.name: visit.said(ask.name) for ask in asks}
    given = typed(asks, visit.said)
    reply = await visit.do("sandbox", {"action": action, **given}, f"used the sandbox: {action}")
    if not reply.is_good:
        return await show_sandbox(visit, 422, faults=reply.faults, said=said, pressed=action)
    return visit.go("/sandbox", words_of(action, reply.body))


def words_of(action: str, body: dict[str, Any]) -> str:
    if action == "advance":
        ran = ", ".join(f"{count} × {kind}" for kind, count in body["ran"].items())
        more = f" More is due: advance until {body['until']} to go on." if body.get("more") else ""
        return f"It is {body['now']} now. Ran: {ran or 'nothing fell due'}.{more}"
    told = ", ".join(f"{name}: {value}" for name, value in body.items() if name not in ("status", "message"))
    return ". ".join(part for part in (body.get("message", ""), told) if part)
