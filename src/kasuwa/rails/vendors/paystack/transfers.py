"""Paystack: transfers to bank accounts, names on accounts.

A transfer takes a recipient, which needs the account's name: both are looked up before the money call, and a failure
before it means that nothing was sent. The vendor knows a transfer by our reference and refuses it a second time: such a
refusal is looked up, because it looks exactly like any other.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import msgspec

from kasuwa.core.banks import bank_of_code
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
    after_sending,
    before_sending,
)
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.routing.beneficiaries import OTHER_BENEFICIARY, add_name, are_names_of_one, with_name
from kasuwa.rails.vendors.bank_codes import UNSERVED_BANK, BankList, VendorBank
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply
from kasuwa.rails.vendors.paystack.lists import list_rows
from kasuwa.rails.vendors.signed_callbacks import SignedCallbacks

NAME = "paystack"
LIVE_URL = TEST_URL = "https://api.paystack.co"

MAX_RECIPIENTS = 10_000
LONGEST_MESSAGE = 200
LONGEST_REASON = 100

# Codes of NIP, as merchants know them.
DONE, IN_PROGRESS, NO_ACCOUNT, FRAUD, REFUSED = "00", "09", "07", "34", "05"

# Banks whose code at the vendor follows from nothing, by NIP code.
EXCEPTIONS = {"100004": "999992", "000027": "00103"}

STATUSES = {
    "success": orders.SUCCESSFUL,
    "failed": orders.FAILED,
    "reversed": orders.FAILED,
    "abandoned": orders.FAILED,
    "blocked": orders.FAILED,
    "rejected": orders.FAILED,
    "pending": orders.PROCESSING,
    "otp": orders.UNKNOWN,
    "received": orders.UNKNOWN,
}
NOTICES = {
    "blocked": "paystack blocked a transfer because the approval URL did not answer",
    "rejected": "paystack rejected a transfer because the approval URL refused it",
    "otp": "paystack wants an OTP for transfers: switch it off on its dashboard, or finish the transfer there",
    "received": "paystack waits for the approval of a transfer: switch approvals off on its dashboard",
}
MESSAGES = {orders.PROCESSING: "The bank is working on it", orders.UNKNOWN: "The bank is working on it"}

# Refusals that are about our account with the vendor, by a word of theirs.
OUR_ACCOUNT = {
    "balance": "our balance with paystack does not cover a transfer: fund it",
    "starter business": "paystack does not let a starter business pay others: complete the registration there",
    "third party payouts": "paystack has not switched transfers on for us",
}


class PaystackKeys(msgspec.Struct, frozen=True):
    secret_key: str

    def __repr__(self) -> str:
        return "PaystackKeys(…)"


def is_envelope(body: dict[str, Any]) -> bool:
    return isinstance(body.get("status"), bool) and isinstance(body.get("message"), str)


class Recipient(msgspec.Struct, frozen=True):
    """An account as the vendor knows it."""

    code: str
    name: str


class PaystackBank:
    """The bank rail. `domain` is the mode that answers must have: `live` or `test`."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        keys: PaystackKeys,
        domain: str,
        observe: CallObserver,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._headers = {"Authorization": f"Bearer {keys.secret_key}"}
        self._domain = domain
        self._banks = BankList(self._read_banks, EXCEPTIONS, clock)
        self._recipients: dict[tuple[str, str], Recipient] = {}

    # --- banks and names ---------------------------------------------------------------------------------------

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        code = await self._banks.require_code(enquiry.bank)
        return await self._resolve(code, enquiry.account_number, is_throttled=True)

    def serves(self, target: str) -> bool | None:
        return self._banks.is_mapped(target)

    def known_unmapped_banks(self) -> list[str] | None:
        return self._banks.known_unmapped()

    async def list_unmapped_banks(self) -> list[str]:
        return await self._banks.list_unmapped()

    async def find_bank_code(self, bank_code: str) -> str | None:
        """Returns the vendor's code of a bank, or None if it does not serve the bank."""
        return await self._banks.find_code(bank_of_code(bank_code))

    async def _resolve(self, code: str, account_number: str, *, is_throttled: bool) -> NameAnswer:
        query = {"account_number": account_number, "bank_code": code}
        reply = await self._look_up("/bank/resolve", query, is_throttled=is_throttled)
        if reply.status == 200 and reply.body["status"]:
            name = get_data(reply).get("account_name")
            if isinstance(name, str) and name.strip():
                return NameAnswer(name.strip())
            raise UnreadableAnswer("there is no name in the answer")
        words = read_message(reply)
        if "could not resolve" in words.lower():
            return NameAnswer(None, words)
        raise LookupDeclined(words)

    async def _read_banks(self) -> list[VendorBank]:
        query = {"country": "nigeria", "use_cursor": "true", "include_nip_sort_code": "true"}
        look_up = partial(self._look_up, is_throttled=False)
        return [bank async for row in list_rows(look_up, "/bank", query) if (bank := read_bank(row)) is not None]

    async def balance(self) -> dict[str, int]:
        reply = await self._look_up("/balance", {}, is_throttled=True)
        rows = reply.body.get("data")
        if not isinstance(rows, list):
            raise UnreadableAnswer("the balance has another form than documented")
        balances = [(row.get("currency"), row.get("balance")) for row in rows if isinstance(row, dict)]
        return {name: kobo for name, kobo in balances if isinstance(name, str) and isinstance(kobo, int)}

    async def _look_up(self, path: str, query: dict[str, str], *, is_throttled: bool) -> VendorReply:
        return await self._client.call(
            "GET", path, moves_money=False, headers=self._headers, query=query, is_throttled=is_throttled
        )

    # --- transfers -----------------------------------------------------------------------------------------------

    async def transfer(self, order: TransferOrder) -> Answer:
        with before_sending():
            code = await self._banks.find_code(order.bank)
            if code is None:
                return UNSERVED_BANK
            recipient = await self._find_recipient(code, order)
        if isinstance(recipient, Answer):
            return recipient
        if order.beneficiary_name and not are_names_of_one(order.beneficiary_name, recipient.name):
            return OTHER_BENEFICIARY
        with with_name(recipient.name):
            answer = await self._send_to(recipient, code, order)
        return add_name(answer, recipient.name)

    async def _send_to(self, recipient: Recipient, code: str, order: TransferOrder) -> Answer:
        """Sends a transfer. A recipient that the vendor has forgotten is made anew once."""
        reply = await self._send(order, recipient.code)
        if is_unknown_recipient(reply):
            self._recipients.pop((code, order.account_number), None)
            with after_sending():
                renewed = await self._find_recipient(code, order)
                if isinstance(renewed, Answer):
                    return renewed
                reply = await self._send(order, renewed.code)
        if reply.body["status"] and reply.status < 300:
            return read_transfer(reply, order, self._domain)
        return await self._judge_refusal(reply, order)

    async def query(self, order: TransferOrder) -> Answer:
        path = f"/transfer/verify/{wire_reference(order.key)}"
        reply = await self._look_up(path, {}, is_throttled=False)
        if reply.body["status"] and reply.status < 300:
            return read_transfer(reply, order, self._domain)
        if reply.status in (400, 404) and "transfer not found" in read_message(reply).lower():
            return Answer(orders.NOT_FOUND, None, "The bank does not know the transfer")
        raise Unavailable(read_message(reply))

    async def _send(self, order: TransferOrder, recipient: str) -> VendorReply:
        body = {
            "source": "balance",
            "amount": order.amount,
            "currency": order.currency,
            "recipient": recipient,
            "reference": wire_reference(order.key),
        }
        reason = (order.narration.strip() or order.sender_name.strip())[:LONGEST_REASON]
        if reason:
            body["reason"] = reason
        return await self._client.call("POST", "/transfer", moves_money=True, headers=self._headers, body=body)

    async def _find_recipient(self, code: str, order: TransferOrder) -> Recipient | Answer:
        """Returns the recipient of an account, or the answer to an order whose account does not exist. Nothing is sent
        yet, so whatever goes wrong here is Unavailable."""
        known = self._recipients.get((code, order.account_number))
        if known is not None:
            return known
        try:
            named = await self._resolve(code, order.account_number, is_throttled=False)
            if named.name is None:
                return Answer(orders.FAILED, NO_ACCOUNT, named.message[:LONGEST_MESSAGE])
            body = {
                "type": "nuban",
                "name": named.name,
                "account_number": order.account_number,
                "bank_code": code,
                "currency": order.currency,
            }
            reply = await self._client.call(
                "POST", "/transferrecipient", moves_money=False, headers=self._headers, body=body, is_throttled=False
            )
        except LookupDeclined as error:
            raise Unavailable(str(error)) from None
        except NoAnswer as error:
            raise Unavailable(str(error)) from None
        recipient = get_data(reply).get("recipient_code")
        if reply.status < 300 and isinstance(recipient, str):
            if len(self._recipients) >= MAX_RECIPIENTS:
                self._recipients.clear()
            new_recipient = Recipient(recipient, named.name)
            self._recipients[code, order.account_number] = new_recipient
            return new_recipient
        if "account" in read_message(reply).lower():
            return Answer(orders.FAILED, NO_ACCOUNT, read_message(reply))
        raise Unavailable(read_message(reply))

    async def _judge_refusal(self, reply: VendorReply, order: TransferOrder) -> Answer:
        """Returns what a refused transfer means. A refusal that does not say that nothing was done is looked up."""
        words = read_message(reply)
        for word, notice in OUR_ACCOUNT.items():
            if word in words.lower():
                raise (FloatShort if word == "balance" else Unavailable)(words, notice=notice)
        if "fraud" in words.lower():
            return Answer(orders.FAILED, FRAUD, words)
        answer = await self.query(order)
        is_validation = reply.body.get("type") == "validation_error"
        if answer.status == orders.NOT_FOUND and is_validation and not is_duplicate(reply):
            return Answer(orders.FAILED, REFUSED, words, notice=f"paystack refused the form of a transfer: {words}")
        return answer


