"""Rules of what a meeting has collected: a repayment of each loan, all in one commit.

Each is a repayment from the wallet by the rule of a single one (methods/loans/rules/repay.py), with its own reference,
event and act, so that each can be reversed by itself.

Contract: loans#collect
"""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec import UNSET

from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.methods.groups.model import UNKNOWN_GROUP
from kasuwa.methods.groups.rules.parts import run_parts, try_parts
from kasuwa.methods.groups.rules.records import GroupNews, tell_of_group
from kasuwa.methods.groups.wire import CollectedAmount, CollectLine, CollectReply, CollectRequest
from kasuwa.methods.loans.group_model import ClientGroup, group_key
from kasuwa.methods.loans.model import Loan, loan_key, need_loan
from kasuwa.methods.loans.rules import repay
from kasuwa.methods.loans.wire import RepayReply, RepayRequest
from kasuwa.wire.interest_wire import DryRunFigure

OTHER_GROUP = refuse_fields(FieldError("loan_id", "a loan of the group", "not_of_group"))
NAMED_TWICE = "each loan once"
EACH = "each"


def check_amounts(merchant: Merchant, amounts: list[CollectedAmount]) -> str | None:
    return NAMED_TWICE if len({one.loan_id for one in amounts}) < len(amounts) else None


def need_collect(request: CollectRequest, merchant: Merchant) -> Needs:
    needs = [need_loan(merchant, one.loan_id) for one in request.amounts]
    rows = tuple(row for one in needs for row in one.rows)
    accounts = dict.fromkeys(name for one in needs for name in one.accounts)
    group = (ClientGroup, group_key(merchant.merchant_id, request.group_id))
    return Needs((group, *rows), tuple(accounts))


def decide_collect(
    request: CollectRequest, context: Context, rows: LoadedRows
) -> Decision[CollectReply] | Refusal | NeedsMore:
    group = rows.get(ClientGroup, group_key(context.merchant.merchant_id, request.group_id))
    if group is None:
        return UNKNOWN_GROUP
    parts = [partial(repay_part, one, request, rows) for one in request.amounts]
    outcomes = try_parts(parts, context)
    if isinstance(outcomes, NeedsMore):
        return outcomes
    refusals = [(place, outcome) for place, outcome in enumerate(outcomes) if isinstance(outcome, Refusal)]
    is_each = request.apply == EACH
    if refusals and (not is_each or len(refusals) == len(outcomes)):
        return refuse_all(refusals)
    if request.dry_run:
        return preview(request, outcomes, rows, context)
    amount = sum_collected(request, outcomes)
    noted = tell_of_group(group, [GroupNews("collected", amount=amount)], context)
    decision: Decision[CollectReply] = Decision(
        rows=(noted.group,),
        numbers_used=len(parts) + 1,
        sub_decisions=run_parts(parts, context),
        combine=partial(combine_parts, request, rows, context),
        audit_facts={"amount": format_minor(amount), "currency": "NGN"},
    )
    decision.add(noted.effects)
    return decision


def repay_part(
    one: CollectedAmount, request: CollectRequest, rows: LoadedRows, context: Context
) -> Decision | Refusal | NeedsMore:
    """Decides on one amount by the rule of a repayment from the wallet."""
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, one.loan_id))
    if loan is None or loan.group_id != request.group_id:
        return OTHER_GROUP
    single = RepayRequest(
        loan_id=one.loan_id,
        payment_method=repay.WALLET_METHOD,
        amount=one.amount,
        customer_txnref=request.customer_txnref,
    )
    return repay.decide_repay(single, context, rows)


def refuse_all(refusals: Sequence[tuple[int, Refusal]]) -> Refusal:
    """Returns why nothing is recorded: what is wrong with each amount, by its place."""
    faults = []
    for place, refusal in refusals:
        fields = refusal.field_errors or (FieldError("loan_id", refusal.message, refusal.error_code),)
        faults += [msgspec.structs.replace(one, field=f"amounts[{place}].{one.field}") for one in fields]
    return refuse_fields(*faults)


def sum_collected(request: CollectRequest, outcomes: Sequence[Decision | Refusal]) -> int:
    pairs = zip(request.amounts, outcomes, strict=True)
    return sum(int(one.amount) for one, outcome in pairs if isinstance(outcome, Decision))


def combine_parts(
    request: CollectRequest, rows: LoadedRows, context: Context, results: Sequence[Decision | Refusal]
) -> Decision[CollectReply]:
    lines = [make_line(one, result, rows, context) for one, result in zip(request.amounts, results, strict=True)]
    recorded = sum(line.state == "collected" for line in lines)
    message = "Collected" if recorded == len(lines) else f"{recorded} of {len(lines)} amounts were recorded"
    return Decision(
        reply=CollectReply(
            message=message,
            group_id=request.group_id,
            amount=format_minor(sum_collected(request, results)),
            data=lines,
        )
    )


def make_line(one: CollectedAmount, result: Decision | Refusal, rows: LoadedRows, context: Context) -> CollectLine:
    loan = rows.get(Loan, loan_key(context.merchant.merchant_id, one.loan_id))
    line = CollectLine(
        loan_id=one.loan_id,
        client_id=UNSET if loan is None else loan.client_id,
        amount=format_minor(int(one.amount)),
        state="collected",
    )
    if isinstance(result, Refusal):
        line.state, line.code, line.message = "refused", result.error_code, result.message
        return line
    reply = result.reply
    assert isinstance(reply, RepayReply)
    line.txn_ref, line.allocation = reply.txn_ref or UNSET, reply.allocation
    line.outstanding = UNSET if reply.data is UNSET else reply.data.outstanding.total
    return line


def preview(
    request: CollectRequest, outcomes: Sequence[Decision | Refusal], rows: LoadedRows, context: Context
) -> Decision[CollectReply]:
    reply = combine_parts(request, rows, context, outcomes).reply
    reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
    for line in reply.data:
        line.txn_ref = UNSET
    count = sum(isinstance(outcome, Decision) for outcome in outcomes)
    how = (
        f"the sum of {count} of {len(outcomes)} amounts; the others are refused"
        if count < len(outcomes)
        else (f"the sum of {count} amounts")
    )
    reply.explained = [DryRunFigure("amount", reply.amount, how)]
    return Decision(reply=reply)
