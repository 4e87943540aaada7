"""Books of a version without chains get them while requests run, and the writer goes on from there."""

import asyncio
from collections.abc import Callable
from typing import Any

import asyncpg

from kasuwa.db import chains, migrate
from kasuwa.ledger.chain_audit import find_chain_violations
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

KEY = bytes(32)
VERSION = 31
# Books as the version before wrote them: groups of two postings, and an event for each.
OLD_ROWS = (
    "insert into merchant (merchant_id, mid, name) select n, 'GP000000' || n, 'x' from generate_series(1, 3) n",
    "insert into merchant_state (key, merchant_id, last_posting_seq, last_event_seq) select sha224(n::text::bytea), n, "
    "case n when 3 then 0 else 1000 * n * 3 end, case n when 3 then 0 else 1500 * n end from generate_series(1, 3) n",
    "insert into posting select m, n, n - (n + 1) % 2, 'r' || (n + 1) / 2, 'wallet:main:NGN', 'rail:bank:NGN', n, -n,"
    " n, 'transfer', timestamptz '2026-01-05 09:30:00Z' + (n + 1) / 2 * interval '1 second'"
    " from generate_series(1, 2) m, generate_series(1, 3000 * m) n",
    "insert into event select m, n, 'r' || n, 'r' || n, 1, 'transfer.successful', '{}', now()"
    " from generate_series(1, 2) m, generate_series(1, 1500 * m) n",
)
BEHIND = "select merchant_id from merchant_state where chained_posting_seq <> last_posting_seq order by 1"
ADD_GROUP = """
    with p as (insert into posting (merchant_id, seq, group_seq, reference, debit, credit, amount, debit_after,
        credit_after, kind, at) values (1, $1, $1, 'old', 'a:b:NGN', 'c:d:NGN', 1, 0, 0, 'x', now()))
    update merchant_state set last_posting_seq = $1, version = version + 1 where merchant_id = 1
"""


async def upgrade(dsn: str) -> list[Any]:
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(
            "create table migration (version bigint primary key, name text not null,"
            " applied_at timestamptz not null default now())"
        )
        for migration in migrate.known_migrations():
            if migration.version < VERSION:
                await migrate.apply_migration(connection, migration)
        for statement in OLD_ROWS:
            await connection.execute(statement)
        await migrate.migrate(connection, "test", KEY)
        before = [row[0] for row in await connection.fetch(BEHIND)]
        right = [await find_chain_violations(connection)]
        caught_up = [await chains.catch_up_all(connection), await chains.catch_up_all(connection)]
        right.append(await find_chain_violations(connection))
        # A process of the version before still serves, and writes a group without a value.
        await connection.execute(ADD_GROUP, 3001)
        right.append(await find_chain_violations(connection))
        caught_up.append(await chains.catch_up_all(connection))
        right.append(await find_chain_violations(connection))
        marks = await connection.fetchval("select count(*) from chain_checkpoint where merchant_id = 1")
        await connection.execute("set session_replication_role = replica")
        await connection.execute("update posting set amount = 7 where merchant_id = 2 and seq = 1111")
        changed = await find_chain_violations(connection)
        return [before, right, caught_up, marks, changed]
    finally:
        await connection.close()


def test_books_of_the_version_before_are_chained_and_a_change_of_them_is_found(deployments: Deployments) -> None:
    dsn = deployments.new_database("unchained")
    before, right, caught_up, marks, changed = asyncio.run(upgrade(dsn))
    assert before == [1, 2]
    assert right == [[], [], [], []]
    assert caught_up == [2, 0, 1]
    assert marks > 3000 // chains.MARK_EVERY
    place = "group 1025 (r513) to group 1279 (r640)"
    assert changed == [(2, "every posting group extends its merchant's chain", place)]


def test_the_writer_goes_on_where_the_chain_was_completed(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """The rows of a merchant are made those of a version without chains, then requests and the completion run."""
    shop = open_shop()
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)

    def fund() -> None:
        assert shop.put("sandbox", action="fund_wallet", currency="NGN", amount="5.00").body["status"] == 200

    async def unchain(connection: Any) -> None:
        async with connection.transaction():
            await connection.execute("set local session_replication_role = replica")
            await connection.execute("update posting set hash = null where merchant_id = $1", merchant_id)
            await connection.execute(
                "update merchant_state set posting_head = $2, chained_posting_seq = 0, version = version + 1"
                " where merchant_id = $1",
                merchant_id,
                bytes(32),
            )

    stored = "select seq, hash is not null from posting where merchant_id = $1 order by seq"
    fund()
    deployment.run_on_connection(unchain)
    fund()
    assert [row[1] for row in deployment.fetch(stored, merchant_id)] == [False] * 4
    deployment.run_on_connection(lambda connection: chains.catch_up_merchant(connection, merchant_id))
    fund()
    assert [row[1] for row in deployment.fetch(stored, merchant_id)] == [False] * 4 + [True]


def test_rows_are_chained_while_several_merchants_write_at_once(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """Bulks, refusals and repeats of several merchants share batches. Their books are audited after the test."""
    shops = [open_shop() for _ in range(3)]
    orders = [
        {"amount": "5.00", "bankcode": "058", "accountnumber": account, "orderRef": f"b{n}"}
        for n, account in enumerate(("0000000000", "0000005100", "0000000000"))
    ]
    for shop in shops:
        assert shop.put("disburse", action="transfer", type="bulk", data=orders).body["status"] == 202
        assert shop.put("sandbox", action="advance", hours=1).body["status"] == 200
    heads = deployment.fetch(
        "select s.posting_head = p.hash, s.chained_posting_seq = s.last_posting_seq, s.event_head = e.hash,"
        " s.chained_event_seq = s.last_event_seq from merchant m join merchant_state s using (merchant_id)"
        " join posting p on p.merchant_id = m.merchant_id and p.seq = s.last_posting_seq"
        " join event e on e.merchant_id = m.merchant_id and e.seq = s.last_event_seq where m.mid = any($1)",
        [shop.mid for shop in shops],
    )
    assert [tuple(row) for row in heads] == [(True, True, True, True)] * 3
