"""Paystack: disputes of payments, and settlements. There is no call-back of a settlement: they are listed."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, TypeVar
from urllib.parse import quote

from kasuwa.rails.ports.feed_entries import Dispute, Settlement
from kasuwa.rails.ports.orders import Unavailable, UnreadableAnswer
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.vendors.client import CallObserver, VendorClient, VendorReply
from kasuwa.rails.vendors.paystack.lists import list_rows
from kasuwa.rails.vendors.paystack.transfers import NAME, PaystackKeys, get_data, is_envelope, read_message

RESOLVED = "resolved"
UNDER_REVIEW = "awaiting-bank-feedback"
# What the end of a dispute means for the merchant. Only the operator gets a notice of the others.
OUTCOMES = {"declined": "won", "merchant-accepted": "lost", "auto-accepted": "lost"}

FoundT = TypeVar("FoundT")


class PaystackFeeds:
    def __init__(self, transport: HttpTransport, base_url: str, keys: PaystackKeys, observe: CallObserver) -> None:
        self._client = VendorClient(NAME, base_url, transport, is_envelope, observe)
        self._headers = {"Authorization": f"Bearer {keys.secret_key}"}

    async def list_disputes(self, since: datetime) -> list[Dispute]:
        return await self._list("/dispute", since, read_dispute)

    async def find_dispute(self, dispute_id: str) -> Dispute | None:
        reply = await self._look_up(f"/dispute/{quote(dispute_id, safe='')}", {})
        if reply.status == 404:
            return None
        if reply.status >= 300:
            raise Unavailable(read_message(reply))
        dispute = read_dispute(get_data(reply))
        if dispute is None or dispute.dispute_id != dispute_id:
            raise UnreadableAnswer("a dispute has another form than documented")
        return dispute

    async def list_settlements(self, since: datetime) -> list[Settlement]:
        return await self._list("/settlement", since, read_settlement)

    async def find_settlement(self, settlement_id: str) -> Settlement | None:
        return None  # the vendor has lists of settlements alone

    async def _list(self, path: str, since: datetime, read: Callable[[dict[str, Any]], FoundT | None]) -> list[FoundT]:
        """Returns all rows since a time. One that cannot be read fails the list: it is tried again."""
        items: list[FoundT] = []
        query = {"from": since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")}
        async for row in list_rows(self._look_up, path, query):
            item = read(row)
            if item is None:
                raise UnreadableAnswer(f"a row of {path} has another form than documented")
            items.append(item)
        return items

    async def _look_up(self, path: str, query: dict[str, str]) -> VendorReply:
        return await self._client.call("GET", path, moves_money=False, headers=self._headers, query=query)


def read_dispute(data: dict[str, Any]) -> Dispute | None:
    """Returns a dispute, or None if it has another form than documented."""
    transaction, status = data.get("transaction"), data.get("status")
    transaction = transaction if isinstance(transaction, dict) else {}
    dispute_id, amount = data.get("id"), data.get("refund_amount")
    if not isinstance(dispute_id, int) or not isinstance(status, str):
        return None
    if not isinstance(amount, int):
        amount = transaction.get("amount")
    return Dispute(
        dispute_id=str(dispute_id),
        payment_reference=str(transaction.get("reference") or data.get("transaction_reference") or ""),
        currency=str(data.get("currency") or transaction.get("currency") or "NGN"),
        status=status,
        amount=amount if isinstance(amount, int) else None,
        resolution=str(data.get("resolution") or ""),
        due_at=read_time(data.get("dueAt") or data.get("due_at")),
        is_resolved=status == RESOLVED,
        outcome=OUTCOMES.get(str(data.get("resolution"))) if status == RESOLVED else None,
        reason=str(data.get("category") or "")[:200],
        is_under_review=status == UNDER_REVIEW,
    )


def read_settlement(data: dict[str, Any]) -> Settlement | None:
    """Returns a settlement, or None if it has another form than documented."""
    number, amount = data.get("id"), data.get("effective_amount", data.get("total_amount"))
    if not isinstance(number, int) or not isinstance(amount, int):
        return None
    settled_at = read_time(data.get("settlement_date"))
    return Settlement(
        settlement_id=str(number),
        status=str(data.get("status", "")),
        currency=str(data.get("currency") or "NGN"),
        amount=amount,
        gross=as_int(data.get("total_processed")),
        fees=as_int(data.get("total_fees")),
        settled_on=None if settled_at is None else date(settled_at.year, settled_at.month, settled_at.day),
    )


def as_int(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_time(value: Any) -> datetime | None:
    """Returns a time of the vendor's. One that cannot be read is None: it must not fail what it belongs to."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
