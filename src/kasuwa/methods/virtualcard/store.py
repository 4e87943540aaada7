"""Reads of a card's transactions and disputes. No writes; every WHERE names the merchant_id."""

from datetime import date, timedelta
from typing import Any

import msgspec
from msgspec import UNSET

from kasuwa.core.calendar import lagos_day, lagos_moment, utc_text
from kasuwa.core.decision import FieldError, Merchant, Refusal, refuse_fields
from kasuwa.core.money import MINOR_PER_MAJOR
from kasuwa.core.reading import ActionReader, ReplyReader, Snapshot
from kasuwa.methods.disputes.wire import EvidenceFileLine
from kasuwa.methods.virtualcard.card_decider import show_decision
from kasuwa.methods.virtualcard.dispute_model import (
    CARD_EVIDENCE_DECODER,
    UNKNOWN_CARD_DISPUTE,
    CardDispute,
    CardEvidenceTexts,
    card_evidence_aad,
)
from kasuwa.methods.virtualcard.dispute_wire import (
    CardDisputeDetail,
    CardDisputeNamed,
    CardDisputeReply,
    CardDisputesReply,
    CardDisputesRequest,
    CardDisputeStep,
    CardEvidenceView,
)
from kasuwa.methods.virtualcard.model import UNKNOWN_CARD, balance_effect, card_key
from kasuwa.methods.virtualcard.rules.refund import REFUND_KIND
from kasuwa.methods.virtualcard.rules.steps_of_dispute import show_dispute, summary_fields
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
        r.decline_reason, r.decision, t.kind, r.dispute_id
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
    shown_id, amount, fee, narration, created_at, status, currency, txn_ref, origin, decline_reason, decision, *more = (
        row
    )
    kind, dispute_id = more
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
        decision=UNSET if decision is None else show_decision(decision),
        dispute_id=UNSET if dispute_id is None else dispute_id,
    )


# --- disputes -------------------------------------------------------------------------------------------------------

DISPUTE_COLUMNS = """
    key, merchant_id, dispute_id, number, reference, client_id, txn_ref, currency, amount, card_currency, credited,
    refund_ref, reason, shop_key, state, outcome, filed_at, ended_at, events, files, evidence_sealed, trail::text
"""
MATCHING_DISPUTES = "merchant_id = $1 and ($2::text is null or reference = $2) and ($3::text is null or state = $3)"
NEWEST_DISPUTES = f"""
    select {DISPUTE_COLUMNS} from virtual_card_dispute where {MATCHING_DISPUTES}
    order by number desc offset $4 limit $5
"""
DISPUTE_COUNT = f"select count(*) from virtual_card_dispute where {MATCHING_DISPUTES}"
DISPUTE_BY_ID = f"select {DISPUTE_COLUMNS} from virtual_card_dispute where merchant_id = $1 and dispute_id = $2"
FILES_OF_DISPUTE = (
    "select media_type, size from dispute_file where merchant_id = $1 and dispute_id = $2 order by place, key"
)


class TrailStep(msgspec.Struct, frozen=True):
    at: Any
    step: str


TRAIL_DECODER: "msgspec.json.Decoder[list[TrailStep]]" = msgspec.json.Decoder(list[TrailStep])


async def list_disputes(request: CardDisputesRequest, merchant: Merchant, reader: ActionReader) -> CardDisputesReply:
    offset, limit = request.offset_and_limit
    filters = (merchant.merchant_id, request.reference, request.state)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_DISPUTES, *filters, offset, limit)
        [[total]] = await snapshot.fetch(DISPUTE_COUNT, *filters)
    lines = await reader.make_lines(lambda row: show_dispute(CardDispute(*row)), rows)
    return CardDisputesReply(data=lines, total=total, offset=offset, limit=limit)


async def read_dispute(
    request: CardDisputeNamed, merchant: Merchant, reader: ActionReader
) -> CardDisputeReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(DISPUTE_BY_ID, merchant_id, request.dispute_id)
        if row is None:
            return UNKNOWN_CARD_DISPUTE
        dispute = CardDispute(*row)
        files = await snapshot.fetch(FILES_OF_DISPUTE, merchant_id, dispute.dispute_id)
    return CardDisputeReply(
        data=CardDisputeDetail(
            **summary_fields(dispute),
            evidence=show_evidence(dispute, files, reader),
            timeline=[CardDisputeStep(at=step.at, step=step.step) for step in TRAIL_DECODER.decode(dispute.trail)],
        )
    )


def show_evidence(dispute: CardDispute, files: list[Any], reader: ActionReader) -> CardEvidenceView | None:
    """Returns the evidence. Texts and names that were erased are null or empty."""
    if not files and dispute.evidence_sealed is None:
        return None
    texts = CardEvidenceTexts()
    if dispute.evidence_sealed is not None:
        plain = reader.unseal(dispute.merchant_id, card_evidence_aad(dispute.dispute_id), dispute.evidence_sealed)
        texts = CARD_EVIDENCE_DECODER.decode(plain)
    names = (*texts.file_names, *[""] * len(files))
    return CardEvidenceView(
        explanation=texts.explanation or None,
        files=[
            EvidenceFileLine(name=name, media_type=media_type, size=size)
            for name, (media_type, size) in zip(names, files, strict=False)
        ],
    )
