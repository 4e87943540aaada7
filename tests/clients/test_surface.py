"""Checks the description of the API that the client libraries are generated from."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from clients.generate.field_types import FieldType
from clients.generate.surface import ALIASES, LEFT_OUT_FIELDS, ActionSurface, Field, read_surface, snake_case
from kasuwa.core import codes
from kasuwa.core.action import Write
from tests.walk.rows import ACTION_ROWS

SURFACE = read_surface()
BY_TITLE = {action.title: action for action in SURFACE.actions}

MONEY = re.compile(r"-?[0-9]+\.[0-9]{2}")
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T.+")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
# Texts of two decimals that are no money: the units of electricity that a token is worth.
NOT_MONEY = frozenset({"units"})


def test_every_row_of_the_tables_is_described_once() -> None:
    assert [action.title for action in SURFACE.actions] == [
        row.title for row in ACTION_ROWS if row.title not in ALIASES
    ]
    names = [(action.path, action.method) for action in SURFACE.actions]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for _, name in names)


def test_wire_names_become_python_names() -> None:
    assert snake_case("orderRef") == "order_ref"
    assert snake_case("authURL") == "auth_url"
    assert snake_case("bankcode") == "bankcode"
    assert snake_case("personalized-accounts") == "personalized_accounts"


@pytest.mark.parametrize("action", SURFACE.actions, ids=lambda action: action.title)
def test_an_example_has_only_fields_that_the_action_describes(action: ActionSurface) -> None:
    described = {field.wire_name for field in action.fields} | set(action.selectors)
    assert set(action.example) - LEFT_OUT_FIELDS <= described
    assert {name: action.example[name] for name in action.selectors} == dict(action.selectors)
    required = {field.wire_name for field in action.fields if field.required}
    assert required <= set(action.example)


@pytest.mark.parametrize("row", [row for row in ACTION_ROWS if row.title in BY_TITLE], ids=lambda row: row.title)
def test_only_writes_that_the_service_repeats_safely_are_marked_so(row: Any) -> None:
    action = BY_TITLE[row.title]
    accepts_key = isinstance(row.action, Write) and row.action.accepts_idempotency_key
    assert action.accepts_idempotency_key == accepts_key
    if action.repeat in ("order_ref", "idempotency_key"):
        assert accepts_key
    if action.repeat == "order_ref":
        assert "order_ref" in {field.name for field in action.fields}


def test_every_error_of_the_contract_has_a_name() -> None:
    known = {value for value in vars(codes).values() if isinstance(value, int)}
    assert {status.code for status in SURFACE.statuses} == known


def test_money_and_times_of_recorded_replies_are_described_as_such() -> None:
    seen = []
    for action in SURFACE.actions:
        for field, value in values_of(action.reply, action.example_reply):
            seen.append(field.type.kind)
            assert has_form(field, value), (action.title, field.name, value)
    assert {"amount", "decimal", "time", "date", "choice", "text"} <= set(seen)


def has_form(field: Field, value: Any) -> bool:
    """Returns whether a recorded value looks like the kind of its field, and like no other kind."""
    kind = field.type.kind
    if isinstance(value, str) and value.startswith("<"):
        return True
    if kind == "amount":
        return not isinstance(value, str) or MONEY.fullmatch(value) is not None or value == "0"
    if kind == "time":
        return INSTANT.fullmatch(value) is not None
    if kind == "date":
        return DAY.fullmatch(value) is not None
    if kind == "choice":
        return value in field.type.values
    if kind == "text":
        looks_typed = MONEY.fullmatch(value) or INSTANT.fullmatch(value) or DAY.fullmatch(value)
        return isinstance(value, str) and (not looks_typed or field.name in NOT_MONEY)
    return True


def values_of(kind: FieldType, value: Any) -> Iterator[tuple[Field, Any]]:
    """Yields each single value of a recorded reply with the field that describes it."""
    if kind.kind == "list" and kind.item is not None:
        for one in value:
            yield from values_of(kind.item, one)
    elif kind.kind == "object" and value is not None:
        fields = {field.wire_name: field for field in SURFACE.types[kind.name].fields}
        assert set(value) <= set(fields), (kind.name, value)
        missing = {name for name, field in fields.items() if field.required} - set(value)
        assert not missing, (kind.name, missing)
        for name, part in value.items():
            if fields[name].type.kind in ("list", "object"):
                yield from values_of(fields[name].type, part)
            elif part is not None:
                yield fields[name], part
            else:
                assert fields[name].nullable, (kind.name, name)
