"""A merchant who has used every action, made once: its examples take years of business time."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import NOW, send_examples
from tests.webhooks.event_log import wait_until

# These give the merchant other books while the examples are sent.
REPLACING = frozenset({"sandbox-reset", "sandbox-restore", "sandbox-fork"})
DUE_NOW = "select count(*) from scheduled_job join merchant using (merchant_id) where mid = $1 and run_at <= now()"


@pytest.fixture(scope="session")
def full_merchant(deployments: Deployments) -> MerchantClient:
    """A merchant who has used every action. Tests use copies of it."""
    deployment = deployments.for_version(NEWEST)
    shop = deployment.open_shop(now=NOW)
    shop.put("sandbox", action="fund_wallet", currency="NGN", amount="50000000.00")
    send_examples(shop, without=REPLACING)
    wait_until("the worker is done", lambda: deployment.fetch(DUE_NOW, shop.mid) == [(0,)])
    for world in shop.put("sandbox", action="worlds").body["data"]:
        shop.put("sandbox", action="delete_world", name=world["name"])
    return shop


@pytest.fixture
def open_full(full_merchant: MerchantClient, deployment: Deployment) -> Callable[[], MerchantClient]:
    """Returns a copy of the merchant who has used every action."""

    def open_one() -> MerchantClient:
        made: dict[str, Any] = full_merchant.put("sandbox", action="fork").body
        assert made["status"] == 200, made
        return MerchantClient(full_merchant.connection, made["mid"], made["key"])

    return open_one
