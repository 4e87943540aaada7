"""Monnify: accounts reserved for customers, and the money that comes into them.

The vendor knows an account by our reference and refuses it a second time: the account is then looked up. It opens
numbers at all of its banks; merchants receive the preferred one. A payment names our reference, so that money into any
of the numbers finds its account.
"""

from datetime import datetime
from typing import Any
from urllib.parse import quote

from kasuwa.core.references import parse_wire_reference, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import ACCOUNT_NAME, ACCOUNT_NUMBER, BANK_CODE, BANK_NAME, AccountOrder, Receipt
from kasuwa.rails.ports.orders import Answer, Unavailable, UnreadableAnswer
from kasuwa.rails.vendors.amounts import read_major
from kasuwa.rails.vendors.client import VendorReply
from kasuwa.rails.vendors.monnify.session import (
    NAME,
    MonnifySession,
    UnknownList,
    get_response_body,
    is_unknown,
    read_message,
)
from kasuwa.rails.vendors.monnify.transfers import CURRENCY

RESERVE = "/api/v2/bank-transfer/reserved-accounts"
RELEASE = "/api/v1/bank-transfer/reserved-accounts/reference/"
RECEIPTS = "/api/v1/bank-transfer/reserved-accounts/transactions"
TRANSACTION = "/api/v2/transactions/"

DONE, REFUSED, NOT_OPEN = "00", "05", "09"
USED_REFERENCE = "R42"
CATCH_ALL = "99"
RESERVED_ACCOUNT = "RESERVED_ACCOUNT"
# Refusals that are about our contract with the vendor, by a word of theirs.
OUR_CONTRACT = ("contract", "not enabled", "not permitted", "not allowed", "merchant is")

STATUSES = {
    "PAID": orders.SUCCESSFUL,
    "OVERPAID": orders.SUCCESSFUL,
    "PENDING": orders.PROCESSING,
    "PARTIALLY_PAID": orders.PROCESSING,
    "FAILED": orders.FAILED,
    "CANCELLED": orders.FAILED,
    "ABANDONED": orders.FAILED,
    "EXPIRED": orders.FAILED,
    "REVERSED": orders.FAILED,
}


class MonnifyAccounts(MonnifySession):
    """The account rail."""

    async def open(self, order: AccountOrder) -> Answer:
        body = {
            "accountReference": wire_reference(order.key),
            "accountName": order.name,
            "currencyCode": CURRENCY,
            "contractCode": self._keys.contract_code,
            "customerEmail": order.email,
            "customerName": order.name,
            "getAllAvailableBanks": True,
            # The vendor's documents disagree about its default.
            "restrictPaymentSource": False,
        }
        if order.bvn:
            body["bvn"] = order.bvn
        # An account may have been opened although its answer is lost, so the outcome is judged as that of an order.
        reply = await self._call("POST", RESERVE, moves_money=True, body=body)
        if reply.body["requestSuccessful"]:
            return read_account(reply, order)
        return await self._judge_refusal(reply, order)

    async def query(self, order: AccountOrder) -> Answer:
        reply = await self._call("GET", f"{RESERVE}/{wire_reference(order.key)}")
        if reply.body["requestSuccessful"]:
            return read_account(reply, order)
        if is_unknown(reply):
            return Answer(orders.NOT_FOUND, None, "The bank does not know the account")
        raise Unavailable(read_message(reply))

    async def close(self, order: AccountOrder) -> Answer:
        reply = await self._call("DELETE", f"{RELEASE}{wire_reference(order.key)}", moves_money=True)
        if reply.body["requestSuccessful"] or is_unknown(reply):
            return Answer(orders.SUCCESSFUL, DONE, "The account is closed")
        return Answer(orders.FAILED, REFUSED, read_message(reply))

    async def _judge_refusal(self, reply: VendorReply, order: AccountOrder) -> Answer:
        """Returns what a refused account means. The catch-all code says nothing: the account is looked up."""
        code, words = str(reply.body.get("responseCode", "")), read_message(reply)
        if any(word in words.lower() for word in OUR_CONTRACT):
            raise Unavailable(words, notice=f"{NAME} opens no accounts for us: {words}")
        answer = await self.query(order)
        if answer.status != orders.NOT_FOUND or code == USED_REFERENCE:
            return answer
        if code != CATCH_ALL or "bvn" in words.lower():
            return Answer(orders.FAILED, REFUSED, words)
        return Answer(orders.NOT_FOUND, None, words, notice=f"{NAME} does not open an account: {words}")

    # --- receipts --------------------------------------------------------------------------------------------------

    async def find_receipt(self, reference: str) -> Receipt | None:
        reply = await self._call("GET", f"{TRANSACTION}{quote(reference, safe='')}")
        if reply.body["requestSuccessful"]:
            return read_receipt(reply, reference)
        if is_unknown(reply):
            return None
        raise Unavailable(read_message(reply))

    async def list_receipts(self, order: AccountOrder, since: datetime) -> list[str]:
        query = {"accountReference": wire_reference(order.key)}
        try:
            references = [row.get("transactionReference") async for row in self._list(RECEIPTS, query)]
        except UnknownList:
            raise UnreadableAnswer("the payments of an account are not listed: the vendor does not know it") from None
        return [reference for reference in references if isinstance(reference, str)]


