"""The books' one verb: apply a group of movements to accounts, whole or not at all.

Pure: accounts and holds in, changed accounts, holds and entries out, or the account that does not cover it.
Nothing here knows the database; the laws of `audit.py` hold for any sequence of calls (tests/ledger).
"""

from collections.abc import Mapping

import msgspec

from kasuwa.core.decision import Posting, PostingGroup, Row
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.ledger.chart import PENDING, POSTED, VOIDED, Account, Hold


class JournalLine(msgspec.Struct):
    """One posting as it will be kept: what moved, and both balances after it."""

    reference: str
    debit: str
    credit: str
    amount: int
    debit_after: int
    credit_after: int
    kind: str


class LedgerChanges(msgspec.Struct):
    accounts: dict[str, Account]
    holds: dict[bytes, Hold]
    journal_lines: list[JournalLine]


class Shortfall(msgspec.Struct, frozen=True):
    """The account whose floor refuses the group."""

    account: str


class TooLarge(msgspec.Struct, frozen=True):
    """The account whose balance, or whose movement, would be larger than the books can keep."""

    account: str


class LedgerError(Exception):
    """A group that no rule should ever make: a bug in a slice, never a merchant's fault."""


def apply_group(
    accounts: Mapping[str, Account], holds: Mapping[bytes, Row | None], group: PostingGroup, merchant_id: int
) -> LedgerChanges | Shortfall | TooLarge:
    done = LedgerChanges({}, {}, [])
    allowed = release_hold(accounts, holds, group, done) if group.closes_hold is not None else None
    for post in group.postings:
        apply_posting(accounts, post, group.reference, done)
    if allowed is not None:
        capture_hold(allowed, group, done)
    for reserve in group.new_holds:
        if reserve.amount <= 0 or holds.get(reserve.hold_key) is not None or reserve.hold_key in done.holds:
            raise LedgerError(f"{group.reference}: a hold of {reserve.amount} that is not new or not above zero")
        copy_account(accounts, reserve.account, done).held += reserve.amount
        done.holds[reserve.hold_key] = Hold(
            reserve.hold_key, merchant_id, reserve.account, reserve.amount, group.reference, PENDING, 0
        )
    return find_shortfall(accounts, done) or first_too_large(done) or done


def copy_account(accounts: Mapping[str, Account], name: str, done: LedgerChanges) -> Account:
    """The group's own copy of an account: the given one is never touched, so a refusal leaves no trace."""
    account = done.accounts.get(name)
    if account is None:
        found = accounts[name]
        account = Account(found.key, found.merchant_id, name, found.currency, found.posted, found.held, found.floor)
        done.accounts[name] = account
    return account


def apply_posting(accounts: Mapping[str, Account], post: Posting, reference: str, done: LedgerChanges) -> None:
    debit = copy_account(accounts, post.debit, done)
    credit = copy_account(accounts, post.credit, done)
    if post.amount <= 0 or debit is credit or debit.currency != credit.currency:
        raise LedgerError(f"{reference}: {post.amount} from {post.debit} to {post.credit} is no posting")
    debit.posted -= post.amount
    credit.posted += post.amount
    done.journal_lines.append(
        JournalLine(reference, post.debit, post.credit, post.amount, debit.posted, credit.posted, post.kind)
    )


def release_hold(
    accounts: Mapping[str, Account], holds: Mapping[bytes, Row | None], group: PostingGroup, done: LedgerChanges
) -> Hold:
    hold = holds.get(group.closes_hold or b"")
    if not isinstance(hold, Hold) or hold.state != PENDING:
        raise LedgerError(f"{group.reference}: ends a hold that is not pending")
    copy_account(accounts, hold.account, done).held -= hold.amount
    return hold


def capture_hold(hold: Hold, group: PostingGroup, done: LedgerChanges) -> None:
    """A hold promises its amount and no more: what a group takes under it is bounded by it."""
    taken = sum(post.amount for post in group.postings if post.debit == hold.account)
    if taken > hold.amount:
        raise LedgerError(f"{group.reference}: takes {taken} under a hold of {hold.amount}")
    state = POSTED if group.postings else VOIDED
    done.holds[hold.key] = Hold(hold.key, hold.merchant_id, hold.account, hold.amount, hold.reference, state, taken)


def find_shortfall(accounts: Mapping[str, Account], done: LedgerChanges) -> Shortfall | None:
    """An account that ends below its floor refuses, unless the group left it no worse than it was."""
    for name, account in done.accounts.items():
        floor = account.floor
        if floor is None or account.available >= floor:
            continue
        if account.available < accounts[name].available:
            return Shortfall(name)
    return None


def first_too_large(done: LedgerChanges) -> TooLarge | None:
    """The first account with an entry or a hold that is larger than the books can keep."""
    for entry in done.journal_lines:
        if max(entry.amount, abs(entry.debit_after)) > LARGEST_BALANCE:
            return TooLarge(entry.debit)
        if abs(entry.credit_after) > LARGEST_BALANCE:
            return TooLarge(entry.credit)
    for hold in done.holds.values():
        if done.accounts[hold.account].held > LARGEST_BALANCE:
            return TooLarge(hold.account)
    return None
