"""Card payments over HTTP: every authentication, every step, every magic number."""

from typing import Any

import pytest

from kasuwa.core.reference_tables import load_reference_data
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import OTP, VISA_OK, PaymentClient, card
from tests.walk.bounds import CARD_SECONDS

CARDS: list[dict[str, Any]] = load_reference_data("magic_values")["cards"]
LATER = {row["rr"]: row["txnStatus"].partition(" -> ")[2] for row in CARDS if "->" in row["txnStatus"]}
PENDING_AT_FIRST = {*LATER, "99"}


@pytest.fixture
def client(shop: MerchantClient) -> PaymentClient:
    return PaymentClient(shop)


def test_a_pin_payment_completes_with_everything_the_contract_lists(client: PaymentClient) -> None:
    before = client.shop.wallet().balance
    given = card(auth="PIN")
    begun = client.initiate(given)
    assert (begun["status"], begun["apply_auth"]) == (202, "PIN")
    assert begun["txnRef"].startswith("GP")
    done = client.charge(begun, given)
    assert (done["status"], done["txnStatus"]) == (200, "successful")
    wanted = {"cardToken", "bank_message", "fullname", "email", "chargedAmount", "fraudStatus", "card", "currency"}
    assert wanted | {"payment_method", "message", "txnRef"} <= set(done)
    assert (done["chargedAmount"], done["currency"], done["payment_method"]) == ("1500.00", "NGN", "card")
    assert (done["fullname"], done["email"], done["fraudStatus"]) == ("Ada Obi", "ada@example.com", "ok")
    shown = done["card"]
    assert set(shown) == {"hash", "mask", "bin", "brand", "type", "issuer", "country"}
    assert (shown["mask"], shown["bin"], shown["brand"]) == ("411111******0013", "411111", "visa")
    # 1.5 % and 7.5 % VAT on it; the flat part is waived below 2,500.
    assert client.shop.wallet().balance - before == 150_000 - 2_250 - 169


def test_an_otp_payment_asks_for_the_code_and_ends_by_validate(client: PaymentClient) -> None:
    given = card()
    begun = client.initiate(given)
    assert (begun["status"], begun["apply_auth"], "validate" in begun) == (202, "OTP", True)
    asked = client.charge(begun, given)
    assert (asked["status"], asked["auth_type"], asked["fraudStatus"]) == (202, "OTP", "ok")
    assert "validate" in asked
    assert "authURL" not in asked
    assert client.charge(begun, given) == asked
    assert client.verify(begun["txnRef"]) | {"email": "", "fullname": "", "expires_at": ""} == {
        "status": 200,
        "txnStatus": "pending",
        "txnRef": begun["txnRef"],
        "customer_txnref": None,
        "message": "PENDING",
        "chargedAmount": 0,
        "currency": "NGN",
        "payment_method": "card",
        "fullname": "",
        "email": "",
        "bank_message": "Awaiting Validation",
        "fraudStatus": "ok",
        "auth_type": "OTP",
        "validate": asked["validate"],
        "expires_at": "",
    }
    done = client.validate(begun["txnRef"])
    assert (done["status"], done["txnStatus"], done["message"]) == (200, "successful", "Validation Successful")
    assert done["cardToken"]
    verified = client.verify(begun["txnRef"])
    assert (verified["txnStatus"], verified["chargedAmount"], verified["refundedAmount"]) == (
        "successful",
        1500.0,
        "0.00",
    )
    assert verified["cardToken"] == done["cardToken"]
    # After the end, charge answers the result, and so does a repeated validate.
    assert client.charge(begun, given)["txnStatus"] == "successful"
    assert client.validate(begun["txnRef"]) == done


def test_validate_straight_after_initiate_completes_an_otp_payment(client: PaymentClient) -> None:
    begun = client.initiate(card())
    assert client.validate(begun["txnRef"])["txnStatus"] == "successful"


def test_three_wrong_codes_fail_the_payment(client: PaymentClient) -> None:
    begun = client.initiate(card())
    for _ in range(2):
        assert client.validate(begun["txnRef"], "000000")["status"] == 203
        assert client.verify(begun["txnRef"])["txnStatus"] == "pending"
    assert client.validate(begun["txnRef"], "111111")["status"] == 203
    assert client.verify(begun["txnRef"])["txnStatus"] == "failed"
    assert client.validate(begun["txnRef"])["status"] == 203


