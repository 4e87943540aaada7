"""Split payments: oracle values, and conservation of the settled amount."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import convert_to_minor, format_minor
from kasuwa.transactions.splits import (
    ONE_OF_TWO,
    PERCENTAGE_REASON,
    SUM_REASON,
    SplitShare,
    check_and_split,
    check_share,
    exact_share,
)
from tests.walk.bounds import SPLIT_PERCENTAGE

ORACLES: list[dict[str, Any]] = msgspec.json.decode(
    (Path(__file__).parents[1] / "data/schedule_oracles.json").read_bytes()
)["split"]

by_percentage = st.decimals("0.0001", 60, places=4).map(lambda percent: SplitShare("A", percentage=str(percent)))
by_share = st.integers(1, 500).map(lambda share: SplitShare("B", share=share))


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle["id"])
def test_parts_are_those_of_the_oracle(oracle: dict[str, Any]) -> None:
    settled = convert_to_minor(oracle["net"])
    parts = [
        SplitShare(
            part["ref_code"], part.get("percentage"), convert_to_minor(part["share"]) if "share" in part else None
        )
        for part in oracle["split"]
    ]
    amounts = check_and_split(settled, parts)
    assert isinstance(amounts, tuple)
    found = {part.ref_code: format_minor(amount) for part, amount in zip(parts, amounts, strict=True)}
    assert {**found, "merchant": format_minor(settled - sum(amounts))} == oracle["result"]


def test_the_last_gets_no_more_than_is_left() -> None:
    quarters = [SplitShare(ref, percentage="25") for ref in "ABCD"]
    assert check_and_split(2, quarters) == (1, 1, 0, 0)
    assert check_and_split(10, quarters) == (3, 3, 3, 1)


def test_parts_may_take_all_there_is_and_no_more() -> None:
    assert check_and_split(10_000, [SplitShare("A", share=5_000), SplitShare("B", percentage="50")]) == (5_000, 5_000)
    assert check_and_split(10_000, [SplitShare("A", share=5_001), SplitShare("B", percentage="50")]) == SUM_REASON
    assert (
        check_and_split(10_000, [SplitShare("A", percentage="60"), SplitShare("B", percentage="40.0001")]) == SUM_REASON
    )
    assert check_and_split(10_000, [SplitShare("A", share=10_001)]) == SUM_REASON
    assert check_and_split(0, [SplitShare("A", share=1)]) == SUM_REASON


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (SplitShare("A", share=1), None),
        (SplitShare("A"), ONE_OF_TWO),
        (SplitShare("A", percentage="1", share=1), ONE_OF_TWO),
    ],
)
def test_a_part_is_a_percentage_or_a_share(part: SplitShare, reason: str | None) -> None:
    assert check_share(part) == reason


@SPLIT_PERCENTAGE.tries
def test_a_percentage_is_above_0_and_at_most_100(value: str, is_within: bool) -> None:
    assert check_share(SplitShare("A", percentage=value)) == (None if is_within else PERCENTAGE_REASON)


@given(st.integers(0, 10**6), st.lists(by_percentage | by_share, max_size=8))
def test_nothing_is_lost_or_made(settled: int, parts: list[SplitShare]) -> None:
    amounts = check_and_split(settled, parts)
    exact = [exact_share(settled, part) for part in parts]
    if isinstance(amounts, str):
        assert sum(exact) > settled
        return
    assert sum(exact) <= settled
    assert 0 <= sum(amounts) <= settled
    left = settled
    for amount, wanted in zip(amounts, exact, strict=True):
        assert amount == min(int(wanted + Fraction(1, 2)), left)
        left -= amount
