"""Rules of the monthly fee. One job per card is due monthly at 00:00 Lagos time and reschedules itself.

    covered        card → income:card     fee        card → tax:vat     its VAT
    not covered    nothing; the third month in a row blocks the card

Due dates are counted from the day of issue, so a card of the 31st pays on February 28 and on March 31. A terminated
card has no job, and an expired one pays no fee. Contract: virtualcard#fees
"""

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, lagos_moment
from kasuwa.core.decision import Context, Decision, Job, LoadedRows, Merchant, Needs, NeedsMore, Posting, PostingGroup
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.model import (
    BLOCKED,
    DECLINED,
    MONTHLY_FEE,
    TERMINATED,
    VAT_ON_MONTHLY_FEE,
    Card,
    CardEntry,
    get_balance,
    has_all_rows,
    make_card_records,
    vat_entries,
)
from kasuwa.methods.virtualcard.rules.funding import CARD_INSUFFICIENT, get_card_tariff
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.tariff import FeeBreakdown, Tariff, calculate_flat_fees
from kasuwa.transactions.transactions import encode_text

# Unpaid months in a row after which a card is blocked. Contract: virtualcard#fees
MAX_UNPAID_MONTHS = 3


class MonthlyFeeJobData(msgspec.Struct, frozen=True):
    """The data of a monthly fee job: the number of months since the card was issued."""

    month: int


JOB_DATA_DECODER: "msgspec.json.Decoder[MonthlyFeeJobData]" = msgspec.json.Decoder(MonthlyFeeJobData)


def need_monthly_fee(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Card, job.subject), (Job, job.key)))


def decide_monthly_fee(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    card, current_job = rows.get(Card, job.subject), rows.get(Job, job.key)
    if current_job is None or current_job.due != job.due:
        return Decision()  # the card was terminated meanwhile, or another run charged this month
    if context.now < current_job.due:
        return Decision(jobs=(current_job,))  # not due yet in business time: release it unchanged
    assert card is not None
    if card.state == TERMINATED or card.is_expired(context.now):
        return Decision(jobs_done=(current_job,))
    accounts = (card.account, chart.income("card", card.currency), chart.tax("vat", card.currency))
    wanted = Needs((), accounts)
    if not has_all_rows(wanted, card.merchant_id, rows):
        return NeedsMore(wanted)
    charge = calculate_flat_fees(
        context.merchant.terms(Tariff), get_card_tariff(context.merchant, card.currency).monthly
    )
    if not charge.total:
        return Decision(jobs=(next_fee_job(card, current_job),))
    return charge_monthly_fee(
        card, charge, context, get_balance(card, rows) >= charge.total, next_fee_job(card, current_job)
    )


def charge_monthly_fee(card: Card, charge: FeeBreakdown, context: Context, is_covered: bool, job: Job) -> Decision:
    if not is_covered:
        lines = make_card_records(context, card, context.number, CardEntry(MONTHLY_FEE, charge.fee, status=DECLINED))
        unpaid = card.unpaid + 1
        state = BLOCKED if unpaid >= MAX_UNPAID_MONTHS else card.state
        changed = msgspec.structs.replace(card, unpaid=unpaid, state=state)
        return Decision(rows=(changed, *lines), jobs=(job,), numbers_used=1)
    entries = (*vat_entries(charge.vat, VAT_ON_MONTHLY_FEE), CardEntry(MONTHLY_FEE, charge.fee))
    lines = make_card_records(context, card, context.number, *entries)
    changes = (msgspec.structs.replace(card, unpaid=0),) if card.unpaid else ()
    posts = (
        Posting(card.account, chart.income("card", card.currency), charge.fee, "card monthly fee"),
        Posting(card.account, chart.tax("vat", card.currency), charge.vat, "card VAT"),
    )
    group = PostingGroup(card.reference, CARD_INSUFFICIENT, postings=tuple(post for post in posts if post.amount))
    return Decision(groups=(group,), rows=(*changes, *lines), jobs=(job,), numbers_used=len(lines))


def next_fee_job(card: Card, job: Job) -> Job:
    month = JOB_DATA_DECODER.decode(job.work).month + 1
    due = lagos_moment(add_months(lagos_day(card.created_at), month), 0)
    return msgspec.structs.replace(job, due=due, attempt=job.attempt + 1, work=encode_text(MonthlyFeeJobData(month)))
