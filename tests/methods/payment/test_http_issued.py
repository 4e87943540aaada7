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


class Scene:
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
def scene(deployment: Deployment, open_shop: Callable[..., MerchantClient]) -> Scene:
    return Scene(deployment, open_shop(), open_shop(name="Ada Stores"))


def other_digits(said: str) -> str:
    return f"{(int(said) + 1) % 1000:03d}"


# --- paid -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("same", [False, True], ids=["another merchant's", "its own"])
def test_a_card_pays_in_a_shop(deployment: Deployment, open_shop: Callable[..., MerchantClient], same: bool) -> None:
    holder = open_shop(name="Ada Stores")
    scene = Scene(deployment, holder, holder if same else open_shop(name="Ada Stores"))
    before = scene.client.shop.wallet().balance
    paid = scene.pay()
    assert (paid["status"], paid["txnStatus"], paid["chargedAmount"]) == (200, "successful", "1500.00")
    assert paid["card"]["mask"] == f"{scene.shown['card_no'][:6]}******{scene.shown['card_no'][-4:]}"
    assert scene.client.shop.wallet().balance - before == SETTLED
    assert scene.card.balance == 2_000_000 - 150_000
    assert scene.card.record_summaries()[0] == ("Card Purchase", 1500.0, 0.0, "Successful")
    assert scene.clearing() == (-150_000, 150_000)
    assert scene.client.verify(paid["txnRef"])["txnStatus"] == "successful"


def test_a_card_in_dollars_pays_in_naira_at_the_operators_rate(deployment: Deployment, open_shop: Any) -> None:
    scene = Scene(deployment, open_shop(), open_shop(), currency="USD", amount=100)
    assert scene.pay()["txnStatus"] == "successful"
    assert scene.card.balance == 10_000 - 100
    assert scene.clearing() == (-150_000, 150_000)


def test_a_charge_that_is_repeated_answers_the_result_and_takes_nothing_more(scene: Scene) -> None:
    begun = scene.client.initiate(scene.shown)
    first, again = (scene.client.charge(begun, scene.shown) for _ in range(2))
    assert (first["txnStatus"], again["txnStatus"]) == ("successful", "successful")
    assert scene.card.balance == 2_000_000 - 150_000


def test_a_saved_card_is_charged_without_its_cvv_until_it_is_blocked(scene: Scene) -> None:
    token = scene.pay()["cardToken"]
    again = scene.client.charge_token(token)
    assert (again["txnStatus"], scene.card.balance) == ("successful", 2_000_000 - 300_000)
    scene.card.ask("block")
    refused = scene.client.charge_token(token)
    assert (refused["txnStatus"], refused["bank_message"]) == ("failed", "The card is blocked")
    assert scene.clearing() == (-300_000, 300_000)


def next_month(scene: Scene) -> dict[str, Any]:
    year, month = (int(part) for part in scene.client.shop.now()[:7].split("-"))
    day = f"01-{month % 12 + 1:02d}-{year + month // 12}"
    return {"total": "1500.00", "payment_schedule": {day: 100}}


def test_with_nothing_due_today_a_card_is_checked_and_charged_on_its_day(scene: Scene) -> None:
    plan = {"amount": None, "installment": next_month(scene)}
    begun = scene.client.initiate(scene.shown, **plan)
    assert scene.client.charge(begun, scene.shown, **plan)["txnStatus"] == "successful"
    assert (scene.card.balance, scene.card.record_summaries()[0]) == (
        2_000_000,
        ("Card Purchase", 0.0, 0.0, "Successful"),
    )
    wrong = {**scene.shown, "ccv": other_digits(scene.shown["ccv"])}
    assert scene.client.charge(scene.client.initiate(wrong, **plan), wrong, **plan)["txnStatus"] == "failed"
    scene.client.shop.advance(days=32)
    assert (scene.card.balance, scene.clearing()) == (2_000_000 - 150_000, (-150_000, 150_000))


