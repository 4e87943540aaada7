"""Starts transfers from the wallet to a bank account.

Postings of a transfer (all in the wallet's currency):

    requested    hold     wallet                     amount + fee + VAT (+ stamp duty where it is on)
    successful   wallet → rail:bank                  amount
                 wallet → income:transfer            fee
                 wallet → tax:vat                    VAT
                 wallet → tax:stamp_duty             duty, where it is on
    failed       the hold is voided, nothing moves

The hold is in the transfer's own row (docs/decisions/0073). A transfer that the merchant's policy holds back keeps its
hold until it is decided: see approve.py.

Other slices send money with `send_money`: a loan's principal, a cash-out of savings, a payout of a split. They name
their own source account and purpose. The wallet still pays the fee, which then has a hold of its own.

A transfer whose outcome is unknown is never sent again as a new one: see on_bank_answer.py. Bulk transfers are in
bulk_transfer.py.
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    HeldAmount,
    LoadedRows,
    Merchant,
    Needs,
    PostingGroup,
    Refusal,
    replace_faults,
)
from kasuwa.core.dry_run import preview_decision
from kasuwa.core.money import format_minor
from kasuwa.core.references import movement_reference
from kasuwa.core.routing import RailDemand
from kasuwa.core.scenario import Scenario, take_call_scenario
from kasuwa.ledger.holds import find_fee_hold
from kasuwa.merchants.merchant_settings import check_amount_limits
from kasuwa.methods.disburse.model import (
    CURRENCY,
    KIND,
    LANE,
    PURPOSE,
    SEND,
    WALLET,
    TransferDetail,
    TransferJobData,
)
from kasuwa.methods.disburse.receipts import find_receipt_url
from kasuwa.methods.disburse.rules.payout_checks import UNCHECKED, CheckedPayout, check_payout, need_counters
from kasuwa.methods.disburse.rules.waiting import WAITING_MESSAGE, begin_approval, make_expiry, tell_approval
from kasuwa.methods.disburse.wire import TransferReply, TransferRequest
from kasuwa.terms.tariff import NO_FEES, Tariff, calculate_transfer_fees
from kasuwa.transactions.transactions import (
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    NewTransaction,
    Transaction,
    begin_transaction,
    encode_text,
    make_transaction_job,
    transaction_key,
)
from kasuwa.wire.explain_fees import explain_fees
from kasuwa.wire.interest_wire import DryRunFigure

# Refusals, in order of precedence.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request", error_code="order_ref_reused")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the amount and its fee; fund it and try again",
    error_code="insufficient_funds",
)
FEE_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the fee of this transfer; fund it and try again",
    error_code="insufficient_funds",
)

MESSAGES = {
    PROCESSING: "Transfer is being processed",
    PENDING: "The bank has not confirmed yet; verify later",
    SUCCESSFUL: "Transfer Successful",
}


def check_amount(merchant: Merchant, amount: int) -> str | None:
    return check_amount_limits(merchant, CURRENCY, amount)


def need_transfer(request: TransferRequest, merchant: Merchant) -> Needs:
    counters = need_counters(merchant, request.bank_code, request.account_number)
    if request.order_ref is None:
        return Needs(counters, (WALLET,))
    key = transaction_key(merchant.merchant_id, KIND, request.order_ref)
    return Needs(((Transaction, key), *counters), (WALLET,), (key,))


def decide_transfer(request: TransferRequest, context: Context, rows: LoadedRows) -> Decision[TransferReply] | Refusal:
    digest = digest_request(request, context)
    if request.order_ref is not None:
        key = transaction_key(context.merchant.merchant_id, KIND, request.order_ref)
        first = rows.get(Transaction, key)
        if first is not None:
            repeated = replay_transfer(first, digest, context)
            if isinstance(repeated, Refusal) or not request.dry_run:
                return repeated
            return preview_decision(repeated, ())
    checked = check_payout(make_order(request), int(request.amount), context, rows)
    if isinstance(checked, Refusal):
        return checked
    decision = start_transfer(request, digest, context, context.number, None, checked)
    if request.dry_run:
        return preview_transfer(decision, request, checked, context)
    if not checked.reasons:
        decision.follow_up = decision.jobs[0]
    return decision


def preview_transfer(
    decision: Decision[TransferReply], request: TransferRequest, checked: CheckedPayout, context: Context
) -> Decision[TransferReply]:
    """Returns the dry run of a transfer. It would have another reference, so none is shown."""
    tariff, amount = context.merchant.terms(Tariff), int(request.amount)
    charge = calculate_transfer_fees(tariff, amount)
    figures = [
        DryRunFigure("amount", format_minor(amount), "to the beneficiary"),
        *explain_fees(charge, "transfer", tariff.vat_percent_on_fees),
        DryRunFigure("wallet", format_minor(amount + charge.total), "taken from the NGN wallet"),
    ]
    if checked.reasons:
        # Not why: who only sends would learn how to stay below.
        figures.append(DryRunFigure("approval", "waiting", "by the policy for money out"))
    return preview_decision(decision, figures, txn_ref="", order_ref=request.order_ref or "")


class RequestDigestFields(msgspec.Struct, frozen=True):
    """The fields that must be equal for two requests with one orderRef to count as the same request.

    Their digest is stored for good, so never change these fields. Do not add fields that TransferRequest gains later.
    """

    amount: int
    bankcode: str
    accountnumber: str
    sender_name: str | None
    narration: str | None
    orderRef: str | None


def digest_request(request: TransferRequest, context: Context) -> bytes:
    compared = RequestDigestFields(
        int(request.amount),
        request.bank_code,
        request.account_number,
        request.sender_name,
        request.narration,
        request.order_ref,
    )
    return context.digest(msgspec.msgpack.encode(compared))


def replay_transfer(first: Transaction, digest: bytes, context: Context) -> Decision | Refusal:
    """Returns the reply of the first request, with the transfer's current status.

    `in_progress` while the bank has not answered yet: the caller may wait for the answer. Contract: #repeats
    """
    if first.digest != digest:
        return REFERENCE_USED
    return Decision(reply=reply_transfer(first, context), in_progress=first.code is None and first.status == PROCESSING)


class NewTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer to be started."""

    order: TransferDetail
    amount: int
    order_ref: str | None = None  # None: the transfer's own txnRef is used
    batch_ref: str | None = None  # the bulk that it belongs to
    digest: bytes = b""  # identifies a repeated request; empty where no request can be repeated
    reference_type: str = "FD"  # the two letters of its txnRef
    # The refusal where the source account does not cover the amount, if that is not the wallet.
    insufficient_refusal: Refusal = WALLET_INSUFFICIENT
    is_free: bool = False  # without fee, VAT and stamp duty
    checked: CheckedPayout = UNCHECKED  # against the merchant's policy for money out


