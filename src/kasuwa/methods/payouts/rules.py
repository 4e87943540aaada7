"""Sets the schedule of payouts, and pays out when it is due. Contract: resources#payouts"""

from datetime import datetime

import msgspec

from kasuwa.core.banks import check_account_number, check_bank_code
from kasuwa.core.calendar import lagos_day, utc_text
from kasuwa.core.callers import Caller
from kasuwa.core.decision import (
    Context,
    Decision,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    OperatorNotice,
    Refusal,
    Row,
    make_job,
)
from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.core.references import account_key, job_key
from kasuwa.ledger import chart
from kasuwa.methods.disburse.model import WALLET, TransferDetail
from kasuwa.methods.disburse.rules.payout_checks import check_payout, need_counters
from kasuwa.methods.disburse.rules.transfer import NewTransfer, begin_transfer
from kasuwa.methods.payouts.model import (
    ABOVE,
    CURRENCY,
    LANE,
    LEAST_REQUIRED,
    NO_ACCOUNT,
    OFF,
    PAY_OUT,
    PayoutSchedule,
    next_payout,
    schedule_key,
)
from kasuwa.methods.payouts.wire import ScheduleReply, ScheduleRequest, ScheduleView
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.transactions.purpose import SCHEDULED_PAYOUT, PurposeRules, TransactionEffects, TransactionPurpose
from kasuwa.transactions.second_party import find_maker
from kasuwa.transactions.settlements import SettlementMovement, make_settlement_event
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction, encode_text

CALLER_DECODER = msgspec.json.Decoder(Caller)


def check_optional_bank(merchant: Merchant, bank_code: str | None) -> str | None:
    """Field rule: returns what is wrong with a bank code, or None. A later schedule may leave it out."""
    return None if bank_code is None else check_bank_code(merchant, bank_code)


def check_optional_account(merchant: Merchant, bank_code: str | None, account_number: str | None) -> str | None:
    """Field rule: returns what is wrong with an account number, or None."""
    if (bank_code is None) != (account_number is None):
        return "send bankcode and accountnumber together"
    if bank_code is None or account_number is None:
        return None
    return check_account_number(merchant, bank_code, account_number)


def need_schedule(request: ScheduleRequest, merchant: Merchant) -> Needs:
    key = schedule_key(merchant.merchant_id)
    return Needs(((PayoutSchedule, key), (Job, job_key(key))))


def decide_schedule(request: ScheduleRequest, context: Context, rows: LoadedRows) -> Decision[ScheduleReply] | Refusal:
    key = schedule_key(context.merchant.merchant_id)
    known, job = rows.get(PayoutSchedule, key), rows.get(Job, job_key(key))
    if request.frequency == ABOVE and not request.least:
        return LEAST_REQUIRED
    bank_code = request.bank_code or (known.bank_code if known is not None else "")
    account_number = request.account_number or (known.account_number if known is not None else "")
    if request.frequency != OFF and not (bank_code and account_number):
        return NO_ACCOUNT
    if known is not None and is_same_schedule(request, known, bank_code, account_number):
        # Who made the schedule, and when the next payout is due, stay as they are.
        return Decision(reply=reply_schedule(known, None if job is None else job.due))
    schedule = PayoutSchedule(
        key=key,
        merchant_id=context.merchant.merchant_id,
        currency=CURRENCY,
        frequency=request.frequency,
        least=int(request.least or 0),
        bank_code=bank_code,
        account_number=account_number,
        changed_at=context.now,
        last_ref="" if known is None else known.last_ref,
        set_by=encode_text(find_maker(context)),
    )
    if request.frequency == OFF:
        return Decision(reply=reply_schedule(schedule, None), rows=(schedule,), jobs_done=() if job is None else (job,))
    is_kept = known is not None and known.frequency == request.frequency and job is not None
    due = job.due if is_kept and job is not None else next_payout(request.frequency, context.now)
    return Decision(reply=reply_schedule(schedule, due), rows=(schedule,), jobs=(schedule_job(schedule, due),))


def is_same_schedule(request: ScheduleRequest, known: PayoutSchedule, bank_code: str, account_number: str) -> bool:
    wanted = (request.frequency, int(request.least or 0), bank_code, account_number)
    return wanted == (known.frequency, known.least, known.bank_code, known.account_number)


def reply_schedule(schedule: PayoutSchedule, due: datetime | None) -> ScheduleReply:
    message = "Payouts are off" if schedule.frequency == OFF else "Payouts are scheduled"
    return ScheduleReply(message=message, data=show_schedule(schedule, due))


def schedule_job(schedule: PayoutSchedule, due: datetime) -> Job:
    return make_job(
        key=job_key(schedule.key),
        merchant_id=schedule.merchant_id,
        kind=PAY_OUT,
        lane=LANE,
        reference=f"payouts {schedule.currency}",
        subject=schedule.key,
        due=due,
    )


def show_schedule(schedule: PayoutSchedule | None, due: datetime | None) -> ScheduleView:
    """Returns the schedule as replies show it. None before the first."""
    return ScheduleView(
        frequency="off" if schedule is None else schedule.frequency,  # type: ignore[arg-type]
        least=format_minor(0 if schedule is None else schedule.least),
        currency=CURRENCY,
        bank_code=None if schedule is None else schedule.bank_code or None,
        account_number=None if schedule is None else schedule.account_number or None,
        next_payout=None if due is None else utc_text(due),
        last_payout=None if schedule is None else schedule.last_ref or None,
    )