@pytest.mark.parametrize("http", [None, "timeout"])
def test_a_card_pays_into_savings_in_one_step(scene: Scene, http: str | None) -> None:
    """Begun and charged at once. A line that breaks does so at the beginning: nothing was taken, and it fails."""
    shop = scene.client.shop
    savings_id = open_savings(shop, enroll(shop))
    said = {"action": "deposit", "savings_id": savings_id, "payment_method": "card", "amount": "1500.00"}
    headers = None if http is None else {"x-sandbox-scenario": f"http={http}"}
    paid = shop.send_fields("investments", {**said, "card": scene.shown}, headers=headers).body
    if http is not None:
        assert paid["txnStatus"] == "pending"
        shop.advance(minutes=11)
    ends, taken = ("successful", 150_000) if http is None else ("failed", 0)
    assert (scene.client.verify(paid["txnRef"])["txnStatus"], balance(shop, savings_id)) == (ends, taken)
    assert (scene.card.balance, scene.clearing()) == (2_000_000 - taken, (-taken, taken))


# --- declined ---------------------------------------------------------------------------------------------------------


def block(scene: Scene) -> dict[str, str]:
    scene.card.ask("block")
    return {}


def terminate(scene: Scene) -> dict[str, str]:
    scene.card.ask("terminate")
    return {}


def spend(scene: Scene) -> dict[str, str]:
    scene.card.ask("withdraw", amount="18500.01")
    return {}


def limit(scene: Scene) -> dict[str, str]:
    scene.card.ask("limits", limits={"per_transaction": "1499.99"})
    return {}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (block, "The card is blocked"),
        (terminate, "The card is terminated"),
        (spend, "Insufficient funds"),
        (limit, "Exceeds the card's limit of NGN 1499.99 for one transaction"),
        (lambda scene: {"ccv": other_digits(scene.shown["ccv"])}, "CVV validation error"),
        (lambda scene: {"expiry_year": "39"}, "Expired card"),
        (lambda scene: {"card_no": "4000000000000002"}, "Invalid card number"),
    ],
)
def test_a_decline_tells_the_issuers_reason_and_takes_nothing(
    scene: Scene, change: Callable[[Scene], dict[str, str]], said: str
) -> None:
    changes = change(scene)
    before, held = scene.client.shop.wallet(), scene.card.balance
    declined = scene.pay(None, **changes)
    assert (declined["status"], declined["txnStatus"]) == (200, "failed")
    assert declined["bank_message"].lower() == said.lower()
    assert (scene.client.shop.wallet(), scene.card.balance, scene.clearing()[0]) == (before, held, 0)
    assert "cardToken" not in declined


def test_the_scenario_header_declines_an_issued_card(scene: Scene) -> None:
    declined = scene.pay({"x-sandbox-scenario": "rr=91"})
    assert (declined["txnStatus"], scene.card.balance) == ("failed", 2_000_000)


# --- not known ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("http", "wait", "ends", "taken"),
    [("timeout", {"seconds": 6}, "successful", 150_000), ("reset", {"minutes": 11}, "failed", 0)],
)
def test_a_lost_answer_is_queried_and_the_charge_not_repeated(
    scene: Scene, http: str, wait: dict[str, int], ends: str, taken: int
) -> None:
    pending = scene.pay({"x-sandbox-scenario": f"http={http}"})
    assert (pending["txnStatus"], scene.card.balance) == ("pending", 2_000_000 - taken)
    scene.client.shop.advance(**wait)
    told = scene.client.verify(pending["txnRef"])
    assert (told["txnStatus"], scene.card.balance) == (ends, 2_000_000 - taken)
    assert scene.clearing() == (-taken, taken)
    if taken:
        assert scene.client.refund(pending["txnRef"], "1500.00")["txnStatus"] == "successful"
        assert scene.card.balance == 2_000_000


