"""Applies a group of postings and holds to accounts, as a whole or not at all.

Pure: takes accounts and returns the changed ones with journal lines, or the account that refuses the group.
The invariants of audit/invariants/ledger.py hold after any sequence of calls (tests/ledger).
"""

from collections.abc import Mapping

import msgspec

from kasuwa.core.decision import HeldAmount, Posting, PostingGroup
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.ledger.chart import Account
from kasuwa.ledger.posting_kinds import POSTING_KINDS


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
    """The accounts that a group changed, and its journal lines."""

    accounts: dict[str, Account]
    journal_lines: list[JournalLine]  # in the order of application


class Shortfall(msgspec.Struct, frozen=True):
    """The account whose floor refuses the group."""

    account: str


class TooLarge(msgspec.Struct, frozen=True):
    """The account whose balance or posting would exceed LARGEST_BALANCE."""

    account: str


class LedgerError(Exception):
    """Raised for a group that no rule should make. A bug in a slice, never the merchant's fault."""


def apply_group(accounts: Mapping[str, Account], group: PostingGroup) -> LedgerChanges | Shortfall | TooLarge:
    """Applies a posting group. Returns the changes, or the account that refuses the group.

    Modifies none of its arguments. Raises LedgerError for an invalid group.
    """
    changes = LedgerChanges({}, [])
    if group.releases is not None:
        release(accounts, group.releases, group, changes)
    for posting in group.postings:
        apply_posting(accounts, posting, group.reference, changes)
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
    if posting.kind not in POSTING_KINDS:
        raise LedgerError(f"{reference}: {posting.kind!r} is no kind of posting")
    debit.posted -= posting.amount
    credit.posted += posting.amount
    changes.journal_lines.append(
        JournalLine(reference, posting.debit, posting.credit, posting.amount, debit.posted, credit.posted, posting.kind)
    )


def reserve(accounts: Mapping[str, Account], held: HeldAmount, group: PostingGroup, changes: LedgerChanges) -> None:
    """Reserves an amount on its account. Raises LedgerError if it is not above zero."""
    if held.amount <= 0:
        raise LedgerError(f"{group.reference}: a hold of {held.amount}, which is not above zero")
    copy_account(accounts, held.account, changes).held += held.amount


def release(accounts: Mapping[str, Account], held: HeldAmount, group: PostingGroup, changes: LedgerChanges) -> None:
    """Releases what is reserved on an account. Raises LedgerError if that is not above zero or more than the account
    has reserved, or if the group captures more than it."""
    account = copy_account(accounts, held.account, changes)
    account.held -= held.amount
    if held.amount <= 0 or account.held < 0:
        raise LedgerError(f"{group.reference}: releases {held.amount} that are not held")
    captured = sum([posting.amount for posting in group.postings if posting.debit == held.account])
    if captured > held.amount:
        raise LedgerError(f"{group.reference}: takes {captured} under a hold of {held.amount}")


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
