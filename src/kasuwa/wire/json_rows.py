"""Rows that PostgreSQL renders as JSON objects of the wire.

A page of a list has hundreds of values. Decoding them from the database and encoding them for the reply takes several
times as long as reading the rows. So the statement that reads a long list also renders it, and the server passes the
text on. `render_object` makes the SQL expression of one line from the wire's struct and a value for each of its fields:

    render_object(Line, txn_ref=json_word("t.txn_ref"), amount=json_amount("t.amount"), date=json_time("t.created_at"))

The text is, byte for byte, what msgspec makes of the struct (tests/methods/transactions/test_lines.py).
"""

from typing import Any, NamedTuple, cast

import msgspec


class JsonValue(NamedTuple):
    """A JSON value: an SQL expression of type text, and the constant text before and after it."""

    before: str
    expression: str
    after: str


def json_word(expression: str) -> JsonValue:
    """A text that has neither quotes, backslashes nor control characters: our own codes and references."""
    return JsonValue('"', expression, '"')


def json_text(expression: str) -> JsonValue:
    """A text with any characters."""
    return JsonValue("", f"to_json({expression})::text", "")


def json_amount(expression: str) -> JsonValue:
    """An amount in minor units, as `money.format_minor` formats it. The numeric product always has two decimals."""
    return JsonValue('"', f"({expression} * 0.01)::text", '"')


def json_time(expression: str) -> JsonValue:
    """A time, as `calendar.utc_text` formats it.

    PostgreSQL leaves out the zeros at the end of a fraction. So whole milliseconds get a microsecond more, and the text
    is cut after the milliseconds: `to_char` takes twice as long, and `left` longer than the cast. UTC is an interval,
    because a zone is looked up by its name for every value."""
    is_whole = f"{expression}::timestamptz(3) = {expression}"
    exact = f"case when {is_whole} then {expression} + interval '1 microsecond' else {expression} end"
    return JsonValue("", f"to_json({exact} at time zone interval '0')::text::varchar(24)", 'Z"')


def json_nullable(value: JsonValue) -> JsonValue:
    """A value, or null if its expression is null."""
    return JsonValue("", f"coalesce({concatenate(value)}, 'null')", "")


def render_object(struct: type[msgspec.Struct], /, **values: JsonValue) -> str:
    """Returns the SQL expression of a struct's JSON text, which is null if a value that is not optional is null.

    Raises TypeError unless `values` has all fields of the struct and no others."""
    fields = msgspec.structs.fields(struct)
    if {field.name for field in fields} != values.keys():
        raise TypeError(f"{struct.__name__} has other fields than {', '.join(values)}")
    parts, before = [], "{"
    for field in fields:
        value = values[field.name]
        parts.append(JsonValue(f'{before}"{field.encode_name}":{value.before}', value.expression, ""))
        before = f"{value.after},"
    last = parts.pop()
    return concatenate(*parts, last._replace(after=before.removesuffix(",") + "}"))


def concatenate(*values: JsonValue) -> str:
    """Returns the SQL expression of values and their constant texts in a row."""
    parts = [part for value in values for part in (quote(value.before), value.expression, quote(value.after)) if part]
    return " || ".join(parts)


def quote(constant: str) -> str:
    """Returns a constant text as SQL, or nothing if it is empty."""
    return "'" + constant.replace("'", "''") + "'" if constant else ""


def encoded_list(lines: str | None) -> list[Any]:
    """Returns a list of objects that are rendered already, with commas between them, as a field of a reply. None is an
    empty list."""
    return cast(list[Any], msgspec.Raw(f"[{lines or ''}]".encode()))
