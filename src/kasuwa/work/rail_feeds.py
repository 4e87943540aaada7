"""Records what rails tell of disputes and settlements, with a notice for each dispute that is new or has changed."""

from kasuwa.core.calendar import utc_text
from kasuwa.core.money import format_minor
from kasuwa.core.rail_feeds import Dispute, Settlement
from kasuwa.core.references import parse_wire_reference
from kasuwa.db import rail_feeds, rail_inbox
from kasuwa.db.connection_pool import Pool
from kasuwa.db.rail_feeds import DisputedPayment


class FeedRecorder:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def record_dispute(self, rail: str, dispute: Dispute) -> None:
        """Stores a dispute. It may come by a call-back and by a list: only a change makes a notice."""
        payment = await self._find_payment(rail, dispute.payment_reference)
        if await rail_feeds.store_dispute(self._pool, rail, dispute, payment):
            reference = payment.txn_ref or dispute.payment_reference
            merchant_id = rail_inbox.NO_MERCHANT if payment.merchant_id is None else payment.merchant_id
            await rail_inbox.add_notice(self._pool, reference, describe_dispute(rail, dispute), merchant_id)

    async def record_settlement(self, rail: str, settlement: Settlement) -> None:
        await rail_feeds.store_settlement(self._pool, rail, settlement)

    async def _find_payment(self, rail: str, reference: str) -> DisputedPayment:
        """Returns the payment that a rail knows by a reference: one of ours, or one that the rail gave to a receipt."""
        key = parse_wire_reference(reference)
        if key is not None:
            merchant, _, txn_ref = key.partition(" ")
            return DisputedPayment(int(merchant), txn_ref)
        return await rail_feeds.find_receipt_payment(self._pool, rail, reference)


def describe_dispute(rail: str, dispute: Dispute) -> str:
    amount = "" if dispute.amount is None else f" of {dispute.currency} {format_minor(dispute.amount)}"
    if dispute.is_resolved:
        return f"{rail} resolved dispute {dispute.dispute_id}{amount}: {dispute.resolution or 'no resolution given'}"
    until = "" if dispute.due_at is None else f", answer it there by {utc_text(dispute.due_at)}"
    return f"a payer disputes a payment at {rail}: dispute {dispute.dispute_id}{amount}, {dispute.status}{until}"
