"""Looks for work of all merchants on a distributed database, also while one of its servers is away.

A query over all servers fails as a whole if one of them does not answer. Then each server is asked for its own
merchants, and those that do not answer are left out: their merchants wait, and the others are served.
"""

from itertools import chain, zip_longest
from typing import Any

import asyncpg

from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.distribution.shards import read_shards
from kasuwa.postgres.statement_forms import SearchQuery

SELECT_MERCHANTS = "select merchant_id from merchant"


def is_server_away(connection: Connection, error: Exception) -> bool:
    """Whether a query failed because of a server behind the one that the connection is to."""
    return isinstance(error, asyncpg.PostgresConnectionError) and not connection.is_closed()


async def search_servers(connection: Connection, query: SearchQuery, *values: Any) -> list[Any]:
    """Returns the rows of all servers that answer. While one is away, rows of the others in turn, which may be more
    than the query's limit."""
    try:
        return await connection.fetch(query.of_all, *values)
    except Exception as error:
        if not is_server_away(connection, error):
            raise
    rows_by_server = []
    for merchants in await list_merchants_by_server(connection):
        try:
            rows_by_server.append(await connection.fetch(query.of_some, *values, merchants))
        except Exception as error:
            if not is_server_away(connection, error):
                raise
    return [row for row in chain.from_iterable(zip_longest(*rows_by_server)) if row is not None]


async def list_merchants_by_server(connection: Connection) -> list[list[int]]:
    """Returns the numbers of the merchants of each server."""
    shards = await read_shards(connection)
    servers: dict[int, list[int]] = {}
    for [merchant_id] in await connection.fetch(SELECT_MERCHANTS):
        servers.setdefault(shards.find(merchant_id)[1], []).append(merchant_id)
    return list(servers.values())
