"""Cards over HTTP where two things meet: what their records and events say, fees that fall due beside other changes,
other merchants' payments, and books that were begun anew."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

START = "2026-01-15T10:00:00+01:00"


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=START)


def all_records(card: CardClient) -> list[Any]:
    return card.records(from_date="2026-01-01", to_date="2030-01-01", limit=200)


def adds_up(card: CardClient) -> bool:
    return sum(round(line["effect"] * 100) for line in all_records(card)) == card.balance


def payload_of(shop: MerchantClient, txn_ref: str) -> Any:
    (event,) = shop.put("resources", inquire="events", txnRef=txn_ref).body["data"]
    return event["payload"]


# --- what records and events say --------------------------------------------------------------------------------


@pytest.mark.parametrize(("currency", "amount"), [("USD", "100"), ("NGN", "100000")])
def test_the_records_of_a_card_add_up_to_its_balance(shop: MerchantClient, currency: str, amount: str) -> None:
    card = CardClient(shop, currency=currency, amount=amount)
    assert adds_up(card)
    card.ask("fund", amount="20.00")
    bought = card.buy("12.34")["txnRef"]
    card.buy("1", currency="GHS")
    card.buy("9000000")
    card.refund(bought, amount="2.34")
    shop.advance(days=95)
    card.ask("withdraw", amount="3.21")
    assert adds_up(card)
    card.ask("terminate")
    card.refund(bought)
    assert (card.balance, adds_up(card)) == (0, True)
    assert all_records(card)[0]["narration"] == "Card Refund to Wallet"


def test_the_vat_of_every_fee_is_a_line_of_its_own(shop: MerchantClient) -> None:
    before = shop.wallet("USD").balance
    card = CardClient(shop, amount="50")
    card.ask("fund", amount="20.00")
    spent = sum(
        round((line["amount"] + line["fee"]) * 100)
        for line in all_records(card)
        if line["narration"] not in ("Card Funding", "Monthly Fee")
    )
    assert before - shop.wallet("USD").balance == spent
    shop.advance(until="2026-02-15T00:00:00+01:00")
    lines = [(line["narration"], line["amount"], line["effect"]) for line in card.records()[:2]]
    assert lines == [("Monthly Fee", 1.0, -1.0), ("VAT on Monthly Fee", 0.08, -0.08)]


def test_a_declined_purchase_shows_the_currency_of_the_shop(shop: MerchantClient) -> None:
    card = CardClient(shop)
    for currency in ("GHS", "NGN"):
        card.ask("block")
        declined = card.buy("77.00", currency=currency)
        line = card.records()[0]
        assert (line["currency"], line["amount"], line["status"], line["effect"]) == (currency, 77.0, "Failed", 0.0)
        payload = payload_of(shop, declined["txnRef"])
        assert (payload["currency"], payload["chargedAmount"], payload["txnStatus"]) == (currency, "0.00", "failed")


def test_events_and_records_of_purchases_and_refunds_name_their_card(shop: MerchantClient) -> None:
    card = CardClient(shop)
    bought = card.buy("10.00")["txnRef"]
    back = card.refund(bought, amount="4.00")["txnRef"]
    assert payload_of(shop, bought) == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": bought,
        "chargedAmount": "10.00",
        "paymentMethod": "virtual_card",
        "endpoint": "test",
        "kind": "card_purchase",
        "currency": "USD",
        "reference": card.reference,
    }
    refund, purchase = card.records()[:2]
    assert (purchase["reference"], purchase["txnRef"], "refundOf" in purchase) == (card.reference, bought, False)
    assert (refund["reference"], refund["txnRef"], refund["refundOf"]) == (card.reference, back, bought)
    events = {line["txnRef"]: line["payload"] for line in shop.put("resources", inquire="events").body["data"]}
    assert (events[back]["reference"], events[back]["refundOf"]) == (card.reference, bought)
    assert "refundOf" not in events[bought]


def test_an_amount_in_another_currency_than_the_cards_is_refused(shop: MerchantClient) -> None:
    card = CardClient(shop)
    for action in ("fund", "withdraw"):
        refused = card.ask(action, amount="10.00", currency="NGN")
        assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["currency"])
        assert card.ask(action, amount="10.00", currency="USD")["status"] == 200
    assert card.balance == 10_000


# --- fees beside other changes ----------------------------------------------------------------------------------


def test_a_blocked_card_pays_its_monthly_fee_and_stays_blocked(shop: MerchantClient) -> None:
    card = CardClient(shop)
    card.ask("block")
    shop.advance(until="2026-02-15T00:00:00+01:00")
    assert (card.state, card.balance) == ("blocked", 10_000 - 108)


def test_a_card_terminated_on_the_day_of_its_fee_pays_either_once_or_not_at_all(shop: MerchantClient) -> None:
    card = CardClient(shop)
    shop.advance(until="2026-02-14T23:59:59+01:00")
    card.ask("terminate")
    assert shop.advance(days=60)["ran"] == {}
    assert not [line for line in all_records(card) if line["narration"] == "Monthly Fee"]


def test_a_purchase_during_a_block_is_paid_before_it_or_declined_after(
    shop: MerchantClient, deployment: Deployment
) -> None:
    card = CardClient(shop)

    def act(turn: int) -> Any:
        with deployment.connect() as wire:
            other = MerchantClient(wire, shop.mid, shop.key)
            if turn == 4:
                return other.put("virtualcard", action="block", reference=card.reference).body
            return other.put("sandbox", action="card_purchase", reference=card.reference, amount="1.00").body

    with ThreadPoolExecutor(5) as pool:
        replies = list(pool.map(act, range(9)))
    paid = sum(reply.get("txnStatus") == "successful" for reply in replies)
    declined = [reply for reply in replies if reply.get("txnStatus") == "failed"]
    assert {reply["bank_message"] for reply in declined} <= {"The card is blocked"}
    assert (card.balance, card.state, adds_up(card)) == (10_000 - 100 * paid, "blocked", True)


# --- other merchants' payments ----------------------------------------------------------------------------------


def shown(card: CardClient) -> dict[str, str]:
    year, month = card.data["expiration"].split("-")
    number, cvv = card.data["cardpan"], card.data["cvv"]
    return {"card_no": number, "expiry_month": month, "expiry_year": year[2:], "ccv": cvv, "pin": "4321"}


def pay_with(payments: PaymentClient, card: CardClient, scenario: str = "") -> Any:
    """A payment of NGN 1,500.00 in the till's shop."""
    begun = payments.initiate(shown(card))
    headers = {"x-sandbox-scenario": scenario} if scenario else None
    return payments.charge(begun, shown(card), headers)


def test_a_refund_to_a_card_terminated_during_its_payment_goes_to_the_wallet(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    payments, card = PaymentClient(open_shop(now=START)), CardClient(shop, currency="NGN", amount=20_000)
    before = shop.wallet().balance
    pending = pay_with(payments, card, "delay=60")
    assert pending["txnStatus"] == "pending"
    card.ask("terminate")
    assert shop.wallet().balance == before + 1_850_000
    payments.shop.advance(minutes=5)
    assert payments.verify(pending["txnRef"])["txnStatus"] == "successful"
    assert payments.refund(pending["txnRef"], 1500)["txnStatus"] == "successful"
    assert shop.wallet().balance == before + 2_000_000
    assert (card.balance, adds_up(card)) == (0, True)
