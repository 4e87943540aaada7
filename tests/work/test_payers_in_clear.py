"""Personal data of payers that earlier versions stored in clear: they are read, and encrypted in the background."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import asyncpg
import msgspec
import pytest

from kasuwa.clear_tables import LARGE_CLEAR_TABLES
from kasuwa.commands.keys import describe_clear
from kasuwa.core.sealed_payers import payment_payer_aad
from kasuwa.core.vault import Vault
from kasuwa.db import key_moves, rows_in_clear
from kasuwa.db.migrate import migrate, open_vault
from kasuwa.db.rows_in_clear import ClearTable
from kasuwa.methods.payment.model import Payment, payment_key
from kasuwa.methods.payment.payer_model import read_detail
from kasuwa.sealed_columns import SEALED_PLACES, make_client_indexer
from kasuwa.work.key_rotation import KeyRotation, seal_clear_window
from tests.db.test_vault_keys import KEY
from tests.merchant_client import MerchantClient
from tests.methods.payment.payment_client import PaymentClient
from tests.running import Deployment, Deployments
from tests.sealed_rows import read_vault, seal_clear_rows

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
# All but transactions: these have a table of payers' data of their own.
TABLES = [clear for clear in LARGE_CLEAR_TABLES if "payer_sealed" in clear.writes]
[PAYMENTS] = [clear for clear in TABLES if clear.table == "payment"]
FIELDS = {
    "fullname": "Ada Obi",
    "email": "ada@example.com",
    "ip": "192.0.2.7",
    "fingerprint": "f0e1",
    "meta": '{"basket":7}',
    "payer": "08031234567",
    "payer_account": "0123456789",
}
PURPOSE = {"purpose": "loan-repayment", "reference": "LN1", "meta": '{"a":1}', "ip": "192.0.2.8", "fingerprint": "a9"}


# --- in a database of its own ---------------------------------------------------------------------------------------


async def open_database(dsn: str) -> tuple[Any, Vault]:
    connection = await asyncpg.connect(dsn)
    await migrate(connection, "test", KEY)
    for merchant_id in (1, 2):
        await connection.execute(
            "insert into merchant (merchant_id, mid, name) values ($1, $2, 'Ada')",
            *(merchant_id, f"GP000000{merchant_id}"),
        )
        await connection.execute("insert into merchant_state (key, merchant_id) values ('', $1)", merchant_id)
    vault = await open_vault(connection, KEY)
    # The pause between two passes is half of it.
    await connection.execute("update deployment set key_update_seconds = 1")
    await connection.execute(
        "update key_move set begins_at = now(), finished_at = null where purpose = $1", rows_in_clear.PURPOSE
    )
    return connection, vault


async def store_payment(
    connection: Any, merchant_id: int, number: int, detail: dict[str, Any], sealed: bytes | None = None
) -> str:
    txn_ref = f"GP{number}"
    payment = Payment(
        key=payment_key(merchant_id, txn_ref),
        merchant_id=merchant_id,
        txn_ref=txn_ref,
        method="card",
        charged=100,
        settled=100,
        expires_at=NOW,
        detail=msgspec.json.encode(detail).decode(),
        stage="done",
        auth="",
        session="",
        tries=0,
        sealed_card=None,
        token=None,
        received=0,
        refunded=0,
        refunding=0,
        refunds=0,
        facts="{}",
        payer_sealed=sealed,
    )
    columns = Payment.__struct_fields__
    places = ", ".join(f"${place}" for place in range(1, len(columns) + 1))
    await connection.execute(
        f"insert into payment ({', '.join(columns)}) values ({places})", *msgspec.structs.astuple(payment)
    )
    return txn_ref


async def read_payments(connection: Any) -> list[Payment]:
    columns = ", ".join(Payment.__struct_fields__)
    return [Payment(*row) for row in await connection.fetch(f"select {columns} from payment order by txn_ref, key")]


def make_rotation(dsn: str, connection: Any, vault: Vault) -> KeyRotation:
    return KeyRotation(dsn, connection, vault, SEALED_PLACES, make_client_indexer(vault), LARGE_CLEAR_TABLES)


def test_the_worker_encrypts_what_is_in_clear_and_goes_on_where_it_was(
    deployments: Deployments, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_moves, "WINDOW", 2)

    async def work(dsn: str) -> None:
        connection, vault = await open_database(dsn)
        for merchant_id in (1, 2):
            for number in range(3):
                await store_payment(connection, merchant_id, number, {**FIELDS, "country": "NG", "errand": PURPOSE})
        done, position = await seal_clear_window(PAYMENTS, vault, connection, [])
        await key_moves.save_progress(
            connection, rows_in_clear.PURPOSE, rows_in_clear.VERSION, PAYMENTS.table, position, done
        )
        assert (
            done.rows,
            [payment.payer_sealed is None for payment in await read_payments(connection)].count(False),
        ) == (
            2,
            2,
        )
        before = [read_detail(payment, vault.unseal) for payment in await read_payments(connection)]
        await make_rotation(dsn, connection, vault).run_once()
        payments = await read_payments(connection)
        assert [read_detail(payment, vault.unseal) for payment in payments] == before
        assert {getattr(before[0], name) for name in FIELDS} == set(FIELDS.values())
        assert msgspec.to_builtins(before[0].purpose) == PURPOSE
        assert {payment.detail for payment in payments} == {
            '{"country":"NG","errand":{"purpose":"loan-repayment","reference":"LN1"}}'
        }
        state = await rows_in_clear.read_state(connection)
        assert (state.rewritten, state.unreadable, state.finished_at is None) == (6, 0, False)
        assert not await rows_in_clear.is_due(connection)
        # Writers drop the rows that they have in memory.
        assert await connection.fetchval("select min(version) from merchant_state where merchant_id < 3") > 0
        await connection.close()

    asyncio.run(work(deployments.new_database("payers_in_clear")))


def test_a_field_in_clear_replaces_the_encrypted_one_and_others_stay(deployments: Deployments) -> None:
    async def work(dsn: str) -> None:
        connection, vault = await open_database(dsn)
        plain = msgspec.json.encode({"fullname": "Ada Obi", "email": "ada@example.com", "purpose": {"ip": "192.0.2.8"}})
        sealed = vault.seal(1, payment_payer_aad("GP1"), plain, bytes(range(12)))
        purpose = {"purpose": "loan-repayment", "reference": "LN1", "meta": '{"a":1}'}
        await store_payment(connection, 1, 1, {"fullname": "Bola Ade", "errand": purpose}, sealed)
        await store_payment(connection, 1, 2, {"country": "GH"})
        await store_payment(connection, 1, 3, {"fullname": "Bola Ade"}, b"damaged and not a ciphertext")
        [before, *_] = await read_payments(connection)
        read = read_detail(before, vault.unseal)
        assert (read.fullname, read.email) == ("Bola Ade", "ada@example.com")
        await make_rotation(dsn, connection, vault).run_once()
        [merged, untouched, damaged] = await read_payments(connection)
        assert read_detail(merged, vault.unseal) == read
        assert (read.purpose is not None and (read.purpose.meta, read.purpose.ip)) == ('{"a":1}', "192.0.2.8")
        assert "Bola" not in merged.detail
        assert (untouched.detail, untouched.payer_sealed) == ('{"country":"GH"}', None)
        assert (damaged.detail, damaged.payer_sealed) == ('{"fullname":"Bola Ade"}', b"damaged and not a ciphertext")
        assert (await rows_in_clear.read_state(connection)).unreadable == 1
        await connection.close()

    asyncio.run(work(deployments.new_database("payers_in_clear_twice")))


def test_nothing_is_encrypted_while_the_version_before_may_run(deployments: Deployments) -> None:
    async def work(dsn: str) -> None:
        connection, vault = await open_database(dsn)
        await store_payment(connection, 1, 1, FIELDS)
        await connection.execute("update key_move set begins_at = now() + interval '1 hour' where purpose = 'clear'")
        await make_rotation(dsn, connection, vault).run_once()
        assert "some are in clear" in describe_clear(await rows_in_clear.read_state(connection))
        [payment] = await read_payments(connection)
        assert (msgspec.json.decode(payment.detail), payment.payer_sealed) == (FIELDS, None)
        await connection.close()

    asyncio.run(work(deployments.new_database("payers_in_clear_early")))


# --- while the service runs -----------------------------------------------------------------------------------------


async def store_in_clear(clear: ClearTable, vault: Vault, mid: str, connection: Any) -> None:
    """Makes a merchant's rows of a table as an earlier version wrote them."""
    [column] = [
        column for column in SEALED_PLACES.columns if (column.table, column.column) == (clear.table, "payer_sealed")
    ]
    rows = await connection.fetch(
        f"select t.merchant_id, t.key, t.detail::text, t.payer_sealed, t.{column.named_by[0]} from {column.table} t"
        " join merchant m using (merchant_id) where t.payer_sealed is not null and m.mid = $1",
        mid,
    )
    for merchant_id, key, text, sealed, name in rows:
        detail = msgspec.json.decode(text)
        payer = msgspec.json.decode(vault.unseal(merchant_id, column.place(name), sealed))
        (detail["detail"] if column.table == "payment_plan" else detail).update(payer)
        await connection.execute(
            f"update {column.table} set detail = $3::text::json, payer_sealed = null"
            " where merchant_id = $1 and key = $2",
            *(merchant_id, key, msgspec.json.encode(detail).decode()),
        )
        await connection.execute(key_moves.LOCK_MERCHANT, merchant_id)


DETAILS = "select p.detail::text from payment p join merchant m using (merchant_id) where m.mid = $1"


def test_rows_in_clear_are_shown_and_stay_the_same_when_they_are_encrypted(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop(now="2026-01-05T09:30:00+01:00")
    payments = PaymentClient(shop)
    paid = payments.paid(meta={"basket": 7}, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    opened = payments.pay(action="checkout", amount="1500.00", user={"firstname": "Bola", "email": "bola@example.com"})

    def show() -> list[Any]:
        listed = shop.put("resources", inquire="recurrent").body
        return [payments.verify(paid["txnRef"]), payments.verify(opened["txnRef"]), listed]

    shown, vault = show(), asyncio.run(read_vault(deployment))
    assert [text for text in ("Ada Obi", "basket", "bola@example.com") if text not in str(shown)] == []
    for clear in TABLES:
        deployment.run_on_connection(partial(store_in_clear, clear, vault, shop.mid))
    assert "ada@example.com" in str(deployment.fetch(DETAILS, shop.mid))
    assert show() == shown
    assert all(deployment.run_on_connection(partial(seal_clear_rows, clear, vault)) for clear in TABLES)
    assert "ada@example.com" not in str(deployment.fetch(DETAILS, shop.mid))
    assert show() == shown
