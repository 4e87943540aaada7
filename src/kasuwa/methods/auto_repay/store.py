"""Reads of automatic collections. No writes; every WHERE names the merchant_id."""

from msgspec import UNSET

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.money import format_minor
from kasuwa.core.reading import ReplyReader
from kasuwa.methods.auto_repay.wire import CollectionRecord, CollectionsReply, CollectionsRequest
from kasuwa.methods.loans.auto_repay_model import DECLINED, LoanCollection

COLUMNS = ", ".join(LoanCollection.__struct_fields__)
MATCHING = """
    merchant_id = $1 and ($2::text is null or loan_id = $2) and ($3::text is null or state = $3)
"""
ATTEMPTS = f"select {COLUMNS} from loan_collection where {MATCHING} order by number desc offset $4 limit $5"
COUNT_ATTEMPTS = f"select count(*) from loan_collection where {MATCHING}"


async def list_collections(request: CollectionsRequest, merchant: Merchant, reader: ReplyReader) -> CollectionsReply:
    offset, limit = request.offset_and_limit
    chosen = merchant.merchant_id, request.loan_id, request.state
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(ATTEMPTS, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT_ATTEMPTS, *chosen)
    records = [make_collection_record(LoanCollection(*row)) for row in rows]
    return CollectionsReply(data=records, total=total, offset=offset, limit=limit)


def make_collection_record(attempt: LoanCollection) -> CollectionRecord:
    is_declined = attempt.state == DECLINED
    return CollectionRecord(
        loan_id=attempt.loan_id,
        n=attempt.n,
        due=attempt.due_on.isoformat(),
        source=attempt.source,  # type: ignore[arg-type]
        amount=format_minor(attempt.amount),
        state=attempt.state,  # type: ignore[arg-type]
        reason=attempt.reason if is_declined else UNSET,  # type: ignore[arg-type]
        message=attempt.message if is_declined else UNSET,
        is_final=attempt.is_final if is_declined else UNSET,
        txn_ref=attempt.txn_ref or UNSET,
        next_date=UNSET if attempt.next_on is None else attempt.next_on.isoformat(),
        date_created=utc_text(attempt.made_at),
    )
