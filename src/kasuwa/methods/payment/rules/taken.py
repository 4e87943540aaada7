"""What a payment was made for, when a dispute or its rail takes money of it back, or gives it back.

Contract: loans#reverse
"""

import msgspec

from kasuwa.core.decision import Context, Effects, LoadedRows, NeedsMore
from kasuwa.methods.payment.model import DETAIL_DECODER, FACTS_DECODER, Payment
from kasuwa.transactions.purpose import TakenMoney, get_purpose_rules, missing_needs
from kasuwa.transactions.transactions import encode_text


class PaymentTaken(msgspec.Struct, frozen=True):
    """A payment after money of it was taken, and what its purpose adds to the decision."""

    payment: Payment
    effects: Effects


def take_from_purpose(
    payment: Payment, amount: int, reason: str, context: Context, rows: LoadedRows
) -> PaymentTaken | NeedsMore:
    """Tells the purpose of a payment that an amount was taken, or given back if it is below zero."""
    purpose = DETAIL_DECODER.decode(payment.detail).purpose
    rules = None if purpose is None else get_purpose_rules(purpose, context)
    if purpose is None or rules is None or rules.on_taken is None:
        return PaymentTaken(payment, Effects())
    missing = missing_needs(rules, purpose, context, rows)
    if missing is not None:
        return missing
    added = rules.on_taken(TakenMoney(payment.txn_ref, purpose.reference, amount, reason), context, rows)
    if isinstance(added, NeedsMore):
        return added
    if added.surplus is not None:
        facts = msgspec.structs.replace(FACTS_DECODER.decode(payment.facts), surplus=added.surplus)
        payment = msgspec.structs.replace(payment, facts=encode_text(facts))
    return PaymentTaken(payment, added)
