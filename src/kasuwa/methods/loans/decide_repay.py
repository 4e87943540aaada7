"""The rules of a repayment: paid into the merchant's wallet directly, or by a payment made for the loan. (D33)

The merchant says `wallet` where it has the client's money already: then the claim moves alone. Any other payment brings
the cash itself and credits the loan with its whole amount when it is successful; its fee is the merchant's.
"""

from typing import Final

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import (
    Context,
    Decision,
    Fault,
    Group,
    Job,
    Merchant,
    More,
    Needs,
    Notice,
    Post,
    Refusal,
    Row,
    Seen,
    refuse_fields,
)
from kasuwa.core.interest import Parts, add_parts
from kasuwa.core.money import format_minor
from kasuwa.core.purpose import NOTHING_MORE, Addition, Errand, Purpose
from kasuwa.core.references import movement_reference
from kasuwa.core.transactions import SUCCESSFUL, Ending, Transaction, begin_transaction, end_transaction
from kasuwa.methods.clients.decide import Client, client_key, count_account
from kasuwa.methods.loans.decide import (
    CURRENCY,
    NEVER_SHORT,
    OVERPAID,
    OWING,
    REPAID,
    REPAYMENT,
    UNKNOWN_LOAN,
    Line,
    Loan,
    account,
    charge,
    earn,
    forgive,
    give_credit,
    line_key,
    loan_key,
    need_lines,
    need_loan,
    out_of_place,
)
from kasuwa.methods.loans.decide_record import allocation_of, explain_repayment, record_of
from kasuwa.methods.loans.decide_request import end_watch, hasten_watch, tell
from kasuwa.methods.loans.decide_standing import Repaid, Standing, repay, stand
from kasuwa.methods.loans.wire import RepayReply, RepayRequest, ValidateRepayment, ValidateReply
from kasuwa.methods.payment.decide import DETAIL, UNKNOWN_REFERENCE, Payment, payment_key
from kasuwa.methods.payment.decide_collect import collect, decide_validate, need_collect, told_of_payer

KIND = "repayment"
NOTHING_CHANGED = "Nothing was changed: the code would be taken to the payer's bank"
METHOD: Final = "wallet"


# --- what the loan's books say --------------------------------------------------------------------------------------


def lines_of(loan: Loan, seen: Seen) -> tuple[Line, ...] | None:
    """The loan's instalments, or None where they were not asked for yet."""
    keys = [line_key(loan.merchant_id, loan.loan_id, n) for n in range(1, loan.period + 1)]
    if not all(seen.has(key) for key in keys):
        return None
    return tuple(line for line in (seen.get(Line, key) for key in keys) if line is not None)


def changed_lines(kept: tuple[Line, ...], now: tuple[Line, ...]) -> tuple[Line, ...]:
    return tuple(line for was, line in zip(kept, now, strict=True) if line != was)


def post_penalties(kept: tuple[Line, ...], standing: Standing) -> tuple[Post, ...]:
    """What reckoning to today has charged."""
    charged = sum(line.penalty for line in standing.lines) - sum(line.penalty for line in kept)
    return charge(standing.loan.loan_id, Parts(penalty=charged), "for lateness")


class Credited(msgspec.Struct, frozen=True):
    """All that a repayment writes."""

    done: Repaid
    posts: tuple[Post, ...]
    rows: tuple[Row, ...]
    jobs: tuple[Job, ...]
    jobs_done: tuple[Job, ...]

    @property
    def loan(self) -> Loan:
        return self.done.after.loan


