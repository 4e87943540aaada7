"""Pages and lists with more than the fields of records: charges, payments, movements, sums."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.console.histories.lines import balances_text
from kasuwa.console.histories.plans import NO_CARD, STATE_NOTES, describe_outcome, explain_state
from kasuwa.console.histories.store import HistoryLine, PlanProgress
from tests.console.sample_merchant import PREPAID
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.payment.payment_client import PaymentClient, card
from tests.payer_pages import pay_on_page
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

NOW = datetime(2026, 1, 5, 8, tzinfo=UTC)


def make_charge(status: str, message: str = "Approved") -> HistoryLine:
    return HistoryLine("GP1", "NGN", 1000, status, message, NOW)


# --- why a plan is not charged ----------------------------------------------------------------------------------------


def test_a_declined_card_differs_from_dates_that_were_missed() -> None:
    charges = [make_charge("failed", "Stolen card")]
    declined = explain_state(PlanProgress("paused", 0, NOW, "GP1"), charges)
    assert "the charge GP1 was declined" in declined
    assert "Stolen card" in declined
    missed = explain_state(PlanProgress("paused", 3, NOW, "GP1"), charges)
    assert "3 due dates in a row" in missed
    assert "Stolen card" in missed
    assert explain_state(PlanProgress("paused", 0, NOW, "GP1"), [make_charge("successful")]) == NO_CARD


@pytest.mark.parametrize("state", sorted(STATE_NOTES))
def test_a_plan_that_is_over_says_what_became_of_it(state: str) -> None:
    assert explain_state(PlanProgress(state, 0, NOW, "GP1"), [make_charge("failed")]) == STATE_NOTES[state]


def test_an_active_plan_is_explained_only_while_its_due_charge_fails() -> None:
    active = PlanProgress("active", 1, NOW, "GP1")
    retried = explain_state(active, [make_charge("failed", "Insufficient Funds")])
    assert "5 Jan 2026, 09:00:00 has failed so far (Insufficient Funds)" in retried
    assert explain_state(active, [make_charge("successful")]) == ""


def test_the_outcome_of_a_failed_charge_has_its_message() -> None:
    assert describe_outcome("failed", "Stolen card") == "failed: Stolen card"
    assert describe_outcome("successful", "Approved") == "successful"


def test_balances_in_words_begin_with_the_home_currency_and_leave_zero_out() -> None:
    assert balances_text([("USD", 500), ("NGN", 1_234_500), ("GHS", 0)]) == "NGN 12,345.00, USD 5.00"


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def test_a_recurrent_payment_shows_its_charges(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    payments, given = PaymentClient(shop), card(auth="PIN")
    begun = payments.initiate(given, is_recurring=True, recurrent={"frequency": "daily", "value": "09"})
    payments.charge(begun, given)
    shop.advance(days=2)
    [plan] = shop.put("resources", inquire="recurrents").body
    page = owner.get(f"/recurrents/{plan['id']}")
    assert "3 charges, 0 failed. Collected: NGN 4,500.00" in page.words
    assert begun["txnRef"] in page.text
    assert plan["txnRef"] in page.text
    assert "successful" in owner.get("/recurrents").words


def test_an_account_lists_the_payments_into_it_and_no_others(shop: MerchantClient, owner: Visitor) -> None:
    person: dict[str, Any] = {"name": "Ada Obi", "reference": "room-7", "email": "ada@example.com"}
    number = shop.put("resources", request="personalized-accounts", **person).body["data"]["accountNumber"]
    paid = shop.put("sandbox", action="pay_account", accountNumber=number, amount="2500.00", sender_name="Bola Ade")
    other = PaymentClient(shop).paid(customer_txnref="room-7")
    page = owner.get("/accounts/room-7")
    assert "1 payment. Received: NGN 2,500.00" in page.words
    assert paid.body["txnRef"] in page.text
    assert "Bola Ade" in page.words
    assert other["txnRef"] not in page.text
    assert "None yet" not in owner.get("/accounts").words


def test_savings_show_their_movements_of_the_days_asked_for(shop: MerchantClient, owner: Visitor) -> None:
    client = savers.enroll(shop)
    savings = savers.open_savings(shop, client, "700.00")
    today = shop.now()[:10]
    page = owner.get(f"/savings/{savings}?from={today}&to={today}")
    assert "Savings deposit" in page.words
    assert "Closing balance NGN 700.00" in page.words
    empty = owner.get(f"/savings/{savings}?from=2020-01-01&to=2020-01-31")
    assert "Nothing moved in these days" in empty.words
    assert owner.get(f"/savings/{savings}?from=tomorrow").http == 200
    file = owner.get(f"/savings/{savings}/statement.csv?from={today}&to={today}")
    assert (file.http, "/statement" in file.place) == (303, True)
    assert (
        owner.get(f"/savings/{savings}/statement.pdf?from=tomorrow").place
        == f"/savings/{savings}?from=tomorrow&to={today}"
    )


def test_money_that_leaves_for_other_savings_is_no_deposit(shop: MerchantClient, owner: Visitor) -> None:
    client = savers.enroll(shop)
    source, target = savers.open_savings(shop, client, "700.00"), savers.open_savings(shop, client, "1.00")
    order: dict[str, Any] = {"from": source, "to": target, "amount": "300.00", "from_date": shop.now()[:10]}
    made = shop.put("investments", action="standing_order", frequency="every_month", **order).body
    assert made["status"] == 200, made
    shop.advance(days=1)
    page = owner.get(f"/savings/{source}").words
    assert "Deposits and withdrawals 400.00 in 2 movements" in page
    assert "To other savings" in page
    assert "To other savings" not in owner.get(f"/savings/{target}").words


def test_a_beneficiary_shows_what_it_was_given_and_what_waits(shop: MerchantClient, owner: Visitor) -> None:
    person: dict[str, Any] = {"name": "Bola Ade", "bankcode": "058", "accountnumber": "0000000000"}
    code = shop.put("sandbox", action="beneficiary", **person).body["ref_code"]
    assert "Nothing moved in these days" in owner.get(f"/beneficiaries/{code}").words
    shares = [{"ref_code": code, "share": "300.00"}]
    paid = PaymentClient(shop).paid(split=shares)
    assert paid["status"] == 200, paid
    assert "NGN 300.00" in owner.get("/beneficiaries").words
    assert "Closing balance NGN 300.00" in owner.get(f"/beneficiaries/{code}").words


def test_customers_are_listed_with_what_they_spent_without_refunds(shop: MerchantClient, owner: Visitor) -> None:
    shop.put("resources", request="customer", name="Ada Obi", email="ada@example.com")
    shop.put("resources", request="customer", name="Bola Ade", email="bola@example.com")
    payments = PaymentClient(shop)
    payments.paid()
    assert payments.refund(payments.paid()["txnRef"], "500.00")["status"] == 200
    page = owner.get("/customers")
    assert "NGN 2,500.00" in page.words
    lines = owner.get("/customers.csv").text.splitlines()
    header = lines[0].split(",")
    assert {"spent", "payments", "last_payment"} <= set(header)
    assert '"NGN 2,500.00",2,' in next(line for line in lines if "Ada Obi" in line)
    assert ",,0,," in next(line for line in lines if "Bola Ade" in line)


def test_links_are_listed_with_what_was_paid_through_them(shop: MerchantClient, owner: Visitor) -> None:
    link = shop.put("resources", request="paylink", title="Class", amount="4000.00").body["data"]
    for _ in range(2):
        pay_on_page(shop, link["link"], {"fullname": "Ada Obi", "email": "ada@example.com"})
    assert "NGN 8,000.00" in owner.get("/links").words


def test_checkouts_are_listed_with_who_paid(shop: MerchantClient, owner: Visitor) -> None:
    link = shop.put("resources", request="paylink", title="Class", amount="4000.00").body["data"]
    pay_on_page(shop, link["link"], {"fullname": "Ada Obi", "email": "ada@example.com"})
    page = owner.get("/checkouts")
    assert "Ada Obi" in page.words
    assert "Class" in page.words
    [line] = shop.put("resources", inquire="transactions", kind="payment").body["data"]
    checkout = shop.put("resources", inquire="transaction", reference=line["txnRef"]).body["data"]["related"][0]
    shown = owner.get(f"/checkouts/{quote(checkout['reference'], safe='')}").words
    assert "Payer Ada Obi" in shown
    assert "Paid with Visa •••• 0013" in shown


def test_the_page_of_a_bill_says_what_was_paid_for_whom(shop: MerchantClient, owner: Visitor) -> None:
    bill: dict[str, Any] = {"paycode": PREPAID, "reference": "45012345678", "amount": "5000.00", "orderRef": "bill-1"}
    paid = shop.put("bills", action="pay", **bill).body
    page = owner.get(f"/bills/{quote(paid['txnRef'], safe='')}").words
    for words in ("Biller Ikeja Electric", "Item IKEDC Prepaid", "Customer 45012345678", "Created"):
        assert words in page


def test_the_page_of_a_cashcode_says_what_became_of_it(shop: MerchantClient, owner: Visitor) -> None:
    shop.put("cashcode", action="generate", amount="3000.00", pin="2580", channel="ATM", orderRef="cash-1")
    [line] = shop.put("resources", inquire="transactions", kind="cashcode").body["data"]
    page = owner.get("/cashcodes/cash-1")
    assert f'href="/transactions/{quote(line["txnRef"], safe="")}"' in page.text
    assert "Created" in page.words
    shop.advance(days=2)
    expired = owner.get("/cashcodes/cash-1").words
    assert "The cashcode expired unused" in expired


def test_bills_and_cashcodes_are_listed(shop: MerchantClient, owner: Visitor) -> None:
    bill: dict[str, Any] = {"paycode": PREPAID, "reference": "45012345678", "amount": "5000.00", "orderRef": "bill-1"}
    assert shop.put("bills", action="pay", **bill).body["status"] == 200
    shop.put("cashcode", action="generate", amount="3000.00", pin="2580", channel="ATM", orderRef="cash-1")
    page = owner.get("/bills")
    assert "Ikeja Electric" in page.words
    assert "bill-1" in page.words
    codes = owner.get("/cashcodes")
    assert "cash-1" in codes.words
    assert "active" in codes.words
    assert "NGN 3,000.00" in codes.words
    assert "bill-1" in owner.get("/bills.csv").text
    assert "cash-1" in owner.get("/cashcodes.csv").text
