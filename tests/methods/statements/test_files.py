"""Files of statements: the lines that PostgreSQL renders, their pieces, and the shares of those who get them."""

import csv
import io
from datetime import UTC, datetime

import pytest

from kasuwa.concurrency.shares import MERCHANT_FILES, NETWORK_FILES, FileShares
from kasuwa.core.calendar import lagos_text
from kasuwa.core.money import format_minor
from kasuwa.methods.statements.files.store import LINE
from kasuwa.wire.spreadsheet_cells import guard_cell, guard_cell_in_sql
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.bounds import FILES_AT_ONCE

AT = datetime(2026, 1, 5, 23, 30, 1, 999_999, tzinfo=UTC)
ONE_LINE = f"""
    select {LINE} from (values ($1::timestamptz, $2::text, $3::text, $4::text, $5::bigint, $6::bigint))
        m (at, kind, reference, other, amount, balance)
"""


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


def render_line(deployment: Deployment, text: str, amount: int = -150) -> str:
    [[line]] = deployment.fetch(ONE_LINE, AT, "payment", text, "rail:card:NGN", amount, 9_850)
    return str(line)


@pytest.mark.parametrize("text", ["GP1", "a,b", 'say "x"', "two\nlines", "", "é", "a=b", "1-2", "GP|FD|1|2X"])
def test_a_line_reads_as_what_was_written(deployment: Deployment, text: str) -> None:
    line = render_line(deployment, text)
    assert line.endswith("\r\n")
    assert list(csv.reader(io.StringIO(line, newline=""))) == [
        [lagos_text(AT), "payment", text, "rail:card:NGN", "-1.50", "98.50"]
    ]


# Every character but NUL, which a text of PostgreSQL cannot have, and halves of pairs.
CHARACTERS = (range(1, 0xD800), range(0xE000, 0x110000))
GUARDED = f"""
    select n, guarded from (
        select n, text, {guard_cell_in_sql("text")} as guarded from (
            select n, replace($1::text, '{{}}', chr(n)) as text from unnest($2::int[], $3::int[]) r (first, last),
                generate_series(r.first, r.last) n offset 0
        ) t
    ) g where guarded is distinct from text
"""


@pytest.mark.parametrize("form", ["{}cmd()", "{}=1", "-5{}", "{}12.50", "-{}"])
def test_the_database_guards_a_cell_as_python_does(deployment: Deployment, form: str) -> None:
    """Compares the cells that are not left as they are."""
    texts = {code: form.format(chr(code)) for codes in CHARACTERS for code in codes}
    expected = {code: guarded for code, text in texts.items() if (guarded := guard_cell(text)) != text}
    ends = [[codes[0] for codes in CHARACTERS], [codes[-1] for codes in CHARACTERS]]
    assert dict(deployment.fetch(GUARDED, form, *ends)) == expected


@pytest.mark.parametrize("amount", [0, 5, -5, 99, -100, 123_456_789_012_345])
def test_amounts_of_a_line_are_numbers_with_two_decimals(deployment: Deployment, amount: int) -> None:
    [cells] = csv.reader(io.StringIO(render_line(deployment, "x", amount)))
    assert cells[4:] == [format_minor(amount), "98.50"]


@FILES_AT_ONCE.tries
def test_a_merchant_gets_four_files_at_once_and_no_more(value: int, is_within: bool) -> None:
    shares = FileShares()
    ends = [shares.begin("net", 1) for _ in range(value)]
    assert (ends[-1] is not None) == is_within


def test_a_merchant_and_a_network_get_a_limited_number_of_files_at_once() -> None:
    shares = FileShares()
    ends = [shares.begin("net", 1) for _ in range(MERCHANT_FILES)]
    assert None not in ends
    assert shares.begin("net", 1) is None
    assert shares.begin("other net", 1) is None
    ends += [shares.begin("net", 2) for _ in range(NETWORK_FILES - MERCHANT_FILES)]
    assert None not in ends
    assert shares.begin("net", 3) is None
    assert shares.begin("other net", 3) is not None
    first = ends[0]
    assert first is not None
    first()
    first()
    assert shares.begin("net", 3) is not None
    assert shares.begin("net", 1) is None
