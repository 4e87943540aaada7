"""Delivery of an event to a merchant: its bytes, its signatures, and the effects of scenarios.

Contract: events#payload
"""

import base64
import hashlib
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from kasuwa.webhooks.sender import KEY_CACHE_SECONDS
from kasuwa.webhooks.signatures import MAX_SIGNING_KEYS
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import event_of, resend, send_events_to, wait_for_state
from tests.webhooks.inbox import Inbox, ReceivedRequest, running_inbox

FAILING = "0000000500"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


@pytest.fixture
def listening(shop: MerchantClient, inbox: Inbox) -> MerchantClient:
    send_events_to(shop, inbox.url)
    return shop


def tell(scenario: str) -> dict[str, str]:
    return {"x-sandbox-scenario": f"webhook={scenario}"}


def hash_of(letter: ReceivedRequest, key: str) -> str:
    return hashlib.sha512(letter.body + key.encode()).hexdigest()


def verifier(key: str) -> Webhook:
    return Webhook("whsec_" + base64.b64encode(key.encode()).decode())


OLD_KEY = """
    (select merchant_id, min(key_id) from merchant_key join merchant using (merchant_id) where mid = $1 group by 1)
"""
DAMAGE_OLD_KEY = f"""
    update merchant_key set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1)
    where (merchant_id, key_id) in {OLD_KEY}
"""
EXPIRE_OLD_KEY = f"update merchant_key set expires_at = now() where (merchant_id, key_id) in {OLD_KEY}"
COPY_KEY = """
    insert into merchant_key (merchant_id, key_id, verifier, sealed)
    select merchant_id, key_id + n, verifier, sealed from merchant_key join merchant using (merchant_id),
        generate_series(1, 9) n where mid = $1
"""
LOGGED = "select payload from event join merchant using (merchant_id) where mid = $1 and reference = $2"


def logged_bytes(deployment: Deployment, shop: MerchantClient, txn_ref: str) -> bytes:
    [[payload]] = deployment.fetch(LOGGED, shop.mid, txn_ref)
    return str(payload).encode()


# --- what arrives -----------------------------------------------------------------------------------------


def test_an_event_arrives_byte_for_byte_as_it_is_logged(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox
) -> None:
    sent = listening.transfer(orderRef="Ọ̀ṣun “1042” \\ é")
    [letter] = inbox.wait_for(1)
    assert letter.path == "/events"
    assert letter.headers["content-type"] == "application/json"
    assert letter.body == logged_bytes(deployment, listening, sent["txnRef"])
    assert msgspec.json.encode(event_of(listening, sent["txnRef"])["payload"]) == letter.body


def test_the_payload_has_the_fields_of_the_contract(listening: MerchantClient, inbox: Inbox) -> None:
    sent = listening.transfer(amount="1500.50", orderRef="order-1042")
    [letter] = inbox.wait_for(1)
    assert letter.payload == {
        "status": 200,
        "txnStatus": "successful",
        "txnRef": sent["txnRef"],
        "chargedAmount": "1500.50",
        "paymentMethod": "transfer",
        "endpoint": "test",
        "kind": "transfer",
        "currency": "NGN",
        "orderRef": "order-1042",
    }


def test_a_failed_transfer_says_so_and_that_nothing_was_charged(listening: MerchantClient, inbox: Inbox) -> None:
    listening.transfer(accountnumber=FAILING)
    [letter] = inbox.wait_for(1)
    payload = letter.payload
    assert (payload["status"], payload["txnStatus"], payload["chargedAmount"]) == (200, "failed", "0.00")


def test_nothing_is_sent_before_the_transfer_is_final(listening: MerchantClient, inbox: Inbox) -> None:
    pending = listening.transfer(accountnumber="0000000020")
    listening.transfer()
    inbox.wait_for(1)
    listening.put("sandbox", action="settle", txnRef=pending["txnRef"], outcome="successful")
    first, second = inbox.wait_for(2)
    assert first.payload["txnRef"] != pending["txnRef"]
    assert second.payload["txnRef"] == pending["txnRef"]


