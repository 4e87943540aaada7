"""What holds for every adapter, made as the service makes it: no fault of the vendor or of the way there gets out as
anything but Unavailable or NoAnswer, an order that never left is reported as not sent, and no key is ever shown."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from kasuwa.core.references import movement_reference, rail_key
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import AccountOrder
from kasuwa.rails.ports.disputes import DisputeAnswer
from kasuwa.rails.ports.identities import IdentityClaim, verify_person
from kasuwa.rails.ports.orders import BillOrder, CollectionOrder, NoAnswer, NothingSent, TransferOrder, Unavailable
from kasuwa.rails.ports.transport import AnswerLost, HttpReply, NotSent
from kasuwa.rails.vendor_rails import VendorRails
from kasuwa.rails.vendors.client import VendorMonitor
from kasuwa.settings.settings import read_settings
from kasuwa.terms.sms import Sms
from tests.rails.banks import GTBANK
from tests.rails.vendors.adapters import Observed
from tests.rails.vendors.test_client import ScriptedTransport

DAY = date(2026, 1, 5)
SENT_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
BVN = "22212345678"
SECRETS = {
    "KASUWA_PAYSTACK_SECRET_KEY": "sk_test_hidden-1",
    "KASUWA_MONNIFY_API_KEY": "MK_TEST_hidden-2",
    "KASUWA_MONNIFY_SECRET_KEY": "hidden-3",
    "KASUWA_VTPASS_API_KEY": "hidden-4",
    "KASUWA_VTPASS_PUBLIC_KEY": "hidden-5",
    "KASUWA_VTPASS_SECRET_KEY": "hidden-6",
    "KASUWA_DOJAH_SECRET_KEY": "hidden-7",
    "KASUWA_TERMII_API_KEY": "hidden-9",
    "KASUWA_REMOTE_SECRET": "hidden-8-hidden-8-hidden-8-hidden-8",
}
SETTINGS = read_settings(
    SECRETS
    | {
        "KASUWA_MONNIFY_WALLET_ACCOUNT": "8016472829",
        "KASUWA_MONNIFY_CONTRACT_CODE": "4934121686",
        "KASUWA_VTPASS_PHONE": "08039999999",
        "KASUWA_PAYSTACK_PHONE": "08031234567",
        "KASUWA_RAIL_EMAIL_DOMAIN": "pay.example.com",
        "KASUWA_DOJAH_APP_ID": "app-1",
        "KASUWA_SMS_FROM": "Kasuwa",
        "KASUWA_REMOTE_BASE_URL": "https://rail.example",
        "KASUWA_REMOTE_KEY_ID": "key-1",
    }
)


def key_of(letters: str) -> str:
    return rail_key(12, movement_reference(letters, 123_456_789, DAY))


ORDERS: dict[str, Any] = {
    "transfers": TransferOrder(key_of("FD"), 150_000, "NGN", GTBANK, "0123456784", "Ada Stores", "Invoice 1042"),
    "bills": BillOrder(
        key_of("BP"),
        "ikeja-electric",
        "ikeja-electric/prepaid",
        "electricity_token",
        "45012345678",
        500_000,
        "NGN",
        SENT_AT,
    ),
    "identities": IdentityClaim(BVN, "Ada", "Obi", dob="1990-01-05", phone="08031234567"),
    "payments": CollectionOrder(rail_key(12, "GP12345678920260105X"), "card", 150_000, "NGN", sent_at=SENT_AT),
    "accounts": AccountOrder(key_of("PA"), "Ada Obi", "ada@example.com", "035", BVN),
    "feeds": SENT_AT,
    "disputes": DisputeAnswer("7", is_accepted=True, amount=150_000),
    "messages": Sms(to="+2348031234567", text="Ada Stores: paid"),
}
# How each purpose is called. Those in MONEY move money or open something.
CALLS: dict[str, Callable[[Any, Any], Awaitable[Any]]] = {
    "transfers": lambda rail, order: rail.transfer(order),
    "bills": lambda rail, order: rail.pay(order),
    "identities": verify_person,
    "payments": lambda rail, order: rail.begin(order, None),
    "accounts": lambda rail, order: rail.open(order),
    "feeds": lambda rail, since: rail.list_disputes(since),
    "disputes": lambda rail, answer: rail.answer_dispute(answer),
    "messages": lambda rail, message: rail.send(message),
}
MONEY = ("transfers", "bills", "payments", "accounts", "messages")


def vendor_rails(transport: Any, observe: Any) -> VendorRails:
    clock = DatabaseClock()
    clock.now = lambda: SENT_AT  # type: ignore[method-assign]
    return VendorRails(SETTINGS, transport, clock, lambda vendor: VendorMonitor(observe))


def makers_of(rails: VendorRails) -> dict[str, Callable[[], Any]]:
    """Returns what makes every adapter, by vendor and purpose, such as `paystack transfers`."""
    purposes: dict[str, Any] = {
        "transfers": rails.banks(),
        "bills": rails.billers(),
        "identities": rails.identities(),
        "payments": rails.collections(),
        "accounts": rails.accounts(),
        "feeds": rails.feeds(),
        "disputes": rails.disputes(),
        "messages": rails.sms(),
    }
    return {f"{vendor} {purpose}": make for purpose, makers in purposes.items() for vendor, make in makers.items()}


EVERY_ADAPTER = tuple(makers_of(vendor_rails(None, Observed())))
# Monnify has nothing to ask for disputes: it reports settlements by call-back alone.
SILENT = ("monnify feeds",)

PAGE = b"<html>Bad gateway</html>"
ENVELOPE = (
    b'{"status":false,"message":"no","requestSuccessful":false,"responseMessage":"no","responseCode":"99",'
    b'"code":"087","response_description":"INVALID CREDENTIALS","error":"no","content":{}}'
)
FAULTS: dict[str, HttpReply | Exception] = {
    "before connect": NotSent("no connection"),
    "after the request": AnswerLost("reset"),
    "half an answer": HttpReply(200, b'{"status":tr', is_complete=False),
    "HTML with 200": HttpReply(200, PAGE),
    "empty 200": HttpReply(200, b""),
    "other JSON with 200": HttpReply(200, b'{"hello":1}'),
    "502": HttpReply(502, PAGE),
    "404 of a proxy": HttpReply(404, PAGE),
    "429": HttpReply(429, ENVELOPE, retry_after=7),
    "keys refused": HttpReply(401, ENVELOPE),
}


async def raised_by(adapter: str, *script: HttpReply | Exception) -> tuple[Unavailable | NoAnswer, Observed]:
    """Calls an adapter whose vendor answers by a script. Returns what it raises."""
    observed = Observed()
    rail = makers_of(vendor_rails(ScriptedTransport(*script), observed))[adapter]()
    purpose = adapter.partition(" ")[2]
    try:
        answer = await CALLS[purpose](rail, ORDERS[purpose])
    except (Unavailable, NoAnswer) as error:
        return error, observed
    raise AssertionError(f"it answered {answer}")


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("adapter", [name for name in EVERY_ADAPTER if name not in SILENT])
def test_fault_is_unavailable_or_no_answer_and_shows_no_key(adapter: str, fault: str) -> None:
    with capture_logs() as logs:
        error, observed = asyncio.run(raised_by(adapter, FAULTS[fault]))
    if fault == "before connect":
        assert isinstance(error, Unavailable)
        assert adapter.partition(" ")[2] not in MONEY or isinstance(error, NothingSent)
    notice = error.notice if isinstance(error, Unavailable) else ""
    shown = "\n".join([*traceback.format_exception(error), repr(error), notice, str(logs), str(observed.outcomes)])
    for secret in (*SECRETS.values(), "hidden", BVN):
        assert secret not in shown


@pytest.mark.parametrize("adapter", SILENT)
def test_feed_that_has_nothing_to_ask_makes_no_call(adapter: str) -> None:
    transport = ScriptedTransport(NotSent("no connection"))
    rail = makers_of(vendor_rails(transport, Observed()))[adapter]()
    assert asyncio.run(rail.list_disputes(SENT_AT)) == []
    assert asyncio.run(rail.list_settlements(SENT_AT)) == []
    assert transport.sent == []


@pytest.mark.parametrize("adapter", EVERY_ADAPTER)
def test_adapter_and_its_orders_show_no_secret(adapter: str) -> None:
    rail = makers_of(vendor_rails(ScriptedTransport(NotSent("")), Observed()))[adapter]()
    purpose = adapter.partition(" ")[2]
    shown = [repr(rail)] + [repr(value) for name, value in vars(rail).items() if "keys" in name or "secret" in name]
    order = ORDERS[purpose]
    if purpose == "accounts":
        shown.append(repr(order))
    if purpose == "payments":
        card = orders.CardSecrets("5061460410120223210", "12", "30", "123", "1234")
        token = orders.VendorToken("paystack", "AUTH_hidden", "ada@example.com")
        shown += [repr(card), repr(msgspec.structs.replace(order, saved_card=token))]
    for secret in (*SECRETS.values(), "hidden", BVN, "5061460410120223210"):
        assert secret not in "\n".join(shown)
