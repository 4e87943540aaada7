"""A payment as its page shows it: who paid and how, what was refunded or disputed, its settlement, and what is next."""

from datetime import UTC, date, datetime
from typing import Any

import msgspec

from kasuwa.console.kit.people import Counterparty, read_payer, refund_badge
from kasuwa.console.kit.values import format_minor_units
from kasuwa.console.kit.visit import Visit
from kasuwa.console.merchant.store import read_clock
from kasuwa.core.calendar import lagos_day
from kasuwa.core.reading import Reader
from kasuwa.engine.journal import PostingRow
from kasuwa.methods.payment.model import FACTS_DECODER, RAIL_ROUTES, CardSummary, Payment
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.methods.payment.rules.refund import is_merchant_payment, refundable
from kasuwa.methods.payment.store import read_payment
from kasuwa.transactions.settlements import settlement_id
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction

SETTLING = "settling:"
# Fields of the API's verification that tell what the payer has to do.
STEP_FIELDS = (
    "authURL",
    "ussd_code",
    "validate",
    "accountNumber",
    "accountName",
    "bankName",
    "amount",
    "expires_at",
)


class Settlement(msgspec.Struct, frozen=True):
    """The settlement that a payment belongs to."""

    settlement_id: str
    day: date
    is_due: bool  # the money has not reached the wallet yet


class PaymentView(msgspec.Struct, frozen=True, kw_only=True):
    """A payment beside its transaction. Amounts are in minor units."""

    payer: Counterparty
    method: str
    card: CardSummary | None
    charged: int  # what the payer pays
    net: int  # what the merchant gets
    refunded: int
    refunding: int  # by refunds in progress
    remaining: int  # that can still be refunded
    can_be_refunded: bool
    badge: str
    refunds: list[dict[str, Any]]
    disputes: list[dict[str, Any]]
    settlement: Settlement | None
    payer_step: dict[str, Any]  # what the payer has to do, while the payment is pending
    next_steps: list[str]  # sentences


async def read_payment_view(
    visit: Visit, reader: Reader, row: Transaction, postings: list[PostingRow]
) -> PaymentView | None:
    """Returns the payment of a transaction, or None if it is of another kind. Reads in the page's snapshot."""
    row_and_payment = await read_payment(row.txn_ref, visit.merchant, reader) if row.kind == "payment" else None
    if row_and_payment is None:
        return None
    payment = row_and_payment[1]
    clock = await read_clock(reader, visit.merchant, datetime.now(UTC))
    verified = (await visit.call_action("payment", action="verify", txnRef=row.txn_ref)).body
    disputes = (await visit.call_action("payment", action="disputes", txnRef=row.txn_ref)).body.get("data", [])
    detail, facts = read_detail(payment, visit.services.vault.unseal), FACTS_DECODER.decode(payment.facts)
    remaining = refundable(payment) if row.status == SUCCESSFUL else 0
    can_be_refunded = (
        remaining > 0
        and RAIL_ROUTES[payment.method].can_refund
        and (is_merchant_payment(payment.detail) or facts.surplus > 0)
    )
    badge = refund_badge(payment.charged, payment.refunded, payment.disputed)
    return PaymentView(
        payer=read_payer(detail, payment.facts, badge),
        method=payment.method,
        card=detail.card or facts.card,
        charged=payment.charged,
        net=payment.settled,
        refunded=payment.refunded,
        refunding=payment.refunding,
        remaining=remaining,
        can_be_refunded=can_be_refunded,
        badge=badge,
        refunds=verified.get("refunds", []),
        disputes=disputes,
        settlement=find_settlement(row, postings, lagos_day(clock.now)),
        payer_step={name: verified[name] for name in STEP_FIELDS if name in verified} if row.is_open else {},
        next_steps=list_next_steps(row, payment, can_be_refunded, remaining, disputes),
    )


def find_settlement(row: Transaction, postings: list[PostingRow], today: date) -> Settlement | None:
    """Returns the settlement of a successful payment: of its day, or of the later day that its money waits for."""
    if row.status != SUCCESSFUL or row.final_at is None:
        return None
    waits = next((posting.credit for posting in postings if posting.credit.startswith(SETTLING)), "")
    if waits:
        due = date.fromisoformat(waits.split(":")[1])
        return Settlement(settlement_id(due, row.currency), due, is_due=due > today)
    day = lagos_day(row.final_at)
    return Settlement(settlement_id(day, row.currency), day, is_due=False)


STAGE_TEXTS = {
    "opening": "The card is being registered at the rail.",
    "initiated": "Charge the card next, with the authentication that its bank wants.",
    "charging": "The rail has been asked to charge the payer.",
    "awaiting_otp": "The payer has to enter the one-time code from the bank.",
    "awaiting_3ds": "The payer has to approve the payment on the bank's page.",
    "validating": "The bank is checking the payer's code.",
    "awaiting_payer": "The payer has to pay.",
    "asking": "The rail has not answered. It is asked again until the outcome is known.",
}


def list_next_steps(
    row: Transaction, payment: Payment, can_be_refunded: bool, remaining: int, disputes: list[dict[str, Any]]
) -> list[str]:
    """Returns what can be done with a payment, or what it waits for."""
    if row.status == FAILED:
        return ["Nobody was charged. A failed payment stays failed: to try again, start a new one."]
    if row.is_open:
        text = STAGE_TEXTS.get(payment.stage, "")
        return [text] if text else []
    steps = []
    if any(dispute["state"] == "needs_response" for dispute in disputes):
        steps.append("Answer the dispute before its deadline.")
    if can_be_refunded:
        steps.append(f"You can refund up to {row.currency} {format_minor_units(remaining)}.")
    elif payment.refunded >= payment.charged:
        steps.append("It was refunded in full.")
    elif not RAIL_ROUTES[payment.method].can_refund:
        steps.append("Payments by this method cannot be refunded. Send the payer a transfer.")
    elif remaining:
        steps.append("It was used for a loan or savings account and cannot be refunded.")
    return steps
