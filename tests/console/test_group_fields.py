"""Forms of groups take members by address or number, and loans are filtered and requested by their product's code."""

from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.console.records.form_previews import MAX_NAMED, MAX_WORDS
from tests.console.test_record_search import make_client, wait_for_words
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.loan_products.test_products import PRODUCT
from tests.methods.loans.lending_client import LendingClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


@pytest.fixture
def bank(shop: MerchantClient) -> LendingClient:
    return LendingClient(shop.connection, shop.mid, shop.key)


def list_groups(bank: LendingClient) -> list[Any]:
    return list(bank.loans("list_groups")["data"])


def make_product(bank: LendingClient, code: str, name: str) -> str:
    return str(bank.loans("create_product", **PRODUCT | {"code": code, "name": name})["data"]["product_id"])


def members_of(bank: LendingClient, group_id: str) -> tuple[str, set[str]]:
    group = bank.loans("view_group", group_id=group_id)["data"]
    return group["leader"], {member["client_id"] for member in group["members"]}


def test_a_group_is_made_and_changed_by_addresses(owner: Visitor, shop: MerchantClient, bank: LendingClient) -> None:
    first, second = make_client(shop, email="ngozi@example.com"), make_client(shop, email="bola@example.com")
    third = bank.client()
    made = owner.post(
        "/groups/new/create", name="Weavers", members="ngozi@example.com, bola@example.com", leader="bola@example.com"
    )
    assert made.http in (200, 303), made.words
    [group] = list_groups(bank)
    assert members_of(bank, group["group_id"]) == (second, {first, second})
    changed = owner.post(
        f"/groups/{group['group_id']}/change", add=third, remove="bola@example.com", leader="ngozi@example.com"
    )
    assert changed.http == 303, changed.words
    assert members_of(bank, group["group_id"]) == (first, {first, third})


def test_no_more_members_are_looked_for_than_a_field_takes(owner: Visitor, bank: LendingClient) -> None:
    members = " ".join(f"no.{number}@example.com" for number in range(MAX_WORDS + 1))
    refused = owner.post("/groups/new/create", name="Weavers", members=members, leader="no.1@example.com")
    assert f"names {MAX_WORDS + 1}: at most {MAX_WORDS} are taken at a time" in refused.words
    several = owner.post("/groups/new/create", name="Weavers", members=members[: members.rindex(" ")], leader="")
    assert several.words.count("no client has this name, email address, number or id") == MAX_NAMED
    assert list_groups(bank) == []


def test_a_member_who_is_not_found_is_named_and_no_group_is_made(
    deployment: Deployment, owner: Visitor, shop: MerchantClient, bank: LendingClient
) -> None:
    make_client(shop, email="ngozi@example.com")
    wait_for_words(deployment, shop)
    refused = owner.post(
        "/groups/new/create",
        name="Weavers",
        members="ngozi@example.com nobody@example.com Ngozi",
        leader="Balogun-Cole",
    )
    assert refused.http == 422
    assert "nobody@example.com: no client has this name" in refused.words
    assert "Ngozi: others may have this name" in refused.words
    assert refused.words.count("others may have this name") == 2, "the leader, too"
    assert "ngozi@example.com:" not in refused.words
    assert list_groups(bank) == []


def test_a_loan_of_a_group_names_its_members_by_address_and_never_by_name(
    deployment: Deployment, owner: Visitor, shop: MerchantClient, bank: LendingClient
) -> None:
    first, second = make_client(shop, email="ngozi@example.com"), bank.client()
    wait_for_words(deployment, shop)
    group = bank.loans("create_group", name="Weavers", members=[first, second], leader=first)["data"]["group_id"]
    terms = {"period": "12", "interestSettings.interestRate": "24", "interestSettings.interestFrequency": "annualized"}
    lines = {"loans.2.client_id": "ngozi@example.com", "loans.2.amount": "1,000", "loans.5.amount": "500"}
    path = f"/groups/{group}/request-loan"
    refused = owner.post(path, **terms, **lines, **{"loans.5.client_id": "Ngozi"}, disbursement="each")
    assert (refused.http, "others may have this name" in refused.words) == (422, True)
    assert bank.loans("view_group", group_id=group)["data"]["loans"] == []
    asked = owner.post(path, **terms, **lines, **{"loans.5.client_id": second}, disbursement="each")
    assert asked.http == 303, asked.words
    [loan] = bank.loans("view_group", group_id=group)["data"]["loans"]
    assert [(one["client_id"], one["amount"]) for one in loan["loans"]] == [(first, "1000.00"), (second, "500.00")]


def test_loans_are_filtered_by_code_or_name_of_the_product_and_requested_by_code(
    owner: Visitor, shop: MerchantClient, bank: LendingClient
) -> None:
    product = make_product(bank, "MW-12", "Market women")
    make_product(bank, "AG-6", "Farmers")
    other, client = bank.lend(), make_client(shop, email="ngozi@example.com")
    path, terms = "/loans/new/request-product", {"client_id": "ngozi@example.com", "amount": "1000"}
    assert f'<option value="{product}">Market women, MW-12</option>' in owner.get("/loans").text
    refused = owner.post(path, product_id="Market women", **terms)
    assert (refused.http, "no product has this code or id" in refused.words) == (422, True)
    asked = owner.post(path, product_id="MW-12", **terms)
    assert asked.http in (200, 303), asked.words
    [loan] = bank.loans("list", client_id=client)["data"]
    for text in ("MW-12", "market women", product):
        page = owner.get(f"/loans?product_id={quote(text)}")
        assert (loan["loan_id"] in page.words, other in page.words) == (True, False), text
    assert loan["loan_id"] not in owner.get(f"/loans?product_id={quote('AG-6')}").words
    assert "no product has this name, code or id" in owner.get(f"/loans?product_id={quote('Market')}").words
    make_product(bank, "MW-24", "Market women")
    assert (
        "several products have this name, enter the code"
        in owner.get(f"/loans?product_id={quote('Market women')}").words
    )
    assert owner.get(f"/loans.csv?product_id={quote('Market')}").http == 422
