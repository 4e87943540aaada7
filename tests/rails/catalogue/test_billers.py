"""The biller catalogue in memory: current and retired paycodes, invalid editions, customer references."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.reference_tables import load_reference_data
from kasuwa.rails.catalogue.catalogue import (
    PAYCODE_LIFE,
    Catalogue,
    CatalogueEdition,
    CatalogueItem,
    InvalidCatalogue,
    check_edition,
    is_magic,
    may_be_customer,
)
from kasuwa.rails.sandbox.biller import first_edition
from tests.rule_context import MERCHANT, merchant

SHEET = first_edition()
WALL = datetime(2026, 1, 5, 12, tzinfo=UTC)
TERMS = load_reference_data("billers_meta")


def with_first(part: str, **changes: Any) -> CatalogueEdition:
    first, *rest = getattr(SHEET, part)
    return msgspec.structs.replace(SHEET, **{part: (msgspec.structs.replace(first, **changes), *rest)})


@pytest.mark.parametrize(
    "sheet",
    [
        with_first("categories", code="data"),
        with_first("billers", id=2),
        with_first("billers", category="nothing"),
        with_first("billers", pattern="("),
        with_first("billers", least=None),
        with_first("items", bills_id=999),
        with_first("items", paycode=SHEET.items[1].paycode),
        with_first("items", paycode=""),
        with_first("items", fee=-1),
        with_first("items", discount="much"),
        with_first("items", discount="-1"),
        with_first("items", amount="1e5"),
    ],
)
def test_an_invalid_edition_is_refused(sheet: CatalogueEdition) -> None:
    check_edition(SHEET)
    with pytest.raises(InvalidCatalogue):
        check_edition(sheet)


def test_a_retired_paycode_is_found_for_a_day_of_wall_time() -> None:
    old = msgspec.structs.replace(SHEET.items[0], paycode="yesterday")
    listing = Catalogue(2, SHEET, (CatalogueItem(old, SHEET.billers[0], WALL),))
    for age, found in ((timedelta(0), True), (PAYCODE_LIFE - timedelta(seconds=1), True), (PAYCODE_LIFE, False)):
        assert (listing.find("yesterday", WALL + age) is not None) == found
    assert listing.find("never", WALL) is None
    assert listing.find(SHEET.items[0].paycode, WALL + timedelta(days=99)) is not None


@pytest.mark.parametrize("row", load_reference_data("billers")["data"]["bills"], ids=lambda row: row["name"])
def test_the_example_of_every_biller_has_its_form(row: Any) -> None:
    terms = TERMS[str(row["id"])]
    example = terms["reference_example"].replace("X", "1") if "XXX" in terms["reference_example"] else None
    result = example or terms["reference_example"]
    assert may_be_customer(merchant("live"), terms["reference_regex"], result)
    assert not may_be_customer(MERCHANT, terms["reference_regex"], result + "\n")
    assert not may_be_customer(MERCHANT, terms["reference_regex"], "~")


@pytest.mark.parametrize("text", ["00000000", "0000000099", "0" * 40 + "16", "08000000000", "0240000099", "0700000000"])
def test_magic_references_are_accepted_in_test_only(text: str) -> None:
    assert is_magic(text)
    assert may_be_customer(MERCHANT, "x", text)
    assert not may_be_customer(merchant("live"), "x", text)


@pytest.mark.parametrize("text", ["0000000", "10000000", "000001", "080000001000", "٠٠٠٠٠٠٠٠", "00000000 ", ""])
def test_references_similar_to_magic_ones_are_not_magic(text: str) -> None:
    assert not is_magic(text)
