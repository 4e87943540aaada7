"""Fields that the charge step of a card payment adds to initiate: schedule, split, bearer, references, meta.

Clients send the same body twice. Fields that only charge has count as if initiate had them. Fields that both have must
be equal. A bearer that only charge has changes the price.
Contract: payment#charge-late-fields, payment#charge-mismatch
"""

from typing import ClassVar, TypeVar

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, FieldError, LoadedRows, Row
from kasuwa.methods.payment.model import DETAIL_DECODER, INITIATED, InstallmentTerms, Payment, PaymentDetail
from kasuwa.methods.payment.payer_model import add_payer, make_payer_data, read_detail, seal_detail
from kasuwa.methods.payment.rules import check_request
from kasuwa.methods.payment.wire import ChargeCard
from kasuwa.terms.tariff import Tariff
from kasuwa.transactions.payers import make_mark, mark_payment
from kasuwa.transactions.pricing import Price, choose_bearer
from kasuwa.transactions.transactions import Transaction
from kasuwa.wire.documents import same_document
from kasuwa.wire.people import identify_customer

AS_INITIATED = "as it was initiated"

R = TypeVar("R", bound=Row)


class AmendedTransaction(Transaction):
    """A transaction whose price, merchant reference and payer may change at the charge step."""

    mutable_columns: ClassVar[tuple[str, ...]] = (*Transaction.mutable_columns, "order_ref", "fee", "vat", "detail")


class AmendedPayment(Payment):
    """A payment whose detail and amounts may change at the charge step."""

    mutable_columns: ClassVar[tuple[str, ...]] = (
        *Payment.mutable_columns,
        "detail",
        "payer_sealed",
        "charged",
        "settled",
    )


def amend_row(kind: type[R], row: Row, **changes: object) -> R:
    """Returns a row as another row type with these columns changed."""
    return msgspec.structs.replace(kind(*msgspec.structs.astuple(row)), **changes)


def amend_payment(
    request: ChargeCard, row: Transaction, payment: Payment, context: Context, rows: LoadedRows
) -> tuple[Transaction, Payment] | list[FieldError]:
    """Returns both rows with what the charge step adds, or the field errors.

    After the payment was charged, nothing is added: the rows are returned unchanged.
    """
    detail = read_detail(payment, context.vault.unseal)
    planned = read_charge_plan(request, row, context)
    if isinstance(planned, list):
        return planned
    faults = check_request.recurrent_faults(request) + find_differences(request, row, detail, planned, context)
    wanted = merge_terms(request, detail, planned, context)
    faults += check_request.schedule_conflict_faults(wanted.recurrent is not None, wanted.installments is not None)
    if faults or row.is_final or payment.stage != INITIATED:
        return faults or (row, payment)
    order_ref = row.order_ref or request.customer_txnref or ""
    if wanted == detail and order_ref == row.order_ref:
        return row, payment
    return apply_terms(wanted, order_ref, row, payment, context, rows)


def read_charge_plan(
    request: ChargeCard, row: Transaction, context: Context
) -> InstallmentTerms | list[FieldError] | None:
    """Returns the installment plan of the charge step, or its errors. The amount due is that of initiate's day."""
    if request.installment is None:
        return None
    planned = check_request.read_installment_terms(request.installment, row.amount or None, lagos_day(row.created_at))
    if isinstance(planned, list):
        return planned
    due, installments = planned
    if due != row.amount:
        return [FieldError("installment", AS_INITIATED)]
    return check_request.later_faults(installments, context.merchant, row.currency) or installments


def find_differences(
    request: ChargeCard, row: Transaction, detail: PaymentDetail, planned: InstallmentTerms | None, context: Context
) -> list[FieldError]:
    """Returns an error for each field that both steps have with different values."""
    parts = check_request.read_split_parts(request)
    bearer = choose_bearer(context.merchant.terms(Tariff), request.bearer)
    recurrent = check_request.read_recurrent_terms(request)
    comparisons = {
        "customer_txnref": bool(row.order_ref and request.customer_txnref) and request.customer_txnref != row.order_ref,
        "meta": bool(detail.meta and request.meta) and not same_document(request.meta or "", detail.meta),
        "split": bool(detail.split and parts) and parts != detail.split,
        "bearer": detail.is_bearer_explicit and request.bearer is not None and bearer != detail.bearer,
        "recurrent": detail.recurrent is not None and recurrent is not None and recurrent != detail.recurrent,
        "is_recurring": detail.recurrent is not None and request.is_recurring is False,
        "installment": differs_from_plan(detail.installments, planned),
    }
    return [FieldError(name, AS_INITIATED) for name, differs in comparisons.items() if differs]


def differs_from_plan(stored: InstallmentTerms | None, planned: InstallmentTerms | None) -> bool:
    """Whether both steps have a plan, with other dates or amounts. The stored one also has its prices."""
    return stored is not None and planned is not None and msgspec.structs.replace(stored, prices=()) != planned


def merge_terms(
    request: ChargeCard, detail: PaymentDetail, planned: InstallmentTerms | None, context: Context
) -> PaymentDetail:
    """Returns the payment detail with the fields that only the charge step has."""
    added = check_request.make_payment_detail(request, context)
    bearer = added if request.bearer is not None and not detail.is_bearer_explicit else detail
    return msgspec.structs.replace(
        add_payer(detail, make_payer_data(added)),
        redirect_url=detail.redirect_url or added.redirect_url,
        split=detail.split or added.split,
        bearer=bearer.bearer,
        is_bearer_explicit=bearer.is_bearer_explicit,
        recurrent=detail.recurrent or check_request.read_recurrent_terms(request),
        installments=detail.installments or planned,
    )


def apply_terms(
    detail: PaymentDetail, order_ref: str, row: Transaction, payment: Payment, context: Context, rows: LoadedRows
) -> tuple[Transaction, Payment] | list[FieldError]:
    """Returns both rows with the merged detail and, if the bearer changed, the new price. Checks the split again."""
    assert detail.card is not None, "a card payment has its card"
    before = DETAIL_DECODER.decode(payment.detail)
    price = Price(row.amount, row.fee, row.vat, payment.charged, payment.settled)
    bearer = choose_bearer(context.merchant.terms(Tariff), "customer" if detail.bearer == "customer" else "merchant")
    if detail.bearer != before.bearer:
        fee_class = check_request.card_fee_class(detail.card)
        price = check_request.price_request(bearer, context.merchant, fee_class, row.currency, row.amount)
    charges = check_request.CardCharges(detail.card, bearer, row.currency, price, detail.installments)
    beneficiaries = None if detail.split == before.split else rows
    faults = check_request.card_split_faults(detail.split, charges, context, beneficiaries)
    if faults:
        return faults
    if detail.bearer != before.bearer or before.installments is None:
        installments = check_request.price_installments(charges, context.merchant)
        detail = msgspec.structs.replace(detail, installments=installments)
    mark = make_mark(payment.method, detail.vendor, price.charged)
    marked = mark_payment(context.digest, row.merchant_id, identify_customer(detail.email, detail.phone), mark)
    stored, sealed = seal_detail(detail, payment.txn_ref, context)
    return (
        amend_row(AmendedTransaction, row, order_ref=order_ref, fee=price.fee, vat=price.vat, detail=marked),
        amend_row(
            AmendedPayment,
            payment,
            detail=stored,
            payer_sealed=sealed,
            charged=price.charged,
            settled=price.settled,
        ),
    )