def test_after_ten_minutes_the_payment_has_failed(client: PaymentClient) -> None:
    client.shop.put("sandbox", action="freeze")
    begun, passed = client.initiate(card()), 0
    for seconds, is_within in CARD_SECONDS.sides:
        client.shop.advance(seconds=seconds - passed)
        passed = seconds
        assert client.verify(begun["txnRef"])["txnStatus"] == ("pending" if is_within else "failed"), seconds
    late = client.validate(begun["txnRef"])
    assert (late["status"], "time" in late["message"]) == (104, True)


def test_an_unknown_outcome_is_pending_until_the_rail_is_asked(client: PaymentClient) -> None:
    begun = client.initiate(card())
    unknown = client.validate(begun["txnRef"], "999999")
    assert unknown == {"status": 200, "txnStatus": "pending", "txnRef": begun["txnRef"], "message": "PENDING"}
    client.shop.advance(seconds=6)
    assert client.verify(begun["txnRef"])["txnStatus"] == "successful"


@pytest.mark.parametrize(("pin", "message"), [("0000", "Incorrect PIN"), ("9999", "PIN Tries Exceeded")])
def test_a_wrong_card_pin_is_the_issuers_refusal(client: PaymentClient, pin: str, message: str) -> None:
    given = card(auth="PIN", pin=pin)
    done = client.charge(client.initiate(given), given)
    assert (done["status"], done["txnStatus"], done["chargedAmount"]) == (200, "failed", "0.00")
    assert done["bank_message"].lower() == message.lower()
    assert "cardToken" not in done


@pytest.mark.parametrize("row", CARDS, ids=[row["rr"] for row in CARDS])
def test_every_magic_card_answers_as_the_table_says(client: PaymentClient, row: dict[str, Any]) -> None:
    done = client.paid(row["visa"])
    code = row["rr"]
    first = "pending" if code in PENDING_AT_FIRST else row["txnStatus"]
    assert done["txnStatus"] == first, done
    if first != "pending":
        assert done["bank_message"] == row["bank_message"]
        assert done["fraudStatus"] == ("flagged" if code == "59" else "ok")
    client.shop.advance(seconds=6)
    assert client.verify(done["txnRef"])["txnStatus"] == LATER.get(code, first)


def test_a_pending_payment_is_ended_by_the_rails_callback(client: PaymentClient) -> None:
    done = client.paid("4111119900000015")
    assert done["txnStatus"] == "pending"
    reply = client.shop.put("sandbox", action="settle", txnRef=done["txnRef"], outcome="successful").body
    assert reply["txnStatus"] == "successful"
    assert client.verify(done["txnRef"])["cardToken"]


def test_a_saved_card_is_charged_by_its_token_and_by_its_merchant_alone(client: PaymentClient, open_shop: Any) -> None:
    token = client.token()
    head, _, epoch = token.partition(".")
    assert (len(head), epoch.isdecimal()) == (8, True)
    done = client.charge_token(token)
    assert (done["txnStatus"], done["payment_method"], done["cardToken"]) == ("successful", "token", token)
    stranger = PaymentClient(open_shop())
    assert stranger.charge_token(token) == stranger.charge_token("nothing.1")


@pytest.mark.parametrize(
    ("number", "status"),
    [("4111110051000011", "failed"), ("4111110054000018", "failed"), ("4111110091000013", "failed")],
)
def test_the_token_digits_of_a_card_select_later_outcomes(client: PaymentClient, number: str, status: str) -> None:
    token = client.token(number)
    assert client.charge_token(token)["txnStatus"] == status


def test_fields_that_change_between_the_steps_are_refused(client: PaymentClient) -> None:
    given = card(auth="PIN")
    begun = client.initiate(given)
    wrong = client.charge(begun, card("5123450000000016", "PIN"), amount="1501.00", auth_type="OTP")
    assert wrong["status"] == 104
    assert {fault["field"] for fault in wrong["errors"]} == {"auth_type", "amount", "card.card_no"}
    assert client.charge(begun, given)["txnStatus"] == "successful"


def test_an_invalid_card_field_is_named(client: PaymentClient) -> None:
    for changes, field in (
        ({"card_no": "4111110000000014"}, "card.card_no"),
        ({"card_no": "41111100000013"}, "card.card_no"),
        ({"expiry_month": "13"}, "card.expiry_month"),
        ({"expiry_year": "20"}, "card.expiry_year"),
        ({"ccv": "12"}, "card.ccv"),
    ):
        refused = client.initiate(card(**changes))
        assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, [field])


