"""Payments are found by whole words of the payer's name, last four digits, amounts and numbers of invoices."""

from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.wire.people import split_words
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.payer_pages import pay_on_page
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

ADAEZE = {"firstname": "Adaéze", "lastname": "Obiora-Nwachukwu", "email": "adaeze@example.com"}
BOLA = {"firstname": "Bola", "lastname": "Ade", "email": "bola@example.com"}
BEHIND = """
    select s.last_event_seq - coalesce(k.event_seq, 0) from merchant_state s join merchant m using (merchant_id)
    left join payment_word_mark k using (merchant_id) where m.mid = $1 and m.current
"""
WORDS = "select w.txn_ref, w.word from payment_word w join merchant using (merchant_id) where mid = $1"


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def wait_for_words(deployment: Deployment, shop: MerchantClient) -> None:
    wait_until("the words are added", lambda: deployment.fetch(BEHIND, shop.mid)[0][0] == 0)


def found_by(owner: Visitor, text: str, references: list[str]) -> list[str]:
    """Returns which payments a text finds, in the list and in the search of the header alike."""
    listed, searched = (owner.get(f"{path}?q={quote(text)}") for path in ("/transactions", "/search"))
    if listed.http == 303:  # one transaction is shown at once
        return [reference for reference in references if quote(reference, safe="") in listed.place]
    found = [reference for reference in references if reference in listed.words]
    assert found == [reference for reference in references if reference in searched.words]
    return found


def test_a_payment_is_found_by_name_last_digits_and_amount(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    payments = PaymentClient(shop)
    declined = payments.paid("4111115100000011", user=ADAEZE, amount="1500.00")["txnRef"]
    first = payments.paid("5123450000000016", user=ADAEZE, amount="2500.50")["txnRef"]
    other = payments.paid("5123450000000016", user=BOLA, amount="1500.00")["txnRef"]
    wait_for_words(deployment, shop)
    everything = [declined, first, other]
    assert found_by(owner, "Obiora", everything) == [declined, first]
    assert found_by(owner, "nwachukwu ADAEZE", everything) == [declined, first]
    assert found_by(owner, "Bola", everything) == [other]
    assert found_by(owner, "Bola Obiora", everything) == []
    assert found_by(owner, "Obio", everything) == [], "words are whole"
    assert found_by(owner, "0016", everything) == [first, other]
    assert found_by(owner, "1,500.00", everything) == [declined, other]
    failed = owner.get("/transactions?q=Obiora&status=failed")
    assert quote(declined, safe="") in failed.place, "filters count too, and a single one is shown"
    exported = owner.get("/transactions.csv?q=Obiora").text
    assert (declined in exported, first in exported, other in exported) == (True, True, False)


def test_another_merchant_does_not_find_a_payer(deployment: Deployment, owner: Visitor, shop: MerchantClient) -> None:
    paid = PaymentClient(shop).paid(user=ADAEZE)["txnRef"]
    wait_for_words(deployment, shop)
    stranger = deployment.open_shop()
    with stranger.connection:
        other = sign_in_as(deployment, "merchant:owner", stranger.mid)
        assert found_by(other, "Obiora", [paid]) == []
    assert found_by(owner, "Obiora", [paid]) == [paid]


def test_words_are_stored_as_hashes_and_removed_with_the_payer(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    paid = PaymentClient(shop).paid(user=ADAEZE)["txnRef"]
    wait_for_words(deployment, shop)
    stored = deployment.fetch(WORDS, shop.mid)
    assert {row["txn_ref"] for row in stored} == {paid}
    # The words of the name, the last digits, the email address and the amount.
    assert len(stored) == len(split_words("Adaéze Obiora-Nwachukwu")) + 3
    assert all(len(row["word"]) == 16 for row in stored)
    person: Any = {"name": "Adaeze Obiora", "email": ADAEZE["email"]}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    deployment.run_command("customer", "erase", shop.mid, customer, "--yes")
    assert deployment.fetch(WORDS, shop.mid) == []


def test_an_invoice_is_found_by_its_number(owner: Visitor, shop: MerchantClient) -> None:
    person: Any = {"name": "Ada Obi", "email": "ada@example.com"}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    goods: Any = {"items": [{"description": "Fabric", "quantity": 1, "amount": "12500.00"}]}
    invoice: Any = shop.put("resources", request="invoice", customer_id=customer, **goods).body["data"]
    for text in (invoice["number"], invoice["number"].lower(), "INV-1"):
        assert owner.get(f"/search?q={text}").place == f"/invoices/{invoice['invoice_id']}"
    pay_on_page(shop, invoice["link"], {})
    [line] = shop.put("resources", inquire="transactions", kind="payment").body["data"]
    assert quote(line["txnRef"], safe="") in owner.get(f"/transactions?q={invoice['number']}").place


def test_the_page_says_what_finds_what(owner: Visitor) -> None:
    page = owner.get("/search?q=zzzz").words
    assert "Whole words of a name or title find payments" in page
    assert "Names are stored encrypted" in page
    assert "The last four digits of a card or account" in page
