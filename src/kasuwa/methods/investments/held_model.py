"""Deposits that arrived above the limits of their client's tier.

    held ──> released    the client reached a tier that allows it, or holds less by then: the savings get it
      └────> returned    nobody raised the tier in time: the payer gets it back

While one is held, it counts as a pending deposit of the savings and as a pending payment of the client, so that
neither the savings are closed nor the client leaves or is erased.

Postings, all in NGN:

    held        rail → savings (that of the payment), savings → suspense:inbound
    released    suspense:inbound → savings
    returned    suspense:inbound → unapplied       a refund of the payment sends it back
    both        suspense:inbound → wallet          as much of it as disputes, or the rail, took from the wallet

It stays held while a dispute of its payment is open: nobody knows yet whether the payer gets the money by it.

Contract: clients#held
"""

from datetime import datetime
from typing import ClassVar

from kasuwa.core.decision import Row

HELD, RELEASED, RETURNED = "held", "released", "returned"
END_HELD = "savings.end_held"


class HeldDeposit(Row):
    """A deposit that was paid and is above a limit."""

    table: ClassVar[str] = "held_deposit"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "txn_ref",
        "savings_id",
        "client_id",
        "amount",
        "state",
        "due_at",
        "lost",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = ("state", "ended_at", "lost", "row_code")

    txn_ref: str  # of the payment that brought it
    savings_id: str
    client_id: str
    amount: int
    reason: str  # the limit, in words
    state: str
    held_at: datetime
    due_at: datetime  # when it goes back
    ended_at: datetime | None = None
    lost: int = 0  # what disputes that were not won, and the rail, took of the payment from the wallet
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return self.state == HELD

    @property
    def covered(self) -> int:
        """The part that the wallet gets, because it has paid the payer that much."""
        return min(self.amount, self.lost)

    @property
    def rest(self) -> int:
        """The part that is saved or goes back."""
        return self.amount - self.covered
