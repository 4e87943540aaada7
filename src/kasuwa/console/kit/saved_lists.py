"""Saved filters and chosen columns of console users, by list."""

from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Connection

# Saved filters of one user and list.
MAX_SAVED = 20
# Name of the row with the chosen columns.
COLUMNS_NAME = ""

SAVED = "select name, query from console_list where user_id = $1 and list = $2 order by name"
# A new name is refused if there are MAX_SAVED already. The row of the columns does not count.
SAVE = """
    insert into console_list (user_id, list, name, query)
    select $1, $2, $3, $4
    where $3 = '' or exists (select 1 from console_list where user_id = $1 and list = $2 and name = $3)
        or (select count(*) from console_list where user_id = $1 and list = $2 and name <> '') < $5
    on conflict (user_id, list, name) do update set query = excluded.query, saved_at = now()
    returning true
"""
DELETE = "delete from console_list where user_id = $1 and list = $2 and name = $3"


async def read_saved(reader: Reader, user_id: int, list_name: str) -> dict[str, str]:
    """Returns the queries of a user's saved filters by name, and the chosen columns under COLUMNS_NAME."""
    return {row[0]: row[1] for row in await reader.fetch(SAVED, user_id, list_name)}


async def save(connection: Connection, user_id: int, list_name: str, name: str, query: str) -> bool:
    """Saves a filter, or replaces the one of that name. Returns False if the user has MAX_SAVED others."""
    return bool(await connection.fetchval(SAVE, user_id, list_name, name, query, MAX_SAVED))


async def delete(connection: Connection, user_id: int, list_name: str, name: str) -> None:
    await connection.execute(DELETE, user_id, list_name, name)
