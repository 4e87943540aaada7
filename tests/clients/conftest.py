"""Fixtures of the tests of the client libraries: a merchant of the running service, as the Python client sees it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from kasuwa_client import Kasuwa
from tests.merchant_client import MerchantClient
from tests.running import Deployment


@pytest.fixture
def base_url(deployment: Deployment) -> str:
    return f"http://127.0.0.1:{deployment.port}"


@pytest.fixture
def connect(shop: MerchantClient, base_url: str) -> Iterator[Callable[..., Kasuwa]]:
    """Makes clients of the test's merchant, with any options."""
    with ExitStack() as stack:

        def connect_one(**options: Any) -> Kasuwa:
            return stack.enter_context(Kasuwa(**{"mid": shop.mid, "key": shop.key, "base_url": base_url, **options}))

        yield connect_one


@pytest.fixture
def client(connect: Callable[..., Kasuwa]) -> Kasuwa:
    return connect()
