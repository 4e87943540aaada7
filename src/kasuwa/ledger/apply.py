"""Applies a group of postings and holds to accounts, as a whole or not at all.

Pure: takes accounts and holds and returns the changed ones with journal lines, or the account that refuses the group.
The invariants of audit/invariants/ledger.py hold after any sequence of calls (tests/ledger).
"""

from collections.abc import Mapping

import msgspec

from kasuwa.core.decision import HeldAmount, NewHold, Posting, PostingGroup, Row
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.ledger.chart import PENDING, POSTED, VOIDED, Account, Hold


class JournalLine(msgspec.Struct):
    """One posting as stored in table `posting`."""

    reference: str
    debit: str  # account name
    credit: str  # account name
    amount: int
    debit_after: int  # balance of the debited account after the posting
    credit_after: int
    kind: str


class LedgerChanges(msgspec.Struct):
    """The accounts and holds that a group changed, and its journal lines."""

    accounts: dict[str, Account]
    holds: dict[bytes, Hold]
    journal_lines: list[JournalLine]  # in the order of application


class Shortfall(msgspec.Struct, frozen=True):
    """The account whose floor refuses the group."""

    account: str


class TooLarge(msgspec.Struct, frozen=True):
    """The account whose balance or posting would exceed LARGEST_BALANCE."""

    account: str


class LedgerError(Exception):
    """Raised for a group that no rule should make. A bug in a slice, never the merchant's fault."""


def apply_group(
    accounts: Mapping[str, Account], holds: Mapping[bytes, Row | None], group: PostingGroup, merchant_id: int
) -> LedgerChanges | Shortfall | TooLarge:
    """Applies a posting group. Returns the changes, or the account that refuses the group.

    Modifies none of its arguments. Raises LedgerError for an invalid group.
    """
    changes = LedgerChanges({}, {}, [])
    closed = None if group.closes_hold is None else find_pending_hold(holds, group.closes_hold, group)
    for released in (closed, group.releases):
        if released is not None:
            release(accounts, released, group, changes)
    for posting in group.postings:
        apply_posting(accounts, posting, group.reference, changes)
    if closed is not None:
        capture_hold(closed, group, changes)
    if group.releases is not None:
        sum_taken(group.releases, group)  # raises if it is more than was held
    for new_hold in group.new_holds:
        if holds.get(new_hold.hold_key) is not None or new_hold.hold_key in changes.holds:
            raise LedgerError(f"{group.reference}: a hold that is not new")
        reserve(accounts, new_hold, group, changes)
        changes.holds[new_hold.hold_key] = Hold(
            new_hold.hold_key, merchant_id, new_hold.account, new_hold.amount, group.reference, PENDING, 0
        )
    if group.holds is not None:
        reserve(accounts, group.holds, group, changes)
    return find_shortfall(accounts, changes) or find_too_large(changes) or changes


def copy_account(accounts: Mapping[str, Account], name: str, changes: LedgerChanges) -> Account:
    """Returns the group's own copy of an account. The given accounts are never modified."""
    account = changes.accounts.get(name)
    if account is None:
        account = changes.accounts[name] = msgspec.structs.replace(accounts[name])
    return account


def apply_posting(accounts: Mapping[str, Account], posting: Posting, reference: str, changes: LedgerChanges) -> None:
    """Applies one posting to the copies. Raises LedgerError if it is invalid."""
    debit = copy_account(accounts, posting.debit, changes)
    credit = copy_account(accounts, posting.credit, changes)
    if posting.amount <= 0 or debit is credit or debit.currency != credit.currency:
        raise LedgerError(f"{reference}: {posting.amount} from {posting.debit} to {posting.credit} is no posting")
    debit.posted -= posting.amount
    credit.posted += posting.amount
    changes.journal_lines.append(
        JournalLine(reference, posting.debit, posting.credit, posting.amount, debit.posted, credit.posted, posting.kind)
    )


def reserve(
    accounts: Mapping[str, Account], held: NewHold | HeldAmount, group: PostingGroup, changes: LedgerChanges
) -> None:
    """Reserves an amount on its account. Raises LedgerError if it is not above zero."""
    if held.amount <= 0:
        raise LedgerError(f"{group.reference}: a hold of {held.amount}, which is not above zero")
    copy_account(accounts, held.account, changes).held += held.amount


def release(
    accounts: Mapping[str, Account], held: Hold | HeldAmount, group: PostingGroup, changes: LedgerChanges
) -> None:
    """Releases what is reserved on an account. Raises LedgerError if the account has not reserved so much."""
    account = copy_account(accounts, held.account, changes)
    account.held -= held.amount
    if account.held < 0:
        raise LedgerError(f"{group.reference}: releases {held.amount} that are not held")


def find_pending_hold(holds: Mapping[bytes, Row | None], key: bytes, group: PostingGroup) -> Hold:
    """Returns the hold that the group closes. Raises LedgerError if it is not pending."""
    hold = holds.get(key)
    if not isinstance(hold, Hold) or hold.state != PENDING:
        raise LedgerError(f"{group.reference}: ends a hold that is not pending")
    return hold


def sum_taken(held: Hold | HeldAmount, group: PostingGroup) -> int:
    """Returns how much of what was released the group captures. Raises LedgerError if it is more than was held."""
    taken = sum([posting.amount for posting in group.postings if posting.debit == held.account])
    if taken > held.amount:
        raise LedgerError(f"{group.reference}: takes {taken} under a hold of {held.amount}")
    return taken


def capture_hold(hold: Hold, group: PostingGroup, changes: LedgerChanges) -> None:
    """Records how much of a released hold was captured. Raises LedgerError if it is more than was held."""
    taken, state = sum_taken(hold, group), POSTED if group.postings else VOIDED
    changes.holds[hold.key] = Hold(hold.key, hold.merchant_id, hold.account, hold.amount, hold.reference, state, taken)


def find_shortfall(accounts: Mapping[str, Account], changes: LedgerChanges) -> Shortfall | None:
    """Returns the first account below its floor whose available balance the group reduced, or None."""
    for name, account in changes.accounts.items():
        floor = account.floor
        if floor is None or account.available >= floor:
            continue
        if account.available < accounts[name].available:
            return Shortfall(name)
    return None


def find_too_large(changes: LedgerChanges) -> TooLarge | None:
    """Returns the first account with a posting, balance or hold above LARGEST_BALANCE, or None."""
    for line in changes.journal_lines:
        if line.amount > LARGEST_BALANCE or not -LARGEST_BALANCE <= line.debit_after <= LARGEST_BALANCE:
            return TooLarge(line.debit)
        if not -LARGEST_BALANCE <= line.credit_after <= LARGEST_BALANCE:
            return TooLarge(line.credit)
    for name, account in changes.accounts.items():
        if account.held > LARGEST_BALANCE:
            return TooLarge(name)
    return None
