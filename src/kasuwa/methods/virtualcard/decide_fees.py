"""The monthly fee: one job per card, due at 00:00 Lagos on the day of issue, which reschedules itself. (D38)

Postings:

    paid      card → income:card     fee        card → tax:vat     its VAT
    not       nothing; the third month in a row blocks the card

The day is counted from the day of issue each time, so a card of the 31st pays on the 28th of February and on the
31st of March. A terminated card has no job, and an expired one pays no more.
"""

import msgspec

from kasuwa.core.calendar import add_months, lagos_day, moment_of
from kasuwa.core.decision import Context, Decision, Group, Job, Merchant, More, Needs, Post, Seen
from kasuwa.core.tariff import Charge, charge_flat
from kasuwa.core.transactions import encode_text
from kasuwa.ledger import chart
from kasuwa.methods.virtualcard.decide import (
    BLOCKED,
    DECLINED,
    MONTHLY_FEE,
    TERMINATED,
    VAT_ON_MONTHLY_FEE,
    Card,
    Told,
    balance_of,
    sees_all,
    vat_line,
    write_lines,
)
from kasuwa.methods.virtualcard.decide_money import CARD_SHORT, tariff_of
from kasuwa.rails.ports import Answer

# So many unpaid months in a row block a card. Spec silent: D38
MOST_UNPAID = 3


class Month(msgspec.Struct, frozen=True):
    """The job's work: which month after the issue it is."""

    month: int


MONTH: "msgspec.json.Decoder[Month]" = msgspec.json.Decoder(Month)


def need_monthly(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    return Needs(((Card, job.subject), (Job, job.key)))


def decide_monthly(job: Job, answer: Answer, context: Context, seen: Seen) -> Decision | More:
    card, here = seen.get(Card, job.subject), seen.get(Job, job.key)
    if here is None or here.due != job.due:
        return Decision()  # terminated while this was on its way, or this month was taken by another run
    if context.now < here.due:
        return Decision(jobs=(here,))  # not due yet, whoever runs it: it is put back
    assert card is not None
    if card.state == TERMINATED or card.is_expired(context.now):
        return Decision(jobs_done=(here,))
    accounts = (card.account, chart.income("card", card.currency), chart.tax("vat", card.currency))
    wanted = Needs((), accounts)
    if not sees_all(wanted, card.merchant_id, seen):
        return More(wanted)
    charge = charge_flat(context.merchant.tariff, tariff_of(context.merchant, card.currency).monthly)
    if not charge.total:
        return Decision(jobs=(next_month(card, here),))
    return take_fee(card, charge, context, balance_of(card, seen) >= charge.total, next_month(card, here))


def take_fee(card: Card, charge: Charge, context: Context, is_covered: bool, job: Job) -> Decision:
    if not is_covered:
        lines = write_lines(context, card, context.number, Told(MONTHLY_FEE, charge.fee, status=DECLINED))
        unpaid = card.unpaid + 1
        state = BLOCKED if unpaid >= MOST_UNPAID else card.state
        changed = msgspec.structs.replace(card, unpaid=unpaid, state=state)
        return Decision(rows=(changed, *lines), jobs=(job,), numbers=1)
    taken = (*vat_line(charge.vat, VAT_ON_MONTHLY_FEE), Told(MONTHLY_FEE, charge.fee))
    lines = write_lines(context, card, context.number, *taken)
    changes = (msgspec.structs.replace(card, unpaid=0),) if card.unpaid else ()
    posts = (
        Post(card.account, chart.income("card", card.currency), charge.fee, "card monthly fee"),
        Post(card.account, chart.tax("vat", card.currency), charge.vat, "VAT on fee"),
    )
    group = Group(card.reference, CARD_SHORT, posts=tuple(post for post in posts if post.amount))
    return Decision(groups=(group,), rows=(*changes, *lines), jobs=(job,), numbers=len(lines))


def next_month(card: Card, job: Job) -> Job:
    month = MONTH.decode(job.work).month + 1
    due = moment_of(add_months(lagos_day(card.created_at), month), 0)
    return msgspec.structs.replace(job, due=due, attempt=job.attempt + 1, work=encode_text(Month(month)))
