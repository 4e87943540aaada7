"""Rules of charges and waivers of a loan that was paid out.

Both are acts of the loan: when one of its repayments is reversed, they are counted again in their order. They move no
cash. A waiver takes no more than is owed, and may not get around the approval of write-offs.

Contract: loans#charge, loans#waive
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    Effects,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.error_codes import DAY_OUTSIDE_LOAN
from kasuwa.core.money import LARGEST_AMOUNT, format_minor
from kasuwa.methods.clients.model import adjust_open_accounts
from kasuwa.methods.loans.model import (
    CHARGE_ACT,
    MORE_THAN_OWED,
    OWING_STATES,
    UNKNOWN_LOAN,
    WAIVER_ACT,
    Loan,
    LoanAct,
    LoanInstallment,
    changed_installments,
    charge_posts,
    count_act,
    find_installments,
    loan_key,
    need_installments,
    need_loan,
    record_act,
    refuse_in_state,
    waiver_posts,
)
from kasuwa.methods.loans.rules.charge_lines import cover_charges, made_charge_id
from kasuwa.methods.loans.rules.history import find_acts
from kasuwa.methods.loans.rules.loan_event import tell_of_loan
from kasuwa.methods.loans.rules.loan_position import (
    INTEREST,
    PENALTY,
    LoanPosition,
    charge_loan,
    charged_line,
    compute_position,
    waive_debt,
)
from kasuwa.methods.loans.rules.loan_record import explain_parts, make_loan_record
from kasuwa.methods.loans.rules.origination import (
    arrears_check_jobs,
    change_state,
    reschedule_arrears_check,
)
from kasuwa.methods.loans.rules.plan_collection import plan_earlier
from kasuwa.methods.loans.rules.provision import release_provision
from kasuwa.methods.loans.rules.repay import find_client, penalty_posts
from kasuwa.methods.loans.wire import LoanReply
from kasuwa.methods.loans.wire_charges import ChargeRequest, WaiveRequest
from kasuwa.terms.loan_charges import MAX_CHARGES_OF_LINE, LineCharge
from kasuwa.terms.loan_schedule import LoanAmounts, parse_rate, share_half_up
from kasuwa.terms.payouts import PayoutTerms
from kasuwa.transactions.transactions import encode_text
from kasuwa.wire.interest_wire import DryRunFigure

# Refusals, in order of precedence.
UNKNOWN_CHARGE = Refusal(
    INVALID_REQUEST,
    "Invalid Charge Reference: send the charge_id of a charge of the loan",
    error_code="charge_not_found",
)
NOTHING_TO_WAIVE = Refusal(
    INVALID_REQUEST, "Nothing of it is owed today, so that nothing can be waived", error_code="nothing_to_waive"
)
TOO_MANY_CHARGES = Refusal(
    INVALID_REQUEST,
    f"The installment of that day has {MAX_CHARGES_OF_LINE} charges already",
    error_code="too_many_charges",
)
WAIVER_NEEDS_APPROVAL = Refusal(
    INVALID_REQUEST,
    "With what was written off and waived before it is above {limit}, which your payout policy lets one party decide; "
    "use write_off, which another party approves",
    error_code="waiver_needs_approval",
)


class OpenDebt(msgspec.Struct, frozen=True):
    """A loan that owes something, as stored and as it is today."""

    loan: Loan
    stored: tuple[LoanInstallment, ...]
    before: LoanPosition


def find_debt(loan_id: str, wanted: str, context: Context, rows: LoadedRows) -> OpenDebt | Refusal | NeedsMore:
    """Returns the loan that an act is on. `wanted` is the past participle of the act."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING_STATES:
        return refuse_in_state(loan.state, wanted)
    stored = find_installments(loan, rows)
    if stored is None:
        return NeedsMore(need_installments(loan))
    return OpenDebt(loan, stored, compute_position(loan, stored, lagos_day(context.now)))


class ActOnDebt(msgspec.Struct, frozen=True):
    """A charge or a waiver with what it does to a loan, and how the reply and the event tell it."""

    debt: OpenDebt
    after: LoanPosition
    act: LoanAct
    parts: LoanAmounts  # charged or waived
    step: str
    message: str
    explained: list[DryRunFigure]
    reason: str = ""


