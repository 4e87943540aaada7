"""The lines of a list, which PostgreSQL renders: byte for byte what msgspec makes of the wire's struct."""

from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Any, get_args

import msgspec
import pytest

from kasuwa.core.calendar import utc_text
from kasuwa.core.money import LARGEST_AMOUNT, format_minor
from kasuwa.methods.statements import store as statements
from kasuwa.methods.statements.wire import StatementMovement
from kasuwa.methods.transactions import store as transactions
from kasuwa.methods.transactions.wire import Method, Status, TransactionSummary
from kasuwa.transactions.transactions import TRANSACTION_KINDS
from kasuwa.wire.json_rows import json_text, json_word, render_object
from tests.running import NEWEST, OLDEST, Deployments

CONTROLS = "".join(map(chr, range(1, 32)))
TEXTS = [
    "",
    "plain",
    'say "no"',
    "back\\slash \\u0041",
    CONTROLS,
    "\x7f\x80\x9f\u2028\u2029",
    "₦ é 漢 👍🏽",
    "</b>&'%{}",
]
START = datetime(2026, 1, 5, 8, 30, tzinfo=UTC)
MICROSECONDS = (0, 1, 999, 1_000, 100_000, 120_000, 123_000, 123_456, 123_999, 999_000, 999_999)
TIMES = [START + timedelta(microseconds=part) for part in MICROSECONDS] + [
    datetime(1999, 12, 31, 23, 59, 59, 999_999, UTC)
]
AMOUNTS = [1, 5, 10, 99, 100, 101, 12_345, LARGEST_AMOUNT]
VERSIONS = pytest.mark.parametrize("version", [NEWEST, OLDEST])


def spread(values: Any, count: int, shift: int = 0) -> list[Any]:
    return list(islice(cycle(values), shift, count + shift))


def render(
    deployments: Deployments, version: int, expression: str, name: str, columns: dict[str, list[Any]]
) -> list[str]:
    """Returns the lines of rows, given by the type and values of each column."""
    arrays = ", ".join(f"${place}::{kind.partition(' ')[2]}[]" for place, kind in enumerate(columns, 1))
    names = ", ".join(kind.partition(" ")[0] for kind in columns)
    query = f"select {expression} from unnest({arrays}) with ordinality {name} ({names}, place) order by {name}.place"
    return [row[0] for row in deployments.for_version(version).fetch(query, *columns.values())]


@VERSIONS
def test_lines_of_transactions_are_those_of_msgspec(deployments: Deployments, version: int) -> None:
    kinds, statuses = sorted(TRANSACTION_KINDS), get_args(Status)
    count = len(kinds) * len(statuses) * len(TEXTS)
    methods = spread([*get_args(Method), None, ""], count)
    columns: dict[str, list[Any]] = {
        "txn_ref text": [f"GP|FD|{number}" for number in range(count)],
        "order_ref text": spread(TEXTS, count),
        "kind text": spread(kinds, count),
        "status text": [statuses[number // len(kinds) % len(statuses)] for number in range(count)],
        "currency text": spread(["NGN", "USD"], count),
        "amount bigint": spread(AMOUNTS, count),
        "fee bigint": spread([0, *AMOUNTS], count),
        "vat bigint": spread([0, 75], count),
        "duty bigint": spread([5_000, 0, 0], count),
        "detail json": [msgspec.json.encode({"a": [1], "method": method}).decode() for method in methods],
        "message text": spread([*TEXTS, "é" * 150, "x" * 200, '"' * 201, "👍" * 201, "n\n" * 150], count),
        "created_at timestamptz": spread(TIMES, count),
        "final_at timestamptz": spread([None, *TIMES], count),
    }
    lines = render(deployments, version, transactions.LINE, "s", columns)
    for line, method, row in zip(lines, methods, zip(*columns.values(), strict=True), strict=True):
        txn_ref, order_ref, kind, status, currency, amount, fee, vat, duty, _, message, created, final = row
        charged = [format_minor(0 if status == "failed" else charge) for charge in (fee, vat, duty)]
        summary = TransactionSummary(
            txn_ref=txn_ref,
            order_ref=order_ref,
            kind=kind,
            txn_status=status,
            currency=currency,
            amount=format_minor(amount),
            fee=charged[0],
            vat=charged[1],
            duty=charged[2],
            method=(method or None) if kind == "payment" else None,
            message=message[:200],
            date_created=utc_text(created),
            date_ended=None if final is None else utc_text(final),
        )
        assert line == msgspec.json.encode(summary).decode()


@VERSIONS
def test_lines_of_statements_are_those_of_msgspec(deployments: Deployments, version: int) -> None:
    count = len(TEXTS) * len(TIMES)
    signed = [*AMOUNTS, *(-amount for amount in AMOUNTS), 0]
    columns: dict[str, list[Any]] = {
        "at timestamptz": spread(TIMES, count),
        "kind text": spread(TEXTS, count),
        "reference text": spread(TEXTS, count, 1),
        "other text": spread(TEXTS, count, 2),
        "amount bigint": spread(signed, count),
        "balance bigint": spread(signed, count, 3),
    }
    lines = render(deployments, version, statements.LINE, "m", columns)
    for line, (at, kind, reference, other, amount, balance) in zip(
        lines, zip(*columns.values(), strict=True), strict=True
    ):
        movement = StatementMovement(
            date_created=utc_text(at),
            kind=kind,
            reference=reference,
            counterparty=other,
            amount=format_minor(amount),
            balance=format_minor(balance),
        )
        assert line == msgspec.json.encode(movement).decode()


def test_a_line_has_a_value_for_every_field_of_its_struct() -> None:
    class Line(msgspec.Struct):
        name: str = msgspec.field(name="it's")
        kind: str = ""

    assert render_object(Line, name=json_text("a"), kind=json_word("b")) == (
        """'{"it''s":' || to_json(a)::text || ',"kind":"' || b || '"}'"""
    )
    with pytest.raises(TypeError, match="Line has other fields than name"):
        render_object(Line, name=json_text("a"))
    with pytest.raises(TypeError, match="Line has other fields than name, kind, size"):
        render_object(Line, name=json_text("a"), kind=json_word("b"), size=json_word("c"))


@pytest.mark.parametrize("text", [*TEXTS, transactions.LINE_START, f'"{transactions.LINE_START}"'])
def test_the_line_that_tells_that_others_follow_is_cut_off(text: str) -> None:
    amounts = dict.fromkeys(("amount", "fee", "vat", "duty"), "0.00")
    line = TransactionSummary(
        txn_ref="GP1",
        order_ref=text,
        kind="transfer",
        txn_status="successful",
        currency="NGN",
        method=None,
        message=text,
        date_created=utc_text(START),
        date_ended=None,
        **amounts,
    )
    encoded = msgspec.json.encode(line).decode()
    assert transactions.cut_lines(",".join([encoded] * 3)) == ",".join([encoded] * 2)
