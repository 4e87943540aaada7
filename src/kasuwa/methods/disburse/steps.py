"""What a transfer's job does outside: send it, or ask what became of it. No decisions and no SQL here."""

from datetime import datetime

from kasuwa.core.decision import Job
from kasuwa.methods.disburse.decide import ASK, CURRENCY, WORK
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, Rails, TransferOrder


async def call_bank(rails: Rails, job: Job, now: datetime, beside: None) -> Answer:
    """A job taken up from somebody who died may have been sent already: the rail is asked first, and what it
    never saw is sent under the same key."""
    order = order_of(job, now)
    taken_over = job.claims > 1
    if job.kind == ASK or taken_over:
        answer = await rails.bank.query(order)
        if job.kind == ASK or answer.status != ports.NOT_FOUND:
            return answer
    return await rails.bank.transfer(order)


def order_of(job: Job, now: datetime) -> TransferOrder:
    work = WORK.decode(job.work)
    return TransferOrder(
        key=job.reference,
        amount=work.amount,
        currency=CURRENCY,
        bank_code=work.order.bank_code,
        account_number=work.order.account_number,
        sender_name=work.order.sender_name,
        narration=work.order.narration,
        age_seconds=now.timestamp() - work.sent_at,
        scenario=work.scenario,
    )
