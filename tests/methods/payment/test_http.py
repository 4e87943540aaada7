"""Payments other than by card, over HTTP: how each begins, ends, fails and expires."""

from typing import Any

import pytest

from kasuwa.core.banks import nuban_check_digit
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import OTP, PaymentClient
from tests.walk.bounds import PAYER_SECONDS


@pytest.fixture
def client(shop: MerchantClient) -> PaymentClient:
    return PaymentClient(shop)


def begin(client: PaymentClient, kind: str, headers: dict[str, str] | None = None, **fields: Any) -> Any:
    return client.pay(headers, action="charge", paymentType=kind, **{"amount": "1000.00", **fields})


def settle(client: PaymentClient, txn_ref: str, outcome: str) -> Any:
    return client.shop.put("sandbox", action="settle", txnRef=txn_ref, outcome=outcome).body


# --- account --------------------------------------------------------------------------------------------------------


def account(number: str = "0000000000", bank: str = "058") -> dict[str, str]:
    return {"accountnumber": number, "bankcode": bank}


def test_an_account_is_debited_after_its_otp(client: PaymentClient) -> None:
    asked = begin(client, "account", account=account())
    assert (asked["status"], asked["auth_type"]) == (202, "OTP")
    assert {"txnRef", "validate", "message"} <= set(asked)
    done = client.validate(asked["txnRef"], validate="account")
    assert (done["txnStatus"], done["message"], "cardToken" in done) == ("successful", "Validation Successful", False)
    assert client.verify(asked["txnRef"])["payment_method"] == "account"


@pytest.mark.parametrize(
    ("number", "first", "later"),
    [
        ("0000005100", "failed", "failed"),
        ("0000000900", "pending", "successful"),
        ("0000000010", "pending", "successful"),
        ("0000000020", "pending", "pending"),
        ("0000009600", "pending", "failed"),
    ],
)
def test_the_digits_of_an_account_select_its_test_outcome(
    client: PaymentClient, number: str, first: str, later: str
) -> None:
    asked = begin(client, "account", account=account(number))
    assert client.validate(asked["txnRef"], OTP)["txnStatus"] == first
    client.shop.advance(seconds=6)
    assert client.verify(asked["txnRef"])["txnStatus"] == later


def test_three_wrong_codes_fail_an_account_payment_too(client: PaymentClient) -> None:
    asked = begin(client, "account", account=account())
    assert [client.validate(asked["txnRef"], "000000")["status"] for _ in range(3)] == [203, 203, 203]
    assert client.verify(asked["txnRef"])["txnStatus"] == "failed"


def test_only_accounts_of_chargeable_banks_can_be_debited(client: PaymentClient) -> None:
    listed = client.shop.put("resources", inquire="supported_chargable_banks").body["data"]
    assert {"bankname": "Guaranty Trust Bank", "bankcode": "058"} in listed
    refused = begin(client, "account", account=account(bank="999"))
    assert [fault["field"] for fault in refused["errors"]] == ["account.bankcode"]
    refused = begin(client, "account", account=account("0123456780", "058"))
    assert [fault["field"] for fault in refused["errors"]] == ["account.accountnumber"]


# --- USSD and telephone ---------------------------------------------------------------------------------------------


def test_ussd_gives_a_code_to_dial_and_ends_by_the_call_back(client: PaymentClient) -> None:
    asked = begin(client, "ussd", bank="gtb")
    assert (asked["status"], asked["auth_type"], asked["expires"]) == (202, "ussd", 600)
    assert asked["ussd_code"].startswith("*737*000*")
    assert settle(client, asked["txnRef"], "successful")["txnStatus"] == "successful"
    assert client.verify(asked["txnRef"])["chargedAmount"] == 1000.0


def test_zenith_ussd_requires_phone_and_account_number(client: PaymentClient) -> None:
    refused = begin(client, "ussd", bank="zenith")
    assert {fault["field"] for fault in refused["errors"]} == {"phonenumber", "accountnumber"}
    asked = begin(client, "ussd", bank="zenith", phonenumber="08012345678", accountnumber="0123456789")
    assert asked["ussd_code"].startswith("*966*000*")


@pytest.mark.parametrize(
    ("phone", "first", "later"),
    [
        ("08000000000", "successful", "successful"),
        ("08000000009", "pending", "successful"),
        ("08000000006", "pending", "failed"),
        ("08000000099", "pending", "pending"),
        ("08000000068", "pending", "pending"),
        ("08031234567", "pending", "pending"),
    ],
)
def test_the_digits_of_a_phone_select_its_test_outcome(
    client: PaymentClient, phone: str, first: str, later: str
) -> None:
    asked = begin(client, "phone", phonenumber=phone)
    assert (asked["status"], asked["auth_type"], asked["enrolment"]) == (202, "device", True)
    assert client.verify(asked["txnRef"])["txnStatus"] == first
    client.shop.advance(seconds=6)
    assert client.verify(asked["txnRef"])["txnStatus"] == later
    assert "enrolment" not in begin(client, "phone", phonenumber=phone)


