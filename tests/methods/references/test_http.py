"""One look-up for every reference that the service gave or was given. (Contract: resources#transaction)"""

from collections.abc import Iterator
from typing import Any

import pytest

from kasuwa.methods.payment.settlement_model import PAYOUT
from kasuwa.methods.references.store import SUBJECT_KINDS
from kasuwa.methods.tables import PURPOSES
from kasuwa.transactions.purpose import SCHEDULED_PAYOUT, SUBJECT_FIELDS
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import NEWEST, Deployments

NOW = "2026-01-05T09:30:00+01:00"
TERMS: dict[str, Any] = {"interestSettings": {"interestRate": "24", "interestFrequency": "annualized"}, "period": 12}


class Office:
    """A merchant with one of everything, and the reference of each by its kind."""

    def __init__(self, shop: MerchantClient) -> None:
        self.shop = shop
        payments = PaymentClient(shop)
        self.payment = payments.paid(customer_txnref="basket-9", user={"email": "ada@example.com"})
        self.refund = payments.refund(self.payment["txnRef"], "100.00")
        self.transfer = shop.transfer(orderRef="salary-1")
        orders = [
            {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": f"bulk-{number}"}
            for number in range(25)
        ]
        self.bulk = shop.bulk(orders)
        self.code = shop.put(
            "cashcode", action="generate", amount="1000", pin="2580", orderRef="code-1", channel="ATM"
        ).body
        self.card = CardClient(shop, amount=100, currency="USD")
        self.purchase = self.card.buy("5.00", currency="USD")
        self.client = savers.enroll(shop)
        self.savings = savers.open_savings(shop, self.client, deposit="500.00")
        self.loan = shop.put("loans", action="request", client_id=self.client, amount=1000, **TERMS).body["data"][
            "loan_id"
        ]
        shop.put("loans", action="process", loan_id=self.loan, status="approve")
        made = shop.put("resources", request="customer", name="Ada", email="ada@example.com").body
        self.customer = made["data"]["customer_id"]
        self.account = shop.put(
            "resources", request="personalized-accounts", name="Ada Obi", reference="house-4", email="a@example.com"
        ).body["data"]
        self.beneficiary = shop.put(
            "sandbox", action="beneficiary", name="Bola", bankcode="058", accountnumber="0000000000"
        ).body["ref_code"]

    def find(self, reference: str) -> Any:
        body = self.shop.put("resources", inquire="transaction", reference=reference).body
        assert body["status"] == 200, (reference, body)
        return body["data"]


@pytest.fixture(scope="module")
def office(deployments: Deployments) -> Iterator[Office]:
    shop = deployments.for_version(NEWEST).open_shop(now=NOW)
    with shop.connection:
        yield Office(shop)


def related(found: Any, kind: str) -> list[str]:
    return [one["reference"] for one in found["related"] if one["kind"] == kind]


def test_a_payment_is_found_by_both_references_with_its_refund_and_customer(office: Office) -> None:
    found = office.find(office.payment["txnRef"])
    assert office.find("basket-9") == found
    assert (found["kind"], found["state"], found["amount"], found["method"]) == (
        "payment",
        "successful",
        "1500.00",
        "card",
    )
    assert related(found, "refund") == [office.refund["refundRef"]]
    assert related(found, "customer") == [office.customer]
    assert found["timeline"][0]["step"] == "requested"
    assert found["timeline"][-1]["step"] == "successful"


def test_a_refund_names_its_payment(office: Office) -> None:
    found = office.find(office.refund["refundRef"])
    assert (found["kind"], found["amount"]) == ("refund", "100.00")
    assert related(found, "payment") == [office.payment["txnRef"]]


def test_a_transfer_is_found_by_orderref_txnref_and_event(office: Office) -> None:
    found = office.find("salary-1")
    assert (found["kind"], found["reference"], found["fee"]) == ("transfer", office.transfer["txnRef"], "10.00")
    events = office.shop.put("resources", inquire="events", txnRef=office.transfer["txnRef"]).body["data"]
    assert office.find(office.transfer["txnRef"]) == office.find(events[0]["event_id"]) == found


def test_a_bulk_is_found_with_its_sum_and_names_its_transfers(office: Office) -> None:
    found = office.find(office.bulk["batchRef"])
    assert (found["kind"], found["amount"], len(related(found, "transfer"))) == ("batch", "250.00", 20)
    one = office.find("bulk-3")
    assert related(one, "batch") == [office.bulk["batchRef"]]


def test_a_cashcode_is_found_by_its_order_and_its_digits_which_are_not_repeated(office: Office) -> None:
    found = office.find("code-1")
    assert (found["kind"], found["state"]) == ("cashcode", "pending")
    assert office.find(office.code["cashcode"]) == found
    assert office.code["cashcode"] not in str(found)


def test_loans_savings_and_clients_are_found_with_what_belongs_to_them(office: Office) -> None:
    savings = office.find(office.savings)
    assert (savings["kind"], savings["state"], savings["amount"]) == ("savings", "active", "500.00")
    [deposit] = related(savings, "deposit")
    assert related(office.find(deposit), "savings") == [office.savings]
    loan = office.find(office.loan)
    assert (loan["kind"], loan["amount"]) == ("loan", "1000.00")
    client = office.find(office.client)
    assert (related(client, "loan"), related(client, "savings")) == ([office.loan], [office.savings])


def test_cards_are_found_with_their_purchases(office: Office) -> None:
    found = office.find(office.card.reference)
    assert (found["kind"], found["state"], found["currency"]) == ("virtual_card", "active", "USD")
    assert related(found, "card_purchase") == [office.purchase["txnRef"]]


def test_the_token_of_a_saved_card_is_not_repeated(office: Office) -> None:
    token = office.payment["cardToken"]
    found = office.find(token)
    assert (found["kind"], found["reference"]) == ("saved_card", f"{token[:4]}****")
    assert token not in str(found)


def test_customers_accounts_and_beneficiaries_are_found(office: Office) -> None:
    customer = office.find(office.customer)
    assert (customer["kind"], related(customer, "payment")) == ("customer", [office.payment["txnRef"]])
    account = office.find("house-4")
    assert (account["kind"], account["orderRef"]) == ("personalized_account", "house-4")
    assert office.find(office.account["accountNumber"]) == account
    assert office.find(office.beneficiary)["kind"] == "beneficiary"


def test_every_record_has_the_same_fields(office: Office) -> None:
    references = ("salary-1", office.loan, office.card.reference, office.bulk["batchRef"], office.customer)
    assert len({tuple(office.find(reference)) for reference in references}) == 1


def test_every_purpose_of_a_transaction_has_a_kind() -> None:
    assert {*SUBJECT_KINDS, PAYOUT, SCHEDULED_PAYOUT} == set(PURPOSES.rules)
    assert set(SUBJECT_FIELDS) == {name for name, kind in SUBJECT_KINDS.items() if kind not in ("client", "plan")}


def test_an_unknown_reference_is_refused(office: Office) -> None:
    for reference in ("no-such", "GP|FD|000000000|20260105X", "0123456789", "evt_00000001000000000000"):
        body = office.shop.put("resources", inquire="transaction", reference=reference).body
        assert (body["status"], body["message"]) == (104, "Invalid Transaction Reference")
