"""Changes of the policy for money out: a looser one waits, and nobody can loosen it and send at once."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import asyncpg

from kasuwa.merchants.payout_policy import change_policy
from kasuwa.terms.payouts import NO_POLICY, PayoutPolicy
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

DAY = timedelta(days=1)
TIME_HAS_COME = """
    update merchant set settings = jsonb_set(settings, '{payouts_change,effective_at}', to_jsonb(now()))
    where mid = $1
"""


def test_a_looser_policy_takes_effect_after_the_cooling_off_period(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop()

    async def change(policy: PayoutPolicy) -> Any:
        connection = await asyncpg.connect(deployment.dsn)
        try:
            vault = await deployment.open_vault(connection)
            async with connection.transaction():
                return await change_policy(connection, vault, shop.mid, policy, DAY, "owner@example.com")
        finally:
            await connection.close()

    assert asyncio.run(change(PayoutPolicy(approve_above="0.00"))) == (NO_POLICY, None)
    wait_until("it is in force", lambda: shop.transfer()["txnStatus"] == "pending")
    before, effective_at = asyncio.run(change(NO_POLICY))
    assert (before, effective_at is not None) == (PayoutPolicy(approve_above="0.00"), True)
    wait_until("the cached merchant was read again", lambda: shop.transfer()["txnStatus"] == "pending")
    assert asyncio.run(change(PayoutPolicy(approve_above="0.00")))[1] is None, "the looser one was withdrawn"
    asyncio.run(change(NO_POLICY))
    deployment.fetch_as_service(TIME_HAS_COME, shop.mid)
    wait_until("the looser one is in force", lambda: shop.transfer()["txnStatus"] == "successful")
