"""What the queries of the invariants read: in proportion to the rows of a merchant, not to their square.

An audit that is quadratic takes hours on real books. The tables here were never analyzed, as after a restore, so the
planner expects few rows and likes to compare each with each.
"""

from typing import Any

import msgspec
import pytest

from kasuwa.ledger.invariants import INVARIANTS
from tests.merchant_client import MerchantClient
from tests.methods.disburse.test_http_bulk import order, wait_until_nothing_is_held
from tests.running import Deployment

ORDERS = 1000
# Each order has a transaction, four postings, an event and its delivery. Some queries read a table several times.
MOST_ROWS = 100 * ORDERS


def rows_read(plan: dict[str, Any]) -> float:
    """Returns how many rows the nodes of a plan read, kept or not."""
    dropped = sum(plan.get(f"Rows Removed by {reason}", 0) for reason in ("Filter", "Join Filter", "Index Recheck"))
    here = (plan["Actual Rows"] + dropped) * plan["Actual Loops"]
    return float(here + sum(rows_read(part) for part in plan.get("Plans", [])))


@pytest.fixture
def merchant_id(shop: MerchantClient, deployment: Deployment) -> int:
    shop.bulk([order(f"order {n}", amount="100.00") for n in range(ORDERS)])
    wait_until_nothing_is_held(shop)
    return int(deployment.fetch("select merchant_id from merchant where mid = $1", shop.mid)[0][0])


def test_no_invariant_compares_each_row_with_each(merchant_id: int, deployment: Deployment) -> None:
    read: dict[str, float] = {}
    for invariant in INVARIANTS:
        [[text]] = deployment.fetch(f"explain (analyze, timing off, format json) {invariant.query}", [merchant_id])
        [explained] = msgspec.json.decode(text)
        read[invariant.description] = rows_read(explained["Plan"])
    assert {description: rows for description, rows in read.items() if rows > MOST_ROWS} == {}
    assert max(read.values()) > ORDERS