@pytest.mark.parametrize("http", ["timeout", "unavailable"])
def test_a_saved_cards_charge_is_found_or_sent_again_under_its_key(scene: Scene, http: str) -> None:
    token = scene.pay()["cardToken"]
    pending = scene.client.charge_token(token, {"x-sandbox-scenario": f"http={http}"})
    assert pending["txnStatus"] == "pending"
    scene.client.shop.advance(seconds=40)
    assert scene.client.verify(pending["txnRef"])["txnStatus"] == "successful"
    assert (scene.card.balance, scene.clearing()) == (2_000_000 - 300_000, (-300_000, 300_000))
    assert scene.client.refund(pending["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert scene.card.balance == 2_000_000 - 150_000


def test_a_delayed_answer_is_queried_until_known(scene: Scene) -> None:
    pending = scene.pay({"x-sandbox-scenario": "delay=60"})
    scene.client.shop.advance(seconds=31)
    assert scene.client.verify(pending["txnRef"])["txnStatus"] == "pending"
    scene.client.shop.advance(minutes=3)
    assert scene.client.verify(pending["txnRef"])["txnStatus"] == "successful"


# --- given back -------------------------------------------------------------------------------------------------------


def test_refunds_go_back_to_the_card(scene: Scene) -> None:
    paid, wallet = scene.pay(), scene.client.shop.wallet().balance
    for amount in ("400.00", "1100.00"):
        assert scene.client.refund(paid["txnRef"], amount)["txnStatus"] == "successful"
    assert scene.client.refund(paid["txnRef"], "0.01")["status"] == 104
    assert (scene.card.balance, scene.clearing()) == (2_000_000, (0, 0))
    assert wallet - scene.client.shop.wallet().balance == 150_000
    assert scene.card.record_summaries()[0] == ("Card Refund", 1100.0, 0.0, "Successful")


def test_a_refund_may_be_declined_or_lost_and_is_asked_after(scene: Scene) -> None:
    paid = scene.pay()
    declined = scene.client.refund(paid["txnRef"], "100.00", {"x-sandbox-scenario": "rr=05"})
    assert (declined["txnStatus"], declined["refundableAmount"]) == ("failed", "1500.00")
    lost = scene.client.refund(paid["txnRef"], "100.00", {"x-sandbox-scenario": "http=timeout"})
    assert (lost["txnStatus"], scene.card.balance) == ("pending", 2_000_000 - 140_000)
    scene.client.shop.advance(seconds=6)
    left = scene.client.refund(paid["txnRef"], "1400.00")
    assert (left["txnStatus"], left["refundedAmount"], scene.card.balance) == ("successful", "1500.00", 2_000_000)


def test_a_refund_to_a_terminated_card_goes_to_its_merchants_wallet(scene: Scene) -> None:
    paid = scene.pay()
    scene.card.ask("terminate")
    before = scene.card.shop.wallet().balance
    assert scene.client.refund(paid["txnRef"], "1500.00")["txnStatus"] == "successful"
    assert scene.card.shop.wallet().balance - before == 150_000


# --- at once ----------------------------------------------------------------------------------------------------------


def test_twenty_payments_at_once_on_a_card_that_covers_ten(deployment: Deployment, scene: Scene) -> None:
    scene.card.ask("withdraw", amount="5000.00")
    begun = [scene.client.initiate(scene.shown) for _ in range(20)]
    start, ends = threading.Barrier(len(begun)), [""] * len(begun)

    def charge(place: int) -> None:
        with deployment.connect() as wire:
            client = PaymentClient(MerchantClient(wire, scene.client.shop.mid, scene.client.shop.key))
            start.wait()
            ends[place] = client.charge(begun[place], scene.shown)["txnStatus"]

    crowd = [threading.Thread(target=charge, args=(place,)) for place in range(len(begun))]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    assert sorted(ends) == ["failed"] * 10 + ["successful"] * 10
    assert (scene.card.balance, scene.clearing()) == (0, (-1_500_000, 1_500_000))
