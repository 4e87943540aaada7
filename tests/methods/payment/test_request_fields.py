"""Fields of payment requests: redirect URLs, schedules, splits in other currencies, the sample card."""

from typing import Any

import pytest

from kasuwa.core.decision import Decision
from tests.methods.payment.in_memory_payments import BODIES, CARD, InMemoryPayments, charge, fields_of, initiate, opened
from tests.rule_context import merchant

# --- where the payer goes back to -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example",
        "https://shop.example/done?order=7&x=%20#end",
        "http://localhost:3000/back",
        "http://127.0.0.1/",
        "http://[::1]:8080/",
        "https://xn--80ak6aa92e.com/",
        "https://my_shop.example.:65535/?q",
        "https://shop.example/d\N{LATIN SMALL LETTER E WITH ACUTE}j\N{LATIN SMALL LETTER A WITH GRAVE}",
    ],
)
def test_a_redirect_url_that_a_browser_can_open_is_accepted(url: str) -> None:
    assert isinstance(
        InMemoryPayments().put("initiate", "card", amount="1500.00", card=CARD, redirect_url=url), Decision
    )


@pytest.mark.parametrize(
    "url",
    [
        "http://[abc",
        "http://[::zz]/",
        "http://shop.example:99999/",
        "http://shop.example:/x y",
        "http://shop.example/\u0001",
        "http://shop.example/\u202e",
        "http://shop.example/\r\nx: y",
        "http://sh\N{FULLWIDTH FULL STOP}p.example/",
        "http://\N{SNOWMAN}.example/",
        "http://user@shop.example/",
        "http:///done",
        "http://-shop.example/",
        "ftp://shop.example/",
        "javascript:alert(1)",
        "/done",
        "https://shop.example/" + "a" * 2048,
    ],
)
@pytest.mark.parametrize("variant", ["card", "mobile_money", "bank_transfer"])
def test_an_invalid_redirect_url_is_refused(url: str, variant: str) -> None:
    payments = InMemoryPayments()
    action = "initiate" if variant == "card" else "charge"
    fields: dict[str, Any] = {"card": CARD} if variant == "card" else {**BODIES[variant]}
    refused = payments.put(action, variant, **{**fields, "amount": "1500.00", "redirect_url": url})
    assert fields_of(refused) == ["redirect_url"]
    assert payments.rows == {}


# --- what other payment types cannot do -------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(BODIES))
def test_a_method_that_cannot_be_charged_again_refuses_schedules(method: str) -> None:
    schedule = {"payment_schedule": {"05-01-2026": 1500}, "total": "1500.00"}
    asked: dict[str, Any] = {"is_recurring": True, "recurrent": {"frequency": "daily"}, "installment": schedule}
    payments = InMemoryPayments()
    for name, value in asked.items():
        refused = payments.put("charge", method, **{"amount": "1500.00", **BODIES[method], name: value})
        assert fields_of(refused) == [name]
    assert isinstance(payments.put("charge", method, amount="1500.00", is_recurring=False, **BODIES[method]), Decision)


def test_a_split_in_a_currency_that_no_beneficiary_can_be_paid_in_names_it() -> None:
    payments = InMemoryPayments()
    made = payments.put("beneficiary", name="Bola", bankcode="058", accountnumber="0000000000")
    split = [{"ref_code": made.reply.ref_code, "percentage": "50"}]
    refused = payments.put("initiate", "card", amount="15.00", card=CARD, currency="USD", split=split)
    assert [(fault.field, "USD" in fault.reason) for fault in refused.field_errors] == [("split", True)]


# --- the sample card --------------------------------------------------------------------------------------------------

SAMPLE = {"card_no": "5438898014560229", "expiry_month": "09", "expiry_year": "19", "ccv": "789", "pin": "3310"}


def test_the_sample_card_of_public_clients_is_good_with_any_expiry_in_test_alone() -> None:
    payments = InMemoryPayments()
    paying = initiate(payments, card=SAMPLE)
    paying.receive_answer(opened("OTP"))
    assert isinstance(charge(payments, paying, "OTP", card=SAMPLE), Decision)
    live = InMemoryPayments(of=merchant("live"))
    assert fields_of(live.put("initiate", "card", amount="1500.00", card=SAMPLE)) == ["card.expiry_year"]
    other = {**SAMPLE, "card_no": "5123450000000008"}
    assert fields_of(payments.put("initiate", "card", amount="1500.00", card=other)) == ["card.expiry_year"]
    # Beside another fault as well.
    refused = payments.put("initiate", "card", amount="nothing", card=SAMPLE)
    assert fields_of(refused) == ["amount"]
