"""Deciders over HTTP: asked, answered, kept with the record; many at once, and a process that dies meanwhile.

A decider that is late because the machine is busy must not fail a test: where it matters, the test holds either way.
"""

import http.client
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from tests.command_processes import is_service_process
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.methods.virtualcard.test_http_issuer import order, with_issuer
from tests.methods.virtualcard.test_http_races import Asked, ask_at_once
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until
from tests.webhooks.inbox import Answer, Inbox, ReceivedRequest, running_inbox
from tests.webhooks.test_delivery import verifier

YES, NO = Answer(200, body=b'{"approve":true}'), Answer(200, body=b'{"approve":false,"reason":"not this shop"}')
AT_ONCE = 50


@pytest.fixture
def decider() -> Iterator[Inbox]:
    with running_inbox() as inbox:
        inbox.answers(then=YES)
        yield inbox


def decided_card(shop: MerchantClient, decider: Inbox, on_timeout: str = "decline", **fields: Any) -> CardClient:
    card = CardClient(shop, **fields)
    body = card.ask("decider", decision_url=decider.url, on_timeout=on_timeout)
    assert body["data"] == {"reference": card.reference, "decision_url": decider.url, "on_timeout": on_timeout}
    return card


def decide_in_time(ask: Callable[[], Any], card: CardClient) -> Any:
    """Returns the reply to a purchase whose decider was not late, as it is on a machine that is too busy."""

    def look() -> Any:
        reply = ask()
        newest = card.records(limit=1)[0]
        return reply if newest["decision"].get("fault") not in ("timeout", "paused") else None

    return wait_until("the decider answers in time", look)


# --- its answers ----------------------------------------------------------------------------------------------------


def test_a_decider_approves_and_its_answer_is_kept(
    shop: MerchantClient, deployment: Deployment, decider: Inbox
) -> None:
    card = decided_card(shop, decider, on_timeout="approve")
    assert card.shop.put("virtualcard", action="get", reference=card.reference).body["decider"] == {
        "reference": card.reference,
        "decision_url": decider.url,
        "on_timeout": "approve",
    }
    done = decide_in_time(lambda: card.buy("7.50", merchant_name="Book Shop", category="5411"), card)
    asked = decider.requests[-1]
    newest = card.records(limit=1)[0]
    assert (done["txnStatus"], newest["txnRef"], newest["status"]) == ("successful", done["txnRef"], "Successful")
    assert newest["decision"].pop("latency_ms") >= 0
    assert newest["decision"] == {"id": asked.id, "answer": "approved"}
    assert verifier(shop.key).verify(asked.body, asked.headers) == asked.payload
    assert (asked.payload["amount"], asked.payload["category"], asked.payload["id"]) == ("7.50", "5411", asked.id)
    assert str(card.data["cardpan"]) not in asked.body.decode()
    new_key = deployment.run_command("merchant", "roll-key", shop.mid).split()[-1]
    card.buy("1")
    signed = decider.wait_for(len(decider.requests))[-1]
    for key in (shop.key, new_key):
        assert verifier(key).verify(signed.body, signed.headers) == signed.payload


def test_a_decider_declines_and_the_shop_does_not_learn_its_reason(shop: MerchantClient, decider: Inbox) -> None:
    card = decided_card(shop, decider)
    decider.answers(then=NO)
    declined = decide_in_time(lambda: card.buy("7.50"), card)
    assert declined["bank_message"] == "The card's program declined the purchase"
    newest = card.records(limit=1)[0]
    assert (newest["declineReason"], card.balance) == ("declined_by_merchant", 10_000)
    assert (newest["decision"]["answer"], newest["decision"]["reason"]) == ("declined", "not this shop")
    [event] = shop.put("resources", inquire="events", txnRef=declined["txnRef"]).body["data"]
    assert event["payload"]["declineReason"] == "declined_by_merchant"
    hold = shop.put("sandbox", action="card_authorize", reference=card.reference, amount="5").body
    assert (hold["txnStatus"], card.records(limit=1)[0]["narration"]) == ("failed", "Card Authorization")


def test_a_fault_of_the_sandbox_plays_a_dead_decider(shop: MerchantClient, decider: Inbox) -> None:
    card = decided_card(shop, decider)
    for kind, fault in (("timeout", "timeout"), ("unavailable", "unreachable")):
        shop.put("sandbox", action="fault", rail="decider", kind=kind)
        assert card.buy("1")["bank_message"] == "The card's program gave no answer in time"
        newest = card.records(limit=1)[0]
        assert (newest["declineReason"], newest["decision"]["answer"]) == ("no_decision", "none")
        assert newest["decision"]["fault"] == fault
    assert not decider.requests


def test_the_decider_of_all_cards_is_of_one_merchant(open_shop: Callable[..., MerchantClient], decider: Inbox) -> None:
    shop, other = open_shop(), open_shop()
    assert shop.put("virtualcard", action="decider", decision_url=decider.url).body["status"] == 200
    card, stranger = CardClient(shop), CardClient(other)
    assert stranger.buy("1")["txnStatus"] == "successful"
    assert "decision" not in stranger.records(limit=1)[0]
    card.buy("1")
    assert "decision" in card.records(limit=1)[0]
    foreign = other.put("virtualcard", action="decider", reference=card.reference, decision_url="").body
    assert foreign["code"] == "card_not_found"


