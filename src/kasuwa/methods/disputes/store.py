"""Reads disputes. Never writes; every WHERE has the merchant_id."""

from typing import Any

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Merchant, Refusal
from kasuwa.core.reading import ActionReader
from kasuwa.methods.disputes.model import EVIDENCE_DECODER, UNKNOWN_DISPUTE, Dispute, EvidenceTexts, evidence_aad
from kasuwa.methods.disputes.rules.steps_of_dispute import show_dispute, summary_fields
from kasuwa.methods.disputes.wire import (
    DisputeDetail,
    DisputeReply,
    DisputeRequest,
    DisputesReply,
    DisputesRequest,
    DisputeStep,
    EvidenceFileLine,
    EvidenceView,
)

COLUMNS = """
    key, merchant_id, dispute_id, number, txn_ref, method, currency, amount, fee, vat, covered, reason, plan_id, rail,
    rail_dispute_id, opened_at, due_at, state, responded_at, ended_at, events, files, evidence_sealed, trail::text
"""
MATCHING = "merchant_id = $1 and ($2::text is null or state = $2) and ($3::text is null or txn_ref = $3)"
NEWEST_FIRST = f"select {COLUMNS} from dispute where {MATCHING} order by number desc offset $4 limit $5"
COUNT = f"select count(*) from dispute where {MATCHING}"
BY_ID = f"select {COLUMNS} from dispute where merchant_id = $1 and dispute_id = $2"
FILES = "select media_type, size from dispute_file where merchant_id = $1 and dispute_id = $2 order by place, key"


class TrailStep(msgspec.Struct, frozen=True):
    at: Any
    step: str


TRAIL_DECODER: "msgspec.json.Decoder[list[TrailStep]]" = msgspec.json.Decoder(list[TrailStep])


async def list_disputes(request: DisputesRequest, merchant: Merchant, reader: ActionReader) -> DisputesReply:
    offset, limit = request.offset_and_limit
    filters = (merchant.merchant_id, request.state, request.txn_ref)
    async with reader.snapshot() as snapshot:
        rows = await snapshot.fetch(NEWEST_FIRST, *filters, offset, limit)
        [[total]] = await snapshot.fetch(COUNT, *filters)
    lines = await reader.make_lines(lambda row: show_dispute(Dispute(*row)), rows)
    return DisputesReply(data=lines, total=total, offset=offset, limit=limit)


async def read_dispute(request: DisputeRequest, merchant: Merchant, reader: ActionReader) -> DisputeReply | Refusal:
    merchant_id = merchant.merchant_id
    async with reader.snapshot() as snapshot:
        row = await snapshot.fetchrow(BY_ID, merchant_id, request.dispute_id)
        if row is None:
            return UNKNOWN_DISPUTE
        dispute = Dispute(*row)
        files = await snapshot.fetch(FILES, merchant_id, dispute.dispute_id)
    steps = TRAIL_DECODER.decode(dispute.trail)
    return DisputeReply(
        data=DisputeDetail(
            **summary_fields(dispute),
            responded_at=None if dispute.responded_at is None else utc_text(dispute.responded_at),
            evidence=show_evidence(dispute, files, reader),
            timeline=[DisputeStep(at=step.at, step=step.step) for step in steps],
        )
    )


def show_evidence(dispute: Dispute, files: list[Any], reader: ActionReader) -> EvidenceView | None:
    """Returns the evidence. Texts and names that were erased are null or empty."""
    if not files and dispute.evidence_sealed is None:
        return None
    texts = EvidenceTexts()
    if dispute.evidence_sealed is not None:
        plain = reader.unseal(dispute.merchant_id, evidence_aad(dispute.dispute_id), dispute.evidence_sealed)
        texts = EVIDENCE_DECODER.decode(plain)
    names = (*texts.file_names, *[""] * len(files))
    return EvidenceView(
        explanation=texts.explanation or None,
        product_description=texts.product_description or None,
        customer_name=texts.customer_name or None,
        customer_email=texts.customer_email or None,
        customer_phone=texts.customer_phone or None,
        service_date=texts.service_date or None,
        tracking_number=texts.tracking_number or None,
        refund_policy=texts.refund_policy or None,
        files=[
            EvidenceFileLine(name=name, media_type=media_type, size=size)
            for name, (media_type, size) in zip(names, files, strict=False)
        ],
    )
