"""A price that a page has shown is what is charged, then and later, whatever the tariff is by then."""

from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.checkout.payer import OK_CARD, Payer, open_checkout, verify
from tests.methods.invoices.test_http import made
from tests.running import Deployment
from tests.simulate.processes import wait_until

NOW = "2026-01-05T09:30:00+01:00"
DEARER = '{"collection":{"card_local":{"percent":"20","flat":"0","cap":null}}}'


@pytest.fixture
def shop(open_shop: Any) -> MerchantClient:
    found = open_shop(now=NOW)
    assert isinstance(found, MerchantClient)
    return found


def fee_of(shop: MerchantClient) -> Any:
    return shop.put("resources", inquire="charges", card_no="411111", amount="1000.00").body


def raise_tariff(shop: MerchantClient, deployment: Deployment) -> None:
    before = fee_of(shop)
    deployment.run_command("merchant", "set", shop.mid, "--tariff", DEARER)
    wait_until("the new tariff is in force", lambda: fee_of(shop) != before)


def charged(shop: MerchantClient) -> list[str]:
    """Returns what payers were charged, oldest first."""
    log = shop.put("resources", inquire="event_feed", limit=200).body["data"]
    return [line["payload"]["chargedAmount"] for line in log if line["kind"] == "payment"]


def test_a_subscriber_of_a_link_is_charged_what_its_page_promised(shop: MerchantClient, deployment: Deployment) -> None:
    fields: dict[str, Any] = {"title": "Class", "amount": "1000.00", "type": "recurring", "frequency": "weekly"}
    made_link = shop.put("resources", request="paylink", payer_bears_fees=True, **fields).body["data"]
    payer = Payer(shop, made_link["link"], deployment.port)
    payer.open()
    payer.path = payer.post({"fullname": "Bola", "email": "b@example.com"}).headers["location"]
    payer.open("/card")
    assert "1,016.39" in payer.html
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    raise_tariff(shop, deployment)
    shop.advance(days=15)
    assert charged(shop) == ["1016.39", "1016.39", "1016.39"]
    payer.close()


def test_a_page_that_was_open_while_the_tariff_changed_asks_again(shop: MerchantClient, deployment: Deployment) -> None:
    begun = open_checkout(shop, amount="1000.00", bearer="customer")
    payer = Payer(shop, begun["checkoutURL"], deployment.port)
    payer.open("/card")
    assert "1,016.39" in payer.html
    raise_tariff(shop, deployment)
    payer.send("pay", number=OK_CARD, expiry="12/30", cvv="000")
    assert "With this card the total is NGN 1273.89" in payer.html.replace("\N{NO-BREAK SPACE}", " ")
    assert verify(shop, begun["txnRef"])["checkout"]["attempts"] == 0
    # A lower price is shown before it is charged as well.
    deployment.run_command("merchant", "set", shop.mid, "--tariff", "{}")
    wait_until("the first tariff is in force", lambda: "1,016.39" in payer.open("/card").raw.decode())
    payer.send("pay", total="127389", number=OK_CARD, expiry="12/30", cvv="000")
    assert "NGN 1016.39" in payer.html.replace("\N{NO-BREAK SPACE}", " ")
    payer.send("pay", number=OK_CARD, expiry="12/30", cvv="000")
    payer.send("otp", otp="123456")
    assert (payer.heading, charged(shop)) == ("Payment successful", ["1016.39"])
    payer.close()


def test_the_receipt_of_a_plan_names_what_is_charged_later(shop: MerchantClient, deployment: Deployment) -> None:
    schedule = {"05-01-2026": 40, "05-02-2026": 60}
    plan = {"payment_schedule": schedule, "total": "2500.00"}
    begun = open_checkout(shop, amount=None, installment=plan, bearer="customer")
    payer = Payer(shop, begun["checkoutURL"], deployment.port)
    payer.open("/card")
    assert "1,500.00 and the fee on 05 February 2026" in payer.html
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    assert payer.heading == "Payment successful"
    raise_tariff(shop, deployment)
    shop.advance(days=32)
    first, second = charged(shop)
    assert first == "1016.39"
    payer.open()
    assert f"Further NGN {float(second):,.2f} on 05 February 2026" in payer.html.replace("\N{NO-BREAK SPACE}", " ")
    payer.close()


def test_an_invoice_that_is_open_on_a_page_is_paid_as_it_was_shown(
    shop: MerchantClient, deployment: Deployment
) -> None:
    record = made(shop)
    payer = Payer(shop, record["link"], deployment.port)
    payer.open()
    raise_tariff(shop, deployment)
    payer.path = payer.post(payer.hidden("")).headers["location"]
    payer.pay_by_card()
    payer.send("otp", otp="123456")
    assert (payer.heading, charged(shop)) == ("Payment successful", [record["total"]])
    payer.close()
