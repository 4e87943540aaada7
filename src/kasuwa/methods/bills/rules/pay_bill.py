"""Pays bills from the wallet.

Postings of a bill (all in the wallet's currency):

    requested    hold     wallet                     amount + fee + VAT on the fee
    successful   wallet → rail:biller                amount
                 wallet → income:bill                fee
                 wallet → tax:vat                    VAT
                 rail:biller → wallet                commission: the item's discount, in percent of the amount
    failed       the hold is voided, nothing moves

A bill whose outcome is unknown is never sent again as a new one: see on_biller_answer.py.
"""

from datetime import timedelta

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    HeldAmount,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    PostingGroup,
    Refusal,
    refuse_fields,
    replace_faults,
)
from kasuwa.core.money import compute_percent, format_minor
from kasuwa.core.references import account_key, movement_reference
from kasuwa.core.routing import RailDemand
from kasuwa.core.scenario import take_call_scenario
from kasuwa.ledger import chart
from kasuwa.methods.bills.model import (
    BILL_DETAIL_DECODER,
    CURRENCY,
    DELIVERY_DECODER,
    KIND,
    LANE,
    NO_DELIVERY,
    PURPOSE,
    SEND,
    WALLET,
    BillDetail,
    BillJobData,
    DuplicateGuard,
    Paycode,
    Voucher,
    duplicate_guard_key,
    voucher_aad,
    voucher_key,
)
from kasuwa.methods.bills.wire import BillDelivery, PayReply, PayRequest
from kasuwa.rails.catalogue.catalogue import ItemTerms, may_be_customer, paycode_key
from kasuwa.terms.tariff import FeeBreakdown, Tariff
from kasuwa.transactions.transactions import (
    FAILED,
    PENDING,
    SUCCESSFUL,
    NewTransaction,
    Transaction,
    begin_transaction,
    encode_text,
    make_transaction_job,
    transaction_key,
)
from kasuwa.wire.people import canonical_phone

# Within this business time, the same payment under another orderRef is refused as a mistake. Contract: bills#duplicate
LIKELY_DUPLICATE_WITHIN = timedelta(seconds=30)

# Refusals, in order of precedence. Invalid fields (find_faults) come between UNKNOWN_PAYCODE and LIKELY_DUPLICATE.
REFERENCE_USED = Refusal(INVALID_REQUEST, "This orderRef was used with another request", error_code="order_ref_reused")
NO_SUCH_PAYCODE = "no item has this paycode now; pull the catalogue again"
UNKNOWN_PAYCODE = refuse_fields(FieldError("paycode", NO_SUCH_PAYCODE, "paycode_unknown"))
LIKELY_DUPLICATE = Refusal(
    INVALID_REQUEST,
    "Likely duplicate: within 30 s the same amount was paid, or is being paid, for this customer of this biller, "
    "under another orderRef",
    error_code="likely_duplicate",
)
WALLET_INSUFFICIENT = Refusal(
    INSUFFICIENT_FUNDS,
    "The wallet does not cover the amount and its fee; fund it and try again",
    error_code="insufficient_funds",
)

DRY_RUN_MESSAGE = "Dry run: the bill can be paid; nothing was"

MESSAGES = {
    PENDING: "The biller has not confirmed yet; verify later",
    SUCCESSFUL: "Bill Payment Successful",
}


# --- checks of the fields -----------------------------------------------------------------------------------


def find_faults(request: PayRequest, item: ItemTerms, merchant: Merchant) -> tuple[FieldError, ...]:
    """Returns all errors of the fields whose valid values depend on the item."""
    reasons = {
        "reference": check_reference(merchant, item, request.reference),
        "amount": check_amount(merchant, item, request.amount),
    }
    return tuple(FieldError(field, reason) for field, reason in reasons.items() if reason is not None)


def check_reference(merchant: Merchant, item: ItemTerms, reference: str) -> str | None:
    return None if may_be_customer(merchant, item.pattern, reference) else f"not a customer reference of {item.biller}"