def record_act_on_debt(done: ActOnDebt, is_dry_run: bool, context: Context, rows: LoadedRows) -> Decision[LoanReply]:
    """Returns the decision of a charge or waiver, or its dry run."""
    loan, after = done.debt.loan, done.after
    row = count_act(after.loan)
    if row.state != loan.state:
        row = change_state(row, context, row.state)
    client: tuple[Row, ...] = ()
    if is_closing := row.state not in OWING_STATES:
        row = msgspec.structs.replace(row, closed_at=context.now)
        client = (adjust_open_accounts(find_client(loan, rows), -1),)
    provided = release_provision(row)
    position = msgspec.structs.replace(after, loan=provided.loan)
    data = make_loan_record(provided.loan, after.lines, context.now)
    if is_dry_run:
        reply = LoanReply(message=DRY_RUN_MESSAGE, data=data, dry_run=True, explained=done.explained)
        return Decision(reply=reply)
    amount = done.parts.total
    notified = tell_of_loan(provided.loan, done.step, position, context, amount=amount, reason=done.reason)
    moved = (
        charge_posts(loan.loan_id, done.parts, "agreed")
        if done.act.kind == CHARGE_ACT
        else waiver_posts(loan.loan_id, done.parts, "waived")
    )
    posts = (*penalty_posts(done.debt.stored, done.debt.before), *moved, *provided.posts)
    decision = Decision(
        reply=LoanReply(message=done.message, data=data),
        groups=(PostingGroup(loan.loan_id, MORE_THAN_OWED, postings=posts),),
        rows=(notified.loan, *client, done.act, *changed_installments(done.debt.stored, after.lines, context.now)),
        jobs=() if is_closing else reschedule_arrears_check(position, context, rows),
        jobs_done=arrears_check_jobs(loan, rows) if is_closing else (),
    )
    decision.add(notified.effects)
    return decision


# --- charge -----------------------------------------------------------------------------------------------------------


def check_vat(merchant: Merchant, vat: str | None) -> str | None:
    return None if vat is None or parse_rate(vat) <= 1 else "a percentage from 0 to 100"


def need_charge(request: ChargeRequest, merchant: Merchant) -> Needs:
    return need_loan(merchant, request.loan_id)


