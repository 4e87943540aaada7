"""Lists of vendors are read to their end: by each marker, page size and parameter name that a source tells of."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, get_args

import msgspec
import pytest

from kasuwa.core.references import rail_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import ACCOUNT_NUMBER
from kasuwa.rails.ports.orders import CollectionOrder, UnreadableAnswer
from kasuwa.rails.twins import monnify_envelope, paystack_envelope
from kasuwa.rails.twins.facts import ROWS_PER_PAGE
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_accounts import Payment
from kasuwa.rails.twins.paystack_collection import PaidRefund, PaystackCollectionRules
from kasuwa.rails.vendors import pages
from kasuwa.rails.vendors.client import VendorClient, VendorLimits, VendorMonitor
from kasuwa.rails.vendors.monnify.accounts import MonnifyAccounts
from kasuwa.rails.vendors.monnify.feeds import MonnifyFeeds
from kasuwa.rails.vendors.pages import Page, read_pages
from kasuwa.rails.vendors.paystack.accounts import PaystackAccounts, PaystackAccountTerms
from kasuwa.rails.vendors.paystack.feeds import PaystackFeeds
from kasuwa.rails.vendors.paystack.refunds import PaystackRefunds
from kasuwa.rails.vendors.paystack.transfers import PaystackKeys, is_envelope
from tests.rails.vendors import test_monnify_accounts, test_paystack_accounts
from tests.rails.vendors.adapters import Observed, twin_of

SINCE = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 2 * ROWS_PER_PAGE + 1
KEYS = PaystackKeys("sk_test_1")


def unhurried() -> VendorMonitor:
    """Returns an observer whose clients look up as fast as they like."""
    return VendorMonitor(Observed(), VendorLimits(lookups_per_second=1000))


# --- Paystack ----------------------------------------------------------------------------------------------------


def pay_seven(rules: PaystackRules, number: str) -> None:
    for place in range(ROWS):
        reference = f"{1_700_000_000_000 + place}{number}"
        rules.accounts.payments[reference] = Payment(reference, 100, number, "A", "success", datetime.now(UTC))


@pytest.mark.parametrize("marker", get_args(paystack_envelope.PageMarker))
@pytest.mark.parametrize("size_name", ["per_page", "perPage"])
def test_receipts_of_paystack_are_read_to_the_end(marker: Any, size_name: Any) -> None:
    async def run() -> list[str]:
        rules = PaystackRules()
        rules.accounts.page_marker, rules.accounts.page_size_name = marker, size_name
        pay_seven(rules, "9960000001")
        async with twin_of(rules) as (twin, transport):
            terms = PaystackAccountTerms("08031234567", "pay.example.com", "test-bank")
            rail = PaystackAccounts(transport, twin.url, KEYS, "test", terms, unhurried())
            order = test_paystack_accounts.order(facts={ACCOUNT_NUMBER: "9960000001"})
            listed = await rail.list_receipts(order, SINCE)
            [first, *_] = [seen.query for seen in twin.requests if seen.path == "/transaction"]
            assert (first["per_page"], first["perPage"]) == ("100", "100"), "the vendor's documents have both names"
            assert set(listed) == set(rules.accounts.payments)
            return listed

    assert len(asyncio.run(run())) == ROWS


@pytest.mark.parametrize("marker", get_args(paystack_envelope.PageMarker))
def test_disputes_and_settlements_of_paystack_are_read_to_the_end(marker: Any) -> None:
    async def run() -> None:
        rules = PaystackRules()
        rules.accounts.page_marker = marker
        for _ in range(ROWS):
            rules.accounts.dispute("17000", 90_000)
            rules.accounts.settle_payments()
        async with twin_of(rules) as (twin, transport):
            feeds = PaystackFeeds(transport, twin.url, KEYS, unhurried())
            assert len({found.dispute_id for found in await feeds.list_disputes(SINCE)}) == ROWS
            assert len({found.settlement_id for found in await feeds.list_settlements(SINCE)}) == ROWS

    asyncio.run(run())


@pytest.mark.parametrize("marker", get_args(paystack_envelope.PageMarker))
def test_a_refund_on_the_last_page_is_found_and_not_paid_again(marker: Any) -> None:
    key, payment = rail_key(12, "GP|RF|123456789|20260105X"), rail_key(12, "GP|PA|123456789|20260105X")
    order = CollectionOrder(key, "card", 500, "NGN", refund_of=payment, sent_at=datetime.now(UTC))

    async def run() -> None:
        rules = PaystackRules()
        rules.accounts.page_marker = marker
        collections = PaystackCollectionRules(rules)
        for place in range(ROWS):  # newest first: the first one is on the last page
            note = "kz12-gp-rf-123456789-20260105x" if place == 0 else "another"
            at = datetime.now(UTC) - timedelta(minutes=ROWS - place)
            refund = PaidRefund(place, "kz12-gp-pa-123456789-20260105x", 500, "NGN", note, "processed", at)
            collections.refunds.append(refund)
        async with twin_of(rules, collections) as (twin, transport):
            client = VendorClient("paystack", twin.url, transport, is_envelope, unhurried())
            refunds = PaystackRefunds(client, {"Authorization": "Bearer sk_test_1"})
            assert (await refunds.refund(order)).status == orders.SUCCESSFUL
            assert len(collections.refunds) == ROWS

    asyncio.run(run())


# --- Monnify -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", get_args(monnify_envelope.PageMarker))
def test_lists_of_monnify_are_read_to_the_end(marker: Any) -> None:
    async def run() -> None:
        rules, keys = MonnifyRules(), test_monnify_accounts.KEYS
        rules.accounts.page_marker = marker
        async with twin_of(rules) as (twin, transport):
            accounts = MonnifyAccounts(transport, twin.url, keys, unhurried())
            order = test_monnify_accounts.order()
            number = (await accounts.open(order)).facts["account_number"]
            for _ in range(ROWS):
                rules.accounts.pay_into(number, Decimal("100.00"))
            rules.accounts.settle_payments("STL-1")
            assert len(await accounts.list_receipts(order, SINCE)) == ROWS
            found = await MonnifyFeeds(transport, twin.url, keys, unhurried()).find_settlement("STL-1")
            assert found is not None
            assert (found.payments, found.gross) == (ROWS, ROWS * 10_000)

    asyncio.run(run())


# --- the pager -----------------------------------------------------------------------------------------------------


class PlayedList:
    """A list of a vendor. `turns` change it after a number of its pages were read."""

    def __init__(self, rows: list[int], size: int = 2, **turns: Callable[["PlayedList"], None]) -> None:
        self.rows, self.size, self.reads = rows, size, 0
        self.turns = {int(after.removeprefix("after_")): turn for after, turn in turns.items()}
        self.has_more: bool | None = None
        self.tells_total = True

    async def read(self, number: int, cursor: str) -> Page:
        shown = self.rows[number * self.size : (number + 1) * self.size]
        page = Page([{"id": row} for row in shown], self.has_more, len(self.rows) if self.tells_total else None)
        self.reads += 1
        if self.reads in self.turns:
            self.turns[self.reads](self)
        return page


def read_all(played: PlayedList) -> list[int]:
    async def run() -> list[int]:
        return [row["id"] async for row in read_pages(played.read, lambda row: row["id"])]

    return asyncio.run(run())


def test_a_row_that_moves_to_a_page_before_is_not_lost() -> None:
    played = PlayedList([1, 2, 3, 4, 5, 6], after_1=lambda played: played.rows.remove(1))
    assert sorted(read_all(played)) == [1, 2, 3, 4, 5, 6]


def test_rows_that_are_added_meanwhile_are_yielded_once() -> None:
    played = PlayedList([1, 2, 3, 4], after_1=lambda played: played.rows.insert(0, 9))
    assert sorted(read_all(played)) == [1, 2, 3, 4]
    grown = PlayedList([1, 2, 3, 4], after_1=lambda played: played.rows.extend([5, 6, 7]))
    assert read_all(grown) == [1, 2, 3, 4, 5, 6, 7]


def test_a_whole_page_of_known_rows_does_not_end_a_list() -> None:
    played = PlayedList([1, 2, 3, 4, 5], after_1=lambda played: played.rows.__setitem__(slice(0, 0), [8, 9]))
    played.has_more, played.tells_total = None, False
    assert sorted(read_all(played)) == [1, 2, 3, 4, 5]


def test_a_marker_that_says_the_end_too_early_is_not_believed_against_the_total() -> None:
    played = PlayedList([1, 2, 3, 4, 5])
    played.has_more = False
    assert read_all(played) == [1, 2, 3, 4, 5]


def test_a_marker_that_always_promises_more_is_not_followed_for_ever() -> None:
    reads = 0

    async def repeat(number: int, cursor: str) -> Page:
        nonlocal reads
        reads += 1
        return Page([{"id": 1}, {"id": 2}], has_more=True, total=1_000_000)

    async def run() -> list[Any]:
        return [row async for row in read_pages(repeat, lambda row: row["id"])]

    assert asyncio.run(run()) == [{"id": 1}, {"id": 2}]
    assert reads == 1 + pages.MOST_REPEATS


def test_a_cursor_that_comes_again_is_not_followed_for_ever() -> None:
    async def repeat(number: int, cursor: str) -> Page:
        return Page([{"id": 1}], has_more=False, cursor="again")

    async def run() -> list[Any]:
        return [row async for row in read_pages(repeat, lambda row: row["id"])]

    assert asyncio.run(run()) == [{"id": 1}]


def test_a_list_without_an_end_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_PAGES", 20)

    async def count_up(number: int, cursor: str) -> Page:
        return Page([{"id": number}], has_more=True)

    async def run() -> list[Any]:
        return [row async for row in read_pages(count_up, lambda row: row["id"])]

    with pytest.raises(UnreadableAnswer, match="does not end"):
        asyncio.run(run())


def test_an_empty_page_ends_a_list_whatever_its_marker_says() -> None:
    async def run(found: Page) -> int:
        async def read(number: int, cursor: str) -> Page:
            return msgspec.structs.replace(found, rows=[{"id": 1}] if number == 0 else [])

        return len([row async for row in read_pages(read, lambda row: row["id"])])

    for found in (Page([], True), Page([], None), Page([], True, 500), Page([], True, cursor="x")):
        assert asyncio.run(run(found)) == 1
