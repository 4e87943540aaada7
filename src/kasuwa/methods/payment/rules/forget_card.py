"""Has the vendor of a saved card deactivate its token, after the card was erased here.

    asked     the vendor has not answered: it is asked again, by the requery schedule, until it does
    done      the job ends, and with it the last copy of the token
    refused   the operator gets a notice

Contract: payment#payer
"""

from base64 import b64encode
from datetime import timedelta

import msgspec

from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, OperatorNotice
from kasuwa.methods.payment.model import CARD_SUMMARY_DECODER, SavedCard
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.requery import next_requery_at
from kasuwa.transactions.transactions import encode_text, make_ordered_job

DEACTIVATE = "payment.forget_card"
LANE = "card"


class ForgottenCard(msgspec.Struct, frozen=True):
    """The data of the job (column scheduled_job.work)."""

    vendor: str
    sealed: str  # the encrypted SealedCardData, in base64
    sent_at: float


FORGOTTEN_CARD_DECODER: "msgspec.json.Decoder[ForgottenCard]" = msgspec.json.Decoder(ForgottenCard)


def make_deactivation(card: SavedCard, context: Context) -> tuple[Job, ...]:
    """Returns the job that has a vendor deactivate the token of a card that is being erased. None for other cards."""
    vendor = CARD_SUMMARY_DECODER.decode(card.detail).vendor
    if not vendor or not card.sealed:
        return ()
    work = ForgottenCard(vendor, b64encode(card.sealed).decode(), context.now.timestamp())
    return (make_ordered_job(context, DEACTIVATE, LANE, card, card.token, context.now, encode_text(work)),)


def need_deactivation(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Job, job.key),))


def decide_deactivation(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision:
    """Ends the job once the vendor has deactivated the token, or refused to."""
    current = rows.get(Job, job.key)
    if current is None:
        return Decision()
    work = FORGOTTEN_CARD_DECODER.decode(current.work)
    if answer.status == orders.SUCCESSFUL:
        return Decision(jobs_done=(current,))
    if answer.status == orders.FAILED:
        message = f"{work.vendor} keeps the saved card of an erased customer: remove it there ({answer.message})"
        return Decision(jobs_done=(current,), notices=(OperatorNotice(work.vendor, message),))
    now = context.now
    due = next_requery_at(now, now.timestamp() - work.sent_at) + timedelta(seconds=answer.retry_after)
    again = msgspec.structs.replace(current, due=due, attempt=current.attempt + 1)
    # A rail repeats its notice with every attempt: it is given with the first.
    notices = (OperatorNotice(work.vendor, answer.notice),) if answer.notice and not current.attempt else ()
    return Decision(jobs=(again,), notices=notices)
