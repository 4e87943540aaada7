"""A writer's connection needs a bounded number of statements, whatever requests meet in its batches."""

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kasuwa.engine.statement_shapes import FIRST_SHAPES, MAX_SHAPES, NO_ROWS, Parts, StatementShapes, get_part_order
from kasuwa.engine.writer_session import CACHED_STATEMENTS
from kasuwa.postgres.bulk_sql import StatementPart, statement_sql
from kasuwa.postgres.columns import Columns
from tests.running import running_deployment
from tests.simulate.answer_proxy import AnswerProxy
from tests.simulate.processes import running_database
from tests.walk.rows import NOW, send_examples

COLUMNS = Columns(("key",), ("bytea",))
RAISE = StatementPart("raise", "merchant_state", COLUMNS)
MERCHANTS = 4
POSTING = StatementPart("insert", "posting", COLUMNS)


def combine(*tables: str) -> Parts:
    parts = [RAISE, POSTING, *(StatementPart("insert", table, COLUMNS) for table in tables)]
    return tuple(sorted(parts, key=get_part_order))


def shapes_after(count: int) -> StatementShapes:
    shapes = StatementShapes(statement_sql)
    for n in range(count):
        shapes.choose(combine(f"first_{n}"))
    return shapes


def test_random_combinations_need_a_bounded_number_of_statements() -> None:
    shapes, chance, texts = StatementShapes(statement_sql), random.Random(1), set()
    tables = [f"table_{n}" for n in range(70)]
    for _ in range(20_000):
        parts = combine(*chance.sample(tables, chance.randint(1, 12)))
        chosen = shapes.choose(parts)
        assert set(parts) <= set(chosen.parts)
        texts.add(chosen.text)
    assert len(texts) <= MAX_SHAPES + len(tables)


def test_a_combination_that_is_seen_again_gets_a_statement_of_its_own() -> None:
    shapes, parts = shapes_after(FIRST_SHAPES), combine("later")
    assert set(shapes.choose(parts).parts) > set(parts)
    assert shapes.choose(parts).parts == parts


def test_a_new_combination_is_written_by_the_smallest_statement_that_has_its_parts() -> None:
    shapes = StatementShapes(statement_sql)
    small, large = combine("a", "b"), combine("a", "b", "c", "d")
    shapes.choose(large)
    shapes.choose(small)
    for n in range(FIRST_SHAPES):
        shapes.choose(combine(f"first_{n}"))
    chosen = shapes.choose(combine("b"))
    assert chosen.parts == small
    assert chosen.arrange(combine("b"), ["the state", "of b", "the postings"]) == [
        "the state", NO_ROWS, "of b", "the postings"
    ]  # fmt: skip


def test_a_distributed_database_gets_a_statement_for_each_combination() -> None:
    shapes = StatementShapes(statement_sql, can_widen=False)
    for n in range(2 * MAX_SHAPES):
        assert shapes.choose(combine(f"table_{n}")).parts == combine(f"table_{n}")


def test_mixed_load_evicts_no_statement_of_a_writer(tmp_path: Path) -> None:
    """All examples of the API, from several merchants at once. The driver closes a statement that its cache has no room
    for, by a message of its own."""
    with (
        running_database(tmp_path / "pg") as cluster,
        AnswerProxy(cluster).open_in_thread() as line,
        running_deployment(tmp_path / "data", line.dsn, KASUWA_CONSOLE="off") as deployment,
        ThreadPoolExecutor(MERCHANTS) as threads,
    ):
        playing = [threads.submit(lambda: send_examples(deployment.open_shop(now=NOW))) for _ in range(MERCHANTS)]
        assert all(player.result() for player in playing)
        closed, prepared = (line.sent["kasuwa writer", kind] for kind in ("Close", "Parse"))
    assert prepared > 100, "more than the driver keeps unless it is told to"
    assert closed == 0
    assert prepared < 2 * CACHED_STATEMENTS, "of two processes, with two connections each"
