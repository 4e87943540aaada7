"""Answers a request under the settings that its merchant has when it is committed, not when it was received.

The directory caches merchants for less than a second. A policy or a suspension that was acknowledged meanwhile must
hold for what is committed afterwards, so the writer compares the version of the settings (engine/batch.py,
docs/decisions/0078).
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.engine.batch import Result
from kasuwa.engine.merchant_state import SettingsChanged
from kasuwa.merchants.merchants import MerchantDirectory

Reply = TypeVar("Reply")

# A request whose merchant's settings change each time that it is decided is given up.
MAX_TRIES = 5


class MerchantChanged(Exception):
    """Raised if the merchant's settings have changed since they were read. Nothing was written."""


class MerchantSuspended(Exception):
    """Raised if the merchant was suspended meanwhile. Nothing was written."""


def require_current(result: Result) -> Result:
    """Returns a result of the writer. Raises MerchantChanged if it was not decided because of changed settings."""
    if isinstance(result, SettingsChanged):
        raise MerchantChanged
    return result


async def with_current_merchant(
    directory: MerchantDirectory, merchant: Merchant, run: Callable[[Merchant], Awaitable[Reply]]
) -> Reply:
    """Runs a request, again with the merchant as it is now as long as that has changed. Raises MerchantSuspended."""
    for _ in range(MAX_TRIES):
        try:
            return await run(merchant)
        except MerchantChanged:
            directory.evict(merchant.mid)
            # A restore of a world gives the mid other books: the request is then decided in these.
            current = await directory.get_current_books(merchant.merchant_id)
            if current.suspended:
                raise MerchantSuspended from None
            merchant = msgspec.structs.replace(current, caller=merchant.caller)
    raise MerchantChanged
