"""The rules of bills.

Postings of a bill (all in the wallet's currency):

    requested    hold     wallet                     amount + fee + VAT on the fee
    successful   wallet → rail:biller                amount
                 wallet → income:bill                fee
                 wallet → tax:vat                    VAT
                 rail:biller → wallet                commission: the item's discount, in percent of the amount
    failed       the hold is voided, nothing moves

What the biller gives (a token, a PIN) is value: it is sealed into a row of its own and is in no trail, event or job.
An unknown outcome is never sent again as a new bill: see decide_answer.py.
"""

import re
from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from kasuwa.core.billers import GIVES_PIN, GIVES_TOKEN, ItemTerms, may_be_customer, paycode_key
from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    NewHold,
    PostingGroup,
    Refusal,
    Row,
    refuse_fields,
    replace_faults,
)
from kasuwa.core.money import format_minor, percent_of
from kasuwa.core.references import account_key, hold_key, movement_reference, row_key
from kasuwa.core.scenario import Scenario, take_call_scenario
from kasuwa.core.tariff import FeeBreakdown
from kasuwa.core.transactions import (
    FAILED,
    PENDING,
    SUCCESSFUL,
    Transaction,
    begin_transaction,
    encode_text,
    make_transaction_job,
    transaction_key,
)
from kasuwa.ledger import chart
from kasuwa.methods.bills.wire import BillDelivery, PayReply, PayRequest

KIND = "bill"
CURRENCY = "NGN"
SEND = "bills.send"
QUERY = "bills.ask"
LANE = "biller"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("biller", CURRENCY)
INCOME = chart.income("bill", CURRENCY)
VAT = chart.tax("vat", CURRENCY)

# How long the same payment under another orderRef is taken for a mistake (business time). Contract: bills#pay
LIKELY_DUPLICATE_WITHIN = timedelta(seconds=30)

# Refusals, in order of precedence; between the second and the third come those of the fields that the item decides.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request")
NO_SUCH_PAYCODE = "no item has this paycode now; pull the catalogue again"
UNKNOWN_PAYCODE = refuse_fields(FieldError("paycode", NO_SUCH_PAYCODE))
LIKELY_DUPLICATE = Refusal(
    INVALID_REQUEST,
    "Likely duplicate: within 30 s the same amount was paid, or is being paid, for this customer of this biller, "
    "under another orderRef",
)
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS, "The wallet does not cover the amount and its fee; fund it and try again"
)

DRY_RUN_MESSAGE = "Dry run: the bill can be paid; nothing was"

MESSAGES = {
    PENDING: "The biller has not confirmed yet; verify later",
    SUCCESSFUL: "Bill Payment Successful",
}


# --- rows ---------------------------------------------------------------------------------------------------


class Paycode(Row):
    """What a paycode pays for, read from the catalogue; never written by a decision. `price` 0 is an open amount."""

    table: ClassVar[str] = "paycode"

    paycode: str
    name: str
    bills_id: int
    biller: str
    slug: str
    pattern: str
    least: int | None
    most: int | None
    price: int
    fee: int
    discount: str
    fulfilment: str
    accepted: bool

    @property
    def terms(self) -> ItemTerms:
        return ItemTerms(self.name, self.biller, self.pattern, self.price, self.least, self.most)


class DuplicateGuard(Row):
    """When this amount was last paid to this customer of this biller, and by which order."""

    table: ClassVar[str] = "bill_guard"
    mutable_columns: ClassVar[tuple[str, ...]] = ("order_ref", "at")

    order_ref: str
    at: datetime

    @property
    def is_open(self) -> bool:
        return False


def duplicate_guard_key(merchant_id: int, bills_id: int, reference: str, amount: int) -> bytes:
    return row_key(merchant_id, DuplicateGuard.table, f"{bills_id} {amount} {reference}")


class Voucher(Row):
    """What a bill brought, sealed."""

    table: ClassVar[str] = "bill_voucher"

    txn_ref: str
    sealed: bytes

    @property
    def is_open(self) -> bool:
        return False


def voucher_key(merchant_id: int, subject: bytes) -> bytes:
    """Of the bill whose transaction has this key."""
    return row_key(merchant_id, Voucher.table, subject.hex())


def voucher_aad(txn_ref: str) -> str:
    return f"{Voucher.table}.sealed.{txn_ref}"


DELIVERY_DECODER: "msgspec.json.Decoder[BillDelivery]" = msgspec.json.Decoder(BillDelivery)
NO_DELIVERY = BillDelivery()

