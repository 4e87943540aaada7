"""What decides where money goes cannot be changed in the database unnoticed: a changed row is named and not used.

Every table is listed in `methods/coded_tables.py`: with the columns that its code covers, or with the reason why it has
none. Each covered column of each coded table is changed in SQL, in a transaction that is undone: the audit names the
row, and what uses it refuses it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

import asyncpg
import pytest

from kasuwa.authority import approvals
from kasuwa.authority.cooling_off import read_cooling_off
from kasuwa.core.decision import Job, LoadedRows, Row
from kasuwa.core.row_codes import CodedTable, RowChanged
from kasuwa.core.token_index import TokenIndexEntry
from kasuwa.core.vault import Vault
from kasuwa.merchants import endpoints
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.methods.clients.model import Client
from kasuwa.methods.coded_tables import CODED_TABLES, TABLES_WITHOUT_CODES
from kasuwa.methods.disburse.payout_model import PayoutCounter, TransferApproval
from kasuwa.methods.groups.model import GroupLoan
from kasuwa.methods.investments.held_model import HeldDeposit
from kasuwa.methods.investments.reactivation_model import SavingsReactivation
from kasuwa.methods.loan_products.model import LoanProduct
from kasuwa.methods.loans.auto_repay_model import AutoRepayment
from kasuwa.methods.loans.group_model import ClientGroup
from kasuwa.methods.loans.guarantee_model import LoanGuarantee
from kasuwa.methods.loans.model import Loan, LoanWriteOff
from kasuwa.methods.payment.model import Payment
from kasuwa.methods.payment.settlement_model import Beneficiary
from kasuwa.methods.payouts.model import PayoutSchedule
from kasuwa.methods.shares.model import ShareRedemption
from kasuwa.methods.standing_orders.model import StandingOrder
from kasuwa.methods.virtualcard.card_decider import CardDecider
from kasuwa.methods.virtualcard.card_limits import CardUsage
from kasuwa.methods.virtualcard.model import Card
from kasuwa.people import sessions, users
from kasuwa.postgres.bulk_sql import select_by_key
from kasuwa.postgres.row_codes import replace_changed
from kasuwa.privacy.row_code_moves import ROWS_INTACT, find_changed_rows
from kasuwa.terms.conversion import ExchangeRates
from kasuwa.transactions.inbound_accounts import PersonalizedAccountRow
from kasuwa.transactions.transactions import Transaction
from kasuwa.webhooks.targets import read_targets
from tests.merchant_client import MerchantClient
from tests.methods.guarantees import test_http as guarantees
from tests.methods.investments.held import hold_deposit
from tests.methods.loan_products.test_products import PRODUCT
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import PaymentClient
from tests.methods.shares import test_http as shares
from tests.methods.virtualcard.card_client import CardClient
from tests.running import NEWEST, Deployment, Deployments
from tests.sealed_rows import read_vault
from tests.walk.rows import ask_for_reactivation, make_borrower, make_dormant, make_group

TABLES = {table.table: table for table in CODED_TABLES}
KINDS: dict[str, type[Row]] = {
    kind.table: kind
    for kind in (
        Transaction,
        Job,
        Beneficiary,
        PersonalizedAccountRow,
        PayoutSchedule,
        PayoutCounter,
        TransferApproval,
        ShareRedemption,
        StandingOrder,
        AutoRepayment,
        ClientGroup,
        GroupLoan,
        SavingsReactivation,
        HeldDeposit,
        TokenIndexEntry,
        Card,
        CardDecider,
        CardUsage,
        Loan,
        LoanWriteOff,
        LoanGuarantee,
        LoanProduct,
        Client,
        Payment,
    )
}
BANK: dict[str, Any] = {"bankcode": "058", "accountnumber": "0000000000"}


class Place(NamedTuple):
    """The merchant, and the rows that were made, for what uses them."""

    shop: MerchantClient
    merchant_id: int
    user_id: int
    session: str
    link: str
    approval_id: int
    endpoint_id: int


@pytest.fixture(scope="module")
def place(deployments: Deployments) -> Iterator[Place]:
    """A merchant with a row in every coded table."""
    deployment = deployments.for_version(NEWEST)
    shop = deployment.open_shop()
    with shop.connection:
        bola = shop.put("sandbox", action="beneficiary", name="Bola", **BANK).body["ref_code"]
        PaymentClient(shop).paid(split=[{"ref_code": bola, "share": "100.00"}])
        card = CardClient(shop, limits={"single_use": True})
        card.buy("1.00")
        card.ask("decider", decision_url="https://shop.example/decide")
        bank = LendingClient(shop.connection, shop.mid, shop.key)
        loan_id = bank.lend()
        shop.put("resources", request="payout_schedule", frequency="daily", **BANK)
        shop.put("resources", request="personalized-accounts", name="Ada Obi", reference="payee", email="a@example.com")
        shop.put(
            "sandbox",
            action="payout_policy",
            approve_above="5000.00",
            approve_write_off_above="0.00",
            daily_count=100,
        )
        guarantees.pledge(bank, loan_id, guarantees.guarantor(bank))
        assert bank.loans("create_product", **PRODUCT)["status"] == 200
        bank.loans("write_off", loan_id=loan_id, reason="The client has died")
        shop.transfer(amount="6000.00", orderRef="waits")
        class_id = shares.make_class(shop)
        client_id, _ = shares.join(shop, class_id, 5)
        shares.redeem(shop, class_id, client_id, 2)
        borrower = make_borrower(shop).body
        order = {
            "from": borrower["savings_id"],
            "to": borrower["loan_id"],
            "amount": "10.00",
            "from_date": "2035-12-31",
        }
        assert shop.put("investments", action="standing_order", frequency="every_month", **order).body["status"] == 200
        collected = {"loan_id": borrower["loan_id"], "source": "savings", "savings_id": borrower["savings_id"]}
        assert bank.loans("auto_repay", **collected)["status"] == 200
        make_group(shop, "loans-collect")
        ask_for_reactivation(shop, make_dormant(shop)[0].body["savings_id"])
        hold_deposit(shop)
        yield deployment.run_on_connection(lambda connection: make_rows(deployment, shop, connection))


async def make_rows(deployment: Deployment, shop: MerchantClient, connection: Any) -> Place:
    vault = await read_vault(deployment)
    merchant_id = await connection.fetchval("select merchant_id from merchant where mid = $1 and current", shop.mid)
    async with connection.transaction():
        email = f"{shop.mid}@example.com".lower()
        user_id = await users.add_user(connection, vault, email, None, "operator:auditor")
        link = await users.make_link(connection, vault, user_id, "sign_in")
        session = await sessions.begin(connection, vault, user_id, is_authenticated=True)
        approval_id = await approvals.propose(connection, vault, shop.mid, "tariff", "{}", "a reason", user_id)
        endpoint_id, _ = await endpoints.add_endpoint(
            connection, vault, merchant_id, "http://127.0.0.1:9/", ["no such kind"], "a test"
        )
    return Place(shop, merchant_id, user_id, session, link, approval_id, endpoint_id)


# --- every table is listed --------------------------------------------------------------------------------------------

COLUMNS = """
    select table_name::text, array_agg(column_name::text) from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_type = 'BASE TABLE' and table_schema = 'public' group by 1
