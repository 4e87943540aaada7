"""The books' one verb: apply a group of movements to accounts, whole or not at all.

Pure: accounts and holds in, changed accounts, holds and entries out, or the account that does not cover it.
Nothing here knows the database; the laws of `audit.py` hold for any sequence of calls (tests/ledger).
"""

from collections.abc import Mapping

import msgspec

from kasuwa.core.decision import Group, Post, Row
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.ledger.chart import PENDING, POSTED, VOIDED, Account, Hold


class Entry(msgspec.Struct):
    """One posting as it will be kept: what moved, and both balances after it."""

    reference: str
    debit: str
    credit: str
    amount: int
    debit_after: int
    credit_after: int
    kind: str


class Applied(msgspec.Struct):
    accounts: dict[str, Account]
    holds: dict[bytes, Hold]
    entries: list[Entry]


class Short(msgspec.Struct, frozen=True):
    """The account whose floor refuses the group."""

    account: str


class TooLarge(msgspec.Struct, frozen=True):
    """The account whose balance, or whose movement, would be larger than the books can keep."""

    account: str


class LedgerFault(Exception):
    """A group that no rule should ever make: a bug in a slice, never a merchant's fault."""


def apply(
    accounts: Mapping[str, Account], holds: Mapping[bytes, Row | None], group: Group, merchant_id: int
) -> Applied | Short | TooLarge:
    done = Applied({}, {}, [])
    allowed = release(accounts, holds, group, done) if group.ends is not None else None
    for post in group.posts:
        move(accounts, post, group.reference, done)
    if allowed is not None:
        take_hold(allowed, group, done)
    for reserve in group.reserves:
        if reserve.amount <= 0 or holds.get(reserve.hold) is not None or reserve.hold in done.holds:
            raise LedgerFault(f"{group.reference}: a hold of {reserve.amount} that is not new or not above zero")
        changed(accounts, reserve.account, done).held += reserve.amount
        done.holds[reserve.hold] = Hold(
            reserve.hold, merchant_id, reserve.account, reserve.amount, group.reference, PENDING, 0
        )
    return first_short(accounts, done) or first_too_large(done) or done


def changed(accounts: Mapping[str, Account], name: str, done: Applied) -> Account:
    """The group's own copy of an account: the given one is never touched, so a refusal leaves no trace."""
    account = done.accounts.get(name)
    if account is None:
        found = accounts[name]
        account = Account(found.key, found.merchant_id, name, found.currency, found.posted, found.held, found.floor)
        done.accounts[name] = account
    return account


def move(accounts: Mapping[str, Account], post: Post, reference: str, done: Applied) -> None:
    debit = changed(accounts, post.debit, done)
    credit = changed(accounts, post.credit, done)
    if post.amount <= 0 or debit is credit or debit.currency != credit.currency:
        raise LedgerFault(f"{reference}: {post.amount} from {post.debit} to {post.credit} is no posting")
    debit.posted -= post.amount
    credit.posted += post.amount
    done.entries.append(Entry(reference, post.debit, post.credit, post.amount, debit.posted, credit.posted, post.kind))


def release(accounts: Mapping[str, Account], holds: Mapping[bytes, Row | None], group: Group, done: Applied) -> Hold:
    hold = holds.get(group.ends or b"")
    if not isinstance(hold, Hold) or hold.state != PENDING:
        raise LedgerFault(f"{group.reference}: ends a hold that is not pending")
    changed(accounts, hold.account, done).held -= hold.amount
    return hold


def take_hold(hold: Hold, group: Group, done: Applied) -> None:
    """A hold promises its amount and no more: what a group takes under it is bounded by it."""
    taken = sum(post.amount for post in group.posts if post.debit == hold.account)
    if taken > hold.amount:
        raise LedgerFault(f"{group.reference}: takes {taken} under a hold of {hold.amount}")
    state = POSTED if group.posts else VOIDED
    done.holds[hold.key] = Hold(hold.key, hold.merchant_id, hold.account, hold.amount, hold.reference, state, taken)


def first_short(accounts: Mapping[str, Account], done: Applied) -> Short | None:
    """An account that ends below its floor refuses, unless the group left it no worse than it was."""
    for name, account in done.accounts.items():
        floor = account.floor
        if floor is None or account.available >= floor:
            continue
        if account.available < accounts[name].available:
            return Short(name)
    return None


def first_too_large(done: Applied) -> TooLarge | None:
    """The first account with an entry or a hold that is larger than the books can keep."""
    for entry in done.entries:
        if max(entry.amount, abs(entry.debit_after)) > LARGEST_BALANCE:
            return TooLarge(entry.debit)
        if abs(entry.credit_after) > LARGEST_BALANCE:
            return TooLarge(entry.credit)
    for hold in done.holds.values():
        if done.accounts[hold.account].held > LARGEST_BALANCE:
            return TooLarge(hold.account)
    return None
