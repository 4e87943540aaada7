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

from kasuwa.core.decision import NewHold, Posting, PostingGroup, Refusal
from kasuwa.ledger.apply import JournalLine, LedgerChanges, LedgerError, Shortfall, apply_group
from kasuwa.ledger.chart import PENDING, POSTED, VOIDED, Account, Hold
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
HOLDS = [bytes([n]) for n in range(6)]

names = st.sampled_from(sorted(FLOORS))
amounts = st.one_of(st.integers(min_value=1, max_value=2_000), st.sampled_from([0, -1, 1, 500, 1_000]))
posts = st.builds(Posting, names, names, amounts, st.just("move"))
reserves = st.builds(NewHold, st.sampled_from(HOLDS), names, amounts)


class Model:
    """The expected state of the books."""

    def __init__(self) -> None:
        self.posted = {name: OPENING.get(name, 0) for name in FLOORS}
        self.held = dict.fromkeys(FLOORS, 0)
        self.holds: dict[bytes, tuple[str, int, str, int]] = {}

    def copy(self) -> "Model":
        other = Model()
        other.posted, other.held, other.holds = dict(self.posted), dict(self.held), dict(self.holds)
        return other

    def available(self, name: str) -> int:
        return self.posted[name] - self.held[name]

    def after(self, group: PostingGroup) -> "Model | str":
        """The books after a group, or `fault`, or the name of an account that is short."""
        new = self.copy()
        if not self.is_possible(group):
            return "fault"
        if group.closes_hold is not None:
            account, amount, _, _ = self.holds[group.closes_hold]
            taken = sum(post.amount for post in group.postings if post.debit == account)
            new.held[account] -= amount
            new.holds[group.closes_hold] = (account, amount, POSTED if group.postings else VOIDED, taken)
        for post in group.postings:
            new.posted[post.debit] -= post.amount
            new.posted[post.credit] += post.amount
        for reserve in group.new_holds:
            new.held[reserve.account] += reserve.amount
            new.holds[reserve.hold_key] = (reserve.account, reserve.amount, PENDING, 0)
        short = [name for name, floor in FLOORS.items() if floor is not None and self.is_broken(new, name, floor)]
        return "short" if short else new

    def is_broken(self, new: "Model", name: str, floor: int) -> bool:
        return new.available(name) < min(floor, self.available(name))

    def is_possible(self, group: PostingGroup) -> bool:
        moves = all(p.amount > 0 and p.debit != p.credit and p.debit[-3:] == p.credit[-3:] for p in group.postings)
        made = [reserve.hold_key for reserve in group.new_holds]
        fresh = len(set(made)) == len(made) and not set(made) & set(self.holds)
        return moves and fresh and all(r.amount > 0 for r in group.new_holds) and self.can_end(group)

    def can_end(self, group: PostingGroup) -> bool:
        if group.closes_hold is None:
            return True
        account, amount, state, _ = self.holds.get(group.closes_hold, ("", 0, "", 0))
        return state == PENDING and sum(p.amount for p in group.postings if p.debit == account) <= amount


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
        self.holds: dict[bytes, Hold] = {}
        self.entries: list[JournalLine] = []
        self.number = 0

    def submit(self, *posts: Posting, reserves: tuple[NewHold, ...] = (), ends: bytes | None = None) -> None:
        """One group to both, and a look that they agree and that what was given was left alone."""
        self.number += 1
        group = PostingGroup(f"group {self.number}", SHORT, posts, reserves, ends)
        expected = self.model.after(group)
        before = msgspec.msgpack.encode((self.accounts, self.holds))
        if expected == "fault":
            with pytest.raises(LedgerError):
                apply_group(self.accounts, self.holds, group, MERCHANT)
        else:
            result = apply_group(self.accounts, self.holds, group, MERCHANT)
            assert isinstance(result, Shortfall) == (expected == "short"), result
            assert msgspec.msgpack.encode((self.accounts, self.holds)) == before
            if isinstance(result, LedgerChanges):
                self.keep(result)
        if isinstance(expected, Model):
            self.model = expected
        else:
            assert msgspec.msgpack.encode((self.accounts, self.holds)) == before

    def keep(self, result: LedgerChanges) -> None:
        self.accounts |= result.accounts
        self.holds |= result.holds
        self.entries += result.journal_lines

    @rule(chosen=st.lists(posts, max_size=4))
    def post(self, chosen: list[Posting]) -> None:
        self.submit(*chosen)

    @rule(chosen=st.lists(reserves, min_size=1, max_size=2), moved=st.lists(posts, max_size=1))
    def reserve(self, chosen: list[NewHold], moved: list[Posting]) -> None:
        self.submit(*moved, reserves=tuple(chosen))

    @rule(amount=st.integers(min_value=1, max_value=3_000))
    def fund(self, amount: int) -> None:
        self.submit(Posting("outside:funding:NGN", "wallet:main:NGN", amount, "funding"))

    @rule(hold=st.sampled_from(HOLDS))
    def void(self, hold: bytes) -> None:
        self.submit(ends=hold)

    @rule(hold=st.sampled_from(HOLDS), moved=st.lists(posts, min_size=1, max_size=3))
    def end_with_any_postings(self, hold: bytes, moved: list[Posting]) -> None:
        self.submit(*moved, ends=hold)

    @precondition(lambda self: bool(self.model.holds))
    @rule(data=st.data(), part=st.sampled_from([lambda a: a, lambda a: a // 2 or 1, lambda a: a + 1]))
    def end_whole_in_part_or_beyond(self, data: st.DataObject, part: Callable[[int], int]) -> None:
        hold = data.draw(st.sampled_from(sorted(self.model.holds)))
        account, amount, _, _ = self.model.holds[hold]
        credit = "outside:funding:USD" if account.endswith("USD") else "rail:bank:NGN"
        self.submit(Posting(account, credit, part(amount), "end"), ends=hold)

    @precondition(lambda self: any(hold.state != PENDING for hold in self.holds.values()))
    @rule(data=st.data(), moved=st.lists(posts, max_size=1))
    def end_what_has_ended(self, data: st.DataObject, moved: list[Posting]) -> None:
        ended = sorted(key for key, hold in self.holds.items() if hold.state != PENDING)
        group = PostingGroup("again", SHORT, tuple(moved), closes_hold=data.draw(st.sampled_from(ended)))
        with pytest.raises(LedgerError):
            apply_group(self.accounts, self.holds, group, MERCHANT)

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
    def what_is_held_is_the_sum_of_pending_holds(self) -> None:
        held = dict.fromkeys(FLOORS, 0)
        for hold in self.holds.values():
            held[hold.account] += hold.amount if hold.state == PENDING else 0
        assert {name: account.held for name, account in self.accounts.items()} == held

    @invariant()
    def no_floor_is_broken_by_our_doing(self) -> None:
        for name, floor in FLOORS.items():
            if floor is not None:
                assert self.accounts[name].available >= min(floor, OPENING.get(name, 0))

    @invariant()
    def the_books_agree_with_the_model(self) -> None:
        assert {name: account.posted for name, account in self.accounts.items()} == self.model.posted
        kept = {key: (hold.account, hold.amount, hold.state, hold.taken) for key, hold in self.holds.items()}
        assert kept == self.model.holds

    @invariant()
    def a_hold_gives_no_more_than_it_promised(self) -> None:
        assert all(0 <= hold.taken <= hold.amount for hold in self.holds.values())


TestAnySequenceOfGroupsKeepsTheInvariants = Books.TestCase
TestAnySequenceOfGroupsKeepsTheInvariants.settings = settings(without_deadline(60), stateful_step_count=40)
