"""Rules of agreeing on the automatic collection of a loan, and of stopping it. Collecting is in collect.py.

Contract: loans#auto-repay
"""

from datetime import date, timedelta

import msgspec

from kasuwa.core.calendar import DEFAULT_DUE_HOUR, lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key, opaque_id
from kasuwa.methods.auto_repay.rules.dates import find_first, make_run, wait_for_payout
from kasuwa.methods.auto_repay.wire import AutoRepayReply, AutoRepayRequest, StopAutoRepayRequest
from kasuwa.methods.investments.model import (
    CLOSED,
    SAVINGS_CLOSED,
    SAVINGS_DORMANT,
    UNKNOWN_SAVINGS,
    Savings,
    is_dormant,
    savings_key,
)
from kasuwa.methods.loans.auto_repay_model import (
    ACTIVE,
    ENDED,
    ID_PREFIX,
    SAVINGS,
    STOPPED,
    TOKEN,
    WAIT,
    AutoRepayment,
    auto_repayment_key,
    halt,
    need_auto_repayment,
)
from kasuwa.methods.loans.model import (
    OWING_STATES,
    UNDISBURSED_STATES,
    UNKNOWN_LOAN,
    Loan,
    find_installments,
    loan_key,
    need_installments,
    need_loan,
    refuse_in_state,
)
from kasuwa.methods.loans.rules.auto_repay_record import end_with_loan, expect_amount, make_auto_repay_record
from kasuwa.methods.loans.rules.loan_position import LoanPosition, compute_position
from kasuwa.methods.loans.rules.plan_collection import plan_day
from kasuwa.methods.payment.model import SavedCard, find_chargeable_card, saved_card_key
from kasuwa.transactions.schedule import RETRY_DAYS
from kasuwa.wire.interest_wire import DryRunFigure

LAST_HOUR = 23
LAST_RETRY_DAY = 30

# Refusals, in order of precedence: unknown loan, its state, and these.
UNKNOWN_TOKEN = refuse_fields(FieldError("token", "no saved card has this token", "saved_card_not_found"))
OTHER_CLIENT = refuse_fields(FieldError("savings_id", "not of the client who borrows", "not_the_owner"))
FIXED_SOURCE = refuse_fields(FieldError("savings_id", "a fixed deposit pays no loans", "fixed_deposit_in_auto_repay"))
NOT_AGREED = Refusal(INVALID_REQUEST, "Nothing was agreed on collecting this loan", error_code="auto_repay_not_found")


# --- field rules ------------------------------------------------------------------------------------------------


def check_hour(merchant: Merchant, hour: int | None) -> str | None:
    return None if hour is None or hour <= LAST_HOUR else f"an hour from 0 to {LAST_HOUR}"


def check_retry(merchant: Merchant, retry: list[int] | None) -> str | None:
    days = retry or []
    fits = all(1 <= day <= LAST_RETRY_DAY for day in days) and days == sorted(set(days))
    return None if fits else f"days from 1 to {LAST_RETRY_DAY}, ascending"


def check_token(merchant: Merchant, source: str, token: str | None) -> str | None:
    return check_source_field(source, TOKEN, token)


def check_savings(merchant: Merchant, source: str, savings_id: str | None) -> str | None:
    return check_source_field(source, SAVINGS, savings_id)


def check_source_field(source: str, own: str, value: str | None) -> str | None:
    if source == own:
        return f"required for {own}" if value is None else None
    return None if value is None else f"only for {own}"


# --- agreeing ---------------------------------------------------------------------------------------------------


