"""Payments with a card issued here, in another merchant's shop and in its own.

The books' invariants are checked after every test. These tests also check that both rails' balances agree.
"""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import balance, enroll, open_savings
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

# 1,500.00 at the tariff's card class, less fee and VAT.
SETTLED = 150_000 - 2_250 - 169

BALANCE = """
    select coalesce(sum(posted), 0) from account a join merchant m using (merchant_id)
    where m.mid = $1 and a.name like $2
"""


class CardAndShop:
    """A card with NGN 20,000 of one merchant, and the client of the shop where it pays."""

    def __init__(self, deployment: Deployment, holder: MerchantClient, seller: MerchantClient, **fields: Any) -> None:
        self.deployment = deployment
        self.card = CardClient(holder, **{"currency": "NGN", "amount": 20_000, **fields})
        self.client = PaymentClient(seller)

    @property
    def shown(self) -> dict[str, str]:
        year, month = self.card.data["expiration"].split("-")
        return {
            "card_no": self.card.data["cardpan"],
            "expiry_month": month,
            "expiry_year": year[2:],
            "ccv": self.card.data["cvv"],
            "pin": "4321",
        }

    def pay(self, headers: dict[str, str] | None = None, **card: Any) -> Any:
        given = {**self.shown, **card}
        begun = self.client.initiate(given)
        assert (begun["status"], begun["apply_auth"]) == (202, "PIN"), begun
        return self.client.charge(begun, given, headers)

    def clearing(self) -> tuple[int, int]:
        """Returns the balances of the shop's card rail and of the card holder's issuer rail."""
        seller, holder = self.client.shop.mid, self.card.shop.mid
        owed = int(self.deployment.fetch(BALANCE, seller, "rail:card:%")[0][0])
        return owed, int(self.deployment.fetch(BALANCE, holder, "rail:issuer:%")[0][0])


@pytest.fixture
def setup(deployment: Deployment, open_shop: Callable[..., MerchantClient]) -> CardAndShop:
    return CardAndShop(deployment, open_shop(), open_shop(name="Ada Stores"))


def other_digits(text: str) -> str:
    return f"{(int(text) + 1) % 1000:03d}"


# --- paid -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("same", [False, True], ids=["another merchant's", "its own"])
def test_a_card_pays_in_a_shop(deployment: Deployment, open_shop: Callable[..., MerchantClient], same: bool) -> None:
    holder = open_shop(name="Ada Stores")
    setup = CardAndShop(deployment, holder, holder if same else open_shop(name="Ada Stores"))
    before = setup.client.shop.wallet().balance
    paid = setup.pay()
    assert (paid["status"], paid["txnStatus"], paid["chargedAmount"]) == (200, "successful", "1500.00")
    assert paid["card"]["mask"] == f"{setup.shown['card_no'][:6]}******{setup.shown['card_no'][-4:]}"
    assert setup.client.shop.wallet().balance - before == SETTLED
    assert setup.card.balance == 2_000_000 - 150_000
    assert setup.card.record_summaries()[0] == ("Card Purchase", 1500.0, 0.0, "Successful")
    assert setup.clearing() == (-150_000, 150_000)
    assert setup.client.verify(paid["txnRef"])["txnStatus"] == "successful"


def test_a_card_in_dollars_pays_in_naira_at_the_operators_rate(deployment: Deployment, open_shop: Any) -> None:
    setup = CardAndShop(deployment, open_shop(), open_shop(), currency="USD", amount=100)
    assert setup.pay()["txnStatus"] == "successful"
    assert setup.card.balance == 10_000 - 100
    assert setup.clearing() == (-150_000, 150_000)


def test_a_charge_that_is_repeated_answers_the_result_and_takes_nothing_more(setup: CardAndShop) -> None:
    begun = setup.client.initiate(setup.shown)
    first, again = (setup.client.charge(begun, setup.shown) for _ in range(2))
    assert (first["txnStatus"], again["txnStatus"]) == ("successful", "successful")
    assert setup.card.balance == 2_000_000 - 150_000


def test_a_saved_card_is_charged_without_its_cvv_until_it_is_blocked(setup: CardAndShop) -> None:
    token = setup.pay()["cardToken"]
    again = setup.client.charge_token(token)
    assert (again["txnStatus"], setup.card.balance) == ("successful", 2_000_000 - 300_000)
    setup.card.ask("block")
    refused = setup.client.charge_token(token)
    assert (refused["txnStatus"], refused["bank_message"]) == ("failed", "The card is blocked")
    assert setup.clearing() == (-300_000, 300_000)


