"""How long what decisions were made of is kept, and who can read it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kasuwa.jobs.leases import DELETE_EXPIRED
from tests.merchant_client import MerchantClient
from tests.running import Deployment

COUNT = "select count(*) from decision_input i join merchant m using (merchant_id) where m.mid = $1"
AGE = """
    update decision_input set written_at = now() - $2::interval
    where merchant_id = (select merchant_id from merchant where mid = $1 and current)
"""


@pytest.mark.parametrize(("days", "kept"), [(89, True), (91, False)])
def test_rows_are_deleted_after_ninety_days(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, days: int, kept: bool
) -> None:
    shop = open_shop()
    shop.put("payment", action="charge", paymentType="bank_transfer", amount="10.00")
    before = deployment.fetch(COUNT, shop.mid)[0][0]

    async def age_and_tidy(connection: Any) -> None:
        await connection.execute(AGE, shop.mid, timedelta(days=days))
        await connection.execute(DELETE_EXPIRED, datetime.now(UTC))

    deployment.run_on_connection(age_and_tidy)
    # The request, and the answer of the rail.
    assert before >= 2
    assert deployment.fetch(COUNT, shop.mid)[0][0] == (before if kept else 0)


def test_a_request_that_is_refused_leaves_nothing(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(balance="10.00")
    counted = deployment.fetch(COUNT, shop.mid)
    for _ in range(2):
        shop.put("payment", action="refund", txnRef="nobody's", amount="10.00")
        shop.put("payment", action="charge", paymentType="bank_transfer", amount="10.00", dry_run=True)
    assert deployment.fetch(COUNT, shop.mid) == counted


def test_a_request_that_is_repeated_is_recorded_once(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop()
    fields: dict[str, Any] = {"action": "charge", "paymentType": "bank_transfer", "amount": "10.00"}
    headers = {"idempotency-key": "the-same-request"}
    replies = [shop.put("payment", headers=headers, **fields).body["txnRef"] for _ in range(2)]
    assert replies[0] == replies[1]
    [(requests,)] = deployment.fetch(f"{COUNT} and i.kind = 'request' and i.name like 'payment.%'", shop.mid)
    assert requests == 1
