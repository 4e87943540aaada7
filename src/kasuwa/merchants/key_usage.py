"""Records when and from where API keys were last used, and last refused for their address.

Requests only note the use in memory. A background task writes what was noted, and each
key at most once a minute, so that no request waits for it.
"""

import asyncio

import structlog

from kasuwa.observe.log import describe_error
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.connections import is_connection_error

WRITE_SECONDS = 1.0
log = structlog.get_logger("kasuwa.merchants")


RECORDED_EVERY = "1 minute"
# A use is noted again after that, a little later than it could be written.
RECORD_AFTER_SECONDS = 61

# Rows that another process is writing are left out: it writes the same minute.
RECORD = """
    with noted as (
        select distinct on (1, 2) n.merchant_id, n.key_id, n.address
        from unnest($1::bigint[], $2::bigint[], $3::text[]) n (merchant_id, key_id, address)),
    chosen as (
        select k.merchant_id, k.key_id, n.address from merchant_key k
        join noted n on n.merchant_id = k.merchant_id and n.key_id = k.key_id
        where k.{at} is null or k.{at} <= now() - interval '{every}'
        for update of k skip locked)
    update merchant_key k set {at} = now(), {address} = c.address
    from chosen c where k.merchant_id = c.merchant_id and k.key_id = c.key_id
"""
RECORD_USE = RECORD.format(at="last_used_at", address="last_used_from", every=RECORDED_EVERY)
RECORD_REFUSAL = RECORD.format(at="refused_at", address="refused_from", every=RECORDED_EVERY)


class KeyUsage:
    """The uses and refusals that this process has noted and not written yet."""

    def __init__(self) -> None:
        self._used: dict[tuple[int, int], str] = {}
        self._refused: dict[tuple[int, int], str] = {}

    def note_use(self, merchant_id: int, key_id: int, address: str) -> None:
        self._used[merchant_id, key_id] = address

    def note_refusal(self, merchant_id: int, key_id: int, address: str) -> None:
        self._refused[merchant_id, key_id] = address

    async def write(self, pool: Pool) -> None:
        """Writes what was noted."""
        used, self._used = self._used, {}
        refused, self._refused = self._refused, {}
        for statement, noted in ((RECORD_USE, used), (RECORD_REFUSAL, refused)):
            if noted:
                merchants, keys = zip(*noted, strict=True)
                async with pool.acquire() as connection:
                    await connection.execute(statement, list(merchants), list(keys), list(noted.values()))


async def keep_recording_use(usage: KeyUsage, pool: Pool) -> None:
    """Writes every second, until it is cancelled. What cannot be written is noted again by a later request."""
    while True:
        await asyncio.sleep(WRITE_SECONDS)
        try:
            await usage.write(pool)
        except Exception as error:
            if not is_connection_error(error):
                log.error("the use of keys could not be recorded", **describe_error(error))
