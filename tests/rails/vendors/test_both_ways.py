"""Where sources about a vendor differ, its adapter does right whichever of them is true."""

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from kasuwa.rails.ports import orders
from kasuwa.rails.ports.hints import Hint
from kasuwa.rails.ports.orders import IdentityQuery, NameEnquiry, UnreadableAnswer
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.paystack_accounts import Account
from kasuwa.rails.vendors.dojah import DojahIdentity
from kasuwa.rails.vendors.monnify.hints import read_hint
from tests.rails.banks import GTBANK
from tests.rails.vendors import (
    collections,
    test_dojah,
    test_monnify,
    test_monnify_accounts,
    test_paystack,
    test_paystack_accounts,
)
from tests.rails.vendors.adapters import Observed, twin_of

# --- Paystack --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tells_code", [True, False])
def test_a_used_reference_of_a_transfer_is_looked_up(tells_code: bool) -> None:
    async def work(harness: test_paystack.VendorHarness) -> None:
        harness.rules.tells_duplicate_code = tells_code
        await harness.rail.transfer(test_paystack.order())
        assert (await harness.rail.transfer(test_paystack.order())).status == orders.SUCCESSFUL
        assert len(harness.rules.transfers) == 1

    test_paystack.at_paystack(work)


@pytest.mark.parametrize("http", [400, 422])
def test_an_account_that_does_not_exist_has_no_name(http: Any) -> None:
    async def work(harness: test_paystack.VendorHarness) -> None:
        harness.rules.unresolved_http = http
        assert (await harness.rail.find_account_name(NameEnquiry(GTBANK, "0123456709"))).name is None
        answer = await harness.rail.transfer(test_paystack.order("0123456709"))
        assert (answer.status, answer.code, harness.rules.transfers) == (orders.FAILED, "07", {})

    test_paystack.at_paystack(work)


# What the vendor says of a transfer, and what a query answers then.
WORDS = {
    "success": orders.SUCCESSFUL,
    "failed": orders.FAILED,
    "reversed": orders.FAILED,
    "abandoned": orders.FAILED,
    "blocked": orders.FAILED,
    "rejected": orders.FAILED,
    "pending": orders.PROCESSING,
    "otp": orders.UNKNOWN,
    "received": orders.UNKNOWN,
    "queued": orders.UNREADABLE,
    "processing": orders.UNREADABLE,
}


@pytest.mark.parametrize("first", WORDS)
@pytest.mark.parametrize("later", WORDS)
def test_a_query_tells_the_last_word_about_a_transfer(first: str, later: str) -> None:
    async def work(harness: test_paystack.VendorHarness) -> None:
        await harness.rail.transfer(test_paystack.order("0123456701"))
        [reference] = harness.rules.transfers
        for word in (first, later, later):
            body, headers = harness.rules.settle(reference, word)
            assert test_paystack.find_order(body, headers["x-paystack-signature"]) == test_paystack.order().key
            assert (await harness.rail.query(test_paystack.order())).status == WORDS[word]

    test_paystack.at_paystack(work)


@pytest.mark.parametrize("http", [400, 404])
def test_an_unknown_payment_is_not_found_at_paystack(http: Any) -> None:
    async def work(harness: collections.PaystackHarness) -> None:
        harness.rules.access.accounts.not_found_http = http
        assert (await harness.rail.query(collections.order(), None)).status == orders.NOT_FOUND

    collections.at_paystack(work)


@pytest.mark.parametrize("wrong_otp", ["refused", "failed"])
def test_a_wrong_otp_is_asked_for_again_only_while_the_charge_is_open(wrong_otp: Any) -> None:
    async def work(harness: collections.PaystackHarness) -> None:
        harness.rules.wrong_otp = wrong_otp
        begun = await harness.rail.begin(collections.order("account", payer="0123456701", provider="058"), None)
        changes = {"step": orders.VALIDATE, "session": begun.facts["session"]}
        sent = collections.order("account", payer="0123456701", **changes)
        expected = orders.WRONG_CODE if wrong_otp == "refused" else orders.FAILED
        assert (await harness.rail.validate(sent, "999999")).status == expected

    collections.at_paystack(work)


@pytest.mark.parametrize("repeats", [True, False])
def test_an_account_whose_opening_was_lost_is_opened_once(repeats: bool) -> None:
    async def work(harness: test_paystack_accounts.VendorHarness) -> None:
        harness.rules.repeats_accounts = repeats
        harness.twin.add_fault("lose", test_paystack_accounts.PATH, method="POST")
        with pytest.raises(orders.NoAnswer):
            await harness.rail.open(test_paystack_accounts.order())
        assert (await harness.rail.open(test_paystack_accounts.order())).status == orders.SUCCESSFUL
        assert harness.opened == 1

    test_paystack_accounts.at_paystack(work)