def test_currency_and_country_must_go_together(client: PaymentClient) -> None:
    refused = client.initiate(card(), country="GH", currency="NGN")
    assert [fault["field"] for fault in refused["errors"]] == ["currency"]
    paid = client.paid(amount="20.00", currency="USD")
    assert (paid["txnStatus"], paid["currency"]) == ("successful", "USD")


def test_verify_by_the_merchants_reference_prefers_the_successful_one(client: PaymentClient) -> None:
    first = client.paid(customer_txnref="basket-1")
    client.paid("4111110500000018", customer_txnref="basket-1")
    found = client.pay(action="verify", customer_txnref="basket-1")
    assert (found["txnRef"], found["customer_txnref"]) == (first["txnRef"], "basket-1")


def test_a_customer_who_bears_the_fee_pays_the_amount_of_charges(client: PaymentClient) -> None:
    before = client.shop.wallet().balance
    reply = client.shop.put(
        "resources", inquire="charges", card_no=VISA_OK[:6], amount="1500.00", bearer="customer"
    ).body
    done = client.paid(bearer="customer")
    assert done["chargedAmount"] == reply["data"]["total_charge"]
    assert client.shop.wallet().balance - before == 150_000


def test_a_fault_on_the_way_to_the_rail_is_never_charged_twice(client: PaymentClient) -> None:
    given = card(auth="PIN")
    begun = client.initiate(given)
    lost = client.charge(begun, given, {"x-sandbox-scenario": "http=timeout"})
    assert (lost["status"], lost["txnStatus"]) == (200, "pending")
    client.shop.advance(seconds=6)
    assert client.verify(begun["txnRef"])["txnStatus"] == "successful"
    away = client.initiate(given)
    assert client.charge(away, given, {"x-sandbox-scenario": "http=unavailable"})["status"] == 204
    assert client.charge(away, given)["txnStatus"] == "successful"
    never = client.initiate(given)
    assert client.charge(never, given, {"x-sandbox-scenario": "http=reset"})["txnStatus"] == "pending"
    client.shop.advance(minutes=31)
    assert client.verify(never["txnRef"])["txnStatus"] == "failed"


ACCOUNT = {"accountnumber": "0000000000", "bankcode": "058"}
FIRST_STEPS: dict[str, dict[str, Any]] = {
    "initiate of a card": {"action": "initiate", "paymentType": "card", "card": card(auth="PIN")},
    "charge of an account": {"action": "charge", "paymentType": "account", "account": ACCOUNT},
}


@pytest.mark.parametrize(("first", "rail"), [("initiate of a card", "card"), ("charge of an account", "bank")])
def test_a_first_step_that_no_rail_took_may_be_sent_again(client: PaymentClient, first: str, rail: str) -> None:
    asked = {**client.body(customer_txnref="basket-5"), **FIRST_STEPS[first]}
    key = {"idempotency-key": "basket-5"}
    before = client.shop.wallet()
    away = client.pay({**key, "x-sandbox-scenario": "http=unavailable"}, **asked)
    assert away["status"] == 204
    assert "nothing was charged, try again" in away["message"]
    assert client.shop.wallet() == before
    again = client.pay(key, **asked)
    assert again["status"] == 202, again
    assert client.pay(key, **asked)["txnRef"] == again["txnRef"]
    found = client.pay(action="verify", customer_txnref="basket-5")
    assert (found["txnRef"], found["txnStatus"]) == (again["txnRef"], "pending")
    client.shop.put("sandbox", action="fault", rail=rail, kind="unavailable", times=1)
    planned = {**asked, "customer_txnref": "basket-6"}
    assert [client.pay(**planned)["status"] for _ in range(2)] == [204, 202]


def test_events_tell_the_end_of_a_payment_and_of_its_refund_in_order(client: PaymentClient) -> None:
    done = client.paid(customer_txnref="basket-9")
    client.refund(done["txnRef"], "100.00")
    log = client.shop.put("resources", inquire="event_feed").body["data"]
    payload = log[0]["payload"]
    assert payload == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": done["txnRef"],
        "chargedAmount": "1500.00",
        "paymentMethod": "card",
        "endpoint": "test",
        "kind": "payment",
        "currency": "NGN",
        "customer_txnref": "basket-9",
    }
    assert log[1]["payload"]["paymentMethod"] == "refund"


def test_the_tests_use_the_documented_otp() -> None:
    assert OTP in load_reference_data("magic_values")["otp"]
