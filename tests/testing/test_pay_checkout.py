"""`pay_checkout` of the pytest plugin: a payer on the pages of a checkout, in every way that it offers."""

from typing import Any

import pytest

from kasuwa.testing import SandboxMerchant
from kasuwa.testing.payer import CheckoutError, PageReader
from kasuwa_client import CheckoutEvent
from kasuwa_client.types import Payer

PAYER: Payer = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
DECLINED_CARD = "4111115100000011"


def open_checkout(kasuwa: SandboxMerchant, **fields: Any) -> str:
    return str(kasuwa.client.payment.checkout(amount="1500.00", user=PAYER, **fields).raw["checkoutURL"])


@pytest.mark.parametrize("auth", ["OTP", "PIN", "3DSecure"])
def test_a_checkout_is_paid_by_card_whatever_its_bank_asks_for(kasuwa: SandboxMerchant, auth: Any) -> None:
    page = kasuwa.pay_checkout(open_checkout(kasuwa), auth=auth)
    assert (page.is_paid, page.problem) == (True, "")
    assert kasuwa.events.one(CheckoutEvent).txn_status == "successful"


@pytest.mark.parametrize("method", ["account", "bank_transfer", "ussd", "phone", "qrpay"])
def test_a_checkout_is_paid_in_every_other_way(kasuwa: SandboxMerchant, method: Any) -> None:
    assert kasuwa.pay_checkout(open_checkout(kasuwa), method=method).is_paid


def test_a_checkout_in_cedis_is_paid_by_mobile_money(kasuwa: SandboxMerchant) -> None:
    assert kasuwa.pay_checkout(open_checkout(kasuwa, currency="GHS"), method="mobile_money").is_paid


def test_what_goes_wrong_is_what_the_page_says(kasuwa: SandboxMerchant) -> None:
    declined = kasuwa.pay_checkout(open_checkout(kasuwa), card=DECLINED_CARD)
    assert not declined.is_paid
    assert "Insufficient Funds" in declined.problem
    wrong = kasuwa.pay_checkout(open_checkout(kasuwa), otp="000000")
    assert not wrong.is_paid
    assert wrong.problem.startswith("The code is not right")
    unknown = kasuwa.pay_checkout(open_checkout(kasuwa), card="4111")
    assert (unknown.is_paid, unknown.problem) == (False, "Check the card number")


def test_a_way_that_a_checkout_does_not_offer_is_an_error(kasuwa: SandboxMerchant) -> None:
    with pytest.raises(CheckoutError, match="this checkout does not offer token"):
        kasuwa.pay_checkout(open_checkout(kasuwa), method="token")


def test_a_payer_who_transfers_too_little_has_not_paid(kasuwa: SandboxMerchant) -> None:
    page = kasuwa.pay_checkout(open_checkout(kasuwa), method="bank_transfer", amount="10.00")
    assert (page.is_paid, page.problem) == (False, "")


def test_a_saved_card_pays_a_later_checkout_of_the_same_payer(kasuwa: SandboxMerchant) -> None:
    assert kasuwa.pay_checkout(open_checkout(kasuwa)).is_paid
    again = open_checkout(kasuwa, channels=["card", "token"])
    assert kasuwa.pay_checkout(again, method="token").is_paid


def test_a_page_is_read_as_a_payer_sees_it() -> None:
    page = PageReader(
        '<h1>Pay Ada &amp; Co</h1><p class="sum">NGN 1,500.00</p><form action="/a"><input type="hidden" name="do"'
        ' value="pay"><input type="radio" name="saved" value="1"><input type="radio" name="saved" value="2"><select'
        ' name="bank"><option value="">Choose</option><option value="058">GTB</option><option value="044">Access'
        '</option></select></form><a class="button" href="/next">Go</a><p class="wrong">Check it</p>'
    )
    assert (page.shown["h1"], page.sum, page.problem) == ("Pay Ada & Co", "NGN 1,500.00", "Check it")
    assert page.forms[0].values == {"do": "pay", "saved": "1", "bank": "058"}
    assert page.buttons == ["/next"]
