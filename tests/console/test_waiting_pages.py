"""The pages of transfers that wait for approval: their number and sum."""

import pytest

from kasuwa.console.merchant.waiting_pages import PAGE_ROWS
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

PATH = "/transfers/waiting"


@pytest.fixture
def owner(deployment: Deployment, shop: MerchantClient) -> Visitor:
    shop.put("sandbox", action="payout_policy", approve_bulk=True, approve_above="100000.00")
    return sign_in_as(deployment, "merchant:owner", shop.mid)


def test_single_transfers_are_counted_summed_and_paged(owner: Visitor, shop: MerchantClient) -> None:
    for number in range(PAGE_ROWS + 2):
        shop.transfer(amount="100000.01", orderRef=f"large-{number}", narration=f"Rent {number}")
    first = owner.get(PATH)
    assert f"{PAGE_ROWS + 2} transfers, together NGN 5,200,000.52" in first.words
    assert f"This page shows {PAGE_ROWS} of them" in first.words
    assert "Rent 0" in first.words
    following = first.text.partition('">Next page</a>')[0].rpartition('href="')[2]
    assert "Rent 51" in owner.get(following).words
