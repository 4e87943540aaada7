"""Monnify: transfers to bank accounts, names on accounts.

The vendor knows a transfer by our reference. Its catch-all code says nothing of the outcome: what got it is looked up,
and stays open where nothing is found yet.
"""

import time
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import msgspec

from kasuwa.core.banks import NIP_DIGITS
from kasuwa.core.money import MINOR_PER_MAJOR, format_minor
from kasuwa.core.references import parse_payment_reference, parse_wire_reference, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    FloatShort,
    LookupDeclined,
    NameAnswer,
    NameEnquiry,
    NoAnswer,
    TransferOrder,
    Unavailable,
    UnreadableAnswer,
    before_sending,
)
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.routing.beneficiaries import OTHER_BENEFICIARY, add_name, are_names_of_one, with_name
from kasuwa.rails.vendors.amounts import read_balance
from kasuwa.rails.vendors.bank_codes import UNSERVED_BANK, BankList, VendorBank
from kasuwa.rails.vendors.client import CallObserver, VendorReply
from kasuwa.rails.vendors.monnify.session import (
    LONGEST_MESSAGE,
    MonnifyKeys,
    MonnifySession,
    MonnifyTokens,
    get_response_body,
    read_message,
)
from kasuwa.rails.vendors.signed_callbacks import SignedCallbacks

CURRENCY = "NGN"
LIVE_URL = "https://api.monnify.com"
TEST_URL = "https://sandbox.monnify.com"

SEND = "/api/v2/disbursements/single"
SUMMARY = "/api/v2/disbursements/single/summary"
TRANSFERS = "/api/v2/disbursements/single/transactions"
BALANCE = "/api/v2/disbursements/wallet-balance"
VALIDATE_ACCOUNT = "/api/v1/disbursements/account/validate"
BANKS = "/api/v1/banks"

LONGEST_NARRATION = 100
TWINS_APART_SECONDS = 120

# Codes of NIP, as merchants know them.
DONE, IN_PROGRESS, NO_ACCOUNT, UNKNOWN_BANK, REFUSED = "00", "09", "07", "16", "05"

USED_REFERENCE = "D05"
TOO_SOON = "D07"
STATUSES = {
    "SUCCESS": orders.SUCCESSFUL,
    "COMPLETED": orders.SUCCESSFUL,
    "FAILED": orders.FAILED,
    "REVERSED": orders.FAILED,
    "EXPIRED": orders.FAILED,
    "PENDING": orders.PROCESSING,
    "AWAITING_PROCESSING": orders.PROCESSING,
    "IN_PROGRESS": orders.PROCESSING,
    "PENDING_AUTHORIZATION": orders.UNKNOWN,
    "PENDING_BATCH_AUTHORIZATION": orders.UNKNOWN,
    "OTP_EMAIL_DISPATCH_FAILED": orders.UNKNOWN,
}
NEEDS_OTP = "monnify wants an OTP for transfers: have two-factor authentication switched off for the API"
BALANCE_SHORT = "our wallet with monnify does not cover a transfer: fund it"
NARRATION_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -./,")


