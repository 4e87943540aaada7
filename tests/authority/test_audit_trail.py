"""The audit trail is a hash chain: entries of simultaneous writers are linked one after the other, and a changed entry
is found.
"""

import asyncio
from typing import Any

import asyncpg
import pytest

from kasuwa.audit.invariants.ledger import check_invariants
from kasuwa.authority import audit_trail
from kasuwa.core.decision import AuditEntry
from kasuwa.postgres import migrate
from tests.running import NEWEST, Deployments

KEY = bytes(32)
CHAIN = "select seq, actor, action, subject, after, hash from audit_entry where merchant_id = $1 order by seq"
BROKEN = "merchant {}: the audit trail is a chain without a gap: entry {}"


@pytest.fixture(scope="module")
def dsn(deployments: Deployments) -> str:
    """A database of this file's own: some of its tests leave a broken chain behind."""
    cluster = deployments.cluster(NEWEST)

    async def create() -> None:
        connection = await asyncpg.connect(cluster.dsn)
        await connection.execute("create database trail")
        await connection.close()
        ready = await asyncpg.connect(cluster.dsn_for("trail"))
        await migrate.migrate(ready, "test", KEY)
        await ready.close()

    asyncio.run(create())
    return cluster.dsn_for("trail")


def run(dsn: str, work: Any) -> Any:
    async def connected() -> Any:
        connection = await asyncpg.connect(dsn)
        try:
            return await work(connection)
        finally:
            await connection.close()

    return asyncio.run(connected())


def entry(n: int) -> AuditEntry:
    return AuditEntry("ada", "card number shown", f"KSW|GVC|{n}|x", after=f"₦ {n}")


def write(dsn: str, chain: int, count: int) -> None:
    async def work(connection: Any) -> None:
        for n in range(count):
            await audit_trail.append_entry(connection, chain, entry(n))

    run(dsn, work)


def test_a_chain_is_numbered_and_each_line_holds_the_one_before(dsn: str) -> None:
    write(dsn, 11, 3)
    lines = run(dsn, lambda connection: connection.fetch(CHAIN, 11))
    assert [(line["seq"], line["subject"]) for line in lines] == [(n + 1, f"KSW|GVC|{n}|x") for n in range(3)]
    assert len({line["hash"] for line in lines}) == 3
    assert run(dsn, lambda connection: check_invariants(connection, [11])) == []


def test_the_same_audit_entry_in_another_chain_has_another_hash(dsn: str) -> None:
    write(dsn, 12, 1)
    write(dsn, 13, 1)
    hashes = run(dsn, lambda connection: connection.fetch("select hash from audit_entry where merchant_id in (12, 13)"))
    assert hashes[0] != hashes[1]


def test_many_lines_of_one_statement_are_linked_one_by_one(dsn: str) -> None:
    """The writer inserts the entries of a batch in one statement."""
    insert = """
        with w as (insert into audit_entry (merchant_id, actor, address, action, subject, before, after)
            select 14, 'ada', '', 'x', 'about ' || n, '', '' from generate_series(1, 20) n) select 1
    """
    run(dsn, lambda connection: connection.execute(insert))
    assert [line["seq"] for line in run(dsn, lambda connection: connection.fetch(CHAIN, 14))] == list(range(1, 21))
    assert run(dsn, lambda connection: check_invariants(connection, [14])) == []


def test_those_who_write_at_once_wait_for_each_other(dsn: str) -> None:
    async def work(_: Any) -> None:
        connections = [await asyncpg.connect(dsn) for _ in range(8)]

        async def write_some(connection: Any) -> None:
            for n in range(10):
                await audit_trail.append_entry(connection, 15, entry(n))

        await asyncio.gather(*map(write_some, connections))
        for connection in connections:
            await connection.close()

    run(dsn, work)
    assert len(run(dsn, lambda connection: connection.fetch(CHAIN, 15))) == 80
    assert run(dsn, lambda connection: check_invariants(connection, [15])) == []


@pytest.mark.parametrize(
    ("chain", "change", "broken"),
    [
        (21, "update audit_entry set after = 'nothing' where merchant_id = 21 and seq = 2", [2]),
        (22, "update audit_entry set actor = 'eve' where merchant_id = 22 and seq = 1", [1]),
        (23, "update audit_entry set at = at + interval '1 microsecond' where merchant_id = 23 and seq = 3", [3]),
        # Text moved from one field to the next. The lengths are hashed too, so the hash differs.
        (24, "update audit_entry set actor = 'ad', address = 'a' where merchant_id = 24 and seq = 1", [1]),
        (25, "delete from audit_entry where merchant_id = 25 and seq = 2", [3]),
        (26, "update audit_entry set hash = sha256('x') where merchant_id = 26 and seq = 1", [1, 2]),
    ],
)
def test_a_line_that_was_changed_behind_the_guards_is_found(
    dsn: str, chain: int, change: str, broken: list[int]
) -> None:
    write(dsn, chain, 3)

    async def work(connection: Any) -> list[str]:
        await connection.execute("alter table audit_entry disable trigger audit_entry_append_only")
        await connection.execute(change)
        await connection.execute("alter table audit_entry enable trigger audit_entry_append_only")
        return await check_invariants(connection, [chain])

    assert run(dsn, work) == [BROKEN.format(chain, seq) for seq in broken]
