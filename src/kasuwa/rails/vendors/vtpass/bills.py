"""VTpass: pays bills. Reads its codes, statuses and goods into answers.

The vendor knows a bill by its `request_id`: the minute of the first sending in Lagos, then our reference. It is made
from the order and never from the clock at the call, so that a repeat, a query and a restart use the same one.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from hmac import compare_digest
from typing import Any

import msgspec

from kasuwa.core.calendar import LAGOS, lagos_day
from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.core.references import compact_reference, parse_compact_reference
from kasuwa.rails.catalogue.catalogue import GIVES_PIN, GIVES_TOKEN, CatalogueEdition
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.orders import (
    Answer,
    BillOrder,
    CustomerAnswer,
    CustomerQuery,
    FloatShort,
    LookupDeclined,
    NoAnswer,
    Unavailable,
    UnreadableAnswer,
)
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.amounts import read_balance
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply
from kasuwa.rails.vendors.vtpass.catalogue import read_catalogue, split_paycode

NAME = "vtpass"
LIVE_URL = "https://vtpass.com/api"
TEST_URL = "https://sandbox.vtpass.com/api"

MINUTE = "%Y%m%d%H%M"
MINUTE_DIGITS = 12
LONGEST_MESSAGE = 200
PHONE = re.compile(r"0[789][01][0-9]{8}", re.ASCII)

DONE, IN_PROGRESS, FAULT, WRONG_AMOUNT, NOT_ALLOWED = "00", "09", "96", "13", "57"

# Codes after which the outcome is the status of the transaction inside.
LOOK_INSIDE = frozenset({"000", "001", "044"})
STILL_WORKING = frozenset({"099", "089"})
FAILED_CODES = frozenset({"016", "040", "091", "025", "026"})
AMOUNT_REFUSED = frozenset({"013", "017", "031", "032"})
NOT_SOLD = frozenset({"010", "012"})
ARGUMENTS_MISSING = "011"
USED_REQUEST_ID = "014"
UNKNOWN_REQUEST_ID = "015"
WALLET_SHORT = "018"
TOO_SOON = "019"
BILLER_AWAY = "030"
SUSPENDED = frozenset({"034", "035"})
SYSTEM_ERROR = "083"
BAD_REQUEST_ID = "085"
# Troubles of our account with the vendor: nothing was done, and the operator must act.
OUR_ACCOUNT = {
    "021": "our account with vtpass is locked",
    "022": "our account with vtpass is suspended",
    "023": "our account with vtpass has no access to the API",
    "024": "our account with vtpass is inactive",
    "027": "vtpass does not know our address: have it added to its list",
    "028": "vtpass has not switched this product on for us",
    "087": "vtpass refuses our credentials: check the keys",
}
BALANCE_SHORT = "our balance with vtpass does not cover the bill: fund it"

# Products with variations that are sold to a telephone number alone.
NAMELESS = frozenset({"waec", "waec-registration"})

DELIVERED = "delivered"
STATUS_FAILED = frozenset({"failed", "reversed"})
STATUS_OPEN = frozenset({"initiated", "pending"})


class VtpassKeys(msgspec.Struct, frozen=True):
    api_key: str
    public_key: str
    secret_key: str

    def __repr__(self) -> str:
        return "VtpassKeys(…)"


def make_request_id(order: BillOrder) -> str:
    return order.sent_at.astimezone(LAGOS).strftime(MINUTE) + compact_reference(order.key)


def parse_request_id(text: str) -> str | None:
    """Returns the rail key of a request_id, or None if it is not one of ours."""
    minute, reference = text[:MINUTE_DIGITS], text[MINUTE_DIGITS:]
    return parse_compact_reference(reference) if minute.isascii() and minute.isdecimal() else None


def is_envelope(body: dict[str, Any]) -> bool:
    return "code" in body or "response_description" in body


class VtpassBiller:
    """The biller rail. `phone` is the operator's telephone number: the vendor requires one with every bill."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        keys: VtpassKeys,
        phone: str,
        observe: CallObserver,
        now: Callable[[], datetime],
    ) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._reading = {"api-key": keys.api_key, "public-key": keys.public_key}
        self._writing = {"api-key": keys.api_key, "secret-key": keys.secret_key}
        self._phone = phone
        self._now = now

    # --- the catalogue and customers ---------------------------------------------------------------------------

    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        return await read_catalogue(self._read)

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer:
        if not query.is_name_required:
            return CustomerAnswer("")
        service, variation = split_paycode(query.paycode)
        body = {"serviceID": service, "billersCode": query.reference}
        if service.endswith("-electric") or service == "jamb":
            body["type"] = variation
        reply = await self._client.call("POST", "/merchant-verify", moves_money=False, headers=self._writing, body=body)
        return read_customer(reply)

    async def balance(self) -> dict[str, int]:
        contents = (await self._read("/balance", {})).get("contents")
        return {"NGN": read_balance(contents.get("balance") if isinstance(contents, dict) else None)}

    async def _read(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        reply = await self._client.call("GET", path, moves_money=False, headers=self._reading, query=query)
        raise_for_account(read_code(reply.body))
        return reply.body

    # --- bills ---------------------------------------------------------------------------------------------------

    async def pay(self, order: BillOrder) -> Answer:
        """Sends a bill. An order is sent on its day in Lagos only: the vendor refuses older ones, so one that could not
        be sent by midnight has failed, unless the vendor knows it after all."""
        if lagos_day(self._now()) != lagos_day(order.sent_at):
            return too_late(await self.query(order))
        if order.amount % MINOR_PER_MAJOR:
            return Answer(orders.FAILED, WRONG_AMOUNT, "The amount is not in whole naira")
        body = {"request_id": make_request_id(order), **bill_fields(order, self._phone)}
        reply = await self._client.call("POST", "/pay", moves_money=True, headers=self._writing, body=body)
        code = read_code(reply.body)
        if code in (USED_REQUEST_ID, BILLER_AWAY, BAD_REQUEST_ID):
            return explain_unknown(code, await self.query(order))
        return read_payment(reply, order)

    async def query(self, order: BillOrder) -> Answer:
        reply = await self._client.call(
            "POST",
            "/requery",
            moves_money=False,
            headers=self._writing,
            body={"request_id": make_request_id(order)},
            is_throttled=False,
        )
        return read_query(reply, order)

    async def reprint(self, order: BillOrder) -> Mapping[str, str]:
        answer = await self.query(order)
        if answer.status != orders.SUCCESSFUL:
            raise Unavailable("the bill is not delivered")
        return answer.facts


def bill_fields(order: BillOrder, operator_phone: str) -> dict[str, Any]:
    """Returns the fields of a bill by its product."""
    service, variation = split_paycode(order.paycode)
    fields: dict[str, Any] = {"serviceID": service, "amount": order.amount // MINOR_PER_MAJOR}
    numbers = (order.reference, order.phone.replace("+234", "0", 1))
    fields["phone"] = next((number for number in numbers if PHONE.fullmatch(number)), operator_phone)
    if not variation:
        return fields
    fields["variation_code"] = variation
    if service not in NAMELESS:
        fields["billersCode"] = order.reference
    if service in ("dstv", "gotv"):
        fields["subscription_type"] = "change"
    return fields


class VtpassCallbacks:
    """The call-backs of VTpass. They are not signed: a secret in the path authenticates the vendor, and nothing in them
    is believed."""

    accepted_body = b'{"response":"success"}'

    def __init__(self, path_secret: str) -> None:
        self._path_secret = path_secret.encode()

    def find_order(self, path: str, find_header: Callable[[str], str | None], body: bytes) -> str | None:
        if not compare_digest(path.encode(), self._path_secret):
            raise CallbackRefused
        try:
            callback = CALLBACK_DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return parse_request_id(callback.data.request_id) if callback.type == "transaction-update" else None

    def is_catalogue_change(self, body: bytes) -> bool:
        try:
            return CALLBACK_DECODER.decode(body).type == "variations-update"
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False


class CallbackBill(msgspec.Struct):
    request_id: str = msgspec.field(name="requestId", default="")


class Callback(msgspec.Struct):
    type: str = ""
    data: CallbackBill = msgspec.field(default_factory=CallbackBill)


CALLBACK_DECODER = msgspec.json.Decoder(Callback)


# --- answers ---------------------------------------------------------------------------------------------------


def read_code(body: Mapping[str, Any]) -> str:
    """Returns the code of a reply as text: the vendor writes it as text or as a number."""
    code = body.get("code", body.get("response_description", ""))
    return f"{code:03d}" if isinstance(code, int) and not isinstance(code, bool) else str(code)


def read_message(body: Mapping[str, Any]) -> str:
    words = body.get("response_description")
    return words[:LONGEST_MESSAGE] if isinstance(words, str) else ""


def raise_for_account(code: str) -> None:
    """Raises Unavailable if the vendor does not serve us at all."""
    if code in OUR_ACCOUNT:
        raise Unavailable(f"code {code}", notice=OUR_ACCOUNT[code])


def too_late(answer: Answer) -> Answer:
    if answer.status == orders.NOT_FOUND:
        return Answer(orders.FAILED, FAULT, "The bill could not be delivered on its day")
    return answer


def explain_unknown(code: str, answer: Answer) -> Answer:
    """Returns the answer to a query that follows a refusal which does not tell whether the bill exists."""
    if answer.status != orders.NOT_FOUND:
        return answer
    if code == BILLER_AWAY:
        raise Unavailable("the biller cannot be reached")
    if code == BAD_REQUEST_ID:
        notice = "vtpass refuses the form or the day of a request_id: compare this machine's clock with Lagos"
        return Answer(orders.FAILED, FAULT, "The bill could not be delivered", notice=notice)
    return answer


def read_payment(reply: VendorReply, order: BillOrder) -> Answer:
    """Returns the answer to `pay`."""
    code, words = read_code(reply.body), read_message(reply.body)
    raise_for_account(code)
    if code in AMOUNT_REFUSED:
        return Answer(orders.FAILED, WRONG_AMOUNT, words or "The amount is refused")
    if code in NOT_SOLD:
        notice = f"vtpass no longer sells {order.paycode}: run `kasuwa bills refresh`"
        return Answer(orders.FAILED, NOT_ALLOWED, "This item is no longer sold", notice=notice)
    if code == ARGUMENTS_MISSING:
        notice = f"vtpass misses a field of {order.paycode}: the adapter sends too little"
        return Answer(orders.FAILED, FAULT, "The bill could not be delivered", notice=notice)
    if code == WALLET_SHORT:
        raise FloatShort("our balance is short", notice=BALANCE_SHORT)
    if code == TOO_SOON:
        raise Unavailable("the same customer was served within 30 s", retry_after=30)
    if code in SUSPENDED:
        raise Unavailable("the vendor has suspended the service")
    if code == SYSTEM_ERROR:
        raise NoAnswer("the vendor had a system error")
    return read_outcome(reply, order)


def read_query(reply: VendorReply, order: BillOrder) -> Answer:
    """Returns the answer to a query."""
    code = read_code(reply.body)
    raise_for_account(code)
    if code == UNKNOWN_REQUEST_ID:
        return Answer(orders.NOT_FOUND, None, "The biller does not know the bill")
    if code in (BILLER_AWAY, SYSTEM_ERROR):
        raise Unavailable(f"code {code}")
    return read_outcome(reply, order)


def read_outcome(reply: VendorReply, order: BillOrder) -> Answer:
    """Returns what a reply says of the bill itself. An undocumented state is unreadable, and queried again."""
    body = reply.body
    code, words = read_code(body), read_message(body)
    if code in STILL_WORKING:
        return Answer(orders.UNKNOWN, IN_PROGRESS, "The biller is working on it")
    if code in FAILED_CODES:
        return Answer(orders.FAILED, FAULT, words or "The biller could not deliver")
    if code not in LOOK_INSIDE:
        return Answer(orders.UNREADABLE, None, f"The biller answered an unknown code {code[:10]}")
    transaction = find_transaction(body)
    status = transaction.get("status")
    if status in STATUS_FAILED:
        return Answer(orders.FAILED, FAULT, words or "The biller could not deliver")
    if status in STATUS_OPEN:
        return Answer(orders.PROCESSING, IN_PROGRESS, "The biller is working on it")
    if status != DELIVERED:
        notice = f"vtpass reports the status {str(status)[:40]!r} for a bill: look at it on its dashboard"
        return Answer(orders.UNREADABLE, None, "The biller answered an unknown status", notice=notice)
    mismatch = find_mismatch(body, order)
    if mismatch:
        return Answer(orders.UNREADABLE, None, "The biller answered for another bill", notice=mismatch)
    return Answer(orders.SUCCESSFUL, DONE, "Delivered", facts=read_goods(body, order.fulfillment))


def find_transaction(body: Mapping[str, Any]) -> Mapping[str, Any]:
    content = body.get("content")
    transaction = content.get("transactions") if isinstance(content, dict) else None
    return transaction if isinstance(transaction, dict) else {}


def find_mismatch(body: Mapping[str, Any], order: BillOrder) -> str:
    """Returns what is wrong with the amount or request_id of a delivered bill, or ""."""
    answered = body.get("requestId")
    if isinstance(answered, str) and answered != make_request_id(order):
        return "vtpass answered with the request_id of another bill"
    amount = body.get("amount")
    if amount is None:
        return ""
    try:
        same = Decimal(str(amount)) * MINOR_PER_MAJOR == order.amount
    except InvalidOperation:
        same = False
    return "" if same else "vtpass delivered another amount than was ordered"


# --- goods -----------------------------------------------------------------------------------------------------

TOKEN_FIELDS = ("token", "mainToken", "Token", "purchased_code")
UNIT_FIELDS = ("units", "Units", "mainTokenUnits")
TOKEN = re.compile(r"[0-9]{16,24}", re.ASCII)
UNITS = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
LONGEST_PIN = 100


def read_goods(body: Mapping[str, Any], fulfillment: str) -> dict[str, str]:
    """Returns the token and units, or the PIN, of a delivered bill. The vendor names them in several ways."""
    if fulfillment == GIVES_TOKEN:
        tokens = (find_token(body.get(name)) for name in TOKEN_FIELDS)
        units = (UNITS.search(str(body.get(name) or "")) for name in UNIT_FIELDS)
        token, unit = next(filter(None, tokens), ""), next(filter(None, units), None)
        return ({"token": token} if token else {}) | ({"units": unit[0]} if unit else {})
    if fulfillment == GIVES_PIN:
        pin = read_pins(body)
        return {"pin": pin} if pin else {}
    return {}


def find_token(value: Any) -> str:
    """Returns the digits of a token, which may be written in groups and after a label."""
    match = TOKEN.search(re.sub(r"[\s-]", "", value)) if isinstance(value, str) else None
    return match[0] if match else ""


def read_pins(body: Mapping[str, Any]) -> str:
    cards = body.get("cards")
    if isinstance(cards, list):
        pins = [f"Serial {card.get('Serial')} PIN {card.get('Pin')}" for card in cards if isinstance(card, dict)]
        return ", ".join(pins)[:LONGEST_PIN].strip()
    tokens = body.get("tokens")
    if isinstance(tokens, list) and tokens:
        return ", ".join(map(str, tokens))[:LONGEST_PIN].strip()
    values = (body.get(name) for name in ("purchased_code", "Voucher", "Pin"))
    return next((value.strip()[:LONGEST_PIN] for value in values if isinstance(value, str) and value.strip()), "")


def read_customer(reply: VendorReply) -> CustomerAnswer:
    """Returns the name of a customer. A wrong number is also answered with success, and an error inside."""
    code, content = read_code(reply.body), reply.body.get("content")
    raise_for_account(code)
    if code in ("000", "020") and isinstance(content, dict):
        if content.get("WrongBillersCode") is True or content.get("error"):
            return CustomerAnswer(None)
        name = content.get("Customer_Name")
        if isinstance(name, str) and name.strip():
            return CustomerAnswer(name.strip())
    if code in (ARGUMENTS_MISSING, "012"):
        raise LookupDeclined("the catalogue is out of date")
    if code == BILLER_AWAY:
        raise Unavailable("the biller cannot be reached")
    raise UnreadableAnswer(f"code {code[:10]}")
