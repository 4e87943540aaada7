"""Whole numbers on the wire: a member count, a number of months."""

from typing import Any

import msgspec
import pytest

from kasuwa.wire.decoding import decode
from kasuwa.wire.fields import NON_NEGATIVE_INT_REASON, NonNegativeInt
from tests.rule_context import MERCHANT


class Agreed(msgspec.Struct, kw_only=True):
    count: NonNegativeInt | None = None


def agreed(name: str, text: str) -> Any:
    return decode(Agreed, f'{{"{name}":{text}}}'.encode(), (), MERCHANT)


@pytest.mark.parametrize(
    ("text", "count"), [("0", 0), ("12", 12), ('"12"', 12), ('"007"', 7), ("3.0", 3), ('"3.0"', 3)]
)
def test_a_whole_number_may_come_as_text(text: str, count: int) -> None:
    assert agreed("count", text).count == count


@pytest.mark.parametrize("text", ["-1", "1.5", "1e1", "true", '" "', '"+1"', '"1 "', '"٣"', "1234567890", "{}"])
def test_a_value_that_is_not_a_whole_number_is_refused_with_the_reason(text: str) -> None:
    [fault] = agreed("count", text)
    assert (fault.field, fault.reason) == ("count", NON_NEGATIVE_INT_REASON)
