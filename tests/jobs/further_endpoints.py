"""A further webhook endpoint of a merchant, and what is recorded of it."""

from typing import Any

from kasuwa.merchants import endpoints, merchants
from tests.merchant_client import MerchantClient
from tests.running import Deployment

SECOND = 2
ATTEMPTS = """
    select a.event_seq, a.at, a.http from delivery_attempt a join merchant m using (merchant_id)
    where m.mid = $1 and m.current and a.endpoint_id = $2 order by a.event_seq, a.number
"""
WAITING = """
    select j.reference, j.run_at = 'infinity' from scheduled_job j join merchant m using (merchant_id)
    where m.mid = $1 and m.current and j.endpoint_id = $2 order by j.due, j.seq
"""


def add_endpoint(deployment: Deployment, shop: MerchantClient, url: str, *kinds: str) -> int:
    """Adds an endpoint of a merchant. Returns its number."""

    async def add(connection: Any) -> int:
        vault = await deployment.open_vault(connection)
        async with connection.transaction():
            merchant_id = await merchants.lock_merchant(connection, shop.mid)
            number, _ = await endpoints.add_endpoint(connection, vault, merchant_id, url, kinds, "a test")
        return number

    return deployment.run_on_connection(add)


def attempts_at(deployment: Deployment, shop: MerchantClient, endpoint_id: int = SECOND) -> list[Any]:
    """Returns number of the event, business time and HTTP code of each attempt."""
    return [tuple(row) for row in deployment.fetch(ATTEMPTS, shop.mid, endpoint_id)]


def waiting_at(deployment: Deployment, shop: MerchantClient, endpoint_id: int = SECOND) -> list[Any]:
    """Returns the references of events that wait for an endpoint, and whether they are parked."""
    return [tuple(row) for row in deployment.fetch(WAITING, shop.mid, endpoint_id)]
