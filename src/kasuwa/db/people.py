"""All that is kept of one person: the rows of every table that names a client, so that what is built later is found
too. Operators ask here, for the person; nothing in the service does."""

from kasuwa.db.pool import Connection

# Keys, hashes and what is sealed tell nobody anything. A table that has no more than the client's id is left out.
TABLES = """
    select c.table_name::text, array_agg(c.column_name::text order by c.ordinal_position)
    from information_schema.columns c
    where c.table_schema = 'public' and c.data_type <> 'bytea' and c.column_name not in ('merchant_id', 'client_id')
    and c.table_name <> 'client' and exists (
        select 1 from information_schema.columns o where o.table_schema = c.table_schema
        and o.table_name = c.table_name and o.column_name = 'client_id')
    group by c.table_name order by c.table_name
"""


async def records_of(connection: Connection, merchant_id: int, client_id: str) -> dict[str, list[str]]:
    """The rows that belong to a client, as JSON texts by table."""
    found: dict[str, list[str]] = {}
    for table, columns in await connection.fetch(TABLES):
        chosen = ", ".join(f't."{column}"' for column in columns)
        query = f"""select to_json(r)::text from (select {chosen} from "{table}" t
            where t.merchant_id = $1 and t.client_id = $2) r"""
        rows = await connection.fetch(query, merchant_id, client_id)
        if rows:
            found[table] = [text for (text,) in rows]
    return found


BY_BVN = "select client_id from client where merchant_id = $1 and bvn_hash = $2 order by number"


async def clients_by_bvn(connection: Connection, merchant_id: int, bvn_hash: bytes) -> list[str]:
    return [client_id for (client_id,) in await connection.fetch(BY_BVN, merchant_id, bvn_hash)]
