"""No table is forgotten by worlds: one with a merchant is in a world, or is named with the reason why it is not.

Columns are compared too: each that has a row key or a ciphertext must be known to who writes a world.
"""

from kasuwa.core.row_codes import CodedTable
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.methods.sealed_columns import SEALED_PLACES
from kasuwa.sandbox.worlds.tables import CROSSINGS, JOB_KEY_COLUMNS, KEY_COLUMNS, TABLES_LEFT_OUT, WORLD_TABLES
from tests.running import NEWEST, Deployments

WITH_MERCHANT = """
    select distinct c.relname::text from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname in ('merchant_id', 'mid')
"""
BYTES = """
    select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
        and not a.attisdropped and a.attnum > 0
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.atttypid = 'bytea'::regtype
        and c.relname = any($1::text[])
"""
# Bytes of a world that are neither a key of a row nor a ciphertext, and why they are the same in every copy.
SAME_IN_A_COPY = {
    **dict.fromkeys(
        ("merchant_key.verifier", "signing_secret.verifier", "webhook_endpoint.verifier"),
        "of the key, not of its books",
    ),
    "webhook_endpoint.previous_verifier": "of the secret, not of its books",
    **dict.fromkeys(
        ("transaction.digest", "idempotency_record.request_digest"), "of the request, which names no merchant"
    ),
    **dict.fromkeys(
        ("customer.email_hash", "customer.phone_hash", "client.bvn_hash", "client.phone_hash", "client.email_hash"),
        "made with the number of the first books",
    ),
    **dict.fromkeys(("cashcode.pin", "payment_word.word"), "made with the number of the first books"),
}
# Computed anew.
CHAINED = {"posting.hash", "event.hash", "merchant_state.posting_head", "merchant_state.event_head"}
# A key and a digest, packed.
PACKED = {"scheduled_job.idempotency_claim"}


def test_every_table_with_a_merchant_is_in_a_world_or_named_with_its_reason(deployments: Deployments) -> None:
    with_merchant = {row[0] for row in deployments.for_version(NEWEST).fetch(WITH_MERCHANT)}
    named = [*WORLD_TABLES, *CROSSINGS, *TABLES_LEFT_OUT]
    assert len(named) == len(set(named))
    assert set(named) == with_merchant
    assert all({**CROSSINGS, **TABLES_LEFT_OUT}.values())


def test_every_column_of_bytes_is_moved_sealed_chained_or_named(deployments: Deployments) -> None:
    stored = {row[0] for row in deployments.for_version(NEWEST).fetch(BYTES, list(WORLD_TABLES))}
    sealed = {f"{place.table}.{place.column}" for place in SEALED_PLACES.columns if not place.json_field}
    moved = {f"{table}.{column}" for table, columns in KEY_COLUMNS.items() for column in columns}
    moved |= {f"{table}.{column}" for table, (column, _) in JOB_KEY_COLUMNS.items()}
    keys = {column for column in stored if column.endswith(".key")}
    codes = {column for column in stored if column.endswith(".row_code")}
    assert stored - sealed - moved - keys - codes - CHAINED - PACKED == set(SAME_IN_A_COPY)


def test_every_coded_table_of_a_world_gets_codes() -> None:
    coded: dict[str, CodedTable] = {table.table: table for table in CODED_TABLES}
    assert {"transaction", "payment", "scheduled_job", "merchant_key", "token_index"} <= coded.keys() & set(
        WORLD_TABLES
    )
