"""The database is away for longer than requests wait, under load: no reply says "nothing was changed" of what is in
the books. Shoppers who are told so pay again.

Guarded protections, each taken away once to see this test fail:
    an outage after a request's first commit is answered as pending   (answered as "nothing was changed")
"""

import time
from pathlib import Path

import pytest

from tests.cable import Cable
from tests.simulate.load import new_merchant
from tests.simulate.processes import broken_laws, database, query, serving, times, wait_until
from tests.simulate.shoppers import TRANSACTIONS, Attempt, Shopper, lies, shopping

pytestmark = pytest.mark.chaos

# Longer than the writer waits (db/writer.py).
AWAY_SECONDS = 11.0
# So that half of the requests are past their first commit when the cut comes.
DELAY_SECONDS = 0.1
SHOPPERS = 16


def attempts_of(shoppers: list[Shopper]) -> list[Attempt]:
    return [attempt for shopper in shoppers for attempt in list(shopper.attempts)]


def wait_for_more(shoppers: list[Shopper], count: int) -> None:
    before = len(attempts_of(shoppers))
    wait_until("shoppers are answered", lambda: len(attempts_of(shoppers)) >= before + count)


def test_no_reply_denies_what_is_in_the_books(tmp_path: Path) -> None:
    with (
        database(tmp_path / "pg") as cluster,
        Cable(cluster.dsn) as cable,
        serving(tmp_path / "data", {"KASUWA_DATABASE_URL": cable.dsn}) as service,
    ):
        merchants = [new_merchant(service.port) for _ in range(3)]
        with shopping(service.port, merchants, SHOPPERS) as shoppers:
            cable.delay_seconds = DELAY_SECONDS
            for _ in range(times("outages under load")):
                wait_for_more(shoppers, 3 * SHOPPERS)
                cable.cut()
                time.sleep(AWAY_SECONDS)
                cable.mend()
                wait_for_more(shoppers, SHOPPERS)
        attempts, books = attempts_of(shoppers), query(cluster.dsn, TRANSACTIONS)
        assert lies(attempts, books) == []
        check_that_something_was_tried(attempts, books)
        assert broken_laws(cluster.dsn) == []


def check_that_something_was_tried(attempts: list[Attempt], books: list[object]) -> None:
    """Some were denied, some were caught between their commits; and had these been denied, it would have shown."""
    assert [attempt for attempt in attempts if attempt.denies]
    caught = [attempt for attempt in attempts if attempt.is_open and attempt.what not in ("bulk", "initiate")]
    assert caught
    denial = {"status": 204, "message": "The service cannot be reached for a moment; nothing was changed, try again"}
    planted = [attempt._replace(body=denial) for attempt in caught if attempt.http == 200]
    assert planted
    assert len(lies(planted, books)) == len(planted)
