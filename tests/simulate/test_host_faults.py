"""Two hosts on one database. A merchant is owned by an API process of one host, and its requests go through the other.
The owner's host is killed, cut off or hangs: nothing is lost or done twice, and nobody else notices.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a host that stops hangs up on strangers alone       (the outcome of a clock move is not known)
"""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.merchant_client import HttpConnection, MerchantClient
from tests.methods.investments.savers import enroll, open_savings
from tests.packages import find_nginx
from tests.running import free_port, terminated_with_us
from tests.simulate.hosts import Host, TwoHosts, two_hosts
from tests.simulate.load import LOAD_TRANSFERS, Merchant, find_mismatches, new_merchant, running_load
from tests.simulate.processes import get, probe, run_command, wait_until
from tests.simulate.test_owner_faults import (
    COUNT,
    Placed,
    hold_interest_run,
    merchant_id_of,
    order,
    requests_at_the_owner,
    wait_restarted,
)
from tests.simulate.test_processes import WAITING, held_books
from tests.simulate.waiting import wait_for_all_to_end, wait_for_more
from tests.source_rules import REPOSITORY

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("hosts")]

RATE_BURST = 40
# The network is cut, holds everything back and delivers it late, or loses answers; or the owner's host hangs.
FAULTS = ("refusing", "frozen", "deaf", "hung")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    with two_hosts(tmp_path_factory.mktemp("hosts")) as running:
        yield running
        assert running.hosts[0].broken_invariants() == []


@pytest.fixture
def placed(pair: TwoHosts) -> Placed:
    """A merchant whose owner is the API process of the second host. The other process is that of the first."""
    first, second = pair.hosts
    if second.supervisor.poll() is not None:
        second.start()
    pair.wait_connected()
    [owner], [other] = second.child_processes("api"), first.child_processes("api")
    return Placed(pair.new_merchant(second), owner, other)


def forwarded(host: Host, other: Host) -> float:
    return host.metric("kasuwa_peer_forwarded_total", peer=other.address, outcome="answered")


def test_repeats_are_recognized_whatever_host_is_asked(pair: TwoHosts, placed: Placed) -> None:
    first, second = pair.hosts
    before = forwarded(first, second)
    here, there = first.client(placed.merchant), second.client(placed.merchant)
    with here.connection, there.connection:
        reply = here.transfer(orderRef="a")
        assert (reply["status"], reply["txnStatus"]) == (200, "successful")
        assert there.transfer(orderRef="a") == reply
        refused = here.transfer(orderRef="a", amount="7.00")
        assert refused["status"] == 104
        assert there.transfer(orderRef="a", amount="7.00") == refused
        keyed = [
            client.send_fields("disburse", order(), headers={"idempotency-key": "k"}).body
            for client in (here, there, here)
        ]
        assert keyed == [keyed[0]] * 3
        assert here.put("resources", inquire="wallet") == there.put("resources", inquire="wallet")
    assert first.query(COUNT, placed.merchant.mid)[0][0] == 2
    wait_until("the forwarded requests are counted", lambda: forwarded(first, second) >= before + 4)


@pytest.mark.parametrize("path", ["resources", "disburse"])
def test_a_rate_limit_is_the_same_however_many_hosts_are_asked(pair: TwoHosts, placed: Placed, path: str) -> None:
    """Reads (of resources) and writes (transfers)."""
    fields = {"inquire": "wallet"} if path == "resources" else order()
    first, second = pair.hosts
    done = run_command(["merchant", "set", placed.merchant.mid, "--rate", f"1,{RATE_BURST}"], first.environ)
    assert done.returncode == 0, done
    here, there = first.client(placed.merchant), second.client(placed.merchant)
    with here.connection, there.connection:
        began = time.monotonic()
        replies = [client.send_fields(path, fields) for _ in range(RATE_BURST) for client in (here, there)]
    assert {reply.http for reply in replies} == {200, 429}
    refused = [reply for reply in replies if reply.http == 429]
    assert all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
    # What is filled up meanwhile is admitted too.
    assert len(replies) - len(refused) <= RATE_BURST + (time.monotonic() - began) + 2