# What must be there before a bill of that kind counts as delivered, and how all that it brings must look: the token of
# a prepaid meter has 20 digits everywhere (STS).
REQUIRED_DELIVERY = {GIVES_TOKEN: "token", GIVES_PIN: "pin"}
DELIVERY_FORMATS = {
    GIVES_TOKEN: {
        "token": re.compile(r"[0-9]{20}", re.ASCII),
        "units": re.compile(r"[0-9]{1,9}(\.[0-9]{1,4})?", re.ASCII),
    },
    GIVES_PIN: {"pin": re.compile(r"[!-~]([ -~]{0,98}[!-~])?", re.ASCII)},
}


# --- what may be asked --------------------------------------------------------------------------------------


def find_faults(request: PayRequest, item: ItemTerms, merchant: Merchant) -> tuple[FieldError, ...]:
    """What is wrong with the fields that the item decides about, all of it."""
    reasons = {
        "reference": check_reference(merchant, item, request.reference),
        "amount": check_amount(merchant, item, request.amount),
    }
    return tuple(FieldError(field, reason) for field, reason in reasons.items() if reason is not None)


def check_reference(merchant: Merchant, item: ItemTerms, reference: str) -> str | None:
    return None if may_be_customer(merchant, item.pattern, reference) else f"not a customer reference of {item.biller}"


def check_amount(merchant: Merchant, item: ItemTerms, said: int | None) -> str | None:
    """A fixed price is taken as it is or left out; an open amount is bounded by the biller. Contract: bills#pay"""
    limits = merchant.limits[CURRENCY]
    if item.price:
        if said is not None and said != item.price:
            return f"{format_minor(item.price)}, or left out: the price of {item.name} is fixed"
        least, most = limits.min_amount, limits.max_amount
    elif said is None:
        return "required: this item has no fixed price"
    else:
        least, most = max(limits.min_amount, item.least or 0), min(limits.max_amount, item.most or limits.max_amount)
    if least <= (said or item.price) <= most:
        return None
    return f"between {format_minor(least)} and {format_minor(most)}"


# --- a bill is paid -----------------------------------------------------------------------------------------


class BillDetail(msgspec.Struct, frozen=True):
    """What is paid for, kept with the transaction."""

    paycode: str
    item: str
    bills_id: int
    biller: str
    slug: str
    reference: str
    fulfilment: str
    commission: int


class BillJobData(msgspec.Struct, frozen=True):
    """What a bill's job knows besides its transaction: when it was first sent, and the scenario."""

    sent_at: float
    order: BillDetail
    amount: int
    scenario: Scenario


JOB_DATA_DECODER: "msgspec.json.Decoder[BillJobData]" = msgspec.json.Decoder(BillJobData)
BILL_DETAIL_DECODER: "msgspec.json.Decoder[BillDetail]" = msgspec.json.Decoder(BillDetail)


def need_pay(request: PayRequest, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, request.order_ref)
    voucher, paycode = voucher_key(merchant.merchant_id, key), paycode_key(request.paycode)
    return Needs(((Transaction, key), (Voucher, voucher), (Paycode, paycode)), (WALLET,))


def decide_pay(request: PayRequest, context: Context, seen: LoadedRows) -> Decision[PayReply] | Refusal | NeedsMore:
    merchant = context.merchant
    digest = digest_request(request, context)
    first = seen.get(Transaction, transaction_key(merchant.merchant_id, KIND, request.order_ref))
    if first is not None:
        return replay_bill(first, digest, context, seen)
    item = seen.get(Paycode, paycode_key(request.paycode))
    if item is None or not item.accepted:
        return UNKNOWN_PAYCODE
    faults = find_faults(request, item.terms, merchant)
    if faults:
        return refuse_fields(*faults)
    amount = int(request.amount or item.price)
    guarded = duplicate_guard_key(merchant.merchant_id, item.bills_id, request.reference, amount)
    if not seen.is_loaded(guarded):
        return NeedsMore(Needs(((DuplicateGuard, guarded),)))
    guard = seen.get(DuplicateGuard, guarded)
    if guard is not None and context.now - guard.at < LIKELY_DUPLICATE_WITHIN:
        earlier = transaction_key(merchant.merchant_id, KIND, guard.order_ref)
        if not seen.is_loaded(earlier):
            return NeedsMore(Needs(((Transaction, earlier),)))
        if not has_failed(seen.get(Transaction, earlier)):
            return LIKELY_DUPLICATE
    if request.dry_run:
        return dry_run_bill(request, item, amount, context, seen)
    decision = start_bill(request, item, amount, digest, context)
    decision.rows += (DuplicateGuard(guarded, merchant.merchant_id, request.order_ref, context.now),)
    return decision


