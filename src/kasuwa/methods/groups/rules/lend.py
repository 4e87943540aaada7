"""Rules of the loans of a group that were requested (request.py): approved, rejected or cancelled, and paid out.

Each member's loan follows the rules of a single one (methods/loans/rules/origination.py). If it is paid out by one
transfer, that is group_loan here: it succeeds or fails for all.

Contract: loans#groups
"""

from collections.abc import Sequence
from functools import partial

import msgspec

from kasuwa.core.banks import check_account_number
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
from kasuwa.core.references import account_key
from kasuwa.ledger.chart import Account
from kasuwa.methods.clients.model import (
    NO_BANK_ACCOUNT,
    Client,
    client_key,
    kyc_tier,
    read_bank_account,
    refuse_inactive,
)
from kasuwa.methods.disburse.model import WALLET, TransferDetail
from kasuwa.methods.disburse.rules.payout_checks import CheckedPayout, ClientLimits, check_client_payout
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT, NewTransfer, begin_transfer
from kasuwa.methods.groups.model import (
    CLOSED,
    DISBURSEMENT_PURPOSE,
    GROUP_CLOSED,
    ONE,
    UNKNOWN_GROUP_LOAN,
    GroupLoan,
    find_loans,
    find_open_loans,
    group_loan_key,
)
from kasuwa.methods.groups.rules.parts import find_loan, run_parts, try_parts
from kasuwa.methods.groups.rules.records import GroupNews, NotedGroup, make_group_loan_record, tell_of_group
from kasuwa.methods.groups.rules.standing import refuse_late
from kasuwa.methods.groups.wire import GroupLoanReply, ProcessGroupLoanRequest
from kasuwa.methods.loans.group_model import ClientGroup, group_key
from kasuwa.methods.loans.model import (
    APPROVED,
    DISBURSING,
    Loan,
    need_loan,
)
from kasuwa.methods.loans.rules import origination
from kasuwa.methods.loans.rules.origination import activate_loan, amount_paid_out, change_state
from kasuwa.methods.loans.wire import ProcessRequest
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.transactions.purpose import PurposeRules, TransactionEffects, TransactionPurpose
from kasuwa.transactions.transactions import SUCCESSFUL, Transaction
from kasuwa.wire.interest_wire import DryRunFigure

# Refusals, in order of precedence: unknown and closed group, its standing, and these.
NOT_A_PART = refuse_fields(FieldError("loan_id", "a member's loan in this loan of the group", "not_of_group_loan"))
AS_A_WHOLE = refuse_fields(
    FieldError("loan_id", "left out: one transfer pays all of the loans out", "approved_as_a_whole")
)
NOTHING_TO_PROCESS = Refusal(
    INVALID_REQUEST, "None of the loans can be {named}: they are {states}", error_code="group_loan_state"
)


# --- approve, reject, cancel --------------------------------------------------------------------------------------


def need_process(request: ProcessGroupLoanRequest, merchant: Merchant) -> Needs:
    merchant_id, wallet = merchant.merchant_id, account_key(merchant.merchant_id, WALLET)
    return Needs(((GroupLoan, group_loan_key(merchant_id, request.group_loan_id)), (Account, wallet)), (WALLET,))


