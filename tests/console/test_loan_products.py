"""Pages of loan products, and a reschedule and a top-up that are shown before they are confirmed."""

import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.loan_products.test_products import PRODUCT
from tests.methods.loans.lending_client import LendingClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


@pytest.fixture
def bank(shop: MerchantClient) -> LendingClient:
    return LendingClient(shop.connection, shop.mid, shop.key)


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def test_products_show_the_numbers_of_their_loans(owner: Visitor, bank: LendingClient) -> None:
    product_id = bank.loans("create_product", **PRODUCT)["data"]["product_id"]
    client_id = bank.client()
    made = owner.post("/loans/new/request-product", product_id=product_id, client_id=client_id)
    assert made.http == 200, made.words
    listed = owner.get("/loan-products")
    assert "Market women" in listed.words
    page = owner.get(f"/loan-products/{product_id}").words
    assert "500.00 to 5000.00" in page
    assert "Loans requested" in page
    changed = owner.post(f"/loan-products/{product_id}/update", name="Traders", tax_rate="5")
    assert "Nothing has been changed yet" in changed.words
    assert "installment" in changed.words


def test_a_reschedule_is_shown_before_it_is_confirmed(owner: Visitor, bank: LendingClient) -> None:
    loan_id = bank.lend()
    asked = {"extra_installments": "2", "reason": "The harvest failed"}
    shown = owner.post(f"/loans/{loan_id}/reschedule", **asked)
    assert "Nothing has been changed yet" in shown.words
    assert "outstanding" in shown.words
    assert len(bank.view(loan_id)["schedule"]) == 12
    refused = owner.post(f"/loans/{loan_id}/reschedule", reason="nothing")
    assert (refused.http, "Say what is to change" in refused.words) == (422, True)
    assert owner.post(f"/loans/{loan_id}/reschedule", **asked, confirmed="yes").http == 303
    assert len(bank.view(loan_id)["schedule"]) == 14
    page = owner.get(f"/loans/{loan_id}").words
    assert "The harvest failed" in page


def test_a_top_up_is_shown_before_it_is_confirmed(owner: Visitor, bank: LendingClient) -> None:
    loan_id = bank.lend()
    shown = owner.post(f"/loans/{loan_id}/top-up", amount="200000.00")
    assert "paid off" in shown.words
    assert bank.view(loan_id)["state"] == "active"
    assert owner.post(f"/loans/{loan_id}/top-up", amount="200000.00", confirmed="yes").http == 303
    assert bank.view(loan_id)["state"] == "closed_repaid"