def decide_charge(
    request: ChargeRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    debt = find_debt(request.loan_id, "charged", context, rows)
    if not isinstance(debt, OpenDebt):
        return debt
    before, today = debt.before, debt.before.day
    day = today if request.due is None else request.due.plain()
    last = max(today, before.lines[-1].due)
    if not today <= day <= last:
        return refuse_fields(FieldError("due", f"a day from today to {last.isoformat()}", DAY_OUTSIDE_LOAN))
    line, amount = charged_line(before, day), int(request.amount)
    vat = share_half_up(amount, parse_rate(str(request.vat or "0")))
    if before.owed.total + amount + vat > LARGEST_AMOUNT:
        most = format_minor(LARGEST_AMOUNT)
        return refuse_fields(FieldError("amount", f"with all that is owed, more than {most}", "loan_too_large"))
    if len(line.its_charges) >= MAX_CHARGES_OF_LINE:
        return TOO_MANY_CHARGES
    charge = LineCharge(made_charge_id(debt.loan.acts + 1), request.name, day, amount, vat)
    act = record_debt_act(debt, CHARGE_ACT, amount, encode_text(charge), context)
    how = f"{format_minor(amount)} and VAT {format_minor(vat)}, with installment {line.n} due {line.due.isoformat()}"
    after = charge_loan(before, charge)
    planned = Effects() if request.dry_run else plan_earlier(after, context, rows)
    if isinstance(planned, NeedsMore):
        return planned
    done = ActOnDebt(
        debt=debt,
        after=after,
        act=act,
        parts=LoanAmounts(charge=amount, vat=vat),
        step="charged",
        message="Loan Charged",
        explained=[DryRunFigure(what=request.name, amount=format_minor(amount + vat), how=how), explain_owed(after)],
    )
    decision = record_act_on_debt(done, bool(request.dry_run), context, rows)
    decision.add(planned)
    return decision


def record_debt_act(debt: OpenDebt, kind: str, amount: int, content: str, context: Context) -> LoanAct:
    """Returns the act of a charge or waiver. The loan is given nothing by it, as it is by a repayment."""
    act = record_act(debt.loan, kind, debt.before.day, context.now, amount=amount)
    return msgspec.structs.replace(act, applied=0, content=content)


def explain_owed(after: LoanPosition) -> DryRunFigure:
    owed = after.owed if after.loan.state in OWING_STATES else LoanAmounts()
    how = f"owed after it: {explain_parts(owed)}" if owed.total else "nothing: the loan is closed"
    return DryRunFigure(what="outstanding", amount=format_minor(owed.total), how=how)


# --- waive ------------------------------------------------------------------------------------------------------------


def check_target(merchant: Merchant, penalty: bool | None, interest: bool | None, charge_id: str | None) -> str | None:
    named = sum((charge_id is not None, bool(penalty), bool(interest)))
    return None if named == 1 else "exactly one of charge_id, penalty and interest"


def need_waive(request: WaiveRequest, merchant: Merchant) -> Needs:
    return need_loan(merchant, request.loan_id)


def decide_waive(
    request: WaiveRequest, context: Context, rows: LoadedRows
) -> Decision[LoanReply] | Refusal | NeedsMore:
    debt = find_debt(request.loan_id, "relieved of what it owes", context, rows)
    if not isinstance(debt, OpenDebt):
        return debt
    target = request.charge_id or (PENALTY if request.penalty else INTEREST)
    owed = find_owed(debt.before, request)
    if owed is None:
        return UNKNOWN_CHARGE
    if not owed:
        return NOTHING_TO_WAIVE
    amount = owed if request.amount is None else int(request.amount)
    if amount > owed:
        return refuse_fields(FieldError("amount", f"at most {format_minor(owed)}, which is owed", "more_than_owed"))
    acts = find_acts(debt.loan, rows)
    if isinstance(acts, NeedsMore):
        return acts
    refusal = refuse_above_limit(debt.before, acts, amount, context.merchant)
    if refusal is not None:
        return refusal
    result = waive_debt(debt.before, target, amount)
    act = record_debt_act(debt, WAIVER_ACT, amount, target, context)
    how = f"not owed any more: {explain_parts(result.waived)}"
    done = ActOnDebt(
        debt=debt,
        after=result.after,
        act=act,
        parts=result.waived,
        step="waived",
        message="Debt Waived",
        explained=[
            DryRunFigure(what="waived", amount=format_minor(amount), how=how),
            explain_owed(result.after),
        ],
        reason=request.reason or "",
    )
    return record_act_on_debt(done, bool(request.dry_run), context, rows)


def find_owed(position: LoanPosition, request: WaiveRequest) -> int | None:
    """Returns what is owed of that which a request waives, or None if its charge is unknown."""
    if request.penalty:
        return position.owed.penalty
    if request.interest:
        return position.due.interest + position.due.tax
    charges = (one for line in position.lines for one in cover_charges(line))
    charge = next((one for one in charges if one.charge.charge_id == request.charge_id), None)
    return None if charge is None else charge.owed + charge.owed_vat


def refuse_above_limit(
    position: LoanPosition, acts: tuple[LoanAct, ...], amount: int, merchant: Merchant
) -> Refusal | None:
    """Returns the refusal of a waiver that would be a write-off which needs another party."""
    limit = find_write_off_limit(merchant)
    if limit is None or sum_given_up(position, acts) + amount <= limit:
        return None
    return WAIVER_NEEDS_APPROVAL.fill(limit=format_minor(limit))


def find_write_off_limit(merchant: Merchant) -> int | None:
    """Returns what one party may write off and waive of a loan in all, or None if that is unlimited."""
    rules = merchant.terms(PayoutTerms).rules
    return None if rules is None else rules.approve_write_off_above


def sum_given_up(position: LoanPosition, acts: tuple[LoanAct, ...]) -> int:
    """Returns what was written off and waived of a loan so far."""
    return position.lost.total + sum(act.amount for act in acts if act.kind == WAIVER_ACT)
