"""Many merchants move their clocks at once: all are answered, whatever the number of database connections."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.merchant_client import MerchantClient
from tests.running import Deployment

# Twice what the pool has.
MANY = 16
RESEND: dict[str, Any] = {"request": "resend", "from": 1, "to": 1}


def test_advances_of_many_merchants_at_once_are_all_answered(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shops = [open_shop() for _ in range(MANY)]
    for shop in shops:
        assert shop.transfer(orderRef="later", accountnumber="0000000900")["txnStatus"] == "pending"

    def advance(shop: MerchantClient) -> tuple[int, str]:
        body = shop.put("sandbox", action="advance", hours=1).body
        return body["status"], shop.status_of("later")

    with ThreadPoolExecutor(MANY) as threads:
        for _ in range(3):
            assert list(threads.map(advance, shops)) == [(200, "successful")] * MANY
    with deployment.connect() as wire:
        assert wire.send("GET", "/readyz").http == 200


def test_advances_that_wait_for_endpoints_leave_connections_for_others(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    """Each advance delivers to an endpoint nobody listens at; `resend` and `clock` of others go on beside."""
    shops = [open_shop() for _ in range(MANY)]
    for shop in shops:
        shop.put("sandbox", action="webhook", url="http://127.0.0.1:9/nobody")
        shop.transfer()

    def work(shop: MerchantClient) -> list[int]:
        advance: dict[str, Any] = {"action": "advance", "minutes": 5}
        asked: list[dict[str, Any]] = [advance, {"action": "clock"}, advance]
        answers = [shop.put("sandbox", **fields).body["status"] for fields in asked]
        return [*answers, shop.put("resources", **RESEND).body["status"]]

    with ThreadPoolExecutor(MANY) as threads:
        assert list(threads.map(work, shops)) == [[200] * 4] * MANY
