"""The last check of each invariant of the ledger: when, by whom, and where it was violated."""

from collections.abc import Iterable
from datetime import datetime

import msgspec

from kasuwa.core.reading import Reader
from kasuwa.postgres.connection_pool import Connection

# Places that are kept of one invariant.
MAX_PLACES = 20

RESULTS = "select invariant, checked_at, checked_by, violations from invariant_result order by checked_at, invariant"
# An invariant that no version checks any more is forgotten with the next check.
FORGET = "delete from invariant_result where not invariant = any($1::text[])"
RECORD = """
    insert into invariant_result (invariant, checked_at, checked_by, violations) values ($1, $2, $3, $4)
    on conflict (invariant) do update set checked_at = excluded.checked_at, checked_by = excluded.checked_by,
        violations = excluded.violations
"""


class InvariantResult(msgspec.Struct, frozen=True):
    """The last check of one invariant, which its sentence identifies."""

    invariant: str
    checked_at: datetime
    checked_by: str
    violations: list[str]  # the first places; empty if it holds


async def list_results(reader: Reader) -> list[InvariantResult]:
    return [InvariantResult(*row) for row in await reader.fetch(RESULTS)]


async def record_check(
    connection: Connection,
    invariants: Iterable[str],
    violations: Iterable[tuple[str, str, str]],
    at: datetime,
    by: str,
) -> None:
    """Records a check of all invariants, of which `violations` are (whose books, invariant, place)."""
    places: dict[str, list[str]] = {sentence: [] for sentence in invariants}
    for owner, sentence, place in violations:
        places.setdefault(sentence, []).append(f"{owner}: {place}")
    async with connection.transaction():
        await connection.execute(FORGET, list(places))
        rows = [(sentence, at, by, samples[:MAX_PLACES]) for sentence, samples in places.items()]
        await connection.executemany(RECORD, rows)
