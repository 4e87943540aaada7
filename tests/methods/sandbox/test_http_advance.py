"""`advance` with many jobs, concurrent requests and leaving clients, concurrent `reset`, and clearing of faults."""

import http.client
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import send_events_to, wait_until
from tests.webhooks.inbox import OK, Answer, Inbox, ReceivedRequest, running_inbox

START = "2026-01-05T09:00:00+01:00"
ASKED_AGAIN_AFTER_5_SECONDS = "0000000900"
LEASES = "select count(*) from advance_lease join merchant using (merchant_id) where mid = $1"
DAYS = 6


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def late(days: int) -> dict[str, str]:
    return {"x-sandbox-scenario": f"webhook=late:{days * 86_400}"}


def sent_late(shop: MerchantClient, inbox: Inbox) -> list[str]:
    """References of transfers whose events fall due on six days, in the order of those days."""
    send_events_to(shop, inbox.url)
    return [str(shop.transfer(headers=late(day))["txnRef"]) for day in range(1, DAYS + 1)]


def slowly(letter: ReceivedRequest) -> Answer:
    time.sleep(0.4)
    return OK


# --- much work ------------------------------------------------------------------------------------------------------


def test_hundreds_of_jobs_of_one_moment_each_run_once(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now=START)
    order = {"accountnumber": ASKED_AGAIN_AFTER_5_SECONDS, "amount": "100.00", "bankcode": "058"}
    asked = {"action": "transfer", "type": "bulk", "data": [order] * 700}
    refs = [line["txnRef"] for line in shop.send_fields("disburse", asked).body["data"]]
    due = (
        "select count(*) from scheduled_job join merchant using (merchant_id) where mid = $1 and kind = 'disburse.ask'"
    )
    wait_until("all were sent", lambda: deployment.fetch(due, shop.mid) == [(700,)])
    assert shop.advance(seconds=4)["ran"] == {}
    assert shop.advance(seconds=1) == {
        "status": 200,
        "now": "2026-01-05T09:00:05.000+01:00",
        "ran": {"disburse": 700},
    }
    assert shop.advance(days=1)["ran"] == {}
    ended = "select txn_ref, final_at from transaction where txn_ref = any($1) order by seq"
    rows = deployment.fetch(ended, refs)
    assert [row[0] for row in rows] == refs
    assert {row[1] for row in rows} == {datetime.fromisoformat("2026-01-05T09:00:05+01:00")}


def test_an_advance_whose_time_is_over_says_so_and_another_goes_on(deployments: Deployments, inbox: Inbox) -> None:
    inbox.answer = slowly
    with deployments.fresh("advance_time", KASUWA_SANDBOX_ADVANCE_SECONDS="1") as deployment:
        shop = deployment.open_shop(now=START)
        with shop.connection:
            refs = sent_late(shop, inbox)
            replies = [shop.advance_once(days=10)]
            while replies[-1].get("more"):
                assert replies[-1]["until"] == "2026-01-15T09:00:00.000+01:00"
                assert replies[-1]["now"] == shop.now()
                replies.append(shop.advance_once(until=replies[-1]["until"]))
            assert len(replies) > 1
            assert sum(reply["ran"].get("webhook", 0) for reply in replies) == DAYS
            moments = [reply["now"] for reply in replies]
            assert moments == sorted(moments)
            assert replies[-1]["now"] == shop.now() == "2026-01-15T09:00:00.000+01:00"
            assert set(replies[-1]) == {"status", "now", "ran"}
        assert deployment.broken_invariants([shop.mid]) == []
        assert deployment.new_stderr() == ""
    assert [letter.payload["txnRef"] for letter in inbox.requests] == refs


def test_where_a_clock_runs_an_advance_that_stopped_can_be_gone_on_with(deployments: Deployments, inbox: Inbox) -> None:
    inbox.answer = slowly
    with deployments.fresh("advance_running", KASUWA_SANDBOX_ADVANCE_SECONDS="1") as deployment:
        shop = deployment.open_shop()
        with shop.connection:
            refs = sent_late(shop, inbox)
            reply, ran = shop.advance_once(days=DAYS), 0
            while True:
                ran += reply["ran"].get("webhook", 0)
                if not reply.get("more"):
                    break
                assert datetime.fromisoformat(reply["until"]) > datetime.fromisoformat(shop.now())
                reply = shop.advance_once(until=reply["until"])
    assert ran == DAYS
    assert [letter.payload["txnRef"] for letter in inbox.requests] == refs