@pytest.mark.parametrize("phone", ["08000000051", "08000000017", "08000000091"])
def test_a_phone_payment_may_fail_at_once(client: PaymentClient, phone: str) -> None:
    assert begin(client, "phone", phonenumber=phone)["txnStatus"] == "failed"


def test_a_payment_that_the_payer_does_not_complete_fails_at_expiry(client: PaymentClient) -> None:
    client.shop.put("sandbox", action="freeze")
    begun = [
        begin(client, "ussd", bank="gtb"),
        begin(client, "phone", phonenumber="08000000068"),
        begin(client, "qrpay"),
        begin(client, "bank_transfer"),
        begin(client, "mobile_money", type="mpesa", country="KE", currency="KES", phonenumber="0700000099"),
    ]
    passed = 0
    for seconds, is_within in PAYER_SECONDS.sides:
        client.shop.advance(seconds=seconds - passed)
        passed = seconds
        states = {client.verify(one["txnRef"])["txnStatus"] for one in begun}
        assert states == {"pending" if is_within else "failed"}, seconds
    # A call-back that comes too late changes nothing.
    assert settle(client, begun[0]["txnRef"], "successful")["txnStatus"] == "failed"


# --- QR -------------------------------------------------------------------------------------------------------------


def test_a_qr_payment_carries_the_payload_and_its_picture(client: PaymentClient) -> None:
    asked = begin(client, "qrpay", business_name="Ada Stores")
    assert (asked["status"], asked["auth_type"], asked["expires"]) == (202, "device", 600)
    assert asked["qr_code"].startswith("000201010212")
    assert "5910Ada Stores" in asked["qr_code"]
    assert asked["qr_image"].endswith("/qr.svg")


# --- bank transfer --------------------------------------------------------------------------------------------------


def pay_in(client: PaymentClient, number: str, amount: str) -> Any:
    return client.shop.put("sandbox", action="pay_account", accountNumber=number, amount=amount).body


def fail_to_pay_in(client: PaymentClient, number: str) -> Any:
    """Returns the refusal of a payment into an account, without the number that it repeats."""
    body = pay_in(client, number, "1000.00")
    assert body["errors"][0].pop("value") == number
    return body


def test_a_bank_transfer_is_paid_into_its_own_account(client: PaymentClient) -> None:
    before = client.shop.wallet().balance
    asked = begin(client, "bank_transfer", business_name="Ada Stores")
    assert {"accountNumber", "accountName", "bankName", "accountExpires", "amount", "message"} <= set(asked)
    number = asked["accountNumber"]
    assert (asked["accountName"], asked["amount"], asked["accountExpires"]) == ("Ada Stores", "1000.00", 600)
    assert int(number[9]) == nuban_check_digit("035", number[:9])
    assert pay_in(client, number, "1000.00")["txnStatus"] == "successful"
    assert client.shop.wallet().balance - before == 100_000 - 1_000 - 75
    assert client.verify(asked["txnRef"])["txnStatus"] == "successful"


def test_an_underpaid_transfer_awaits_the_rest(client: PaymentClient) -> None:
    asked = begin(client, "bank_transfer")
    short = pay_in(client, asked["accountNumber"], "400.00")
    assert (short["txnStatus"], "400.00 of 1000.00" in short["message"]) == ("pending", True)
    assert "400.00 of 1000.00" in client.verify(asked["txnRef"])["bank_message"]
    assert pay_in(client, asked["accountNumber"], "600.00")["txnStatus"] == "successful"


def test_an_overpaid_amount_is_returned(client: PaymentClient) -> None:
    before = client.shop.wallet().balance
    asked = begin(client, "bank_transfer")
    done = pay_in(client, asked["accountNumber"], "1500.00")
    assert (done["txnStatus"], "excess" in done["message"]) == ("successful", True)
    assert client.shop.wallet().balance - before == 100_000 - 1_000 - 75
    assert client.verify(asked["txnRef"])["chargedAmount"] == 1000.0


def test_a_late_or_incomplete_transfer_is_returned(client: PaymentClient) -> None:
    before = client.shop.wallet().balance
    asked = begin(client, "bank_transfer")
    pay_in(client, asked["accountNumber"], "400.00")
    client.shop.advance(minutes=11)
    assert client.verify(asked["txnRef"])["txnStatus"] == "failed"
    late = pay_in(client, asked["accountNumber"], "600.00")
    assert (late["txnStatus"], "goes back" in late["message"]) == ("failed", True)
    assert client.shop.wallet().balance == before


def test_an_account_number_is_its_merchants_alone(client: PaymentClient, open_shop: Any) -> None:
    asked = begin(client, "bank_transfer")
    stranger = PaymentClient(open_shop())
    unknown = fail_to_pay_in(stranger, "0000000001")
    assert unknown["status"] == 104
    assert fail_to_pay_in(stranger, asked["accountNumber"]) == unknown


# --- personalized accounts ------------------------------------------------------------------------------------------


def personalized(client: PaymentClient, reference: str) -> Any:
    fields = {"name": "Ada Obi", "email": "ada@example.com", "reference": reference}
    return client.shop.send_fields("resources", {"request": "personalized-accounts", **fields}).body["data"]


