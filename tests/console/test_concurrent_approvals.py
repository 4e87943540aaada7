"""More concurrent approvals than the pool has connections."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.console.test_operator_pages import propose
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")

# More than the pool has.
MANY = 12


def decide_all(deployment: Deployment, movement: dict[str, str]) -> list[int]:
    """Proposes many postings, and has as many operators approve one each at the same time."""
    finance: Visitor = sign_in_as(deployment, "operator:finance")
    admins = [sign_in_as(deployment, "operator:admin") for _ in range(MANY)]
    numbers = [propose(finance, "posting", **movement) for _ in range(MANY)]

    def approve(admin: Visitor, number: int) -> int:
        admin.get("/operator/approvals")
        return admin.post(f"/operator/approvals/{number}/approve").http

    with ThreadPoolExecutor(MANY) as threads:
        return list(threads.map(approve, admins, numbers))


def test_many_approvals_at_once_are_all_decided(deployment: Deployment, shop: MerchantClient) -> None:
    before = shop.wallet().balance
    movement = {"mid": shop.mid, "debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "1.00"}
    assert decide_all(deployment, movement) == [303] * MANY
    assert shop.wallet().balance == before + MANY * 100


def test_many_approvals_that_cannot_be_applied_are_all_answered(deployment: Deployment, shop: MerchantClient) -> None:
    movement = {"mid": shop.mid, "debit": "wallet:main:KES", "credit": "outside:funding:KES", "amount": "1.00"}
    assert decide_all(deployment, movement) == [422] * MANY
