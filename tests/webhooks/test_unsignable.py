"""A merchant whose key cannot be decrypted: its deliveries wait, the operator is notified, and other merchants do not
wait.
"""

from collections.abc import Callable, Iterator

import pytest

from kasuwa.webhooks.sender import NO_KEY, UNSIGNED
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import event_of, send_events_to, wait_until
from tests.webhooks.inbox import Inbox, running_inbox

LATE = {"x-sandbox-scenario": "webhook=late:86400"}
# Events of the first merchant are due before those of the second.
LET_GO = """
    update scheduled_job set run_at = now() - make_interval(secs => case when mid = $1 then 60 else 0 end)
    from merchant where merchant.merchant_id = scheduled_job.merchant_id and mid in ($1, $2) and lane = 'webhook'
"""
RUN_NOW = """
    update scheduled_job set run_at = now() from merchant
    where merchant.merchant_id = scheduled_job.merchant_id and mid = $1 and lane = 'webhook'
"""
WAITING = """
    select j.attempt, j.run_at > now() + interval '10 seconds' from scheduled_job j join merchant using (merchant_id)
    where mid = $1 and lane = 'webhook' and leased_until is null
"""
NOTICES = (
    "select message from operator_notice join merchant using (merchant_id) where mid = $1 and reference = 'webhook'"
)
OF = "merchant_id = (select merchant_id from merchant where mid = $1)"
BREAK = {
    "damaged": f"update merchant_key set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where {OF}",
    "of another merchant": f"""
        update merchant_key set sealed = (select sealed from merchant_key where not {OF} limit 1) where {OF}""",
    "expired": f"update merchant_key set expires_at = now() where {OF}",
}


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment of its own: broken keys are logged again and again."""
    with deployments.fresh("unsignable") as running:
        yield running


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def send_late(shop: MerchantClient, inbox: Inbox) -> str:
    """Makes an event that waits until it is released. Returns the reference of its transfer."""
    send_events_to(shop, inbox.url)
    return str(shop.transfer(headers=LATE)["txnRef"])


@pytest.mark.parametrize("how", BREAK)
def test_a_merchant_whose_key_does_not_open_holds_up_nobody(
    deployment: Deployment, open_shop: Callable[..., MerchantClient], inbox: Inbox, how: str
) -> None:
    broken, well = open_shop(), open_shop()
    for shop in (broken, well):
        send_late(shop, inbox)
    deployment.fetch_as_service(BREAK[how], broken.mid)
    deployment.fetch(LET_GO, broken.mid, well.mid)
    inbox.wait_for(1)
    wait_until("it is put back", lambda: deployment.fetch(WAITING, broken.mid) == [(0, True)])
    wait_until("the operator is told", lambda: deployment.fetch(NOTICES, broken.mid) == [(NO_KEY,)])
    well.transfer()
    assert len(inbox.wait_for(2)) == 2, "those of the other, and none of the one whose key is broken"

    deployment.fetch(RUN_NOW, broken.mid)
    wait_until("it is put back again", lambda: deployment.fetch(WAITING, broken.mid) == [(0, True)])
    assert deployment.fetch(NOTICES, broken.mid) == [(NO_KEY,)], "once a day is enough"
    assert "webhook key does not open" in deployment.new_stderr()

    deployment.run_command("merchant", "roll-key", broken.mid)
    deployment.fetch(RUN_NOW, broken.mid)
    inbox.wait_for(3)


def test_advance_goes_on_where_an_event_cannot_be_signed(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    reference = send_late(shop, inbox)
    deployment.fetch(BREAK["damaged"], shop.mid)
    assert shop.advance(days=1)["status"] == 200
    event = event_of(shop, reference)
    assert (event["state"], event["attempts"][0]["error"], inbox.requests) == ("scheduled", UNSIGNED, [])
    assert deployment.fetch(NOTICES, shop.mid) == [(NO_KEY,)]
    assert deployment.fetch(f"select 1 from failing_endpoint where {OF}", shop.mid) == [], (
        "it says nothing of the endpoint"
    )


def test_a_test_event_that_cannot_be_signed_says_so(deployment: Deployment, shop: MerchantClient, inbox: Inbox) -> None:
    send_events_to(shop, inbox.url)
    deployment.fetch(BREAK["damaged"], shop.mid)
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    owner.get("/settings")
    answer = owner.post("/settings/webhook/test")
    shown = answer.words + owner.get("/settings").words
    assert "Nothing was sent: the signing secret does not open here" in shown
    assert inbox.requests == []
