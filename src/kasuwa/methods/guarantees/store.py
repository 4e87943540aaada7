"""Reads of guarantees. No writes; every WHERE names the merchant_id."""

from kasuwa.core.decision import Merchant
from kasuwa.core.reading import ReplyReader
from kasuwa.methods.guarantees.wire import GuaranteeListReply, ListGuaranteesRequest
from kasuwa.methods.loans.guarantee_model import LoanGuarantee, make_guarantee_record

COLUMNS = ", ".join(LoanGuarantee.__struct_fields__)
MATCHING = """
    merchant_id = $1 and ($2::text is null or loan_id = $2) and ($3::text is null or client_id = $3)
    and ($4::text is null or borrower_id = $4)
"""
GUARANTEES = f"select {COLUMNS} from loan_guarantee where {MATCHING} order by number desc offset $5 limit $6"
COUNT = f"select count(*) from loan_guarantee where {MATCHING}"


async def list_guarantees(
    request: ListGuaranteesRequest, merchant: Merchant, reader: ReplyReader
) -> GuaranteeListReply:
    offset, limit = request.offset_and_limit
    chosen = merchant.merchant_id, request.loan_id, request.client_id, request.borrower_id
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(GUARANTEES, *chosen, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *chosen)
    data = [make_guarantee_record(LoanGuarantee(*row)) for row in rows]
    return GuaranteeListReply(data=data, total=total, offset=offset, limit=limit)
