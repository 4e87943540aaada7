"""Every check of certify, against a shop that integrates the service well, and one with the flaw that it looks for."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from kasuwa.integration.all_checks import ALL_CHECKS
from kasuwa.integration.application import Application
from kasuwa.integration.check import FAIL, PASS, Check, Finding, Pace, Session, run_check
from kasuwa.integration.gateway import Gateway
from kasuwa.integration.run import run_checks
from kasuwa.testing import Server
from kasuwa.testing.server import connect
from tests.certify.flaws import FLAWS
from tests.certify.sample_app import Shop, serving
from tests.running import Deployment

CHECKS = {check.id: check for check in ALL_CHECKS}
PACE = Pace(answer=5.0, act=6.0, settle=0.4, hold=4.0, slow=0.4)
OTHER = "the secret of another merchant"
# What makes the application send something that a check of its traffic alone can read.
DRIVEN_BY = {
    "keys-in-headers": "unpaid-kept",
    "amounts-exact": "unpaid-kept",
    "writes-named": "unpaid-kept",
    "polling-slow": "paid-fulfilled",
    "requests-valid": "unpaid-kept",
}


@contextmanager
def session_with(server: Server, flaw: str = "", *, pace: Pace = PACE) -> Iterator[Session]:
    """A session with the sample shop in threads of this process."""
    with ExitStack() as stack:
        merchant = stack.enter_context(server.merchant(balance="1000000.00"))
        gateway = stack.enter_context(Gateway(merchant.url))
        secrets = (merchant.key, OTHER) if flaw == "takes other merchants" else (merchant.key,)
        shop = Shop(gateway.url, merchant.mid, merchant.key, secrets, flaw)
        url = stack.enter_context(serving(shop))
        application = Application(
            f"{url}/events", f"{url}/orders/{{txnRef}}", order_url=f"{url}/orders", payout_url=f"{url}/payouts"
        )
        yield Session(application, merchant.key, pace, other_secret=OTHER, merchant=merchant, gateway=gateway)


@pytest.fixture
def server(deployment: Deployment) -> Server:
    return connect(f"http://127.0.0.1:{deployment.port}")


def test_a_good_shop_passes_every_check(server: Server) -> None:
    with session_with(server) as session:
        findings = run_checks(session, ALL_CHECKS, lambda finding: None)
    assert [
        (finding.check.id, finding.verdict, finding.sentence) for finding in findings if finding.verdict != PASS
    ] == []
    assert len(findings) == len(ALL_CHECKS)


def run_with_flaw(server: Server, check: Check, flaw: str) -> Finding:
    with session_with(server, flaw) as session:
        if check.id in DRIVEN_BY:
            run_check(CHECKS[DRIVEN_BY[check.id]], session)
        return run_check(check, session)


@pytest.mark.parametrize("check_id", CHECKS)
def test_a_check_finds_the_flaw_that_it_looks_for(server: Server, check_id: str) -> None:
    finding = run_with_flaw(server, CHECKS[check_id], FLAWS[check_id])
    assert finding.verdict == FAIL, finding.sentence


def test_an_answer_that_comes_late_accepts_nothing(server: Server) -> None:
    hasty = Pace(answer=0.5, act=6.0, settle=0.4, hold=4.0, slow=0.4)
    with session_with(server, "answers late", pace=hasty) as session:
        finding = run_check(CHECKS["event-accepted"], session)
    assert finding.verdict == FAIL, finding.sentence


def test_every_check_has_a_shop_that_fails_it() -> None:
    assert list(FLAWS) == list(CHECKS)
    assert len(CHECKS) == len(ALL_CHECKS) >= 25
