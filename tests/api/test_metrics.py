"""What a deployment says of itself at `/metrics`: counted over all its parts, and never less than before."""

import contextlib
import http.client
from collections.abc import Iterator

import psutil
from prometheus_client.parser import text_string_to_metric_families

from tests.command_processes import is_service_process
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import Deployment, Deployments, free_port
from tests.webhooks.event_log import send_events_to, wait_until
from tests.webhooks.inbox import BROKEN, running_inbox

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def scrape(deployment: Deployment) -> Samples:
    with HttpConnection("127.0.0.1", deployment.metrics_port) as wire:
        reply = wire.send("GET", "/metrics")
    assert (reply.http, reply.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    samples = [s for family in text_string_to_metric_families(reply.raw.decode()) for s in family.samples]
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value for sample in samples}


def value(deployment: Deployment, name: str, **labels: str) -> float:
    try:
        return scrape(deployment).get((name, tuple(sorted(labels.items()))), 0.0)
    except (OSError, http.client.HTTPException):  # it is being started
        return 0.0


def part_of(deployment: Deployment, name: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if is_service_process(process, name, deployment.directory)]


@contextlib.contextmanager
def serving(deployments: Deployments, name: str, **environment: str) -> Iterator[tuple[Deployment, MerchantClient]]:
    with deployments.fresh(name, **environment) as running:
        shop = running.open_shop()
        with shop.connection:
            yield running, shop


def test_requests_steps_and_commits_are_counted_over_all_processes(deployments: Deployments) -> None:
    with serving(deployments, "metrics_counted", KASUWA_WORKERS="2") as (running, shop):
        for _ in range(20):  # on a connection of its own each: both processes take part
            with running.connect() as wire:
                MerchantClient(wire, shop.mid, shop.key).transfer()
        shop.transfer(accountnumber="0000000500")
        shop.transfer(accountnumber="1")
        shop.send_fields("disburse", {"action": "transfer"}, headers={"key": "wrong"})

        def requests(action: str, status: str) -> float:
            return value(running, "kasuwa_requests_total", path="/disburse", action=action, status=status)

        wait_until("all are posted", lambda: requests("transfer", "200") == 21 and requests("", "101") == 1)
        wait_until("the refusal too", lambda: requests("transfer", "104") == 1)
        found = scrape(running)
        timed = (("action", "transfer"), ("path", "/disburse"))
        assert found["kasuwa_request_seconds_count", timed] == 22
        assert found["kasuwa_steps_total", (("answer", "successful"), ("kind", "disburse.send"))] == 20
        assert found["kasuwa_steps_total", (("answer", "failed"), ("kind", "disburse.send"))] == 1
        # Two commits a transfer, and one each for the opening, of the shop and of the demo merchant beside it.
        commits = sum(v for (name, _), v in found.items() if name == "kasuwa_batch_size_count")
        assert found["kasuwa_commit_seconds_count", ()] == commits >= 42
        assert found["kasuwa_database_up", ()] == 1
        assert found["kasuwa_jobs_due", (("lane", "bank"),)] == 0
        parts = {dict(labels)["part"] for name, labels in found if name == "kasuwa_part_memory_bytes"}
        assert parts == {"api-1", "api-2", "worker", "console", "metrics"}
        assert sum(v for (name, _), v in found.items() if name == "kasuwa_errors_total") == 0


def test_a_counter_does_not_fall_when_a_part_is_killed(deployments: Deployments) -> None:
    with serving(deployments, "metrics_killed", KASUWA_CONSOLE="off") as (running, shop):
        shop.transfer()
        counted = {"path": "/disburse", "action": "transfer", "status": "200"}
        wait_until("it is posted", lambda: value(running, "kasuwa_requests_total", **counted) == 1)
        for part in ("api", "metrics"):
            [process] = part_of(running, part)
            process.kill()
        wait_until("it is started again", lambda: value(running, "kasuwa_part_starts_total", part="api-1") == 2)
        wait_until("it is ready again", running.is_ready)
        with running.connect() as wire:
            MerchantClient(wire, shop.mid, shop.key).transfer()
        wait_until("it counts on", lambda: value(running, "kasuwa_requests_total", **counted) == 2)


def test_deliveries_and_endpoints_that_fail_are_counted(deployments: Deployments) -> None:
    with serving(deployments, "metrics_events", KASUWA_CONSOLE="off") as (running, shop), running_inbox() as inbox:
        send_events_to(shop, inbox.url)
        inbox.script.append(BROKEN)
        shop.transfer()
        wait_until("one failed", lambda: value(running, "kasuwa_deliveries_total", outcome="failed") == 1)
        wait_until("the endpoint is known", lambda: value(running, "kasuwa_endpoints_failing") == 1)
        shop.put("sandbox", action="advance", hours=1)
        wait_until("the endpoint is well", lambda: value(running, "kasuwa_endpoints_failing") == 0)
        shop.transfer()
        wait_until("one arrived", lambda: value(running, "kasuwa_deliveries_total", outcome="delivered") >= 1)


def test_there_is_nothing_else_on_that_port(deployment: Deployment) -> None:
    wait_until("it listens", lambda: value(deployment, "kasuwa_database_up") == 1)
    with HttpConnection("127.0.0.1", deployment.metrics_port) as wire:
        assert wire.send("GET", "/disburse").http == 404
        assert wire.send("PUT", "/metrics", b"{}").http == 404


def test_a_metrics_port_in_use_is_reported_at_once(deployment: Deployment) -> None:
    ports = ("--port", str(free_port()), "--console-port", str(free_port()))
    assert "choose another KASUWA_METRICS_PORT" in deployment.run_refused_command("serve", *ports)