@pytest.mark.parametrize("marker", ["pageCount", "total", "none"])
def test_an_account_behind_a_page_of_closed_ones_is_found(marker: Any) -> None:
    async def work(harness: test_paystack_accounts.VendorHarness) -> None:
        harness.rules.page_marker = marker
        opened = await harness.rail.open(test_paystack_accounts.order())
        [customer] = harness.rules.customers.values()
        customer.closed = [Account(n, f"99000000{n:02d}", "test-bank", is_active=False) for n in range(1, 8)]
        assert await harness.rail.query(test_paystack_accounts.order()) == opened

    test_paystack_accounts.at_paystack(work)


# --- Monnify ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("amount", [1, 99, 150_000, 2**40 + 1])
def test_amounts_of_transfers_are_read_as_numbers_and_as_texts(as_text: bool, amount: int) -> None:
    async def work(harness: test_monnify.VendorHarness) -> None:
        harness.rules.writes_amounts_as_text = as_text
        harness.rules.balance = Decimal(2**40)
        order = test_monnify.order(amount=amount)
        assert (await harness.rail.transfer(order)).status == orders.PROCESSING
        assert (await harness.rail.query(order)).status == orders.SUCCESSFUL

    test_monnify.at_monnify(work)


@pytest.mark.parametrize("as_numbers", [True, False])
def test_codes_are_read_as_numbers_and_as_texts(as_numbers: bool) -> None:
    async def work(harness: test_monnify.VendorHarness) -> None:
        harness.rules.writes_codes_as_numbers = as_numbers
        await harness.rail.transfer(test_monnify.order())
        harness.rules.end_token()  # the next call is refused with a code
        assert (await harness.rail.query(test_monnify.order())).status == orders.SUCCESSFUL

    test_monnify.at_monnify(work)


@pytest.mark.parametrize("http", [400, 404])
def test_an_unknown_reference_is_not_found_at_monnify(http: Any) -> None:
    async def ask_for_transfer(harness: test_monnify.VendorHarness) -> None:
        harness.rules.not_found_http = http
        assert (await harness.rail.query(test_monnify.order())).status == orders.NOT_FOUND

    async def ask_for_payment(harness: collections.MonnifyHarness) -> None:
        harness.bank.not_found_http = http
        assert (await harness.rail.query(collections.order(), None)).status == orders.NOT_FOUND

    test_monnify.at_monnify(ask_for_transfer)
    collections.at_monnify(ask_for_payment)


@pytest.mark.parametrize("code", ["M01", "M02", "99"])
def test_a_refund_that_met_a_fault_of_the_vendor_is_no_failed_refund(code: str) -> None:
    async def work(harness: collections.MonnifyHarness) -> None:
        await harness.pay_card()
        harness.rules.refund_code = code
        assert (await harness.rail.refund(collections.refund_order())).status == orders.NOT_FOUND

    collections.at_monnify(work)


@pytest.mark.parametrize("lists_sources", [True, False])
def test_the_sender_of_a_receipt_is_read_from_a_list_and_from_an_object(lists_sources: bool) -> None:
    async def work(harness: test_monnify_accounts.VendorHarness) -> None:
        harness.rules.lists_sources = lists_sources
        order = test_monnify_accounts.order()
        number = (await harness.rail.open(order)).facts["account_number"]
        body, _ = harness.rules.pay_into(number, Decimal("1500.00"))
        [reference] = harness.rules.payments
        assert read_hint(body) == Hint("receipt", reference)
        receipt = await harness.rail.find_receipt(reference)
        assert receipt is not None
        assert receipt.sender_name == "CHIDI EZE"

    test_monnify_accounts.at_monnify(work)


# --- Dojah -----------------------------------------------------------------------------------------------------------


def test_a_comparison_in_place_of_a_person_is_unreadable() -> None:
    async def run() -> None:
        rules = DojahRules()
        rules.compares_in_full = True
        async with twin_of(rules) as (twin, transport):
            rail = DojahIdentity(transport, twin.url, test_dojah.KEYS, Observed())
            with pytest.raises(UnreadableAnswer):
                await rail.find_person(IdentityQuery(test_dojah.BVN))

    asyncio.run(run())