def test_requests_at_a_host_that_is_killed_are_repeated_or_of_unknown_outcome(pair: TwoHosts, placed: Placed) -> None:
    """A bulk of 1,000 is one of them. A merchant of the other host notices nothing."""
    first, second = pair.hosts
    requests: list[tuple[dict[str, Any], dict[str, str]]] = [
        (order("referenced"), {}),
        (order(), {"idempotency-key": "keyed"}),
        (order(), {}),
        (bulk_of(1000), {"idempotency-key": "bulk"}),
    ]
    with unharmed(pair, first):
        with requests_at_the_owner(first, placed, requests) as (sent, release):
            second.kill_all()
            release()
            referenced, keyed, plain, bulk = (reply.result() for reply in sent)
        second.start()
    for reply in (referenced, keyed):
        assert reply.http == 200
        assert reply.body["txnStatus"] in ("successful", "processing")
    assert (plain.http, plain.body["status"]) == (503, 204)
    assert "outcome is not known" in plain.body["message"]
    assert (bulk.http, bulk.body["status"]) == (200, 202), str(bulk.body)[:300]
    wait_for_all_to_end(first)
    # The one whose outcome was unknown may be there, once.
    assert first.query(COUNT, placed.merchant.mid)[0][0] in (1002, 1003)
    pair.wait_connected()
    there = second.client(placed.merchant)
    with there.connection:
        repeated = there.send_fields("disburse", order(), headers={"idempotency-key": "keyed"}).body
    assert (repeated["txnRef"], repeated["txnStatus"]) == (keyed.body["txnRef"], "successful")


def bulk_of(count: int) -> dict[str, Any]:
    orders = [{**order(f"bulk-{n}"), "amount": "1.00"} for n in range(count)]
    for one in orders:
        del one["action"]
    return {"action": "transfer", "type": "bulk", "data": orders}


@contextmanager
def unharmed(pair: TwoHosts, host: Host) -> Iterator[None]:
    """Sends transfers of a merchant of this host, through this host. None of them may fail."""
    merchant = pair.new_merchant(host)
    stopping, replies = threading.Event(), list[tuple[int, Any]]()

    def send() -> None:
        client = host.client(merchant)
        with client.connection:
            while not stopping.wait(0.02):
                reply = client.send_fields("disburse", order())
                replies.append((reply.http, reply.body.get("txnStatus")))

    with ThreadPoolExecutor(1) as thread:
        sending = thread.submit(send)
        wait_until("it is served", lambda: len(replies) > 3 or sending.done())
        try:
            yield
        finally:
            stopping.set()
        sending.result()
    assert set(replies) == {(200, "successful")}
    assert host.query(COUNT, merchant.mid)[0][0] == len(replies)


def test_networks_and_hosts_that_fail_under_load_lose_nothing(pair: TwoHosts, placed: Placed, tmp_path: Path) -> None:
    first, second = pair.hosts
    merchants = [placed.merchant, pair.new_merchant(first), pair.new_merchant(second)]
    client = first.client(placed.merchant)
    with running_load(first.port, merchants, tmp_path / "answers") as load, client.connection:
        wait_for_more(load, 20)
        with unharmed(pair, first):
            for fault in FAULTS:
                with failing(pair, fault):
                    reply = client.send_fields("disburse", order(f"while {fault}"))
                    assert (reply.http, reply.body["txnStatus"]) == (200, "successful"), fault
                    wait_for_more(load, 20)
                pair.wait_connected()
                wait_for_more(load, 10)
        answers = load.stop()
    wait_for_all_to_end(first)
    assert {(answer.http, answer.status) for answer in answers} == {(200, 200)}
    assert find_mismatches(answers, first.query(LOAD_TRANSFERS)) == []
    query = COUNT + " and order_ref like 'while %' and status = 'successful'"
    assert first.query(query, placed.merchant.mid)[0][0] == len(FAULTS)


@contextmanager
def failing(pair: TwoHosts, fault: str) -> Iterator[None]:
    if fault == "hung":
        with pair.hosts[1].stopped():
            yield
        return
    pair.set_network(fault)
    try:
        yield
    finally:
        # What a connection lost is not found again: it begins anew.
        if fault == "deaf":
            pair.set_network("refusing")
        pair.set_network("passing")


def test_a_clock_move_whose_owner_is_restarted_is_continued_by_the_other_host(pair: TwoHosts, placed: Placed) -> None:
    first, second = pair.hosts
    client = first.client(placed.merchant)
    with client.connection:
        # Transfers of which the bank says nothing at first: each has a job that asks again.
        for n in range(10):
            assert client.send_fields("disburse", {**order(f"clock-{n}"), "accountnumber": "0000009100"}).http == 200
        with ThreadPoolExecutor(1) as thread, held_books(first.dsn, placed.merchant) as release:
            moving = thread.submit(client.send_fields, "sandbox", {"action": "advance", "days": 3})
            wait_until("the owner waits for the lock", lambda: first.query(WAITING)[0][0])
            os.kill(placed.owner.pid, signal.SIGTERM)
            release()
            moved = moving.result()
        assert (moved.http, moved.body["status"]) == (200, 200), moved
        rest = client.put("sandbox", action="advance", days=1).body
        assert rest["status"] == 200, rest
    wait_restarted(second, [placed.owner])
    wait_for_all_to_end(first)
    query = COUNT + " and status in ('successful', 'failed')"
    assert first.query(query, placed.merchant.mid)[0][0] == 10


