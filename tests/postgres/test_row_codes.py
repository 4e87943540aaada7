"""Codes of rows: what a change in the database does to requests, and rotations."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest
from structlog.testing import capture_logs

from kasuwa.core.keyring import KeysOutdated, named_version
from kasuwa.core.row_codes import RowChanged
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.merchants.merchants import MERCHANT_ROW, MERCHANTS, MerchantDirectory
from kasuwa.methods.coded_tables import CODED_TABLES
from kasuwa.methods.sealed_columns import SEALED_PLACES, make_client_indexer
from kasuwa.postgres import row_codes
from kasuwa.postgres.migrate import migrate
from kasuwa.privacy.key_rotation import KeyRotation
from kasuwa.privacy.row_code_moves import find_changed_rows
from kasuwa.privacy.vault_keys import open_vault
from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.privacy.test_vault_keys import KEY, add_active_version
from tests.running import Deployment, Deployments

PENDING_ACCOUNT = "0000000900"
OF = "merchant_id = (select merchant_id from merchant where mid = $1 and current)"


def restore(deployment: Deployment, table: str, column: str, shop: MerchantClient) -> Callable[[], None]:
    """Returns what puts back a column of the merchant's rows."""
    rows = deployment.fetch(f"select ctid::text, {column} from {table} where {OF}", shop.mid)
    assert len(rows) == 1, rows

    def put_back() -> None:
        deployment.fetch(f"update {table} set {column} = $2 where {OF}", shop.mid, rows[0][1])

    return put_back


def wait_for(check: Callable[[], bool]) -> None:
    async def wait() -> None:
        async with asyncio.timeout(30):
            while not check():
                await asyncio.sleep(0.05)

    asyncio.run(wait())


# --- over HTTP --------------------------------------------------------------------------------------------------------


