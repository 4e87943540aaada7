"""The database is away for longer than requests wait, under load: no reply says "nothing was changed" about what is in
the books. A shopper who reads that would pay again.

The protection was removed once to see this test fail (in brackets: what happened then):
    an outage after a request's first commit is answered as pending   ("nothing was changed")
"""

import time
from pathlib import Path

import pytest

from tests.database_proxy import DatabaseProxy
from tests.simulate.faulty_proxy import FaultyProxy
from tests.simulate.load import new_merchant
from tests.simulate.processes import (
    broken_invariants,
    fault_count,
    get,
    query,
    running_database,
    running_service,
    wait_until,
)
from tests.simulate.shoppers import TRANSACTIONS, Attempt, Shopper, find_false_denials, running_shoppers

pytestmark = pytest.mark.chaos

# Longer than the timeout of the writer (engine/writer.py).
AWAY_SECONDS = 11.0
# Delay of a commit on its way to the database and back, so that an outage interrupts some of them.
DELAY_SECONDS = 0.03
# An outage that caught no request between two commits has tested little: it is repeated, up to this number.
MOST_CUTS = 4
SHOPPERS = 16


def attempts_of(shoppers: list[Shopper]) -> list[Attempt]:
    return [attempt for shopper in shoppers for attempt in list(shopper.attempts)]


def wait_for_more(shoppers: list[Shopper], count: int) -> None:
    before = len(attempts_of(shoppers))
    wait_until("shoppers are answered", lambda: len(attempts_of(shoppers)) >= before + count)


def test_no_reply_denies_what_is_in_the_books(tmp_path: Path) -> None:
    with (
        running_database(tmp_path / "pg") as cluster,
        DatabaseProxy(cluster.dsn) as cable,
        running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": cable.dsn}) as service,
    ):
        merchants = [new_merchant(service.port) for _ in range(3)]
        with running_shoppers(service.port, merchants, SHOPPERS) as shoppers:
            cable.delay_seconds = DELAY_SECONDS
            for number in range(fault_count("outages under load") * MOST_CUTS):
                if number >= fault_count("outages under load") and any(map(is_caught, attempts_of(shoppers))):
                    break
                wait_for_more(shoppers, 3 * SHOPPERS)
                cable.cut()
                time.sleep(AWAY_SECONDS)
                cable.restore()
                wait_for_more(shoppers, SHOPPERS)
        attempts, books = attempts_of(shoppers), query(cluster.dsn, TRANSACTIONS)
        assert find_false_denials(attempts, books) == []
        check_that_something_was_tried(attempts, books)
        assert broken_invariants(cluster.dsn) == []


def test_no_reply_denies_what_a_silent_database_has_done(tmp_path: Path) -> None:
    """Requests arrive at the database and are done, but their answers are lost, on connections that stay open."""
    with (
        running_database(tmp_path / "pg") as cluster,
        FaultyProxy(cluster).open_in_thread() as line,
        running_service(tmp_path / "data", {"KASUWA_DATABASE_URL": line.dsn}) as service,
    ):
        merchants = [new_merchant(service.port) for _ in range(3)]
        with running_shoppers(service.port, merchants, SHOPPERS) as shoppers:
            for _ in range(fault_count("outages under load")):
                wait_for_more(shoppers, 3 * SHOPPERS)
                line.state = "deaf"
                time.sleep(AWAY_SECONDS)
                assert get(service.port, "/readyz") == 503
                line.state = "passing"
                wait_until("it is ready again", lambda: get(service.port, "/readyz") == 200)
                wait_for_more(shoppers, SHOPPERS)
        attempts, books = attempts_of(shoppers), query(cluster.dsn, TRANSACTIONS)
        assert find_false_denials(attempts, books) == []
        assert any(attempt.is_open or attempt.is_denial for attempt in attempts)
        assert broken_invariants(cluster.dsn) == []


def is_caught(attempt: Attempt) -> bool:
    """Returns whether a reply says that its outcome is open. Here only a request between its two commits gets one."""
    return attempt.is_open


def check_that_something_was_tried(attempts: list[Attempt], books: list[object]) -> None:
    """Asserts that some requests were denied and some were caught between their commits, so that a false denial would
    have been found."""
    assert any(attempt.is_denial for attempt in attempts)
    assert any(map(is_caught, attempts))
    done = [attempt for attempt in attempts if attempt.body.get("txnStatus") == "successful"]
    assert {attempt.what for attempt in done} >= {"transfer", "transfer under a key", "token", "card", "validate"}
    denial = {"status": 204, "message": "The service cannot be reached for a moment; nothing was changed, try again"}
    planted = [attempt._replace(body=denial) for attempt in done]
    assert len(find_false_denials(planted, books)) == len(planted)