def read_bank(row: dict[str, Any]) -> VendorBank | None:
    if row.get("is_deleted") or row.get("active") is False:
        return None
    if row.get("supports_transfer") is False:
        return None
    name, code, nip = row.get("name"), row.get("code"), row.get("nip_sort_code")
    if not isinstance(name, str) or not isinstance(code, str):
        return None
    return VendorBank(name, code, nip if isinstance(nip, str) and len(nip) == 6 else "")


def get_data(reply: VendorReply) -> dict[str, Any]:
    data = reply.body.get("data")
    return data if isinstance(data, dict) else {}


def read_message(reply: VendorReply) -> str:
    return str(reply.body.get("message", ""))[:LONGEST_MESSAGE]


def is_duplicate(reply: VendorReply) -> bool:
    return reply.body.get("code") == "duplicate_transfer_reference" or "already exists" in read_message(reply).lower()


def is_unknown_recipient(reply: VendorReply) -> bool:
    return reply.status >= 400 and reply.body.get("code") == "invalid_transfer_recipient"


def read_transfer(reply: VendorReply, order: TransferOrder, domain: str) -> Answer:
    """Returns the state of a transfer. An undocumented state, or one that is not of this order, is unreadable."""
    data = get_data(reply)
    status = data.get("status")
    meaning = STATUSES.get(status) if isinstance(status, str) else None
    if meaning is None:
        return Answer(orders.UNREADABLE, None, "The bank answered an unknown status")
    same = (data.get("amount", order.amount), data.get("currency", order.currency)) == (order.amount, order.currency)
    if not same or data.get("reference", wire_reference(order.key)) != wire_reference(order.key):
        notice = "paystack answered with another amount or reference than was ordered"
        return Answer(orders.UNREADABLE, None, "The bank answered for another transfer", notice=notice)
    if data.get("domain", domain) != domain:
        return Answer(
            orders.UNREADABLE, None, "The bank answered for another mode", notice=f"the key is not for {domain}"
        )
    if meaning == orders.SUCCESSFUL:
        return Answer(meaning, DONE, "Approved")
    if meaning == orders.FAILED:
        words = find_failure(data) or "The bank could not pay"
        return Answer(meaning, REFUSED, words[:LONGEST_MESSAGE], notice=NOTICES.get(str(status), ""))
    return Answer(meaning, IN_PROGRESS, MESSAGES[meaning], notice=NOTICES.get(str(status), ""))


