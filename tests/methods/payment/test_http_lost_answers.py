"""Lost rail answers over HTTP: a later query finds what the lost step would have returned.

No money is taken without the payer's authentication, and no payer has to authenticate twice.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import balance, enroll, invest, open_savings
from tests.methods.payment.payment_client import OTP, VISA_OK, PaymentClient, card
from tests.methods.payment.test_http_pages import HostedPage

NOW = "2026-01-05T09:30:00+01:00"
SHORT_OF_FUNDS = "4111115100000011"
WRONG = "000000"


class Faults:
    """Makes the next rail call lose its answer: by the request's header, or by an injected fault."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def lose(self, shop: MerchantClient, rail: str = "card") -> dict[str, str] | None:
        if self.kind != "planned":
            return {"x-sandbox-scenario": f"http={self.kind}"}
        planned = shop.put("sandbox", action="fault", rail=rail, kind="timeout", times=1).body
        assert planned["status"] == 200, planned
        return None


@pytest.fixture(params=["timeout", "500", "planned"])
def faults(request: pytest.FixtureRequest) -> Faults:
    return Faults(str(request.param))


@pytest.fixture
def client(open_shop: Callable[..., MerchantClient]) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


def ask_later(client: PaymentClient, txn_ref: str) -> Any:
    """Verifies the payment after the first requery."""
    client.shop.advance(seconds=5)
    return client.verify(txn_ref)


def lose_charge(client: PaymentClient, faults: Faults, given: dict[str, str], **changes: Any) -> str:
    """A card payment whose charge went out and whose answer is lost."""
    begun = client.initiate(given, **changes)
    reply = client.charge(begun, given, faults.lose(client.shop), **changes)
    assert (reply["status"], reply["txnStatus"], reply["message"]) == (200, "pending", "PENDING")
    return str(begun["txnRef"])


# --- initiate and charge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auth", ["PIN", "OTP", "3DSecure"])
def test_a_lost_initiate_is_found_and_the_payment_goes_on(client: PaymentClient, faults: Faults, auth: str) -> None:
    before, given = client.shop.wallet(), card(auth=auth)
    begun = client.initiate(given, faults.lose(client.shop))
    assert begun["txnStatus"] == "pending"
    found = ask_later(client, begun["txnRef"])
    assert (found["txnStatus"], found["apply_auth"]) == ("pending", auth)
    assert client.shop.wallet() == before
    charged = client.charge({**begun, "apply_auth": auth}, given)
    assert charged["status"] == (200 if auth == "PIN" else 202)
    if auth == "OTP":
        charged = client.validate(begun["txnRef"])
    assert charged.get("txnStatus") == (None if auth == "3DSecure" else "successful")


def test_a_code_after_a_lost_initiate_replies_that_the_payment_is_pending(
    client: PaymentClient, faults: Faults
) -> None:
    begun = client.initiate(card(), faults.lose(client.shop))
    assert client.validate(begun["txnRef"]) == begun, "which authentication is wanted is not known yet"
    assert begun["message"] == "PENDING"
    assert ask_later(client, begun["txnRef"])["apply_auth"] == "OTP"
    assert client.validate(begun["txnRef"])["txnStatus"] == "successful"


def test_a_lost_charge_of_an_otp_card_awaits_its_otp(client: PaymentClient, faults: Faults) -> None:
    before = client.shop.wallet()
    txn_ref = lose_charge(client, faults, card())
    found = ask_later(client, txn_ref)
    assert (found["txnStatus"], found["auth_type"], "validate" in found) == ("pending", "OTP", True)
    assert client.shop.wallet() == before
    assert client.validate(txn_ref, WRONG)["status"] == 203
    assert client.validate(txn_ref)["txnStatus"] == "successful"


def test_a_lost_charge_without_an_otp_fails_at_expiry(client: PaymentClient, faults: Faults) -> None:
    before = client.shop.wallet()
    txn_ref = lose_charge(client, faults, card())
    client.shop.advance(minutes=11)
    assert client.verify(txn_ref)["txnStatus"] == "failed"
    assert client.shop.wallet() == before


@pytest.mark.parametrize(
    ("number", "pin", "status", "words"),
    [
        (VISA_OK, "1234", "successful", "Approved"),
        (VISA_OK, "0000", "failed", "PIN"),
        (VISA_OK, "9999", "failed", "PIN"),
        (SHORT_OF_FUNDS, "1234", "failed", "Funds"),
    ],
)
def test_a_lost_charge_with_a_pin_ends_as_the_pin_and_the_card_say(
    client: PaymentClient, faults: Faults, number: str, pin: str, status: str, words: str
) -> None:
    txn_ref = lose_charge(client, faults, card(number, "PIN", pin=pin))
    found = ask_later(client, txn_ref)
    assert (found["txnStatus"], words in found["bank_message"]) == (status, True), found