def test_an_advance_whose_client_leaves_can_be_gone_on_with(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, inbox: Inbox
) -> None:
    shop = open_shop(now=START)
    refs = sent_late(shop, inbox)
    inbox.answer = slowly
    left = http.client.HTTPConnection("127.0.0.1", deployment.port)
    left.request("PUT", "/sandbox", msgspec.json.encode({"action": "advance", "days": 10}), shop.headers)
    inbox.wait_for(2)
    left.close()
    wait_until("its lease is ended", lambda: deployment.fetch(LEASES, shop.mid) == [(0,)])
    reached = datetime.fromisoformat(shop.now())
    done = len(inbox.requests)
    assert reached >= datetime.fromisoformat(START) + timedelta(days=done)
    reply = shop.advance(until="2026-01-15T09:00:00+01:00")
    assert reply["ran"].get("webhook", 0) == DAYS - done
    assert [letter.payload["txnRef"] for letter in inbox.requests] == refs


# --- beside each other ----------------------------------------------------------------------------------------------


def at_once(deployment: Deployment, shop: MerchantClient, *asked: dict[str, Any]) -> list[tuple[int, Any]]:
    def ask(fields: dict[str, Any]) -> tuple[int, Any]:
        with deployment.connect() as wire:
            reply = MerchantClient(wire, shop.mid, shop.key).send_fields("sandbox", fields)
            return reply.http, reply.body

    with ThreadPoolExecutor(len(asked)) as pool:
        return list(pool.map(ask, asked))


def test_resets_advances_and_funding_at_once_all_answer(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shop = open_shop(now=START)
    books = "select count(*), count(*) filter (where current) from merchant where mid = $1"
    shop.transfer(accountnumber=ASKED_AGAIN_AFTER_5_SECONDS)
    asked: list[dict[str, Any]] = [{"action": "reset"}] * 4 + [{"action": "advance", "hours": 1}] * 4
    asked += [{"action": "fund_wallet", "amount": "5.00"}, {"action": "clock"}] * 2
    answers = at_once(deployment, shop, *asked)
    assert {(http, body["status"]) for http, body in answers} == {(200, 200)}, answers
    assert deployment.fetch(books, shop.mid) == [(5, 1)]
    assert shop.put("sandbox", action="advance", hours=1).body["status"] == 200


def test_many_advances_at_once_leave_the_sandbox_usable(
    deployment: Deployment, open_shop: Callable[..., MerchantClient]
) -> None:
    shops = [open_shop(now=START) for _ in range(8)]
    for shop in shops:
        shop.transfer(accountnumber=ASKED_AGAIN_AFTER_5_SECONDS)

    def advance(shop: MerchantClient) -> list[tuple[int, Any]]:
        return at_once(deployment, shop, *[{"action": "advance", "minutes": 1}] * 3)

    with ThreadPoolExecutor(len(shops)) as pool:
        answers = [answer for group in pool.map(advance, shops) for answer in group]
    assert {(http, body["status"]) for http, body in answers} == {(200, 200)}
    assert {shop.now() for shop in shops} == {"2026-01-05T09:03:00.000+01:00"}


def test_new_merchants_in_a_burst_are_each_made_whole(deployment: Deployment, shop: MerchantClient) -> None:
    answers = at_once(deployment, shop, *[{"action": "new_merchant", "now": START}] * 24)
    assert {http for http, _ in answers} == {200}
    assert len({body["mid"] for _, body in answers}) == 24
    for _, body in answers:
        assert MerchantClient(shop.connection, body["mid"], body["key"]).wallet().balance == 1_000_000_000


# --- forms and faults -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stretch", [{"days": 1}, {"seconds": 0}, {"hours": 2, "minutes": 3}])
def test_an_advance_takes_a_stretch_or_a_moment_and_not_both(
    open_shop: Callable[..., MerchantClient], stretch: Any
) -> None:
    shop = open_shop(now=START)
    body = shop.put("sandbox", action="advance", until="2026-02-01T00:00:00+01:00", **stretch).body
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["until"])
    assert shop.now() == "2026-01-05T09:00:00.000+01:00"


