"""What each beneficiary of a split gets: the oracles, and that nothing is lost or made."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import format_minor, minor_of
from kasuwa.core.splits import ONE_OF_TWO, PERCENTAGE_REASON, SUM_REASON, Part, divide_settled, exact_part, part_reason
from tests.untimed import UNTIMED

ORACLES: list[dict[str, Any]] = msgspec.json.decode(
    (Path(__file__).parents[1] / "data/schedule_oracles.json").read_bytes()
)["split"]

by_percentage = st.decimals("0.0001", 60, places=4).map(lambda percent: Part("A", percentage=str(percent)))
by_share = st.integers(1, 500).map(lambda share: Part("B", share=share))


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle["id"])
def test_parts_are_those_of_the_oracle(oracle: dict[str, Any]) -> None:
    settled = minor_of(oracle["net"])
    parts = [
        Part(part["ref_code"], part.get("percentage"), minor_of(part["share"]) if "share" in part else None)
        for part in oracle["split"]
    ]
    amounts = divide_settled(settled, parts)
    assert isinstance(amounts, tuple)
    found = {part.ref_code: format_minor(amount) for part, amount in zip(parts, amounts, strict=True)}
    assert {**found, "merchant": format_minor(settled - sum(amounts))} == oracle["result"]


def test_the_last_gets_no_more_than_is_left() -> None:
    quarters = [Part(ref, percentage="25") for ref in "ABCD"]
    assert divide_settled(2, quarters) == (1, 1, 0, 0)
    assert divide_settled(10, quarters) == (3, 3, 3, 1)


def test_parts_may_take_all_there_is_and_no_more() -> None:
    assert divide_settled(10_000, [Part("A", share=5_000), Part("B", percentage="50")]) == (5_000, 5_000)
    assert divide_settled(10_000, [Part("A", share=5_001), Part("B", percentage="50")]) == SUM_REASON
    assert divide_settled(10_000, [Part("A", percentage="60"), Part("B", percentage="40.0001")]) == SUM_REASON
    assert divide_settled(10_000, [Part("A", share=10_001)]) == SUM_REASON
    assert divide_settled(0, [Part("A", share=1)]) == SUM_REASON


@pytest.mark.parametrize(
    ("part", "reason"),
    [
        (Part("A", percentage="0.0001"), None),
        (Part("A", percentage="100"), None),
        (Part("A", share=1), None),
        (Part("A"), ONE_OF_TWO),
        (Part("A", percentage="1", share=1), ONE_OF_TWO),
        (Part("A", percentage="0"), PERCENTAGE_REASON),
        (Part("A", percentage="100.0001"), PERCENTAGE_REASON),
    ],
)
def test_a_part_is_a_percentage_or_a_share(part: Part, reason: str | None) -> None:
    assert part_reason(part) == reason


@UNTIMED
@given(st.integers(0, 10**6), st.lists(by_percentage | by_share, max_size=8))
def test_nothing_is_lost_or_made(settled: int, parts: list[Part]) -> None:
    amounts = divide_settled(settled, parts)
    exact = [exact_part(settled, part) for part in parts]
    if isinstance(amounts, str):
        assert sum(exact) > settled
        return
    assert sum(exact) <= settled
    assert 0 <= sum(amounts) <= settled
    left = settled
    for amount, wanted in zip(amounts, exact, strict=True):
        assert amount == min(int(wanted + Fraction(1, 2)), left)
        left -= amount
