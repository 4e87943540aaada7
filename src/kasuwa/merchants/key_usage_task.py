"""The task that records when the keys of merchants were last used, as the requests of this process have noted it."""

import asyncio

import structlog

from kasuwa.merchants.key_usage import KeyUsage
from kasuwa.observe.log import describe_error
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.connections import is_connection_error

WRITE_SECONDS = 1.0
log = structlog.get_logger("kasuwa.web")


async def keep_recording_use(usage: KeyUsage, pool: Pool) -> None:
    """Writes every second, until it is cancelled. What cannot be written is noted again by a later request."""
    while True:
        await asyncio.sleep(WRITE_SECONDS)
        try:
            await usage.write(pool)
        except Exception as error:
            if not is_connection_error(error):
                log.error("the use of keys could not be recorded", **describe_error(error))
