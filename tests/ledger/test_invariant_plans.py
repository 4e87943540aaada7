"""What the queries of the invariants read: in proportion to the rows of a merchant, not to their square.

An audit that is quadratic takes hours on real books. PostgreSQL likes to compare each row with each if it expects few
of them: in tables that were never analyzed, as after a restore, and for a merchant who came after the tables were.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from kasuwa.ledger.invariants import INVARIANTS
from tests.merchant_client import MerchantClient
from tests.methods.disburse.test_http_bulk import order, wait_until_nothing_is_held
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.payment.test_http_split import beneficiary
from tests.running import Deployment, Deployments

# How many rows a query may read for each order or payment. One has a transaction, up to ten postings, events and their
# deliveries, and some queries read a table several times.
MOST_ROWS_EACH = 100


def send_transfers(shop: MerchantClient) -> int:
    shop.bulk([order(f"order {n}", amount="100.00") for n in range(1000)])
    wait_until_nothing_is_held(shop)
    return 1000


def leave_transfers_open(shop: MerchantClient) -> int:
    shop.bulk([order(f"order {n}", amount="100.00", accountnumber="0000000900") for n in range(1000)])
    return 1000


def take_payments(shop: MerchantClient) -> int:
    client, ref_code = PaymentClient(shop), beneficiary(shop)
    token = client.token()
    for _ in range(250):
        paid = client.charge_token(token, split=[{"ref_code": ref_code, "share": "10.00"}])
        client.refund(paid["txnRef"], "5.00")
    return 250


FILLS = (send_transfers, leave_transfers_open, take_payments)


@pytest.fixture(scope="module", params=["never analyzed", "analyzed before"])
def audited(request: pytest.FixtureRequest, deployments: Deployments) -> Iterator[Deployment]:
    """A database of its own: what other tests leave would be read too."""
    with deployments.fresh(str(request.param).replace(" ", "_")) as running:
        if request.param == "analyzed before":
            for fill in FILLS:
                fill(running.open_shop())
            running.fetch("analyze")
        yield running


def rows_read(plan: dict[str, Any]) -> float:
    """Returns how many rows the nodes of a plan read, kept or not."""
    dropped = sum(plan.get(f"Rows Removed by {reason}", 0) for reason in ("Filter", "Join Filter", "Index Recheck"))
    here = (plan["Actual Rows"] + dropped) * plan["Actual Loops"]
    return float(here + sum(rows_read(part) for part in plan.get("Plans", [])))


@pytest.mark.parametrize("fill", FILLS)
def test_no_invariant_compares_each_row_with_each(fill: Callable[[MerchantClient], int], audited: Deployment) -> None:
    shop = audited.open_shop()
    count = fill(shop)
    [[merchant_id]] = audited.fetch("select merchant_id from merchant where mid = $1", shop.mid)
    read: dict[str, float] = {}
    for invariant in INVARIANTS:
        [[text]] = audited.fetch(f"explain (analyze, timing off, format json) {invariant.query}", [merchant_id])
        [explained] = msgspec.json.decode(text)
        read[invariant.description] = rows_read(explained["Plan"])
    assert {description: rows for description, rows in read.items() if rows > MOST_ROWS_EACH * count} == {}
    assert max(read.values()) > count
    assert audited.broken_invariants([shop.mid]) == []
