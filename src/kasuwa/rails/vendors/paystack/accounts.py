"""Paystack: dedicated accounts of customers, and the money that comes into them.

An account belongs to a customer of the vendor, whom it knows by an email address. No reference of ours can be given,
so the address is made of our key, at a domain of the operator's: each account has a customer of its own, and a
call-back about the customer names the account. Before an account is opened its customer's accounts are looked up,
because nothing says that opening twice returns the same one.
"""

from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec

from kasuwa.core.references import wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import ACCOUNT_NAME, ACCOUNT_NUMBER, BANK_NAME, AccountOrder, Receipt
from kasuwa.rails.ports.orders import Answer, NoAnswer, Unavailable, UnreadableAnswer, before_sending
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply
from kasuwa.rails.vendors.paystack.lists import list_rows
from kasuwa.rails.vendors.paystack.transfers import NAME, PaystackKeys, get_data, is_envelope, read_message

DONE, REFUSED, IN_PROGRESS = "00", "05", "09"
CHANNEL = "dedicated_nuban"
CURRENCY = "NGN"
RAIL_ID = "rail_id"

STATUSES = {
    "success": orders.SUCCESSFUL,
    "failed": orders.FAILED,
    "reversed": orders.FAILED,
    "abandoned": orders.FAILED,
    "pending": orders.PROCESSING,
    "ongoing": orders.PROCESSING,
    "processing": orders.PROCESSING,
    "queued": orders.PROCESSING,
}
# Refusals that are about our account with the vendor, by a word of theirs.
OUR_ACCOUNT = ("not available", "not enabled", "not active", "limit", "upgrade", "registered business")
# Refusals for want of the customer's identity, which only some trades need.
IDENTITY = ("identif", "validat", "verif")


class PaystackAccountTerms(msgspec.Struct, frozen=True):
    """Requirements of the vendor for every account."""

    phone: str  # the operator's
    email_domain: str  # the operator's
    bank: str = "wema-bank"  # the vendor's name of the bank that has the accounts


class PaystackAccounts:
    """The account rail. `domain` is the mode that answers must have: `live` or `test`."""

    def __init__(
        self,
        transport: HttpTransport,
        base_url: str,
        keys: PaystackKeys,
        domain: str,
        terms: PaystackAccountTerms,
        observe: CallObserver,
    ) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._headers = {"Authorization": f"Bearer {keys.secret_key}"}
        self._domain = domain
        self._terms = terms

    async def open(self, order: AccountOrder) -> Answer:
        with before_sending():
            customer = await self._make_customer(order)
            account = await self._find_account(str(customer["id"]), order)
        if account is not None:
            return account
        # An account may have been opened although its answer is lost, so the outcome is judged as that of an order.
        reply = await self._client.call(
            "POST",
            "/dedicated_account",
            moves_money=True,
            headers=self._headers,
            body={"customer": customer["customer_code"], "preferred_bank": self._terms.bank},
        )
        if reply.body["status"] and reply.status < 300:
            return read_account(get_data(reply), order, self.make_email(order))
        return await self._judge_refusal(reply, order)

    async def query(self, order: AccountOrder) -> Answer:
        reply = await self._look_up(f"/customer/{quote(self.make_email(order), safe='')}")
        if reply.status == 404 or (reply.status == 400 and "not found" in read_message(reply).lower()):
            return Answer(orders.NOT_FOUND, None, "The bank does not know the account")
        number = get_data(reply).get("id")
        if reply.status >= 300 or not isinstance(number, int):
            raise Unavailable(read_message(reply))
        account = await self._find_account(str(number), order)
        return account or Answer(orders.NOT_FOUND, None, "The bank has no account for the customer")

    async def close(self, order: AccountOrder) -> Answer:
        path = f"/dedicated_account/{quote(order.facts[RAIL_ID], safe='')}"
        reply = await self._client.call("DELETE", path, moves_money=True, headers=self._headers)
        if reply.status < 300 or reply.status == 404:
            return Answer(orders.SUCCESSFUL, DONE, "The account is closed")
        return Answer(orders.FAILED, REFUSED, read_message(reply))

    def make_email(self, order: AccountOrder) -> str:
        return f"{wire_reference(order.key)}@{self._terms.email_domain}"

    async def _make_customer(self, order: AccountOrder) -> dict[str, Any]:
        """Returns the customer of an account. The vendor returns the same one for the same address. Whatever goes wrong
        here is Unavailable."""
        first, _, last = order.name.strip().partition(" ")
        body = {
            "email": self.make_email(order),
            "first_name": first,
            "last_name": last.strip() or first,
            "phone": self._terms.phone,
        }
        try:
            reply = await self._client.call(
                "POST", "/customer", moves_money=False, headers=self._headers, body=body, is_throttled=False
            )
        except NoAnswer as error:
            raise Unavailable(str(error)) from None
        customer = get_data(reply)
        if reply.status < 300 and isinstance(customer.get("id"), int) and customer.get("customer_code"):
            return customer
        raise Unavailable(read_message(reply), notice=f"{NAME} makes no customer for an account: {read_message(reply)}")

    async def _find_account(self, customer: str, order: AccountOrder) -> Answer | None:
        try:
            rows = [row async for row in list_rows(self._look_up, "/dedicated_account", {"customer": customer})]
        except (NoAnswer, UnreadableAnswer) as error:
            raise Unavailable(str(error)) from None
        accounts = [row for row in rows if row.get("active") is not False]
        return read_account(accounts[0], order, self.make_email(order)) if accounts else None

    async def _judge_refusal(self, reply: VendorReply, order: AccountOrder) -> Answer:
        words = read_message(reply)
        if any(word in words.lower() for word in OUR_ACCOUNT):
            raise Unavailable(words, notice=f"{NAME} opens no accounts for us: {words}")
        if any(word in words.lower() for word in IDENTITY):
            return Answer(orders.FAILED, REFUSED, words, notice=f"{NAME} wants a customer's identity: {words}")
        answer = await self.query(order)
        if answer.status == orders.NOT_FOUND and reply.body.get("type") == "validation_error":
            return Answer(orders.FAILED, REFUSED, words, notice=f"{NAME} refused the form of an account: {words}")
        if answer.status == orders.NOT_FOUND:
            return Answer(orders.NOT_FOUND, None, words, notice=f"{NAME} does not open an account: {words}")
        return answer

    # --- receipts --------------------------------------------------------------------------------------------------

    async def find_receipt(self, reference: str) -> Receipt | None:
        reply = await self._look_up(f"/transaction/verify/{quote(reference, safe='')}")
        if reply.body["status"] and reply.status < 300:
            return read_receipt(get_data(reply), reference, self._domain)
        if reply.status in (400, 404) and "not found" in read_message(reply).lower():
            return None
        raise Unavailable(read_message(reply))

    async def list_receipts(self, order: AccountOrder, since: datetime) -> list[str]:
        query = {
            "virtual_account_number": order.facts[ACCOUNT_NUMBER],
            "from": since.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        }
        look_up = partial(self._look_up, is_throttled=True)
        references = [row.get("reference") async for row in list_rows(look_up, "/transaction", query)]
        return [reference for reference in references if isinstance(reference, str)]

    async def _look_up(
        self, path: str, query: dict[str, str] | None = None, *, is_throttled: bool = False
    ) -> VendorReply:
        return await self._client.call(
            "GET", path, moves_money=False, headers=self._headers, query=query, is_throttled=is_throttled
        )


