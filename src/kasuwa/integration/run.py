"""Runs the checks: starts the application in front of a gateway with a merchant of its own, and ends it."""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kasuwa.integration.application import Application, is_listening
from kasuwa.integration.check import FAIL, Check, Finding, Pace, Session, run_check
from kasuwa.integration.gateway import Gateway, WireExchange
from kasuwa.testing.server import Server
from kasuwa_client import Kasuwa, KasuwaError

START_SECONDS = 60.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.1
OUTPUT_LINES = 15
# Requests of the log that are read: the newest ones.
LOGGED, PAGE = 1_000, 200
# NGN in the wallet of the merchant that the application is run with.
BALANCE = "1000000.00"
# What an application reads from its environment.
SECRET_VARIABLE = "KASUWA_SIGNING_SECRET"


class CannotRun(Exception):
    """No check was run. The text says why."""


@dataclass(frozen=True)
class Outcome:
    """The findings of a run."""

    application: str
    findings: Sequence[Finding]
    began: datetime
    seconds: float
    documentation: str  # address of the documentation

    @property
    def is_failed(self) -> bool:
        return any(finding.verdict == FAIL for finding in self.findings)

    def count(self, verdict: str) -> int:
        return sum(finding.verdict == verdict for finding in self.findings)


@contextlib.contextmanager
def run_application(command: str, environment: Mapping[str, str], url: str | None) -> Iterator[None]:
    """Runs a command for the block, and waits until it listens at the address. It is ended with all that it started.
    Raises CannotRun."""
    if url is not None and is_listening(url):
        raise CannotRun(f"something listens at {url} already: stop it, because --run starts the application")
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command,
            shell=True,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            until = time.monotonic() + START_SECONDS
            while url is not None and not is_listening(url):
                if process.poll() is not None or time.monotonic() > until:
                    output.seek(0)
                    lines = output.read().decode(errors="replace").splitlines()[-OUTPUT_LINES:]
                    raise CannotRun("\n".join([f"the application does not listen at {url}. Its output:", *lines]))
                time.sleep(POLL_SECONDS)
            yield
        finally:
            end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a process and all that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)


@contextlib.contextmanager
def started(command: str, application: Application, server: Server, pace: Pace) -> Iterator[Session]:
    """Starts the application with a new merchant, whose requests go through a gateway. Its events come to certify,
    which delivers them. Raises CannotRun."""
    with contextlib.closing(server.open_merchant(name="Certify", balance=BALANCE)) as merchant:
        other = merchant.shop(name="Another merchant")
        with Gateway(server.url) as gateway:
            credentials = {**merchant.environ, "KASUWA_URL": gateway.url, SECRET_VARIABLE: merchant.key}
            with run_application(command, credentials, application.events_url):
                yield Session(
                    application, merchant.key, pace, other_secret=other.key, merchant=merchant, gateway=gateway
                )


def observe(application: Application, pace: Pace, url: str | None, mid: str, key: str, secret: str) -> Session:
    """Returns a session with an application that runs already. Its traffic is in the request log, if a server is
    named. Raises CannotRun."""
    if not is_listening(application.events_url):
        raise CannotRun(f"nothing listens at {application.events_url}: start the application, or let --run start it")
    return Session(application, secret, pace, logged=read_log(url, mid, key) if url is not None else ())


def read_log(url: str, mid: str, key: str) -> list[WireExchange]:
    """Returns the newest requests of a merchant in the request log, oldest first. Raises CannotRun."""
    exchanges: list[WireExchange] = []
    before: int | None = None
    try:
        with Kasuwa(mid=mid, key=key, base_url=url) as client:
            while len(exchanges) < LOGGED:
                page = client.sandbox.requests(before=before, limit=PAGE).raw
                exchanges += [as_exchange(line) for line in page["data"]]
                if not page["more"]:
                    break
                before = page["last"]
    except KasuwaError as error:
        raise CannotRun(f"the request log of {mid} cannot be read from {url}: {error}") from None
    return exchanges[::-1]


def as_exchange(line: Mapping[str, object]) -> WireExchange:
    answered_at = datetime.fromisoformat(str(line["answered_at"])).timestamp()
    seconds = float(str(line["milliseconds"])) / 1000
    return WireExchange(
        method="PUT",
        path=str(line["path"]),
        query="",
        headers={},
        sent=str(line["request_body"]).encode(),
        started=answered_at - seconds,
        seconds=seconds,
        http_status=int(str(line["http_status"])),
        answered=str(line["reply_body"]).encode(),
    )


def run_checks(session: Session, checks: Sequence[Check], tell: Callable[[Finding], None]) -> list[Finding]:
    findings = []
    for check in checks:
        finding = run_check(check, session)
        tell(finding)
        findings.append(finding)
    return findings


def play(session: Session, checks: Sequence[Check], documentation: str, tell: Callable[[Finding], None]) -> Outcome:
    """Runs the checks, and tells each finding when it is there."""
    began, started_at = datetime.now(UTC), time.monotonic()
    findings = run_checks(session, checks, tell)
    return Outcome(session.application.events_url, findings, began, time.monotonic() - started_at, documentation)
