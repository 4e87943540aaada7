"""Proposing the reversal of a posting: the form is filled in, and nothing moves until another person approves it."""

import html

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


def test_a_posting_leads_to_the_form_of_the_one_that_moves_it_back(
    deployment: Deployment, shop: MerchantClient
) -> None:
    shop.transfer(amount="1500.00")
    before = shop.wallet()
    finance = sign_in_as(deployment, "operator:finance")
    [[seq]] = deployment.fetch(
        "select p.seq from posting p join merchant m using (merchant_id)"
        " where m.mid = $1 and p.credit = 'rail:bank:NGN' and p.amount = 150000",
        shop.mid,
    )
    page = finance.get(f"/operator/merchants/{shop.mid}/postings/{seq}")
    assert f"Propose reversal of posting {seq} : NGN 1,500.00 from rail:bank:NGN to wallet:main:NGN" in page.words
    place = html.unescape(page.text.partition(f'">Propose reversal of posting {seq}<')[0].rpartition('href="')[2])
    form = finance.get(place.partition("#")[0])
    assert form.http == 200
    assert f'value="Reversal of posting {seq}"' in form.text
    assert 'value="1,500.00"' in form.text
    fields = {"mid": shop.mid, "debit": "rail:bank:NGN", "credit": "wallet:main:NGN", "amount": "1,500.00"}
    assert finance.post("/operator/approvals/posting", reason=f"Reversal of posting {seq}", **fields).http == 303
    assert shop.wallet() == before, "nobody else has approved it"


def test_who_does_not_keep_books_is_not_offered_a_reversal(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer(amount="1500.00")
    support = sign_in_as(deployment, "operator:support")
    page = support.get(f"/operator/merchants/{shop.mid}/postings/1")
    assert (page.http, "Propose reversal" in page.words) == (200, False)
