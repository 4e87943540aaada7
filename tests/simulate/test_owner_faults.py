"""Owners and forwarders that die, hang or are restarted: nothing is lost or done twice, and nobody else notices.

The service has two API processes. A merchant is owned by one of them, and its requests go through the other.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a lost reply is no denial                                   ("nothing was changed")
    only what may be repeated is decided again                  (a transfer without a reference is decided again)
    an owner that receives SIGTERM answers what it was sent     (503 to requests of the other process)
    a silent owner is passed over                               (requests wait as long as it is stopped)
"""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from kasuwa.methods.investments.rules.post_interest import POST_INTEREST
from tests.merchant_client import MerchantClient, RawReply
from tests.methods.investments.savers import enroll, open_savings
from tests.simulate.load import LOAD_TRANSFERS, LoadProcess, Merchant, find_mismatches, new_merchant, running_load
from tests.simulate.owners import ProcessConnection, others, owner_of, socket_names
from tests.simulate.processes import Service, is_fully_running, is_gone, kill, running_service, wait_until
from tests.simulate.test_processes import WAITING, held_books
from tests.simulate.waiting import wait_for_all_to_end, wait_for_more

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("owners")]

MERCHANT_ID = "select merchant_id from merchant where mid = $1 and current"
COUNT = "select count(*) from transaction t join merchant m using (merchant_id) where m.mid = $1"


class Placed(NamedTuple):
    """A merchant, its owner, and the other process."""

    merchant: Merchant
    owner: psutil.Process
    other: psutil.Process

    def through(self, process: psutil.Process, port: int) -> MerchantClient:
        return MerchantClient(ProcessConnection(process, port), *self.merchant)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("owners") / "data", workers=2) as running:
        yield running
        assert running.broken_invariants() == []


def merchant_id_of(service: Service, merchant: Merchant) -> int:
    return int(service.query(MERCHANT_ID, merchant.mid)[0][0])


def place(service: Service, merchant: Merchant) -> Placed:
    processes: list[psutil.Process] = []

    def is_complete() -> bool:
        processes[:] = service.child_processes("api")
        return len(processes) == 2 and all(any(n.endswith(".sock") for n in socket_names(p)) for p in processes)

    wait_until("both API processes listen to each other", is_complete)
    owner = owner_of(merchant_id_of(service, merchant), processes)
    return Placed(merchant, owner, others(owner, processes)[0])


def new_placed(service: Service) -> Placed:
    return place(service, new_merchant(service.port))


