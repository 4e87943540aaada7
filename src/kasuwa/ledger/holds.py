"""What an open transaction holds, as its row says (docs/decisions/0090). Pure."""

from kasuwa.core.decision import HeldAmount
from kasuwa.ledger.chart import wallet
from kasuwa.transactions.transactions import Transaction


def find_hold(row: Transaction) -> HeldAmount | None:
    """Returns the amount that a transaction reserves, or None if it reserves nothing."""
    return HeldAmount(row.held_on, row.held) if row.held else None


def find_fee_hold(row: Transaction) -> HeldAmount | None:
    """Returns what a transaction reserves on the wallet for its fees if its amount is reserved on another account. None
    if there are no fees, or the hold of its amount has them."""
    fees = row.fee + row.vat + row.duty
    is_apart = row.held and row.held_on != wallet(row.currency)
    return HeldAmount(wallet(row.currency), fees) if is_apart and fees else None
