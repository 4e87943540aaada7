"""Cells of CSV files that people open in spreadsheets: none is run as a formula, and numbers stay numbers."""

import re
import unicodedata

# A plain number, as amounts are written. A spreadsheet adds it up, and runs nothing.
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?", re.ASCII)
# Signs that begin a formula, after full-width and small forms were replaced by these. U+2212 is the minus sign.
FORMULA_SIGNS = frozenset("=+-@\u2212")
# Spreadsheets skip these before they look for a sign, or take what follows for another cell.
BREAKS = ("\t", "\r", "\n")
# First letters of the Unicode categories of spaces, and of control and invisible characters.
SKIPPED_CATEGORIES = ("Z", "C")


def guard_cell(text: str) -> str:
    """Returns the text of a cell. A leading apostrophe makes it text if a spreadsheet might run it as a formula."""
    if NUMBER.fullmatch(text) is not None:
        return text
    return f"'{text}" if text.startswith(BREAKS) or first_sign(text) in FORMULA_SIGNS else text


def first_sign(text: str) -> str:
    """Returns the first visible character, in its ordinary form. Empty if there is none."""
    visible = next((one for one in text if not unicodedata.category(one).startswith(SKIPPED_CATEGORIES)), "")
    return unicodedata.normalize("NFKC", visible)[:1]
