"""Statements in the two forms that layouts run (layout.py): of any merchants, and of one that the statement names."""

import msgspec


class StatementForms(msgspec.Struct, frozen=True):
    """A statement on rows of any merchants, and on those of one, whose number is its last parameter."""

    of_any: str
    of_one: str


def by_key(change: str, parameter: int) -> StatementForms:
    """Returns the forms of a change of rows by their keys, which are its first parameter. `parameter` is the number of
    the last parameter of the form for one merchant."""
    of_any = f"{change} where key = any($1::bytea[])"
    return StatementForms(of_any, f"{of_any} and merchant_id = ${parameter}::bigint")


class SearchQuery(msgspec.Struct, frozen=True):
    """A query over all merchants, and its form for some of them, whose numbers are its last parameter."""

    of_all: str
    of_some: str


def search_query(pattern: str, merchant_column: str, parameter: int) -> SearchQuery:
    """Makes a query of a text that has `{some}` at the end of its condition. `parameter` is the number of the last
    parameter of the form for some merchants."""
    some = f"and {merchant_column} = any(${parameter}::bigint[])"
    return SearchQuery(pattern.format(some=""), pattern.format(some=some))
