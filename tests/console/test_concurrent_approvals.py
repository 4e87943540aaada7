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


def decide_all(deployment: Deployment, numbers: list[int]) -> list[int]:
    def approve(number: int) -> int:
        admin = sign_in_as(deployment, "operator:admin")
        admin.get("/operator/approvals")
        return admin.post(f"/operator/approvals/{number}/approve").http

    with ThreadPoolExecutor(len(numbers)) as threads:
        return list(threads.map(approve, numbers))


def test_many_approvals_at_once_are_all_decided(deployment: Deployment, shop: MerchantClient) -> None:
    finance, before = sign_in_as(deployment, "operator:finance"), shop.wallet().balance
    movement = {"mid": shop.mid, "debit": "outside:funding:NGN", "credit": "wallet:main:NGN", "amount": "1.00"}
    numbers = [propose(finance, "posting", **movement) for _ in range(MANY)]
    assert decide_all(deployment, numbers) == [303] * MANY
    assert shop.wallet().balance == before + MANY * 100


def test_many_approvals_that_cannot_be_applied_are_all_answered(deployment: Deployment, shop: MerchantClient) -> None:
    finance: Visitor = sign_in_as(deployment, "operator:finance")
    movement = {"mid": shop.mid, "debit": "wallet:main:KES", "credit": "outside:funding:KES", "amount": "1.00"}
    numbers = [propose(finance, "posting", **movement) for _ in range(MANY)]
    assert decide_all(deployment, numbers) == [422] * MANY
