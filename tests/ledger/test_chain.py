"""A chain's value depends on everything that a group or an event means, and on all that came before."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.engine.journal import EventRow
from kasuwa.ledger.apply import JournalLine
from kasuwa.ledger.chain import EMPTY_CHAIN, extend_by_event, extend_by_group

AT = datetime(2026, 1, 5, 9, 30, 0, 123456, UTC)
LINES = [
    JournalLine("GP|FD|1", "wallet:main:NGN", "rail:bank:NGN", 150_000, 850_000, 150_000, "transfer"),
    JournalLine("GP|FD|1", "wallet:main:NGN", "income:transfer:NGN", 2_500, 847_500, 2_500, "transfer fee ₦"),
]
EVENT = EventRow(7, 3, "GP|FD|1", "GP|FD|1", 1, "transfer.successful", '{"a":1}', AT)


def test_the_value_after_a_group_is_the_one_that_the_specification_gives() -> None:
    value = extend_by_group(EMPTY_CHAIN, 7, 12, AT, LINES)
    assert value.hex() == "c565d1991608096a452e6f5d3684d8965234dcbe8d3085106ddba658f4c9787a"


def test_the_value_after_an_event_is_the_one_that_the_specification_gives() -> None:
    assert (
        extend_by_event(EMPTY_CHAIN, EVENT).hex() == "852ad351e700b9f862d03239baeed5712278a5cb3c672310ec571eae8364211e"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"head": bytes([1]) + bytes(31)},
        {"merchant_id": 8},
        {"group_seq": 13},
        {"at": AT + timedelta(microseconds=1)},
        {"lines": LINES[:1]},
        {"lines": LINES[::-1]},
    ],
)
def test_the_value_after_a_group_depends_on_each_part(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"head": EMPTY_CHAIN, "merchant_id": 7, "group_seq": 12, "at": AT, "lines": LINES}
    assert extend_by_group(**{**given, **change}) != extend_by_group(**given)


@pytest.mark.parametrize("field", JournalLine.__struct_fields__)
def test_the_value_after_a_group_depends_on_each_field_of_a_posting(field: str) -> None:
    value = getattr(LINES[0], field)
    changed = msgspec.structs.replace(LINES[0], **{field: value + 1 if isinstance(value, int) else value + "x"})
    moved = [changed, *LINES[1:]]
    assert extend_by_group(EMPTY_CHAIN, 7, 12, AT, moved) != extend_by_group(EMPTY_CHAIN, 7, 12, AT, LINES)


@pytest.mark.parametrize("field", [name for name in EventRow.__struct_fields__ if name != "hash"])
def test_the_value_after_an_event_depends_on_each_field(field: str) -> None:
    value = getattr(EVENT, field)
    step: Any = timedelta(microseconds=1) if field == "at" else 1 if isinstance(value, int) else "x"
    changed = msgspec.structs.replace(EVENT, **{field: value + step})
    assert extend_by_event(EMPTY_CHAIN, changed) != extend_by_event(EMPTY_CHAIN, EVENT)


def test_text_that_moves_to_the_next_field_changes_the_value() -> None:
    first = msgspec.structs.replace(EVENT, reference="ab", object="c")
    second = msgspec.structs.replace(EVENT, reference="a", object="bc")
    assert extend_by_event(EMPTY_CHAIN, first) != extend_by_event(EMPTY_CHAIN, second)
