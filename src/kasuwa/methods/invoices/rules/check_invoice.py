"""Checks of an invoice's fields. Every fault is reported with the field that has it. Contract: resources#invoices"""

from kasuwa.core.decision import FieldError, Merchant
from kasuwa.core.money import LARGEST_AMOUNT, format_minor
from kasuwa.methods.invoices.fields import IN_PARTS, NO_DISCOUNT
from kasuwa.methods.invoices.rules.amounts import (
    FLAT,
    MAX_QUANTITY,
    NO_VAT,
    PERCENTAGE,
    InvoiceAmounts,
    InvoiceItem,
    compute_amounts,
    find_amount_faults,
    find_discount_fault,
)
from kasuwa.methods.invoices.wire import InvoiceRequest, ItemFields

MAX_FAULTS_NAMED = 5


# --- rules of single fields, in the table of actions ------------------------------------------------------------------


def check_items(merchant: Merchant, items: list[ItemFields]) -> str | None:
    """Returns what is missing or too much in the items, each with its place in the list, or None."""
    faults = [f"{place}.{fault}" for place, item in enumerate(items) for fault in item_faults(item)]
    if not faults:
        return None
    further = len(faults) - MAX_FAULTS_NAMED
    return "; ".join(faults[:MAX_FAULTS_NAMED]) + (f"; and {further} more" if further > 0 else "")


def item_faults(item: ItemFields) -> list[str]:
    faults = []
    if item.description is None and item.name is None:
        faults.append("description: required, or name")
    if not 1 <= read_quantity(item) <= MAX_QUANTITY:
        faults.append(f"quantity: 1 to {MAX_QUANTITY}")
    if read_amount(item) is None:
        faults.append("amount: required, or unit_cost or price")
    return faults


def check_vat(merchant: Merchant, vat: str | None) -> str | None:
    return None if vat is None else find_discount_fault(PERCENTAGE, vat)


def check_discount(merchant: Merchant, discount_type: str | None, discount: str | None) -> str | None:
    return None if discount is None else find_discount_fault(discount_type or FLAT, discount)


# --- the request as a whole -------------------------------------------------------------------------------------------


def read_quantity(item: ItemFields) -> int:
    quantity = item.qty if item.quantity is None else item.quantity
    return 1 if quantity is None else int(quantity)


def read_amount(item: ItemFields) -> int | None:
    amount = next((each for each in (item.amount, item.unit_cost, item.price) if each is not None), None)
    return None if amount is None else int(amount)


def make_items(request: InvoiceRequest) -> tuple[InvoiceItem, ...]:
    return tuple(
        InvoiceItem(item.description or item.name or "", read_quantity(item), read_amount(item) or 0)
        for item in request.items
    )


def compute_request_amounts(request: InvoiceRequest) -> InvoiceAmounts:
    return compute_amounts(
        make_items(request),
        request.discount_type or FLAT,
        request.discount or NO_DISCOUNT,
        request.vat or NO_VAT,
        int(request.shipping or 0),
    )


def find_faults(request: InvoiceRequest, merchant: Merchant) -> list[FieldError]:
    """Returns the faults of a request's amounts: the discount, and the total that must be payable."""
    amounts = compute_request_amounts(request)
    faults = [FieldError(field, reason) for field, reason in find_amount_faults(amounts)]
    if faults:
        return faults
    limits = merchant.limits[request.currency or "NGN"]
    if amounts.total < limits.min_amount:
        return [
            FieldError(
                "items", f"the total is {format_minor(amounts.total)}; at least {format_minor(limits.min_amount)}"
            )
        ]
    most = LARGEST_AMOUNT if request.charge_user == IN_PARTS else limits.max_amount
    if amounts.total > most:
        hint = "" if request.charge_user == IN_PARTS else ", or let the customer pay in parts (charge_user)"
        return [FieldError("items", f"the total is {format_minor(amounts.total)}; at most {format_minor(most)}{hint}")]
    return []