def test_every_transfer_into_a_personalized_account_is_a_payment(client: PaymentClient) -> None:
    before, account = client.shop.wallet().balance, personalized(client, "tenant-12")
    first, second = (pay_in(client, account["accountNumber"], amount) for amount in ("1000.00", "250.00"))
    assert (first["txnStatus"], second["txnStatus"], first["txnRef"] == second["txnRef"]) == (
        "successful",
        "successful",
        False,
    )
    assert client.shop.wallet().balance - before == (100_000 - 1_000 - 75) + (25_000 - 250 - 19)
    verified = client.verify(first["txnRef"])
    assert (verified["chargedAmount"], verified["payment_method"], verified["email"]) == (
        1000.0,
        "bank_transfer",
        "ada@example.com",
    )
    assert verified["customer_txnref"] == "tenant-12"
    newest = client.pay(action="verify", customer_txnref="tenant-12")
    assert newest["txnRef"] == second["txnRef"]
    assert personalized(client, "tenant-12") == account


def test_a_personalized_payment_has_its_event_and_goes_back(client: PaymentClient) -> None:
    account = personalized(client, "tenant-13")
    paid = pay_in(client, account["accountNumber"], "1000.00")
    (event,) = client.shop.put("resources", inquire="events", txnRef=paid["txnRef"]).body["data"]
    assert {name: event["payload"][name] for name in ("account", "accountDetails", "bankname", "accountReference")} == {
        "account": account["accountNumber"],
        "accountDetails": account["accountName"],
        "bankname": account["bankName"],
        "accountReference": "tenant-13",
    }
    back = client.refund(paid["txnRef"], "400.00")
    assert (back["txnStatus"], back["refundableAmount"]) == ("successful", "600.00")
    story = client.shop.put("sandbox", action="explain", txnRef=paid["txnRef"]).body
    assert story["status"] == 200


def test_a_personalized_account_is_its_merchants_alone(client: PaymentClient, open_shop: Any) -> None:
    account, stranger = personalized(client, "tenant-14"), PaymentClient(open_shop())
    assert fail_to_pay_in(stranger, account["accountNumber"]) == fail_to_pay_in(stranger, "0000000001")


# --- mobile money ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "phone"),
    [
        ({"type": "ghana", "network": "mtn", "country": "GH", "currency": "GHS"}, "0240000009"),
        ({"type": "mpesa", "country": "KE", "currency": "KES"}, "0700000009"),
    ],
)
def test_mobile_money_settles_in_the_wallet_of_its_currency(
    client: PaymentClient, fields: dict[str, str], phone: str
) -> None:
    asked = begin(client, "mobile_money", None, phonenumber=phone, **fields)
    assert (asked["status"], asked["auth_type"]) == (202, "device")
    client.shop.advance(seconds=6)
    assert client.verify(asked["txnRef"])["txnStatus"] == "successful"
    assert client.shop.wallet(fields["currency"]).balance > 0


@pytest.mark.parametrize("name", ["paga", "paga_connect"])
def test_the_nigerian_provider_takes_the_payer_to_a_page(client: PaymentClient, name: str) -> None:
    refused = begin(client, "mobile_money", type=name)
    assert [fault["field"] for fault in refused["errors"]] == ["redirect_url"]
    asked = begin(client, "mobile_money", type=name, redirect_url="https://shop.example/back")
    assert (asked["status"], "/pay/" in asked["authURL"]) == (202, True)
    assert settle(client, asked["txnRef"], "successful")["txnStatus"] == "successful"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"type": "ghana"}, {"country", "currency", "phonenumber", "network"}),
        ({"type": "mpesa", "country": "KE"}, {"currency", "phonenumber"}),
        ({"type": "nonesuch"}, {"type"}),
    ],
)
def test_providers_have_their_own_country_and_fields(
    client: PaymentClient, fields: dict[str, str], named: set[str]
) -> None:
    refused = begin(client, "mobile_money", None, **fields)
    assert refused["status"] == 104
    assert {fault["field"] for fault in refused["errors"]} == named


def test_an_unknown_payment_type_is_named(client: PaymentClient) -> None:
    for kind in ("voucher", None):
        refused = client.pay(action="charge", paymentType=kind, amount="1.00")
        assert (refused["status"], refused["errors"][0]["field"]) == (104, "paymentType")


def test_initiate_of_another_payment_type_than_card_names_charge(client: PaymentClient) -> None:
    refused = client.pay(action="initiate", paymentType="ussd", amount="1000.00", bank="gtb")
    [error] = refused["errors"]
    assert (refused["status"], error["field"]) == (104, "paymentType")
    assert error["reason"] == "one of card; use the action charge for ussd"


def test_a_recurrence_of_another_method_than_card_is_refused(client: PaymentClient) -> None:
    refused = begin(client, "phone", phonenumber="08000000000", is_recurring=True)
    assert [fault["field"] for fault in refused["errors"]] == ["is_recurring"]