def test_a_key_copied_to_another_merchant_does_not_open_it(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    thief, victim = open_shop(), open_shop()
    put_back = restore(deployment, "merchant_key", "verifier", victim)
    copy = f"update merchant_key set (verifier, row_code) = (select verifier, row_code from merchant_key where {OF}) "
    deployment.fetch(
        copy + "where merchant_id = (select merchant_id from merchant where mid = $2)", thief.mid, victim.mid
    )
    stolen = MerchantClient(victim.connection, victim.mid, thief.key)
    wait_for(lambda: victim.put("resources", inquire="keys").body["status"] == 101)
    assert stolen.put("resources", inquire="keys").body["status"] == 101
    [code] = deployment.fetch(f"select row_code from merchant_key where {OF}", thief.mid)
    named = deployment.run_any_command("audit")
    assert (named.returncode, f"merchant {victim.mid}: every row that decides" in named.stdout) == (1, True)
    assert "merchant_key 1" in named.stdout
    put_back()
    deployment.fetch_as_service("select 1")
    wait_for(lambda: victim.put("resources", inquire="keys").body["status"] == 200)
    assert "is not as the service wrote it" in deployment.new_stderr()
    assert code


def test_a_merchant_whose_settings_were_changed_is_refused_until_they_are_put_back(
    shop: MerchantClient, deployment: Deployment
) -> None:
    put_back = restore(deployment, "merchant", "settings", shop)
    loosen = (
        """update merchant set settings = settings || '{"limits": {"NGN": ["1.00", "99000000.00"]}}' where mid = $1"""
    )
    deployment.fetch(loosen, shop.mid)
    wait_for(lambda: shop.put("resources", inquire="keys").body["status"] != 200)
    refused = shop.put("disburse", action="transfer", amount="1.00", bankcode="058", accountnumber="0000000000").body
    assert (refused["status"], "changed outside of the service" in refused["message"]) == (204, True)
    assert shop.mid in deployment.run_any_command("audit").stdout
    put_back()
    wait_for(lambda: shop.put("resources", inquire="keys").body["status"] == 200)
    assert "is not as the service wrote it" in deployment.new_stderr()


def test_an_order_whose_account_was_changed_is_not_sent(shop: MerchantClient, deployment: Deployment) -> None:
    assert shop.transfer(accountnumber=PENDING_ACCOUNT, orderRef="open")["txnStatus"] == "pending"
    put_back = restore(deployment, "scheduled_job", "work", shop)
    divert = f"update scheduled_job set work = replace(work::text, $2, '0000000000')::json where {OF}"
    deployment.fetch(divert, shop.mid, PENDING_ACCOUNT)
    assert shop.put("sandbox", action="advance", seconds=5).body["status"] == 204
    assert shop.status_of("open") == "pending"
    assert "scheduled_job " in deployment.run_any_command("audit").stdout
    put_back()
    shop.advance(seconds=5)
    assert shop.status_of("open") == "successful"
    assert "is not as the service wrote it" in deployment.new_stderr()


def test_a_past_transfer_whose_account_was_changed_is_named_and_not_repeated(
    shop: MerchantClient, deployment: Deployment
) -> None:
    assert shop.transfer(orderRef="paid")["txnStatus"] == "successful"
    put_back = restore(deployment, "transaction", "detail", shop)
    deployment.fetch(
        f"update transaction set detail = replace(detail::text, '0000000000', '0000000013')::json where {OF}", shop.mid
    )
    repeated = shop.transfer(orderRef="paid")
    assert (repeated["status"], "changed outside of the service" in repeated["message"]) == (204, True)
    named = deployment.run_any_command("audit")
    assert (named.returncode, f"merchant {shop.mid}: " in named.stdout, "transaction " in named.stdout) == (
        1,
        True,
        True,
    )
    put_back()
    assert shop.transfer(orderRef="paid")["txnStatus"] == "successful"
    assert "is not as the service wrote it" in deployment.new_stderr()


def test_a_person_whose_role_was_changed_is_signed_out(deployment: Deployment) -> None:
    visitor = sign_in_as(deployment, "operator:support")
    [[user_id]] = deployment.fetch("select user_id from console_session order by session_id desc limit 1")
    assert visitor.get("/account").http == 200
    kept = dict(visitor.cookies)
    deployment.fetch("update console_user set role = 'operator:admin' where user_id = $1", user_id)
    assert visitor.get("/account").http == 303
    assert "console_user" in deployment.run_any_command("audit").stdout
    deployment.fetch("update console_user set role = 'operator:support' where user_id = $1", user_id)
    visitor.cookies = kept
    assert visitor.get("/account").http == 200
    assert "is not as the service wrote it" in deployment.new_stderr()


def test_a_page_that_needs_a_changed_record_says_so_and_changes_nothing(
    shop: MerchantClient, deployment: Deployment
) -> None:
    admin, other = sign_in_as(deployment, "operator:admin"), sign_in_as(deployment, "operator:admin")
    admin.get("/operator/approvals")
    assert admin.post("/operator/approvals/tariff", mid=shop.mid, tariff="{}", reason="as it was").http == 303
    [[number, proposal]] = deployment.fetch(
        "select approval_id, proposal from approval where mid = $1 and kind = 'tariff'", shop.mid
    )
    cheaper = """update approval set proposal = '{"vat_percent": "0"}' where approval_id = $1"""
    deployment.fetch(cheaper, number)
    other.get("/operator/approvals")
    seen = other.post(f"/operator/approvals/{number}/approve")
    assert (seen.http, "Record changed" in seen.content) == (500, True), seen.content
    assert "is not as the service wrote it, and is not used. Nothing was changed." in seen.content
    assert "approval" in deployment.run_any_command("audit").stdout
    assert deployment.fetch("select state from approval where approval_id = $1", number) == [("open",)]
    deployment.fetch("update approval set proposal = $2 where approval_id = $1", number, proposal)
    assert other.post(f"/operator/approvals/{number}/approve").http == 303
    assert "is not as the service wrote it" in deployment.new_stderr()


def run_on(dsn: str, work: Callable[[Any], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(dsn)
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(run())


async def read_merchant(connection: Any, vault: Vault) -> Any:
    return await MerchantDirectory(connection, vault, "test").get_by_id(1)


# --- rotations --------------------------------------------------------------------------------------------------------


def test_a_rotation_makes_codes_anew_and_confirms_no_change(deployments: Deployments) -> None:
    async def work(dsn: str) -> None:
        connection = await asyncpg.connect(dsn)
        await migrate(connection, "test", KEY)
        vault = await open_vault(connection, KEY)
        for name in ("Ada", "Bola"):
            await merchants.add_merchant(connection, vault, name)
        await connection.execute("update merchant set name = 'Chidi' where merchant_id = 2")
        await add_active_version(connection, KEY)
        vault = await open_vault(connection, KEY)
        await connection.execute("update deployment set key_update_seconds = 1")
        row_codes.REPORTED.clear()  # a row that another test has changed was logged less than a minute ago
        with capture_logs() as logged:
            await KeyRotation(dsn, connection, vault, SEALED_PLACES, make_client_indexer(vault)).run_once()
        assert [line["table"] for line in logged if line["log_level"] == "error"] == ["merchant"]
        codes = dict(map(tuple, await connection.fetch("select merchant_id, row_code from merchant")))
        assert {number: named_version(code) for number, code in codes.items()} == {1: 2, 2: 1}
        vault = await open_vault(connection, KEY)
        assert [row[0] for row in await find_changed_rows(connection, vault, CODED_TABLES)] == [2]
        assert (await read_merchant(connection, vault)).name == "Ada"
        await connection.close()

    asyncio.run(work(deployments.new_database("codes_rotation")))


def test_a_change_through_the_service_does_not_confirm_another_change(deployments: Deployments) -> None:
    async def work(connection: Any) -> None:
        await migrate(connection, "test", KEY)
        vault = await open_vault(connection, KEY)
        _, mid, _ = await merchants.add_merchant(connection, vault, "Ada")
        await connection.execute("""update merchant set settings = settings || '{"settlement_days": 3}'""")
        with pytest.raises(RowChanged):
            await merchants.change_settings(connection, vault, mid, lambda kept: kept, is_endpoint_set=False)
        with pytest.raises(RowChanged):
            async with row_codes.changing(connection, vault, MERCHANTS, MERCHANT_ROW, 1):
                pytest.fail("the row is used")

    run_on(deployments.new_database("codes_change"), work)


def test_no_code_is_made_by_outdated_keys() -> None:
    now = [0.0]
    vault = Vault(bytes(32), lambda: now[0])
    vault.keyring.update(vault.keyring.versions, valid_until=10.0)
    code = vault.make_code(1, b"content")
    assert vault.is_code(1, b"content", code)
    assert not vault.is_code(2, b"content", code)
    assert not vault.is_code(1, b"other", code)
    now[0] = 11.0
    with pytest.raises(KeysOutdated):
        vault.make_code(1, b"content")
    assert vault.is_code(1, b"content", code)
