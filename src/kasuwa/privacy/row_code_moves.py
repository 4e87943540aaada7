"""Goes through coded tables: finds rows that are not as the service wrote them, and gives rows codes of the active key.

Codes are made anew when a data key is replaced. A row is given one only if it has a valid one. Tables are read in
windows, in the order of their keys.
"""

from collections.abc import Sequence
from typing import Any

from kasuwa.core.row_codes import OPERATOR_ID, CodedTable, RowChanged, is_intact
from kasuwa.core.vault import Vault
from kasuwa.postgres.connection_pool import Connection
from kasuwa.postgres.row_codes import StoredRow, check_content, read_rows, store_codes
from kasuwa.privacy.key_moves import LOCK_MERCHANT, WINDOW, Position, Rewritten, decode_position, encode_position

ROWS_INTACT = "every row that decides where money goes is as the service wrote it"
# The largest number of rows of one table that an audit names.
MAX_VIOLATIONS = 20

Violation = tuple[int, str, str]


def ordered(table: CodedTable) -> str:
    """Returns a table as it stands after `from`, with the columns by which it is read. One that belongs to no merchant
    has the operator's number."""
    owner = "" if table.is_of_merchant else f", {OPERATOR_ID}::bigint as merchant_id"
    return f"(select *, {next(iter(table.key), 'merchant_id')} as row_id{owner} from {table.table}) t"


async def read_window(
    connection: Connection, table: CodedTable, position: Position, merchants: Sequence[int] | None = None
) -> tuple[list[StoredRow], Position]:
    """Returns the next rows of a table that have a code, of some merchants or of all, and where the ones after them
    begin: nowhere after the last."""
    values: list[Any] = [None if merchants is None else list(merchants)]
    condition = f"({table.condition}) and ($1::bigint[] is null or merchant_id = any($1))"
    if position:
        kind = next(iter(table.key.values()), "bigint")
        condition += f" and (row_id, merchant_id) > ($2::{kind}, $3::bigint)"
        values += decode_position(position)
    records = await connection.fetch(
        f"select row_code, {table.content_sql()} from {ordered(table)} where {condition}"
        f" order by row_id, merchant_id limit {WINDOW}",
        *values,
    )
    rows = [StoredRow(record[0], tuple(record[1:])) for record in records]
    return rows, encode_position(get_row_order(table, rows[-1])) if len(rows) == WINDOW else []


def get_row_order(table: CodedTable, row: StoredRow) -> list[Any]:
    """Returns where a row is in the order of its table."""
    return [row.content[1 if table.key else 0], row.content[0]]


# --- codes of the active key ------------------------------------------------------------------------------------------


async def recode_window(
    table: CodedTable, vault: Vault, connection: Connection, position: Position
) -> tuple[Rewritten, Position]:
    """Gives the next rows of a table codes of the active key. Each merchant's are written in one transaction."""
    rows, after = await read_window(connection, table, position)
    stale: dict[int, list[Any]] = {}
    for row in rows:
        if row.code is None or not vault.keyring.is_current(row.content[0], row.code):
            stale.setdefault(row.content[0], []).append(row.content[1])
    done = Rewritten()
    for merchant_id, keys in stale.items():
        done.add(await recode_rows(connection, table, vault, merchant_id, keys))
    return done, after


async def recode_rows(
    connection: Connection, table: CodedTable, vault: Vault, merchant_id: int, keys: Sequence[Any]
) -> Rewritten:
    """Gives rows of a merchant codes of the active key. One that is not as the service wrote it is left as it is."""
    done, intact = Rewritten(), []
    whose = "merchant_id = $1::bigint" if table.is_of_merchant else "$1::bigint is not null"
    # The table of merchants has no other key.
    named = next((f"{name} = any($2::{kind}[])" for name, kind in table.key.items()), "$2::text[] is not null")
    values = (merchant_id, list(keys) if table.key else [])
    async with connection.transaction():
        if table.is_cached:
            await connection.execute(LOCK_MERCHANT, merchant_id)
        for row in await read_rows(connection, table, f"{whose} and {named} for update", *values):
            try:
                check_content(vault, table, row.content, row.code)
            except RowChanged:
                done.unreadable += 1
                continue
            intact.append(row)
        await store_codes(connection, vault, table, intact)
    done.rows = len(intact)
    return done


# --- the audit --------------------------------------------------------------------------------------------------------


async def find_changed_rows(
    connection: Connection, vault: Vault, tables: Sequence[CodedTable], merchants: Sequence[int] | None = None
) -> list[Violation]:
    """Returns (merchant_id, statement, place) of rows that are not as the service wrote them: of some merchants, or of
    all and the operator. The place is the table and the key of a row."""
    all_violations: list[Violation] = []
    for table in tables:
        if merchants is not None and not table.is_of_merchant:
            continue
        position: Position = []
        violations: list[Violation] = []
        while True:
            rows, position = await read_window(connection, table, position, merchants)
            violations += [
                (row.content[0], ROWS_INTACT, " ".join((table.table, *row.describe_key(table))))
                for row in rows
                if not is_intact(vault, table.table, row.content, row.code)
            ]
            if not position or len(violations) >= MAX_VIOLATIONS:
                break
        all_violations += violations[:MAX_VIOLATIONS]
    return all_violations