def make_order(request: TransferRequest) -> TransferDetail:
    return TransferDetail(request.bank_code, request.account_number, request.sender_name or "", request.narration or "")


def start_transfer(
    request: TransferRequest,
    digest: bytes,
    context: Context,
    number: int,
    batch_ref: str | None,
    checked: CheckedPayout = UNCHECKED,
) -> Decision:
    new = NewTransfer(
        order=make_order(request),
        amount=int(request.amount),
        order_ref=request.order_ref,
        batch_ref=batch_ref,
        digest=digest,
        checked=checked,
    )
    return begin_transfer(new, context, number)


def send_money(
    order: TransferDetail,
    amount: int,
    context: Context,
    number: int,
    *,
    reference_type: str = "FD",
    insufficient_refusal: Refusal = WALLET_INSUFFICIENT,
    is_free: bool = False,
) -> Decision:
    """Returns the decision that starts a transfer for another slice. See `NewTransfer` for the parameters."""
    new = NewTransfer(
        order=order,
        amount=amount,
        reference_type=reference_type,
        insufficient_refusal=insufficient_refusal,
        is_free=is_free,
    )
    return begin_transfer(new, context, number)


def begin_transfer(new: NewTransfer, context: Context, number: int) -> Decision:
    """Holds amount and fees, and writes the transaction and the job that calls the bank, or that ends its wait for
    approval.

    `number` is the merchant's serial number that the txnRef is made of.
    """
    txn_ref = movement_reference(new.reference_type, context.permutation(number), lagos_day(context.now))
    fees = NO_FEES if new.is_free else calculate_transfer_fees(context.merchant.terms(Tariff), new.amount)
    checked, source = new.checked, new.order.source_account
    held = HeldAmount(source, new.amount + fees.total if source == WALLET else new.amount)
    row = begin_transaction(
        context,
        NewTransaction(
            kind=KIND,
            txn_ref=txn_ref,
            amount=new.amount,
            order_ref=new.order_ref,
            batch_ref=new.batch_ref,
            fees=fees,
            status=PENDING if checked.reasons else PROCESSING,
            message=WAITING_MESSAGE if checked.reasons else MESSAGES[PROCESSING],
            digest=new.digest,
            detail=new.order,
            held=held,
            rail=context.choose_rail(demand_rail(new.order, new.amount)),
        ),
    )
    decision = Decision(
        reply=reply_transfer(row, context),
        groups=hold_money(row, held, new.insufficient_refusal),
        rows=(row, *checked.counters),
        numbers_used=1,
    )
    if checked.reasons:
        make_wait(decision, row, new, context)
    else:
        send_now(decision, row, new, context, number)
    return decision


