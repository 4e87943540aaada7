"""How the invariants are checked: they read in proportion to the rows of a merchant, not to their square.

An audit that is quadratic takes hours on real books. The database here was analyzed before the merchant came, so
PostgreSQL expects few rows of it.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from kasuwa.audit.invariants.invariant import ALL_MERCHANTS, PREPARE_AUDIT
from kasuwa.audit.invariants.ledger import INVARIANTS
from tests.merchant_client import MerchantClient
from tests.methods.disburse.test_http_bulk import order, wait_until_nothing_is_held
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.payment.test_http_split import beneficiary
from tests.running import Deployment, Deployments

# How many rows a query may read for each order or payment. One has a transaction, up to ten postings, events and their
# deliveries, and some queries read a table several times.
MOST_ROWS_EACH = 100
# What a nested loop may run for each row: what takes the row itself apart.
OF_THE_ROW = {"Function Scan", "Values Scan"}
# One invariant compares merchants with each other. People have no merchant_id: all are read once, and they are few.
OF_ALL_MERCHANTS = {"suspense_decision", "approval", "console_user"}


# More than MOST_ROWS_EACH of each, or comparing each with each would be within that bound.
TRANSFERS, PAYMENTS = 1000, 160
# Those of the merchants that the database was analyzed with.
PAYMENTS_BEFORE = 50


def send_transfers(shop: MerchantClient, count: int = TRANSFERS) -> int:
    shop.bulk([order(f"order {n}", amount="100.00") for n in range(count)])
    wait_until_nothing_is_held(shop)
    return count


def leave_transfers_open(shop: MerchantClient, count: int = TRANSFERS) -> int:
    shop.bulk([order(f"order {n}", amount="100.00", accountnumber="0000000900") for n in range(count)])
    return count


def take_payments(shop: MerchantClient, count: int = PAYMENTS) -> int:
    client, ref_code = PaymentClient(shop), beneficiary(shop)
    token = client.token()
    for _ in range(count):
        paid = client.charge_token(token, split=[{"ref_code": ref_code, "share": "10.00"}])
        client.refund(paid["txnRef"], "5.00")
    return count


FILLS = (send_transfers, leave_transfers_open, take_payments)


@pytest.fixture(scope="module")
def audited(deployments: Deployments) -> Iterator[Deployment]:
    """A database of its own: what other tests leave would be read too."""
    with deployments.fresh("audited", KASUWA_CONSOLE="off") as running:
        send_transfers(running.open_shop())
        leave_transfers_open(running.open_shop())
        take_payments(running.open_shop(), PAYMENTS_BEFORE)
        running.fetch("analyze")
        yield running


def explain(deployment: Deployment, options: str, merchant_id: int) -> dict[str, dict[str, Any]]:
    """Returns the plan of every invariant."""

    async def look(connection: Any) -> dict[str, dict[str, Any]]:
        plans = {}
        async with connection.transaction():
            await connection.execute(PREPARE_AUDIT)
            for invariant in INVARIANTS:
                query = f"explain ({options}, format json) {invariant.query.replace(ALL_MERCHANTS, '')}"
                [explained] = msgspec.json.decode(await connection.fetchval(query, [merchant_id]))
                plans[invariant.description] = explained["Plan"]
        return plans

    plans: dict[str, dict[str, Any]] = deployment.run_on_connection(look)
    return plans


def nodes_of(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes_of(part)


def rows_read(node: dict[str, Any]) -> float:
    """Returns how many rows a node reads, kept or not."""
    dropped = sum(node.get(f"Rows Removed by {reason}", 0) for reason in ("Filter", "Join Filter", "Index Recheck"))
    return float((node["Actual Rows"] + dropped) * node["Actual Loops"])


def is_of_the_merchant(scan: dict[str, Any]) -> bool:
    conditions = (scan.get(kind, "") for kind in ("Index Cond", "Recheck Cond", "Filter"))
    return any("merchant_id = ANY" in condition for condition in conditions)


def test_every_invariant_reads_the_rows_of_a_merchant_and_joins_them(audited: Deployment) -> None:
    for description, plan in explain(audited, "costs off", 1).items():
        for node in nodes_of(plan):
            if "Relation Name" in node and node["Relation Name"] not in OF_ALL_MERCHANTS:
                assert is_of_the_merchant(node), (description, node)
            assert node["Node Type"] != "Merge Join", (description, node)
            if node["Node Type"] == "Nested Loop":
                assert node["Plans"][1]["Node Type"] in OF_THE_ROW, (description, node)


@pytest.mark.parametrize("fill", FILLS)
def test_no_invariant_compares_each_row_with_each(fill: Callable[[MerchantClient], int], audited: Deployment) -> None:
    shop = audited.open_shop()
    count = fill(shop)
    [[merchant_id]] = audited.fetch("select merchant_id from merchant where mid = $1", shop.mid)
    plans = explain(audited, "analyze, timing off", merchant_id)
    read = {description: sum(map(rows_read, nodes_of(plan))) for description, plan in plans.items()}
    assert {description: rows for description, rows in read.items() if rows > MOST_ROWS_EACH * count} == {}
    assert max(read.values()) > count
    assert audited.broken_invariants([shop.mid]) == []
