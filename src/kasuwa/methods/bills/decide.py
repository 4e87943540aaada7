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

from kasuwa.core.billers import GIVES_PIN, GIVES_TOKEN, Terms, may_be_customer, paycode_key
from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST, NOT_COVERED
from kasuwa.core.decision import (
    Context,
    Decision,
    Fault,
    Group,
    Merchant,
    More,
    Needs,
    Refusal,
    Reserve,
    Row,
    Seen,
    refuse_fields,
)
from kasuwa.core.money import format_minor, percent_of
from kasuwa.core.references import account_key, hold_key, movement_reference, row_key
from kasuwa.core.scenario import Scenario, plan_call
from kasuwa.core.tariff import Charge
from kasuwa.core.transactions import (
    FAILED,
    PENDING,
    SUCCESSFUL,
    Transaction,
    begin_transaction,
    encode_text,
    new_job,
    transaction_key,
)
from kasuwa.ledger import chart
from kasuwa.methods.bills.wire import Goods, PayReply, PayRequest

KIND = "bill"
CURRENCY = "NGN"
SEND = "bills.send"
ASK = "bills.ask"
LANE = "biller"

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("biller", CURRENCY)
INCOME = chart.income("bill", CURRENCY)
VAT = chart.tax("vat", CURRENCY)

# How long the same payment under another orderRef is taken for a mistake (business time). Spec silent: D30
LIKELY_DUPLICATE_WITHIN = timedelta(seconds=30)

# Refusals, in order of precedence; between the second and the third come those of the fields that the item decides.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request")
NO_SUCH_PAYCODE = "no item has this paycode now; pull the catalogue again"
UNKNOWN_PAYCODE = refuse_fields(Fault("paycode", NO_SUCH_PAYCODE))
LIKELY_DUPLICATE = Refusal(
    INVALID_REQUEST,
    "Likely duplicate: within 30 s the same amount was paid, or is being paid, for this customer of this biller, "
    "under another orderRef",
)
WALLET_SHORT = Refusal(NOT_COVERED, "The wallet does not cover the amount and its fee; fund it and try again")

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
    def terms(self) -> Terms:
        return Terms(self.name, self.biller, self.pattern, self.price, self.least, self.most)


class Guard(Row):
    """When this amount was last paid to this customer of this biller, and by which order."""

    table: ClassVar[str] = "bill_guard"
    changing: ClassVar[tuple[str, ...]] = ("order_ref", "at")

    order_ref: str
    at: datetime

    @property
    def is_open(self) -> bool:
        return False


def guard_key(merchant_id: int, bills_id: int, reference: str, amount: int) -> bytes:
    return row_key(merchant_id, Guard.table, f"{bills_id} {amount} {reference}")


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


def voucher_place(txn_ref: str) -> str:
    return f"{Voucher.table}.sealed.{txn_ref}"


GOODS: "msgspec.json.Decoder[Goods]" = msgspec.json.Decoder(Goods)
NO_GOODS = Goods()

# What must be there before a bill of that kind counts as delivered, and how all that it brings must look: the token of
# a prepaid meter has 20 digits everywhere (STS).
PROMISED = {GIVES_TOKEN: "token", GIVES_PIN: "pin"}
FORMS = {
    GIVES_TOKEN: {
        "token": re.compile(r"[0-9]{20}", re.ASCII),
        "units": re.compile(r"[0-9]{1,9}(\.[0-9]{1,4})?", re.ASCII),
    },
    GIVES_PIN: {"pin": re.compile(r"[!-~]([ -~]{0,98}[!-~])?", re.ASCII)},
}


# --- what may be asked --------------------------------------------------------------------------------------


def find_faults(request: PayRequest, item: Terms, merchant: Merchant) -> tuple[Fault, ...]:
    """What is wrong with the fields that the item decides about, all of it."""
    reasons = {
        "reference": reference_fault(merchant, item, request.reference),
        "amount": amount_fault(merchant, item, request.amount),
    }
    return tuple(Fault(field, reason) for field, reason in reasons.items() if reason is not None)


def reference_fault(merchant: Merchant, item: Terms, reference: str) -> str | None:
    return None if may_be_customer(merchant, item.pattern, reference) else f"not a customer reference of {item.biller}"


def amount_fault(merchant: Merchant, item: Terms, said: int | None) -> str | None:
    """A fixed price is taken as it is or left out; an open amount is bounded by the biller. Spec silent: D30"""
    limits = merchant.limits[CURRENCY]
    if item.price:
        if said is not None and said != item.price:
            return f"{format_minor(item.price)}, or left out: the price of {item.name} is fixed"
        least, most = limits.least, limits.most
    elif said is None:
        return "required: this item has no fixed price"
    else:
        least, most = max(limits.least, item.least or 0), min(limits.most, item.most or limits.most)
    if least <= (said or item.price) <= most:
        return None
    return f"between {format_minor(least)} and {format_minor(most)}"


# --- a bill is paid -----------------------------------------------------------------------------------------


class Order(msgspec.Struct, frozen=True):
    """What is paid for, kept with the transaction."""

    paycode: str
    item: str
    bills_id: int
    biller: str
    slug: str
    reference: str
    fulfilment: str
    commission: int


class Work(msgspec.Struct, frozen=True):
    """What a bill's job knows besides its transaction: when it was first sent, and the scenario."""

    sent_at: float
    order: Order
    amount: int
    scenario: Scenario