def credit(loan: Loan, kept: tuple[Line, ...], amount: int, context: Context, seen: Seen) -> Credited:
    before = stand(loan, kept, lagos_day(context.now))
    done = repay(before, amount)
    after = done.after.loan
    if after.state != loan.state:
        after = tell(after, context, after.state)
    rows: tuple[Row, ...] = changed_lines(kept, done.after.lines)
    jobs_done: tuple[Job, ...] = ()
    if after.state == REPAID:
        client = seen.get(Client, client_key(loan.merchant_id, loan.client_id))
        assert client is not None
        after = msgspec.structs.replace(after, closed_at=context.now)
        rows, jobs_done = (*rows, count_account(client, -1)), end_watch(loan, seen)
    posts = (
        *post_penalties(kept, before),
        *charge(loan.loan_id, done.added, "by the schedule computed anew"),
        *earn(loan.loan_id, add_parts(done.paid)),
        *forgive(loan.loan_id, done.forgiven, "not used"),
        *give_credit(loan.loan_id, done.excess),
    )
    standing = msgspec.structs.replace(done.after, loan=after)
    jobs = () if jobs_done else hasten_watch(standing, seen)
    return Credited(msgspec.structs.replace(done, after=standing), posts, (after, *rows), jobs, jobs_done)


# --- a repayment is asked for -----------------------------------------------------------------------------------------

OTHER_CURRENCY = Fault("currency", f"{CURRENCY}: what is owed is owed in it")


def need_repay(request: RepayRequest, merchant: Merchant) -> Needs:
    loan = need_loan(merchant, request.loan_id)
    if request.payment_method == METHOD:
        return loan
    payer = need_collect(request.payment_method, request, merchant)
    return Needs((*loan.rows, *payer.rows), (*loan.accounts, *payer.accounts))


