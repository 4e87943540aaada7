"""Reads statements of account for files, as CSV lines. Never writes; every WHERE has the merchant_id.

A file may have millions of movements, and making a line in Python takes longer than reading it. So PostgreSQL renders
the lines, and the server passes their text on in pieces. The totals are summed on the way.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.core.spreadsheet_cells import guard_cell_in_sql
from kasuwa.methods.statements.model import Source, StatementAccount, Total, class_of
from kasuwa.methods.statements.store import (
    OWNED_ROWS,
    PRODUCT_ROWS,
    SORT_OF_OTHER,
    WALLET_ROWS,
    Period,
    Place,
    add_to_total,
    request_of,
)

# Movements of a piece: about 100 kB of text.
PIECE_MOVEMENTS = 1_000


def csv_text(expression: str) -> str:
    """Returns the SQL expression of a text as a cell."""
    guarded = guard_cell_in_sql(expression)
    quoted = f"""'"' || replace({guarded}, '"', '""') || '"'"""
    return f"""case when {expression} ~ '[,"\\r\\n]' then {quoted} else {guarded} end"""


# The columns of `pages.statement_files.CSV_HEADER`: the time as `calendar.lagos_text` formats it, and amounts as
# `money.format_minor` does.
LINE = " || ',' || ".join(
    (
        "to_char(m.at at time zone interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS') || '+01:00'",
        csv_text("m.kind"),
        csv_text("m.reference"),
        csv_text("m.other"),
        "(m.amount * 0.01)::text",
        "(m.balance * 0.01)::text || E'\\r\\n'",
    )
)
PIECE = f"""
    select (select string_agg({LINE}, '' order by m.seq, m.side) from m),
        (select count(*) from m),
        (select max(m.seq) from m),
        (select m.side from m order by m.seq desc, m.side desc limit 1),
        (select coalesce(json_agg(json_build_array(t.kind, t.other, t.amount, t.count)), '[]')::text from (
            select kind, {SORT_OF_OTHER} as other, sum(amount)::bigint as amount, count(*) as count
            from m group by 1, 2, m.amount > 0) t)
"""
WALLET_PIECE = f"with m as materialized ({WALLET_ROWS}) {PIECE}"
OWNED_PIECE = f"with m as materialized ({OWNED_ROWS}) {PIECE}"
PRODUCT_PIECE = f"with m as materialized ({PRODUCT_ROWS}) {PIECE}"

TOTALS: "msgspec.json.Decoder[list[tuple[str, str, int, int]]]" = msgspec.json.Decoder(list[tuple[str, str, int, int]])


class Piece(NamedTuple):
    """Lines of a file, as the database returns them."""

    lines: str | None
    count: int
    seq: int | None  # of the last movement
    side: int | None
    totals: str  # JSON: kind, the first words of the other account, amount and count


async def read_piece(
    account: StatementAccount, period: Period, after: Place, merchant_id: int, reader: Reader
) -> Piece:
    parameters = [[value] for value in request_of(account, period, after, PIECE_MOVEMENTS, merchant_id)]
    match account.source:
        case Source.WALLET:
            return Piece(*await reader.fetchrow(WALLET_PIECE, *parameters))
        case Source.OWNED:
            return Piece(*await reader.fetchrow(OWNED_PIECE, *parameters))
        case Source.PRODUCT:
            return Piece(*await reader.fetchrow(PRODUCT_PIECE, *parameters))


async def stream_lines(
    account: StatementAccount, period: Period, merchant_id: int, reader: Reader, totals: dict[str, Total]
) -> AsyncIterator[bytes]:
    """Yields the lines of a period in pieces, and adds their amounts to `totals`. The reader need not be a snapshot."""
    after = Place()
    while True:
        piece = await read_piece(account, period, after, merchant_id, reader)
        for kind, other, amount, count in TOTALS.decode(piece.totals):
            add_to_total(totals, class_of(kind, other, amount), amount, count)
        if piece.lines is not None:
            yield piece.lines.encode()
        if piece.count < PIECE_MOVEMENTS or piece.seq is None or piece.side is None:
            return
        after = Place(piece.seq, piece.side)
