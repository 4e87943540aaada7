"""The invariants of the ledger for any sequence of groups: `apply_group` compared with a small independent model.

The model predicts the result of each group: LedgerError, a refusal or new balances. Half of the groups are invalid on
purpose.
"""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kasuwa.core.decision import HeldAmount, Posting, PostingGroup, Refusal
from kasuwa.ledger.apply import JournalLine, LedgerChanges, LedgerError, Shortfall, apply_group
from kasuwa.ledger.chart import Account
from tests.hypothesis_settings import without_deadline

MERCHANT = 7
SHORT = Refusal(301, "short")

# The last of these begins below its floor, as if the floor had been raised: it may only get better.
FLOORS = {
    "outside:funding:NGN": None,
    "rail:bank:NGN": None,
    "wallet:main:NGN": 0,
    "card:one:NGN": -500,
    "outside:funding:USD": None,
    "wallet:main:USD": 0,
    "savings:late:NGN": 0,
}
OPENING = {"wallet:main:NGN": 1_000, "savings:late:NGN": -700, "outside:funding:NGN": -300}

names = st.sampled_from(sorted(FLOORS))
amounts = st.one_of(st.integers(min_value=1, max_value=2_000), st.sampled_from([0, -1, 1, 500, 1_000]))
posts = st.builds(Posting, names, names, amounts, st.just("transfer"))
holds = st.builds(HeldAmount, names, amounts)


class Model:
    """The expected state of the books."""

    def __init__(self) -> None:
        self.posted = {name: OPENING.get(name, 0) for name in FLOORS}
        self.held = dict.fromkeys(FLOORS, 0)

    def copy(self) -> "Model":
        other = Model()
        other.posted, other.held = dict(self.posted), dict(self.held)
        return other

    def available(self, name: str) -> int:
        return self.posted[name] - self.held[name]

    def after(self, group: PostingGroup) -> "Model | str":
        """The books after a group, or `fault`, or the name of an account that is short."""
        new = self.copy()
        if not self.is_possible(group):
            return "fault"
        if group.releases is not None:
            new.held[group.releases.account] -= group.releases.amount
        for post in group.postings:
            new.posted[post.debit] -= post.amount
            new.posted[post.credit] += post.amount
        if group.holds is not None:
            new.held[group.holds.account] += group.holds.amount
        short = [name for name, floor in FLOORS.items() if floor is not None and self.is_broken(new, name, floor)]
        return "short" if short else new

    def is_broken(self, new: "Model", name: str, floor: int) -> bool:
        return new.available(name) < min(floor, self.available(name))

    def is_possible(self, group: PostingGroup) -> bool:
        moves = all(p.amount > 0 and p.debit != p.credit and p.debit[-3:] == p.credit[-3:] for p in group.postings)
        return moves and (group.holds is None or group.holds.amount > 0) and self.can_release(group)

    def can_release(self, group: PostingGroup) -> bool:
        if group.releases is None:
            return True
        account, amount = group.releases.account, group.releases.amount
        taken = sum(p.amount for p in group.postings if p.debit == account)
        return 0 < amount <= self.held[account] and taken <= amount


def opened() -> dict[str, Account]:
    return {
        name: Account(name.encode(), MERCHANT, name, name[-3:], OPENING.get(name, 0), 0, floor)
        for name, floor in FLOORS.items()
    }


