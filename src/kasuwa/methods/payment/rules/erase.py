"""Erases a payer's personal data from payments, plans and saved cards, and ends the plans. Contract: payment#payer"""

from typing import ClassVar

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.methods.payment.model import DETAIL_DECODER, CardSummary, Payment, SavedCard
from kasuwa.methods.payment.payer_model import remove_payer
from kasuwa.methods.payment.plan_model import ACTIVE, CANCELLED, PAUSED, STOPPED, TERMS_DECODER, Plan
from kasuwa.methods.payment.rules.forget_card import make_deactivation
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.transactions.payers import erase_mark
from kasuwa.transactions.transactions import Transaction, encode_text

# What is erased elsewhere as well, by the name of the row: a card that a vendor keeps.
FOLLOWING_JOBS = {"saved_card": make_deactivation}
# Rows whose job ends with their data, by the name of the row: a plan charges nothing more.
ENDING_JOBS = frozenset({"plan"})
ERASED_CARD = encode_text(CardSummary("", "", "", None, None, None, None))


class ErasablePayment(Payment):
    """A payment whose only writable columns are those with its payer's data."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail", "payer_sealed")


def erase_payer(payment: ErasablePayment) -> ErasablePayment | Refusal:
    """Returns the payment without its payer's data.

    Refuses a payment that is still open, as its card would be saved when it succeeds, and one with a refund in
    progress: its money is on the way to the payer.
    """
    if payment.is_open or payment.refunding:
        return TRANSACTION_IN_PROGRESS
    detail = msgspec.structs.replace(remove_payer(DETAIL_DECODER.decode(payment.detail)), network="")
    return msgspec.structs.replace(payment, detail=encode_text(detail), payer_sealed=None)


class ErasablePlan(Plan):
    """A plan whose only writable columns are its state and those of its payer."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail", "payer_sealed", "state")


def erase_plan_payer(plan: ErasablePlan) -> ErasablePlan | Refusal:
    """Returns the plan without its payer's data. A plan that charges, or could be started again, is cancelled.

    Its card may have been saved by a payment under another address, and is then not erased with it. The job of the
    plan must be deleted in the same commit (ENDING_JOBS). Refuses a plan with a charge in progress.
    """
    if plan.charging:
        return TRANSACTION_IN_PROGRESS
    terms = TERMS_DECODER.decode(plan.detail)
    detail = msgspec.structs.replace(terms, detail=remove_payer(terms.detail))
    state = CANCELLED if plan.state in (ACTIVE, PAUSED, STOPPED) else plan.state
    return msgspec.structs.replace(plan, detail=encode_text(detail), payer_sealed=None, state=state)


class ErasablePaymentTransaction(Transaction):
    """The transaction of a payment, whose only writable column is `detail`."""

    mutable_columns: ClassVar[tuple[str, ...]] = ("detail",)


def erase_customer(row: ErasablePaymentTransaction) -> ErasablePaymentTransaction | Refusal:
    """Returns the transaction of a payment without the hash that links it to its customer."""
    if not row.is_final:
        return TRANSACTION_IN_PROGRESS
    return msgspec.structs.replace(row, detail=erase_mark(row.detail))


def erase_saved_card(card: SavedCard) -> SavedCard:
    """Returns the saved card without its number and summary. Its token stays taken."""
    return msgspec.structs.replace(card, sealed=b"", detail=ERASED_CARD)
