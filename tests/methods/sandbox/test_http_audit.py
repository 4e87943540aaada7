"""`audit` of `PUT /sandbox` over HTTP: finds the violations of the caller's own books, and of no others."""

from collections.abc import Callable
from typing import Any

from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.test_invariants import do_harm

BREAK = "update account set posted = posted + 1 where merchant_id = $1 and name = 'wallet:main:NGN'"
MEND = "update account set posted = posted - 1 where merchant_id = $1 and name = 'wallet:main:NGN'"
RIGHT = {"status": 200, "data": []}


def change(deployment: Deployment, shop: MerchantClient, statement: str) -> None:
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1", shop.mid)

    async def run(connection: Any) -> None:
        async with connection.transaction():
            await do_harm(connection, statement, merchant_id)

    deployment.run_on_connection(run)


def test_books_that_are_right_have_no_violations(shop: MerchantClient) -> None:
    shop.transfer()
    assert shop.put("sandbox", action="audit").body == RIGHT


def test_a_violation_is_reported_with_its_place_to_its_merchant_alone(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop, other = open_shop(), open_shop()
    change(deployment, shop, BREAK)
    reply = shop.put("sandbox", action="audit").body
    assert reply["status"] == 200
    assert reply["data"] == [
        {
            "invariant": "all balances of a merchant sum to zero per currency, external accounts included",
            "place": "NGN: 1",
        },
        {
            "invariant": "an account's balance is the sum of its postings",
            "place": "wallet:main:NGN: 1000000001 kept, 1000000000 posted",
        },
    ]
    assert other.put("sandbox", action="audit").body == RIGHT
    change(deployment, shop, MEND)
    assert shop.put("sandbox", action="audit").body == RIGHT
