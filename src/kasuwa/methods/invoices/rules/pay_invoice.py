"""Payments of an invoice: what attempts to pay reserve, and what a successful one changes.

A payer opens a checkout for the whole invoice or a part. What attempts in progress would pay is reserved, so that
payments together never exceed the total: an attempt that would is refused before anything is charged.
Contract: resources#invoice-payments
"""

from datetime import timedelta

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    AmountLimits,
    Context,
    Decision,
    Effects,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    refuse_fields,
)
from kasuwa.core.money import format_minor
from kasuwa.core.references import job_key
from kasuwa.methods.checkout.rules.served_channels import DEFAULT_CHANNELS, served_channels
from kasuwa.methods.invoices.model import (
    DETAIL_DECODER,
    PAID,
    PAYABLE,
    SOURCE,
    UNKNOWN_INVOICE,
    VOID,
    Invoice,
    InvoicePerson,
    invoice_key,
)
from kasuwa.methods.invoices.payer_model import OpenInvoicePayment
from kasuwa.methods.invoices.rules.states import choose_state, read_person, record_change
from kasuwa.terms.tariff import Tariff
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.checkouts import (
    Checkout,
    CheckoutDetail,
    CheckoutItem,
    CheckoutSource,
    NewCheckout,
    begin_checkout,
)
from kasuwa.transactions.pricing import choose_bearer
from kasuwa.transactions.transactions import Transaction

# How long a payer has from opening the payment of an invoice.
CHECKOUT_LIFE = timedelta(hours=24)

INVOICE_PAID = Refusal(INVALID_REQUEST, "This invoice is paid already. Nothing was charged", error_code="invoice_paid")
INVOICE_VOID = Refusal(
    INVALID_REQUEST, "This invoice was canceled by the merchant. Nothing was charged", error_code="invoice_void"
)
INVOICE_CHANGED = Refusal(
    INVALID_REQUEST,
    "This invoice has changed. Nothing was charged; please open its link again",
    error_code="invoice_changed",
)
NOT_SERVED = Refusal(
    INVALID_REQUEST,
    "This invoice cannot be paid online at the moment. Please ask the merchant",
    error_code="invoice_not_payable",
)
OTHER_PAYMENT = Refusal(
    INVALID_REQUEST,
    "Another payment of this invoice is in progress. Nothing was charged; please try again later",
    error_code="invoice_being_paid",
)


def find_part_fault(invoice: Invoice, amount: int, limits: AmountLimits) -> str | None:
    """Returns why an amount cannot be paid of an invoice, or None."""
    payable = invoice.outstanding - invoice.reserved
    if not invoice.allows_parts and amount != invoice.outstanding:
        return f"{format_minor(invoice.outstanding)}: this invoice is paid in full"
    if amount > payable:
        return f"at most {format_minor(payable)}"
    if amount > limits.max_amount:
        return f"at most {format_minor(limits.max_amount)} at a time"
    if amount < min(limits.min_amount, payable):
        return f"at least {format_minor(limits.min_amount)}"
    rest = invoice.outstanding - amount
    if 0 < rest < limits.min_amount:
        smaller = invoice.outstanding - limits.min_amount
        most = f", or at most {format_minor(smaller)}" if smaller >= limits.min_amount else ""
        return f"{format_minor(invoice.outstanding)}{most}: less than {format_minor(limits.min_amount)} would be left"
    return None


def refuse_unpayable(invoice: Invoice) -> Refusal | None:
    if invoice.status == VOID:
        return INVOICE_VOID
    return None if invoice.status in PAYABLE else INVOICE_PAID


# --- opening a checkout ---------------------------------------------------------------------------------------------


def need_payment(request: OpenInvoicePayment, merchant: Merchant) -> Needs:
    return Needs(((Invoice, invoice_key(merchant.merchant_id, request.reference)),))


def decide_payment(request: OpenInvoicePayment, context: Context, rows: LoadedRows) -> Decision | Refusal:
    """Opens a checkout for an invoice or a part of it."""
    invoice = rows.get(Invoice, invoice_key(context.merchant.merchant_id, request.reference))
    if invoice is None:
        return UNKNOWN_INVOICE
    refused = refuse_unpayable(invoice)
    if refused is not None:
        return refused
    if invoice.reserved >= invoice.outstanding:
        return OTHER_PAYMENT
    fault = find_part_fault(invoice, request.amount, context.merchant.limits[invoice.currency])
    if fault is not None:
        return refuse_fields(FieldError("amount", fault))
    detail = checkout_detail(invoice, read_person(invoice, context.vault.unseal), request, context)
    if not detail.channels:
        return NOT_SERVED
    new = NewCheckout(
        amount=request.amount,
        currency=invoice.currency,
        detail=detail,
        expires_at=context.now + CHECKOUT_LIFE,
        source=SOURCE,
        source_id=invoice.invoice_id,
        customer_txnref=invoice.label,
    )
    _, decision = begin_checkout(new, context)
    return decision


