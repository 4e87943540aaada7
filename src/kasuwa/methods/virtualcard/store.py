"""Reads of a card's transactions. No writes; every WHERE names the merchant_id."""

from datetime import date, timedelta
from typing import Any

from msgspec import UNSET

from kasuwa.core.calendar import lagos_day, lagos_moment, utc_text
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.core.reading import ReplyReader, Snapshot
from kasuwa.methods.virtualcard.model import UNKNOWN_CARD, balance_effect, card_key
from kasuwa.methods.virtualcard.rules.refund import REFUND_KIND
from kasuwa.methods.virtualcard.wire import TransactionLine, TransactionsReply, TransactionsRequest

# The range listed if the request has no dates. Contract: virtualcard#transactions
USUAL_DAYS = timedelta(days=30)

BACKWARDS = refuse_fields(FieldError("to_date", "not before from_date", "period_backwards"))

# No row if the card is unknown, else the merchant's business time.
CARD_AND_NOW = """
    select coalesce(b.clock_fixed_at, now() + b.clock_offset_us * interval '1 microsecond')
    from virtual_card c join merchant_state b on b.merchant_id = c.merchant_id
    where c.key = $1 and c.merchant_id = $2
"""
LISTED = "r.merchant_id = $1 and r.card = $2 and r.created_at >= $3 and r.created_at < $4"
COUNT = f"select count(*) from virtual_card_entry r where {LISTED}"
# The batch_ref of a refund's transaction is the txnRef of its purchase, that of a capture the txnRef of its
# authorization.
LIST = f"""
    select r.shown_id, r.amount, r.fee, r.narration, r.created_at, r.status, r.currency, r.txn_ref, t.batch_ref,
        r.decline_reason, t.kind
    from virtual_card_entry r left join transaction t on t.merchant_id = r.merchant_id and t.txn_ref = r.txn_ref
    where {LISTED} order by r.created_at desc, r.number desc offset $5 limit $6
"""


async def list_transactions(
    request: TransactionsRequest, merchant: Merchant, reader: ReplyReader
) -> TransactionsReply | Refusal:
    async with reader.snapshot() as snapshot:
        return await list_in(request, merchant, snapshot)


async def list_in(request: TransactionsRequest, merchant: Merchant, reader: Snapshot) -> TransactionsReply | Refusal:
    key = card_key(merchant.merchant_id, request.reference)
    card_row = await reader.fetchrow(CARD_AND_NOW, key, merchant.merchant_id)
    if card_row is None:
        return UNKNOWN_CARD
    first, last = read_date_range(request, lagos_day(card_row[0]))
    if last < first:
        return BACKWARDS
    begin, end = lagos_moment(first, 0), lagos_moment(last + timedelta(days=1), 0)
    offset, limit = request.offset_and_limit
    rows = await reader.fetch(LIST, merchant.merchant_id, key, begin, end, offset, limit)
    [[total]] = await reader.fetch(COUNT, merchant.merchant_id, key, begin, end)
    lines = [show_line(request.reference, row) for row in rows]
    return TransactionsReply(reference=request.reference, data=lines, total=total, offset=offset, limit=limit)


def read_date_range(request: TransactionsRequest, today: date) -> tuple[date, date]:
    """Returns the first and last day of a request, both included. `end_date` is an alias of `to_date`. A missing
    from_date is 30 days before the end, a missing end is today."""
    requested_end = request.to_date or request.end_date
    last = today if requested_end is None else requested_end.plain()
    first = last - USUAL_DAYS if request.from_date is None else request.from_date.plain()
    if request.from_date is not None and requested_end is None:
        last = max(first, today)
    return first, last


def show_line(reference: str, row: Any) -> TransactionLine:
    """Returns one transaction of a card from a row of the query LIST."""
    shown_id, amount, fee, narration, created_at, status, currency, txn_ref, origin, decline_reason, kind = row
    refund_of, authorization_ref = (origin, None) if kind == REFUND_KIND else (None, origin)
    return TransactionLine(
        id=shown_id,
        amount=amount / MINOR_PER_MAJOR,
        fee=fee / MINOR_PER_MAJOR,
        narration=narration,
        description=narration,
        date_created=utc_text(created_at),
        status=status,
        currency=currency,
        reference=reference,
        effect=balance_effect(narration, status, amount) / MINOR_PER_MAJOR,
        txn_ref=UNSET if txn_ref is None else txn_ref,
        refund_of=UNSET if refund_of is None else refund_of,
        authorization_ref=UNSET if authorization_ref is None else authorization_ref,
        decline_reason=UNSET if decline_reason is None else decline_reason,
    )