class MonnifyBank(MonnifySession):
    """The bank rail."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        keys: MonnifyKeys,
        observe: CallObserver,
        clock: Callable[[], float] = time.monotonic,
        tokens: MonnifyTokens | None = None,
    ) -> None:
        super().__init__(transport, base_url, keys, observe, tokens or MonnifyTokens(clock))
        self._banks = BankList(self._read_banks, {}, clock)

    # --- banks and names -----------------------------------------------------------------------------------------

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        code = await self._banks.require_code(enquiry.bank)
        return await self._validate_account(code, enquiry.account_number, is_throttled=True)

    def serves(self, target: str) -> bool | None:
        return self._banks.is_mapped(target)

    def known_unmapped_banks(self) -> list[str] | None:
        return self._banks.known_unmapped()

    async def list_unmapped_banks(self) -> list[str]:
        return await self._banks.list_unmapped()

    async def _validate_account(self, code: str, account_number: str, *, is_throttled: bool) -> NameAnswer:
        query = {"accountNumber": account_number, "bankCode": code}
        reply = await self._call("GET", VALIDATE_ACCOUNT, query=query, is_throttled=is_throttled)
        name = get_response_body(reply).get("accountName")
        if reply.body["requestSuccessful"]:
            if isinstance(name, str) and name.strip():
                return NameAnswer(name.strip())
            raise UnreadableAnswer("there is no name in the answer")
        words = read_message(reply)
        if "account" in words.lower():
            return NameAnswer(None, words)
        raise LookupDeclined(words)

    async def _read_banks(self) -> list[VendorBank]:
        reply = await self._call("GET", BANKS)
        rows = reply.body.get("responseBody")
        if not reply.body["requestSuccessful"] or not isinstance(rows, list):
            raise UnreadableAnswer("the list of banks has another form than documented")
        return [bank for row in rows if isinstance(row, dict) and (bank := read_bank(row)) is not None]

    async def balance(self) -> dict[str, int]:
        reply = await self._call("GET", BALANCE, query={"accountNumber": self._keys.wallet_account})
        return {CURRENCY: read_balance(get_response_body(reply).get("availableBalance"))}

    async def uses_two_factor(self) -> bool | None:
        listed = get_response_body(await self._call("GET", TRANSFERS, query={"pageNo": "0", "pageSize": "1"})).get(
            "content"
        )
        last = listed[0] if isinstance(listed, list) and listed else None
        reference = last.get("reference") if isinstance(last, dict) else None
        if not isinstance(reference, str):
            return None
        flag = get_response_body(await self._call("GET", SUMMARY, query={"reference": reference})).get("twoFaEnabled")
        return flag if isinstance(flag, bool) else None

    # --- transfers -------------------------------------------------------------------------------------------------

    async def transfer(self, order: TransferOrder) -> Answer:
        with before_sending():
            code = await self._banks.find_code(order.bank)
            if code is None:
                return UNSERVED_BANK
            try:
                named = await self._validate_account(code, order.account_number, is_throttled=False)
            except (LookupDeclined, NoAnswer) as error:
                raise Unavailable(str(error)) from None
        if named.name is None:
            return Answer(orders.FAILED, NO_ACCOUNT, named.message)
        if order.beneficiary_name and not are_names_of_one(order.beneficiary_name, named.name):
            return OTHER_BENEFICIARY
        body = {
            "amount": msgspec.Raw(format_minor(order.amount).encode()),
            "reference": wire_reference(order.key),
            "narration": clean_narration(order.narration or order.sender_name),
            "destinationBankCode": code,
            "destinationAccountNumber": order.account_number,
            "destinationAccountName": named.name,
            "currency": order.currency,
            "sourceAccountNumber": self._keys.wallet_account,
            "async": True,
        }
        with with_name(named.name):
            reply = await self._call("POST", SEND, moves_money=True, body=body)
            is_taken = reply.body["requestSuccessful"]
            answer = read_transfer(reply, order) if is_taken else await self._judge_refusal(reply, order)
        return add_name(answer, named.name)

    async def query(self, order: TransferOrder) -> Answer:
        reply = await self._call("GET", SUMMARY, query={"reference": wire_reference(order.key)})
        if reply.body["requestSuccessful"]:
            return read_transfer(reply, order)
        words = read_message(reply).lower()
        if any(text in words for text in ("no transaction", "not found", "does not exist", "could not find")):
            return Answer(orders.NOT_FOUND, None, "The bank does not know the transfer")
        raise Unavailable(words)

    async def _judge_refusal(self, reply: VendorReply, order: TransferOrder) -> Answer:
        """Returns what a refused transfer means."""
        code, words = str(reply.body.get("responseCode", "")), read_message(reply)
        if code == TOO_SOON:
            raise Unavailable(words, retry_after=TWINS_APART_SECONDS)
        if "sufficient balance" in words.lower() or "insufficient" in words.lower():
            raise FloatShort(words, notice=BALANCE_SHORT)
        if code != USED_REFERENCE:
            if "invalid account" in words.lower() or "account number" in words.lower():
                return Answer(orders.FAILED, NO_ACCOUNT, words)
            if "bank code" in words.lower():
                return Answer(orders.FAILED, UNKNOWN_BANK, words)
            if any(text in words.lower() for text in ("amount", "narration", "currency")):
                return Answer(orders.FAILED, REFUSED, words, notice=f"monnify refused the form of a transfer: {words}")
        return await self.query(order)


def read_bank(row: dict[str, Any]) -> VendorBank | None:
    """Returns a bank of the vendor's list, which has the NIP code in one of its two forms alone."""
    name, code, nip = row.get("name"), row.get("code"), row.get("nipBankCode")
    if not isinstance(name, str) or not isinstance(code, str):
        return None
    return VendorBank(name, code, nip if isinstance(nip, str) and len(nip) == NIP_DIGITS else "")