def order(reference: str | None = None) -> dict[str, str]:
    fields = {"action": "transfer", "amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}
    return fields if reference is None else {**fields, "orderRef": reference}


@contextmanager
def requests_at_the_owner(
    service: Service, placed: Placed, requests: list[tuple[dict[str, str], dict[str, str]]]
) -> Iterator[tuple[list["Future[RawReply]"], Callable[[], None]]]:
    """Sends requests through the other process. They wait at the owner until the returned function is called."""
    with ThreadPoolExecutor(len(requests)) as threads, held_books(service.dsn, placed.merchant) as release:
        clients = [placed.through(placed.other, service.port) for _ in requests]
        for client in clients:  # connected before the owner is stopped
            assert client.send_fields("resources", {"inquire": "wallet"}).http == 200
        sent = [
            threads.submit(client.send_fields, "disburse", fields, headers=headers)
            for client, (fields, headers) in zip(clients, requests, strict=True)
        ]
        wait_until("the owner waits for the lock", lambda: service.query(WAITING)[0][0])
        yield sent, release
        for client in clients:
            client.connection.close()


def wait_restarted(service: Service, gone: list[psutil.Process]) -> None:
    wait_until("all parts run again", lambda: is_fully_running(service, gone))


def test_requests_at_an_owner_that_is_killed_are_repeated_or_of_unknown_outcome(service: Service) -> None:
    placed = new_placed(service)
    requests = [
        (order("referenced"), {}),
        (order(), {"idempotency-key": "keyed"}),
        (order(), {}),
    ]
    with requests_at_the_owner(service, placed, requests) as (sent, release):
        kill([placed.owner])
        wait_until("it is gone", lambda: is_gone(placed.owner))
        release()
        referenced, keyed, plain = (reply.result() for reply in sent)
    # PostgreSQL may have carried out the statement of the killed process: then the worker ends the transfer later.
    for reply in (referenced, keyed):
        assert reply.http == 200
        assert reply.body["txnStatus"] in ("successful", "processing")
    assert (plain.http, plain.body["status"]) == (503, 204)
    assert "outcome is not known" in plain.body["message"]
    wait_restarted(service, [placed.owner])
    wait_for_all_to_end(service)
    # The one whose outcome was unknown may be there, once.
    assert service.query(COUNT, placed.merchant.mid)[0][0] in (2, 3)
    again = place(service, placed.merchant)
    with again.through(again.other, service.port).connection as wire:
        client = MerchantClient(wire, *placed.merchant)
        repeated = client.send_fields("disburse", order(), headers={"idempotency-key": "keyed"}).body
        verified = client.put("disburse", action="verify", txnRef=referenced.body["txnRef"]).body
    assert (repeated["txnRef"], repeated["txnStatus"]) == (keyed.body["txnRef"], "successful")
    assert verified["txnStatus"] == "successful"


def test_no_request_fails_when_the_owner_is_restarted(service: Service) -> None:
    placed = new_placed(service)
    requests: list[tuple[dict[str, str], dict[str, str]]] = [
        (order(f"drained-{n}") if n % 2 else order(), {}) for n in range(8)
    ]
    with requests_at_the_owner(service, placed, requests) as (sent, release):
        os.kill(placed.owner.pid, signal.SIGTERM)
        # Its merchants move at once, although it still works: the next request is decided by the other process.
        later = placed.through(placed.other, service.port)
        with ThreadPoolExecutor(1) as thread, later.connection:
            after = thread.submit(later.send_fields, "disburse", order("after"))
            wait_until("it has stopped listening", lambda: service.query(WAITING)[0][0] == 2)
            release()
            replies = [reply.result() for reply in (*sent, after)]
    assert {(reply.http, reply.body["txnStatus"]) for reply in replies} == {(200, "successful")}
    assert service.query(COUNT, placed.merchant.mid)[0][0] == len(requests) + 1
    wait_restarted(service, [placed.owner])


def test_kills_and_hangs_under_load_lose_nothing_and_harm_no_other_merchant(service: Service, tmp_path: Path) -> None:
    merchants = [new_merchant(service.port) for _ in range(4)]
    with running_load(service.port, merchants, tmp_path / "answers") as load:
        wait_for_more(load, 20)
        for victims in ("owner", "forwarder", "both"):
            placed = place(service, merchants[0])
            gone = {"owner": [placed.owner], "forwarder": [placed.other], "both": [placed.owner, placed.other]}[victims]
            with unharmed(service, placed) if victims == "owner" else no_bystander():
                kill(gone)
                wait_restarted(service, gone)
                wait_for_more(load, 20)
        for stopped in ("owner", "forwarder"):
            placed = place(service, merchants[0])
            hung = placed.owner if stopped == "owner" else placed.other
            running = placed.other if stopped == "owner" else placed.owner
            client = placed.through(running, service.port)
            with client.connection:
                assert client.send_fields("resources", {"inquire": "wallet"}).http == 200
                with stopped_process(hung):
                    reply = client.send_fields("disburse", order(f"load-free while the {stopped} hangs"))
                assert (reply.http, reply.body["txnStatus"]) == (200, "successful")
            wait_for_more(load, 20)
        restart_one_after_the_other(service, load)
        answers = load.stop()
    wait_for_all_to_end(service)
    assert {(answer.http, answer.status) for answer in answers} <= {(200, 200), (503, 204), (0, 0)}
    rows = [row for row in service.query(LOAD_TRANSFERS) if not row["order_ref"].startswith("load-free")]
    assert find_mismatches(answers, rows) == []


def restart_one_after_the_other(service: Service, load: LoadProcess) -> None:
    """Restarts both API processes under load. Connections are closed, but no request is refused."""
    refused = count_refused(load)
    for process in service.child_processes("api"):
        os.kill(process.pid, signal.SIGTERM)
        wait_restarted(service, [process])
        wait_for_more(load, 20)
    assert count_refused(load) == refused


def count_refused(load: LoadProcess) -> int:
    return sum(answer.http == 503 for answer in load.answers())


@contextmanager
def no_bystander() -> Iterator[None]:
    yield


@contextmanager
def stopped_process(process: psutil.Process) -> Iterator[None]:
    os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process.pid, signal.SIGCONT)


@contextmanager
def unharmed(service: Service, placed: Placed) -> Iterator[None]:
    """Sends transfers of a merchant of the other process, through that process. None of them may fail."""
    bystander = new_placed(service)
    while bystander.owner.pid != placed.other.pid:
        bystander = new_placed(service)
    stopping, replies = threading.Event(), list[tuple[int, Any]]()

    def send() -> None:
        with bystander.through(bystander.owner, service.port).connection as wire:
            client = MerchantClient(wire, *bystander.merchant)
            while not stopping.wait(0.02):
                reply = client.send_fields("disburse", order())
                replies.append((reply.http, reply.body.get("txnStatus")))

    with ThreadPoolExecutor(1) as thread:
        sending = thread.submit(send)
        wait_until("it is served", lambda: len(replies) > 3 or sending.done())
        yield
        stopping.set()
        sending.result()
    assert set(replies) == {(200, "successful")}
    assert service.query(COUNT, bystander.merchant.mid)[0][0] == len(replies)