def make_job_data(new: NewTransfer, context: Context, scenario: Scenario) -> TransferJobData:
    now, checked = context.now.timestamp(), new.checked
    counted_at = now if checked.counters else 0
    return TransferJobData(
        now, new.order, new.amount, scenario, counted_at=counted_at, counted_client=checked.client_id
    )


def send_now(decision: Decision, row: Transaction, new: NewTransfer, context: Context, number: int) -> None:
    """Adds the job that calls the bank."""
    random_number = int.from_bytes(context.entropy[:8], "big") + number
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, LANE, "transfer", random_number)
    job_data = encode_text(make_job_data(new, context, scenario))
    decision.jobs = (make_transaction_job(context, SEND, LANE, row, job_data),)
    decision.sandbox = replace_faults(faults)


def make_wait(decision: Decision, row: Transaction, new: NewTransfer, context: Context) -> None:
    """Adds what a transfer that waits for approval has instead: its approval, the job that ends the wait, an event."""
    approval = begin_approval(row, new.checked.reasons, context)
    data = make_job_data(new, context, context.scenario)
    event, deliveries = tell_approval(row, approval, data.scenario, context)
    decision.rows = (*decision.rows, approval)
    decision.jobs = (make_expiry(approval, data, context), *deliveries)
    decision.events = (event,)


def demand_rail(order: TransferDetail, amount: int) -> RailDemand:
    return RailDemand(PURPOSE, amount, CURRENCY, order.bank_code)


def hold_money(row: Transaction, held: HeldAmount, insufficient_refusal: Refusal) -> tuple[PostingGroup, ...]:
    """Returns the group of what the transfer holds, and that of a hold for its fees if the wallet pays them alone."""
    if held.account == WALLET:
        return (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, holds=held),)
    amount, fees = PostingGroup(row.txn_ref, insufficient_refusal, holds=held), find_fee_hold(row)
    return (amount,) if fees is None else (amount, PostingGroup(row.txn_ref, FEE_INSUFFICIENT, holds=fees))


def reply_transfer(row: Transaction, context: Context, code: int = 200) -> TransferReply:
    return TransferReply(
        status=code,  # type: ignore[arg-type]
        txn_status=row.status,  # type: ignore[arg-type]
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        message=row.message,
        receipt_url=find_receipt_url(row, context),
    )
