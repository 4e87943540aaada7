"""Opens the connections of the service, which know their backend, the merchant that their session chose, and whether
their database is distributed (docs/scaling.md).
"""

from typing import TYPE_CHECKING, Any

import asyncpg

from kasuwa.db.one_request_sql import form_for_one_request
from kasuwa.db.pgbouncer import PREPARED_STATEMENT_ERRORS, REFUSED_PARAMETER, TransactionPooling

# Citus puts this trigger on every table that it distributes. Its own catalog does not exist without it.
IS_DISTRIBUTED = """exists (
    select 1 from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where t.tgrelid = to_regclass('public.merchant_state') and p.proname = 'citus_truncate_trigger')"""
SELECT_SESSION = f"select pg_backend_pid(), {IS_DISTRIBUTED}"
# A plan for all parameters does not know the server that has the merchant. Settings of a transaction are handed on to
# the servers that it uses. Changes of many shards use one connection to each server: a transaction that has used more
# can no longer change tables that others refer to.
DISTRIBUTED_SETTINGS = "; ".join(
    (
        "set plan_cache_mode = force_custom_plan",
        "set citus.propagate_set_commands = 'local'",
        "set citus.multi_shard_modify_mode = 'sequential'",
    )
)
# No merchant has this number.
NO_MERCHANT = -1


if TYPE_CHECKING:
    DriverConnection = asyncpg.Connection[asyncpg.Record]
else:  # the driver itself is not generic
    DriverConnection = asyncpg.Connection


class BackendConnection(DriverConnection):
    """A connection that knows the process id of its PostgreSQL backend, whether its database is distributed, and the
    merchant that its session chose.

    Behind a pooler the driver's own id is made up by the pooler and matches no backend."""

    __slots__ = ("_chosen_merchant", "backend_pid", "is_distributed")

    backend_pid: int
    is_distributed: bool
    _chosen_merchant: int | None

    def get_server_pid(self) -> int:
        return self.backend_pid

    async def fetch(self, query: str, *args: Any, **options: Any) -> list[Any]:
        """Runs a query. On a distributed database a batched query is run for each of its requests."""
        form = form_for_one_request(query) if self.is_distributed else None
        if form is None:
            rows: list[Any] = await super().fetch(query, *args, **options)
            return rows
        requests = enumerate(zip(*args, strict=True), start=1)
        found = [await super(BackendConnection, self).fetch(form, *key, n, **options) for n, key in requests]
        return [row for each in found for row in each]

    async def fetchrow(self, query: str, *args: Any, **options: Any) -> Any:
        """Runs a query like `fetch` and returns its first row, or None."""
        if self.is_distributed and form_for_one_request(query) is not None:
            return next(iter(await self.fetch(query, *args, **options)), None)
        return await super().fetchrow(query, *args, **options)

    def has_chosen(self, merchant_id: int | None) -> bool:
        """Tells whether this session shows the rows of a merchant, or of all for None (merchant_rows.py)."""
        # A new session shows those of none.
        return getattr(self, "_chosen_merchant", NO_MERCHANT) == merchant_id

    def record_choice(self, merchant_id: int | None) -> None:
        self._chosen_merchant = merchant_id


def is_distributed(connection: Any) -> bool:
    """Tells whether the database of a connection is distributed. One that was not opened by `connect_session` is taken
    not to know of it."""
    return bool(getattr(connection, "is_distributed", False))


async def connect_session(server: str, server_settings: dict[str, str] | None = None, **options: Any) -> Any:
    """Connects like asyncpg.connect. If a pooler rejects startup settings, sets them on the session instead."""
    options = {**options, "connection_class": BackendConnection}
    try:
        connection = await asyncpg.connect(server, server_settings=server_settings, **options)
    except asyncpg.ProtocolViolationError as error:
        if REFUSED_PARAMETER not in str(error):
            raise
        connection = await asyncpg.connect(server, **options)
        missing = server_settings or {}
    else:
        missing = {}
    try:
        if missing:
            # A value may be a list, which `set` would take for one name.
            changes = (f"select set_config('{name}', '{value}', false)" for name, value in missing.items())
            await connection.execute("; ".join(changes))
        connection.is_distributed = False
        connection.backend_pid, connection.is_distributed = await connection.fetchrow(SELECT_SESSION)
        if connection.is_distributed:
            await connection.execute(DISTRIBUTED_SETTINGS)
    except BaseException as error:
        # The caller never gets this connection, so nothing else would close it.
        connection.terminate()
        if isinstance(error, PREPARED_STATEMENT_ERRORS):
            raise TransactionPooling from None
        raise
    return connection
