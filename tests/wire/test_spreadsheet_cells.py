"""Cells of CSV files: what a spreadsheet might run is text, and what it should add up is a number."""

import csv
import io

import pytest

from kasuwa.console.kit.csv_text import csv_line
from kasuwa.wire.spreadsheet_cells import guard_cell


@pytest.mark.parametrize("amount", ["-585.00", "0.00", "1500", "-1", "24725.00"])
def test_an_amount_stays_a_number(amount: str) -> None:
    assert guard_cell(amount) == amount


def test_a_column_with_negative_amounts_adds_up() -> None:
    amounts = ["1000.00", "-585.00", "-15.00"]
    cells = [next(csv.reader(io.StringIO(csv_line(["x", amount]))))[1] for amount in amounts]
    assert sum(float(cell) for cell in cells) == 400


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\ufe63", "\u2212"])
@pytest.mark.parametrize(
    "before", ["", " ", "\t", "\r", "\n", "\r\n", "\u00a0", "\u200b", "\ufeff", "\u2003", "\u00a0\u200b \n", "\x01"]
)
def test_a_text_that_begins_with_a_formula_sign_is_guarded(before: str, sign: str) -> None:
    assert guard_cell(f"{before}{sign}HYPERLINK(1)") == f"'{before}{sign}HYPERLINK(1)"


@pytest.mark.parametrize("text", ["\ttext", "\rtext", "\ntext", "-", "-1+cmd", "+2348012345678", "-5,0", "-\u0665"])
def test_a_text_that_is_no_number_is_guarded_where_it_might_run(text: str) -> None:
    assert guard_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "Ada Obi", " Ada", "a=b", "1-2", "2026-01-05", "\u200bAda", "'=1"])
def test_other_texts_are_unchanged(text: str) -> None:
    assert guard_cell(text) == text
