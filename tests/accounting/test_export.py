"""Exports of books: names, texts, opening and closing balances, days, and what bean-check thinks of them."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

import kasuwa
from kasuwa.accounting import books
from kasuwa.accounting.beancount_accounts import ROOTS, beancount_account
from kasuwa.accounting.books import BookScope
from kasuwa.accounting.books_export import WRITERS, csv_text, export_books, quoted
from kasuwa.accounting.tax_report import TaxLine, TaxReport, format_csv
from kasuwa.ledger.chart import ACCOUNT_KINDS
from tests.accounting.exported_books import check_exports, check_taxes, read_sums, run_bean_check
from tests.commands import invoke
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

pytestmark = pytest.mark.xdist_group("accounting")


@pytest.fixture(scope="module")
def deployment(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment of its own: all of its merchants are exported."""
    with deployments.fresh("accounting") as running:
        yield running


@pytest.fixture(scope="module")
def shop(deployment: Deployment) -> Iterator[MerchantClient]:
    """A merchant with postings of two days in two currencies."""
    made = deployment.open_shop()
    made.transfer(amount="1500.00")
    made.put("sandbox", action="advance", seconds=3 * 86_400)
    made.transfer(amount="20000.00")
    yield made
    made.connection.close()


NAMES = ["wallet:main:NGN", "wallet:Main:NGN", "card:Ab1:NGN", "card:ab1:NGN", "card:1ab:NGN", "card:a-b:NGN"]
NAMES += ["card:a_b:NGN", "card:a|b:NGN", "card:Id-a:NGN", "card:id-a:NGN", "card:é:NGN", "card:-c3-a9:NGN"]
NAMES += ["card:1-ab:NGN", "savings:SV1:NGN", "loan_principal:LN1:NGN", "loan_tax:LN1:NGN", "rail:bank:USD"]


def test_no_two_accounts_share_a_beancount_name() -> None:
    assert len({beancount_account("GP0000001", name) for name in NAMES}) == len(NAMES)
    assert beancount_account("GP0000001", "wallet:main:NGN") == "Liabilities:GP0000001:Wallet:Main:NGN"


def test_every_account_name_is_legal_in_beancount(tmp_path: Path) -> None:
    names = [*NAMES, *(f"{kind}:x_1:NGN" for kind in ACCOUNT_KINDS)]
    file = tmp_path / "names.beancount"
    file.write_text("".join(f"2026-01-01 open {beancount_account('GP0000001', name)} NGN\n" for name in names))
    assert run_bean_check(file) == ""


def test_the_roots_are_of_kinds_that_exist() -> None:
    assert ROOTS.keys() <= ACCOUNT_KINDS.keys()


def test_texts_cannot_break_out_of_their_quotation_marks() -> None:
    assert quoted('a"b\\c\nd') == '"a\\"b\\\\c d"'