def decide_process(
    request: ProcessGroupLoanRequest, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    merchant_id = context.merchant.merchant_id
    group_loan = rows.get(GroupLoan, group_loan_key(merchant_id, request.group_loan_id))
    if group_loan is None:
        return UNKNOWN_GROUP_LOAN
    key = group_key(merchant_id, group_loan.group_id)
    if not rows.is_loaded(key):
        return NeedsMore(need_whole(group_loan, context.merchant))
    group, loans = rows.get(ClientGroup, key), find_loans((group_loan,), rows)
    assert group is not None, "a group is not deleted"
    if isinstance(loans, NeedsMore):
        return loans
    if request.loan_id is not None and request.loan_id not in group_loan.loan_ids:
        return NOT_A_PART
    is_approval = request.status == "approve"
    if is_approval and group_loan.disbursement == ONE and request.loan_id is not None:
        return AS_A_WHOLE
    states, _, named = origination.PROCESS_TRANSITIONS[request.status]
    chosen = [loan for loan in loans if loan.state in states and request.loan_id in (None, loan.loan_id)]
    if not chosen:
        present = ", ".join(sorted({loan.state for loan in loans if request.loan_id in (None, loan.loan_id)}))
        return NOTHING_TO_PROCESS.fill(named=named, states=present)
    if is_approval and group.state == CLOSED:
        return GROUP_CLOSED
    whole = Whole(group, group_loan, loans, tuple(chosen))
    open_loans = find_open_loans(group, rows) if is_approval else ()
    if isinstance(open_loans, NeedsMore):
        # With the clients, because a rule has few rounds to ask for rows.
        return NeedsMore(Needs((*open_loans.needs.rows, *need_payees(whole).rows)))
    refused = refuse_late(open_loans, context, rows)
    if refused is not None:
        return refused
    if is_approval and group_loan.disbursement == ONE:
        return approve_as_one(request, whole, context, rows)
    return process_each(request, whole, context, rows)


def need_whole(group_loan: GroupLoan, merchant: Merchant) -> Needs:
    """Returns the group of a loan, and all loans of its members with their accounts."""
    needs = [need_loan(merchant, loan_id) for loan_id in group_loan.loan_ids]
    rows = tuple(row for one in needs for row in one.rows)
    accounts = dict.fromkeys(name for one in needs for name in one.accounts)
    group = (ClientGroup, group_key(group_loan.merchant_id, group_loan.group_id))
    return Needs((group, *rows), tuple(accounts))


class Whole(msgspec.Struct, frozen=True):
    """A loan of a group that is processed."""

    group: ClientGroup
    group_loan: GroupLoan
    loans: tuple[Loan, ...]  # all of its members' loans
    chosen: tuple[Loan, ...]  # those that are processed

    def with_changed(self, changed: Sequence[Loan]) -> list[Loan]:
        by_key = {loan.key: loan for loan in changed}
        return [by_key.get(loan.key, loan) for loan in self.loans]


def need_payees(whole: Whole) -> Needs:
    """Returns the leader, and the clients of the loans that are processed."""
    names = dict.fromkeys((whole.group.leader, *(loan.client_id for loan in whole.chosen)))
    return Needs(tuple((Client, client_key(whole.group.merchant_id, name)) for name in names))


def process_each(
    request: ProcessGroupLoanRequest, whole: Whole, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    """Processes each loan by the rule of a single one. One that is refused does not keep the others."""
    parts = [partial(process_part, loan, request, rows) for loan in whole.chosen]
    outcomes = try_parts(parts, context)
    if isinstance(outcomes, NeedsMore):
        return outcomes
    is_approval = request.status == "approve"
    if request.dry_run and is_approval:
        outcomes = refuse_unfunded(whole, outcomes, context, rows)
    refusal = refuse_whole(outcomes)
    if refusal is not None:
        return refusal
    if request.dry_run:
        reply = combine_parts(whole, request, outcomes).reply
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        reply.explained = explain_cost(whole.group_loan, list_done(whole, outcomes), context) if is_approval else []
        return Decision(reply=reply)
    return Decision(
        numbers_used=len(parts) + 1,
        sub_decisions=run_parts(parts, context),
        combine=partial(finish_parts, whole, request, context),
    )


def refuse_unfunded(
    whole: Whole, outcomes: Sequence[Decision | Refusal], context: Context, rows: LoadedRows
) -> list[Decision | Refusal]:
    """Returns the outcomes with a refusal of each transfer that the wallet does not cover after those before it. No
    postings are applied in a dry run, so the balance is checked here."""
    wallet, tariff = rows.get(Account, account_key(whole.group.merchant_id, WALLET)), context.merchant.terms(Tariff)
    available = 0 if wallet is None else wallet.available
    funded: list[Decision | Refusal] = []
    for loan, outcome in zip(whole.chosen, outcomes, strict=True):
        cost = amount_paid_out(loan) + calculate_transfer_fees(tariff, amount_paid_out(loan)).total
        is_short = isinstance(outcome, Decision) and cost > available
        if isinstance(outcome, Decision) and not is_short:
            available -= cost
        funded.append(WALLET_INSUFFICIENT if is_short else outcome)
    return funded


def refuse_whole(outcomes: Sequence[Decision | Refusal]) -> Refusal | None:
    """Returns the first refusal if there is nothing else."""
    refusals = [outcome for outcome in outcomes if isinstance(outcome, Refusal)]
    return refusals[0] if len(refusals) == len(outcomes) else None


def list_done(whole: Whole, results: Sequence[Decision | Refusal]) -> list[Loan]:
    """Returns the loans that were processed, as they were before."""
    return [loan for loan, result in zip(whole.chosen, results, strict=True) if isinstance(result, Decision)]


def finish_parts(
    whole: Whole, request: ProcessGroupLoanRequest, context: Context, results: Sequence[Decision | Refusal]
) -> Decision[GroupLoanReply | Refusal]:
    """Returns the reply, and the event of those that were not refused in the end: the wallet may not cover all."""
    refusal = refuse_whole(results)
    if refusal is not None:
        return Decision(reply=refusal)
    _, _, named = origination.PROCESS_TRANSITIONS[request.status]
    noted = tell_of_processing(whole, list_done(whole, results), named, context)
    decision: Decision[GroupLoanReply | Refusal] = Decision(
        reply=combine_parts(whole, request, results).reply, rows=(noted.group,)
    )
    decision.add(noted.effects)
    return decision


def tell_of_processing(whole: Whole, done: Sequence[Loan], named: str, context: Context) -> NotedGroup:
    amount = sum(loan.amount for loan in done)
    news = GroupNews(f"loan_{named}", group_loan_id=whole.group_loan.group_loan_id, amount=amount)
    return tell_of_group(whole.group, [news], context)


def process_part(
    loan: Loan, request: ProcessGroupLoanRequest, rows: LoadedRows, context: Context
) -> Decision | Refusal | NeedsMore:
    single = ProcessRequest(loan_id=loan.loan_id, status=request.status)
    return origination.decide_process(single, context, rows, is_of_group=True)


def combine_parts(
    whole: Whole, request: ProcessGroupLoanRequest, results: Sequence[Decision | Refusal]
) -> Decision[GroupLoanReply]:
    """Returns the reply of the results: the loans as they are now, and why some were refused."""
    changed = [find_loan(result) for result in results if isinstance(result, Decision)]
    faults = {
        loan.loan_id: (result.error_code, result.message)
        for loan, result in zip(whole.chosen, results, strict=True)
        if isinstance(result, Refusal)
    }
    _, _, named = origination.PROCESS_TRANSITIONS[request.status]
    message = f"{len(changed)} of {len(results)} loans were {named}" if faults else f"Group Loan {named.capitalize()}"
    record = make_group_loan_record(whole.group_loan, whole.with_changed(changed), faults)
    return Decision(reply=GroupLoanReply(message=message, data=record))


def explain_cost(group_loan: GroupLoan, loans: Sequence[Loan], context: Context) -> list[DryRunFigure]:
    """Returns what paying these loans out costs the wallet."""
    tariff = context.merchant.terms(Tariff)
    paid = [amount_paid_out(loan) for loan in loans]
    transfers = [sum(paid)] if group_loan.disbursement == ONE else paid
    fees = sum(calculate_transfer_fees(tariff, amount).total for amount in transfers)
    count = f"{len(transfers)} transfer{'s' if len(transfers) > 1 else ''}"
    return [
        DryRunFigure("paid out", format_minor(sum(paid)), f"what {len(paid)} members receive, by {count}"),
        DryRunFigure("fees", format_minor(fees), f"fees and VAT of {count}"),
    ]


# --- one transfer for all -------------------------------------------------------------------------------------------


def approve_as_one(
    request: ProcessGroupLoanRequest, whole: Whole, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    """Holds the sum of the loans and the fees on the wallet, and starts the transfer to the leader's bank account."""
    needs = need_payees(whole)
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    for _, key in needs.rows:
        client = rows.get(Client, key)
        assert client is not None
        refusal = refuse_inactive(client)
        if refusal is not None:
            return refusal
    for loan in whole.chosen:
        passed = origination.refuse_first_due(loan, lagos_day(context.now))
        if passed is not None:
            return passed
    leader = rows.get(Client, client_key(whole.group.merchant_id, whole.group.leader))
    assert leader is not None
    account = read_bank_account(leader, context.vault.unseal)
    if account is None or check_account_number(context.merchant, account.bank_code, account.account_number):
        return NO_BANK_ACCOUNT
    amount = sum(amount_paid_out(loan) for loan in whole.chosen)
    purpose = TransactionPurpose(DISBURSEMENT_PURPOSE, whole.group_loan.group_loan_id)
    narration = f"Loan {whole.group_loan.group_loan_id}"
    order = TransferDetail(account.bank_code, account.account_number, context.merchant.name, narration, WALLET, purpose)
    limits = ClientLimits(leader.client_id, kyc_tier(leader))
    checked = check_client_payout(order, amount, limits, context, rows)
    if not isinstance(checked, CheckedPayout):
        return checked
    if request.dry_run:
        return preview_transfer(whole, amount, context, rows)
    return start_transfer(whole, NewTransfer(order=order, amount=amount, reference_type="LD", checked=checked), context)


def preview_transfer(
    whole: Whole, amount: int, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal:
    """Returns the dry-run reply. No postings are applied in a dry run, so the wallet's balance is checked here."""
    wallet = rows.get(Account, account_key(whole.group.merchant_id, WALLET))
    cost = calculate_transfer_fees(context.merchant.terms(Tariff), amount)
    if wallet is None or wallet.available < amount + cost.total:
        return WALLET_INSUFFICIENT
    changed = [msgspec.structs.replace(loan, state=DISBURSING) for loan in whole.chosen]
    record = make_group_loan_record(whole.group_loan, whole.with_changed(changed))
    explained = explain_cost(whole.group_loan, whole.chosen, context)
    return Decision(reply=GroupLoanReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=explained))


def start_transfer(whole: Whole, new: NewTransfer, context: Context) -> Decision[GroupLoanReply]:
    decision = begin_transfer(new, context, context.number)
    transfer, *counters = decision.rows
    assert isinstance(transfer, Transaction)
    approved = [
        msgspec.structs.replace(change_state(loan, context, DISBURSING), transfer=transfer.txn_ref)
        for loan in whole.chosen
    ]
    paid = msgspec.structs.replace(whole.group_loan, transfer=transfer.txn_ref, client_id=whole.group.leader)
    noted = tell_of_processing(whole, whole.chosen, "approved", context)
    decision.reply = GroupLoanReply(
        message=origination.DISBURSING_MESSAGE, data=make_group_loan_record(paid, whole.with_changed(approved))
    )
    decision.rows = (transfer, paid, noted.group, *approved, *counters)
    decision.follow_up = decision.jobs[0]
    decision.add(noted.effects)
    return decision


def need_transferred(merchant: Merchant, group_loan_id: str) -> Needs:
    return Needs(((GroupLoan, group_loan_key(merchant.merchant_id, group_loan_id)),))


def end_transfer(
    row: Transaction, group_loan_id: str, context: Context, rows: LoadedRows
) -> TransactionEffects | NeedsMore:
    """Returns what the transfer's result does to the loans that it pays out: all are active, or none."""
    transferred = find_transferred(group_loan_id, context, rows)
    if isinstance(transferred, NeedsMore):
        return transferred
    group_loan, loans = transferred
    paid = [loan for loan in loans if loan.transfer == row.txn_ref and loan.state == DISBURSING]
    if not row.is_final:
        reply = reply_transfer(group_loan, loans, origination.DISBURSING_MESSAGE)
        return TransactionEffects(reply=reply)
    if row.status != SUCCESSFUL:
        failed = [change_state(loan, context, APPROVED, row.message) for loan in paid]
        reply = reply_transfer(group_loan, replace_loans(loans, failed), origination.failure_message(row))
        return TransactionEffects(reply=reply, rows=tuple(failed))
    effects = TransactionEffects()
    active: list[Loan] = []
    for loan in paid:
        one = activate_loan(row, loan, context)
        effects.posts += one.posts
        effects.add(one)
        active += [changed for changed in one.rows if isinstance(changed, Loan)]
    effects.reply = reply_transfer(group_loan, replace_loans(loans, active), origination.DISBURSED_MESSAGE)
    return effects


def find_transferred(
    group_loan_id: str, context: Context, rows: LoadedRows
) -> tuple[GroupLoan, tuple[Loan, ...]] | NeedsMore:
    group_loan = rows.get(GroupLoan, group_loan_key(context.merchant.merchant_id, group_loan_id))
    assert group_loan is not None, "a loan of a group is not deleted"
    needs = need_whole(group_loan, context.merchant)
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    loans = find_loans((group_loan,), rows)
    return loans if isinstance(loans, NeedsMore) else (group_loan, loans)


def replace_loans(loans: Sequence[Loan], changed: Sequence[Loan]) -> list[Loan]:
    by_key = {loan.key: loan for loan in changed}
    return [by_key.get(loan.key, loan) for loan in loans]


def reply_transfer(group_loan: GroupLoan, loans: Sequence[Loan], message: str) -> GroupLoanReply:
    return GroupLoanReply(message=message, data=make_group_loan_record(group_loan, loans))


def reply_ended_transfer(
    row: Transaction, group_loan_id: str, context: Context, rows: LoadedRows
) -> GroupLoanReply | NeedsMore:
    """Returns the reply for a request that still waits while a callback has already ended the transfer."""
    transferred = find_transferred(group_loan_id, context, rows)
    if isinstance(transferred, NeedsMore):
        return transferred
    is_paid = row.status == SUCCESSFUL
    message = origination.DISBURSED_MESSAGE if is_paid else origination.failure_message(row)
    return reply_transfer(transferred[0], transferred[1], message)


GROUP_DISBURSEMENT_RULES = PurposeRules(
    DISBURSEMENT_PURPOSE, need_transferred, end_transfer, final_reply=reply_ended_transfer
)
