"""Chooses the statement that writes a batch, so that a writer's connection needs a bounded number of them.

The text of the statement depends on which parts a batch has (bulk_sql.py). Under mixed load there is no end of
combinations: requests of all kinds meet in one batch. Each prepared statement takes half a megabyte of the server's
memory, and to plan one takes ten times as long as to run it. So the combinations that are seen first, and those that
are seen again, get statements of their own. Any other batch is written by the smallest of these that has its parts, or
else by one with every part that was ever seen. The parts that a batch does not have get no rows, and change nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

from kasuwa.postgres.bulk_sql import StatementPart

Parts = tuple[StatementPart, ...]

# Combinations that get a statement of their own at first sight, and those that may have one.
FIRST_SHAPES = 64
MAX_SHAPES = 128
# Combinations that were seen once are remembered up to this number.
MAX_SEEN_ONCE = 4096
NO_ROWS = "[]"

# The order of the parts of a statement: versions first, then rows by table, and the journal last.
OPERATIONS = ("raise", "check", "insert", "update", "delete")
JOURNAL = ("commit_mark", "posting", "event", "operator_notice", "audit_entry", "decision_input")


class ChosenStatement(NamedTuple):
    text: str
    parts: Parts

    def arrange(self, parts: Parts, rows: list[str]) -> list[str]:
        """Returns the rows of a batch with these parts as the parameters of this statement."""
        if self.parts is parts or self.parts == parts:
            return rows
        rows_of = dict(zip(parts, rows, strict=True))
        return [rows_of.get(part, NO_ROWS) for part in self.parts]


class StatementShapes:
    """The statements of one connection. `write` returns the text of a statement with these parts. Without `can_widen`,
    every combination has its own: for layouts that run each part of a statement by itself."""

    def __init__(self, write: Callable[[Parts], str], *, can_widen: bool = True) -> None:
        self._write = write
        self._can_widen = can_widen
        self._shapes: dict[Parts, ChosenStatement] = {}
        self._seen_once: set[Parts] = set()
        self._every_part: set[StatementPart] = set()
        # The statement with every part, made when it is first needed and again when there is a new part.
        self._widest: ChosenStatement | None = None

    def choose(self, parts: Parts) -> ChosenStatement:
        return self._shapes.get(parts) or self._choose_for_new(parts)

    def _choose_for_new(self, parts: Parts) -> ChosenStatement:
        if not self._can_widen or len(self._shapes) < FIRST_SHAPES or self._is_seen_again(parts):
            self._seen_once.discard(parts)
            self._every_part.update(parts)
            chosen = self._shapes[parts] = ChosenStatement(self._write(parts), parts)
            return chosen
        wanted = set(parts)
        fitting = [shape for shape in self._shapes.values() if wanted <= set(shape.parts)]
        return min(fitting, key=lambda shape: len(shape.parts)) if fitting else self._take_widest(wanted)

    def _is_seen_again(self, parts: Parts) -> bool:
        """Whether a combination has been seen before and may have a statement of its own. Remembers that it was."""
        if len(self._shapes) >= MAX_SHAPES:
            return False
        if parts in self._seen_once:
            return True
        if len(self._seen_once) >= MAX_SEEN_ONCE:
            self._seen_once.clear()
        self._seen_once.add(parts)
        return False

    def _take_widest(self, wanted: set[StatementPart]) -> ChosenStatement:
        if self._widest is None or not wanted <= set(self._widest.parts):
            self._every_part |= wanted
            parts = tuple(sorted(self._every_part, key=get_part_order))
            self._widest = ChosenStatement(self._write(parts), parts)
        return self._widest


def get_part_order(part: StatementPart) -> tuple[int, int, str]:
    """Returns the place of a part in the order of a statement."""
    journal = JOURNAL.index(part.table) + 1 if part.table in JOURNAL else 0
    return journal, OPERATIONS.index(part.operation), part.table
