"""Pages of the list of transactions are read in the order of an index, also where row-level security is on."""

import re
from typing import Any

import pytest

from kasuwa.methods.transactions import store
from kasuwa.postgres.connections import APPLICATION_ROLE
from tests.running import Deployment

# A plan sorts, or reads without an index, only if it cannot do otherwise.
ONLY_IF_NEEDED = """
    set local plan_cache_mode = force_generic_plan; set local enable_sort = off;
    set local enable_incremental_sort = off; set local enable_seqscan = off; set local enable_bitmapscan = off
"""
# The index whose order the lines of each page have.
INDEXES = {
    "METHOD_PAGE": "transaction_method",
    "CUSTOMER_PAGE": "transaction_customer",
    "FOREIGN_PAGE": "transaction_foreign",
    "LARGE_PAGE": "transaction_large",
}


def plan_of(deployment: Deployment, statement: str, role: str) -> str:
    """Returns the plan of a statement for any values, as a role sees it."""
    count = max(int(number) for number in re.findall(r"\$([0-9]+)", statement))

    async def explain(connection: Any) -> str:
        async with connection.transaction():
            await connection.execute(f"{ONLY_IF_NEEDED}; set local role {role}; prepare listed as {statement}")
            rows = await connection.fetch(f"explain execute listed ({', '.join(['null'] * count)})")
            await connection.execute("deallocate listed")
        return "\n".join(row[0] for row in rows)

    return deployment.run_on_connection(explain)


def is_in_order(plan: str, index: str) -> bool:
    return f"using {index} on" in plan and re.search(r"->  (Incremental )?Sort\b", plan) is None


@pytest.mark.parametrize("name", INDEXES)
def test_a_page_is_read_in_the_order_of_its_index(deployment: Deployment, name: str) -> None:
    plan = plan_of(deployment, getattr(store, name).of_many, APPLICATION_ROLE)
    assert is_in_order(plan, INDEXES[name]), plan


def test_a_page_is_not_read_so_if_the_condition_alone_names_the_value(deployment: Deployment) -> None:
    """Control: with row-level security PostgreSQL concludes nothing from the condition."""
    other = store.METHOD_PAGE.of_many.replace(f"order by {store.METHOD} desc, ", "order by ")
    assert other != store.METHOD_PAGE.of_many
    assert not is_in_order(plan_of(deployment, other, APPLICATION_ROLE), INDEXES["METHOD_PAGE"])
