"""Records what rails report about disputes and settlements, with a notice for each dispute that is new or has changed.

A dispute of a payment that is known opens one in its merchant's books, and ends it (methods/disputes)."""

from collections.abc import Callable
from functools import partial

import msgspec

from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Context, LoadedRows, Merchant, Needs, Outcome
from kasuwa.core.money import format_minor
from kasuwa.core.references import parse_wire_reference, read_rail_key
from kasuwa.engine.decision_inputs import DecisionInput
from kasuwa.engine.rule_submission import submit_rule
from kasuwa.engine.writer import Writer
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.postgres.connection_pool import Pool
from kasuwa.rails.inbox import inbox_table, rail_feeds
from kasuwa.rails.inbox.rail_feeds import DisputedPayment
from kasuwa.rails.ports.feed_entries import AnnouncedDispute, Dispute, Settlement


class DisputeRules(msgspec.Struct, frozen=True):
    """The rule that opens and ends the dispute of a payment."""

    needs: Callable[[AnnouncedDispute, Merchant], Needs]
    decide: Callable[[AnnouncedDispute, Context, LoadedRows], Outcome]


class DisputeBooks(msgspec.Struct, frozen=True):
    """The services that write disputes into merchants' books."""

    writer: Writer
    directory: MerchantDirectory
    rules: DisputeRules


class FeedRecorder:
    def __init__(self, pool: Pool, books: DisputeBooks) -> None:
        self._pool = pool
        self._books = books

    async def record_dispute(self, rail: str, dispute: Dispute) -> None:
        """Stores a dispute. It may come by a call-back and by a list: only a change makes a notice."""
        payment = await self._find_payment(rail, dispute.payment_reference)
        if payment.merchant_id is not None and payment.txn_ref:
            await self._book_dispute(rail, dispute, payment.merchant_id, payment.txn_ref)
        if await rail_feeds.store_dispute(self._pool, rail, dispute, payment):
            reference = payment.txn_ref or dispute.payment_reference
            merchant_id = inbox_table.NO_MERCHANT if payment.merchant_id is None else payment.merchant_id
            await inbox_table.add_notice(self._pool, reference, describe_dispute(rail, dispute), merchant_id)

    async def _book_dispute(self, rail: str, dispute: Dispute, merchant_id: int, txn_ref: str) -> None:
        """Opens or ends the merchant's dispute, or corrects its end. Done before the dispute is stored: after a crash
        it is done again, and changes nothing. One that was stored with this resolution is not looked at again."""
        known = await rail_feeds.find_resolution(self._pool, rail, dispute.dispute_id)
        if dispute.is_resolved and (known == (dispute.status, dispute.resolution) or dispute.outcome is None):
            return
        announced = AnnouncedDispute(
            rail=rail,
            rail_dispute_id=dispute.dispute_id,
            txn_ref=txn_ref,
            amount=dispute.amount,
            reason=dispute.reason,
            due_at=dispute.due_at,
            outcome=dispute.outcome,
            is_under_review=dispute.is_under_review,
        )
        merchant, rules = await self._books.directory.get_by_id(merchant_id), self._books.rules
        # A dispute that its rail first reports as lost, or as under review, is opened first.
        for _ in range(2 if dispute.outcome is not None or dispute.is_under_review else 1):
            needs = rules.needs(announced, merchant)
            sent = DecisionInput("dispute", rail, announced, txn_ref)
            await submit_rule(self._books.writer, merchant, needs, partial(rules.decide, announced), sent)

    async def record_settlement(self, rail: str, settlement: Settlement) -> None:
        await rail_feeds.store_settlement(self._pool, rail, settlement)

    async def _find_payment(self, rail: str, reference: str) -> DisputedPayment:
        """Returns the payment that a rail knows by a reference: one of ours, or one that the rail gave to a receipt."""
        key = parse_wire_reference(reference)
        if key is not None:
            return DisputedPayment(*read_rail_key(key))
        return await rail_feeds.find_receipt_payment(self._pool, rail, reference)


def describe_dispute(rail: str, dispute: Dispute) -> str:
    amount = "" if dispute.amount is None else f" of {dispute.currency} {format_minor(dispute.amount)}"
    if dispute.is_resolved:
        return f"{rail} resolved dispute {dispute.dispute_id}{amount}: {dispute.resolution or 'no resolution given'}"
    until = "" if dispute.due_at is None else f", answer it there by {utc_text(dispute.due_at)}"
    return f"a payer disputes a payment at {rail}: dispute {dispute.dispute_id}{amount}, {dispute.status}{until}"
