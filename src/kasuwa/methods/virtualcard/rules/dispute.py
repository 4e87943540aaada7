"""Files and withdraws a dispute of a card purchase. Neither moves money: the card gets it when the dispute is won.

A purchase is disputed within 120 days, once at a time, up to what was not refunded. Also one of a card that was blocked
or terminated since. Contract: virtualcard#disputes
"""

import msgspec

from kasuwa.core.calendar import lagos_day
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
from kasuwa.core.dry_run import preview_decision
from kasuwa.core.error_codes import DISPUTE_TOO_LARGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, movement_reference, read_rail_key
from kasuwa.methods.disputes.model import DisputeFile, detect_media_type, file_aad, file_key
from kasuwa.methods.virtualcard.dispute_model import (
    DISPUTE_DECIDED,
    DISPUTE_ENDED,
    DISPUTE_OPEN,
    FILE_WITHIN,
    FILED_LATE,
    LOST,
    NOT_CAPTURED,
    NOTHING_LEFT,
    OPEN_AT_SHOP,
    REFERENCE_TYPE,
    SUBMITTED,
    TOO_LITTLE_DISPUTED,
    UNKNOWN_CARD_DISPUTE,
    WITHDRAWN,
    CardDispute,
    CardEvidenceTexts,
    card_dispute_key,
    card_evidence_aad,
)
from kasuwa.methods.virtualcard.dispute_wire import (
    CardDisputeChanged,
    CardDisputeRequest,
    CardEvidence,
    WithdrawRequest,
)
from kasuwa.methods.virtualcard.model import (
    CARD_AUTHORIZATION,
    CARD_PURCHASE,
    DONE,
    UNKNOWN_CARD,
    Card,
    CardRecord,
    card_key,
    record_key,
)
from kasuwa.methods.virtualcard.rules.purchase import KIND, PURCHASE_DETAIL_DECODER, PurchaseDetail
from kasuwa.methods.virtualcard.rules.refund import PURCHASE_DECLINED, UNKNOWN_PURCHASE, prorate_refund
from kasuwa.methods.virtualcard.rules.steps_of_dispute import (
    NO_STEPS,
    dispute_rows,
    end_jobs,
    end_step,
    reply_dispute,
    review_job,
    shop_job,
    take_step,
)
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.transactions.transactions import Transaction, transaction_key
from kasuwa.wire.interest_wire import DryRunFigure


class DisputedPurchase(msgspec.Struct, frozen=True):
    """A purchase that may be disputed."""

    card: Card
    record: CardRecord
    detail: PurchaseDetail
    billed: int  # what the card paid, in its currency

    @property
    def left(self) -> int:
        """The amount that was not refunded, in the shop's currency."""
        return self.detail.amount - self.record.refunded


# --- filing ---------------------------------------------------------------------------------------------------------