def test_an_interest_run_whose_owner_is_killed_posts_every_account_once(pair: TwoHosts, placed: Placed) -> None:
    first, second = pair.hosts
    client = first.client(placed.merchant)
    with client.connection:
        ada = enroll(client)
        for _ in range(2):  # each day's accounts have a job of their own
            for _ in range(3):
                open_savings(client, ada, deposit="1000.00")
            client.advance(days=1)
        jobs = hold_interest_run(first, placed)
        wait_restarted(second, [placed.owner])
        wait_until("all have run", lambda: first.query(jobs) == [], 120.0)
    query = "select count(*), count(distinct credit) from posting where merchant_id = $1 and kind = 'interest'"
    assert tuple(first.query(query, merchant_id_of(first, placed.merchant))[0]) == (6, 6)


# --- behind a balancer ------------------------------------------------------------------------------------------


NGINX = """
daemon off;
pid nginx.pid;
error_log nginx.log;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include kasuwa-hosts.conf;
}
"""


@contextmanager
def balancer(pair: TwoHosts, directory: Path) -> Iterator[int]:
    """Runs Debian's nginx with the configuration of `deploy`, without TLS, for the ports of the hosts. Yields its
    port."""
    nginx_program = find_nginx()
    port = free_port()
    text = (REPOSITORY / "deploy" / "nginx" / "kasuwa-hosts.conf").read_text()
    for number, host in enumerate(pair.hosts):
        assert f"server 10.0.0.{number + 1}:8080 " in text
        text = text.replace(f"server 10.0.0.{number + 1}:8080 ", f"server 127.0.0.1:{host.port} ")
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    (directory / "kasuwa-hosts.conf").write_text(
        "\n".join(line for line in text.splitlines() if not line.strip().startswith("ssl_"))
    )
    (directory / "nginx.conf").write_text(NGINX)
    words = [str(nginx_program), "-p", str(directory), "-e", "nginx.log", "-c", str(directory / "nginx.conf")]
    with subprocess.Popen(words) as nginx, terminated_with_us(nginx.pid, signal.SIGTERM):
        try:
            wait_until("nginx answers", lambda: get(port, "/healthz") == 200 or nginx.poll() is not None)
            yield port
        finally:
            nginx.terminate()
            nginx.wait(60)


def test_a_balancer_sends_all_requests_of_a_merchant_to_one_host_until_it_is_down(
    pair: TwoHosts, placed: Placed, tmp_path: Path
) -> None:
    first, second = pair.hosts
    merchants = [new_merchant(first.port) for _ in range(8)]
    with balancer(pair, tmp_path) as port:
        hosts = {merchant: hosts_of(port, merchant) for merchant in merchants}
        assert {len(found) for found in hosts.values()} == {1}
        assert len(set.union(*hosts.values())) == 2
        assert len({probe(port, "/pay/unknown")[1] for _ in range(4)}) == 1
        mark = probe(second.port, "/healthz")[1]
        second.kill_all()
        for merchant in merchants:
            before = hosts[merchant]
            reply = wait_until("another host answers", lambda: transfer_through(port, merchant))  # noqa: B023
            assert reply["txnStatus"] == "successful"
            assert mark not in hosts_of(port, merchant)
            assert mark in before or hosts_of(port, merchant) == before
    assert first.query("select count(*) from transaction where order_ref = 'moved'")[0][0] == len(merchants)


def hosts_of(port: int, merchant: Merchant) -> set[str]:
    """Returns the API processes that answer requests of a merchant on several connections."""
    return {wait_until("a host answers", lambda: answering_process(port, merchant)) for _ in range(3)}


def answering_process(port: int, merchant: Merchant) -> str | None:
    """Returns the API process that answers a request, or None if its host is down: nginx tries it now and then."""
    client = MerchantClient(HttpConnection("127.0.0.1", port), *merchant)
    with client.connection:
        reply = client.send_fields("resources", {"inquire": "wallet"})
    return reply.headers["x-request-id"].partition("-")[0] if reply.http == 200 else None


def transfer_through(port: int, merchant: Merchant) -> Any:
    """Returns the reply to a transfer, or None if its host was down. It is always the same one."""
    client = MerchantClient(HttpConnection("127.0.0.1", port), *merchant)
    with client.connection:
        reply = client.send_fields("disburse", order("moved"))
    return reply.body if reply.http == 200 else None
