"""Each purpose has one mechanism: checks the sources, and each rule against an offender that it must report."""

from tests.source_rules import REPOSITORY, Source, read_all
from tests.source_rules_mechanisms import read_tables, second_row_types

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
