"""CSV for spreadsheets: written so that no cell is taken for a formula, read with or without a byte order mark."""

import csv
import io
from collections.abc import Iterable

# A cell that begins so is run as a formula by spreadsheets; an apostrophe before it makes it a text.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def csv_line(cells: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([f"'{cell}" if cell.startswith(FORMULA_SIGNS) else cell for cell in cells])
    return out.getvalue()


def read_csv(content: bytes) -> list[dict[str, str]] | None:
    """Its rows by the names of its first line; None where it is no such file."""
    try:
        text = content.decode("utf-8-sig")
        rows = list(csv.DictReader(io.StringIO(text), restkey="", restval=""))
    except (UnicodeDecodeError, csv.Error):
        return None
    return [{(k or "").strip(): v.strip() for k, v in row.items() if isinstance(v, str)} for row in rows]
