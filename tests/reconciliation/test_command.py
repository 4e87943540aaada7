"""`kasuwa reconcile`: import, preview, mapping and results, as an operator sees them."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from tests.commands import invoke
from tests.reconciliation.ledger_database import LedgerDatabase, wire
from tests.reconciliation.test_formats import CAMT, MT940
from tests.running import Deployments

pytestmark = pytest.mark.xdist_group("reconciliation")

MAPPING = '{"date": "date", "amount": "amount", "reference": ["ref"]}'
Run = Callable[..., Result]


def error_of(result: Result) -> str:
    """Returns the text with which a command exits. In this process it is not printed."""
    return str(result.exception)


@pytest.fixture(scope="module")
def books(deployments: Deployments) -> Iterator[LedgerDatabase]:
    made = LedgerDatabase(deployments.new_database("reconcile-command"))
    yield made
    made.close()


@pytest.fixture
def run(books: LedgerDatabase, tmp_path: Path) -> Run:
    """Runs `kasuwa reconcile …` on the database. A dict of file contents by name may come first."""
    environment = {
        "KASUWA_DATABASE_URL": books.dsn,
        "KASUWA_DATA": str(tmp_path),
        "KASUWA_SECRET_KEY": base64.b64encode(bytes(32)).decode(),
    }

    def run_one(*words: str, **files: str) -> Result:
        for name, content in files.items():
            (tmp_path / name).write_bytes(content.encode())
        named = [str(tmp_path / word) if word in files else word for word in words]
        return invoke(["reconcile", *named], environment)

    return run_one


def test_a_csv_file_is_previewed_imported_and_shown(books: LedgerDatabase, run: Run) -> None:
    account = ("--account", "rail:command:NGN")
    ours = books.post("rail:command:NGN", -150_000, "2026-11-02")
    missing = books.post("rail:command:NGN", -5_000, "2026-11-02")
    content = f"date,ref,amount\n2026-11-02,{wire(ours)},-1500.00\n2026-11-02,SMS,-4.00\n"
    unmapped = run("import", "a.csv", *account, **{"a.csv": content})
    assert unmapped.exit_code == 1
    assert "nothing was imported: rail:command:NGN has no mapping for CSV. This one may fit" in error_of(unmapped)
    preview = run("import", "a.csv", *account, "--mapping", MAPPING, "--dry-run", **{"a.csv": content})
    assert "2 lines can be read, -1504.00 in all; nothing was imported" in preview.stdout
    done = run("import", "a.csv", *account, "--mapping", MAPPING, **{"a.csv": content})
    assert "2 lines from 2026-11-02 to 2026-11-02 (csv), 2 of them new" in done.stdout
    assert "matched: 1, differing: 0 (1 by reference)" in done.stdout
    again = run("import", "a.csv", *account, **{"a.csv": content})
    assert "nothing was changed: this was imported before" in again.stdout
    assert '"date": "date"' in run("mapping", *account).stdout
    totals = [line.split() for line in run("show", *account).stdout.splitlines()]
    assert ["matched", "1", "-1500.00"] in totals
    assert ["theirs", "only", "1", "-4.00"] in totals
    assert "SMS" in run("show", *account, "--state", "theirs only").stdout
    assert missing in run("show", *account, "--state", "ours only").stdout


def test_mt940_and_camt_are_found_by_their_content(run: Run) -> None:
    files = {"s.txt": MT940, "s.xml": CAMT}
    assert (
        "2 lines from 2026-11-05 to 2026-11-05 (mt940)"
        in run("import", "s.txt", "--account", "rail:m:NGN", **files).stdout
    )
    assert "(camt.053), 2 of them new" in run("import", "s.xml", "--account", "rail:c:NGN", **files).stdout


def test_a_file_in_another_currency_is_refused(run: Run) -> None:
    refused = run("import", "s.xml", "--account", "rail:c:USD", **{"s.xml": CAMT})
    assert refused.exit_code == 1
    assert "entry 1: the currency is 'NGN', and that of the account is USD" in error_of(refused)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("show", "--account", "wallet:main:NGN"), "cannot be reconciled"),
        (("show", "--account", "rail:bank:NGN", "--state", "lost"), "must be one of matched"),
        (("mapping", "--account", "rail:bank:NGN", "--set", "{"), "the mapping is not valid"),
    ],
)
def test_a_wrong_option_is_named(run: Run, words: tuple[str, ...], why: str) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert why in " ".join(refused.output.replace("│", " ").split())


def test_an_account_without_statements_or_mapping_says_so(run: Run) -> None:
    assert "rail:none:NGN has no statement" in error_of(run("show", "--account", "rail:none:NGN"))
    assert run("mapping", "--account", "rail:none:NGN").exit_code == 1