def find_failure(data: dict[str, Any]) -> str:
    """Returns the bank's reason of a failed transfer, or "". The field `reason` is our own narration."""
    words = (data.get(name) for name in ("gateway_response", "failures"))
    return next((text.strip() for text in words if isinstance(text, str) and text.strip()), "")


# --- call-backs ------------------------------------------------------------------------------------------------


CallbackKind = Literal["transfer", "payment", "refund", "inbound", "other"]
# Money that came into an account which a customer keeps.
INBOUND_CHANNEL = "dedicated_nuban"


class CallbackData(msgspec.Struct):
    reference: str = ""
    channel: str = ""
    transaction_reference: str = ""
    merchant_note: str | None = None


class Callback(msgspec.Struct):
    event: str = ""
    data: CallbackData = msgspec.field(default_factory=CallbackData)


CALLBACK_DECODER = msgspec.json.Decoder(Callback)


def read_callback(body: bytes) -> str | None:
    """Returns the rail key of the transfer, payment or refund that a call-back names, or None.

    A call-back about a refund may name its payment alone: the refunds of that payment are queried then.
    """
    callback = CALLBACK_DECODER.decode(body)
    data = callback.data
    match classify_callback(callback):
        case "transfer":
            return parse_wire_reference(data.reference)
        case "payment":
            return parse_payment_reference(data.reference)
        case "refund":
            named = parse_wire_reference(data.merchant_note or "")
            return named or parse_payment_reference(data.transaction_reference)
    return None


def classify_callback(callback: Callback) -> CallbackKind:
    """Returns what a call-back is about. Money that came into an account has no order of ours."""
    if callback.event.startswith("transfer."):
        return "transfer"
    if callback.event in ("charge.success", "bank.transfer.rejected"):
        return "inbound" if callback.data.channel == INBOUND_CHANNEL else "payment"
    return "refund" if callback.event.startswith("refund.") else "other"


def make_callbacks(keys: PaystackKeys) -> SignedCallbacks:
    return SignedCallbacks(keys.secret_key, "x-paystack-signature", read_callback)
