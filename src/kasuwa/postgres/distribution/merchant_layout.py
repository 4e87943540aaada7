"""The layout of a database that Citus distributes by merchant (docs/scaling.md).

Every statement of the writer, of jobs and of deliveries is of one merchant and names it: so it runs on the server that
has the merchant's rows, and a server that is away stops only the merchants that it has.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from kasuwa.core.batched_query import BatchedQuery
from kasuwa.core.decision import Row
from kasuwa.postgres.bulk_sql import StatementPart, select_by_key
from kasuwa.postgres.columns import Columns
from kasuwa.postgres.distribution.catalog import APPLICATION_SETTINGS, IS_DISTRIBUTED, SESSION_SETTINGS
from kasuwa.postgres.distribution.merchant_statements import encode_objects, select_of_merchant, statement_of_merchant
from kasuwa.postgres.distribution.placement import is_by_merchant
from kasuwa.postgres.distribution.server_search import is_server_away, search_servers
from kasuwa.postgres.distribution.shards import ShardMap, read_shards
from kasuwa.postgres.layout import ONE_SERVER, Item, Layout
from kasuwa.postgres.statement_forms import SearchQuery, StatementForms

# Fails every earlier statement of the merchant that has not ended: it waits for their locks, and those that have not
# locked the merchant yet will not find the version that they expect.
FENCE_MERCHANT = "update merchant_state set version = version + 1 where merchant_id = $1"


class MerchantLayout(Layout):
    """The layout of a database that is distributed by merchant over several servers."""

    spans_merchants = False
    # The other servers learn of settings of a transaction, not of the session.
    keeps_session_settings = False
    # Each part of a statement is run by itself.
    can_widen = False

    async def prepare_session(self, connection: Any) -> None:
        await connection.execute(SESSION_SETTINGS)

    async def prepare_application(self, connection: Any) -> None:
        await connection.execute(APPLICATION_SETTINGS)

    async def run_in_order(self, connection: Any, *statements: str) -> None:
        """Runs statements one by one: Citus hands a setting on with all that was sent with it."""
        for statement in statements:
            await connection.execute(statement)

    async def read_lanes(self, connection: Any) -> ShardMap:
        return await read_shards(connection)

    async def fence_merchant(self, connection: Any, merchant_id: int) -> None:
        """Ends what other servers may still do for the backend that is gone."""
        await connection.execute(FENCE_MERCHANT, merchant_id)

    async def fetch_requests(
        self, connection: Any, query: BatchedQuery, requests: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Runs a query for each request: one of many joins runs only on the server that has its merchant."""
        answers = [await connection.fetch(query.of_one, *request, n) for n, request in enumerate(requests, start=1)]
        return [row for rows in answers for row in rows]

    async def search(self, connection: Any, query: SearchQuery, *values: Any) -> list[Any]:
        return await search_servers(connection, query, *values)

    def is_part_away(self, connection: Any, error: Exception) -> bool:
        return is_server_away(connection, error)

    def group(self, items: Sequence[Item], merchant_of: Callable[[Item], int]) -> list[tuple[int, list[Item]]]:
        """Groups items by merchant, in order of appearance."""
        groups: dict[int, list[Item]] = {}
        for item in items:
            groups.setdefault(merchant_of(item), []).append(item)
        return list(groups.items())

    def bind(self, forms: StatementForms, merchant_id: int, *values: Any) -> tuple[Any, ...]:
        return forms.of_one, *values, merchant_id

    def lock_settings(self, seconds: float) -> tuple[str, ...]:
        """Rows are locked by the server that has them, which learns of settings of the transaction alone."""
        return (f"set local lock_timeout = {int(seconds * 1000)}",)

    def select(self, kind: type[Row]) -> str:
        return select_of_merchant(kind) if is_by_merchant(kind.table) else select_by_key(kind)

    def select_values(self, kind: type[Row], merchant_id: int) -> tuple[Any, ...]:
        return (merchant_id,) if is_by_merchant(kind.table) else ()

    def write(self, parts: tuple[StatementPart, ...]) -> str:
        return statement_of_merchant(parts)

    def encode_rows(self, columns: Columns, rows: list[tuple[Any, ...]]) -> str:
        return encode_objects(columns, rows)

    def write_values(self, merchant_id: int) -> tuple[Any, ...]:
        return (merchant_id,)


DISTRIBUTED = MerchantLayout()
# An SQL expression whose value `choose_layout` takes.
LAYOUT_SQL = IS_DISTRIBUTED


def choose_layout(is_distributed: bool) -> Layout:
    """Returns the layout of a database."""
    return DISTRIBUTED if is_distributed else ONE_SERVER
