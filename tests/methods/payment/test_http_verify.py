"""Verify over HTTP: the payer's next step while a payment is pending, and its refunds."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient, card

NOW = "2026-01-05T09:30:00+01:00"
REFUND_FAILS = "4111110000050018"
AWAY = {"x-sandbox-scenario": "http=unavailable"}
LOST = {"x-sandbox-scenario": "http=timeout"}


@pytest.fixture
def client(open_shop: Callable[..., MerchantClient]) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


SHOWN: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "ussd": ({"bank": "gtb"}, ("ussd_code",)),
    "qrpay": ({}, ("qr_code", "qr_image")),
    "bank_transfer": ({}, ("accountNumber", "accountName", "bankName", "amount")),
    "mobile_money": ({"type": "paga", "redirect_url": "https://shop.example/back"}, ("authURL",)),
    "phone": ({"phonenumber": "08031234567"}, ("auth_type",)),
}


@pytest.mark.parametrize("method", SHOWN)
@pytest.mark.parametrize("headers", [AWAY, LOST, None], ids=["away", "lost", "there"])
def test_verify_returns_the_payers_step_once_the_rail_has_answered(
    client: PaymentClient, method: str, headers: dict[str, str] | None
) -> None:
    fields, shown = SHOWN[method]
    request = {"action": "charge", "paymentType": method, "amount": "1000.00", **fields}
    charged = client.pay(headers, **request)
    if headers is not None:
        assert charged["txnStatus"] == "pending"
        client.shop.advance(seconds=5)
    verified = client.verify(charged["txnRef"])
    assert verified["txnStatus"] == "pending"
    assert all(verified[name] for name in shown), verified
    assert verified["expires_at"] == "2026-01-05T08:40:00.000Z"
    if headers is None:
        assert {name: verified[name] for name in shown} == {name: charged[name] for name in shown}


def test_a_failed_refund_shows_in_verify_and_is_found_by_its_reference(client: PaymentClient) -> None:
    paid = client.paid(REFUND_FAILS)
    failed = client.refund(paid["txnRef"], "100.00")
    assert (failed["txnStatus"], failed["amount"], failed["refundableAmount"]) == ("failed", "100.00", "1500.00")
    (line,) = client.verify(paid["txnRef"])["refunds"]
    assert (line["refundRef"], line["txnStatus"], line["amount"]) == (failed["refundRef"], "failed", "100.00")
    assert line["message"] == failed["message"]
    for named in ({"refundRef": failed["refundRef"]}, {"txnRef": failed["refundRef"]}):
        found = client.pay(action="verify", **named)
        assert (found["txnStatus"], found["txnRef"], found["refundRef"]) == (
            "failed",
            paid["txnRef"],
            failed["refundRef"],
        )
        assert (found["chargedAmount"], found["amount"], found["refundedAmount"]) == (0, "100.00", "0.00")


def test_refunds_of_a_payment_are_listed_with_what_became_of_each(client: PaymentClient) -> None:
    paid = client.paid()
    first = client.refund(paid["txnRef"], "100.00")
    second = client.refund(paid["txnRef"], "200.00", LOST)
    assert (first["txnStatus"], second["txnStatus"]) == ("successful", "pending")
    verified = client.verify(paid["txnRef"])
    assert {line["refundRef"]: line["txnStatus"] for line in verified["refunds"]} == {
        first["refundRef"]: "successful",
        second["refundRef"]: "pending",
    }
    assert client.pay(action="verify", refundRef=second["refundRef"])["txnStatus"] == "pending"
    client.shop.advance(seconds=5)
    found = client.pay(action="verify", refundRef=second["refundRef"])
    assert (found["txnStatus"], found["chargedAmount"], found["refundableAmount"]) == ("successful", 200, "1200.00")


def test_another_merchants_refund_is_as_unknown_as_none(
    client: PaymentClient, open_shop: Callable[..., MerchantClient]
) -> None:
    refunded = client.refund(client.paid()["txnRef"], "100.00")
    other = PaymentClient(open_shop(now=NOW))
    for named in ({"refundRef": refunded["refundRef"]}, {"txnRef": refunded["refundRef"]}, {"refundRef": "GP|RF|1"}):
        refused = other.pay(action="verify", **named)
        assert (refused["status"], refused["message"]) == (104, "Invalid Transaction Reference")


def test_events_of_payments_and_refunds_name_their_currency_and_a_refund_its_payment(client: PaymentClient) -> None:
    paid = client.paid(currency="USD", amount="15.00")
    client.refund(paid["txnRef"], "5.00")
    payment, refund = (line["payload"] for line in client.shop.put("resources", inquire="event_feed").body["data"])
    assert (payment["currency"], refund["currency"], refund["refundOf"]) == ("USD", "USD", paid["txnRef"])


def test_the_message_of_a_decline_names_the_bank(client: PaymentClient) -> None:
    declined = client.paid("4111115100000011")
    assert declined["message"] == "Charge Failed: the card's bank says: Insufficient Funds"
    assert declined["bank_message"] == "Insufficient Funds"
    assert client.verify(declined["txnRef"])["message"] == declined["message"]


# --- installment plans ------------------------------------------------------------------------------------------------


def test_an_installment_plan_is_paused_resumed_and_cancelled_over_http(client: PaymentClient) -> None:
    schedule = {"05-01-2026": 500, "05-02-2026": 500, "05-03-2026": 500}
    client.paid(amount="500.00", installment={"payment_schedule": schedule, "total": "1500.00"})
    (plan,) = client.shop.put("resources", inquire="installments").body
    change = {"inquire": "installments", "id": plan["id"]}
    paused = client.shop.put("resources", **change, status="pause").body
    assert (paused["status"], paused["data"]["state"]) == (200, "paused")
    client.shop.advance(days=40)
    assert client.shop.put("resources", **change).body[0]["paid"] == "500.00"
    client.shop.put("resources", **change, status="resume")
    client.shop.advance(seconds=1)
    (resumed,) = client.shop.put("resources", **change).body
    assert (resumed["state"], resumed["paid"]) == ("active", "1000.00")
    assert client.shop.put("resources", **change, status="cancel").body["data"]["state"] == "cancelled"
    client.shop.advance(days=40)
    assert client.shop.put("resources", **change).body[0]["paid"] == "1000.00"
    assert client.shop.put("resources", **change, status="resume").body["status"] == 104
    assert client.shop.put("resources", **change, status="stop").body["status"] == 104
    assert client.shop.put("resources", inquire="installments", id="INnothing").body["status"] == 104


# --- saved and sample cards -------------------------------------------------------------------------------------------


def test_an_expired_saved_card_is_declined_and_pauses_its_plan(client: PaymentClient) -> None:
    given = card(auth="PIN", expiry_month="01", expiry_year="26")
    begun = client.initiate(given, recurrent={"frequency": "monthly", "value": "28"})
    paid = client.charge(begun, given)
    client.shop.advance(until="2026-03-01T10:00:00+01:00")
    (plan,) = client.shop.put("resources", inquire="recurrents").body
    # The first later charge falls on the last good month, the next on the one after it.
    assert (plan["state"], plan["paid"]) == ("paused", "3000.00")
    declined = client.charge_token(paid["cardToken"])
    assert (declined["txnStatus"], "xpired" in declined["bank_message"]) == ("failed", True)


def test_the_sample_card_of_public_clients_pays_in_test(client: PaymentClient) -> None:
    sample = {"card_no": "5438898014560229", "expiry_month": "09", "expiry_year": "19", "ccv": "789", "pin": "3310"}
    begun = client.initiate(sample)
    assert (begun["status"], begun["apply_auth"]) == (202, "OTP")
    assert client.charge(begun, sample, auth_type=None)["status"] == 202
    done = client.validate(begun["txnRef"])
    assert done["txnStatus"] == "successful"
    assert client.charge_token(done["cardToken"])["txnStatus"] == "successful"


@pytest.mark.parametrize("field", ["split", "bearer", "recurrent", "customer_txnref"])
def test_a_field_only_in_charge_is_applied_over_http(client: PaymentClient, field: str) -> None:
    made = client.shop.put(
        "sandbox", action="beneficiary", name="Bola", bankcode="058", accountnumber="0000000000"
    ).body
    brought: dict[str, Any] = {
        "split": [{"ref_code": made["ref_code"], "share": "500.00"}],
        "bearer": "customer",
        "recurrent": {"frequency": "daily"},
        "customer_txnref": "basket-3",
    }
    given, before = card(auth="PIN"), client.shop.wallet().balance
    begun = client.initiate(given)
    done = client.charge(begun, given, **{field: brought[field]})
    assert done["txnStatus"] == "successful"
    gained = client.shop.wallet().balance - before
    settled = 150_000 - 2_250 - 169
    assert gained == {"split": settled - 50_000, "bearer": 150_000}.get(field, settled)
    assert len(client.shop.put("resources", inquire="recurrents").body) == (field == "recurrent")
    if field == "customer_txnref":
        assert client.pay(action="verify", customer_txnref="basket-3")["txnRef"] == begun["txnRef"]
