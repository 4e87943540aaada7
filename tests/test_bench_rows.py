"""The rows that bench/ writes by SQL fit the schema: each maker writes a few into a migrated database."""

from collections.abc import Iterator

import psutil
import pytest

from bench import capacity, console_pages, interest, list_rows, loans, postgres, reconcile, server
from bench.merchants import Merchant
from bench.results import CpuCost, Results
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments

ROWS = 200
SAVINGS = 3
# Only prevents hanging: a few are posted as soon as they are due.
TIMEOUT_SECONDS = 600.0


@pytest.fixture(scope="module")
def measured(deployments: Deployments) -> Iterator[Deployment]:
    """A deployment of its own: the makers drop indexes, and their postings are in no chain."""
    with deployments.fresh("bench-rows") as running:
        yield running


@pytest.fixture
def merchant(measured: Deployment) -> Iterator[MerchantClient]:
    merchant = measured.open_shop()
    with merchant.connection:
        yield merchant


def count(dsn: str, rows: str) -> int:
    [[number]] = postgres.query(dsn, f"select count(*) from {rows}")
    return int(number)


def merchant_id_of(measured: Deployment, merchant: MerchantClient) -> int:
    [[merchant_id]] = measured.fetch("select merchant_id from merchant where mid = $1 and current", merchant.mid)
    return int(merchant_id)


def test_transactions_and_postings_of_lists_are_shown_and_on_every_page(
    measured: Deployment, merchant: MerchantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_merchant = f"where merchant_id = {merchant_id_of(measured, merchant)}"
    before = count(measured.dsn, f"posting {of_merchant}")
    list_rows.fill(measured.dsn, merchant.mid, ROWS, "00")
    assert count(measured.dsn, f"transaction {of_merchant}") == ROWS
    assert count(measured.dsn, f"posting {of_merchant}") == before + ROWS
    listed = merchant.put("resources", inquire="transactions", limit=1).body
    assert (listed["status"], len(listed["data"])) == (200, 1)
    monkeypatch.setattr(console_pages, "REPEATS", 1)
    measurements = console_pages.measure_console(measured.console_port, measured.dsn, measured.directory, merchant.mid)
    assert measurements["/transactions?status=failed"].size > 0
    assert count(measured.dsn, f"daily_total {of_merchant}") > 0


def test_interest_is_posted_for_the_savings_of_interest(
    measured: Deployment, merchant: MerchantClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interest, "TIMEOUT_SECONDS", TIMEOUT_SECONDS)
    done = interest.measure_interest(measured.dsn, measured.directory, Merchant(merchant.mid, merchant.key), SAVINGS)
    assert (done.accounts, done.postings) == (SAVINGS, SAVINGS)
    assert measured.new_stderr() == ""


def test_as_many_loans_are_repaid_in_a_world_of_ten_times_as_many(measured: Deployment) -> None:
    running = server.Server(measured.port, measured.console_port, psutil.Process(), 0.0)
    few, many = (loans.measure_world(running, measured.dsn, due=1, others=others, days=70) for others in (1, 19))
    assert (few.loans, many.loans) == (2, 20)
    # In February and in March, each with a notice on the day before and a check of arrears on the day after.
    assert (few.repayments, few.due_days) == (many.repayments, many.due_days) == (2, 6)


def test_books_of_reconciliation_have_three_postings_for_each_transfer(deployments: Deployments) -> None:
    dsn = deployments.migrated_database("bench-books")
    reconcile.fill_books(dsn, ROWS)
    assert count(dsn, "posting") == 3 * ROWS
    assert count(dsn, f"posting where credit = '{reconcile.ACCOUNT}' and kind = 'transfer'") == ROWS


def test_capacity_is_the_processor_time_of_all_requests_at_half_load() -> None:
    assert capacity.cores_for(1_000, 500.0) == 1.0
    figures = Results(cpu={"hot64": CpuCost(350.0, 250.0, 50.0), "cpu of something else": CpuCost(1.0, 1.0)})
    figures.card_payments = {"initiate": CpuCost(100.0, 200.0), "validate": CpuCost(400.0, 300.0)}
    _, transfers, cards = capacity.capacity(capacity.costs_of_kinds(figures))
    assert transfers.endswith("transfers, one wallet: 0.8 cores for the service and 0.5 for PostgreSQL")
    assert cards.endswith("all three requests: 1.0 cores for the service and 1.0 for PostgreSQL")
    assert not list(capacity.capacity({}))
