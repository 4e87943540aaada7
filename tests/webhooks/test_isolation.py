"""One merchant's endpoint does not delay others: not if it hangs, is slow, or has a long backlog.

Events are held back and released together, those of the troublesome merchants first, so that all wait in the same
queue. The tests assert an order: a hanging attempt is recorded when it times out, and by then all others are delivered.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import asyncpg
import pytest

from kasuwa.core.decision import Event
from kasuwa.outbound.egress import MAX_PER_HOST
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import add_events, send_events_to, wait_until
from tests.webhooks.inbox import HANG, OK, Answer, Inbox, ReceivedRequest, running_inbox

# So many merchants with such a backlog hang that there are not enough connections for all of it.
MERCHANTS, HANGING, BACKLOG = 90, 50, 40
LATE = {"x-sandbox-scenario": "webhook=late:86400"}

LET_GO = """
    update scheduled_job set run_at = now() - make_interval(secs => case when mid = any($2) then 60 else 0 end)
    from merchant where merchant.merchant_id = scheduled_job.merchant_id and mid = any($1) and lane = 'webhook'
"""
RECORDED = """
    select mid, count(*) filter (where http = 200) as delivered, count(*) as attempts
    from delivery_attempt join merchant using (merchant_id) where mid = any($1) group by mid
"""
WAITING = (
    "select count(*) from scheduled_job join merchant using (merchant_id) where mid = any($1) and lane = 'webhook'"
)
ADD_JOBS = """
    insert into scheduled_job (key, merchant_id, kind, lane, endpoint_id, reference, subject, due, run_at, claims,
        attempt, work)
    select decode(md5(merchant_id || reference), 'hex'), merchant_id, 'webhook.deliver', 'webhook', 1, reference,
        decode(md5(reference), 'hex'), now(), 'infinity', 0, 0, '{}' from event join merchant using (merchant_id)
    where mid = $1
"""
TAKE_AWAY = """
    delete from scheduled_job using merchant m where m.merchant_id = scheduled_job.merchant_id and m.mid = $1
        and lane = 'webhook'
"""


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def hanging() -> Iterator[list[Inbox]]:
    """Returns receivers on different hosts: merchants on one host share its connections."""
    with contextlib.ExitStack() as stack:
        inboxes = [stack.enter_context(running_inbox()) for _ in range(HANGING)]
        for inbox in inboxes:
            inbox.answers(then=HANG)
        yield inboxes
        for inbox in inboxes:
            inbox.released.set()


def add_backlog(deployment: Deployment, shop: MerchantClient, count: int) -> None:
    """Adds events to the empty log of a merchant, and a delivery of each that is not due."""
    add_events(deployment, shop, (Event(f"planted-{n}", "transfer", b"{}") for n in range(count)))
    deployment.fetch(ADD_JOBS, shop.mid)


def open_many(open_shop: Callable[..., MerchantClient], count: int) -> list[MerchantClient]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda _: open_shop(), range(count)))


def send_late(shop: MerchantClient, url: str) -> None:
    """Makes an event that waits until it is released."""
    send_events_to(shop, url)
    shop.transfer(headers=LATE)


def send_all_late(shops: list[MerchantClient], url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda shop: send_late(shop, url), shops))


def test_endpoints_that_hang_hold_up_nobody_else(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox, hanging: list[Inbox]
) -> None:
    shops = open_many(open_shop, MERCHANTS)
    stuck, well = shops[:HANGING], shops[HANGING:]
    stuck_mids, well_mids = [shop.mid for shop in stuck], [shop.mid for shop in well]
    for shop, its_inbox in zip(stuck, hanging, strict=True):
        send_events_to(shop, its_inbox.url)
        add_backlog(deployment, shop, BACKLOG)
    send_all_late(well, inbox.url)

    deployment.fetch(LET_GO, stuck_mids + well_mids, stuck_mids)
    wait_until("all others are delivered", lambda: len(deployment.fetch(RECORDED, well_mids)) == len(well))
    assert deployment.fetch(RECORDED, stuck_mids) == []
    wait_until("each that hangs was tried", lambda: all(its_inbox.requests for its_inbox in hanging))
    recorded = [(row["delivered"], row["attempts"]) for row in deployment.fetch(RECORDED, well_mids)]
    assert recorded == [(1, 1)] * len(well)
    assert len(set(inbox.ids)) == len(inbox.ids) == len(well)
    for shop in stuck:
        deployment.fetch(TAKE_AWAY, shop.mid)


def test_a_merchant_with_a_long_backlog_does_not_go_before_everybody(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    long, others = open_shop(), open_many(open_shop, 5)
    send_events_to(long, inbox.url)
    for shop in others:
        send_events_to(shop, inbox.url.replace("/events", "/other"))
    add_backlog(deployment, long, 6_000)
    deployment.fetch(LET_GO, [long.mid], [long.mid])
    inbox.wait_for(1)
    for shop in others:
        shop.transfer()
    mids = [shop.mid for shop in others]
    wait_until("the others are delivered", lambda: len(deployment.fetch(RECORDED, mids)) == len(others))
    [[left]] = deployment.fetch(WAITING, [long.mid])
    take_away(deployment, long)
    assert left > 0


def take_away(deployment: Deployment, shop: MerchantClient) -> None:
    """Deletes the rows. The sender holds some of them and claims more, so one of two deadlocked sessions fails."""
    while True:
        with contextlib.suppress(asyncpg.DeadlockDetectedError):
            deployment.fetch(TAKE_AWAY, shop.mid)
            return


def test_merchants_who_share_a_slow_host_get_everything_at_the_first_attempt(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    """There are more merchants than connections to the host, and it answers more slowly than a request may wait for
    one. A request that got none does not count as an attempt."""

    def answer_slowly(letter: ReceivedRequest) -> Answer:
        time.sleep(5)
        return OK

    inbox.answer = answer_slowly
    shops = open_many(open_shop, MAX_PER_HOST + 12)
    mids = [shop.mid for shop in shops]
    send_all_late(shops, inbox.url)
    deployment.fetch(LET_GO, mids, [])
    wait_until("all are delivered", lambda: deployment.fetch(WAITING, mids)[0][0] == 0)
    recorded = [(row["delivered"], row["attempts"]) for row in deployment.fetch(RECORDED, mids)]
    assert recorded == [(1, 1)] * len(shops)
    assert len(inbox.ids) == len(shops)


def test_merchants_who_hang_on_a_shared_host_leave_places_there_to_others(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox
) -> None:
    """A host of a shop platform: some paths hang, and their events are the older ones. The others are delivered."""

    def hang_on_some(letter: ReceivedRequest) -> Answer:
        return HANG if letter.path == "/stuck" else OK

    inbox.answer = hang_on_some
    shops = open_many(open_shop, 50)
    stuck, well = shops[:40], shops[40:]
    stuck_mids, well_mids = [shop.mid for shop in stuck], [shop.mid for shop in well]
    for shop in stuck:
        send_events_to(shop, inbox.url.replace("/events", "/stuck"))
        add_backlog(deployment, shop, BACKLOG)
    send_all_late(well, inbox.url)
    deployment.fetch(LET_GO, stuck_mids, stuck_mids)
    inbox.wait_for(32)
    deployment.fetch(LET_GO, well_mids, [])
    wait_until("the others are delivered", lambda: len(deployment.fetch(RECORDED, well_mids)) == len(well))
    assert deployment.fetch(RECORDED, stuck_mids) == []
    for shop in stuck:
        deployment.fetch(TAKE_AWAY, shop.mid)
    inbox.released.set()
