"""Rules of a request for a loan of a group: a loan of each member who borrows, all on the same terms.

Each member's loan follows the rules of a single one: of methods/loans/rules/origination.py, or with a product of
methods/loan_products/rules/borrow.py. If one is refused, none is requested.

Contract: loans#groups
"""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
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
from kasuwa.core.references import opaque_id
from kasuwa.methods.clients.model import Client, client_key
from kasuwa.methods.groups.model import (
    CLOSED,
    EACH,
    GROUP_CLOSED,
    GROUP_LOAN_PREFIX,
    MAX_OPEN_LOANS,
    ONE,
    UNKNOWN_GROUP,
    GroupLoan,
    find_open_loans,
    group_loan_key,
    list_unsettled,
)
from kasuwa.methods.groups.rules.parts import Outcome, find_loan, run_parts, try_parts
from kasuwa.methods.groups.rules.records import GroupNews, make_group_loan_record, tell_of_group
from kasuwa.methods.groups.rules.standing import refuse_late
from kasuwa.methods.groups.wire import GroupLoanPart, GroupLoanReply, GroupLoanRequest
from kasuwa.methods.groups.wire_of_product import GroupLoanOfProductRequest, PartOfProduct
from kasuwa.methods.loan_products.model import ProductTerms, need_product
from kasuwa.methods.loan_products.rules import borrow
from kasuwa.methods.loan_products.wire import ProductLoanRequest
from kasuwa.methods.loans.group_model import ClientGroup, group_key
from kasuwa.methods.loans.model import Loan
from kasuwa.methods.loans.rules import origination
from kasuwa.methods.loans.rules.charge_lines import deducted_parts
from kasuwa.methods.loans.rules.explain_schedule import sum_asked
from kasuwa.methods.loans.wire import LoanRequest
from kasuwa.terms.loan_schedule import make_schedule
from kasuwa.wire.interest_wire import DryRunFigure

# One commit writes the installments of all loans that one transfer pays out.
MAX_INSTALLMENTS = 2_000

# Refusals, in order of precedence: unknown and closed group, its standing, these, and those of a product.
NOT_IN_GROUP = "a member of the group"
TWICE = "one loan for each member"
TOO_MANY_OPEN = Refusal(
    INVALID_REQUEST,
    f"The group has {MAX_OPEN_LOANS} loans that are not closed; close one first",
    error_code="too_many_group_loans",
)
TOO_MANY_INSTALLMENTS = f"all loans together have at most {MAX_INSTALLMENTS:,} installments"

AnyGroupLoanRequest = GroupLoanRequest | GroupLoanOfProductRequest
# Decides on the loan of the member at a place of the request.
DecideMember = Callable[[int, Context, LoadedRows], Outcome]


# --- field rules --------------------------------------------------------------------------------------------------


def check_named_once(merchant: Merchant, loans: Sequence[GroupLoanPart | PartOfProduct]) -> str | None:
    return TWICE if len({part.client_id for part in loans}) < len(loans) else None


def check_parts(merchant: Merchant, loans: list[GroupLoanPart]) -> str | None:
    twice = check_named_once(merchant, loans)
    if twice is not None:
        return twice
    faults = (origination.check_amount(merchant, int(part.amount)) for part in loans)
    return next((f"amounts of {fault}" for fault in faults if fault is not None), None)


def check_size(merchant: Merchant, loans: Sequence[GroupLoanPart | PartOfProduct], period: int) -> str | None:
    return None if len(loans) * period <= MAX_INSTALLMENTS else TOO_MANY_INSTALLMENTS


# --- request ------------------------------------------------------------------------------------------------------


def need_request(request: AnyGroupLoanRequest, merchant: Merchant) -> Needs:
    merchant_id = merchant.merchant_id
    clients = tuple((Client, client_key(merchant_id, part.client_id)) for part in request.loans)
    return Needs(((ClientGroup, group_key(merchant_id, request.group_id)), *clients))