WORK: "msgspec.json.Decoder[Work]" = msgspec.json.Decoder(Work)
ORDER: "msgspec.json.Decoder[Order]" = msgspec.json.Decoder(Order)


def need_pay(request: PayRequest, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, request.order_ref)
    voucher, paycode = voucher_key(merchant.merchant_id, key), paycode_key(request.paycode)
    return Needs(((Transaction, key), (Voucher, voucher), (Paycode, paycode)), (WALLET,))


def decide_pay(request: PayRequest, context: Context, seen: Seen) -> Decision | Refusal | More:
    merchant = context.merchant
    digest = digest_of(request, context)
    first = seen.get(Transaction, transaction_key(merchant.merchant_id, KIND, request.order_ref))
    if first is not None:
        return repeat_bill(first, digest, context, seen)
    item = seen.get(Paycode, paycode_key(request.paycode))
    if item is None or not item.accepted:
        return UNKNOWN_PAYCODE
    faults = find_faults(request, item.terms, merchant)
    if faults:
        return refuse_fields(*faults)
    amount = int(request.amount or item.price)
    guarded = guard_key(merchant.merchant_id, item.bills_id, request.reference, amount)
    if not seen.has(guarded):
        return More(Needs(((Guard, guarded),)))
    guard = seen.get(Guard, guarded)
    if guard is not None and context.now - guard.at < LIKELY_DUPLICATE_WITHIN:
        earlier = transaction_key(merchant.merchant_id, KIND, guard.order_ref)
        if not seen.has(earlier):
            return More(Needs(((Transaction, earlier),)))
        if not has_failed(seen.get(Transaction, earlier)):
            return LIKELY_DUPLICATE
    if request.dry_run:
        return foresee_bill(request, item, amount, context, seen)
    decision = order_bill(request, item, amount, digest, context)
    decision.rows += (Guard(guarded, merchant.merchant_id, request.order_ref, context.now),)
    return decision


class Compared(msgspec.Struct, frozen=True):
    """What two requests under one orderRef must have in common to be the same. It is hashed and kept for ever, so its
    fields never change: a field that PayRequest gains later is not one of these."""

    paycode: str
    reference: str
    amount: int | None
    orderRef: str


def digest_of(request: PayRequest, context: Context) -> bytes:
    amount = None if request.amount is None else int(request.amount)
    compared = Compared(request.paycode, request.reference, amount, request.order_ref)
    return context.digest(msgspec.msgpack.encode(compared))


def has_failed(earlier: Transaction | None) -> bool:
    """What has failed paid nobody: to pay it again is no mistake. Spec silent: D30"""
    return earlier is not None and earlier.status == FAILED


def repeat_bill(first: Transaction, digest: bytes, context: Context, seen: Seen) -> Decision | Refusal:
    """The first answer with its current status; while it is at the rail, worth waiting for. Spec silent: D7"""
    if first.digest != digest:
        return REFERENCE_USED
    reply = reply_bill(first, kept_goods(first, context, seen))
    return Decision(reply=reply, wait=first.code is None and not first.is_final)


def kept_goods(row: Transaction, context: Context, seen: Seen) -> Goods:
    voucher = seen.get(Voucher, voucher_key(row.merchant_id, row.key))
    if voucher is None:
        return NO_GOODS
    return GOODS.decode(context.unseal(voucher_place(row.txn_ref), voucher.sealed))


def foresee_bill(request: PayRequest, item: Paycode, amount: int, context: Context, seen: Seen) -> Decision | Refusal:
    """What a bill would cost. All that would refuse it refuses its dry run as well, a wallet that is short included."""
    vat = percent_of(item.fee, context.merchant.tariff.vat_percent_on_fees)
    wallet = seen.get(chart.Account, account_key(context.merchant.merchant_id, WALLET))
    if wallet is None or wallet.available < amount + item.fee + vat:
        return WALLET_SHORT
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


def order_bill(request: PayRequest, item: Paycode, amount: int, digest: bytes, context: Context) -> Decision:
    """Hold the money and write the job that calls the biller."""
    merchant = context.merchant
    vat = percent_of(item.fee, merchant.tariff.vat_percent_on_fees)
    luck = int.from_bytes(context.entropy[:8], "big") + context.number
    scenario, faults = plan_call(context.scenario, context.faults, LANE, luck)
    commission = percent_of(amount, item.discount)
    order = Order(
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
        charge=Charge(item.fee, vat, 0),
        status=PENDING,
        message=MESSAGES[PENDING],
        digest=digest,
        detail=order,
    )
    job = new_job(context, SEND, LANE, row, encode_text(Work(context.now.timestamp(), order, amount, scenario)))
    hold = Reserve(hold_key(row.key), WALLET, amount + item.fee + vat)
    return Decision(
        reply=reply_bill(row, NO_GOODS),
        groups=(Group(row.txn_ref, WALLET_SHORT, reserves=(hold,)),),
        rows=(row,),
        jobs=(job,),
        then=job,
        numbers=1,
        faults=faults,
    )


def commission_of(row: Transaction) -> int:
    """What a bill brings back to the wallet; a bill that has failed brings nothing."""
    return 0 if row.status == FAILED else ORDER.decode(row.detail).commission


def reply_bill(row: Transaction, goods: Goods, code: int = 200) -> PayReply:
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