"""


def test_every_table_has_codes_or_a_reason_to_have_none(deployment: Deployment) -> None:
    schema = dict(map(tuple, deployment.fetch(COLUMNS)))
    assert sorted(schema) == sorted([*TABLES, *TABLES_WITHOUT_CODES])
    assert sorted(name for name, columns in schema.items() if "row_code" in columns) == sorted(TABLES)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_column_of_a_coded_table_is_covered_or_has_a_reason(deployment: Deployment, name: str) -> None:
    schema, table = dict(map(tuple, deployment.fetch(COLUMNS))), TABLES[name]
    listed = [*table.columns, *table.uncovered, "row_code", *(["merchant_id"] if table.is_of_merchant else [])]
    assert sorted(schema[name]) == sorted(listed)


# --- every covered column is changed ----------------------------------------------------------------------------------

OTHER_VALUES = {
    "text": "{} || 'x'",
    **dict.fromkeys(("bigint", "integer"), "{} + 1"),
    "bytea": "{} || '\\x01'",
    "boolean": "not {}",
    "jsonb": """{} || '{{"x": 1}}'""",
    "json": "('[' || {}::text || ']')::json",
    "ARRAY": "array_append({}, 'x')",
    "date": "{} + 1",
    "timestamp with time zone": "least({}, now()) - interval '1 second'",
}
NULL_VALUES = {
    "text": "'x'",
    "bigint": "1",
    "bytea": "'\\x01'",
    "timestamp with time zone": "now()",
}
TYPE = """
    select data_type::text from information_schema.columns
    where table_schema = 'public' and table_name = $1 and column_name = $2
