"""apply_group: the effects of a group, shortfalls, and groups that raise LedgerError."""

import msgspec
import pytest

from kasuwa.core.decision import HeldAmount, Posting, PostingGroup, Refusal
from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.ledger.apply import JournalLine, LedgerChanges, LedgerError, Shortfall, TooLarge, apply_group
from kasuwa.ledger.chart import ACCOUNT_KINDS, Account, make_funding_posting, open_account

MERCHANT = 7
SHORT = Refusal(301, "short")
WALLET = "wallet:main:NGN"
RAIL = "rail:bank:NGN"
FEES = "income:transfer:NGN"
OUTSIDE = "outside:funding:NGN"
DOLLARS = "wallet:main:USD"


def books(wallet: int = 0, held: int = 0) -> dict[str, Account]:
    accounts = {name: open_account(MERCHANT, name) for name in (WALLET, RAIL, FEES, OUTSIDE, DOLLARS)}
    accounts[WALLET].posted, accounts[WALLET].held = wallet, held
    accounts[OUTSIDE].posted = -wallet
    return accounts


def group(*posts: Posting, holds: HeldAmount | None = None, releases: HeldAmount | None = None) -> PostingGroup:
    return PostingGroup("GP|FD|1", SHORT, posts, holds, releases)


def pay(amount: int, debit: str = WALLET, credit: str = RAIL) -> Posting:
    return Posting(debit, credit, amount, "transfer")


def applied(accounts: dict[str, Account], wanted: PostingGroup) -> LedgerChanges:
    """Applies a group that must succeed, and checks that its inputs were not modified."""
    before = msgspec.msgpack.encode(accounts)
    result = apply_group(accounts, wanted)
    assert msgspec.msgpack.encode(accounts) == before
    assert isinstance(result, LedgerChanges), result
    return result


# --- postings -------------------------------------------------------------------------------------------------


def test_a_posting_moves_money_and_shows_both_balances_after_it() -> None:
    done = applied(books(1000), group(pay(600), pay(100, WALLET, FEES)))
    assert {name: account.posted for name, account in done.accounts.items()} == {WALLET: 300, RAIL: 600, FEES: 100}
    assert done.journal_lines == [
        JournalLine("GP|FD|1", WALLET, RAIL, 600, 400, 600, "transfer"),
        JournalLine("GP|FD|1", WALLET, FEES, 100, 300, 100, "transfer"),
    ]


def test_only_accounts_that_a_group_names_are_changed() -> None:
    assert set(applied(books(1000), group(pay(1))).accounts) == {WALLET, RAIL}


def test_an_empty_group_does_nothing() -> None:
    assert applied(books(5), group()) == LedgerChanges({}, [])


@pytest.mark.parametrize("amount", [0, -1, -(10**15)])
def test_an_amount_that_is_not_above_zero_is_no_posting(amount: int) -> None:
    with pytest.raises(LedgerError, match="is no posting"):
        apply_group(books(1000), group(pay(amount)))


def test_money_from_an_account_to_itself_is_no_posting() -> None:
    with pytest.raises(LedgerError, match="is no posting"):
        apply_group(books(1000), group(pay(5, WALLET, WALLET)))


def test_money_does_not_change_its_currency() -> None:
    with pytest.raises(LedgerError, match="is no posting"):
        apply_group(books(1000), group(pay(5, WALLET, DOLLARS)))


def test_a_balance_that_the_database_could_not_keep_is_refused() -> None:
    accounts = books()
    accounts[RAIL].posted = LARGEST_BALANCE - 5
    assert applied(accounts, group(pay(5, OUTSIDE, RAIL))).accounts[RAIL].posted == LARGEST_BALANCE
    assert apply_group(accounts, group(pay(6, OUTSIDE, RAIL))) == TooLarge(RAIL)
    accounts[OUTSIDE].posted = -LARGEST_BALANCE
    assert apply_group(accounts, group(pay(1, OUTSIDE, FEES))) == TooLarge(OUTSIDE)
    back = group(pay(1, OUTSIDE, FEES), pay(1, FEES, OUTSIDE))
    assert apply_group(accounts, back) == TooLarge(OUTSIDE)


def test_an_account_that_was_not_loaded_cannot_be_posted_to() -> None:
    with pytest.raises(KeyError):
        apply_group(books(1000), group(pay(5, WALLET, "tax:vat:NGN")))


# --- floors -------------------------------------------------------------------------------------------------------


def test_the_last_kobo_may_go_and_one_more_may_not() -> None:
    assert applied(books(1000), group(pay(1000))).accounts[WALLET].posted == 0
    assert apply_group(books(1000), group(pay(1001))) == Shortfall(WALLET)


def test_held_money_cannot_be_spent() -> None:
    assert applied(books(1000, held=400), group(pay(600))).accounts[WALLET].available == 0
    assert apply_group(books(1000, held=400), group(pay(601))) == Shortfall(WALLET)


def test_a_floor_looks_at_the_end_of_a_group_and_not_at_its_steps() -> None:
    done = applied(books(0), group(pay(500), pay(500, OUTSIDE, WALLET)))
    assert done.accounts[WALLET].posted == 0
    assert [entry.debit_after for entry in done.journal_lines] == [-500, -500]


