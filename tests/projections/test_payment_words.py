"""Words of payments and transfers: of several merchants in one step, each its own."""

import asyncio
import json
from typing import Any

import asyncpg

from kasuwa.core.references import row_key
from kasuwa.postgres import migrate
from kasuwa.projections import payment_words
from kasuwa.projections.payment_words import EndedHashers, PaymentWords, index_next
from tests.running import Deployments

KEY = bytes(32)
MERCHANTS = (1, 2, 3)
# Of each merchant. Those of the first two fill more than a step.
EVENTS = payment_words.EVENTS_PER_STEP * 2 // 3
STATES = """
    insert into merchant_state (key, merchant_id, last_event_seq) select sha224(m::text::bytea), m, $2
    from unnest($1::bigint[]) m
"""
# The references are the same at every merchant. Every second event is of a payment, every tenth of something else.
ENDED = """
    insert into event (merchant_id, seq, reference, object, object_seq, kind, payload, at, hash)
    select m, n, 'T' || n, 'T' || n, 1,
        case when n % 10 = 0 then 'refund' when n % 2 = 0 then 'payment' else 'transfer' end, '{}', now(), ''
    from unnest($1::bigint[]) m, generate_series(1, $2) n
"""
TRANSACTIONS = """
    insert into transaction (key, merchant_id, kind, txn_ref, order_ref, currency, amount, fee, vat, duty, status,
        message, digest, detail, trail, created_at)
    select sha224((m || ':' || n)::bytea), m, case when n % 2 = 0 then 'payment' else 'transfer' end, 'T' || n,
        'o' || n, 'NGN', 1000 * m + n, 0, 0, 0, 'successful', '', '', '{}', '[]', now()
    from unnest($1::bigint[]) m, generate_series(1, $2) n
"""
PAYMENT = """
    insert into payment (key, merchant_id, txn_ref, method, charged, settled, expires_at, detail, stage, auth, session,
        tries, received, refunded, refunding, refunds, facts)
    values ($1, $2, $3, 'card', 0, 0, now(), '{}', '', '', '', 0, 0, 0, 0, 0, $4)
"""
WORDS = "select merchant_id, word, event_seq, txn_ref from payment_word order by merchant_id, event_seq"


async def fill(connection: Any) -> None:
    """Gives a new database merchants with payments and transfers that ended, without their words."""
    await migrate.migrate(connection, "test", KEY)
    await connection.execute(STATES, MERCHANTS, EVENTS)
    await connection.execute(ENDED, MERCHANTS, EVENTS)
    await connection.execute(TRANSACTIONS, MERCHANTS, EVENTS)
    references = [(one, f"T{n}") for one in MERCHANTS for n in range(2, EVENTS + 1, 2)]
    rows = [(row_key(one, "payment", name), one, name, json.dumps({"of": one})) for one, name in references]
    await connection.executemany(PAYMENT, rows)


def make_word(kind: str, merchant_id: int, txn_ref: str, amount: int) -> bytes:
    return f"{kind} {merchant_id} {txn_ref} {amount}".encode()


def hash_payment(
    merchant_id: int, txn_ref: str, detail: str, sealed: bytes | None, facts: str, amount: int
) -> set[bytes]:
    assert json.loads(facts) == {"of": merchant_id}
    return {make_word("payment", merchant_id, txn_ref, amount)}


def hash_transfer(merchant_id: int, txn_ref: str, detail: str, sealed: bytes | None, amount: int) -> set[bytes]:
    return {make_word("transfer", merchant_id, txn_ref, amount)}


def test_the_words_of_several_merchants_are_added_together(deployments: Deployments) -> None:
    dsn, hashers = deployments.new_database("words"), EndedHashers(hash_payment, hash_transfer)

    async def work() -> list[tuple[Any, ...]]:
        connection = await asyncpg.connect(dsn)
        try:
            await fill(connection)
            assert await index_next(connection, hashers)
            counts = await connection.fetch("select merchant_id, event_seq from payment_word_mark order by merchant_id")
            assert [tuple(row) for row in counts] == [(1, EVENTS), (2, payment_words.EVENTS_PER_STEP - EVENTS)]
            await PaymentWords(dsn, hashers).index_all()
            assert not await index_next(connection, hashers)
            return [tuple(row) for row in await connection.fetch(WORDS)]
        finally:
            await connection.close()

    assert asyncio.run(work()) == [
        (one, make_word("transfer" if n % 2 else "payment", one, f"T{n}", 1000 * one + n), n, f"T{n}")
        for one in MERCHANTS
        for n in range(1, EVENTS + 1)
        if n % 10
    ]
