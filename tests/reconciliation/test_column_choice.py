"""The columns of a CSV file, and the mapping that a person chooses for them."""

import pytest

from kasuwa.reconciliation.column_choice import MEANINGS, make_mapping, read_columns
from kasuwa.reconciliation.model import StatementError

BANK = b"Value Date;Debit;Credit;Narration;Ref\n05/01/2026;1.500,00;;Rent;a1\n"


def test_columns_have_the_meanings_that_their_names_suggest() -> None:
    columns = read_columns(BANK)
    assert columns.names == ["Value Date", "Debit", "Credit", "Narration", "Ref"]
    assert columns.meanings == ["date", "debit", "credit", "description", "reference"]
    assert (columns.delimiter, columns.date_form, columns.amount_form) == (";", "DD/MM/YYYY", "1.234,56")
    assert columns.rows == [["05/01/2026", "1.500,00", "", "Rent", "a1"]]


def test_a_file_without_a_header_is_shown_with_numbered_columns() -> None:
    columns = read_columns(b"2026-01-05,10.00,a\n2026-01-06,11.00,b\n")
    assert (columns.names, columns.has_header, columns.meanings) == (["1", "2", "3"], False, ["", "", ""])
    mapping = make_mapping(columns, ["date", "amount", "description"], {})
    assert (mapping.date, mapping.amount, mapping.description, mapping.has_header) == ("1", "2", ("3",), False)


def test_a_file_with_unknown_names_is_shown_with_its_own() -> None:
    columns = read_columns(b"When;How much\n2026-01-05;10.00\n")
    assert (columns.names, columns.has_header, columns.delimiter) == (["When", "How much"], True, ";")


@pytest.mark.parametrize("content", [b"", b"\n\n", b"only one column\n1\n"])
def test_a_file_without_columns_is_refused(content: bytes) -> None:
    with pytest.raises(StatementError, match="the file has no columns"):
        read_columns(content)


def test_a_mapping_takes_the_forms_that_were_chosen() -> None:
    columns = read_columns(BANK)
    options = {"date_form": "DD/MM/YYYY", "amount_form": "1.234,56", "is_out_positive": "yes"}
    mapping = make_mapping(columns, ["date", "amount", "", "description", "description"], options)
    assert (mapping.decimal, mapping.thousands, mapping.delimiter, mapping.is_out_positive) == (",", ".", ";", True)
    assert mapping.description == ("Narration", "Ref")
    assert read_columns(BANK, mapping).meanings == ["date", "amount", "", "description", "description"]


@pytest.mark.parametrize(
    ("chosen", "fault"),
    [
        (["", "amount"], "date must name a column"),
        (["date", ""], "name either amount, or debit and credit"),
        (["date", "debit"], "name either amount, or debit and credit"),
        (["date", "amount", "amount"], "two columns are chosen as amount with its sign"),
    ],
)
def test_a_choice_that_cannot_be_read_by_says_why(chosen: list[str], fault: str) -> None:
    with pytest.raises(StatementError, match=fault):
        make_mapping(read_columns(BANK), chosen, {})


def test_an_unknown_meaning_is_left_out() -> None:
    assert "nonsense" not in MEANINGS
    mapping = make_mapping(read_columns(BANK), ["date", "debit", "credit", "nonsense"], {})
    assert mapping.description == ()
