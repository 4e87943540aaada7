"""Rules of a top-up: a new loan that pays an old one off and disburses the rest, in one commit.

The request makes the new loan and approves it: the transfer is its amount without deducted charges and without the
payoff of the old loan on that day. The commit that ends the transfer successfully activates the new loan and pays the
old one off. Until then, and if the transfer fails, the old loan is as it was. Of what was quoted and is not needed any
more, because the old loan was repaid meanwhile, the new one is repaid.

    paid out        lending:principal → loan_principal       of the new loan, as for every loan
    paid off        loan_principal → lending:principal       of the old one, and its other parts as for every repayment,
                                                             of a kind of its own: nothing was collected

Contract: loans#top-up
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Posting,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.core.references import account_key
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import Client, adjust_open_accounts, client_key
from kasuwa.methods.disburse.model import WALLET
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT
from kasuwa.methods.loans.guarantee_model import (
    LoanCollateral,
    collateral_key,
    make_collateral_id,
    need_guarantees,
)
from kasuwa.methods.loans.model import (
    APPROVED,
    DISBURSEMENT_PURPOSE,
    DISBURSING,
    OWING_STATES,
    REPAYABLE_STATES,
    TOP_UP_ACT,
    UNKNOWN_LOAN,
    Loan,
    capital_posts,
    charge_posts,
    count_act,
    find_installments,
    loan_key,
    need_acts,
    need_installments,
    need_loan,
    record_act,
    refuse_in_state,
    repayment_posts,
    waiver_posts,
)
from kasuwa.methods.loans.rules.agreed_charges import read_charges
from kasuwa.methods.loans.rules.agreed_grace import find_period_faults, read_grace
from kasuwa.methods.loans.rules.charge_lines import deducted_parts, made_charge_id
from kasuwa.methods.loans.rules.explain_schedule import explain_schedule
from kasuwa.methods.loans.rules.guarantor_holds import count_unpaid_principal, need_secured_loan, release_holds
from kasuwa.methods.loans.rules.history import find_acts
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import (
    LoanPosition,
    allocate_repayment,
    allocate_top_up,
    compute_position,
    count_growth,
)
from kasuwa.methods.loans.rules.loan_record import explain_parts, make_loan_record
from kasuwa.methods.loans.rules.origination import (
    DISBURSED_MESSAGE,
    MAX_INSTALLMENTS,
    amount_paid_out,
    approve,
    begin_loan,
    end_disbursement,
    make_loan,
    refuse_terms,
    reply_disbursement,
    reply_ended_disbursement,
    schedule_arrears_check,
)
from kasuwa.methods.loans.rules.repay import apply_result
from kasuwa.methods.loans.wire import LoanReply, LoanRequest
from kasuwa.methods.loans.wire_reschedule import TopUpRequest
from kasuwa.terms.loan_charges import write_terms
from kasuwa.terms.loan_schedule import make_schedule, sum_amounts
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction
from kasuwa.wire.fields import NonNegativeInt, PercentRate
from kasuwa.wire.interest_wire import DryRunFigure, InterestSettings

# Refusals, in order of precedence: unknown loan, its state, and these.
TOP_UP_OF_GROUP = Refusal(
    INVALID_REQUEST,
    "The members of its group answer for this loan; request another one with request_group_loan",
    error_code="top_up_of_group",
)
TOP_UP_IN_PROGRESS = Refusal(
    INVALID_REQUEST,
    "The loan is being topped up by {loan_id}; wait until that is paid out, or cancel it",
    error_code="top_up_in_progress",
)


def check_period(merchant: Merchant, period: int | None) -> str | None:
    if period is None or 1 <= period <= MAX_INSTALLMENTS:
        return None
    return f"a number of installments from 1 to {MAX_INSTALLMENTS}"


# --- the request ------------------------------------------------------------------------------------------------------


def need_top_up(request: TopUpRequest, merchant: Merchant) -> Needs:
    loan, wallet = need_loan(merchant, request.loan_id), account_key(merchant.merchant_id, WALLET)
    return Needs((*loan.rows, (Account, wallet)), (*loan.accounts, WALLET))


def decide_top_up(
    request: TopUpRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    old = rows.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if old is None:
        return UNKNOWN_LOAN
    if old.state not in OWING_STATES:
        return refuse_in_state(old.state, "topped up")
    if old.group_loan_id:
        return TOP_UP_OF_GROUP
    refused = refuse_second(old, context, rows)
    if refused is not None:
        return refused
    stored = find_installments(old, rows)
    if stored is None:
        return NeedsMore(need_installments(old))
    client = rows.get(Client, client_key(old.merchant_id, old.client_id))
    assert client is not None
    loan, today = make_top_up(request, old, context), lagos_day(context.now)
    lines = make_schedule(loan.terms, today)
    refusal = refuse_grace(loan) or refuse_terms(loan, lines, context)
    if refusal is not None:
        return refusal
    decision = approve(loan, client, context, rows, context.number + 1)
    if not isinstance(decision, Decision):
        return decision
    if request.dry_run:
        return dry_run_top_up(loan, compute_position(old, stored, today), context, rows)
    decision.rows = (
        *decision.rows,
        msgspec.structs.replace(old, topped_up_by=loan.loan_id),
        adjust_open_accounts(client, 1),
    )
    decision.numbers_used += 1
    return decision


def refuse_second(old: Loan, context: Context, rows: LoadedRows) -> Refusal | NeedsMore | None:
    """Returns the refusal of a top-up while another one of the same loan may still be paid out."""
    if not old.topped_up_by:
        return None
    key = loan_key(old.merchant_id, old.topped_up_by)
    if not rows.is_loaded(key):
        return NeedsMore(need_loan(context.merchant, old.topped_up_by))
    other = rows.get(Loan, key)
    is_open = other is not None and other.state in (DISBURSING, APPROVED)
    return TOP_UP_IN_PROGRESS.fill(loan_id=old.topped_up_by) if is_open else None


def make_top_up(request: TopUpRequest, old: Loan, context: Context) -> Loan:
    """Returns the new loan. What the request leaves out is as of the old one."""
    settings = request.interest_settings
    loan = make_loan(
        LoanRequest(
            client_id=old.client_id,
            officer=request.officer or old.officer,
            branch=request.branch or old.branch,
            interest_settings=InterestSettings(
                interest_rate=PercentRate(old.current_rate),
                interest_frequency=old.frequency,  # type: ignore[arg-type]
            )
            if settings is None
            else settings,
            amount=request.amount,
            period=NonNegativeInt(old.period) if request.period is None else request.period,
            tax_applied=old.tax_applied,
            tax_rate=PercentRate(old.tax_rate),
            method=request.method or old.method,  # type: ignore[arg-type]
        ),
        context,
    )
    agreed = msgspec.structs.replace(
        old.agreed_terms,
        charges=read_charges(request.charges or ()),
        grace=read_grace(request.grace),
        tops_up=old.loan_id,
    )
    return msgspec.structs.replace(
        loan, agreed=write_terms(agreed), penalty_rate=old.penalty_rate, tolerance_days=old.tolerance_days
    )


def refuse_grace(loan: Loan) -> Refusal | None:
    """Returns the refusal of a grace that is too long for the number of installments of the old loan."""
    faults = [*find_period_faults(loan.agreed_terms.grace, loan.period)]
    return refuse_fields(*faults) if faults else None


def dry_run_top_up(loan: Loan, before: LoanPosition, context: Context, rows: LoadedRows) -> Decision | Refusal:
    """Returns the dry-run reply: the active loan if the transfer succeeds, what it pays off, and its cost.

    No postings are applied in a dry run, so the wallet's balance is checked here instead of by the ledger."""
    payoff, today, tariff = sum_amounts(before.payoff), lagos_day(context.now), context.merchant.terms(Tariff)
    amount = amount_paid_out(loan) - payoff.total
    wallet = rows.get(Account, account_key(loan.merchant_id, WALLET))
    if wallet is None or wallet.available < amount + calculate_transfer_fees(tariff, amount).total:
        return WALLET_INSUFFICIENT
    position = begin_loan(loan, context)
    data = make_loan_record(position.loan, position.lines, context.now)
    data.loan_id = None
    explained = [
        DryRunFigure("paid off", format_minor(payoff.total), f"of {before.loan.loan_id}: {explain_parts(payoff)}"),
        DryRunFigure("paid out", format_minor(amount), f"{format_minor(amount_paid_out(loan))} without the payoff"),
        *explain_schedule(loan, make_schedule(loan.terms, today), today, tariff, payoff.total),
    ]
    return Decision(reply=LoanReply(message=DRY_RUN_MESSAGE, data=data, dry_run=True, explained=explained))


