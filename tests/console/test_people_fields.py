"""Fields that take a customer or a client, in filters of lists and in forms, take a name as well as an id."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.console.test_record_search import make_client, wait_for_words
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.investments import savers
from tests.methods.loans.lending_client import LendingClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

GOODS: Any = {"items": [{"description": "Fabric", "quantity": 1, "amount": "12500.00"}]}


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def make_customer(shop: MerchantClient, name: str, email: str) -> str:
    """Makes a customer with an invoice."""
    person: Any = {"name": name, "email": email}
    customer = shop.put("resources", request="customer", **person).body["data"]["customer_id"]
    shop.put("resources", request="invoice", customer_id=customer, **GOODS)
    return str(customer)


def test_a_list_of_invoices_is_filtered_by_the_name_of_the_customer(owner: Visitor, shop: MerchantClient) -> None:
    customer = make_customer(shop, "Ada Obi", "ada@example.com")
    make_customer(shop, "Bola Ade", "bola@example.com")
    for text in ("Ada Obi", "ada@example.com", customer):
        page = owner.get(f"/invoices?customer_id={quote(text)}")
        assert (page.http, "INV-000001" in page.words, "INV-000002" in page.words) == (200, True, False), text
        file = owner.get(f"/invoices.csv?customer_id={quote(text)}")
        assert len(file.text.splitlines()) == 2, text
    assert f'<option value="{customer}">Ada Obi, ada@example.com</option>' in owner.get("/invoices").text


def test_a_name_of_nobody_or_of_several_is_no_empty_list(owner: Visitor, shop: MerchantClient) -> None:
    make_customer(shop, "Ada Obi", "ada@example.com")
    make_customer(shop, "Ada Obi", "ada.obi@example.com")
    several = owner.get("/invoices?customer_id=Ada+Obi")
    assert "several customers have this name" in several.words
    assert "Ada Obi, ada@example.com" in several.words
    unknown = owner.get("/invoices?customer_id=Nobody")
    assert "no customer has this name" in unknown.words
    assert "The filter was not applied" in unknown.words
    file = owner.get("/invoices.csv?customer_id=Nobody")
    assert (file.http, "no customer has this name" in file.words) == (422, True)


def test_loans_and_savings_are_filtered_by_the_name_of_the_client(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    loan, other = bank.request(make_client(shop, email="ngozi@example.com")), bank.lend()
    wait_for_words(deployment, shop)
    for text in ("Ngozi Balogun-Cole", "balogun", "ngozi@example.com"):
        page = owner.get(f"/loans?client_id={quote(text)}")
        assert (loan["data"]["loan_id"] in page.words, other in page.words) == (True, False), text
    assert "no client has this name" in owner.get("/savings?client_id=Nobody").words


def test_a_form_takes_a_client_by_address_and_not_by_a_name_that_others_may_have(
    deployment: Deployment, owner: Visitor, shop: MerchantClient
) -> None:
    client = make_client(shop, email="ngozi@example.com")
    wait_for_words(deployment, shop)
    interest = {"interestSettings.interestRate": "10", "interestSettings.interestFrequency": "annualized"}
    terms = {"name": "School fees", "period": "12", **interest}
    refused = owner.post("/savings/new/create", client_id="Ngozi Balogun-Cole", **terms)
    assert (refused.http, "others may have this name" in refused.words) == (422, True)
    assert savers.invest(shop, "list_savings")["data"] == []
    assert f'<option value="{client}">Ngozi Balogun-Cole' in refused.text
    made = owner.post("/savings/new/create", client_id="ngozi@example.com", **terms)
    assert made.http in (200, 303), made.words
    [savings] = savers.invest(shop, "list_savings")["data"]
    assert savings["client_id"] == client


def test_the_leader_of_a_group_is_shown_by_name(owner: Visitor, shop: MerchantClient) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    leader, member = make_client(shop), bank.client()
    group = bank.loans("create_group", name="Weavers", members=[leader, member], leader=leader)["data"]["group_id"]
    for path in ("/groups", f"/groups/{group}", f"/clients/{member}"):
        page = owner.get(path)
        assert f'<a href="/clients/{leader}">Ngozi Balogun-Cole</a>' in page.text, path
