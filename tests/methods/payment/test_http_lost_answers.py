"""A rail's answer is lost on the way: what is found later is what the lost step would have said, over HTTP.

Nobody's money is taken without the payer's proof, and nobody has to prove it twice who has done so.
Contract: payment#charge, payment#validate
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import balance, enroll, invest, open_savings
from tests.methods.payment.payment_client import OTP, VISA_OK, PaymentClient, card
from tests.methods.payment.test_http_pages import Asked

NOW = "2026-01-05T09:30:00+01:00"
SHORT_OF_FUNDS = "4111115100000011"
WRONG = "000000"


class Faults:
    """How the next call of a rail loses its answer: by the header of the request, or by a fault planned before it."""

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
def till(open_shop: Callable[..., MerchantClient]) -> PaymentClient:
    return PaymentClient(open_shop(now=NOW))


def ask_later(till: PaymentClient, txn_ref: str) -> Any:
    """What is known after the first re-query."""
    till.shop.advance(seconds=5)
    return till.verify(txn_ref)


def lose_charge(till: PaymentClient, faults: Faults, given: dict[str, str], **changes: Any) -> str:
    """A card payment whose charge went out and whose answer is lost."""
    begun = till.initiate(given, **changes)
    told = till.charge(begun, given, faults.lose(till.shop), **changes)
    assert (told["status"], told["txnStatus"], told["message"]) == (200, "pending", "PENDING")
    return str(begun["txnRef"])


# --- initiate and charge --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("auth", ["PIN", "OTP", "3DSecure"])
def test_a_lost_initiate_is_found_and_the_payment_goes_on(till: PaymentClient, faults: Faults, auth: str) -> None:
    before, given = till.shop.wallet(), card(auth=auth)
    begun = till.initiate(given, faults.lose(till.shop))
    assert begun["txnStatus"] == "pending"
    found = ask_later(till, begun["txnRef"])
    assert (found["txnStatus"], found["apply_auth"]) == ("pending", auth)
    assert till.shop.wallet() == before
    charged = till.charge({**begun, "apply_auth": auth}, given)
    assert charged["status"] == (200 if auth == "PIN" else 202)
    if auth == "OTP":
        charged = till.validate(begun["txnRef"])
    assert charged.get("txnStatus") == (None if auth == "3DSecure" else "successful")


def test_a_code_after_a_lost_initiate_is_told_that_the_payment_is_pending(till: PaymentClient, faults: Faults) -> None:
    begun = till.initiate(card(), faults.lose(till.shop))
    assert till.validate(begun["txnRef"]) == begun, "which authentication is wanted is not known yet"
    assert begun["message"] == "PENDING"
    assert ask_later(till, begun["txnRef"])["apply_auth"] == "OTP"
    assert till.validate(begun["txnRef"])["txnStatus"] == "successful"


def test_a_lost_charge_of_an_otp_card_awaits_its_otp(till: PaymentClient, faults: Faults) -> None:
    before = till.shop.wallet()
    txn_ref = lose_charge(till, faults, card())
    found = ask_later(till, txn_ref)
    assert (found["txnStatus"], found["auth_type"], "validate" in found) == ("pending", "OTP", True)
    assert till.shop.wallet() == before
    assert till.validate(txn_ref, WRONG)["status"] == 203
    assert till.validate(txn_ref)["txnStatus"] == "successful"


def test_a_lost_charge_that_nobody_proves_fails_when_its_time_is_over(till: PaymentClient, faults: Faults) -> None:
    before = till.shop.wallet()
    txn_ref = lose_charge(till, faults, card())
    till.shop.advance(minutes=11)
    assert till.verify(txn_ref)["txnStatus"] == "failed"
    assert till.shop.wallet() == before


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
    till: PaymentClient, faults: Faults, number: str, pin: str, status: str, words: str
) -> None:
    txn_ref = lose_charge(till, faults, card(number, "PIN", pin=pin))
    found = ask_later(till, txn_ref)
    assert (found["txnStatus"], words in found["bank_message"]) == (status, True), found


# --- validate -------------------------------------------------------------------------------------------------------


def test_a_lost_right_code_is_found_right(till: PaymentClient, faults: Faults) -> None:
    begun = till.initiate(card())
    assert till.validate(begun["txnRef"], OTP, faults.lose(till.shop))["txnStatus"] == "pending"
    # Nothing may deny what may have happened.
    assert till.validate(begun["txnRef"], OTP)["txnStatus"] == "pending"
    assert ask_later(till, begun["txnRef"])["txnStatus"] == "successful"


def test_a_lost_wrong_code_counts_as_a_try(till: PaymentClient, faults: Faults) -> None:
    before, begun = till.shop.wallet(), till.initiate(card())
    assert till.validate(begun["txnRef"], WRONG, faults.lose(till.shop))["txnStatus"] == "pending"
    assert ask_later(till, begun["txnRef"])["txnStatus"] == "pending"
    assert till.validate(begun["txnRef"], WRONG)["status"] == 203
    assert till.verify(begun["txnRef"])["txnStatus"] == "pending"
    assert till.validate(begun["txnRef"], WRONG)["status"] == 203
    assert till.verify(begun["txnRef"])["txnStatus"] == "failed"
    assert till.shop.wallet() == before


def test_three_lost_wrong_codes_fail_the_payment(till: PaymentClient, faults: Faults) -> None:
    begun = till.initiate(card())
    for left in (2, 1, 0):
        till.validate(begun["txnRef"], WRONG, faults.lose(till.shop))
        assert ask_later(till, begun["txnRef"])["txnStatus"] == ("pending" if left else "failed")


def test_a_right_code_after_a_lost_wrong_one_completes_the_payment(till: PaymentClient, faults: Faults) -> None:
    begun = till.initiate(card())
    till.validate(begun["txnRef"], WRONG, faults.lose(till.shop))
    till.shop.advance(seconds=5)
    assert till.validate(begun["txnRef"])["txnStatus"] == "successful"


@pytest.mark.parametrize(("otp", "status"), [(OTP, "successful"), (WRONG, "pending")])
def test_a_lost_code_of_a_bank_account_is_found_as_it_was(
    till: PaymentClient, faults: Faults, otp: str, status: str
) -> None:
    account = {"accountnumber": "0000000000", "bankcode": "058"}
    asked = till.pay(action="charge", paymentType="account", amount="2000.00", account=account)
    assert till.validate(asked["txnRef"], otp, faults.lose(till.shop, "bank"))["txnStatus"] == "pending"
    assert ask_later(till, asked["txnRef"])["txnStatus"] == status


def test_a_lost_charge_of_a_bank_account_awaits_its_otp(till: PaymentClient, faults: Faults) -> None:
    account = {"accountnumber": "0000000000", "bankcode": "058"}
    said = {"action": "charge", "paymentType": "account", "amount": "2000.00", "account": account}
    lost = till.pay(faults.lose(till.shop, "bank"), **said)
    found = ask_later(till, lost["txnRef"])
    assert (found["txnStatus"], found["auth_type"]) == ("pending", "OTP")
    assert till.validate(lost["txnRef"], validate="account")["txnStatus"] == "successful"


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
    till: PaymentClient, fields: dict[str, str], status: str
) -> None:
    given = card(auth="3DSecure")
    begun = till.initiate(given)
    asked = till.charge(begun, given)
    page = Asked(till.shop, begun["txnRef"], urlsplit(asked["authURL"]).path)
    Faults("planned").lose(till.shop)
    assert page.send(**fields).http == 200
    assert till.verify(begun["txnRef"])["txnStatus"] == "pending"
    found = ask_later(till, begun["txnRef"])
    assert found["txnStatus"] == status
    if status == "pending":
        # The page asks again, with a try less.
        assert found["authURL"] == asked["authURL"]
        page.send(decision="approve", otp=OTP)
        assert till.verify(begun["txnRef"])["txnStatus"] == "successful"


def test_a_lost_charge_of_a_three_d_secure_card_shows_its_page_again(till: PaymentClient, faults: Faults) -> None:
    txn_ref = lose_charge(till, faults, card(auth="3DSecure"))
    found = ask_later(till, txn_ref)
    page = Asked(till.shop, txn_ref, urlsplit(found["authURL"]).path)
    page.send(decision="decline")
    assert till.verify(txn_ref)["txnStatus"] == "failed"


# --- saved cards, plans, splits, savings ------------------------------------------------------------------------------


def test_a_lost_charge_of_a_saved_card_is_found(till: PaymentClient, faults: Faults) -> None:
    charged = till.charge_token(till.token(), faults.lose(till.shop))
    assert charged["txnStatus"] == "pending"
    assert ask_later(till, charged["txnRef"])["txnStatus"] == "successful"


def test_a_recurrence_begins_once_its_lost_first_charge_is_proved(till: PaymentClient, faults: Faults) -> None:
    rule = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}
    txn_ref = lose_charge(till, faults, card(), **rule)
    till.shop.advance(seconds=5)
    assert till.shop.put("resources", inquire="recurrents").body == []
    assert till.validate(txn_ref)["txnStatus"] == "successful"
    (plan,) = till.shop.put("resources", inquire="recurrents").body
    assert (plan["state"], plan["paid"]) == ("active", "1500.00")


def test_an_installment_plan_begins_once_its_lost_first_charge_is_found(till: PaymentClient, faults: Faults) -> None:
    schedule = {"05-01-2026": 1000, "05-02-2026": 500}
    planned = {"installment": {"payment_schedule": schedule, "total": "1500.00"}, "amount": "1000.00"}
    txn_ref = lose_charge(till, faults, card(auth="PIN"), **planned)
    assert ask_later(till, txn_ref)["txnStatus"] == "successful"
    (plan,) = till.shop.put("resources", inquire="installments").body
    assert (plan["state"], plan["paid"]) == ("active", "1000.00")


def test_a_split_payment_is_shared_out_only_after_its_lost_charge_is_proved(
    till: PaymentClient, faults: Faults
) -> None:
    made = till.shop.put("sandbox", action="beneficiary", name="Bola", bankcode="058", accountnumber="0000000000").body
    before = till.shop.wallet().balance
    txn_ref = lose_charge(till, faults, card(), split=[{"ref_code": made["ref_code"], "share": "500.00"}])
    till.shop.advance(seconds=5)
    assert till.shop.wallet().balance == before
    assert till.validate(txn_ref)["txnStatus"] == "successful"
    assert till.shop.wallet().balance == before + 150_000 - 2_250 - 169 - 50_000


@pytest.mark.parametrize(("pin", "paid"), [("1234", 1_000_000), ("0000", 0)])
def test_a_lost_deposit_with_a_pin_ends_as_the_pin_says(
    till: PaymentClient, faults: Faults, pin: str, paid: int
) -> None:
    savings_id = open_savings(till.shop, enroll(till.shop))
    said = {"savings_id": savings_id, "payment_method": "card", "amount": "10000.00"}
    headers = faults.lose(till.shop)
    given = card(auth="PIN", pin=pin)
    lost = till.shop.put("investments", headers=headers, action="deposit", card=given, **said).body
    assert lost["txnStatus"] == "pending"
    assert ask_later(till, lost["txnRef"])["txnStatus"] == ("successful" if paid else "failed")
    assert balance(till.shop, savings_id) == paid


def test_a_lost_deposit_of_an_otp_card_awaits_its_otp(till: PaymentClient, faults: Faults) -> None:
    savings_id = open_savings(till.shop, enroll(till.shop))
    said = {"savings_id": savings_id, "payment_method": "card", "amount": "10000.00"}
    lost = till.shop.put("investments", headers=faults.lose(till.shop), action="deposit", card=card(), **said).body
    assert ask_later(till, lost["txnRef"])["txnStatus"] == "pending"
    assert balance(till.shop, savings_id) == 0
    assert invest(till.shop, "validate", txnRef=lost["txnRef"], otp=OTP)["txnStatus"] == "successful"
    assert balance(till.shop, savings_id) == 1_000_000


def test_a_deposit_with_a_pin_card_and_no_pin_is_declined(till: PaymentClient) -> None:
    savings_id = open_savings(till.shop, enroll(till.shop))
    given = {name: value for name, value in card(auth="PIN").items() if name != "pin"}
    said: dict[str, Any] = {"savings_id": savings_id, "payment_method": "card", "amount": "10000.00"}
    assert till.shop.put("investments", action="deposit", card=given, **said).body["txnStatus"] == "failed"
    assert balance(till.shop, savings_id) == 0