class Books(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.accounts = opened()
        self.open: list[HeldAmount] = []  # what is held for something that has not ended
        self.entries: list[JournalLine] = []
        self.number = 0

    def submit(
        self, *posts: Posting, holds: HeldAmount | None = None, releases: HeldAmount | None = None
    ) -> LedgerChanges | None:
        """One group to both, and a look that they agree and that what was given was left alone. Returns the changes if
        there are any."""
        self.number += 1
        group = PostingGroup(f"group {self.number}", SHORT, posts, holds, releases)
        expected = self.model.after(group)
        before = msgspec.msgpack.encode(self.accounts)
        if expected == "fault":
            with pytest.raises(LedgerError):
                apply_group(self.accounts, group)
            return None
        result = apply_group(self.accounts, group)
        assert isinstance(result, Shortfall) == (expected == "short"), result
        assert msgspec.msgpack.encode(self.accounts) == before
        if not isinstance(result, LedgerChanges):
            return None
        assert isinstance(expected, Model)
        self.model = expected
        self.accounts |= result.accounts
        self.entries += result.journal_lines
        if holds is not None:
            self.open.append(holds)
        return result

    @rule(chosen=st.lists(posts, max_size=4))
    def post(self, chosen: list[Posting]) -> None:
        self.submit(*chosen)

    @rule(held=holds, moved=st.lists(posts, max_size=1))
    def hold(self, held: HeldAmount, moved: list[Posting]) -> None:
        self.submit(*moved, holds=held)

    @rule(amount=st.integers(min_value=1, max_value=3_000))
    def fund(self, amount: int) -> None:
        self.submit(Posting("outside:funding:NGN", "wallet:main:NGN", amount, "wallet funding"))

    @precondition(lambda self: bool(self.open))
    @rule(data=st.data(), moved=st.lists(posts, max_size=3))
    def end_with_any_postings(self, data: st.DataObject, moved: list[Posting]) -> None:
        self.end(data, lambda held: moved)

    @precondition(lambda self: bool(self.open))
    @rule(data=st.data(), part=st.sampled_from([lambda a: a, lambda a: a // 2 or 1, lambda a: a + 1]))
    def end_whole_in_part_or_beyond(self, data: st.DataObject, part: Callable[[int], int]) -> None:
        def take(held: HeldAmount) -> list[Posting]:
            credit = "outside:funding:USD" if held.account.endswith("USD") else "rail:bank:NGN"
            return [Posting(held.account, credit, part(held.amount), "transfer")]

        self.end(data, take)

    def end(self, data: st.DataObject, take: Callable[[HeldAmount], list[Posting]]) -> None:
        place = data.draw(st.integers(min_value=0, max_value=len(self.open) - 1))
        held = self.open[place]
        if self.submit(*take(held), releases=held) is not None:
            del self.open[place]

    @rule(name=names, beyond=st.integers(min_value=1, max_value=500))
    def release_more_than_is_held(self, name: str, beyond: int) -> None:
        held = HeldAmount(name, self.accounts[name].held + beyond)
        assert self.submit(releases=held) is None

    # --- the invariants ---------------------------------------------------------------------------------------

    @invariant()
    def all_balances_of_a_currency_sum_to_zero(self) -> None:
        for currency in ("NGN", "USD"):
            assert sum(a.posted for a in self.accounts.values() if a.currency == currency) == 0

    @invariant()
    def a_balance_is_the_sum_of_its_entries_and_entries_show_it(self) -> None:
        running = {name: OPENING.get(name, 0) for name in FLOORS}
        for entry in self.entries:
            running[entry.debit] -= entry.amount
            running[entry.credit] += entry.amount
            assert (entry.debit_after, entry.credit_after) == (running[entry.debit], running[entry.credit])
        assert {name: account.posted for name, account in self.accounts.items()} == running

    @invariant()
    def what_is_held_is_the_sum_of_what_is_open(self) -> None:
        held = dict.fromkeys(FLOORS, 0)
        for one in self.open:
            held[one.account] += one.amount
        assert {name: account.held for name, account in self.accounts.items()} == held

    @invariant()
    def no_floor_is_broken_by_our_doing(self) -> None:
        for name, floor in FLOORS.items():
            if floor is not None:
                assert self.accounts[name].available >= min(floor, OPENING.get(name, 0))

    @invariant()
    def the_books_agree_with_the_model(self) -> None:
        assert {name: account.posted for name, account in self.accounts.items()} == self.model.posted
        assert {name: account.held for name, account in self.accounts.items()} == self.model.held


TestAnySequenceOfGroupsKeepsTheInvariants = Books.TestCase
TestAnySequenceOfGroupsKeepsTheInvariants.settings = settings(without_deadline(60), stateful_step_count=40)