def check_amount(merchant: Merchant, item: ItemTerms, amount: int | None) -> str | None:
    """Returns why an amount is refused, or None. A fixed price must be exact or left out. Contract: bills#pay"""
    limits = merchant.limits[CURRENCY]
    if item.price:
        if amount is not None and amount != item.price:
            return f"{format_minor(item.price)}, or left out: the price of {item.name} is fixed"
        least, most = limits.min_amount, limits.max_amount
    elif amount is None:
        return "required: this item has no fixed price"
    else:
        least, most = max(limits.min_amount, item.least or 0), min(limits.max_amount, item.most or limits.max_amount)
    if not least <= (amount or item.price) <= most:
        return f"between {format_minor(least)} and {format_minor(most)}"
    if not item.price and (amount or 0) % item.amount_step:
        return f"a multiple of {format_minor(item.amount_step)}: {item.biller} takes no smaller part"
    return None


# --- paying -------------------------------------------------------------------------------------------------


def need_pay(request: PayRequest, merchant: Merchant) -> Needs:
    key = transaction_key(merchant.merchant_id, KIND, request.order_ref)
    voucher, paycode = voucher_key(merchant.merchant_id, key), paycode_key(request.paycode)
    return Needs(((Transaction, key), (Voucher, voucher), (Paycode, paycode)), (WALLET,))


def decide_pay(request: PayRequest, context: Context, rows: LoadedRows) -> Decision[PayReply] | Refusal | NeedsMore:
    merchant = context.merchant
    digest = digest_request(request, context)
    first = rows.get(Transaction, transaction_key(merchant.merchant_id, KIND, request.order_ref))
    if first is not None:
        repeated = replay_bill(first, digest, context, rows)
        if request.dry_run and isinstance(repeated, Decision):
            return Decision(reply=msgspec.structs.replace(repeated.reply, dry_run=True))
        return repeated
    item = rows.get(Paycode, paycode_key(request.paycode))
    if item is None or not item.accepted:
        return UNKNOWN_PAYCODE
    faults = find_faults(request, item.terms, merchant)
    if faults:
        return refuse_fields(*faults)
    amount = int(request.amount or item.price)
    guarded = duplicate_guard_key(merchant.merchant_id, item.bills_id, request.reference, amount)
    if not rows.is_loaded(guarded):
        return NeedsMore(Needs(((DuplicateGuard, guarded),)))
    guard = rows.get(DuplicateGuard, guarded)
    if guard is not None and context.now - guard.at < LIKELY_DUPLICATE_WITHIN:
        earlier = transaction_key(merchant.merchant_id, KIND, guard.order_ref)
        if not rows.is_loaded(earlier):
            return NeedsMore(Needs(((Transaction, earlier),)))
        if not has_failed(rows.get(Transaction, earlier)):
            return LIKELY_DUPLICATE
    if request.dry_run:
        return dry_run_bill(request, item, amount, context, rows)
    decision = start_bill(request, item, amount, digest, context)
    decision.rows += (DuplicateGuard(guarded, merchant.merchant_id, request.order_ref, context.now),)
    return decision


class RequestDigestFields(msgspec.Struct, frozen=True):
    """The fields that must be equal for two requests with one orderRef to count as the same request.

    Their digest is stored for good, so never change these fields. Do not add fields that PayRequest gains later.
    """

    paycode: str
    reference: str
    amount: int | None
    orderRef: str


def digest_request(request: PayRequest, context: Context) -> bytes:
    amount = None if request.amount is None else int(request.amount)
    compared = RequestDigestFields(request.paycode, request.reference, amount, request.order_ref)
    return context.digest(msgspec.msgpack.encode(compared))


def has_failed(earlier: Transaction | None) -> bool:
    """Returns whether the earlier payment failed, so that paying again is no duplicate. Contract: bills#duplicate"""
    return earlier is not None and earlier.status == FAILED