def read_account(reply: VendorReply, order: AccountOrder) -> Answer:
    """Returns an account. What is not the one that was ordered is unreadable."""
    body = get_response_body(reply)
    if body.get("accountReference") != wire_reference(order.key) or body.get("currencyCode", CURRENCY) != CURRENCY:
        notice = f"{NAME} answered with another account than was ordered"
        return Answer(orders.UNREADABLE, None, "The bank answered for another account", notice=notice)
    rows = body.get("accounts")
    accounts = [row for row in rows if is_account(row)] if isinstance(rows, list) else []
    if body.get("status") != "ACTIVE" or not accounts:
        return Answer(orders.UNREADABLE, None, "The bank answered with no account that can be paid into")
    chosen = next((row for row in accounts if row.get("bankCode") == order.bank_code), accounts[0])
    facts = {
        ACCOUNT_NUMBER: chosen["accountNumber"],
        BANK_NAME: chosen["bankName"],
        BANK_CODE: str(chosen.get("bankCode") or ""),
        ACCOUNT_NAME: str(chosen.get("accountName") or body.get("accountName") or order.name),
    }
    return Answer(orders.SUCCESSFUL, DONE, "The account is open", facts)


def is_account(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("accountNumber"), str) and isinstance(row.get("bankName"), str)


def read_receipt(reply: VendorReply, reference: str) -> Receipt | None:
    """Returns the receipt of a transaction, or None if it is no payment into a reserved account of ours."""
    body = get_response_body(reply)
    product = body.get("product")
    if not isinstance(product, dict) or product.get("type") != RESERVED_ACCOUNT:
        return None
    key = parse_wire_reference(str(product.get("reference", "")))
    amount, status = read_major(body.get("amountPaid")), STATUSES.get(str(body.get("paymentStatus")))
    is_readable = body.get("transactionReference") == reference and amount and status is not None
    destination, source = body.get("destinationAccountInformation"), find_source(body)
    return Receipt(
        reference=reference,
        amount=amount or 0,
        currency=str(body.get("currency") or body.get("currencyCode") or CURRENCY),
        status=status if is_readable and status is not None else orders.UNREADABLE,
        account_number=str(destination.get("accountNumber", "")) if isinstance(destination, dict) else "",
        account_key=key or "",
        sender_name=str(source.get("accountName") or ""),
    )


def find_source(body: dict[str, Any]) -> dict[str, Any]:
    """Returns the payer's account, which the vendor tells as an array, as an object or not at all."""
    source = body.get("paymentSourceInformation") or body.get("accountPayments") or body.get("accountDetails")
    if isinstance(source, list):
        source = source[0] if source else None
    return source if isinstance(source, dict) else {}
