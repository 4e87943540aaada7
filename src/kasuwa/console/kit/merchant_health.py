"""Reads that tell how a merchant is doing: the first steps it has taken, and the health that operators look at."""

from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.webhooks.event_reads import WAITING_EVENTS
from kasuwa.webhooks.health import FailingEndpoint, list_failing_endpoints

FIRST_STEPS = """
    select coalesce(m.settings ->> 'webhook_url', '') <> '',
        exists (select 1 from merchant_key k where k.merchant_id = $1 and k.last_used_at is not null),
        (select count(*) from console_user u where u.mid = m.mid)
    from merchant m where m.merchant_id = $1
"""
# No more deliveries and notices than this are counted.
MAX_COUNTED = 1_000
HEALTH = f"""
    select
        (select max(k.last_used_at) from merchant_key k where k.merchant_id = $1),
        exists (select 1 from webhook_endpoint w where w.merchant_id = $1 and w.removed_at is null),
        (select count(*) from ({WAITING_EVENTS} limit {MAX_COUNTED}) w),
        (select count(*) from (select 1 from scheduled_job j where j.merchant_id = $1 and j.lane <> 'webhook'
            and j.run_at < now() - interval '1 minute' limit {MAX_COUNTED}) l),
        (select count(*) from (select 1 from operator_notice n where n.merchant_id = $1
            and n.at > now() - interval '7 days' limit {MAX_COUNTED}) o)
"""


class FirstSteps(msgspec.Struct, frozen=True):
    """The first steps of a merchant, and whether they are done."""

    has_webhook: bool
    has_used_key: bool
    user_count: int


class MerchantHealth(msgspec.Struct, frozen=True):
    """The figures that an operator looks at first. Counts end at MAX_COUNTED."""

    last_request_at: datetime | None  # None if no key was ever used
    has_further_endpoints: bool
    waiting_events: int  # that are not delivered yet
    late_jobs: int  # due for more than a minute
    recent_notices: int  # of seven days
    failing_endpoints: list[FailingEndpoint]


async def read_first_steps(reader: Reader, merchant_id: int) -> FirstSteps:
    return FirstSteps(*await reader.fetchrow(FIRST_STEPS, merchant_id))


async def read_health(reader: Reader, merchant_id: int) -> MerchantHealth:
    figures = await reader.fetchrow(HEALTH, merchant_id)
    columns = (*figures, await list_failing_endpoints(reader, merchant_id))
    return MerchantHealth(*columns)
