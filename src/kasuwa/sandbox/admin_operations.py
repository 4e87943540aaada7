"""Admin operations that exist in every environment (core.action.AdminOperations)."""

from datetime import datetime

from kasuwa.core.decision import Merchant
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.engine.merchant_state import MerchantState, business_now
from kasuwa.jobs import leases
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.webhooks import deliveries

HAS_FIRST_ENDPOINT = f"select endpoints::jsonb ? '{FIRST_ENDPOINT}' from merchant_state where merchant_id = $1"


class CommonOperations:
    def __init__(self, operators: Pool, clock: DatabaseClock) -> None:
        self._operators = operators
        self._clock = clock

    async def close(self) -> None:
        """Does nothing: no operation outlives its request here."""

    async def business_now(self, merchant: Merchant) -> datetime:
        [record] = await self._operators.fetch(leases.SELECT_MERCHANT_STATE, merchant.merchant_id)
        return business_now(MerchantState(*record), self._clock.now())

    async def resend(self, merchant: Merchant, first: int, last: int) -> int | None:
        """Makes a range of events due again at the first endpoint. Returns how many, or None if it is not set."""
        if not await self._operators.fetchval(HAS_FIRST_ENDPOINT, merchant.merchant_id):
            return None
        now = await self.business_now(merchant)
        async with self._operators.acquire() as connection:
            return await deliveries.resend_events(connection, (merchant.merchant_id, FIRST_ENDPOINT), first, last, now)

    async def resend_failed(self, merchant: Merchant, since: datetime, limit: int) -> int | None:
        """Makes events that the first endpoint did not accept due again, those created since a business time, at most
        `limit`. Returns how many, or None if it is not set."""
        if not await self._operators.fetchval(HAS_FIRST_ENDPOINT, merchant.merchant_id):
            return None
        now = await self.business_now(merchant)
        async with self._operators.acquire() as connection:
            endpoint = (merchant.merchant_id, FIRST_ENDPOINT)
            return await deliveries.resend_failed_events(connection, endpoint, since, limit, now)