"""
# Columns that are covered together with another one.
COVERED_WITH_OTHERS = {"loan": ("agreed",)}
# Constraints that some of the changes would break.
LIFTED = """
    select format('alter table %s drop constraint %I', c.conrelid::regclass, c.conname) from pg_constraint c
    where c.conrelid = $1::text::regclass and c.contype in ('c', 'f')
"""


# Which row is changed where the merchant has others: before its change, and after that of any column.
CHOSEN = {
    "transaction": "amount between 600000 and 600001",
    "merchant_key": "'all' = any(scopes)",  # the one that `use_key` sends
    "payment": "json_typeof(detail) = 'array' or detail -> 'split' is not null",
}


@asynccontextmanager
async def connected(deployment: Deployment) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(deployment.dsn)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def undone(connection: Any) -> AsyncIterator[None]:
    """Rolls back what is done meanwhile."""
    transaction = connection.transaction()
    await transaction.start()
    try:
        yield
    finally:
        await transaction.rollback()


def chosen_row(table: CodedTable, place: Place) -> tuple[str, Any]:
    """Returns the condition of the row that is changed, and its parameter."""
    if table.is_of_merchant:
        own = f"merchant_id = $1 and ({table.condition})"
        return f"{own} and ({CHOSEN.get(table.table, 'true')})", place.merchant_id
    if table.table == "approval":
        return "approval_id = $1", place.approval_id
    if table.table in ("exchange_rate", "authority_policy"):
        return f"{next(iter(table.key))} > $1", 0
    return "user_id = $1", place.user_id


async def find_key(connection: Any, table: CodedTable, place: Place) -> Any:
    """Returns the key of the row that is changed: the newest."""
    condition, value = chosen_row(table, place)
    key = next(iter(table.key), "merchant_id")
    return await connection.fetchval(
        f"select {key} from {table.table} where {condition} order by {key} desc limit 1", value
    )


async def change(connection: Any, table: CodedTable, column: str, place: Place) -> None:
    """Changes a column of one row, as somebody with all rights in the database can."""
    kind = await connection.fetchval(TYPE, table.table, column)
    for [lift] in await connection.fetch(LIFTED, table.table):
        await connection.execute(lift)
    await connection.execute(f"alter table {table.table} disable trigger user")
    if column in table.parts and column not in ("detail", "rate"):
        other = f"case when {column} is null then '\\x01'::bytea end"
    else:
        null = NULL_VALUES.get(kind, "null")
        other = f"case when {column} is null then {null} else {OTHER_VALUES[kind].format(column)} end"
    key = next(iter(table.key), "merchant_id")
    own = f"merchant_id = {place.merchant_id}" if table.is_of_merchant else "true"
    done = await connection.execute(
        f"update {table.table} set {column} = {other} where {own} and {key} = $1",
        await find_key(connection, table, place),
    )
    assert done == "UPDATE 1", done


# --- what uses a row --------------------------------------------------------------------------------------------------

Use = Callable[[Any, Vault, Place], Awaitable[object]]


async def use_merchant(connection: Any, vault: Vault, place: Place) -> object:
    return await MerchantDirectory(connection, vault, "test").get_by_id(place.merchant_id)


async def use_key(connection: Any, vault: Vault, place: Place) -> object:
    found = await MerchantDirectory(connection, vault, "test").authenticate(place.shop.mid, place.shop.key)
    if found is None:
        raise RowChanged("the key is not accepted")
    return found


async def use_rate(connection: Any, vault: Vault, place: Place) -> object:
    currency = await connection.fetchval("select currency from exchange_rate order by rate_id desc limit 1")
    merchant = await MerchantDirectory(connection, vault, "test").get_by_id(place.merchant_id)
    if currency not in merchant.terms(ExchangeRates).by_currency:
        raise RowChanged("the currency has no rate")
    return merchant


async def use_endpoint(connection: Any, vault: Vault, place: Place) -> object:
    endpoint = (place.merchant_id, place.endpoint_id)
    targets = await read_targets(connection, vault, [endpoint])
    if endpoint not in targets:
        raise RowChanged("nothing is sent to the endpoint")
    return targets[endpoint]


USES: dict[str, Use] = {
    "merchant": use_merchant,
    "merchant_key": use_key,
    "exchange_rate": use_rate,
    "authority_policy": lambda connection, vault, place: read_cooling_off(connection, vault),
    "console_user": lambda connection, vault, place: users.read_link(connection, vault, place.link),
    "console_link": lambda connection, vault, place: users.read_link(connection, vault, place.link),
    "console_session": lambda connection, vault, place: sessions.find(connection, vault, place.session),
    "approval": lambda connection, vault, place: approvals.lock_open_approval(connection, vault, place.approval_id),
    "webhook_endpoint": use_endpoint,
}


def use_row(table: CodedTable) -> Use:
    """Returns how a rule reads a row of the writer: the way of locked_batch.py."""
    kind = KINDS[table.table]

    async def use(connection: Any, vault: Vault, place: Place) -> object:
        key = await find_key(connection, table, place)
        records = await connection.fetch(select_by_key(kind), key)
        [row] = replace_changed(vault, [kind(*record) for record in records])
        return LoadedRows({key: row}).get(kind, key)

    return use


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_row_with_a_changed_column_is_named_and_not_used(deployment: Deployment, place: Place, name: str) -> None:
    table = TABLES[name]
    use = USES[name] if name in USES else use_row(table)

    async def try_column(connection: Any, vault: Vault, column: str) -> None:
        await change(connection, table, column, place)
        [(merchant_id, statement, named)] = await find_changed_rows(connection, vault, [table])
        owner = place.merchant_id if table.is_of_merchant else 0
        assert (merchant_id, statement, named.split()[0]) == (owner, ROWS_INTACT, name), column
        # A row that is not found any more under its new content is not used either.
        with suppress(RowChanged):
            assert await use(connection, vault, place) is None, column

    async def try_all() -> None:
        vault = await read_vault(deployment)
        async with connected(deployment) as connection:
            assert await find_changed_rows(connection, vault, [table]) == []
            assert await use(connection, vault, place) is not None
            for column in (*table.covered, *COVERED_WITH_OTHERS.get(name, ())):
                async with undone(connection):
                    await try_column(connection, vault, column)

    asyncio.run(try_all())


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_row_without_a_code_is_named_and_not_used(deployment: Deployment, place: Place, name: str) -> None:
    table = TABLES[name]
    use = USES[name] if name in USES else use_row(table)

    async def try_it() -> list[Any]:
        vault = await read_vault(deployment)
        async with connected(deployment) as connection, undone(connection):
            await connection.execute(f"update {name} set row_code = null")
            with pytest.raises(RowChanged):
                await use(connection, vault, place)
            return await find_changed_rows(connection, vault, [table])

    assert asyncio.run(try_it())