def read_account(row: dict[str, Any], order: AccountOrder, email: str) -> Answer:
    """Returns an account. One that has no number yet will be assigned one later. Another customer's is unreadable."""
    number, bank, rail_id = row.get("account_number"), row.get("bank"), row.get("id")
    customer = row.get("customer")
    if isinstance(customer, dict) and str(customer.get("email", email)).lower() != email:
        notice = f"{NAME} answered with another account than was ordered"
        return Answer(orders.UNREADABLE, None, "The bank answered for another account", notice=notice)
    if row.get("assigned") is False:
        return Answer(orders.PROCESSING, IN_PROGRESS, "The bank is opening the account")
    is_readable = isinstance(number, str) and isinstance(bank, dict) and isinstance(rail_id, int)
    if not is_readable or row.get("currency", CURRENCY) != CURRENCY:
        return Answer(orders.UNREADABLE, None, "The bank answered with no account that can be paid into")
    assert isinstance(bank, dict)
    facts = {
        ACCOUNT_NUMBER: str(number),
        BANK_NAME: str(bank.get("name", "")),
        ACCOUNT_NAME: str(row.get("account_name") or order.name),
        RAIL_ID: str(rail_id),
    }
    return Answer(orders.SUCCESSFUL, DONE, "The account is open", facts)


def read_receipt(data: dict[str, Any], reference: str, domain: str) -> Receipt | None:
    """Returns the receipt of a transaction, or None if it is no payment into a dedicated account."""
    if data.get("channel") != CHANNEL:
        return None
    authorization, metadata = data.get("authorization"), data.get("metadata")
    authorization = authorization if isinstance(authorization, dict) else {}
    metadata = metadata if isinstance(metadata, dict) else {}
    amount, status = data.get("amount"), STATUSES.get(str(data.get("status")))
    is_same = data.get("reference") == reference and data.get("domain", domain) == domain
    is_amount = isinstance(amount, int) and not isinstance(amount, bool) and amount > 0
    number = authorization.get("receiver_bank_account_number") or metadata.get("receiver_account_number")
    return Receipt(
        reference=reference,
        amount=amount if is_amount and isinstance(amount, int) else 0,
        currency=str(data.get("currency", CURRENCY)),
        status=status if is_same and is_amount and status is not None else orders.UNREADABLE,
        account_number=str(number or ""),
        sender_name=str(authorization.get("sender_name") or ""),
    )
