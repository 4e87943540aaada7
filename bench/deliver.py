"""Measures deliveries: the events of the previous loads are released to a receiver that accepts them at once.

The events of a load fall due a day later (request_templates.py), so all of them wait when their merchants get the
receiver's address. The attempts recorded in the event log are counted.
"""

import time
from collections.abc import Sequence

from bench import receiver
from bench.merchants import Merchant, send_expecting
from bench.postgres import query, vacuum_and_checkpoint
from bench.results import DeliveryResult, MeasurementFailed

# Polling costs the database something too, so it is done rarely.
POLL_SECONDS = 0.1
# Keys, connections and query plans are made with the first deliveries.
WARM_UP_SHARE = 0.1

RELEASE_DELIVERIES = """
update scheduled_job set run_at = now() from merchant m where m.merchant_id = scheduled_job.merchant_id
    and lane = 'webhook'
and m.mid = any('{{{mids}}}')
"""
# The remaining events would be retried, without a receiver, during the next measurement.
POSTPONE_DELIVERIES = "update scheduled_job set run_at = now() + interval '1 day' where lane = 'webhook'"
COUNT_WAITING = """
select count(*) from scheduled_job join merchant m using (merchant_id) where lane = 'webhook'
    and m.mid = any('{{{mids}}}')
"""
COUNT_FAILED = """
select count(*) from delivery_attempt join merchant m using (merchant_id)
where m.mid = any('{{{mids}}}') and http is distinct from 200
"""


def measure_deliveries(port: int, dsn: str, merchants: Sequence[Merchant], seconds: int) -> DeliveryResult:
    """Measures until all events are delivered or the time is over. No events are added meanwhile."""
    mids = ",".join(merchant.mid for merchant in merchants)
    with receiver.running() as url:
        for merchant in merchants:
            send_expecting(port, "/sandbox", merchant, {"action": "webhook", "url": url})
        backlog = count(dsn, COUNT_WAITING, mids)
        if not backlog:
            raise MeasurementFailed("the load has left no event to deliver")
        failed_before = count(dsn, COUNT_FAILED, mids)  # of what came while there was no receiver
        vacuum_and_checkpoint(dsn)
        query(dsn, RELEASE_DELIVERIES.format(mids=mids))
        left = wait_for_backlog(dsn, mids, int(backlog * (1 - WARM_UP_SHARE)), seconds)
        began, first = time.monotonic(), left
        while left and time.monotonic() - began < seconds:
            time.sleep(POLL_SECONDS)
            left = count(dsn, COUNT_WAITING, mids)
        rate = (first - left) / (time.monotonic() - began)
        query(dsn, POSTPONE_DELIVERIES)
        return DeliveryResult(rate, first - left, count(dsn, COUNT_FAILED, mids) - failed_before)


def wait_for_backlog(dsn: str, mids: str, most: int, seconds: int) -> int:
    until = time.monotonic() + seconds
    while (left := count(dsn, COUNT_WAITING, mids)) > most:
        if time.monotonic() > until:
            raise MeasurementFailed(f"{left} events still wait after {seconds} s: nobody delivers them")
        time.sleep(POLL_SECONDS)
    return left


def count(dsn: str, text: str, mids: str) -> int:
    [[found]] = query(dsn, text.format(mids=mids))
    return int(found)
