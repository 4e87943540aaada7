"""Statements of account: the classes of movements, the period, the checks of the fields, and the files."""

from datetime import UTC, date, datetime

import pytest

from kasuwa.methods.statements import rules
from kasuwa.methods.statements.links import decode_link, encode_link
from kasuwa.methods.statements.model import Movement, Source, StatementAccount, classify_movement, make_period
from kasuwa.methods.statements.wire import StatementTotal
from kasuwa.pages.statement_files import StatementHead, csv_end, csv_head, printable, render_pdf
from kasuwa.wire.fields import read_date
from tests.rule_context import MERCHANT

AT = datetime(2026, 1, 5, 23, 30, tzinfo=UTC)
ACCOUNT = StatementAccount("wallet", Source.WALLET, "wallet:main:NGN", "NGN", "Wallet in NGN")
HEAD = StatementHead("Ọlá & Sons", "GP0000001", ACCOUNT, date(2026, 1, 1), date(2026, 1, 31), 0, 9_850)


@pytest.mark.parametrize(
    ("kind", "counterparty", "amount", "expected"),
    [
        ("payment", "rail:card", 10_000, "collected"),
        ("settlement", "settling:20260105", 5, "collected"),
        ("split", "wallet:main", 5, "collected"),
        ("split", "beneficiary:B1", -5, "payouts"),
        ("collection fee", "income:collection", -150, "fees"),
        ("card monthly fee", "income:card", -150, "fees"),
        ("VAT on fee", "tax:vat", -11, "vat"),
        ("withholding tax", "tax:withholding", -11, "tax"),
        ("stamp duty", "tax:stamp_duty", -50, "tax"),
        ("refund", "rail:card", -100, "refunds"),
        ("transfer", "rail:bank", -100, "payouts"),
        ("bill", "rail:bills", -100, "payouts"),
        ("interest", "savings:SV1", -100, "interest"),
        ("interest repaid", "lending:interest", -100, "interest"),
        ("savings cash-out", "wallet:main", -100, "payouts"),
        ("thrift payout", "thrift:TH1", 100, "other"),
        ("wallet funding", "outside:funding", 100, "other"),
    ],
)
def test_movements_are_classed(kind: str, counterparty: str, amount: int, expected: str) -> None:
    assert classify_movement(kind, counterparty, amount) == expected


def test_a_period_has_whole_days_of_lagos() -> None:
    since, until = make_period(read_date("2026-01-05"), read_date("2026-01-05"))
    assert (since, until) == (datetime(2026, 1, 4, 23, tzinfo=UTC), datetime(2026, 1, 5, 23, tzinfo=UTC))


def test_days_and_ids_are_checked() -> None:
    first = read_date("2026-01-01")
    assert rules.check_days(MERCHANT, first, read_date("2025-12-31")) == rules.ENDS_BEFORE
    assert rules.check_days(MERCHANT, first, read_date("2027-01-02")) is None
    assert rules.check_days(MERCHANT, first, read_date("2027-01-03")) == rules.TOO_LONG
    assert rules.check_id(MERCHANT, "wallet", None) is None
    assert rules.check_id(MERCHANT, "loan", None) == rules.ID_REQUIRED
    assert rules.check_id(MERCHANT, "loan", "LN1") is None


def test_links_survive_their_text() -> None:
    for sealed in (b"", b"a", b"\xff" * 40):
        assert decode_link(encode_link(sealed)) == sealed
    assert decode_link("a") is None


def test_the_first_and_last_lines_of_a_csv_have_the_balances() -> None:
    text = (csv_head(HEAD) + csv_end(HEAD, ())).decode()
    assert text.splitlines() == [
        "date,kind,reference,counterparty,amount,balance",
        "2026-01-01,opening balance,,,,0.00",
        "2026-01-31,closing balance,,,,98.50",
    ]


def test_letters_that_a_pdf_lacks_lose_their_accents() -> None:
    assert printable("Ọlá \N{EURO SIGN}5 \u4e2d\x00") == "Olá \N{EURO SIGN}5 ? "
    assert printable("abcdef", 4) == "abc…"


def test_a_pdf_of_many_movements_has_many_pages() -> None:
    movements = [Movement(n, 1, AT, f"GP{n}", "payment", "rail:card:NGN", 100, n * 100) for n in range(200)]
    made = render_pdf(HEAD, movements, [StatementTotal(kind="collected", amount="200.00", count=200)])
    assert made.startswith(b"%PDF-")
    assert made.rstrip().endswith(b"%%EOF")
    assert made.count(b"/Type /Page\n") == 4
    assert made == render_pdf(HEAD, movements, [StatementTotal(kind="collected", amount="200.00", count=200)])