def need_dispute(request: CardDisputeRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    return Needs(((Card, card_key(merchant_id, request.reference)), (CardRecord, record_key(merchant_id, request.id))))


def decide_dispute(
    request: CardDisputeRequest, context: Context, rows: LoadedRows
) -> Decision[CardDisputeChanged] | Refusal | NeedsMore:
    purchase = find_purchase(request, context, rows)
    if not isinstance(purchase, DisputedPurchase):
        return purchase
    if context.now >= purchase.record.created_at + FILE_WITHIN:
        return FILED_LATE
    amount = purchase.left if request.amount is None else int(request.amount)
    if amount > purchase.left:
        reason = f"at most {format_minor(purchase.left)}, what was not refunded"
        return refuse_fields(FieldError("amount", reason, DISPUTE_TOO_LARGE))
    if not prorate_refund(purchase.billed, purchase.detail.amount, purchase.record.refunded, amount):
        return TOO_LITTLE_DISPUTED
    return record_dispute(request, purchase, amount, context)


def find_purchase(
    request: CardDisputeRequest, context: Context, rows: LoadedRows
) -> DisputedPurchase | Refusal | NeedsMore:
    """Returns the purchase, or why it is not disputed."""
    merchant_id = context.merchant.merchant_id
    card = rows.get(Card, card_key(merchant_id, request.reference))
    if card is None:
        return UNKNOWN_CARD
    record = rows.get(CardRecord, record_key(merchant_id, request.id))
    if record is None or record.card != card.key or record.narration not in (CARD_PURCHASE, CARD_AUTHORIZATION):
        return UNKNOWN_PURCHASE
    if record.status != DONE:
        return PURCHASE_DECLINED
    if record.narration == CARD_AUTHORIZATION:
        return NOT_CAPTURED
    key = transaction_key(merchant_id, KIND, record.order_key or request.id)
    before = None if record.dispute_id is None else card_dispute_key(merchant_id, record.dispute_id)
    wanted: tuple[tuple[type[Row], bytes], ...] = ((Transaction, key),)
    if before is not None:
        wanted = (*wanted, (CardDispute, before))
    if not all(rows.is_loaded(one) for _, one in wanted):
        return NeedsMore(Needs(wanted))
    row, last = rows.get(Transaction, key), None if before is None else rows.get(CardDispute, before)
    assert row is not None, "a successful purchase has its transaction"
    if last is not None and last.is_open:
        return DISPUTE_OPEN
    if last is not None and last.state == LOST:
        return DISPUTE_DECIDED
    purchase = DisputedPurchase(card, record, PURCHASE_DETAIL_DECODER.decode(row.detail), row.amount)
    return purchase if purchase.left > 0 else NOTHING_LEFT


def record_dispute(
    request: CardDisputeRequest, purchase: DisputedPurchase, amount: int, context: Context
) -> Decision[CardDisputeChanged]:
    card, record, evidence = purchase.card, purchase.record, request.evidence or CardEvidence()
    files = evidence.files or []
    number = context.permutation(context.number)
    dispute_id = movement_reference(REFERENCE_TYPE, number, lagos_day(context.now))
    filed = CardDispute(
        key=card_dispute_key(card.merchant_id, dispute_id),
        merchant_id=card.merchant_id,
        dispute_id=dispute_id,
        number=context.number,
        reference=card.reference,
        client_id=card.client_id,
        txn_ref=request.id,
        currency=purchase.detail.currency,
        amount=amount,
        card_currency=card.currency,
        credited=0,
        refund_ref="",
        reason=request.reason,
        shop_key=find_shop(record),
        state=SUBMITTED,
        outcome="",
        filed_at=context.now,
        ended_at=None,
        events=0,
        files=len(files),
        evidence_sealed=seal_texts(dispute_id, evidence, context),
        trail=NO_STEPS,
    )
    step = take_step(filed, SUBMITTED, context)
    is_here = filed.is_with_shop_here
    job = shop_job(filed, OPEN_AT_SHOP, context.now) if is_here else review_job(filed, context.now)
    decision = Decision(
        reply=reply_dispute(step.row),
        rows=(
            step.row,
            msgspec.structs.replace(record, dispute_id=dispute_id),
            *(seal_file(filed, place, file.content.content, context) for place, file in enumerate(files)),
        ),
        jobs=(job, *step.jobs),
        events=(step.event,),
        notices=() if is_here else (filed_notice(filed),),
        follow_up=job if is_here else None,
        numbers_used=1,
    )
    return preview_dispute(decision, purchase, amount) if request.dry_run else decision


def preview_dispute(
    filed: Decision[CardDisputeChanged], purchase: DisputedPurchase, amount: int
) -> Decision[CardDisputeChanged]:
    """Returns the dry run of a dispute. It would have another reference, so none is shown."""
    currency, refunded = purchase.detail.currency, purchase.record.refunded
    won = prorate_refund(purchase.billed, purchase.detail.amount, refunded, amount)
    figures = (
        DryRunFigure("amount", format_minor(amount), f"{currency}, of {format_minor(purchase.left)} not refunded yet"),
        DryRunFigure("credited if won", format_minor(won), f"{purchase.card.currency}, at the rate of the purchase"),
    )
    return preview_decision(filed, figures, data=msgspec.structs.replace(filed.reply.data, dispute_id=""))


def find_shop(record: CardRecord) -> str:
    """Returns the order of a shop of this deployment, or "" if the shop is elsewhere. The key of such an order begins
    with the merchant that was paid, that of a purchase which a rail announced with the rail."""
    key = record.order_key or ""
    number, _ = read_rail_key(key)
    return key if number else ""


def seal_texts(dispute_id: str, evidence: CardEvidence, context: Context) -> bytes | None:
    if evidence.explanation is None and not evidence.files:
        return None
    names = tuple(file.name for file in evidence.files or ())
    texts = CardEvidenceTexts(explanation=evidence.explanation or "", file_names=names)
    return context.seal(card_evidence_aad(dispute_id), msgspec.json.encode(texts))


def seal_file(dispute: CardDispute, place: int, content: bytes, context: Context) -> DisputeFile:
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


def filed_notice(dispute: CardDispute) -> OperatorNotice:
    """Tells the operator of a dispute, which is filed at the card network by hand."""
    amount = f"{dispute.currency} {format_minor(dispute.amount)}"
    message = f"{amount} of the card purchase {dispute.txn_ref} is disputed: file it at the card network"
    return OperatorNotice(dispute.dispute_id, message)


# --- withdrawing ----------------------------------------------------------------------------------------------------


def need_withdrawal(request: WithdrawRequest, merchant: Merchant) -> Needs:
    return Needs(dispute_rows(merchant.merchant_id, request.dispute_id))


def decide_withdrawal(
    request: WithdrawRequest, context: Context, rows: LoadedRows
) -> Decision[CardDisputeChanged] | Refusal:
    """Ends a dispute that is open. That of a shop of this deployment is ended by a job; if it was lost meanwhile, the
    money still comes, and this dispute is won after all."""
    dispute = rows.get(CardDispute, card_dispute_key(context.merchant.merchant_id, request.dispute_id))
    if dispute is None:
        return UNKNOWN_CARD_DISPUTE
    if not dispute.is_open:
        return DISPUTE_ENDED
    step = end_step(dispute, WITHDRAWN, "Withdrawn", context)
    decision = Decision(reply=reply_dispute(step.row), rows=(step.row,), jobs=step.jobs, events=(step.event,))
    if request.dry_run:
        return preview_decision(decision, (DryRunFigure("state after", WITHDRAWN, f"{dispute.state} now"),))
    over = end_jobs(dispute, rows.get(Job, job_key(dispute.key)), context)
    decision.add(over)
    decision.follow_up = over.jobs[0] if over.jobs else None
    return decision


# --- erasing --------------------------------------------------------------------------------------------------------


def erase_card_evidence(dispute: CardDispute) -> CardDispute | Refusal:
    """Returns the dispute without the texts of its evidence. Refuses one that is open: it is decided by them."""
    return TRANSACTION_IN_PROGRESS if dispute.is_open else msgspec.structs.replace(dispute, evidence_sealed=None)