def next_month(setup: CardAndShop) -> dict[str, Any]:
    year, month = (int(part) for part in setup.client.shop.now()[:7].split("-"))
    day = f"01-{month % 12 + 1:02d}-{year + month // 12}"
    return {"total": "1500.00", "payment_schedule": {day: 100}}


def test_with_nothing_due_today_a_card_is_checked_and_charged_on_its_day(setup: CardAndShop) -> None:
    plan = {"amount": None, "installment": next_month(setup)}
    begun = setup.client.initiate(setup.shown, **plan)
    assert setup.client.charge(begun, setup.shown, **plan)["txnStatus"] == "successful"
    assert (setup.card.balance, setup.card.record_summaries()[0]) == (
        2_000_000,
        ("Card Purchase", 0.0, 0.0, "Successful"),
    )
    wrong = {**setup.shown, "ccv": other_digits(setup.shown["ccv"])}
    assert setup.client.charge(setup.client.initiate(wrong, **plan), wrong, **plan)["txnStatus"] == "failed"
    setup.client.shop.advance(days=32)
    assert (setup.card.balance, setup.clearing()) == (2_000_000 - 150_000, (-150_000, 150_000))


@pytest.mark.parametrize("http", [None, "timeout"])
def test_a_card_pays_into_savings_in_one_step(setup: CardAndShop, http: str | None) -> None:
    """Begun and charged at once. A line that breaks does so at the beginning: nothing was taken, and it fails."""
    shop = setup.client.shop
    savings_id = open_savings(shop, enroll(shop))
    fields = {"action": "deposit", "savings_id": savings_id, "payment_method": "card", "amount": "1500.00"}
    headers = None if http is None else {"x-sandbox-scenario": f"http={http}"}
    paid = shop.send_fields("investments", {**fields, "card": setup.shown}, headers=headers).body
    if http is not None:
        assert paid["txnStatus"] == "pending"
        shop.advance(minutes=11)
    ends, taken = ("successful", 150_000) if http is None else ("failed", 0)
    assert (setup.client.verify(paid["txnRef"])["txnStatus"], balance(shop, savings_id)) == (ends, taken)
    assert (setup.card.balance, setup.clearing()) == (2_000_000 - taken, (-taken, taken))


# --- declined ---------------------------------------------------------------------------------------------------------


def block(setup: CardAndShop) -> dict[str, str]:
    setup.card.ask("block")
    return {}


def terminate(setup: CardAndShop) -> dict[str, str]:
    setup.card.ask("terminate")
    return {}


def spend(setup: CardAndShop) -> dict[str, str]:
    setup.card.ask("withdraw", amount="18500.01")
    return {}


def limit(setup: CardAndShop) -> dict[str, str]:
    setup.card.ask("limits", limits={"per_transaction": "1499.99"})
    return {}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (block, "The card is blocked"),
        (terminate, "The card is terminated"),
        (spend, "Insufficient funds"),
        (limit, "Exceeds the card's limit of NGN 1499.99 for one transaction"),
        (lambda setup: {"ccv": other_digits(setup.shown["ccv"])}, "CVV validation error"),
        (lambda setup: {"expiry_year": "39"}, "Expired card"),
        (lambda setup: {"card_no": "4000000000000002"}, "Invalid card number"),
    ],
)
def test_a_decline_tells_the_issuers_reason_and_takes_nothing(
    setup: CardAndShop, change: Callable[[CardAndShop], dict[str, str]], text: str
) -> None:
    changes = change(setup)
    before, held = setup.client.shop.wallet(), setup.card.balance
    declined = setup.pay(None, **changes)
    assert (declined["status"], declined["txnStatus"]) == (200, "failed")
    assert declined["bank_message"].lower() == text.lower()
    assert (setup.client.shop.wallet(), setup.card.balance, setup.clearing()[0]) == (before, held, 0)
    assert "cardToken" not in declined


def test_the_scenario_header_declines_an_issued_card(setup: CardAndShop) -> None:
    declined = setup.pay({"x-sandbox-scenario": "rr=91"})
    assert (declined["txnStatus"], setup.card.balance) == ("failed", 2_000_000)


