"""The merchant's response to a dispute: accepts it, or sends evidence, once and in time. Contract: payment#disputes"""

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.references import job_key
from kasuwa.methods.disputes.model import (
    ACCEPTED,
    ALREADY_ANSWERED,
    ALREADY_ENDED,
    EXPIRED,
    NEEDS_RESPONSE,
    ONE_ANSWER,
    TOO_LATE,
    UNDER_REVIEW,
    UNKNOWN_DISPUTE,
    Dispute,
    DisputeFile,
    EvidenceTexts,
    detect_media_type,
    dispute_key,
    evidence_aad,
    file_aad,
    file_key,
)
from kasuwa.methods.disputes.rules.end_dispute import dispute_rows, end_dispute
from kasuwa.methods.disputes.rules.steps_of_dispute import name_at_rail, reply_dispute, review_job, take_step
from kasuwa.methods.disputes.wire import DisputeChanged, Evidence, RespondRequest
from kasuwa.rails.ports.feed_entries import ANSWERED_BY_API

EMPTY_EVIDENCE = refuse_fields(FieldError("evidence", "at least one text or file", "evidence_missing"))


def need_response(request: RespondRequest, merchant: Merchant) -> Needs:
    return Needs(dispute_rows(merchant.merchant_id, request.dispute_id))


def decide_response(
    request: RespondRequest, context: Context, rows: LoadedRows
) -> Decision[DisputeChanged] | Refusal | NeedsMore:
    dispute = rows.get(Dispute, dispute_key(context.merchant.merchant_id, request.dispute_id))
    if dispute is None:
        return UNKNOWN_DISPUTE
    if bool(request.accept) == (request.evidence is not None):
        return ONE_ANSWER
    if dispute.state != NEEDS_RESPONSE:
        return refuse_state(dispute)
    if dispute.due_at <= context.now:
        return TOO_LATE  # its job is about to end it
    if request.evidence is None:
        answered = msgspec.structs.replace(dispute, responded_at=context.now)
        accepted = end_dispute(answered, ACCEPTED, context, rows)
        if isinstance(accepted, Decision) and dispute.has_rail and dispute.rail not in ANSWERED_BY_API:
            message = f"the merchant accepts dispute {dispute.rail_dispute_id} at {dispute.rail}: accept it there"
            accepted.notices = (*accepted.notices, OperatorNotice(dispute.dispute_id, message))
        return accepted
    if not has_content(request.evidence):
        return EMPTY_EVIDENCE
    return submit_evidence(dispute, request.evidence, context, rows)


def refuse_state(dispute: Dispute) -> Refusal:
    if dispute.state == EXPIRED:
        return TOO_LATE
    return ALREADY_ANSWERED if dispute.state in (UNDER_REVIEW, ACCEPTED) else ALREADY_ENDED


def has_content(evidence: Evidence) -> bool:
    return any(bool(value) for value in msgspec.structs.astuple(evidence))


def submit_evidence(
    dispute: Dispute, evidence: Evidence, context: Context, loaded_rows: LoadedRows
) -> Decision[DisputeChanged]:
    files = evidence.files or []
    texts = EvidenceTexts(
        explanation=evidence.explanation or "",
        product_description=evidence.product_description or "",
        customer_name=evidence.customer_name or "",
        customer_email=evidence.customer_email or "",
        customer_phone=str(evidence.customer_phone or ""),
        service_date="" if evidence.service_date is None else evidence.service_date.isoformat(),
        tracking_number=evidence.tracking_number or "",
        refund_policy=evidence.refund_policy or "",
        file_names=tuple(file.name for file in files),
    )
    answered = msgspec.structs.replace(
        dispute,
        state=UNDER_REVIEW,
        responded_at=context.now,
        files=len(files),
        evidence_sealed=context.seal(evidence_aad(dispute.dispute_id), msgspec.json.encode(texts)),
    )
    step = take_step(answered, UNDER_REVIEW, context)
    rows: tuple[Row, ...] = (
        step.row,
        *(seal_file(dispute, n, file.content.content, context) for n, file in enumerate(files)),
    )
    job = loaded_rows.get(Job, job_key(dispute.key))
    review = review_job(step.row, context.now)
    return Decision(
        reply=reply_dispute(step.row),
        rows=rows,
        jobs=(review, *step.jobs),
        jobs_done=() if job is None or job.key == review.key else (job,),
        events=(step.event,),
        notices=() if dispute.rail in ANSWERED_BY_API else (evidence_notice(dispute),),
    )


def evidence_notice(dispute: Dispute) -> OperatorNotice:
    """Tells the operator of the evidence, which is handed to the rail by hand."""
    if dispute.is_filed_here:
        message = f"evidence came for the dispute of {dispute.txn_ref}: see `kasuwa dispute evidence`, and decide it"
        return OperatorNotice(dispute.dispute_id, message)
    known = name_at_rail(dispute)
    by = f"by {utc_text(dispute.due_at)}, see `kasuwa dispute evidence`"
    message = f"evidence came for the dispute of {dispute.txn_ref}: hand it in for {known} {by}"
    return OperatorNotice(dispute.dispute_id, message)


def seal_file(dispute: Dispute, place: int, content: bytes, context: Context) -> DisputeFile:
    media_type = detect_media_type(content)
    assert media_type is not None, "FileContent accepts no other file"
    return DisputeFile(
        key=file_key(dispute.merchant_id, dispute.dispute_id, place),
        merchant_id=dispute.merchant_id,
        dispute_id=dispute.dispute_id,
        place=place,
        media_type=media_type,
        size=len(content),
        content_sealed=context.seal(file_aad(dispute.dispute_id, place), content),
    )