# --- signatures -------------------------------------------------------------------------------------------


def test_the_hash_is_sha512_over_the_raw_body_and_the_key(listening: MerchantClient, inbox: Inbox) -> None:
    listening.transfer()
    [letter] = inbox.wait_for(1)
    assert letter.headers["service-hash"] == hash_of(letter, listening.key)


def test_the_standard_webhooks_library_verifies_it(listening: MerchantClient, inbox: Inbox) -> None:
    sent = listening.transfer()
    [letter] = inbox.wait_for(1)
    assert verifier(listening.key).verify(letter.body, letter.headers) == letter.payload
    assert letter.id == event_of(listening, sent["txnRef"])["event_id"]
    with pytest.raises(WebhookVerificationError):
        verifier(listening.key).verify(letter.body.replace(b"1500.00", b"1500.01"), letter.headers)
    with pytest.raises(WebhookVerificationError):
        verifier("another key").verify(letter.body, letter.headers)


def test_the_name_of_the_hash_header_is_a_setting(deployments: Deployments, inbox: Inbox) -> None:
    with deployments.fresh("hash_header", KASUWA_CONSOLE="off", KASUWA_HASH_HEADER="X-Brand-Hash") as branded:
        shop = branded.open_shop()
        with shop.connection:
            send_events_to(shop, inbox.url)
            shop.transfer()
        [letter] = inbox.wait_for(1)
    assert letter.headers["x-brand-hash"] == hash_of(letter, shop.key)
    assert "service-hash" not in letter.headers


def test_both_keys_sign_while_a_rolled_key_still_works(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox
) -> None:
    listening.transfer()
    inbox.wait_for(1)
    new_key = deployment.run_command("merchant", "roll-key", listening.mid).split()[-1]
    time.sleep(KEY_CACHE_SECONDS)  # the sender uses a cached key for this long, less than a second
    listening.transfer()
    before, after = inbox.wait_for(2)
    assert before.headers["service-hash"] == hash_of(before, listening.key)
    assert "service-hash-previous" not in before.headers
    assert after.headers["service-hash"] == hash_of(after, new_key)
    assert after.headers["service-hash-previous"] == hash_of(after, listening.key)
    assert len(after.headers["webhook-signature"].split(" ")) == 2
    for key in (new_key, listening.key):
        assert verifier(key).verify(after.body, after.headers) == after.payload
    with pytest.raises(WebhookVerificationError):
        verifier("another key").verify(after.body, after.headers)


def test_a_rolled_key_that_has_expired_or_does_not_open_signs_nothing_any_more(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox
) -> None:
    old, listening.key = listening.key, deployment.run_command("merchant", "roll-key", listening.mid).split()[-1]
    for end_old_key in (DAMAGE_OLD_KEY, EXPIRE_OLD_KEY):
        deployment.fetch_as_service(end_old_key, listening.mid)
        time.sleep(KEY_CACHE_SECONDS)
        listening.transfer()
    for letter in inbox.wait_for(2):
        assert verifier(listening.key).verify(letter.body, letter.headers) == letter.payload
        assert "service-hash-previous" not in letter.headers
        with pytest.raises(WebhookVerificationError):
            verifier(old).verify(letter.body, letter.headers)


def test_a_key_that_is_rolled_often_does_not_add_signatures_without_end(
    deployment: Deployment, listening: MerchantClient, inbox: Inbox
) -> None:
    deployment.fetch_as_service(COPY_KEY, listening.mid)
    listening.transfer()
    [letter] = inbox.wait_for(1)
    assert len(letter.headers["webhook-signature"].split(" ")) == MAX_SIGNING_KEYS


# --- where there is no endpoint ---------------------------------------------------------------------------


