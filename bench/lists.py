"""Pages of the list of transactions and of a statement, over millions of rows, compared with a verification."""

import time
from collections.abc import Sequence
from statistics import mean
from typing import Any

from bench import cpu, list_rows, postgres, request_templates, wrk
from bench.deliver import POSTPONE_DELIVERIES
from bench.merchants import Merchant, send_expecting
from bench.results import CpuCost, LoadResult, MeasurementFailed, Results

# As many as for a verification: both are batched.
CONNECTIONS = 64
PAGE = 50
PAGES_BEFORE = 1_000
EMAIL = "bench@example.com"
# Every measured page is full, and others follow.
FULL_PAGE = '"next_cursor":"'
POLL_SECONDS = 0.5
DUE_JOB = "select 1 from scheduled_job where run_at <= now() limit 1"

TRANSACTIONS: dict[str, Any] = {"inquire": "transactions", "limit": PAGE}
STATEMENT: dict[str, Any] = {"inquire": "statement", "account": "wallet", "limit": PAGE}
# What is measured: the name of a row, and the filters.
FILTERS: dict[str, dict[str, Any]] = {
    "first page": {},
    "by kind": {"kind": "transfer"},
    "by kind, one in a hundred": {"kind": "bill"},
    "successful": {"status": "successful"},
    "failed": {"status": "failed"},
    "in USD": {"currency": "USD"},
    "at least 1,000,000.00": {"min_amount": "1000000"},
    "between two amounts": {"min_amount": "100", "max_amount": "9000"},
    "by payment type": {"method": "ussd"},
    "by customer": {"customer": EMAIL},
    "by part of a reference": {"reference": "order-99"},
    "kind, status and amount": {"kind": "transfer", "status": "successful", "min_amount": "100", "max_amount": "9000"},
    "payment type, currency and status": {"method": "token", "currency": "NGN", "status": "successful"},
    "failed payments in NGN": {"kind": "payment", "status": "failed", "currency": "NGN"},
}


def fill(sut: Any, merchant: Merchant, rows: int) -> None:
    """Makes the rows, with a customer whose payments can be asked for."""
    customer = {"request": "customer", "name": "Bench", "email": EMAIL}
    send_expecting(sut.server.port, "/resources", merchant, customer)
    [[customer_hash]] = postgres.query(
        sut.dsn,
        "select encode(c.email_hash, 'hex') from customer c join merchant m using (merchant_id)"
        f" where m.mid = '{merchant.mid}' and m.current",
    )
    list_rows.fill(sut.dsn, merchant.mid, rows, customer_hash)
    end_jobs(sut.dsn)
    postgres.vacuum_and_checkpoint(sut.dsn)


def end_jobs(dsn: str) -> None:
    """Waits for the jobs that earlier loads left, and puts their events off, which have no receiver."""
    while True:
        postgres.query(dsn, POSTPONE_DELIVERIES)
        if not postgres.query(dsn, DUE_JOB):
            return
        time.sleep(POLL_SECONDS)


def page_bodies(port: int, merchant: Merchant) -> dict[str, dict[str, Any]]:
    """Returns the request of each measurement."""
    cursor = None
    for _ in range(PAGES_BEFORE):
        continued: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        cursor = send_expecting(port, "/resources", merchant, {**TRANSACTIONS, **continued})["next_cursor"]
        if cursor is None:
            raise MeasurementFailed("there are too few transactions for a thousand pages")
    newest = send_expecting(port, "/resources", merchant, TRANSACTIONS)["data"][0]["dateCreated"]
    year = int(newest[:4])
    days = {"from": f"{year - 1}{newest[4:10]}", "to": newest[:10]}
    month = {"from": f"{newest[:8]}01", "to": newest[:10]}
    second = send_expecting(port, "/resources", merchant, {**STATEMENT, **days})["next_cursor"]
    return {
        **{name: {**TRANSACTIONS, **filters} for name, filters in FILTERS.items()},
        "thousandth page": {**TRANSACTIONS, "cursor": cursor},
        "of one month": {**TRANSACTIONS, **month},
        "a year's statement, a page": {**STATEMENT, **days, "cursor": second},
    }


def measure_pages(sut: Any, merchant: Merchant, verifications: Sequence[request_templates.RequestTemplate]) -> None:
    """Measures each page, and verifications on the same server before and after them."""
    figures: Results = sut.figures
    figures.page_verifications.append(measure_cost(sut, verifications, wrk.SUCCESSFUL)[1])
    for name, body in page_bodies(sut.server.port, merchant).items():
        requests = [request_templates.make_put_request("/resources", merchant, body, "")]
        figures.pages[name] = measure_cost(sut, requests, FULL_PAGE)
    figures.page_verifications.append(measure_cost(sut, verifications, wrk.SUCCESSFUL)[1])


def measure_cost(
    sut: Any, requests: Sequence[request_templates.RequestTemplate], success: str
) -> tuple[LoadResult, CpuCost]:
    """Measures requests for the seconds of a measurement, after a moment in which plans are made."""
    sut.run_load(requests, CONNECTIONS, 1, success)
    meter = cpu.CpuMeter(sut.server, sut.dsn)
    before = meter.read()
    load = sut.run_load(requests, CONNECTIONS, sut.seconds, success)
    return load, meter.cost_since(before, load.requests)


def ratio_to_verify(figures: Results, cost: CpuCost) -> float | None:
    """Returns the cost of a page in verifications, or None if those were not measured."""
    verify = mean(found.total_us for found in figures.page_verifications) if figures.page_verifications else 0
    return cost.total_us / verify if verify else None
