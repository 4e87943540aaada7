"""The list of transactions: its cursor, its filters, the index that each is read by, and the checks of its fields."""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from typing import Any, get_args

import msgspec
import pytest

from kasuwa.methods.payment.model import RAIL_ROUTES
from kasuwa.methods.transactions import rules, wire
from kasuwa.methods.transactions.model import Cursor, Filters, Stream, decode_cursor, make_filters
from kasuwa.methods.transactions.wire import TransactionsRequest
from kasuwa.wire.fields import read_amount_or_zero, read_date
from tests.rule_context import MERCHANT

AT = datetime(2026, 1, 5, 8, 30, 0, 123456, UTC)
KEY = bytes(range(16))


def test_the_request_names_every_payment_type() -> None:
    assert set(get_args(wire.Method)) == set(RAIL_ROUTES)


def test_a_cursor_survives_its_text() -> None:
    for cursor in (Cursor(AT, KEY), Cursor(AT, b"   a b   c d  e ")):
        assert decode_cursor(cursor.encode()) == cursor


def test_a_cursor_of_version_1_0_0_leads_to_the_same_place() -> None:
    text = urlsafe_b64encode(f"{AT.isoformat()} 143 ".encode() + KEY).decode()
    assert decode_cursor(text) == Cursor(AT, KEY)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "!!!!",
        "",
        Cursor(AT, b"").encode(),
        Cursor(AT, b"k" * 15).encode(),
        Cursor(AT, b"k" * 17).encode(),
        urlsafe_b64encode(b"2026-01-05 " + KEY).decode(),  # a time without a zone
        urlsafe_b64encode(b"0001-01-01T00:00:00+01:00 " + KEY).decode(),  # before the first moment in UTC
        urlsafe_b64encode(b"9999-12-31T23:59:59-01:00 " + KEY).decode(),  # after the last
    ],
)
def test_a_text_that_is_no_cursor_is_refused(text: str) -> None:
    assert decode_cursor(text) is None
    assert rules.check_cursor(MERCHANT, text) == rules.NOT_A_CURSOR


def test_the_order_of_days_and_amounts_is_checked() -> None:
    first, last = read_date("2026-01-05"), read_date("2026-01-06")
    assert rules.check_days(MERCHANT, last, first) == rules.ENDS_BEFORE
    assert rules.check_days(MERCHANT, first, last) is None
    assert rules.check_days(MERCHANT, first, first) is None
    assert rules.check_days(MERCHANT, None, first) is None
    least, most = read_amount_or_zero("10"), read_amount_or_zero("10.01")
    assert rules.check_amounts(MERCHANT, most, least) == rules.BELOW_LEAST
    assert rules.check_amounts(MERCHANT, least, most) is None
    assert rules.check_amounts(MERCHANT, least, None) is None


@pytest.mark.parametrize(
    ("filters", "stream"),
    [
        ({}, Stream.ALL),
        ({"kind": "bill"}, Stream.KIND),
        ({"kind": "bill", "min_amount": 5}, Stream.KIND),
        ({"status": "successful"}, Stream.ALL),
        ({"status": "failed"}, Stream.FAILED),
        ({"status": "failed", "kind": "bill"}, Stream.FAILED),
        ({"status": "pending"}, Stream.OPEN),
        ({"currency": "NGN"}, Stream.ALL),
        ({"currency": "USD"}, Stream.FOREIGN),
        ({"min_amount": 99_999_999}, Stream.ALL),
        ({"min_amount": 100_000_000}, Stream.LARGE),
        ({"method": "card"}, Stream.METHOD),
        ({"method": "card", "kind": "payment"}, Stream.METHOD),
        ({"customer": "ab", "method": "card", "status": "failed"}, Stream.CUSTOMER),
        ({"customer": "ab"}, Stream.CUSTOMER),
        ({"part": "abc"}, Stream.ALL),
        ({"keys": "6b", "status": "failed"}, Stream.KEYS),
    ],
)
def test_each_filter_is_read_by_the_index_with_the_fewest_rows(filters: dict[str, Any], stream: Stream) -> None:
    assert Filters(**filters).stream == stream


def test_days_are_those_of_lagos_and_both_included() -> None:
    request = TransactionsRequest(first_day=read_date("2026-01-05"), last_day=read_date("2026-01-05"))
    filters = make_filters(request, None, None)
    assert (filters.since, filters.until) == (
        datetime(2026, 1, 4, 23, tzinfo=UTC),
        datetime(2026, 1, 5, 23, tzinfo=UTC),
    )


def test_a_whole_reference_is_not_searched_as_a_part() -> None:
    request = TransactionsRequest(reference="Order-1")
    assert make_filters(request, None, None).part == "order-1"
    assert msgspec.structs.asdict(make_filters(request, None, "6b"))["part"] is None