# --- long work that is handed over --------------------------------------------------------------------------


def test_a_bulk_whose_owner_is_killed_is_done_once(service: Service) -> None:
    placed = new_placed(service)
    orders = [{**order(f"bulk-{n}"), "amount": "1.00"} for n in range(1000)]
    for one in orders:
        del one["action"]
    body: dict[str, Any] = {"action": "transfer", "type": "bulk", "data": orders}
    key = {"idempotency-key": "bulk"}
    client = placed.through(placed.other, service.port)
    assert client.send_fields("resources", {"inquire": "wallet"}).http == 200
    with ThreadPoolExecutor(1) as thread, client.connection:
        with held_books(service.dsn, placed.merchant) as release:
            sent = thread.submit(client.send_fields, "disburse", body, headers=key)
            wait_until("the owner waits for the lock", lambda: service.query(WAITING)[0][0])
            kill([placed.owner])
            wait_until("it is gone", lambda: is_gone(placed.owner))
            release()
        reply = sent.result()
    assert (reply.http, reply.body["status"]) == (200, 202), json.dumps(reply.body)[:300]
    wait_restarted(service, [placed.owner])
    wait_for_all_to_end(service)
    assert service.query(COUNT, placed.merchant.mid)[0][0] == 1000


def test_a_clock_move_whose_owner_is_restarted_is_continued_by_the_other(service: Service) -> None:
    placed = new_placed(service)
    client = placed.through(placed.other, service.port)
    with client.connection:
        # Transfers of which the bank says nothing at first: each has a job that asks again.
        for n in range(30):
            assert client.send_fields("disburse", {**order(f"clock-{n}"), "accountnumber": "0000009100"}).http == 200
        before = client.put("sandbox", action="clock").body
        with ThreadPoolExecutor(1) as thread, held_books(service.dsn, placed.merchant) as release:
            moving = thread.submit(client.send_fields, "sandbox", {"action": "advance", "days": 3})
            wait_until("the owner waits for the lock", lambda: service.query(WAITING)[0][0])
            os.kill(placed.owner.pid, signal.SIGTERM)
            release()
            moved = moving.result()
        assert (moved.http, moved.body["status"]) == (200, 200), moved
        wait_restarted(service, [placed.owner])
        rest = client.put("sandbox", action="advance", days=1).body
        assert rest["status"] == 200, rest
        assert client.put("sandbox", action="clock").body != before
    wait_for_all_to_end(service)
    query = COUNT + " and status in ('successful', 'failed')"
    assert service.query(query, placed.merchant.mid)[0][0] == 30


def test_an_interest_run_whose_owner_is_killed_posts_every_account_once(service: Service) -> None:
    placed = new_placed(service)
    client = placed.through(placed.other, service.port)
    with client.connection:
        ada = enroll(client)
        for _ in range(3):  # each day's accounts have a job of their own
            for _ in range(4):
                open_savings(client, ada, deposit="1000.00")
            client.advance(days=1)
        jobs = hold_interest_run(service, placed)
        wait_restarted(service, [placed.owner])
        wait_until("all have run", lambda: service.query(jobs) == [], 120.0)
    query = "select count(*), count(distinct credit) from posting where merchant_id = $1 and kind = 'interest'"
    assert tuple(service.query(query, merchant_id_of(service, placed.merchant))[0]) == (12, 12)


def hold_interest_run(service: Service, placed: Placed) -> str:
    """Moves the merchant's clock beyond the posting days without running a job, lets the worker run them, and kills the
    owner while it records their results. Returns the query that finds those that have not run."""
    merchant_id = merchant_id_of(service, placed.merchant)
    microseconds = int(timedelta(days=40) / timedelta(microseconds=1))
    service.query(
        "update merchant_state set clock_offset_us = clock_offset_us + $2, version = version + 1"
        " where merchant_id = $1",
        merchant_id,
        microseconds,
    )
    due = f"merchant_id = {merchant_id} and kind = '{POST_INTEREST}'"
    with held_books(service.dsn, placed.merchant) as release:
        service.query(f"update scheduled_job set run_at = now() where {due}")
        wait_until("the owner waits for the lock", lambda: service.query(WAITING)[0][0])
        kill([placed.owner])
        wait_until("it is gone", lambda: is_gone(placed.owner))
        release()
    return f"select 1 from scheduled_job where {due} and run_at <= now()"