def decide_request(
    request: GroupLoanRequest, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    group = find_borrowing_group(request, context, rows)
    return request_parts(request, group, partial(decide_part, request), context, rows)


def need_request_of_product(request: GroupLoanOfProductRequest, merchant: Merchant) -> Needs:
    product = need_product(merchant.merchant_id, request.product_id)
    return Needs((*need_request(request, merchant).rows, *product.rows))


def decide_request_of_product(
    request: GroupLoanOfProductRequest, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    group = find_borrowing_group(request, context, rows)
    if isinstance(group, ClientGroup):
        product = borrow.find_product(request.product_id, context, rows)
        if isinstance(product, Refusal):
            return product
        faults = find_product_faults(request, product.its_terms, context.merchant)
        if faults:
            return refuse_fields(*faults)
    return request_parts(request, group, partial(decide_part_of_product, request), context, rows)


def find_product_faults(
    request: GroupLoanOfProductRequest, terms: ProductTerms, merchant: Merchant
) -> list[FieldError]:
    """Returns all that is outside the ranges of a product, of the loans together and of each amount."""
    faults = borrow.find_faults_of_terms(request, terms)
    for place, part in enumerate(request.loans):
        faults += borrow.find_amount_faults(part.amount, terms, f"loans[{place}].amount")
    too_many = check_size(merchant, request.loans, borrow.choose_period(request, terms))
    return [*faults, *([] if too_many is None else [FieldError("period", too_many)])]


def find_borrowing_group(
    request: AnyGroupLoanRequest, context: Context, rows: LoadedRows
) -> ClientGroup | Refusal | NeedsMore:
    """Returns the group if it may borrow, with those of its loans that are still open."""
    group = rows.get(ClientGroup, group_key(context.merchant.merchant_id, request.group_id))
    if group is None:
        return UNKNOWN_GROUP
    if group.state == CLOSED:
        return GROUP_CLOSED
    parts: Sequence[GroupLoanPart | PartOfProduct] = request.loans
    strangers = [
        FieldError(f"loans[{place}].client_id", NOT_IN_GROUP, "not_a_member")
        for place, part in enumerate(parts)
        if part.client_id not in group.client_ids
    ]
    if strangers:
        return refuse_fields(*strangers)
    open_loans = find_open_loans(group, rows)
    if isinstance(open_loans, NeedsMore):
        return open_loans
    refused = refuse_late(open_loans, context, rows)
    if refused is not None:
        return refused
    settled = msgspec.structs.replace(group, unsettled=list_unsettled(group, open_loans))
    return TOO_MANY_OPEN if len(settled.unsettled_ids) >= MAX_OPEN_LOANS else settled


def request_parts(
    request: AnyGroupLoanRequest,
    group: ClientGroup | Refusal | NeedsMore,
    decide_member: DecideMember,
    context: Context,
    rows: LoadedRows,
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    if not isinstance(group, ClientGroup):
        return group
    group_loan = make_group_loan(request, group, context)
    parts = [
        partial(decide_in_group, group_loan, partial(decide_member, place), rows)
        for place, _ in enumerate(request.loans)
    ]
    outcomes = try_parts(parts, context)
    if isinstance(outcomes, NeedsMore):
        return outcomes
    for place, outcome in enumerate(outcomes):
        if isinstance(outcome, Refusal):
            return msgspec.structs.replace(outcome, message=f"loans[{place}]: {outcome.message}")
    loans = [find_loan(outcome) for outcome in outcomes if isinstance(outcome, Decision)]
    named = msgspec.structs.replace(group_loan, loans=",".join(loan.loan_id for loan in loans))
    if request.dry_run:
        return preview_request(named, loans, context)
    unsettled = ",".join((*group.unsettled_ids, group_loan.group_loan_id))
    counted = msgspec.structs.replace(group, loans=group_loan.n, unsettled=unsettled)
    news = GroupNews(
        "loan_requested", group_loan_id=group_loan.group_loan_id, amount=sum(loan.amount for loan in loans)
    )
    noted = tell_of_group(counted, [news], context)
    reply = GroupLoanReply(message="Group Loan Requested", data=make_group_loan_record(named, loans))
    decision: Decision[GroupLoanReply] = Decision(
        rows=(noted.group, named),
        numbers_used=len(parts) + 1,
        sub_decisions=run_parts(parts, context),
        combine=lambda results: Decision(reply=reply),
    )
    decision.add(noted.effects)
    return decision


def make_group_loan(request: AnyGroupLoanRequest, group: ClientGroup, context: Context) -> GroupLoan:
    group_loan_id, disbursement = opaque_id(GROUP_LOAN_PREFIX, context.entropy), request.disbursement or EACH
    return GroupLoan(
        key=group_loan_key(group.merchant_id, group_loan_id),
        merchant_id=group.merchant_id,
        group_loan_id=group_loan_id,
        group_id=group.group_id,
        n=group.loans + 1,
        disbursement=disbursement,
        client_id=group.leader if disbursement == ONE else "",
        loans="",
        created_at=context.now,
    )


def decide_in_group(
    group_loan: GroupLoan, decide: Callable[[Context, LoadedRows], Outcome], rows: LoadedRows, context: Context
) -> Outcome:
    """Decides on one member's loan by the rule of a single one, and makes it a part of the group's."""
    outcome = decide(context, rows)
    if isinstance(outcome, Decision):
        outcome.rows = tuple(
            msgspec.structs.replace(row, group_id=group_loan.group_id, group_loan_id=group_loan.group_loan_id)
            if isinstance(row, Loan)
            else row
            for row in outcome.rows
        )
    return outcome


def decide_part(request: GroupLoanRequest, place: int, context: Context, rows: LoadedRows) -> Outcome:
    part = request.loans[place]
    single = LoanRequest(
        client_id=part.client_id,
        officer=request.officer,
        branch=request.branch,
        interest_settings=request.interest_settings,
        amount=part.amount,
        period=request.period,
        tax_applied=request.tax_applied,
        tax_rate=request.tax_rate,
        method=request.method,
        charges=request.charges,
    )
    return origination.decide_request(single, context, rows)


def decide_part_of_product(
    request: GroupLoanOfProductRequest, place: int, context: Context, rows: LoadedRows
) -> Outcome:
    part = request.loans[place]
    single = ProductLoanRequest(
        client_id=part.client_id,
        product_id=request.product_id,
        officer=request.officer,
        branch=request.branch,
        amount=part.amount,
        period=request.period,
        interest_settings=request.interest_settings,
        grace=request.grace,
    )
    return borrow.decide_product_loan(single, context, rows)


def preview_request(group_loan: GroupLoan, loans: Sequence[Loan], context: Context) -> Decision[GroupLoanReply]:
    record = make_group_loan_record(group_loan, loans)
    record.group_loan_id = None
    for line in record.loans:
        line.loan_id = None
    total = sum(loan.amount for loan in loans)
    deducted = sum(deducted_parts(loan).total for loan in loans)
    by = "by one transfer to the leader" if group_loan.disbursement == ONE else "by one transfer to each member"
    explained = [
        DryRunFigure("amount", format_minor(total), f"the principals of {len(loans)} loans, paid out {by}"),
        *([DryRunFigure("deducted", format_minor(deducted), "charges that are not paid out")] if deducted else []),
        *(explain_part(loan, context) for loan in loans),
    ]
    return Decision(reply=GroupLoanReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=explained))


def explain_part(loan: Loan, context: Context) -> DryRunFigure:
    begins = lagos_day(context.now)
    total = format_minor(sum_asked(loan, make_schedule(loan.terms, begins), begins))
    how = f"{total} in {loan.period} installments; request with dry_run explains the schedule of a single loan"
    return DryRunFigure(f"loan of {loan.client_id}", format_minor(loan.amount), how)
