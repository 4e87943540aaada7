"""Cells of CSV files that people open in spreadsheets: none is run as a formula, and numbers stay numbers.

The patterns are written so that Python and PostgreSQL, which renders long files itself, read them alike.
"""

import re

# A plain number, as amounts are written. A spreadsheet adds it up, and runs nothing.
NUMBER = r"-?[0-9]+(\.[0-9]+)?"
# Spaces, control and invisible characters. Spreadsheets skip them before they look for a sign.
SKIPPED = (
    r"\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f"
    r"\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0001-\U000e01ef"
)
# Signs that begin a formula: ordinary, raised, lowered, small and full-width ones. U+2212 is the minus sign.
SIGNS = r"=+@\u207a-\u207c\u208a-\u208c\u2212\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20\-"
# A break may also make a spreadsheet take what follows for another cell.
FORMULA = rf"([\t\r\n]|[{SKIPPED}]*[{SIGNS}])"

IS_NUMBER = re.compile(NUMBER)
STARTS_FORMULA = re.compile(FORMULA)


def guard_cell(text: str) -> str:
    """Returns the text of a cell. A leading apostrophe makes it text if a spreadsheet might run it as a formula."""
    is_formula = STARTS_FORMULA.match(text) is not None and IS_NUMBER.fullmatch(text) is None
    return f"'{text}" if is_formula else text


def guard_cell_in_sql(text: str) -> str:
    """Returns the SQL expression of what `guard_cell` returns for the text of an SQL expression."""
    is_formula = f"{text} ~ '^{FORMULA}' and {text} !~ '^{NUMBER}$'"
    return f"case when {is_formula} then '''' || {text} else {text} end"