# --- the payout -----------------------------------------------------------------------------------------------------


def need_payout(job: Job, answer: Answer, merchant: Merchant) -> Needs:
    debt = chart.dispute_debt(CURRENCY)
    rows: tuple[tuple[type[Row], bytes], ...] = (
        (PayoutSchedule, job.subject),
        (Job, job.key),
        (chart.Account, account_key(merchant.merchant_id, WALLET)),
        (chart.Account, account_key(merchant.merchant_id, debt)),
    )
    return Needs(rows, (WALLET, debt))


def decide_payout(job: Job, answer: Answer, context: Context, rows: LoadedRows) -> Decision | Refusal | NeedsMore:
    """Transfers what the wallet has and does not owe, with its fee, and schedules the next payout.

    The merchant's policy for money out counts: the payout may wait for the approval of somebody else than who made the
    schedule, and is left out on a day on which a limit refuses it. Contract: keys#covered
    While the merchant is suspended, payouts are left out: each would be a new transfer of the whole wallet.
    """
    schedule, current_job = rows.get(PayoutSchedule, job.subject), rows.get(Job, job.key)
    if schedule is None or current_job is None or current_job.due != job.due:
        return Decision()  # the schedule has ended, or this payout was made and the job is that of the next
    following = schedule_job(schedule, next_payout(schedule.frequency, context.now))
    amount = payable(schedule, context, rows)
    if amount <= 0:
        return Decision(jobs=(following,))
    if context.merchant.suspended:
        return leave_out(job, following, "the merchant is suspended")
    order = TransferDetail(
        schedule.bank_code,
        schedule.account_number,
        context.merchant.name,
        f"Payout {lagos_day(context.now)}",
        purpose=TransactionPurpose(SCHEDULED_PAYOUT, job.reference),
    )
    counters = need_counters(context.merchant, order.bank_code, order.account_number)
    if not all(rows.is_loaded(key) for _, key in counters):
        return NeedsMore(Needs(counters))
    checked = check_payout(order, amount, context, rows)
    if isinstance(checked, Refusal):
        return leave_out(job, following, describe_refusal(checked))
    maker = msgspec.structs.replace(context.merchant, caller=CALLER_DECODER.decode(schedule.set_by))
    context = msgspec.structs.replace(context, merchant=maker)
    new = NewTransfer(order=order, amount=amount, reference_type="PO", checked=checked)
    decision = begin_transfer(new, context, context.number)
    decision.rows = (*decision.rows, msgspec.structs.replace(schedule, last_ref=decision.reply.txn_ref))
    decision.jobs = (*decision.jobs, following)
    return decision


def leave_out(job: Job, following: Job, reason: str) -> Decision:
    """Sends nothing, tells an operator why, and schedules the next payout."""
    notice = OperatorNotice(job.reference, f"a payout by schedule was left out: {reason}")
    return Decision(jobs=(following,), notices=(notice,))


def describe_refusal(refusal: Refusal) -> str:
    return "; ".join(error.reason for error in refusal.field_errors) or refusal.message


def payable(schedule: PayoutSchedule, context: Context, rows: LoadedRows) -> int:
    """Returns the amount that the wallet can pay out besides the fee, or 0 if that is too little."""
    merchant = context.merchant
    wallet = rows.get(chart.Account, account_key(merchant.merchant_id, WALLET))
    debt = rows.get(chart.Account, account_key(merchant.merchant_id, chart.dispute_debt(CURRENCY)))
    owed = 0 if debt is None else max(0, -debt.posted)
    there = 0 if wallet is None else wallet.available - owed
    limits = merchant.limits[CURRENCY]
    amount = min(largest_transfer(merchant.terms(Tariff), there), limits.max_amount)
    return amount if there >= schedule.least and amount >= limits.min_amount else 0


def largest_transfer(tariff: Tariff, there: int) -> int:
    """Returns the largest amount that a balance covers together with its fees, or 0 if there is none.

    Fees change at the ends of bands and at the threshold of the stamp duty. Between two such places they are the same,
    so the largest amount of each stretch is its end, or what the balance leaves beside the fees there.
    """
    stamp = tariff.transfer.stamp_duty
    ends = [convert_to_minor(band.up_to) for band in tariff.transfer.bands if band.up_to is not None]
    tops = (*(end for end in (*ends, convert_to_minor(stamp.threshold) - 1) if 0 <= end < there), max(0, there))
    amounts = [min(top, there - calculate_transfer_fees(tariff, top).total) for top in tops]
    covered = [one for one in amounts if one > 0 and one + calculate_transfer_fees(tariff, one).total <= there]
    return max(covered, default=0)


# --- its end --------------------------------------------------------------------------------------------------------


def need_end(merchant: Merchant, reference: str) -> Needs:
    return Needs()


def end_payout(row: Transaction, reference: str, context: Context, rows: LoadedRows) -> TransactionEffects:
    """Makes the event of a payout once the bank has paid it. A failed one has the event of its transfer alone."""
    if row.status != SUCCESSFUL:
        return TransactionEffects()
    moved = SettlementMovement(step="paid_out", reference=row.txn_ref, amount=row.amount, currency=row.currency)
    event, deliveries = make_settlement_event(moved, row, context)
    return TransactionEffects(jobs=deliveries, events=(event,))


PAYOUT_PURPOSE_RULES = PurposeRules(SCHEDULED_PAYOUT, need_end, end_payout)