def checkout_detail(
    invoice: Invoice, person: InvoicePerson | None, request: OpenInvoicePayment, context: Context
) -> CheckoutDetail:
    """Returns the terms of an invoice's checkout. A payment in full lists the items, if they are the whole total."""
    is_whole = request.amount == invoice.total == invoice.subtotal
    items = DETAIL_DECODER.decode(invoice.detail).items if is_whole else ()
    part = "" if request.amount == invoice.total else f"Part of {invoice.currency} {format_minor(invoice.total)}"
    return CheckoutDetail(
        page_token=request.page_token,
        title=f"Invoice {invoice.label}",
        description=part,
        items=tuple(CheckoutItem(item.description, item.quantity, item.amount) for item in items),
        channels=served_channels(
            DEFAULT_CHANNELS, invoice.currency, context.terms(CollectionVendors), context.merchant
        ),
        bearer=choose_bearer(context.merchant.terms(Tariff), None),
        fullname="" if person is None else person.name,
        email="" if person is None else person.email,
        phone="" if person is None else person.phone or "",
        is_payer_given=person is not None,
    )


# --- the rules of its checkouts -------------------------------------------------------------------------------------


def need_paid_invoice(merchant: Merchant, checkout: Checkout) -> Needs:
    key = invoice_key(merchant.merchant_id, checkout.source_id)
    return Needs(((Invoice, key), (Job, job_key(key))))


def load_invoice(checkout: Checkout, rows: LoadedRows) -> Invoice:
    invoice = rows.get(Invoice, invoice_key(checkout.merchant_id, checkout.source_id))
    assert invoice is not None, "an invoice is never deleted"
    return invoice


def reserve_payment(checkout: Checkout, context: Context, rows: LoadedRows) -> Effects | Refusal:
    """Reserves what an attempt would pay. Refused if the invoice cannot be paid, or not by this amount."""
    invoice = load_invoice(checkout, rows)
    refused = refuse_unpayable(invoice)
    if refused is not None:
        return refused
    if checkout.currency != invoice.currency or checkout.amount > invoice.outstanding:
        return INVOICE_CHANGED
    if checkout.amount > invoice.outstanding - invoice.reserved:
        return OTHER_PAYMENT
    if find_part_fault(invoice, checkout.amount, context.merchant.limits[invoice.currency]) is not None:
        return INVOICE_CHANGED
    return Effects(rows=(msgspec.structs.replace(invoice, reserved=invoice.reserved + checkout.amount),))


def release_payment(checkout: Checkout, context: Context, rows: LoadedRows) -> Effects:
    """Gives back what an attempt had reserved that has failed."""
    invoice = load_invoice(checkout, rows)
    return Effects(rows=(msgspec.structs.replace(invoice, reserved=invoice.reserved - checkout.amount),))


def record_payment(checkout: Checkout, paid: Transaction, context: Context, rows: LoadedRows) -> Effects:
    """Counts a successful payment. The invoice's state, its event and the job of its due date follow."""
    invoice = load_invoice(checkout, rows)
    counted = msgspec.structs.replace(
        invoice, paid=invoice.paid + checkout.amount, reserved=invoice.reserved - checkout.amount
    )
    status = choose_state(counted, context)
    settled = msgspec.structs.replace(counted, status=status, paid_at=context.now if status == PAID else None)
    changed, event = record_change(settled, context, paid.txn_ref)
    job = rows.get(Job, job_key(invoice.key))
    return Effects(
        rows=(changed,),
        jobs=event.jobs,
        jobs_done=(job,) if job is not None and status == PAID else (),
        events=(event.event,),
    )


def record_refund(checkout: Checkout, amount: int, context: Context, rows: LoadedRows) -> Effects | NeedsMore:
    """Shows a refund on the invoice. Its state stays. Contract: resources#invoice-refunds"""
    invoice = load_invoice(checkout, rows)
    refunded = msgspec.structs.replace(invoice, refunded=invoice.refunded + amount, changed_at=context.now)
    return Effects(rows=(refunded,))


INVOICE_SOURCE = CheckoutSource(
    name=SOURCE,
    needs=need_paid_invoice,
    on_attempt=reserve_payment,
    on_paid=record_payment,
    on_attempt_failed=release_payment,
    on_refund=record_refund,
)