def decide_repay(request: RepayRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    loan = seen.get(Loan, loan_key(context.merchant.merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING:
        return out_of_place(loan.state, "repaid")
    kept = lines_of(loan, seen)
    if kept is None:
        return More(need_lines(loan))
    before = stand(loan, kept, lagos_day(context.now))
    payoff = add_parts(before.payoff).total
    amount = before.usual if request.amount is None else int(request.amount)
    faults = []
    if amount > payoff:
        faults.append(Fault("amount", f"at most {format_minor(payoff)}, which closes the loan today"))
    if request.currency not in (None, CURRENCY):
        faults.append(OTHER_CURRENCY)
    if faults:
        return refuse_fields(*faults)
    credited = credit(loan, kept, amount, context, seen)
    paid: Decision | Refusal | More
    if request.payment_method == METHOD:
        paid = pay_directly(request, credited, amount, context)
    else:
        errand = Errand(REPAYMENT, loan.loan_id, **told_of_payer(request))
        paid = collect(request.payment_method, request, amount, errand, context, seen)
    if request.dry_run and isinstance(paid, Decision):
        return tell_repay(request, before, credited, paid, context)
    return paid


def tell_repay(
    request: RepayRequest, before: Standing, credited: Credited, paid: Decision, context: Context
) -> Decision:
    """What a repayment would do, and what collecting it would cost: nothing else of its decision is kept."""
    row = paid.rows[0]
    assert isinstance(row, Transaction)
    reply = reply_repay(credited, row.amount, context)
    reply.message = "This is what the repayment would do; nothing was changed"
    reply.payment_method = request.payment_method
    reply.dry_run = True
    reply.explained = explain_repayment(before, credited.done, request.amount, row)
    return Decision(reply=reply)


def pay_directly(request: RepayRequest, credited: Credited, amount: int, context: Context) -> Decision:
    """The wallet has the money already."""
    row = new_repayment(amount, context, detail_of(request), request.customer_txnref)
    told = {"loan_id": request.loan_id}
    told |= {"orderRef": row.order_ref} if request.customer_txnref is None else {"customer_txnref": row.order_ref}
    end = end_transaction(context, row, SUCCESSFUL, None, "Repayment Successful", METHOD, context.scenario, told=told)
    return Decision(
        reply=reply_repay(credited, amount, context, end),
        groups=(Group(end.row.txn_ref, NEVER_SHORT, posts=credited.posts),),
        rows=(end.row, *credited.rows),
        jobs=(*end.jobs, *credited.jobs),
        jobs_done=credited.jobs_done,
        events=(end.event,),
        numbers=1,
    )


def detail_of(request: RepayRequest) -> dict[str, str]:
    """What is kept with a repayment that the wallet pays."""
    return {"loan_id": request.loan_id, **told_of_payer(request)}


def new_repayment(
    amount: int, context: Context, detail: dict[str, str] | None = None, customer_txnref: str | None = None
) -> Transaction:
    """A repayment that is final with its commit: nobody outside is asked. Its key is made of its own reference, because
    a customer_txnref may be used more than once."""
    txn_ref = movement_reference("LR", context.permutation(context.number), lagos_day(context.now))
    row = begin_transaction(context, KIND, txn_ref, amount, detail=detail)
    return row if customer_txnref is None else msgspec.structs.replace(row, order_ref=customer_txnref)


def reply_repay(credited: Credited, amount: int, context: Context, end: Ending | None = None) -> RepayReply:
    standing = credited.done.after
    reply = RepayReply(
        message="Loan Repaid" if credited.loan.state == REPAID else "Repayment Successful",
        charged_amount=format_minor(amount),
        currency=CURRENCY,
        payment_method=METHOD,
        loan_id=credited.loan.loan_id,
        allocation=allocation_of(credited.done.paid),
        data=record_of(standing.loan, standing.lines, context.now),
    )
    if end is not None:
        reply.txn_ref, reply.txn_status = end.row.txn_ref, "successful"
    return reply


# --- by a payment made for the loan -----------------------------------------------------------------------------------


def decide_validation(request: ValidateRepayment, context: Context, seen: Seen) -> Decision | Refusal | More:
    """The payer's code for a repayment; a payment for anything else is not known here."""
    payment = seen.get(Payment, payment_key(context.merchant.merchant_id, request.txn_ref))
    errand = None if payment is None else DETAIL.decode(payment.detail).errand
    if errand is None or errand.purpose != REPAYMENT:
        return UNKNOWN_REFERENCE
    brought = decide_validate(request, context, seen)
    if not request.dry_run or not isinstance(brought, Decision):
        return brought
    return Decision(reply=ValidateReply(txn_ref=request.txn_ref, message=NOTHING_CHANGED, dry_run=True))


def end_repayment(row: Transaction, loan_id: str, context: Context, seen: Seen) -> Addition | More:
    """A payment that was successful credits the loan, whatever became of it meanwhile: what the loan has no use for
    is kept as the client's credit, and an operator is told."""
    loan = seen.get(Loan, loan_key(context.merchant.merchant_id, loan_id))
    assert loan is not None
    if row.status != SUCCESSFUL:
        return NOTHING_MORE
    if loan.state not in OWING:
        notices = (too_much(row, loan_id, row.amount),)
        return Addition(posts=give_credit(loan_id, row.amount), notices=notices, surplus=row.amount)
    kept = lines_of(loan, seen)
    if kept is None:
        return More(need_lines(loan))
    credited = credit(loan, kept, row.amount, context, seen)
    excess = credited.done.excess
    return Addition(
        posts=credited.posts,
        rows=credited.rows,
        jobs=credited.jobs,
        jobs_done=credited.jobs_done,
        notices=(too_much(row, loan_id, excess),) if excess else (),
        surplus=excess,
    )


def end_credit_refund(loan_id: str, amount: int, context: Context, seen: Seen) -> Addition:
    """What the client paid beyond the loan has been refunded."""
    return Addition(posts=(Post(account("credit", loan_id), OVERPAID, amount, "paid back"),))


def too_much(row: Transaction, loan_id: str, excess: int) -> Notice:
    return Notice(row.txn_ref, f"{format_minor(excess)} more than loan {loan_id} had use for: refund it to its client")


REPAYING_PURPOSE = Purpose(REPAYMENT, need_loan, end_repayment, end_refund=end_credit_refund)
