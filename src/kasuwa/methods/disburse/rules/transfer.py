"""The rules of transfers.

Postings of a transfer (all in the wallet's currency):

    requested    hold     wallet                     amount + fee + VAT (+ stamp duty where it is on)
    successful   wallet → rail:bank                  amount
                 wallet → income:transfer            fee
                 wallet → tax:vat                    VAT
                 wallet → tax:stamp_duty             duty, where it is on
    failed       the hold is voided, nothing moves

Money that another slice sends (a loan's principal, a savings account's cash-out, a split's payout) goes the same way:
`send_money` with its own source account and its errand. The fee is the wallet's all the same, under a hold of its own.

An unknown outcome is never sent again as a new transfer: see decide_answer.py. Bulk transfers are in decide_bulk.py.
"""

from functools import lru_cache

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    LoadedRows,
    Merchant,
    Needs,
    NewHold,
    PostingGroup,
    Refusal,
    replace_faults,
)
from kasuwa.core.merchant import check_amount_limits
from kasuwa.core.purpose import TransactionPurpose
from kasuwa.core.references import fee_hold_key, hold_key, movement_reference
from kasuwa.core.scenario import Scenario, take_call_scenario
from kasuwa.core.tariff import NO_FEES, calculate_transfer_fees
from kasuwa.core.transactions import (
    PENDING,
    PROCESSING,
    SUCCESSFUL,
    Transaction,
    begin_transaction,
    encode_text,
    make_transaction_job,
    transaction_key,
)
from kasuwa.ledger import chart
from kasuwa.methods.disburse.wire import TransferReply, TransferRequest

KIND = "transfer"
CURRENCY = "NGN"
SEND = "disburse.send"
QUERY = "disburse.ask"
LANE = "bank"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("bank", CURRENCY)
INCOME = chart.income("transfer", CURRENCY)
VAT = chart.tax("vat", CURRENCY)
STAMP_DUTY = chart.tax("stamp_duty", CURRENCY)

# Refusals, in order of precedence.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request")
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the amount and its fee; fund it and try again"
)
FEE_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the fee of this transfer; fund it and try again"
)

MESSAGES = {
    PROCESSING: "Transfer is being processed",
    PENDING: "The bank has not confirmed yet; verify later",
    SUCCESSFUL: "Transfer Successful",
}


# --- what may be asked ------------------------------------------------------------------------------------


def check_amount(merchant: Merchant, amount: int) -> str | None:
    return check_amount_limits(merchant, CURRENCY, amount)


# --- a transfer is asked for ------------------------------------------------------------------------------


class TransferDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the rail is told, kept with the transaction; and where the money comes from and what for."""

    bank_code: str
    account_number: str
    sender_name: str
    narration: str
    source_account: str = msgspec.field(default=WALLET, name="source")
    purpose: TransactionPurpose | None = msgspec.field(default=None, name="errand")


class TransferJobData(msgspec.Struct, frozen=True):
    """What a transfer's job knows besides its transaction: when it was first sent, and the scenario."""

    sent_at: float
    order: TransferDetail
    amount: int
    scenario: Scenario


JOB_DATA_DECODER: "msgspec.json.Decoder[TransferJobData]" = msgspec.json.Decoder(TransferJobData)


@lru_cache(maxsize=1024)
def read_work(text: str) -> TransferJobData:
    """Decodes the `work` of a job. Kept, because the steps of one transfer read the same text several times."""
    return JOB_DATA_DECODER.decode(text)


def need_transfer(request: TransferRequest, merchant: Merchant) -> Needs:
    if request.order_ref is None:
        return Needs((), (WALLET,))
    return Needs(((Transaction, transaction_key(merchant.merchant_id, KIND, request.order_ref)),), (WALLET,))


def decide_transfer(request: TransferRequest, context: Context, seen: LoadedRows) -> Decision[TransferReply] | Refusal:
    digest = digest_request(request, context)
    if request.order_ref is not None:
        key = transaction_key(context.merchant.merchant_id, KIND, request.order_ref)
        first = seen.get(Transaction, key)
        if first is not None:
            return replay_transfer(first, digest)
    decision = start_transfer(request, digest, context, context.number, None)
    decision.follow_up = decision.jobs[0]
    return decision


class RequestDigestFields(msgspec.Struct, frozen=True):
    """What two requests under one orderRef must have in common to be the same. It is hashed and kept for ever, so its
    fields never change: a field that TransferRequest gains later is not one of these."""

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


def replay_transfer(first: Transaction, digest: bytes) -> Decision | Refusal:
    """The first answer with its current status; while it is at the rail, worth waiting for. Contract: #repeats"""
    if first.digest != digest:
        return REFERENCE_USED
    return Decision(reply=reply_transfer(first), in_progress=first.code is None and not first.is_final)


def start_transfer(
    request: TransferRequest, digest: bytes, context: Context, number: int, batch_ref: str | None
) -> Decision:
    order = TransferDetail(
        request.bank_code, request.account_number, request.sender_name or "", request.narration or ""
    )
    return send_money(order, int(request.amount), context, number, request.order_ref, digest, batch_ref)


def send_money(
    order: TransferDetail,
    amount: int,
    context: Context,
    number: int,
    order_ref: str | None = None,
    digest: bytes = b"",
    batch_ref: str | None = None,
    *,
    reference_type: str = "FD",
    insufficient_refusal: Refusal = WALLET_INSUFFICIENT,
    is_free: bool = False,
) -> Decision:
    """Hold the money and write the job that calls the bank; `short` answers for a source that is not the wallet, and
    nobody pays for what is `free`."""
    txn_ref = movement_reference(reference_type, context.permutation(number), lagos_day(context.now))
    merchant = context.merchant
    charge = NO_FEES if is_free else calculate_transfer_fees(merchant.tariff, amount)
    random_number = int.from_bytes(context.entropy[:8], "big") + number
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, LANE, random_number)
    row = begin_transaction(
        context,
        KIND,
        txn_ref,
        amount,
        order_ref=order_ref,
        batch_ref=batch_ref,
        fees=charge,
        message=MESSAGES[PROCESSING],
        digest=digest,
        detail=order,
    )
    work = encode_text(TransferJobData(context.now.timestamp(), order, row.amount, scenario))
    return Decision(
        reply=reply_transfer(row),
        groups=hold_money(row, order.source_account, insufficient_refusal),
        rows=(row,),
        jobs=(make_transaction_job(context, SEND, LANE, row, work),),
        numbers_used=1,
        sandbox=replace_faults(faults),
    )


def hold_money(row: Transaction, source: str, insufficient_refusal: Refusal) -> tuple[PostingGroup, ...]:
    """Amount and fee under one hold where the wallet pays both; else each under its own."""
    fees = row.fee + row.vat + row.duty
    if source == WALLET:
        hold = NewHold(hold_key(row.key), WALLET, row.amount + fees)
        return (PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, new_holds=(hold,)),)
    amount = PostingGroup(
        row.txn_ref, insufficient_refusal, new_holds=(NewHold(hold_key(row.key), source, row.amount),)
    )
    if not fees:
        return (amount,)
    return amount, PostingGroup(
        row.txn_ref, FEE_INSUFFICIENT, new_holds=(NewHold(fee_hold_key(row.key), WALLET, fees),)
    )


def reply_transfer(row: Transaction, code: int = 200) -> TransferReply:
    return TransferReply(
        status=code,  # type: ignore[arg-type]
        txn_status=row.status,  # type: ignore[arg-type]
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        message=row.message,
    )
