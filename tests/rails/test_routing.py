"""The choice among the rails of a purpose, and the way of orders and look-ups to their rail."""

import asyncio
from itertools import product
from typing import Any

import pytest
from structlog.testing import capture_logs

from kasuwa.core.routing import RailDemand
from kasuwa.rails.catalogue.catalogue import Biller, CatalogueEdition, Category, Item
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    BankRail,
    FloatShort,
    LookupDeclined,
    NameAnswer,
    NameEnquiry,
    NoAnswer,
    NothingSent,
    TransferOrder,
    Unavailable,
)
from kasuwa.rails.routing.item_lists import LIST_SECONDS, ItemList
from kasuwa.rails.routing.orders import BALANCE_SECONDS, KnownBalances, RailSet, RoutedBank, Router
from kasuwa.rails.sandbox.biller import SandboxBiller
from tests.rails.banks import GTBANK

DEMAND = RailDemand("bank", 5_000, "NGN", "058")
PAID = Answer(orders.PROCESSING, "09", "")


class FakeMonitor:
    def __init__(self) -> None:
        self.held_seconds = 0.0


class FakeBank:
    """A vendor: `outcome` is what it answers, or raises."""

    def __init__(self, served: bool | None = None) -> None:
        self.served = served
        self.outcome: Any = PAID
        self.name: Any = NameAnswer("ADA OBI")
        self.asked: list[str] = []

    def serves(self, target: str) -> bool | None:
        return self.served

    async def transfer(self, order: TransferOrder) -> Answer:
        return self._answer("transfer", self.outcome)

    async def query(self, order: TransferOrder) -> Answer:
        return self._answer("query", self.outcome)

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        answer = self._answer("name", self.name)
        assert isinstance(answer, NameAnswer)
        return answer

    def _answer(self, what: str, outcome: Any) -> Any:
        self.asked.append(what)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Vendors:
    """Two vendors, `one` and `two`, of which settings choose some."""

    def __init__(self, order: tuple[str, ...] = ("one", "two"), **options: Any) -> None:
        self.one, self.two = FakeBank(), FakeBank()
        self.monitors = {"one": FakeMonitor(), "two": FakeMonitor()}
        self.now = 0.0
        self.balances = KnownBalances(lambda: self.now)
        rails: dict[str, BankRail] = {"one": self.one, "two": self.two}
        self.rails = RailSet("bank", rails, order, monitors=self.monitors, balances=self.balances, **options)
        self.bank = RoutedBank(self.rails)

    def choose(self, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        return self.rails.choose(DEMAND, preferred, avoided)


# --- choosing ------------------------------------------------------------------------------------------------------

# The states of a vendor that matter for a choice: whether it serves the bank, is held, and has enough of our money.
STATES = tuple(product((True, False, None), (False, True), (True, False, None)))


def is_able(state: tuple[bool | None, bool, bool | None]) -> bool:
    served, held, covered = state
    return served is not False and not held and covered is not False


def put(vendors: Vendors, name: str, state: tuple[bool | None, bool, bool | None]) -> None:
    served, held, _ = state
    getattr(vendors, name).served = served
    vendors.monitors[name].held_seconds = 3.0 if held else 0.0


@pytest.mark.parametrize("first", STATES, ids=str)
@pytest.mark.parametrize("second", STATES, ids=str)
def test_every_combination_of_two_vendors(first: Any, second: Any) -> None:
    vendors = Vendors()
    put(vendors, "one", first)
    put(vendors, "two", second)
    states = {"one": first, "two": second}
    covered = {name: state[2] for name, state in states.items()}
    vendors.balances.update(
        {(name, "NGN"): 5_000 if has else 4_999 for name, has in covered.items() if has is not None}
    )
    waits_at = "two" if first[0] is False and second[0] is not False else "one"
    expected = "one" if is_able(first) else "two" if is_able(second) else waits_at
    assert vendors.choose() == expected
    # An order that was not sent moves only to a vendor that can take it now.
    assert vendors.choose(avoided="one") == ("two" if is_able(second) else "one")
    assert vendors.choose(avoided="two") == ("one" if is_able(first) else "two")


def test_each_of_three_vendors_is_tried_before_one_is_tried_again() -> None:
    vendors = Vendors(order=("one", "two", "three"))
    vendors.rails.rails = {**vendors.rails.rails, "three": FakeBank()}
    router = Router()
    router.sets["bank"] = vendors.rails  # type: ignore[assignment]
    assert [router.choose(DEMAND, (), avoided) for avoided in ("", "one", "two", "three")] == [
        "one",
        "two",
        "three",
        "one",
    ]
    assert router.choose(DEMAND, ("three", "one", "two"), "one") == "two"
    vendors.monitors["two"].held_seconds = 3.0
    assert router.choose(DEMAND, (), "one") == "three"
    assert (router.count_rails("bank"), router.count_rails("bank", ("two",)), router.count_rails("fax")) == (3, 1, 0)


def test_rails_of_a_merchant_replace_those_of_the_settings() -> None:
    vendors = Vendors(order=("one",))
    assert vendors.choose() == "one"
    assert vendors.choose(("two",)) == "two"
    assert vendors.choose(("two", "one"), avoided="two") == "one"
    assert vendors.choose(("two",), avoided="two") == "two"
    assert vendors.choose(("gone",)) == "one"


def test_rail_in_shadow_mode_is_given_no_order() -> None:
    vendors = Vendors(order=("one",), unpaid="two")
    assert vendors.choose(("two",)) == "one"
    assert vendors.choose(avoided="one") == "one"


def test_without_rails_there_is_none_to_choose() -> None:
    router = Router()
    assert (router.choose(DEMAND), router.choose(DEMAND, (), "one")) == ("", "one")
    router.sets["bank"] = Vendors(order=()).rails  # type: ignore[assignment]
    assert router.choose(DEMAND) == ""
    assert {name for _, name, _ in router.list_rails()} == {"one", "two"}


# --- what billers sell ---------------------------------------------------------------------------------------------


class FakeCatalogue(SandboxBiller):
    """A biller that sells one item at a price, and one at any amount from 100.00 to 500.00 in whole naira."""

    def __init__(self, price: str = "50.00") -> None:
        self.price = price
        self.trouble: Exception | None = None

    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        if self.trouble is not None:
            raise self.trouble
        biller = Biller(1, "Power", "Meter", "power", "power", ".*", 10_000, 50_000, 100)
        items = (
            Item("Bundle", 1, self.price, "0", 0, "058", False, "none"),
            Item("Units", 1, "0", "0", 0, "units", False, "none"),
        )
        return CatalogueEdition((Category("Power", "power"),), (biller,), items)


def sets_of_billers(one: FakeCatalogue, two: FakeCatalogue, now: list[float]) -> tuple[Vendors, dict[str, ItemList]]:
    items = {"one": ItemList(one, lambda: now[0]), "two": ItemList(two, lambda: now[0])}
    return Vendors(items=items), items


@pytest.mark.parametrize(
    ("price", "taken"), [("50.00", "two"), ("49.99", "one")], ids=["sold at the same price", "sold at another price"]
)
def test_second_biller_takes_over_only_what_it_is_known_to_sell(price: str, taken: str) -> None:
    vendors, items = sets_of_billers(FakeCatalogue(), FakeCatalogue(price), [0.0])
    vendors.monitors["one"].held_seconds = 9
    assert vendors.choose() == "one", "the second one's list was not read"
    asyncio.run(items["two"].read())
    assert vendors.choose() == taken
    assert vendors.choose(avoided="one") == taken
    assert vendors.rails.choose(RailDemand("bills", 5_000, "NGN", "other"), (), "") == "one"


def test_short_biller_gives_orders_to_the_second() -> None:
    vendors, items = sets_of_billers(FakeCatalogue(), FakeCatalogue(), [0.0])
    asyncio.run(items["two"].read())
    vendors.balances.update({("one", "NGN"): 4_999})
    assert vendors.choose() == "two"


def test_biller_of_a_merchants_own_takes_only_what_it_is_known_to_sell() -> None:
    vendors, items = sets_of_billers(FakeCatalogue(), FakeCatalogue(), [0.0])
    assert vendors.choose(("two", "one")) == "one"
    asyncio.run(items["two"].read())
    assert vendors.choose(("two", "one")) == "two"


@pytest.mark.parametrize(
    ("amount", "is_sold"), [(9_900, False), (10_000, True), (10_050, False), (50_000, True), (50_100, False), (0, True)]
)
def test_amount_that_the_payer_chooses_must_be_within_the_billers_bounds(amount: int, is_sold: bool) -> None:
    items = ItemList(FakeCatalogue())
    assert items.sells("units", amount) is None
    asyncio.run(items.read())
    assert items.sells("units", amount) is is_sold
    assert items.sells("nothing", amount) is False


def test_list_of_items_is_read_daily_and_outlives_a_failure() -> None:
    now, biller = [0.0], FakeCatalogue()
    items = ItemList(biller, lambda: now[0])
    assert items.is_due()
    asyncio.run(items.read())
    assert not items.is_due()
    now[0] += LIST_SECONDS
    assert items.is_due()
    biller.trouble = Unavailable("away")
    with pytest.raises(Unavailable):
        asyncio.run(items.read())
    assert items.is_due()
    assert items.sells("058", 5_000) is True


# --- balances ------------------------------------------------------------------------------------------------------


def order_at(rail: str, amount: int = 5_000) -> TransferOrder:
    return TransferOrder("1 GP|FD|1|20260105X", amount, "NGN", GTBANK, "0123456785", "Ada", "rent", rail=rail)


def test_known_balance_falls_by_what_was_sent_and_lasts_for_a_while() -> None:
    vendors = Vendors()
    vendors.balances.update({("one", "NGN"): 12_000, ("two", "NGN"): 100})
    for outcome in (PAID, Answer(orders.FAILED, "07", "no such account")):
        vendors.one.outcome = outcome
        assert asyncio.run(vendors.bank.transfer(order_at("one"))) is outcome
    vendors.one.outcome = NoAnswer("lost")
    with pytest.raises(NoAnswer):
        asyncio.run(vendors.bank.transfer(order_at("one")))
    assert vendors.balances.covers("one", "NGN", 2_000)
    vendors.balances.update({})
    assert not vendors.balances.covers("one", "NGN", 2_001)
    assert vendors.balances.covers("one", "USD", 10**9)
    vendors.now += BALANCE_SECONDS + 1
    assert vendors.balances.covers("one", "NGN", 10**9)


def test_refusal_for_want_of_money_sends_later_orders_elsewhere() -> None:
    vendors = Vendors()
    vendors.one.outcome = FloatShort("balance")
    with pytest.raises(FloatShort):
        asyncio.run(vendors.bank.transfer(order_at("one")))
    assert vendors.choose() == "two"
    assert vendors.balances.covers("one", "NGN", 4_999)


# --- the way of orders ---------------------------------------------------------------------------------------------


def test_order_goes_to_its_own_rail_whatever_the_settings_say() -> None:
    vendors = Vendors(order=("one",))
    asyncio.run(vendors.bank.transfer(order_at("two")))
    asyncio.run(vendors.bank.query(order_at("two")))
    assert (vendors.one.asked, vendors.two.asked) == ([], ["transfer", "query"])


def test_order_without_a_rail_is_neither_sent_nor_queried() -> None:
    """There was no rail to choose: nothing of the order has left."""
    vendors = Vendors()
    for call in (vendors.bank.transfer, vendors.bank.query):
        with pytest.raises(NothingSent):
            asyncio.run(call(order_at("")))
    assert (vendors.one.asked, vendors.two.asked) == ([], [])


def test_order_of_a_rail_that_is_gone_waits_and_the_log_tells_once() -> None:
    vendors = Vendors()
    with capture_logs() as logged:
        for call in (vendors.bank.transfer, vendors.bank.query, vendors.bank.query):
            with pytest.raises(Unavailable) as caught:
                asyncio.run(call(order_at("gone")))
            assert not isinstance(caught.value, NothingSent)
            assert "gone, which is no longer configured" in caught.value.notice
    assert [(entry["event"], entry["rail"]) for entry in logged] == [
        ("orders wait for a rail that is not configured", "gone")
    ]
    assert vendors.one.asked == vendors.two.asked == []


# --- look-ups ------------------------------------------------------------------------------------------------------


def ask(vendors: Vendors, *rails: str) -> NameAnswer:
    return asyncio.run(vendors.bank.find_account_name(NameEnquiry(GTBANK, "0123456785", rails=rails)))


def test_lookup_goes_to_the_next_rail_if_one_cannot_be_reached() -> None:
    vendors = Vendors()
    vendors.two.name = NameAnswer("ADA OBI", "second")
    assert ask(vendors).message == ""
    assert ask(vendors, "two").message == "second"
    vendors.one.name = Unavailable("down")
    assert ask(vendors).message == "second"
    vendors.two.name = Unavailable("down too")
    with pytest.raises(Unavailable, match=r"^down$"):
        ask(vendors)


def test_lookup_prefers_rails_that_are_not_held_and_serve_the_bank() -> None:
    vendors = Vendors()
    vendors.monitors["one"].held_seconds = 5
    ask(vendors)
    vendors.monitors["one"].held_seconds = 0
    vendors.one.served = False
    ask(vendors)
    assert (vendors.one.asked, vendors.two.asked) == ([], ["name", "name"])


@pytest.mark.parametrize("trouble", [NoAnswer("late"), LookupDeclined("no")], ids=str)
def test_lookup_that_was_answered_or_lost_is_not_asked_elsewhere(trouble: Exception) -> None:
    vendors = Vendors()
    vendors.one.name = trouble
    with pytest.raises(type(trouble)):
        ask(vendors)
    assert vendors.two.asked == []


def test_lookup_without_rails_says_so() -> None:
    with pytest.raises(Unavailable, match="no rail for bank is configured"):
        ask(Vendors(order=()))
