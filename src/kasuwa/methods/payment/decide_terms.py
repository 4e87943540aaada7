"""What the second step of a card payment adds to the first: schedule, split, bearer, references, meta. (D15, D27)

Clients send the same body twice. What only the charge brings counts as if initiate had brought it; what both bring must
be the same. The price follows where the bearer does.
"""

from typing import ClassVar, TypeVar

import msgspec

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Context, Fault, Row, Seen
from kasuwa.core.documents import same_document
from kasuwa.core.pricing import Price, bearer_of
from kasuwa.core.transactions import Transaction, encode_text
from kasuwa.methods.payment import decide_ask as ask_rules
from kasuwa.methods.payment.decide import DETAIL, INITIATED, Detail, InstalmentWish, Payment
from kasuwa.methods.payment.wire import ChargeCard

AS_INITIATED = "as it was initiated"

R = TypeVar("R", bound=Row)


class AmendedTransaction(Transaction):
    """A transaction whose charge brought its price or reference."""

    changing: ClassVar[tuple[str, ...]] = (*Transaction.changing, "order_ref", "fee", "vat")


class AmendedPayment(Payment):
    """A payment whose charge brought more of what it is asked with."""

    changing: ClassVar[tuple[str, ...]] = (*Payment.changing, "detail", "charged", "settled")


def amended(kind: type[R], row: Row, **changes: object) -> R:
    return msgspec.structs.replace(kind(*msgspec.structs.astuple(row)), **changes)


def add_terms(
    request: ChargeCard, row: Transaction, payment: Payment, context: Context, seen: Seen
) -> tuple[Transaction, Payment] | list[Fault]:
    """The payment with what its charge brings, or what is wrong with that. Once it is charged, nothing is added."""
    detail = DETAIL.decode(payment.detail)
    planned = plan_brought(request, row, context)
    if isinstance(planned, list):
        return planned
    faults = ask_rules.recurrent_faults(request) + differences(request, row, detail, planned, context)
    wanted = with_terms(request, detail, planned, context)
    faults += ask_rules.both_plans_faults(wanted.recurrent is not None, wanted.instalments is not None)
    if faults or row.is_final or payment.stage != INITIATED:
        return faults or (row, payment)
    order_ref = row.order_ref or request.customer_txnref or ""
    if wanted == detail and order_ref == row.order_ref:
        return row, payment
    return apply_terms(wanted, order_ref, row, payment, context, seen)


def plan_brought(request: ChargeCard, row: Transaction, context: Context) -> InstalmentWish | list[Fault] | None:
    """The installment plan of the charge, as of the day of initiate: what is due on that day is what is charged."""
    if request.installment is None:
        return None
    planned = ask_rules.plan_of(request.installment, row.amount or None, lagos_day(row.created_at))
    if isinstance(planned, list):
        return planned
    due, wish = planned
    if due != row.amount:
        return [Fault("installment", AS_INITIATED)]
    return ask_rules.later_faults(wish, context.merchant, row.currency) or wish


def differences(
    request: ChargeCard, row: Transaction, detail: Detail, planned: InstalmentWish | None, context: Context
) -> list[Fault]:
    """What both steps bring and say differently."""
    parts = ask_rules.parts_of(request)
    bearer = bearer_of(context.merchant.tariff, request.bearer)
    wish = ask_rules.wish_of(request)
    found = {
        "customer_txnref": bool(row.order_ref and request.customer_txnref) and request.customer_txnref != row.order_ref,
        "meta": bool(detail.meta and request.meta) and not same_document(request.meta or "", detail.meta),
        "split": bool(detail.split and parts) and parts != detail.split,
        "bearer": detail.bearer_said and request.bearer is not None and bearer != detail.bearer,
        "recurrent": detail.recurrent is not None and wish is not None and wish != detail.recurrent,
        "is_recurring": detail.recurrent is not None and request.is_recurring is False,
        "installment": detail.instalments is not None and planned is not None and planned != detail.instalments,
    }
    return [Fault(name, AS_INITIATED) for name, differs in found.items() if differs]


def with_terms(request: ChargeCard, detail: Detail, planned: InstalmentWish | None, context: Context) -> Detail:
    brought = ask_rules.detail_of(request, context)
    bearer = brought if request.bearer is not None and not detail.bearer_said else detail
    return msgspec.structs.replace(
        detail,
        fullname=detail.fullname or brought.fullname,
        email=detail.email or brought.email,
        ip=detail.ip or brought.ip,
        fingerprint=detail.fingerprint or brought.fingerprint,
        meta=detail.meta or brought.meta,
        redirect_url=detail.redirect_url or brought.redirect_url,
        split=detail.split or brought.split,
        bearer=bearer.bearer,
        bearer_said=bearer.bearer_said,
        recurrent=detail.recurrent or ask_rules.wish_of(request),
        instalments=detail.instalments or planned,
    )


def apply_terms(
    detail: Detail, order_ref: str, row: Transaction, payment: Payment, context: Context, seen: Seen
) -> tuple[Transaction, Payment] | list[Fault]:
    assert detail.card is not None, "a card payment has its card"
    before = DETAIL.decode(payment.detail)
    price = Price(row.amount, row.fee, row.vat, payment.charged, payment.settled)
    bearer = bearer_of(context.merchant.tariff, "customer" if detail.bearer == "customer" else "merchant")
    if detail.bearer != before.bearer:
        fee_class = ask_rules.class_of_card(detail.card)
        price = ask_rules.price_of(bearer, context.merchant, fee_class, row.currency, row.amount)
    faults = ask_rules.card_split_faults(
        detail.split,
        bearer,
        detail.card,
        row.currency,
        price,
        detail.instalments,
        context,
        None if detail.split == before.split else seen,
    )
    if faults:
        return faults
    return (
        amended(AmendedTransaction, row, order_ref=order_ref, fee=price.fee, vat=price.vat),
        amended(AmendedPayment, payment, detail=encode_text(detail), charged=price.charged, settled=price.settled),
    )
