"""Rules of loan products: created, changed for new loans, and closed.

Contract: loans#products
"""

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, Refusal, refuse_fields
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.money import format_minor
from kasuwa.methods.loan_products.model import (
    CLOSED,
    OPEN,
    UNKNOWN_PRODUCT,
    LoanProduct,
    ProductTerms,
    make_product_id,
    make_product_record,
    need_product,
    product_key,
)
from kasuwa.methods.loan_products.rules.product_terms import change_terms, find_term_faults, make_terms
from kasuwa.methods.loan_products.wire import (
    CloseProductRequest,
    CreateProductRequest,
    ProductReply,
    UpdateProductRequest,
)
from kasuwa.methods.loans.rules.explain_schedule import explain_lines
from kasuwa.terms.loan_schedule import LoanTerms, make_schedule
from kasuwa.transactions.object_events import ObjectEvent, make_object_event
from kasuwa.transactions.transactions import encode_text
from kasuwa.wire.interest_wire import DryRunFigure

EVENT_KIND = "loan_product"

# Refusals, in order of precedence.
CODE_IN_USE = Refusal(
    INVALID_REQUEST, "Another product has this code; a code is used once", error_code="product_code_in_use"
)
ALREADY_CLOSED = Refusal(INVALID_REQUEST, "The product is closed", error_code="product_already_closed")


def need_new_product(request: CreateProductRequest, merchant: Merchant) -> Needs:
    return need_product(merchant.merchant_id, make_product_id(merchant.merchant_id, request.code))


def decide_create(
    request: CreateProductRequest, context: Context, rows: LoadedRows
) -> Decision[ProductReply] | Refusal:
    merchant_id = context.merchant.merchant_id
    product_id = make_product_id(merchant_id, request.code)
    key = product_key(merchant_id, product_id)
    if rows.get(LoanProduct, key) is not None:
        return CODE_IN_USE
    terms = make_terms(request, context.merchant)
    faults = find_term_faults(terms, request.grace)
    if faults:
        return refuse_fields(*faults)
    product = LoanProduct(
        key, merchant_id, product_id, context.number, request.code, request.name, OPEN, encode_text(terms), context.now
    )
    return record_product(product, "created", "Product Created", bool(request.dry_run), context)


def need_existing(request: UpdateProductRequest | CloseProductRequest, merchant: Merchant) -> Needs:
    return need_product(merchant.merchant_id, request.product_id)


def find_open(product_id: str, context: Context, rows: LoadedRows) -> LoanProduct | Refusal:
    product = rows.get(LoanProduct, product_key(context.merchant.merchant_id, product_id))
    if product is None:
        return UNKNOWN_PRODUCT
    return ALREADY_CLOSED if product.state == CLOSED else product


def decide_update(
    request: UpdateProductRequest, context: Context, rows: LoadedRows
) -> Decision[ProductReply] | Refusal:
    """Changes the terms that new loans have. Loans that were requested before have copies of theirs. A product that has
    these terms already is not changed, and no event says so."""
    product = find_open(request.product_id, context, rows)
    if isinstance(product, Refusal):
        return product
    terms = change_terms(product.its_terms, request)
    faults = find_term_faults(terms, request.grace)
    if faults:
        return refuse_fields(*faults)
    name = request.name or product.name
    if (name, terms) == (product.name, product.its_terms) and not request.dry_run:
        return Decision(reply=ProductReply(message="Product Changed", data=make_product_record(product)))
    changed = msgspec.structs.replace(product, name=name, terms=encode_text(terms), changed_at=context.now)
    return record_product(changed, "changed", "Product Changed", bool(request.dry_run), context)


def decide_close(request: CloseProductRequest, context: Context, rows: LoadedRows) -> Decision[ProductReply] | Refusal:
    product = find_open(request.product_id, context, rows)
    if isinstance(product, Refusal):
        return product
    closed = msgspec.structs.replace(product, state=CLOSED, closed_at=context.now)
    return record_product(closed, "closed", "Product Closed", bool(request.dry_run), context)


def record_product(
    product: LoanProduct, step: str, message: str, is_dry_run: bool, context: Context
) -> Decision[ProductReply]:
    record = make_product_record(product)
    if is_dry_run:
        if step == "created":
            record.product_id = None
        figures = explain_defaults(product.its_terms, context)
        reply = ProductReply(message=DRY_RUN_MESSAGE, data=record, dry_run=True, explained=figures or msgspec.UNSET)
        return Decision(reply=reply)
    counted, event = tell_of_product(product, step, context)
    return Decision(
        reply=ProductReply(message=message, data=record),
        rows=(counted,),
        events=(event.event,),
        jobs=event.jobs,
        numbers_used=1 if step == "created" else 0,
    )


def explain_defaults(terms: ProductTerms, context: Context) -> list[DryRunFigure]:
    """Returns the figures of a loan of the defaults that is paid out today; none if a range has no default."""
    if not (terms.amount.default and terms.period.default and terms.rate.default):
        return []
    loan = LoanTerms(
        terms.amount.default,
        terms.rate.default,
        terms.frequency,
        terms.period.default,
        terms.method,
        terms.tax_rate,
        terms.agreed.grace,
    )
    begins = lagos_day(context.now)
    lines = make_schedule(loan, begins)
    total = format_minor(sum(line.total for line in lines))
    return [
        *explain_lines(loan, lines, begins),
        DryRunFigure(what="total", amount=total, how="principal, interest and tax of all installments"),
    ]


def tell_of_product(product: LoanProduct, step: str, context: Context) -> tuple[LoanProduct, ObjectEvent]:
    """Returns a product with one more event, and the event."""
    counted = msgspec.structs.replace(product, events=product.events + 1)
    fields = {
        "txn_status": "successful",
        "charged_amount": format_minor(0),
        "payment_method": "loan",
        "currency": "NGN",
        "product_id": product.product_id,
        "code": product.code,
        "name": product.name,
        "step": step,
        "state": product.state,
    }
    return counted, make_object_event(context, EVENT_KIND, counted, product.product_id, counted.events, fields)
