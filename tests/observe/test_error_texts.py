"""An error whose text quotes a card: every way to the log has its kind and its places, and never its text."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import structlog

from kasuwa.core.decision import Job
from kasuwa.jobs.leases import Claimed
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics
from kasuwa.postgres.columns import describe_columns
from tests.api.test_outcome import Local, LocalService, local_service, no_failure
from tests.merchant_client import MerchantClient, new_reference
from tests.running import NEWEST, Deployment, Deployments

NUMBER = "4111111111111111"
JOB = f"select {', '.join(describe_columns(Job).names)} from scheduled_job where reference = $1"
TRANSFER = {"action": "transfer", "amount": "10.00", "bankcode": "058", "accountnumber": "0000000000"}


def quote_card(*_: Any, **__: Any) -> Any:
    raise ValueError(f"no such card: {NUMBER}") from KeyError(NUMBER)


@pytest.fixture
def logged() -> Iterator[None]:
    log.configure_logging(Metrics(), json_lines=True)
    yield
    structlog.reset_defaults()


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


@pytest.fixture
def planted(deployment: Deployment) -> Iterator[LocalService]:
    """A service whose steps' rules all raise with a card in their text."""
    with local_service(deployment, deployment.dsn, no_failure, quote_card) as local:
        yield local


def check_logged(text: str, event: str) -> None:
    assert NUMBER not in text
    lines = [msgspec.json.decode(line) for line in text.splitlines()]
    assert [line["event"] for line in lines] == [event]
    assert lines[0]["error"] == "ValueError"
    assert any("quote_card" in place for place in lines[0]["places"])


def test_a_rule_that_raises_in_a_request(
    planted: LocalService, shop: MerchantClient, logged: None, capsys: pytest.CaptureFixture[str]
) -> None:
    reply = Local(shop, planted).send_fields("disburse", {**TRANSFER, "orderRef": new_reference("order")})
    assert reply.body["txnStatus"] == "processing"
    assert NUMBER.encode() not in reply.raw
    check_logged(capsys.readouterr().err, "request failed")


def test_a_rule_that_raises_in_the_worker(
    deployment: Deployment,
    planted: LocalService,
    shop: MerchantClient,
    logged: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    begun = Local(shop, planted).send_fields("disburse", {**TRANSFER, "orderRef": new_reference("order")}).body
    [record] = deployment.fetch(JOB, begun["txnRef"])
    capsys.readouterr()
    planted.run_in_worker(Claimed(Job(*record), datetime.now(UTC), 1))
    check_logged(capsys.readouterr().err, "step failed")


def test_a_task_that_nobody_awaits(logged: None, capsys: pytest.CaptureFixture[str]) -> None:
    async def run() -> None:
        log.log_unhandled_errors(asyncio.get_running_loop())
        asyncio.get_running_loop().call_soon(quote_card)
        await asyncio.sleep(0.01)

    asyncio.run(run())
    check_logged(capsys.readouterr().err, "task failed")


# In a process of its own, as a part is: pytest has handlers of its own for all of these.
ALONE = """
import logging, os, sys
from kasuwa.boot import app, supervise
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics, SharedCounters
from kasuwa.settings.settings import Settings

def quote_card(*_):
    raise ValueError("no such card: 4111111111111111") from KeyError("4111111111111111")

if sys.argv[1] == "library":
    log.configure_logging(Metrics(), json_lines=True)
    try:
        quote_card()
    except ValueError as error:
        logging.getLogger("library").error("it failed", exc_info=error)
else:
    app.run_process = quote_card
    supervise.run_child(Settings(), "", SharedCounters("worker"), [], os.getppid(), lambda: None)
"""


@pytest.mark.parametrize(("way", "code", "event"), [("library", 0, "it failed"), ("part", 1, "a part failed")])
def test_an_error_that_ends_a_part_or_is_logged_by_a_library(way: str, code: int, event: str) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, way], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    assert event in done.stderr
    assert "ValueError" in done.stderr
    assert "quote_card" in done.stderr
    assert NUMBER not in done.stderr
