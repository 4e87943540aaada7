"""Tests of the payouts, with the fixtures of the pytest plugin."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal

import pytest
from payouts import Payouts, order_ref

from kasuwa.testing import SandboxMerchant

AMOUNT = Decimal("1500.00")
SELLER = {"seller": "Ada Stores", "amount": AMOUNT, "bank": "058", "account": "0000000000"}


@pytest.fixture
def payouts(kasuwa: SandboxMerchant) -> Iterator[Payouts]:
    database = sqlite3.connect(":memory:")
    yield Payouts(kasuwa.client, database)
    database.close()


def deliver(payouts: Payouts, kasuwa: SandboxMerchant) -> list[int]:
    """Hands the new events to the application, and returns its answers."""
    return kasuwa.events.hand_over(lambda body, headers: payouts.receive_event(body, headers, kasuwa.key))


def test_a_payout_leaves_the_wallet_with_its_fee(payouts: Payouts, kasuwa: SandboxMerchant) -> None:
    number = payouts.pay_out("Ada Stores", AMOUNT, "058", "0000000000")
    assert payouts.status(number) == "successful"
    assert kasuwa.wallet() == Decimal("50000.00") - AMOUNT - Decimal("10.75")
    assert kasuwa.events.one("transfer", ref=order_ref(number)).txn_status == "successful"


def test_a_payout_that_never_arrived_is_given_back(payouts: Payouts, kasuwa: SandboxMerchant) -> None:
    with kasuwa.fault("bank", "reset", times=1):
        number = payouts.pay_out("Ada Stores", AMOUNT, "058", "0000000000")
    assert payouts.status(number) == "processing"
    kasuwa.advance(days=1)  # the service asks the bank until it is sure
    assert deliver(payouts, kasuwa) == [200]
    assert payouts.status(number) == "failed"
    assert kasuwa.wallet() == Decimal("50000.00")


@pytest.mark.kasuwa(balance="100.00")
def test_a_payout_beyond_the_wallet_fails_at_once(payouts: Payouts, kasuwa: SandboxMerchant) -> None:
    number = payouts.pay_out("Ada Stores", AMOUNT, "058", "0000000000")
    assert payouts.status(number) == "failed"
    assert kasuwa.wallet() == Decimal("100.00")
    assert kasuwa.events.all() == []


def test_an_event_that_comes_twice_counts_once(payouts: Payouts, kasuwa: SandboxMerchant) -> None:
    kasuwa.events.duplicate()
    number = payouts.pay_out("Ada Stores", AMOUNT, "058", "0000000000")
    assert deliver(payouts, kasuwa) == [200, 200]
    assert payouts.status(number) == "successful"


def test_an_event_of_somebody_else_is_refused(payouts: Payouts, kasuwa: SandboxMerchant) -> None:
    stranger = kasuwa.shop()
    stranger.client.disburse.transfer(
        amount="100.00", bankcode="058", accountnumber="0000000000", order_ref=order_ref(1)
    )
    answers = stranger.events.hand_over(lambda body, headers: payouts.receive_event(body, headers, kasuwa.key))
    assert answers == [400]


def test_the_exchange_of_a_payout_is_as_recorded(kasuwa: SandboxMerchant) -> None:
    with kasuwa.golden("payout") as shop, closing(sqlite3.connect(":memory:")) as database:
        payouts = Payouts(shop.client, database)
        payouts.pay_out("Ada Stores", AMOUNT, "058", "0000000000")
        payouts.pay_out("Bola Ade", AMOUNT, "058", "0000005100")
