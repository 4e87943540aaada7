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
    GROUP_IN_ARREARS,
    ONE,
    UNKNOWN_GROUP_LOAN,
    GroupLoan,
    find_loans,
    find_open_loans,
    group_loan_key,
    is_in_arrears,
)
from kasuwa.methods.groups.rules.parts import find_loan, run_parts, try_parts
from kasuwa.methods.groups.rules.records import GroupNews, NotedGroup, make_group_loan_record, tell_of_group
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
    open_loans = find_open_loans(group, rows) if is_approval else ()
    if isinstance(open_loans, NeedsMore):
        return open_loans
    if is_in_arrears(open_loans):
        return GROUP_IN_ARREARS.fill(what="it gets no other loan meanwhile")
    whole = Whole(group, group_loan, loans, tuple(chosen))
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


def process_each(
    request: ProcessGroupLoanRequest, whole: Whole, context: Context, rows: LoadedRows
) -> Decision[GroupLoanReply] | Refusal | NeedsMore:
    """Processes each loan by the rule of a single one. One that is refused does not keep the others."""
    parts = [partial(process_part, loan, request, rows) for loan in whole.chosen]
    outcomes = try_parts(parts, context)
    if isinstance(outcomes, NeedsMore):
        return outcomes
    done = [outcome for outcome in outcomes if isinstance(outcome, Decision)]
    if not done:
        return next(outcome for outcome in outcomes if isinstance(outcome, Refusal))
    if request.dry_run:
        reply = combine_parts(whole, request, outcomes).reply
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        reply.explained = explain_cost(whole, context) if request.status == "approve" else []
        return Decision(reply=reply)
    _, _, named = origination.PROCESS_TRANSITIONS[request.status]
    noted = tell_of_processing(whole, named, context)
    decision: Decision[GroupLoanReply] = Decision(
        rows=(noted.group,),
        numbers_used=len(parts) + 1,
        sub_decisions=run_parts(parts, context),
        combine=partial(combine_parts, whole, request),
    )
    decision.add(noted.effects)
    return decision


def tell_of_processing(whole: Whole, named: str, context: Context) -> NotedGroup:
    amount = sum(loan.amount for loan in whole.chosen)
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


def explain_cost(whole: Whole, context: Context) -> list[DryRunFigure]:
    """Returns what paying the loans out costs the wallet."""
    tariff = context.merchant.terms(Tariff)
    paid = [amount_paid_out(loan) for loan in whole.chosen]
    transfers = [sum(paid)] if whole.group_loan.disbursement == ONE else paid
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
    leader_key = client_key(whole.group.merchant_id, whole.group.leader)
    members = [client_key(loan.merchant_id, loan.client_id) for loan in whole.chosen]
    if not all(rows.is_loaded(key) for key in (leader_key, *members)):
        return NeedsMore(Needs(tuple((Client, key) for key in dict.fromkeys((leader_key, *members)))))
    for key in members:
        client = rows.get(Client, key)
        assert client is not None
        refusal = refuse_inactive(client)
        if refusal is not None:
            return refusal
    for loan in whole.chosen:
        passed = origination.refuse_first_due(loan, lagos_day(context.now))
        if passed is not None:
            return passed
    leader = rows.get(Client, leader_key)
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
    return Decision(
        reply=GroupLoanReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=explain_cost(whole, context))
    )


def start_transfer(whole: Whole, new: NewTransfer, context: Context) -> Decision[GroupLoanReply]:
    decision = begin_transfer(new, context, context.number)
    transfer, *counters = decision.rows
    assert isinstance(transfer, Transaction)
    approved = [
        msgspec.structs.replace(change_state(loan, context, DISBURSING), transfer=transfer.txn_ref)
        for loan in whole.chosen
    ]
    paid = msgspec.structs.replace(whole.group_loan, transfer=transfer.txn_ref, client_id=whole.group.leader)
    noted = tell_of_processing(whole, "approved", context)
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
