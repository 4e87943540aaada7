"""How a database stores the rows of merchants, and so how statements must be written and sent.

`Layout` is the one of a single server. postgres/distribution has the other, and chooses between them when a connection
is opened. Whoever writes statements of several merchants asks the layout of its connection, and need not know why.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from kasuwa.core.batched_query import BatchedQuery
from kasuwa.core.decision import Row
from kasuwa.postgres.bulk_sql import StatementPart, encode_rows, select_by_key, statement_sql
from kasuwa.postgres.columns import Columns
from kasuwa.postgres.statement_forms import SearchQuery, StatementForms

Item = TypeVar("Item")


class Lanes(Protocol):
    """Divides merchants among several writers."""

    def find_lane(self, merchant_id: int) -> Hashable:
        """Returns the lane of a merchant, which is always the same."""
        ...


class Layout:
    """The layout of a database on one server."""

    # Whether one statement may lock and change rows of several merchants. If not, it must be of one and name it.
    spans_merchants = True
    # Whether the settings of a session, and not only those of a transaction, hold wherever its statements run.
    keeps_session_settings = True
    # Whether a part of a statement that has no rows costs nearly nothing.
    can_widen = True

    # --- sessions ---------------------------------------------------------------------------------------------

    async def prepare_session(self, connection: Any) -> None:
        """Sets what every session needs."""

    async def prepare_application(self, connection: Any) -> None:
        """Sets what a session needs in addition that serves requests."""

    async def run_in_order(self, connection: Any, *statements: str) -> None:
        """Runs statements without parameters, in one round trip if that is possible."""
        await connection.execute("; ".join(statements))

    async def read_lanes(self, connection: Any) -> Lanes | None:
        """Returns the lanes of writers, or None if one writer is best for all merchants."""
        return None

    async def fence_merchant(self, connection: Any, merchant_id: int) -> None:
        """Makes sure that nothing that a terminated backend did for a merchant goes on."""

    # --- reads ------------------------------------------------------------------------------------------------

    async def fetch_requests(
        self, connection: Any, query: BatchedQuery, requests: Iterable[tuple[Any, ...]]
    ) -> list[Any]:
        """Runs a query for several requests."""
        rows: list[Any] = await connection.fetch(query.of_many, *map(list, zip(*requests, strict=True)))
        return rows

    async def search(self, connection: Any, query: SearchQuery, *values: Any) -> list[Any]:
        """Returns the rows of all merchants that can be reached."""
        rows: list[Any] = await connection.fetch(query.of_all, *values)
        return rows

    def is_part_away(self, connection: Any, error: Exception) -> bool:
        """Whether a statement failed because the rows of its merchant, and not those of all, cannot be reached."""
        return False

    # --- changes of rows of several merchants --------------------------------------------------------------------

    def group(self, items: Sequence[Item], merchant_of: Callable[[Item], int]) -> list[tuple[int, list[Item]]]:
        """Returns the items that one statement may be about, in groups, each with a merchant of it."""
        return [(merchant_of(items[0]), list(items))] if items else []

    def bind(self, forms: StatementForms, merchant_id: int, *values: Any) -> tuple[Any, ...]:
        """Returns the statement for a group and its parameters."""
        return forms.of_any, *values

    # --- the statements of the writer ----------------------------------------------------------------------------

    def lock_settings(self, seconds: float) -> tuple[str, ...]:
        """Returns the statements that must follow the `begin` of a transaction that waits so long for a merchant."""
        return ()

    def select(self, kind: type[Row]) -> str:
        """Returns the query that reads rows by their keys. Its parameters are the keys, then `select_values`."""
        return select_by_key(kind)

    def select_values(self, kind: type[Row], merchant_id: int) -> tuple[Any, ...]:
        """Returns the parameters of `select` that name the merchant of the keys."""
        return ()

    def lock(self, kind: type[Row]) -> str:
        """Returns the query that reads rows like `select` and locks them, in the order of their keys."""
        return f"{self.select(kind)} order by key for update"

    def lock_free(self, kind: type[Row]) -> str:
        """Returns the query that locks the rows that no other session has locked."""
        return f"{self.lock(kind)} skip locked"

    def write(self, parts: tuple[StatementPart, ...]) -> str:
        """Returns the statement that writes a batch. Its parameters are the rows of each part, the number of merchants,
        then `write_values`."""
        return statement_sql(parts)

    def encode_rows(self, columns: Columns, rows: list[tuple[Any, ...]]) -> str:
        """Encodes the rows of a part."""
        return encode_rows(rows)

    def write_values(self, merchant_id: int) -> tuple[Any, ...]:
        """Returns the parameters of `write` that name the merchant of the batch."""
        return ()


ONE_SERVER = Layout()


def find_layout(connection: Any) -> Layout:
    """Returns the layout of the database of a connection. One that was not opened by `connect_session` is taken to be
    to a single server."""
    layout: Layout = getattr(connection, "layout", ONE_SERVER)
    return layout