# --- validate -------------------------------------------------------------------------------------------------------


def test_a_lost_right_otp_completes_the_payment(client: PaymentClient, faults: Faults) -> None:
    begun = client.initiate(card())
    assert client.validate(begun["txnRef"], OTP, faults.lose(client.shop))["txnStatus"] == "pending"
    # Nothing may deny what may have happened.
    assert client.validate(begun["txnRef"], OTP)["txnStatus"] == "pending"
    assert ask_later(client, begun["txnRef"])["txnStatus"] == "successful"


def test_a_lost_wrong_code_counts_as_a_try(client: PaymentClient, faults: Faults) -> None:
    before, begun = client.shop.wallet(), client.initiate(card())
    assert client.validate(begun["txnRef"], WRONG, faults.lose(client.shop))["txnStatus"] == "pending"
    assert ask_later(client, begun["txnRef"])["txnStatus"] == "pending"
    assert client.validate(begun["txnRef"], WRONG)["status"] == 203
    assert client.verify(begun["txnRef"])["txnStatus"] == "pending"
    assert client.validate(begun["txnRef"], WRONG)["status"] == 203
    assert client.verify(begun["txnRef"])["txnStatus"] == "failed"
    assert client.shop.wallet() == before


def test_three_lost_wrong_codes_fail_the_payment(client: PaymentClient, faults: Faults) -> None:
    begun = client.initiate(card())
    for left in (2, 1, 0):
        client.validate(begun["txnRef"], WRONG, faults.lose(client.shop))
        assert ask_later(client, begun["txnRef"])["txnStatus"] == ("pending" if left else "failed")


def test_a_right_code_after_a_lost_wrong_one_completes_the_payment(client: PaymentClient, faults: Faults) -> None:
    begun = client.initiate(card())
    client.validate(begun["txnRef"], WRONG, faults.lose(client.shop))
    client.shop.advance(seconds=5)
    assert client.validate(begun["txnRef"])["txnStatus"] == "successful"


@pytest.mark.parametrize(("otp", "status"), [(OTP, "successful"), (WRONG, "pending")])
def test_the_outcome_of_a_lost_otp_of_a_bank_account_is_found(
    client: PaymentClient, faults: Faults, otp: str, status: str
) -> None:
    account = {"accountnumber": "0000000000", "bankcode": "058"}
    asked = client.pay(action="charge", paymentType="account", amount="2000.00", account=account)
    assert client.validate(asked["txnRef"], otp, faults.lose(client.shop, "bank"))["txnStatus"] == "pending"
    assert ask_later(client, asked["txnRef"])["txnStatus"] == status


def test_a_lost_charge_of_a_bank_account_awaits_its_otp(client: PaymentClient, faults: Faults) -> None:
    account = {"accountnumber": "0000000000", "bankcode": "058"}
    fields = {"action": "charge", "paymentType": "account", "amount": "2000.00", "account": account}
    lost = client.pay(faults.lose(client.shop, "bank"), **fields)
    found = ask_later(client, lost["txnRef"])
    assert (found["txnStatus"], found["auth_type"]) == ("pending", "OTP")
    assert client.validate(lost["txnRef"], validate="account")["txnStatus"] == "successful"


# --- on the payer's page ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"decision": "approve", "otp": OTP}, "successful"),
        ({"decision": "approve", "otp": WRONG}, "pending"),
        ({"decision": "decline"}, "failed"),
    ],
)
def test_a_lost_answer_on_the_challenge_page_is_found_as_the_payer_gave_it(
    client: PaymentClient, fields: dict[str, str], status: str
) -> None:
    given = card(auth="3DSecure")
    begun = client.initiate(given)
    asked = client.charge(begun, given)
    page = HostedPage(client.shop, begun["txnRef"], urlsplit(asked["authURL"]).path)
    Faults("planned").lose(client.shop)
    assert page.send(**fields).http == 200
    assert client.verify(begun["txnRef"])["txnStatus"] == "pending"
    found = ask_later(client, begun["txnRef"])
    assert found["txnStatus"] == status
    if status == "pending":
        # The page asks again, with a try less.
        assert found["authURL"] == asked["authURL"]
        page.send(decision="approve", otp=OTP)
        assert client.verify(begun["txnRef"])["txnStatus"] == "successful"