def plan_fault(shop: MerchantClient, **fields: Any) -> Any:
    return shop.put("sandbox", action="fault", **fields).body


def test_a_fault_is_cleared_for_its_rail_alone(shop: MerchantClient) -> None:
    for rail in ("bank", "card"):
        assert plan_fault(shop, rail=rail, kind="decline", times=50)["status"] == 200
    assert plan_fault(shop, rail="card", kind="none")["status"] == 200
    assert shop.transfer()["txnStatus"] == "failed"
    cleared = plan_fault(shop, rail="bank", kind="none")
    assert cleared == {"status": 200, "message": "The bank rail answers as usual again"}
    assert shop.transfer()["txnStatus"] == "successful"


def test_a_fault_of_the_whole_rail_remains_when_one_of_an_operation_is_cleared(shop: MerchantClient) -> None:
    clear = {"rail": "bank", "kind": "none", "on": "transfer"}
    for on in (None, "transfer"):
        plan_fault(shop, rail="bank", kind="decline", on=on, times=50)
    remaining = plan_fault(shop, **clear)["message"]
    assert shop.transfer()["txnStatus"] == "failed"
    assert remaining == "Faults of transfer alone are cleared; those of all calls of the bank rail remain"
    plan_fault(shop, rail="bank", kind="none")
    plan_fault(shop, rail="bank", kind="decline", on="transfer", times=50)
    plan_fault(shop, rail="card", kind="decline", times=50)
    assert plan_fault(shop, **clear)["message"] == "The bank rail answers each transfer as usual again"
    assert shop.transfer()["txnStatus"] == "successful"


def test_all_faults_are_cleared_at_once_without_a_rail(shop: MerchantClient, deployment: Deployment) -> None:
    for rail in ("bank", "card", "biller"):
        plan_fault(shop, rail=rail, kind="timeout", times=50)
    assert plan_fault(shop, kind="none") == {"status": 200, "message": "All rails answer as usual again"}
    kept = "select faults from merchant_state join merchant using (merchant_id) where mid = $1 and current"
    assert deployment.fetch(kept, shop.mid) == [(None,)]
    assert shop.transfer()["txnStatus"] == "successful"


def test_a_fault_that_is_none_needs_no_rail_and_any_other_does(shop: MerchantClient) -> None:
    body = plan_fault(shop, kind="decline")
    assert (body["status"], [fault["field"] for fault in body["errors"]]) == (104, ["rail"])
    assert plan_fault(shop, kind="none")["status"] == 200


def test_planned_faults_are_bounded(shop: MerchantClient) -> None:
    answers = [plan_fault(shop, rail="bank", kind="decline")["status"] for _ in range(102)]
    assert answers == [200] * 100 + [104] * 2
    assert plan_fault(shop, kind="none")["status"] == 200
    assert shop.transfer()["txnStatus"] == "successful"


# A request that sent the payer's code and did not come back: its job is of the step, and its lease has expired.
LEAVE_CODE = """
    with p as (update payment set stage = 'validating' where txn_ref = $1 returning merchant_id),
        v as (update merchant_state b set version = version + 1 from p where b.merchant_id = p.merchant_id)
    update scheduled_job j set kind = 'payment.validate', claims = 1, leased_until = now() - interval '1 second',
        due = due - interval '9 minutes',
        work = (j.work::jsonb || '{"step": "payment.validate"}')::json
    from p where j.merchant_id = p.merchant_id and j.reference = $1
"""


def test_an_advance_queries_a_code_whose_request_has_died(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    client = PaymentClient(shop)
    begun = client.initiate(card(auth="OTP"))
    assert client.charge(begun, card(auth="OTP"))["status"] == 202
    deployment.fetch_as_service(LEAVE_CODE, begun["txnRef"])
    assert shop.advance(minutes=2)["ran"]["payment"] >= 1
    assert client.verify(begun["txnRef"])["txnStatus"] in ("pending", "successful")
    shop.advance(days=2)
    assert client.verify(begun["txnRef"])["txnStatus"] in ("successful", "failed")