def need_auto_repay(request: AutoRepayRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    loan, auto = need_loan(merchant, request.loan_id), need_auto_repayment(merchant_id, request.loan_id)
    rows = (*loan.rows, *auto.rows)
    if request.token is not None:
        rows = (*rows, (SavedCard, saved_card_key(merchant_id, request.token)))
    if request.savings_id is not None:
        rows = (*rows, (Savings, savings_key(merchant_id, request.savings_id)))
    return Needs(rows, loan.accounts)


def decide_auto_repay(
    request: AutoRepayRequest, context: Context, rows: LoadedRows
) -> Decision[AutoRepayReply] | Refusal | NeedsMore:
    """Agrees on the collection. A request for what is agreed already, of which nothing has failed, changes nothing."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING_STATES | UNDISBURSED_STATES:
        return refuse_in_state(loan.state, "collected")
    refusal = refuse_source(request, loan, context, rows)
    if refusal is not None:
        return refusal
    stored = find_installments(loan, rows)
    if stored is None:
        return NeedsMore(need_installments(loan))
    before = rows.get(AutoRepayment, auto_repayment_key(loan.merchant_id, loan.loan_id))
    agreed = agree(request, before or make_auto_repayment(loan, context))
    is_repeated = agreed == before
    position = compute_position(loan, stored, lagos_day(context.now)) if loan.state in OWING_STATES else None
    job = rows.get(Job, job_key(agreed.key))
    if not (agreed.charging or is_repeated):
        agreed = plan_first(agreed, position, context)
    record = make_auto_repay_record(agreed, loan, position)
    if request.dry_run:
        if before is None:
            record.auto_repay_id = None
        reply = AutoRepayReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True)
        reply.explained = explain_agreement(agreed, position)
        return Decision(reply=reply)
    reply = AutoRepayReply(message="Automatic Collection Agreed", data=record)
    if is_repeated:
        return Decision(reply=reply)
    if agreed.charging:
        return Decision(reply=reply, rows=(agreed,))
    planned = make_run(agreed)
    if job is not None:
        planned = msgspec.structs.replace(job, due=planned.due, attempt=job.attempt + 1)
    return Decision(reply=reply, rows=(agreed,), jobs=(planned,))


def refuse_source(request: AutoRepayRequest, loan: Loan, context: Context, rows: LoadedRows) -> Refusal | None:
    """Returns why the source cannot pay, as far as that is known today."""
    merchant_id = loan.merchant_id
    if request.source == TOKEN:
        saved = find_chargeable_card(merchant_id, request.token or "", rows)
        return UNKNOWN_TOKEN if saved is None else None
    if request.source != SAVINGS:
        return None
    savings = rows.get(Savings, savings_key(merchant_id, request.savings_id or ""))
    if savings is None:
        return UNKNOWN_SAVINGS
    if savings.client_id != loan.client_id:
        return OTHER_CLIENT
    if savings.state == CLOSED:
        return SAVINGS_CLOSED
    if is_dormant(savings, lagos_day(context.now), context.merchant):
        return SAVINGS_DORMANT
    return FIXED_SOURCE if savings.is_fixed else None


def make_auto_repayment(loan: Loan, context: Context) -> AutoRepayment:
    return AutoRepayment(
        key=auto_repayment_key(loan.merchant_id, loan.loan_id),
        merchant_id=loan.merchant_id,
        auto_repay_id=opaque_id(ID_PREFIX, context.entropy),
        loan_id=loan.loan_id,
        client_id=loan.client_id,
        source="",
        card_token="",
        savings_id="",
        hour=DEFAULT_DUE_HOUR,
        retry="",
        state=ACTIVE,
        step=WAIT,
        created_at=context.now,
    )


def agree(request: AutoRepayRequest, auto: AutoRepayment) -> AutoRepayment:
    """Returns the collection under the terms of the request. The end of a charge in progress plans what follows, and
    under the same terms it counts as a try of its day."""
    retry = RETRY_DAYS if request.retry is None else tuple(int(day) for day in request.retry)
    agreed = msgspec.structs.replace(
        auto,
        source=request.source,
        card_token=request.token or "",
        savings_id=request.savings_id or "",
        hour=DEFAULT_DUE_HOUR if request.at is None else int(request.at),
        retry=",".join(str(day) for day in retry),
        state=ACTIVE,
    )
    is_same = agreed == auto and auto.charging
    return auto if is_same else msgspec.structs.replace(agreed, tries=0, misses=0, reason="")


def plan_first(auto: AutoRepayment, position: LoanPosition | None, context: Context) -> AutoRepayment:
    """Returns the collection with its first day under the agreement. `position` is None before the loan is paid out."""
    if position is None:
        return wait_for_payout(auto, context.now)
    return plan_day(auto, find_first(position, auto.hour, context.now), context.now)


def explain_agreement(auto: AutoRepayment, position: LoanPosition | None) -> list[DryRunFigure]:
    if position is None or auto.due_on is None:
        how = "nothing until the loan is paid out; then what is due on each due date"
        return [DryRunFigure("first collection", format_minor(0), how)]
    return [
        DryRunFigure(
            "first collection",
            format_minor(expect_amount(position, auto.due_on)),
            f"all that is due by {auto.due_on}, {describe_source(auto)}, at {auto.hour:02d}:00 in Lagos;"
            f" {describe_retries(auto, auto.due_on)}",
        )
    ]


def describe_source(auto: AutoRepayment) -> str:
    return {TOKEN: "from the saved card", SAVINGS: f"from the savings {auto.savings_id}"}.get(
        auto.source, "from the wallet"
    )


def describe_retries(auto: AutoRepayment, day: date) -> str:
    if not auto.retry_days:
        return "not tried again if it is declined"
    days = ", ".join((day + timedelta(days=each)).isoformat() for each in auto.retry_days)
    return f"if it is declined, again on {days}, but before the next due date"


# --- stopping ---------------------------------------------------------------------------------------------------


def need_stop(request: StopAutoRepayRequest, merchant: Merchant) -> Needs:
    loan, auto = need_loan(merchant, request.loan_id), need_auto_repayment(merchant.merchant_id, request.loan_id)
    return Needs((*loan.rows, *auto.rows), loan.accounts)


def decide_stop(
    request: StopAutoRepayRequest, context: Context, rows: LoadedRows
) -> Decision[AutoRepayReply] | Refusal:
    """Stops the collection. One that is stopped or has ended already is answered as it is."""
    merchant_id = context.merchant.merchant_id
    loan = rows.get(Loan, loan_key(merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    auto = rows.get(AutoRepayment, auto_repayment_key(merchant_id, request.loan_id))
    if auto is None:
        return NOT_AGREED
    ended = end_with_loan(auto, loan)
    stopped = ended if ended.state in (STOPPED, ENDED) else halt(ended, STOPPED)
    record = make_auto_repay_record(stopped, loan)
    if request.dry_run:
        return Decision(reply=AutoRepayReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=[]))
    decision = Decision(reply=AutoRepayReply(message="Automatic Collection Stopped", data=record))
    if stopped != auto:
        job = rows.get(Job, job_key(auto.key))
        decision.rows = (stopped,)
        decision.jobs_done = () if job is None else (job,)
    return decision