def test_a_group_is_applied_as_a_whole_or_not_at_all() -> None:
    accounts = books(1000)
    before = msgspec.msgpack.encode(accounts)
    assert apply_group(accounts, group(pay(400), pay(601, WALLET, FEES))) == Shortfall(WALLET)
    assert msgspec.msgpack.encode(accounts) == before


def test_external_accounts_have_no_floor() -> None:
    assert applied(books(), group(make_funding_posting("NGN", 10**15))).accounts[OUTSIDE].posted == -(10**15)


def test_an_account_below_its_floor_may_be_left_as_it_is_or_better_but_not_worse() -> None:
    below = books(-500)
    assert applied(below, group(pay(100, OUTSIDE, WALLET))).accounts[WALLET].posted == -400
    assert applied(below, group(pay(100, OUTSIDE, WALLET), pay(100))).accounts[WALLET].posted == -500
    assert apply_group(below, group(pay(1))) == Shortfall(WALLET)


# --- holds --------------------------------------------------------------------------------------------------------


def test_a_hold_sets_money_aside_and_moves_none() -> None:
    done = applied(books(1000), group(holds=HeldAmount(WALLET, 1000)))
    assert (done.accounts[WALLET].posted, done.accounts[WALLET].held) == (1000, 1000)
    assert done.journal_lines == []


def test_a_hold_above_the_available_balance_is_refused() -> None:
    assert apply_group(books(1000), group(holds=HeldAmount(WALLET, 1001))) == Shortfall(WALLET)
    assert apply_group(books(1000, held=1), group(holds=HeldAmount(WALLET, 1000))) == Shortfall(WALLET)


@pytest.mark.parametrize("amount", [0, -1])
def test_a_hold_that_is_not_above_zero_raises(amount: int) -> None:
    with pytest.raises(LedgerError, match="not above zero"):
        apply_group(books(1000), group(holds=HeldAmount(WALLET, amount)))
    with pytest.raises(LedgerError, match="not held"):
        apply_group(books(1000, held=5), group(releases=HeldAmount(WALLET, amount)))


def test_a_hold_is_posted_whole() -> None:
    released = HeldAmount(WALLET, 700)
    done = applied(books(1000, held=700), group(pay(600), pay(100, WALLET, FEES), releases=released))
    assert (done.accounts[WALLET].posted, done.accounts[WALLET].held) == (300, 0)


def test_a_hold_is_posted_in_part_and_the_rest_is_free_again() -> None:
    done = applied(books(1000, held=700), group(pay(100), releases=HeldAmount(WALLET, 700)))
    assert (done.accounts[WALLET].posted, done.accounts[WALLET].available) == (900, 900)


def test_a_hold_is_voided_by_a_group_without_postings() -> None:
    done = applied(books(1000, held=700), group(releases=HeldAmount(WALLET, 700)))
    assert (done.accounts[WALLET].posted, done.accounts[WALLET].available) == (1000, 1000)
    assert done.journal_lines == []


@pytest.mark.parametrize("posts", [(), (pay(1),)])
def test_no_more_is_released_than_is_held(posts: tuple[Posting, ...]) -> None:
    with pytest.raises(LedgerError, match="not held"):
        apply_group(books(1000, held=699), group(*posts, releases=HeldAmount(WALLET, 700)))


def test_capturing_more_than_the_hold_raises() -> None:
    wanted = group(pay(700), pay(1, WALLET, FEES), releases=HeldAmount(WALLET, 700))
    with pytest.raises(LedgerError, match="takes 701 under a hold of 700"):
        apply_group(books(5000, held=900), wanted)


def test_what_another_account_pays_does_not_count_as_taken() -> None:
    wanted = group(pay(700), pay(900, OUTSIDE, FEES), releases=HeldAmount(WALLET, 700))
    assert applied(books(1000, held=700), wanted).accounts[WALLET].posted == 300


def test_a_hold_may_be_ended_and_another_made_in_one_group() -> None:
    released = HeldAmount(WALLET, 700)
    done = applied(books(700, held=700), group(pay(300), holds=HeldAmount(WALLET, 400), releases=released))
    assert (done.accounts[WALLET].posted, done.accounts[WALLET].held) == (400, 400)
    wanted = group(pay(300), holds=HeldAmount(WALLET, 401), releases=released)
    assert apply_group(books(700, held=700), wanted) == Shortfall(WALLET)


def test_a_hold_on_one_account_does_not_pay_for_another() -> None:
    accounts = books(0)
    accounts[DOLLARS].posted, accounts[DOLLARS].held = 500, 500
    assert apply_group(accounts, group(pay(500), releases=HeldAmount(DOLLARS, 500))) == Shortfall(WALLET)


# --- the chart ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ACCOUNT_KINDS)
def test_an_account_opens_empty_with_the_floor_of_its_kind(kind: str) -> None:
    account = open_account(MERCHANT, f"{kind}:main:USD")
    assert (account.posted, account.held, account.available) == (0, 0, 0)
    assert (account.currency, account.floor) == ("USD", ACCOUNT_KINDS[kind].floor)


@pytest.mark.parametrize("name", ["wallet:main", "wallet", "purse:main:NGN", "wallet:a:b:NGN", ""])
def test_an_invalid_name_opens_no_account(name: str) -> None:
    with pytest.raises((KeyError, ValueError)):
        open_account(MERCHANT, name)


def test_a_merchants_own_money_may_not_go_below_zero() -> None:
    assert ACCOUNT_KINDS["wallet"].floor == 0
