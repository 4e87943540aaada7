"""Compares what became of a reference with what was recorded."""

from collections.abc import Iterator, Sequence

import msgspec

from kasuwa.testing.cases.case_file import CaseLine


class Difference(msgspec.Struct, frozen=True):
    """A step that was not as recorded."""

    at_ms: int
    text: str


def compare_lines(
    recorded: Sequence[CaseLine], played: Sequence[CaseLine], tolerance: float
) -> Iterator[tuple[int, str]]:
    """Yields what differs: lines that are missing, that are new, and those that came earlier or later than by the
    tolerance, in seconds. What is within the tolerance may have another order."""
    left = list(played)
    for line in recorded:
        same = [other for other in left if describe(other) == describe(line)]
        if not same:
            yield line.at_ms, f"missing: {describe(line)}"
            continue
        nearest = min(same, key=lambda other: abs(other.at_ms - line.at_ms))
        left.remove(nearest)
        seconds = (nearest.at_ms - line.at_ms) / 1000
        if abs(seconds) > tolerance:
            when = "later" if seconds > 0 else "earlier"
            yield line.at_ms, f"{describe(line)} came {abs(seconds):,.1f} s {when}"
    yield from ((line.at_ms, f"not recorded: {describe(line)}") for line in left)


def describe(line: CaseLine) -> str:
    return " ".join((line.what, *(f"{name} {value}" for name, value in line.facts.items())))
