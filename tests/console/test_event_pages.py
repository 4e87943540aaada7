"""The events pages over HTTP: filters, answers of the endpoint, resending what failed, test events."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kasuwa.webhooks import event_reads
from kasuwa.webhooks.sample_events import SAMPLE_KINDS
from tests.console.sample_merchant import SampleMerchant
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import event_of, resend, send_events_to, wait_for_state
from tests.webhooks.inbox import OK, Answer, Inbox, running_inbox

pytestmark = pytest.mark.xdist_group("console")

BROKEN = Answer(500, body=b'{"error": "no such table", "db_password": "hunter2"}')


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def developer(deployment: Deployment, shop: MerchantClient) -> Visitor:
    return sign_in_as(deployment, "merchant:developer", shop.mid)


def fail_then_accept(shop: MerchantClient, inbox: Inbox, failures: int) -> list[str]:
    """Makes transfers whose events fail at first, and one whose event is accepted. Returns their references."""
    inbox.answers(then=BROKEN)
    send_events_to(shop, inbox.url)
    references = [shop.transfer()["txnRef"] for _ in range(failures)]
    for reference in references:
        wait_for_state(shop, reference, "scheduled", 1)
    inbox.answers(then=OK)
    references.append(shop.transfer(accountnumber="0000005100")["txnRef"])
    wait_for_state(shop, references[-1], "delivered", 1)
    return references


def test_events_are_filtered_by_kind_state_day_and_reference(
    developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    first_day = shop.now()[:10]
    failed, delivered = fail_then_accept(shop, inbox, 1)
    shop.put("cashcode", action="generate", amount="500.00", pin="2580", channel="ATM", orderRef="cash")
    shop.put("cashcode", action="cancel", orderRef="cash")
    wait_for_state(shop, "cash", "delivered", 1)

    def listed(query: str) -> list[bool]:
        page = developer.get(f"/events?{query}").words
        return [reference in page for reference in (failed, delivered, "GP|CC|")]

    assert listed("") == [True, True, True]
    assert listed("kind=transfer") == [True, True, False]
    assert listed("state=failed") == listed("state=waiting") == [True, False, False]
    assert listed("state=delivered") == [False, True, True]
    assert listed("state=unsent") == [False, False, False]
    assert listed("kind=cashcode&state=failed") == [False, False, False]
    assert listed(f"q={delivered.replace('|', '%7C')}") == [False, True, False]
    assert listed(f"from={first_day}&to={shop.now()[:10]}") == [True, True, True]
    assert listed("to=2001-01-01") == listed("from=2999-01-01") == [False, False, False]
    assert "must be a date such as" in developer.get("/events?from=tomorrow").words
    assert "NGN 1,500.00" in developer.get("/events").words
    event = event_of(shop, delivered)
    assert developer.get(f"/events?q={event['event_id']}").place == f"/events/{event['sequence']}"


def test_the_first_event_since_a_time_is_found_by_halves(deployment: Deployment, shop: MerchantClient) -> None:
    for _ in range(5):
        shop.transfer()
        shop.put("sandbox", action="advance", days=1)

    async def find(connection: Any) -> None:
        query = "select merchant_id from merchant where mid = $1 and current"
        merchant_id = await connection.fetchval(query, shop.mid)
        times = [
            row[0]
            for row in await connection.fetch("select at from event where merchant_id = $1 order by seq", merchant_id)
        ]
        for number, at in enumerate(times, 1):
            for moment, expected in ((at, number), (at + timedelta(microseconds=1), number + 1)):
                assert await event_reads.find_first_since(connection, merchant_id, moment, len(times)) == expected
        assert await event_reads.find_first_since(connection, merchant_id, datetime(2001, 1, 1, tzinfo=UTC), 5) == 1

    deployment.run_on_connection(find)


def test_answers_are_shown_with_secrets_masked_and_rates_are_counted(
    developer: Visitor, shop: MerchantClient, inbox: Inbox
) -> None:
    [failed, _] = fail_then_accept(shop, inbox, 1)
    event = event_of(shop, failed)
    assert event["attempts"][0]["response"] == '{"error": "no such table", "db_password": "[masked]"}'
    page = developer.get(f"/events/{event['sequence']}").words
    assert "no such table" in page
    assert "hunter2" not in page
    listed = developer.get("/events").words
    assert "Success rate of the last 2 attempts 50.0 %" in listed
    assert "Events that failed last 1" in listed


def test_all_failed_events_are_sent_again_at_once(developer: Visitor, shop: MerchantClient, inbox: Inbox) -> None:
    *failed, delivered = fail_then_accept(shop, inbox, 3)
    page = developer.get("/events")
    for since in ("yesterday", "0001-01-01T00:00", "9999-12-31T23:59"):
        assert developer.post("/events/resend", since=since).http == 422
    assert developer.post("/events/resend", since="2999-01-01T00:00").http == 303
    assert "No event failed since then" in developer.get("/events").words
    since = page.text.partition('type="datetime-local" value="')[2].partition('"')[0]
    assert developer.post("/events/resend", since=since).place == "/events"
    assert "3 events are being sent again" in developer.get("/events").words
    for reference in failed:
        wait_for_state(shop, reference, "delivered", 2)
    assert len(event_of(shop, delivered)["attempts"]) == 1
    assert "Events that failed last 0" in developer.get("/events").words
    assert "sent failed events again" in developer.get("/settings/trail").words


def test_the_api_resends_failed_events_since_a_time(shop: MerchantClient, inbox: Inbox) -> None:
    *failed, _ = fail_then_accept(shop, inbox, 2)
    assert resend(shop, failed_since="2999-01-01T00:00:00Z")["sent"] == 0
    assert "ISO 8601" in str(resend(shop, failed_since="soon")["errors"])
    reply = resend(shop, failed_since="2001-01-01T00:00:00Z")
    assert (reply["sent"], reply["more"]) == (2, False)
    for reference in failed:
        wait_for_state(shop, reference, "delivered", 2)
    assert resend(shop, failed_since="2001-01-01T00:00:00Z")["sent"] == 0


def test_only_events_from_the_given_moment_on_are_resent(
    shop: MerchantClient, inbox: Inbox, deployment: Deployment
) -> None:
    first, *_ = fail_then_accept(shop, inbox, 1)
    query = "select e.at from event e join merchant m using (merchant_id) where m.mid = $1 and e.reference = $2"
    [[at]] = deployment.fetch(query, shop.mid, first)
    assert resend(shop, failed_since=(at + timedelta(milliseconds=1)).isoformat())["sent"] == 0
    assert resend(shop, failed_since=(at + timedelta(hours=12)).isoformat())["sent"] == 0
    assert resend(shop, failed_since=at.isoformat())["sent"] == 1


def test_a_dropped_event_can_be_resent_as_failed(shop: MerchantClient, inbox: Inbox) -> None:
    send_events_to(shop, inbox.url)
    dropped = shop.transfer(headers={"x-sandbox-scenario": "webhook=drop"})["txnRef"]
    wait_for_state(shop, dropped, "exhausted", 1)
    assert resend(shop, failed_since="2001-01-01T00:00:00Z")["sent"] == 1
    wait_for_state(shop, dropped, "delivered", 2)


def test_a_test_event_of_each_kind_can_be_sent(developer: Visitor, shop: MerchantClient, inbox: Inbox) -> None:
    send_events_to(shop, inbox.url)
    developer.get("/events")
    for kind in SAMPLE_KINDS:
        sent = developer.post("/settings/webhook/test", kind=kind, **{"from": "events"})
        assert sent.place == "/events"
    assert [letter.payload["kind"] for letter in inbox.requests] == list(SAMPLE_KINDS)
    assert {letter.payload["currency"] for letter in inbox.requests} == {"NGN"}
    assert developer.post("/settings/webhook/test", kind="nonsense").http == 422


def test_readers_see_no_forms_and_cannot_resend(deployment: Deployment, shop: MerchantClient, inbox: Inbox) -> None:
    send_events_to(shop, inbox.url)
    reader = sign_in_as(deployment, "merchant:read-only", shop.mid)
    page = reader.get("/events")
    assert "Send test event" not in page.words
    assert reader.post("/events/resend", since="2026-01-01T00:00").http == 403
    assert "is_genuine" in reader.get("/events/verify").words


def test_every_event_links_to_the_page_of_what_it_is_about(deployment: Deployment) -> None:
    """The sample merchant has events of payments, transfers, bills, invoices, checkouts and disputes."""
    world = SampleMerchant(deployment)
    owner = sign_in_as(deployment, "merchant:owner", world.mid)
    page = owner.get("/events").text
    links = {part.partition('"')[0] for part in page.split('class="mono name" href="')[1:]}
    paths = {link.split("/")[1] for link in links}
    assert {"transactions", "invoices", "checkouts", "disputes"} <= paths
    assert [link for link in sorted(links) if owner.get(link).http != 200] == []
