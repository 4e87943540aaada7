"""Lines of statement files in CSV, as SQL expressions. The statements that use them are in the store of statements.

A file may have millions of movements, and making a line in Python takes longer than reading it. So PostgreSQL renders
the lines, and the server passes their text on in pieces. The totals are summed on the way.
"""

from typing import NamedTuple

import msgspec

from kasuwa.wire.spreadsheet_cells import guard_cell_in_sql

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
# The piece of the movements `m`, in the columns of `Piece`.
PIECE = f"""
    select (select string_agg({LINE}, '' order by m.seq, m.side) from m),
        (select count(*) from m),
        (select max(m.seq) from m),
        (select m.side from m order by m.seq desc, m.side desc limit 1),
        (select coalesce(json_agg(json_build_array(t.kind, t.other, t.amount, t.count)), '[]')::text from (
            select kind, split_part(other, ':', 1) || ':' || split_part(other, ':', 2) as other,
                sum(amount)::bigint as amount, count(*) as count
            from m group by 1, 2, m.amount > 0) t)
"""

TOTALS: "msgspec.json.Decoder[list[tuple[str, str, int, int]]]" = msgspec.json.Decoder(list[tuple[str, str, int, int]])


class Piece(NamedTuple):
    """Lines of a file, as the database returns them."""

    lines: str | None
    movements: int
    seq: int | None  # of the last movement
    side: int | None
    totals: str  # JSON: kind, the first words of the other account, amount and count

    def list_totals(self) -> list[tuple[str, str, int, int]]:
        return TOTALS.decode(self.totals)
