"""Reading and writing CSV. No written cell can be run as a formula, and a byte order mark is accepted."""

import csv
import io
from collections.abc import Iterable

from kasuwa.wire.spreadsheet_cells import guard_cell


def csv_line(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(map(guard_cell, cells))
    return out.getvalue()


def read_csv(content: bytes) -> list[dict[str, str]] | None:
    """Returns the rows as dicts by column name, or None if the content is not UTF-8 CSV."""
    try:
        text = content.decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text), restkey="", restval=""))
    except (UnicodeDecodeError, csv.Error):
        return None
    return [{(k or "").strip(): v.strip() for k, v in row.items() if isinstance(v, str)} for row in rows]