def clean_narration(text: str) -> str:
    """Returns a narration of the characters that the vendor takes."""
    cleaned = "".join(letter if letter in NARRATION_CHARACTERS else " " for letter in text)
    return " ".join(cleaned.split())[:LONGEST_NARRATION] or "Transfer"


def read_transfer(reply: VendorReply, order: TransferOrder) -> Answer:
    """Returns the state of a transfer. An undocumented state, or one that is not of this order, is unreadable."""
    body = get_response_body(reply)
    status = body.get("status")
    meaning = STATUSES.get(status) if isinstance(status, str) else None
    if meaning is None:
        return Answer(orders.UNREADABLE, None, "The bank answered an unknown status")
    reference = body.get("reference", wire_reference(order.key))
    if reference != wire_reference(order.key) or not is_same_amount(body.get("amount"), order.amount):
        notice = "monnify answered with another amount or reference than was ordered"
        return Answer(orders.UNREADABLE, None, "The bank answered for another transfer", notice=notice)
    if meaning == orders.SUCCESSFUL:
        return Answer(meaning, DONE, "Approved")
    if meaning == orders.FAILED:
        words = body.get("transactionDescription") or "The bank could not pay"
        return Answer(meaning, REFUSED, str(words)[:LONGEST_MESSAGE])
    notice = NEEDS_OTP if meaning == orders.UNKNOWN else ""
    return Answer(meaning, IN_PROGRESS, "The bank is working on it", notice=notice)


def is_same_amount(value: Any, amount: int) -> bool:
    """Tells whether an amount in naira, as a number or a text, is ours. An answer need not have one."""
    if value is None:
        return True
    try:
        return Decimal(str(value)) * MINOR_PER_MAJOR == amount
    except InvalidOperation:
        return False


# --- call-backs ------------------------------------------------------------------------------------------------


CallbackKind = Literal["transfer", "payment", "refund", "inbound", "other"]


class CallbackProduct(msgspec.Struct):
    type: str = ""


class CallbackData(msgspec.Struct):
    reference: str = ""
    payment_reference: str = msgspec.field(name="paymentReference", default="")
    refund_reference: str = msgspec.field(name="refundReference", default="")
    product: CallbackProduct = msgspec.field(default_factory=CallbackProduct)


class Callback(msgspec.Struct):
    event_type: str = msgspec.field(name="eventType", default="")
    data: CallbackData = msgspec.field(name="eventData", default_factory=CallbackData)


CALLBACK_DECODER = msgspec.json.Decoder(Callback)


def read_callback(body: bytes) -> str | None:
    """Returns the rail key of the transfer, payment or refund that a call-back names, or None."""
    callback = CALLBACK_DECODER.decode(body)
    data = callback.data
    match classify_callback(callback):
        case "transfer":
            return parse_wire_reference(data.reference)
        case "payment":
            return parse_payment_reference(data.payment_reference)
        case "refund":
            return parse_wire_reference(data.refund_reference)
    return None


def classify_callback(callback: Callback) -> CallbackKind:
    """Returns what a call-back is about. Money that came into an account has no order of ours."""
    if callback.event_type.endswith("_DISBURSEMENT"):
        return "transfer"
    if callback.event_type in ("SUCCESSFUL_TRANSACTION", "REJECTED_PAYMENT"):
        return "inbound" if callback.data.product.type == "RESERVED_ACCOUNT" else "payment"
    return "refund" if callback.event_type in ("SUCCESSFUL_REFUND", "FAILED_REFUND") else "other"


def make_callbacks(keys: MonnifyKeys, *, is_optional: bool = False) -> SignedCallbacks:
    return SignedCallbacks(keys.secret_key, "monnify-signature", read_callback, is_optional=is_optional)