# --- result of the disbursement ---------------------------------------------------------------------------------------


def end_any_disbursement(
    row: Transaction, loan_id: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Returns what the result of a loan's transfer does: of a top-up that is paid out, the old loan is paid off too."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert loan is not None
    tops_up = loan.agreed_terms.tops_up
    if not tops_up or row.status != SUCCESSFUL:
        return end_disbursement(row, loan_id, context, rows)
    key = loan_key(loan.merchant_id, tops_up)
    if not rows.is_loaded(key):
        return NeedsMore(need_loan(context.merchant, tops_up))
    old = rows.get(Loan, key)
    assert old is not None
    held, guarantees = need_collateral(old), need_guarantees(loan)
    # In one round: a decision has few of them (engine/locked_batch.py).
    needs = Needs((*need_secured_loan(old).rows, *held.rows, *need_acts(old).rows, *guarantees.rows))
    if not all(rows.is_loaded(one) for _, one in needs.rows):
        return NeedsMore(needs)
    return settle_top_up(row, loan, old, context, rows)


def settle_top_up(
    row: Transaction, loan: Loan, old: Loan, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Activates the new loan and pays the old one off."""
    quoted = amount_paid_out(loan) - row.amount
    position = begin_loan(loan, context)
    paid_off = pay_off(old, quoted, row, context, rows)
    if isinstance(paid_off, NeedsMore):
        return paid_off
    released = Effects()
    used = paid_off.amount
    deducted = deducted_parts(loan)
    effects = TransactionEffects(
        posts=(
            *charge_posts(loan.loan_id, position.owed + deducted, "agreed"),
            *repayment_posts(loan.loan_id, deducted, "deducted"),
            *paid_off.effects.posts,
        )
    )
    acts: tuple[Row, ...] = ()
    if quoted > used:
        result = allocate_repayment(position, quoted - used)
        acts = (record_act(loan, TOP_UP_ACT, position.day, context.now, row.txn_ref, quoted - used),)
        position = msgspec.structs.replace(result.after, loan=count_act(result.after.loan))
        effects.posts += (
            *repayment_posts(loan.loan_id, sum_amounts(result.paid), "refinanced"),
            *waiver_posts(loan.loan_id, result.waived, "not used"),
            *charge_posts(loan.loan_id, result.added, "by the schedule computed anew"),
        )
        holds = release_holds(loan, count_unpaid_principal(position.lines), rows)
        if isinstance(holds, NeedsMore):
            return holds
        released = holds
    collateral = move_collateral(old, position.loan, context, rows) if paid_off.is_closed else ()
    collaterals = position.loan.collaterals + len(collateral) // 2
    position = msgspec.structs.replace(position, loan=msgspec.structs.replace(position.loan, collaterals=collaterals))
    effects.reply = reply_disbursement(row, position.loan, position.lines, DISBURSED_MESSAGE, context)
    effects.rows = (position.loan, *position.lines, *acts, *collateral)
    effects.jobs = schedule_arrears_check(position, context)
    effects.add(paid_off.effects)
    effects.add(released)
    return effects


class PaidOff(msgspec.Struct, frozen=True):
    """The effects of a new loan on an old one."""

    amount: int  # the part of the quoted payoff that it took
    is_closed: bool
    effects: TransactionEffects


def pay_off(old: Loan, quoted: int, row: Transaction, context: Context, rows: LoadedRows) -> PaidOff | NeedsMore:
    """Pays the old loan off with at most what was quoted. One that owes nothing any more takes nothing."""
    stored = find_installments(old, rows)
    if stored is None:
        return NeedsMore(need_installments(old))
    before = compute_position(old, stored, lagos_day(context.now))
    amount = min(quoted, sum_amounts(before.payoff).total) if old.state in REPAYABLE_STATES else 0
    if not amount:
        return PaidOff(0, False, TransactionEffects())
    acts = find_acts(old, rows)
    if isinstance(acts, NeedsMore):
        return acts
    made_since = {made_charge_id(act.n) for act in acts if act.made_at > row.created_at}
    grown, txn_ref = count_growth(before, lagos_day(row.created_at), made_since), row.txn_ref
    result = msgspec.structs.replace(allocate_top_up(before, amount, grown), kind="refinanced")
    credited = apply_result(old, stored, before, result, context, rows)
    if isinstance(credited, NeedsMore):
        return credited
    effects = credited.effects
    effects.posts = (*uncapital_posts(old.loan_id, before, result.after), *effects.posts)
    notified = tell_of_loan(
        credited.loan, "topped_up", credited.result.after, context, amount=amount, repayment_ref=txn_ref
    )
    effects.rows = tuple(notified.loan if isinstance(one, Loan) else one for one in effects.rows)
    act = record_act(old, TOP_UP_ACT, before.day, context.now, txn_ref, amount)
    act = msgspec.structs.replace(act, content=str(grown))
    effects.rows += (credited.client, act)
    effects.add(notified.effects)
    return PaidOff(amount, credited.loan.state not in OWING_STATES, effects)


def uncapital_posts(loan_id: str, before: LoanPosition, after: LoanPosition) -> tuple[Posting, ...]:
    """Returns the postings that take interest back which had become principal, so that it is not asked for."""
    less = sum_amounts(line.capitalized for line in before.lines)
    less -= sum_amounts(line.capitalized for line in after.lines)
    return tuple(Posting(post.credit, post.debit, post.amount, post.kind) for post in capital_posts(loan_id, less))


# --- collateral -------------------------------------------------------------------------------------------------------


def need_collateral(old: Loan) -> Needs:
    keys = (collateral_key(old.merchant_id, make_collateral_id(old.loan_id, n)) for n in range(1, old.collaterals + 1))
    return Needs(tuple((LoanCollateral, key) for key in keys))


def move_collateral(old: Loan, loan: Loan, context: Context, rows: LoadedRows) -> tuple[LoanCollateral, ...]:
    """Returns what is held for the old loan as given back, and as held for the new one, which may have some already."""
    rows_of_loan = (rows.get(LoanCollateral, key) for _, key in need_collateral(old).rows)
    held = [one for one in rows_of_loan if one is not None and one.returned_at is None]
    moved = []
    for n, one in enumerate(held, loan.collaterals + 1):
        collateral_id = make_collateral_id(loan.loan_id, n)
        moved += [
            msgspec.structs.replace(one, returned_at=context.now),
            msgspec.structs.replace(
                one,
                key=collateral_key(loan.merchant_id, collateral_id),
                collateral_id=collateral_id,
                loan_id=loan.loan_id,
                n=n,
                created_at=context.now,
            ),
        ]
    return tuple(moved)


DISBURSEMENT_PURPOSE_RULES = PurposeRules(
    DISBURSEMENT_PURPOSE, need_loan, end_any_disbursement, final_reply=reply_ended_disbursement
)
