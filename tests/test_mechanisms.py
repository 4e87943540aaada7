"""Each purpose has one mechanism: checks the sources, and each rule against an offender that it must report."""

import pytest

from tests.source_rules import REPOSITORY, Source, read_all
from tests.source_rules_mechanisms import (
    effects_added_by_field,
    late_needs,
    read_tables,
    second_row_types,
    timers_per_call,
)

SERVICE = read_all("src/kasuwa")
TABLES = read_tables((REPOSITORY / "src/kasuwa/postgres/migrations/0001_baseline.sql").read_text())

SCHEMA = """
create table fare (
    -- row key
    key bytea not null,
    merchant_id bigint not null,  -- the merchant
    reference text not null,
    amount bigint not null check (amount > 0),
    fee bigint not null,
    state text not null,
    at timestamptz not null,
    primary key (key, merchant_id)
);
"""
FARE = """
class Fare(Row):
    table: ClassVar[str] = "fare"
    reference: str
    amount: int
    fee: int
    state: str
    at: datetime
"""


def test_the_row_of_a_table_is_one_struct() -> None:
    assert len(TABLES) > 50
    assert second_row_types(SERVICE, TABLES) == []


def test_a_second_struct_of_a_table_is_noticed() -> None:
    tables = read_tables(SCHEMA)
    assert tables == {"fare": {"key", "merchant_id", "reference", "amount", "fee", "state", "at"}}
    fields = ["key: bytes", "reference: str", "amount: int", "fee: int", "state: str", "at: datetime"]
    row = Source("methods/fares/model.py", FARE)
    copy = Source("audit/fares.py", "\n    ".join(["class FareRecord(msgspec.Struct):", *fields]))
    assert second_row_types([row, copy], tables) == [
        "fare: methods/fares/model.py: Fare and audit/fares.py: FareRecord"
    ]
    variant = Source("methods/fares/rules/erase.py", "class ErasableFare(Fare):\n    table: ClassVar[str] = 'fare'")
    part = Source("console/fares.py", "\n    ".join(["class FareLine(msgspec.Struct):", *fields[:4]]))
    more = Source("console/more.py", "\n    ".join(["class FareView(msgspec.Struct):", *fields, "payer: str"]))
    assert second_row_types([row, variant, part, more], tables) == []


def test_effects_are_added_as_a_whole() -> None:
    assert [complaint for source in SERVICE for complaint in effects_added_by_field(source)] == []


@pytest.mark.parametrize(
    "text",
    [
        "begun.rows += added.rows\n    begun.jobs += added.jobs",
        "begun.rows = (*begun.rows, *added.rows)\n    begun.jobs = (*begun.jobs, *added.jobs)",
        "return Decision(rows=(row, *added.rows), jobs=added.jobs)",
        "return Decision(rows=added.rows, notices=added.notices)",
    ],
)
def test_effects_that_are_added_field_by_field_are_noticed(text: str) -> None:
    function = f"def decide(begun, added, row):\n    {text}\n"
    assert effects_added_by_field(Source("methods/fares/rules.py", function)) == ["methods/fares/rules.py:1: added"]


@pytest.mark.parametrize(
    "text",
    [
        "begun.add(added)",
        "begun.rows = (*begun.rows, row)\n    begun.jobs = (*begun.jobs, row)",
        "return Decision(rows=(end.row,), jobs=end.jobs, events=(end.event,))",
    ],
)
def test_effects_that_are_added_as_a_whole_or_extended_are_allowed(text: str) -> None:
    function = f"def decide(begun, added, row, end):\n    {text}\n"
    assert effects_added_by_field(Source("methods/fares/rules.py", function)) == []


def test_what_a_rule_still_needs_is_returned_where_it_arises() -> None:
    assert [complaint for source in SERVICE for complaint in late_needs(source)] == []
    assert late_needs(Source("methods/fares/rules.py", "assert not isinstance(added, NeedsMore)"))
    assert late_needs(Source("methods/fares/rules.py", "if isinstance(added, NeedsMore):\n    x = 1")) == []


def test_what_is_done_for_each_request_job_or_call_has_a_shared_deadline() -> None:
    assert [complaint for source in SERVICE for complaint in timers_per_call(source)] == []
    for text in ("asyncio.timeout(5)", "asyncio.wait_for(answer, 5)"):
        assert timers_per_call(Source("api/fares.py", text)) == ["api/fares.py:1"]
        assert timers_per_call(Source("cluster/fares.py", text)) == []
    assert timers_per_call(Source("api/fares.py", "self._deadlines.within(5)")) == []