def test_an_url_that_points_inward_is_refused_over_http(shop: MerchantClient) -> None:
    body = shop.put("virtualcard", action="decider", decision_url="http://169.254.169.254/").body
    [error] = body["errors"]
    assert (body["status"], error["field"], error["code"]) == (104, "decision_url", "url_not_allowed")


def test_a_payment_to_another_merchant_is_decided_too(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, decider: Inbox
) -> None:
    card = decided_card(open_shop(), decider, on_timeout="approve")
    decider.answers(then=NO)
    given = {
        "card_no": card.data["cardpan"],
        "expiry_month": card.data["expiration"][5:],
        "expiry_year": card.data["expiration"][2:4],
        "ccv": card.data["cvv"],
        "pin": "1234",
    }
    payee = PaymentClient(open_shop())
    begun = payee.initiate(given, amount="2.00", currency="USD")
    paid = payee.charge(begun, given, amount="2.00", currency="USD")
    newest = card.records(limit=1)[0]
    is_late = "fault" in newest["decision"]
    assert paid["txnStatus"] == ("successful" if is_late else "failed")
    assert newest.get("declineReason") == (None if is_late else "declined_by_merchant")
    one = order(card)
    asked = len(decider.requests)
    answers = with_issuer(deployment, lambda issuer: issuer.authorize(one))
    repeated = with_issuer(deployment, lambda issuer: issuer.authorize(one))
    assert (answers, len(decider.requests)) == (repeated, asked + 1)


# --- while it thinks ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "approved"), [({}, 14), ({"per_day": "50"}, 7), ({"velocity": [{"count": 5, "hours": 1}]}, 5)]
)
def test_limits_are_exact_under_fifty_purchases_at_once(
    shop: MerchantClient, deployment: Deployment, decider: Inbox, limits: Any, approved: int
) -> None:
    """Many are asked about before any is decided. One whose answer is late is approved by the card's rules alone."""
    card = decided_card(shop, decider, on_timeout="approve", limits=limits)
    together = threading.Barrier(8)

    def think(letter: ReceivedRequest) -> Answer:
        if not together.broken:
            try:
                together.wait(timeout=30)
            except threading.BrokenBarrierError:
                return YES
            together.abort()
        return YES

    decider.answer = think
    asked: list[Asked] = [
        ("sandbox", {"action": "card_purchase", "reference": card.reference, "amount": "7.00"})
    ] * AT_ONCE
    replies = ask_at_once(deployment, shop, asked)
    assert sum(reply["txnStatus"] == "successful" for reply in replies) == approved
    assert card.balance == 10_000 - 700 * approved
    assert len(decider.requests) >= 8


def test_nothing_waits_for_a_decider_that_thinks(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, decider: Inbox
) -> None:
    """The decider itself uses the service before it answers: the card, its merchant and others are not locked. Money
    that it takes off the card is not there for the purchase."""
    card = decided_card(open_shop(), decider, on_timeout="approve")
    other = CardClient(open_shop())
    replies: list[Any] = []

    def think(letter: ReceivedRequest) -> Answer:
        with deployment.connect() as wire:
            mine = MerchantClient(wire, card.shop.mid, card.shop.key)
            replies.append(mine.put("virtualcard", action="withdraw", reference=card.reference, amount="60").body)
            theirs = MerchantClient(wire, other.shop.mid, other.shop.key)
            replies.append(theirs.put("sandbox", action="card_purchase", reference=other.reference, amount="7").body)
        return YES

    decider.answer = think
    bought = card.buy("60")
    wait_until("the decider has done", lambda: len(replies) == 2)
    withdrawn, sold = replies
    assert sold["txnStatus"] == "successful"
    assert (withdrawn["status"] == 200) != (bought["txnStatus"] == "successful")
    assert card.balance == 4_000


def test_a_process_that_dies_while_the_decider_thinks_leaves_nothing_behind(
    deployments: Deployments, decider: Inbox
) -> None:
    with deployments.fresh("killed_decider", KASUWA_CONSOLE="off") as deployment, ThreadPoolExecutor(1) as pool:
        shop = deployment.open_shop()
        card = decided_card(shop, decider)
        before = card.records(limit=200)
        killed: list[int] = []

        def kill(letter: ReceivedRequest) -> Answer:
            for process in psutil.process_iter():
                if is_service_process(process, "api", deployment.directory):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
            return YES

        decider.answer = kill
        headers = {"Idempotency-Key": "a purchase"}
        broken = pool.submit(card.buy, "7.50", headers=headers)
        with pytest.raises((http.client.HTTPException, OSError)):
            broken.result()
        assert killed
        decider.answers(then=YES)
        wait_until("the service is back", deployment.is_ready)
        with deployment.connect() as wire:
            again = MerchantClient(wire, shop.mid, shop.key)
            card.shop = again
            assert card.records(limit=200) == before
            assert card.balance == 10_000
            done = card.buy("7.50", headers=headers)
            repeated = card.buy("7.50", headers=headers)
            assert done["txnRef"] == repeated["txnRef"]
            approved = done["txnStatus"] == "successful"
            assert card.balance == (9_250 if approved else 10_000)
            assert len(card.records(limit=200)) == len(before) + 1
        assert deployment.broken_invariants() == []