# --- not known ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("http", "wait", "ends", "taken"),
    [("timeout", {"seconds": 6}, "successful", 150_000), ("reset", {"minutes": 11}, "failed", 0)],
)
def test_a_lost_answer_is_queried_and_the_charge_not_repeated(
    setup: CardAndShop, http: str, wait: dict[str, int], ends: str, taken: int
) -> None:
    pending = setup.pay({"x-sandbox-scenario": f"http={http}"})
    assert (pending["txnStatus"], setup.card.balance) == ("pending", 2_000_000 - taken)
    setup.client.shop.advance(**wait)
    verified = setup.client.verify(pending["txnRef"])
    assert (verified["txnStatus"], setup.card.balance) == (ends, 2_000_000 - taken)
    assert setup.clearing() == (-taken, taken)
    if taken:
        assert setup.client.refund(pending["txnRef"], "1500.00")["txnStatus"] == "successful"
        assert setup.card.balance == 2_000_000


@pytest.mark.parametrize("http", ["timeout", "unavailable"])
def test_a_saved_cards_charge_is_found_or_sent_again_under_its_key(setup: CardAndShop, http: str) -> None:
    token = setup.pay()["cardToken"]
    pending = setup.client.charge_token(token, {"x-sandbox-scenario": f"http={http}"})
    assert pending["txnStatus"] == "pending"
    setup.client.shop.advance(seconds=40)
    assert setup.client.verify(pending["txnRef"])["txnStatus"] == "successful"
    assert (setup.card.balance, setup.clearing()) == (2_000_000 - 300_000, (-300_000, 300_000))
    assert setup.client.refund(pending["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert setup.card.balance == 2_000_000 - 150_000


def test_a_delayed_answer_is_queried_until_known(setup: CardAndShop) -> None:
    pending = setup.pay({"x-sandbox-scenario": "delay=60"})
    setup.client.shop.advance(seconds=31)
    assert setup.client.verify(pending["txnRef"])["txnStatus"] == "pending"
    setup.client.shop.advance(minutes=3)
    assert setup.client.verify(pending["txnRef"])["txnStatus"] == "successful"


# --- given back -------------------------------------------------------------------------------------------------------


def test_refunds_go_back_to_the_card(setup: CardAndShop) -> None:
    paid, wallet = setup.pay(), setup.client.shop.wallet().balance
    for amount in ("400.00", "1100.00"):
        assert setup.client.refund(paid["txnRef"], amount)["txnStatus"] == "successful"
    assert setup.client.refund(paid["txnRef"], "0.01")["status"] == 104
    assert (setup.card.balance, setup.clearing()) == (2_000_000, (0, 0))
    assert wallet - setup.client.shop.wallet().balance == 150_000
    assert setup.card.record_summaries()[0] == ("Card Refund", 1100.0, 0.0, "Successful")


def test_a_refund_may_be_declined_or_lost_and_is_asked_after(setup: CardAndShop) -> None:
    paid = setup.pay()
    declined = setup.client.refund(paid["txnRef"], "100.00", {"x-sandbox-scenario": "rr=05"})
    assert (declined["txnStatus"], declined["refundableAmount"]) == ("failed", "1500.00")
    lost = setup.client.refund(paid["txnRef"], "100.00", {"x-sandbox-scenario": "http=timeout"})
    assert (lost["txnStatus"], setup.card.balance) == ("pending", 2_000_000 - 140_000)
    setup.client.shop.advance(seconds=6)
    left = setup.client.refund(paid["txnRef"], "1400.00")
    assert (left["txnStatus"], left["refundedAmount"], setup.card.balance) == ("successful", "1500.00", 2_000_000)


def test_a_refund_to_a_terminated_card_goes_to_its_merchants_wallet(setup: CardAndShop) -> None:
    paid = setup.pay()
    setup.card.ask("terminate")
    before = setup.card.shop.wallet().balance
    assert setup.client.refund(paid["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert setup.card.shop.wallet().balance - before == 150_000


# --- at once ----------------------------------------------------------------------------------------------------------


def test_twenty_payments_at_once_on_a_card_that_covers_ten(deployment: Deployment, setup: CardAndShop) -> None:
    setup.card.ask("withdraw", amount="5000.00")
    begun = [setup.client.initiate(setup.shown) for _ in range(20)]
    start, ends = threading.Barrier(len(begun)), [""] * len(begun)

    def charge(place: int) -> None:
        with deployment.connect() as wire:
            client = PaymentClient(MerchantClient(wire, setup.client.shop.mid, setup.client.shop.key))
            start.wait()
            ends[place] = client.charge(begun[place], setup.shown)["txnStatus"]

    crowd = [threading.Thread(target=charge, args=(place,)) for place in range(len(begun))]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert sorted(ends) == ["failed"] * 10 + ["successful"] * 10
    assert (setup.card.balance, setup.clearing()) == (0, (-1_500_000, 1_500_000))