def replay_bill(first: Transaction, digest: bytes, context: Context, rows: LoadedRows) -> Decision | Refusal:
    """Returns the reply of the first request, with the bill's current status.

    `in_progress` while the biller has not answered yet: the caller may wait for the answer. Contract: #repeats
    """
    if first.digest != digest:
        return REFERENCE_USED
    reply = reply_bill(first, find_delivery(first, context, rows))
    return Decision(reply=reply, in_progress=first.code is None and not first.is_final)


def find_delivery(row: Transaction, context: Context, rows: LoadedRows) -> BillDelivery:
    voucher = rows.get(Voucher, voucher_key(row.merchant_id, row.key))
    if voucher is None:
        return NO_DELIVERY
    return DELIVERY_DECODER.decode(context.unseal(voucher_aad(row.txn_ref), voucher.sealed))


def dry_run_bill(
    request: PayRequest, item: Paycode, amount: int, context: Context, rows: LoadedRows
) -> Decision | Refusal:
    """Returns what a bill would cost. Refused for every reason that would refuse the payment, also insufficient funds.

    Contract: bills#dry-run
    """
    vat = compute_percent(item.fee, context.merchant.terms(Tariff).vat_percent_on_fees)
    wallet = rows.get(chart.Account, account_key(context.merchant.merchant_id, WALLET))
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
        commission=format_minor(compute_percent(amount, item.discount)),
    )
    return Decision(reply=reply)


def start_bill(request: PayRequest, item: Paycode, amount: int, digest: bytes, context: Context) -> Decision:
    """Holds the money, and writes the transaction and the job that calls the biller."""
    merchant = context.merchant
    vat = compute_percent(item.fee, merchant.terms(Tariff).vat_percent_on_fees)
    random_number = int.from_bytes(context.entropy[:8], "big") + context.number
    scenario, faults = take_call_scenario(context.scenario, context.injected_faults, LANE, "pay", random_number)
    commission = compute_percent(amount, item.discount)
    order = BillDetail(
        paycode=item.paycode,
        item=item.name,
        bills_id=item.bills_id,
        biller=item.biller,
        slug=item.slug,
        reference=request.reference,
        fulfillment=item.fulfilment,
        commission=commission,
        phone="" if request.phonenumber is None else canonical_phone(request.phonenumber),
    )
    held = HeldAmount(WALLET, amount + item.fee + vat)
    row = begin_transaction(
        context,
        NewTransaction(
            kind=KIND,
            txn_ref=movement_reference("BP", context.permutation(context.number), lagos_day(context.now)),
            amount=amount,
            order_ref=request.order_ref,
            fees=FeeBreakdown(item.fee, vat, 0),
            status=PENDING,
            message=MESSAGES[PENDING],
            digest=digest,
            detail=order,
            held=held,
            rail=context.choose_rail(demand_rail(order, amount)),
        ),
    )
    job = make_transaction_job(
        context, SEND, LANE, row, encode_text(BillJobData(context.now.timestamp(), order, amount, scenario))
    )
    return Decision(
        reply=reply_bill(row, NO_DELIVERY),
        groups=(PostingGroup(row.txn_ref, WALLET_INSUFFICIENT, holds=held),),
        rows=(row,),
        jobs=(job,),
        follow_up=job,
        numbers_used=1,
        sandbox=replace_faults(faults),
    )


def demand_rail(order: BillDetail, amount: int) -> RailDemand:
    return RailDemand(PURPOSE, amount, CURRENCY, order.paycode)


def get_commission(row: Transaction) -> int:
    """Returns the commission credited to the wallet: 0 for a failed bill."""
    return 0 if row.status == FAILED else BILL_DETAIL_DECODER.decode(row.detail).commission


def reply_bill(row: Transaction, delivery: BillDelivery, code: int = 200) -> PayReply:
    return PayReply(
        status=code,  # type: ignore[arg-type]
        txn_status=row.status,  # type: ignore[arg-type]
        txn_ref=row.txn_ref,
        order_ref=row.order_ref,
        message=row.message,
        commission=format_minor(get_commission(row)),
        token=delivery.token,
        units=delivery.units,
        pin=delivery.pin,
    )