def test_without_a_url_an_event_waits_in_the_log_until_it_is_asked_for(shop: MerchantClient, inbox: Inbox) -> None:
    silent = shop.transfer()["txnRef"]
    assert event_of(shop, silent)["state"] == "no_endpoint"
    send_events_to(shop, inbox.url)
    delivered = shop.transfer()["txnRef"]
    wait_for_state(shop, delivered, "delivered")
    kept = event_of(shop, silent)
    assert (kept["state"], kept["attempts"]) == ("no_endpoint", [])
    assert resend(shop, event_id=kept["event_id"]) == {"status": 200, "message": "Sent again", "sent": 1, "more": False}
    wait_for_state(shop, silent, "delivered")
    assert [letter.payload["txnRef"] for letter in inbox.requests] == [delivered, silent]


def test_an_endpoint_that_was_switched_off_hears_nothing(listening: MerchantClient, inbox: Inbox) -> None:
    delivered = listening.transfer()["txnRef"]
    wait_for_state(listening, delivered, "delivered")
    send_events_to(listening, "")
    unheard = listening.transfer()["txnRef"]
    assert event_of(listening, unheard)["state"] == "no_endpoint"
    assert len(inbox.requests) == 1


# --- scenarios --------------------------------------------------------------------------------------------


def test_a_dropped_event_never_arrives_and_says_why(listening: MerchantClient, inbox: Inbox) -> None:
    dropped = listening.transfer(headers=tell("drop"))["txnRef"]
    event = wait_for_state(listening, dropped, "exhausted")
    assert [attempt["error"] for attempt in event["attempts"]] == ["dropped, as the scenario said"]
    wait_for_state(listening, listening.transfer()["txnRef"], "delivered")
    assert [letter.payload["txnRef"] == dropped for letter in inbox.requests] == [False]


def test_a_dropped_event_arrives_when_it_is_sent_again(listening: MerchantClient, inbox: Inbox) -> None:
    dropped = listening.transfer(headers=tell("drop"))["txnRef"]
    event = wait_for_state(listening, dropped, "exhausted")
    resend(listening, event_id=event["event_id"])
    [letter] = inbox.wait_for(1)
    assert letter.id == event["event_id"]


def test_a_doubled_event_arrives_twice_under_the_same_id(listening: MerchantClient, inbox: Inbox) -> None:
    sent = listening.transfer(headers=tell("dup"))["txnRef"]
    event = wait_for_state(listening, sent, "delivered")
    first, second = inbox.requests
    assert first.id == second.id == event["event_id"]
    assert first.body == second.body


def test_a_late_event_comes_when_its_time_has_come(listening: MerchantClient, inbox: Inbox) -> None:
    late = listening.transfer(headers=tell("late:3600"))["txnRef"]
    wait_for_state(listening, listening.transfer()["txnRef"], "delivered")
    assert event_of(listening, late)["state"] == "scheduled"
    assert "webhook" not in listening.advance(minutes=59)["ran"]
    assert listening.advance(minutes=1)["ran"] == {"webhook": 1}
    assert [letter.payload["txnRef"] == late for letter in inbox.requests] == [False, True]


def test_a_badly_signed_event_fails_both_of_its_signatures(listening: MerchantClient, inbox: Inbox) -> None:
    listening.transfer(headers=tell("bad-hash"))
    [letter] = inbox.wait_for(1)
    assert letter.headers["service-hash"] != hash_of(letter, listening.key)
    with pytest.raises(WebhookVerificationError):
        verifier(listening.key).verify(letter.body, letter.headers)


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "ftp://127.0.0.1/", "http://user:word@127.0.0.1/", "nowhere"])
def test_a_url_we_do_not_talk_to_is_refused_when_it_is_set(shop: MerchantClient, url: str) -> None:
    body: Any = shop.put("sandbox", action="webhook", url=url).body
    assert body["status"] == 104
    assert [fault["field"] for fault in body["errors"]] == ["url"]