def test_a_lost_charge_of_a_three_d_secure_card_shows_its_page_again(client: PaymentClient, faults: Faults) -> None:
    txn_ref = lose_charge(client, faults, card(auth="3DSecure"))
    found = ask_later(client, txn_ref)
    page = HostedPage(client.shop, txn_ref, urlsplit(found["authURL"]).path)
    page.send(decision="decline")
    assert client.verify(txn_ref)["txnStatus"] == "failed"


# --- saved cards, plans, splits, savings ------------------------------------------------------------------------------


def test_a_lost_charge_of_a_saved_card_is_found(client: PaymentClient, faults: Faults) -> None:
    charged = client.charge_token(client.token(), faults.lose(client.shop))
    assert charged["txnStatus"] == "pending"
    assert ask_later(client, charged["txnRef"])["txnStatus"] == "successful"


def test_a_recurrence_begins_once_its_lost_first_charge_is_validated(client: PaymentClient, faults: Faults) -> None:
    rule = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}
    txn_ref = lose_charge(client, faults, card(), **rule)
    client.shop.advance(seconds=5)
    assert client.shop.put("resources", inquire="recurrents").body == []
    assert client.validate(txn_ref)["txnStatus"] == "successful"
    (plan,) = client.shop.put("resources", inquire="recurrents").body
    assert (plan["state"], plan["paid"]) == ("active", "1500.00")


def test_an_installment_plan_begins_once_its_lost_first_charge_is_found(client: PaymentClient, faults: Faults) -> None:
    schedule = {"05-01-2026": 1000, "05-02-2026": 500}
    planned = {"installment": {"payment_schedule": schedule, "total": "1500.00"}, "amount": "1000.00"}
    txn_ref = lose_charge(client, faults, card(auth="PIN"), **planned)
    assert ask_later(client, txn_ref)["txnStatus"] == "successful"
    (plan,) = client.shop.put("resources", inquire="installments").body
    assert (plan["state"], plan["paid"]) == ("active", "1000.00")


def test_a_payment_is_split_only_after_its_lost_charge_is_validated(client: PaymentClient, faults: Faults) -> None:
    made = client.shop.put(
        "sandbox", action="beneficiary", name="Bola", bankcode="058", accountnumber="0000000000"
    ).body
    before = client.shop.wallet().balance
    txn_ref = lose_charge(client, faults, card(), split=[{"ref_code": made["ref_code"], "share": "500.00"}])
    client.shop.advance(seconds=5)
    assert client.shop.wallet().balance == before
    assert client.validate(txn_ref)["txnStatus"] == "successful"
    assert client.shop.wallet().balance == before + 150_000 - 2_250 - 169 - 50_000


@pytest.mark.parametrize(("pin", "paid"), [("1234", 1_000_000), ("0000", 0)])
def test_a_lost_deposit_with_a_pin_ends_as_the_pin_says(
    client: PaymentClient, faults: Faults, pin: str, paid: int
) -> None:
    savings_id = open_savings(client.shop, enroll(client.shop))
    fields = {"savings_id": savings_id, "payment_method": "card", "amount": "10000.00"}
    headers = faults.lose(client.shop)
    given = card(auth="PIN", pin=pin)
    lost = client.shop.put("investments", headers=headers, action="deposit", card=given, **fields).body
    assert lost["txnStatus"] == "pending"
    assert ask_later(client, lost["txnRef"])["txnStatus"] == ("successful" if paid else "failed")
    assert balance(client.shop, savings_id) == paid


def test_a_lost_deposit_of_an_otp_card_awaits_its_otp(client: PaymentClient, faults: Faults) -> None:
    savings_id = open_savings(client.shop, enroll(client.shop))
    fields = {"savings_id": savings_id, "payment_method": "card", "amount": "10000.00"}
    lost = client.shop.put(
        "investments", headers=faults.lose(client.shop), action="deposit", card=card(), **fields
    ).body
    assert ask_later(client, lost["txnRef"])["txnStatus"] == "pending"
    assert balance(client.shop, savings_id) == 0
    assert invest(client.shop, "validate", txnRef=lost["txnRef"], otp=OTP)["txnStatus"] == "successful"
    assert balance(client.shop, savings_id) == 1_000_000


def test_a_deposit_with_a_pin_card_and_no_pin_is_declined(client: PaymentClient) -> None:
    savings_id = open_savings(client.shop, enroll(client.shop))
    given = {name: value for name, value in card(auth="PIN").items() if name != "pin"}
    fields: dict[str, Any] = {"savings_id": savings_id, "payment_method": "card", "amount": "10000.00"}
    assert client.shop.put("investments", action="deposit", card=given, **fields).body["txnStatus"] == "failed"
    assert balance(client.shop, savings_id) == 0