def test_exports_and_tax_reports_add_up_to_the_trial_balance(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    check_exports(deployment, tmp_path)
    check_taxes(deployment)


def test_no_cell_of_an_exported_file_is_run_as_a_formula() -> None:
    assert csv_text("posting", date(2026, 1, 5), "=1+1", "\u200b@x", "-5.00", "-x") == (
        "posting,2026-01-05,'=1+1,'\u200b@x,-5.00,'-x\n"
    )
    line = TaxLine(
        mid="GP0000001",
        merchant_name="\uff1dcmd()",
        tax="VAT",
        currency="NGN",
        collected=-5,
        reversed=0,
        paid=0,
        closing=5,
    )
    assert ",'\uff1dcmd(),VAT,NGN," in format_csv(TaxReport("2026-01", (line,), ()))


def test_every_module_that_writes_csv_guards_its_cells() -> None:
    # Its texts come from the database, which guards them (methods/statements/files/store.py).
    elsewhere = {"statement_files.py"}
    sources = Path(kasuwa.__file__).parent.rglob("*.py")
    writing = {path.name: text for path in sources if "csv.writer(" in (text := path.read_text())}
    assert {name for name, text in writing.items() if "guard_cell" not in text} == elsewhere


def test_a_part_of_the_days_has_its_opening_and_closing_balances(
    deployment: Deployment, shop: MerchantClient, tmp_path: Path
) -> None:
    [(first, last)] = deployment.fetch(
        "select min((at at time zone 'Africa/Lagos')::date), max((at at time zone 'Africa/Lagos')::date)"
        " from posting join merchant using (merchant_id) where mid = $1",
        shop.mid,
    )
    parts: list[Any] = []
    for number, days in enumerate((("--to", str(first)), ("--from", str(last), "--to", str(last)))):
        file = tmp_path / f"part{number}.beancount"
        deployment.run_command("export", "books", shop.mid, *days, "--output", str(file))
        assert run_bean_check(file) == ""
        text = deployment.run_command("export", "books", shop.mid, *days, "--format", "ledger-csv")
        parts.append((read_sums(text), text))
    (moved, closing), _ = parts[0]
    assert {account: amount for account, amount in moved.items() if amount} == dict(closing.items())
    (_, later), text = parts[1]
    openings = [line for line in text.splitlines() if line.startswith("opening,")]
    assert len(openings) == len([amount for amount in closing.values() if amount])
    assert {mid for mid, _ in later} == {shop.mid}
    assert later != closing


def test_a_changed_amount_is_found_by_bean_check(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    file = tmp_path / "wrong.beancount"
    deployment.run_command("export", "books", shop.mid, "--output", str(file))
    text = file.read_text()
    assert "1500.00 NGN" in text
    file.write_text(text.replace("  1500.00 NGN", "  1500.01 NGN").replace("  -1500.00 NGN", "  -1500.01 NGN"))
    assert "Balance failed" in run_bean_check(file)


def test_postings_during_an_export_do_not_tear_it(deployment: Deployment, shop: MerchantClient, tmp_path: Path) -> None:
    """A transfer is posted after the first line of the export was written."""

    async def export() -> str:
        connection: asyncpg.Connection[Any] = await asyncpg.connect(deployment.dsn)
        async with books.book_snapshot(connection):
            scope = BookScope(None, date(2000, 1, 1), date(2100, 1, 1))
            texts: AsyncIterator[str] = export_books(connection, scope, WRITERS["beancount"]())
            parts = [await anext(texts), await anext(texts)]
            await asyncio.to_thread(shop.transfer, amount="77.00")
            parts += [text async for text in texts]
        await connection.close()
        return "".join(parts)

    file = tmp_path / "live.beancount"
    file.write_text(asyncio.run(export()))
    assert "77.00 NGN" not in file.read_text()
    assert run_bean_check(file) == ""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("export", "books", "--format", "pdf"), "must be one of beancount, ledger-csv"),
        (("export", "books", "--from", "2026-02-01", "--to", "2026-01-01"), "must not be before --from"),
        (("report", "tax", "--month", "2026-13"), "must be a month such as 2026-01"),
        (("report", "tax", "--month", "2026-01", "--format", "xml"), "must be one of csv, json"),
    ],
)
def test_a_wrong_option_is_named(words: tuple[str, ...], why: str) -> None:
    shown = invoke(list(words), {})
    assert shown.exit_code == 2
    assert why in " ".join(shown.output.replace("│", " ").split())


def test_the_report_is_also_json(deployment: Deployment, shop: MerchantClient) -> None:
    [(month,)] = deployment.fetch("select to_char(max(at) at time zone 'Africa/Lagos', 'YYYY-MM') from posting")
    report = msgspec.json.decode(deployment.run_command("report", "tax", "--month", month, "--format", "json"))
    [total] = report["totals"]
    [(vat,)] = deployment.fetch("select sum(posted)::bigint from account where name = 'tax:vat:NGN'")
    assert (total["tax"], total["closing"]) == ("VAT", f"{vat // 100}.{vat % 100:02d}")
    assert [one["mid"] for one in report["merchants"]] == [shop.mid]
