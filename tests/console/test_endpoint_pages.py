"""Several webhook endpoints of a merchant: their page, chosen kinds, secrets, retries, and isolation of each other."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from standardwebhooks.webhooks import Webhook

from kasuwa.core.calendar import LAGOS
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.bounds import ENDPOINTS
from tests.webhooks.event_log import resend, send_events_to, wait_for_state, wait_until
from tests.webhooks.inbox import OK, Answer, Inbox, running_inbox

pytestmark = pytest.mark.xdist_group("console")

PATH = "/settings/endpoints"
DUE_NOW = """
    update scheduled_job j set run_at = now() from merchant m
    where m.merchant_id = j.merchant_id and m.mid = $1 and j.endpoint_id > 1 and j.run_at < 'infinity'
"""
ATTEMPTS = """
    select a.endpoint_id, a.number, a.http from delivery_attempt a join merchant m using (merchant_id)
    where m.mid = $1 and m.current and a.endpoint_id > 1 order by a.endpoint_id, a.event_seq, a.number
"""
TIME_OF = "select e.at from event e join merchant m using (merchant_id) where m.mid = $1 and e.reference = $2"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def other_inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def developer(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:developer", shop.mid)


def add_endpoint(visitor: Visitor, url: str, *kinds: str) -> str:
    """Adds an endpoint and returns its secret."""
    visitor.get(PATH)
    fields: dict[str, Any] = {"url": url} | ({"kinds": kinds[0]} if kinds else {})
    page = visitor.post(PATH, **fields)
    assert page.http == 200, page.words
    return page.text.partition("data-secret>")[2].partition("<")[0]


def test_every_endpoint_gets_its_kinds_signed_with_its_own_secret(
    developer: Visitor, shop: MerchantClient, inbox: Inbox, other_inbox: Inbox
) -> None:
    shop.transfer()  # before the endpoint is added: it is not sent there
    send_events_to(shop, inbox.url)
    secret = add_endpoint(developer, other_inbox.url, "cashcode")
    sent = shop.transfer()["txnRef"]
    shop.put("cashcode", action="generate", amount="500.00", pin="2580", channel="ATM", orderRef="cash")
    shop.put("cashcode", action="cancel", orderRef="cash")
    wait_for_state(shop, sent, "delivered", 1)
    [letter] = other_inbox.wait_for(1)
    assert letter.payload["kind"] == "cashcode"
    assert Webhook(secret).verify(letter.body, letter.headers)
    inbox.wait_for(2)
    assert {one.payload["kind"] for one in inbox.requests} == {"transfer", "cashcode"}
    assert len(other_inbox.requests) == 1
    assert letter.id in inbox.ids


def test_an_endpoint_works_without_the_first_and_its_attempts_are_shown(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    inbox.answers(Answer(503, body=b"busy, api_key=abc"), then=OK)
    add_endpoint(developer, inbox.url)
    shop.transfer()
    inbox.wait_for(1)
    wait_until("it is recorded", lambda: deployment.fetch(ATTEMPTS, shop.mid))
    page = developer.get(PATH).words
    assert "failing since" in page
    assert "success rate 0.0 % of 1 attempts · 1 waiting" in page
    deployment.fetch(DUE_NOW, shop.mid)
    inbox.wait_for(2)
    wait_until("it works", lambda: "success rate 50.0 % of 2 attempts · 0 waiting" in developer.get(PATH).words)
    assert "failing since" not in developer.get(PATH).words
    event = developer.get("/events/1").words
    assert "HTTP 503" in event
    assert "busy, api_key=[masked]" in event


def test_failed_events_of_one_endpoint_are_sent_again(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    inbox.answers(then=Answer(500))
    add_endpoint(developer, inbox.url)
    shop.transfer()
    shop.transfer()
    wait_until("both failed", lambda: len(deployment.fetch(ATTEMPTS, shop.mid)) == 2)
    inbox.answers(then=OK)
    for since in ("nonsense", "0001-01-01T00:00", "9999-12-31T23:59"):
        assert developer.post(f"{PATH}/2/resend", since=since).http == 422
    assert developer.post(f"{PATH}/3/resend", since="2001-01-01T00:00").http == 404
    assert developer.post(f"{PATH}/2/resend", since="2001-01-01T00:00").http == 303
    assert "2 events are being sent again" in developer.get(PATH).words
    wait_until("both arrived", lambda: [row[2] for row in deployment.fetch(ATTEMPTS, shop.mid)].count(200) == 2)


def test_only_events_from_the_given_moment_on_are_sent_to_an_endpoint_again(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    inbox.answers(then=Answer(500))
    add_endpoint(developer, inbox.url)
    sent = str(shop.transfer()["txnRef"])
    wait_until("it failed", lambda: deployment.fetch(ATTEMPTS, shop.mid))
    [[at]] = deployment.fetch(TIME_OF, shop.mid, sent)
    inbox.answers(then=OK)
    for since, count in ((at + timedelta(hours=12), 0), (at + timedelta(minutes=1), 0), (at - timedelta(minutes=1), 1)):
        developer.post(f"{PATH}/2/resend", since=f"{since.astimezone(LAGOS):%Y-%m-%dT%H:%M}")
        assert f"{count} event{' is' if count == 1 else 's are'} being sent again" in developer.get(PATH).words
    wait_until("it arrived", lambda: 200 in [row[2] for row in deployment.fetch(ATTEMPTS, shop.mid)])


def test_an_endpoint_that_fails_for_days_is_disabled_until_it_is_saved(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    inbox.answers(then=Answer(500))
    add_endpoint(developer, inbox.url)
    shop.transfer()
    wait_until("it failed", lambda: deployment.fetch(ATTEMPTS, shop.mid))
    shop.put("sandbox", action="advance", days=3)
    tried = len(deployment.fetch(ATTEMPTS, shop.mid))
    shop.transfer()
    wait_until("it failed again", lambda: len(deployment.fetch(ATTEMPTS, shop.mid)) > tried)
    shop.put("sandbox", action="advance", days=3)
    wait_until("it is disabled", lambda: "disabled since" in developer.get(PATH).words)
    inbox.answers(then=OK)
    assert developer.post(f"{PATH}/2/save", url=inbox.url, kinds="transfer").http == 303
    shop.put("sandbox", action="advance", days=1)
    wait_until("it works", lambda: 200 in [row[2] for row in deployment.fetch(ATTEMPTS, shop.mid)])
    assert "Transfer · added by" in developer.get(PATH).words


def test_a_rolled_secret_overlaps_and_a_removed_endpoint_gets_nothing(
    developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    old = add_endpoint(developer, inbox.url)
    page = developer.post(f"{PATH}/2/secret", overlap="24")
    new = page.text.partition("data-secret>")[2].partition("<")[0]
    assert new != old
    shop.transfer()
    [letter] = inbox.wait_for(1)
    for secret in (old, new):
        assert Webhook(secret).verify(letter.body, letter.headers)
    assert "Remove endpoint 2?" in developer.post(f"{PATH}/2/remove").words
    assert developer.post(f"{PATH}/2/remove", confirmed="yes").http == 303
    assert developer.post(f"{PATH}/2/remove").http == 404
    shop.transfer()
    trail = developer.get("/settings/trail").words
    assert "removed a webhook endpoint" in trail
    assert new not in trail
    add_endpoint(developer, inbox.url)
    assert "Endpoint 3" in developer.get(PATH).words, "a number is not used again"
    sent = shop.transfer()["txnRef"]
    letters = inbox.wait_for(2)
    assert [one.payload["txnRef"] for one in letters[1:]] == [sent]


def test_a_reset_keeps_the_endpoints_and_their_secrets(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    secret = add_endpoint(developer, inbox.url)
    shop.put("sandbox", action="reset")
    sent = wait_until("it is reset", lambda: shop.transfer().get("txnRef"))
    [letter] = inbox.wait_for(1)
    assert letter.payload["txnRef"] == sent
    assert Webhook(secret).verify(letter.body, letter.headers)
    assert deployment.fetch(ATTEMPTS, shop.mid) or wait_until("recorded", lambda: deployment.fetch(ATTEMPTS, shop.mid))


def test_endpoints_are_checked_bounded_tested_and_of_their_merchant_only(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    developer.get(PATH)
    assert "enter a URL" in developer.post(PATH, url="").words
    assert developer.post(PATH, url="ftp://shop.example").http == 422
    assert "choose among the kinds" in developer.post(PATH, url=inbox.url, kinds="nonsense").words
    for _ in range(min(ENDPOINTS.within) - 1):
        add_endpoint(developer, inbox.url)
    for number, is_within in ENDPOINTS.sides:
        added = developer.post(PATH, url=inbox.url)
        assert ("There are 10 already" in added.words) != is_within, number
    assert developer.post(f"{PATH}/2/test", kind="refund").http == 303
    assert [letter.payload["kind"] for letter in inbox.requests] == ["refund"]
    assert developer.post(f"{PATH}/2/test", kind="nonsense").http == 422
    other = deployment.open_shop()
    other.connection.close()
    stranger = sign_in_as(deployment, "merchant:owner", other.mid)
    for action in ("remove", "save", "secret", "test"):
        fields = {"url": inbox.url, "overlap": "0", "kind": "test"}
        assert stranger.post(f"{PATH}/2/{action}", **fields).http == 404
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    assert "Add an endpoint" not in reader.get(PATH).words
    assert reader.post(f"{PATH}/2/remove").http == 403


REFUSED = Answer(503, body=b"busy")


def fail_at_second(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox, other_inbox: Inbox
) -> str:
    """Sends an event that the first endpoint accepts and the second one refuses. Returns the reference."""
    send_events_to(shop, inbox.url)
    other_inbox.answers(REFUSED, then=REFUSED)
    add_endpoint(developer, other_inbox.url)
    sent = str(shop.transfer()["txnRef"])
    wait_for_state(shop, sent, "delivered", 1)
    other_inbox.wait_for(1)
    wait_until("it is recorded", lambda: deployment.fetch(ATTEMPTS, shop.mid))
    return sent


def test_an_endpoint_that_fails_is_seen_on_every_page_although_the_first_one_works(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox, other_inbox: Inbox
) -> None:
    sent = fail_at_second(deployment, developer, shop, inbox, other_inbox)
    assert sent in developer.get("/events?state=failed").words
    assert sent in developer.get("/events?state=waiting").words
    assert sent not in developer.get("/events?state=delivered").words
    listed = developer.get("/events").words
    assert "scheduled HTTP 200 Endpoint 2: HTTP 503" in listed
    assert "Events that failed last 1" in listed
    assert "Your webhook endpoint 2" in listed
    assert f"First endpoint delivered Endpoint 2 scheduled {other_inbox.url}" in developer.get("/events/1").words
    assert "scheduled" in developer.get(f"/transactions/{quote(sent)}").words.partition(" Event ")[2][:60]
    assert "Webhook endpoint 2" in developer.get("/").words
    assert "Endpoint 2 has been failing since" in developer.get("/settings").words
    admin = sign_in_as(deployment, "operator:admin")
    assert "All endpoints accept their events" not in admin.get("/operator/home").words
    health = admin.get(f"/operator/merchants/{shop.mid}").words
    assert "Webhook failing Endpoint 2 since" in health
    assert "Events not delivered yet 1" in health
    endpoints = admin.get("/operator/work").words.partition("Failing webhook endpoints")[2]
    assert shop.mid in endpoints


def test_events_that_another_endpoint_refused_are_not_sent_again(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox, other_inbox: Inbox
) -> None:
    fail_at_second(deployment, developer, shop, inbox, other_inbox)
    assert resend(shop, failed_since="2001-01-01T00:00:00Z")["sent"] == 0
    assert len(inbox.requests) == 1
    other_inbox.answers(then=OK)
    developer.post(f"{PATH}/2/resend", since="2001-01-01T00:00")
    assert "1 event is being sent again" in developer.get(PATH).words


def test_an_event_has_failed_until_every_endpoint_has_accepted_it(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox, other_inbox: Inbox
) -> None:
    sent = fail_at_second(deployment, developer, shop, inbox, other_inbox)
    other_inbox.answers(OK, then=OK)
    deployment.fetch(DUE_NOW, shop.mid)
    wait_until("it is accepted", lambda: sent in developer.get("/events?state=delivered").words)
    assert sent not in developer.get("/events?state=failed").words
    assert "delivered HTTP 200" in developer.get("/events").words
    assert "Webhook endpoint 2" not in developer.get("/").words


def test_the_failures_of_a_removed_endpoint_are_not_shown(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox, other_inbox: Inbox
) -> None:
    sent = fail_at_second(deployment, developer, shop, inbox, other_inbox)
    assert developer.post(f"{PATH}/2/remove", confirmed="yes").http == 303
    assert sent not in developer.get("/events?state=failed").words
    assert sent in developer.get("/events?state=delivered").words
    assert "Webhook endpoint 2" not in developer.get("/").words


def test_an_event_that_only_a_further_endpoint_gets_is_delivered(
    deployment: Deployment, developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    add_endpoint(developer, inbox.url)
    sent = shop.transfer()["txnRef"]
    inbox.wait_for(1)
    wait_until("it is accepted", lambda: sent in developer.get("/events?state=delivered").words)
    assert "delivered" in developer.get("/events").words
    assert sent not in developer.get("/events?state=unsent").words
    health = sign_in_as(deployment, "operator:admin").get(f"/operator/merchants/{shop.mid}").words
    assert "Webhook works" in health