class RequestDigestFields(msgspec.Struct, frozen=True):
    """What two requests under one orderRef must have in common to be the same. It is hashed and kept for ever, so its
    fields never change: a field that PayRequest gains later is not one of these."""

    paycode: str
    reference: str
    amount: int | None
    orderRef: str


def digest_request(request: PayRequest, context: Context) -> bytes:
    amount = None if request.amount is None else int(request.amount)
    compared = RequestDigestFields(request.paycode, request.reference, amount, request.order_ref)
    return context.digest(msgspec.msgpack.encode(compared))


def has_failed(earlier: Transaction | None) -> bool:
    """What has failed paid nobody: to pay it again is no mistake. Contract: bills#pay"""
    return earlier is not None and earlier.status == FAILED


def replay_bill(first: Transaction, digest: bytes, context: Context, seen: LoadedRows) -> Decision | Refusal:
    """The first answer with its current status; while it is at the rail, worth waiting for. Contract: #repeats"""
    if first.digest != digest:
        return REFERENCE_USED
    reply = reply_bill(first, find_delivery(first, context, seen))
    return Decision(reply=reply, in_progress=first.code is None and not first.is_final)


def find_delivery(row: Transaction, context: Context, seen: LoadedRows) -> BillDelivery:
    voucher = seen.get(Voucher, voucher_key(row.merchant_id, row.key))
    if voucher is None:
        return NO_DELIVERY
    return DELIVERY_DECODER.decode(context.unseal(voucher_aad(row.txn_ref), voucher.sealed))


def dry_run_bill(
    request: PayRequest, item: Paycode, amount: int, context: Context, seen: LoadedRows
) -> Decision | Refusal:
    """What a bill would cost. All that would refuse it refuses its dry run as well, a wallet that is short included."""
    vat = percent_of(item.fee, context.merchant.tariff.vat_percent_on_fees)
    wallet = seen.get(chart.Account, account_key(context.merchant.merchant_id, WALLET))
    if wallet is None or wallet.available < amount + item.fee + vat:
        return WALLET_INSUFFICIENT
    reply = PayReply(
        status=200,
        order_ref=request.order_ref,
        message=DRY_RUN_MESSAGE,
        dry_run=True,
        amount=format_minor(amount),
        fee=format_minor(item.fee),
        vat=format_minor(vat),
        commission=format_minor(percent_of(amount, item.discount)),
    )
    return Decision(reply=reply)


def start_bill(request: PayRequest, item: Paycode, amount: int, digest: bytes, context: Context) -> Decision:
    """Hold the money and write the job that calls the biller."""
    merchant = context.merchant
    vat = percent_of(item.fee, merchant.tariff.vat_percent_on_fees)
    random_number = int.from_bytes(context.entropy[:8], "big") + context.number
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, LANE, random_number)
    commission = percent_of(amount, item.discount)
    order = BillDetail(
        paycode=item.paycode,
        item=item.name,
        bills_id=item.bills_id,
        biller=item.biller,
        slug=item.slug,
        reference=request.reference,
        fulfilment=item.fulfilment,
        commission=commission,
    )
    row = begin_transaction(
        context,
        KIND,
        movement_reference("BP", context.permutation(context.number), lagos_day(context.now)),
        amount,
        order_ref=request.order_ref,
        fees=FeeBreakdown(item.fee, vat, 0),
        status=PENDING,
        message=MESSAGES[PENDING],
        digest=digest,
        detail=order,
    )
    job = make_transaction_job(
        context, SEND, LANE, row, encode_text(BillJobData(context.now.timestamp(), order, amount, scenario))
    )
    hold = NewHold(hold_key(row.key), WALLET, amount + item.fee + vat)
    return Decision(
        reply=reply_bill(row, NO_DELIVERY),
        groups=(PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, new_holds=(hold,)),),
        rows=(row,),
        jobs=(job,),
        follow_up=job,
        numbers_used=1,
        sandbox=replace_faults(faults),
    )


def commission_of(row: Transaction) -> int:
    """What a bill brings back to the wallet; a bill that has failed brings nothing."""
    return 0 if row.status == FAILED else BILL_DETAIL_DECODER.decode(row.detail).commission


def reply_bill(row: Transaction, goods: BillDelivery, code: int = 200) -> PayReply:
    return PayReply(
        status=code,  # type: ignore[arg-type]
        txn_status=row.status,  # type: ignore[arg-type]
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        message=row.message,
        commission=format_minor(commission_of(row)),
        token=goods.token,
        units=goods.units,
        pin=goods.pin,
    )
