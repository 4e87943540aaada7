"""Refunds at Paystack, which knows no key of ours for them: a second request is a second refund.

The wire reference of the refund is its `merchant_note`, alone. Before a refund is sent, the vendor's list is searched
for it, and what is found there is the answer. A refund whose answer was lost is looked for in the same way, and never
sent again: the vendor refuses only what exceeds the payment, so that a partial refund would be paid twice.
"""

from collections.abc import Mapping
from datetime import UTC, timedelta
from typing import Any

from kasuwa.core.references import wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CollectionOrder, LookupDeclined, NoAnswer, Unavailable
from kasuwa.rails.vendors.client import VendorClient, VendorReply
from kasuwa.rails.vendors.paystack.lists import list_rows
from kasuwa.rails.vendors.paystack.transfers import DONE, IN_PROGRESS, REFUSED, get_data, read_message

# A refund that is not listed may still appear: for so long its absence says nothing.
UNKNOWN_FOR_SECONDS = 3600

STATUSES = {
    "processed": orders.SUCCESSFUL,
    "failed": orders.FAILED,
    "pending": orders.PROCESSING,
    "processing": orders.PROCESSING,
    "needs-attention": orders.UNKNOWN,
}
NEEDS_ATTENTION = "paystack cannot pay a refund to the customer's card: give an account on its dashboard (refund {})"
BALANCE_SHORT = "our balance with paystack does not cover a refund: fund it"
NOT_LISTED = Answer(orders.NOT_FOUND, None, "The rail does not know the refund", can_resend=False)
NOT_LISTED_YET = Answer(orders.UNKNOWN, None, "The rail has not answered")


class PaystackRefunds:
    """The refunds of the collection rail."""

    def __init__(self, client: VendorClient, headers: Mapping[str, str]) -> None:
        self._client = client
        self._headers = headers

    async def refund(self, order: CollectionOrder) -> Answer:
        try:
            listed = await self._find_listed(order)
        except (NoAnswer, LookupDeclined) as error:
            raise Unavailable(str(error)) from None
        if listed is not None:
            return read_refund(listed, order)
        body = {
            "transaction": paid_reference(order),
            "amount": order.amount,
            "currency": order.currency,
            "merchant_note": wire_reference(order.key),
        }
        reply = await self._post("/refund", body)
        if reply.body["status"] and reply.status < 300:
            return read_refund(get_data(reply), order)
        return await self._judge_refused_refund(reply, order)

    async def query_refund(self, order: CollectionOrder) -> Answer:
        refund_id = order.rail_facts.get("refund_id")
        if refund_id is not None:
            reply = await self._get(f"/refund/{refund_id}")
            if reply.body["status"] and reply.status < 300:
                return read_refund(get_data(reply), order)
            raise Unavailable(read_message(reply))
        listed = await self._find_listed(order)
        if listed is not None:
            return read_refund(listed, order)
        return NOT_LISTED_YET if order.age_seconds < UNKNOWN_FOR_SECONDS else NOT_LISTED

    async def _find_listed(self, order: CollectionOrder) -> dict[str, Any] | None:
        """Returns the refund in the vendor's list that has our reference as its note, or None."""
        assert order.sent_at is not None, "a refund is looked for from the day before it was sent"
        since = order.sent_at.astimezone(UTC) - timedelta(days=1)
        query = {"from": f"{since:%Y-%m-%dT%H:%M:%S}.000Z"}
        async for row in list_rows(self._get, "/refund", query):
            if is_our_refund(row, order):
                return row
        return None

    async def _judge_refused_refund(self, reply: VendorReply, order: CollectionOrder) -> Answer:
        words = read_message(reply)
        lowered = words.lower()
        if "balance" in lowered or "insufficient" in lowered:
            raise Unavailable(words, notice=BALANCE_SHORT)
        listed = await self._find_listed(order)
        if listed is not None:
            return read_refund(listed, order)
        if "not found" in lowered:
            return Answer(orders.FAILED, "25", words)
        if any(text in lowered for text in ("exceed", "more than", "greater", "reversed", "amount")):
            return Answer(orders.FAILED, "13", words)
        if reply.body.get("type") == "validation_error":
            return Answer(orders.FAILED, REFUSED, words)
        return NOT_LISTED

    async def _post(self, path: str, body: Mapping[str, Any]) -> VendorReply:
        return await self._client.call("POST", path, moves_money=True, headers=self._headers, body=body)

    async def _get(self, path: str, query: Mapping[str, str] | None = None) -> VendorReply:
        return await self._client.call(
            "GET", path, moves_money=False, headers=self._headers, query=query, is_throttled=False
        )


def paid_reference(order: CollectionOrder) -> str:
    """Returns the reference by which the vendor knows the payment that is refunded."""
    return order.rail_facts.get(orders.TRANSACTION_FACT) or wire_reference(order.refund_of)


def is_our_refund(row: dict[str, Any], order: CollectionOrder) -> bool:
    """Whether a listed refund is this one: of the same payment, with our reference as its note."""
    nested = row.get("transaction")
    reference = row.get("transaction_reference") or (nested.get("reference") if isinstance(nested, dict) else None)
    return reference == paid_reference(order) and row.get("merchant_note") == wire_reference(order.key)


def read_refund(data: dict[str, Any], order: CollectionOrder) -> Answer:
    """Returns the state of a refund. An undocumented state, or one that is not of this refund, is unreadable."""
    status = STATUSES.get(str(data.get("status")), orders.UNREADABLE)
    refund_id = data.get("id")
    facts = {} if refund_id is None else {"refund_id": str(refund_id)}
    if status == orders.UNREADABLE:
        return Answer(status, None, "The rail answered an unknown status", facts)
    is_same = str(data.get("amount", order.amount)) == str(order.amount)
    if not is_same or data.get("currency", order.currency) != order.currency:
        notice = "paystack answered with another amount of a refund than was ordered"
        return Answer(orders.UNREADABLE, None, "The rail answered for another refund", facts, notice=notice)
    if status == orders.SUCCESSFUL:
        return Answer(status, DONE, "Approved", facts)
    if status == orders.FAILED:
        return Answer(status, REFUSED, "The refund was not paid", facts)  # the vendor documents no reason
    notice = NEEDS_ATTENTION.format(refund_id) if status == orders.UNKNOWN else ""
    return Answer(status, IN_PROGRESS, "The refund is being paid", facts, notice=notice)
