"""Measures a lender's nights: loans whose repayments are collected from the wallet, day by day over three years.

Two worlds are compared, each on a server of its own. The same loans fall due in both: a tenth of the smaller world,
each once a month, on ten days in a row. The large one has ten times as many loans. The others are paid out too, and ask
for nothing before the end. All are made through the API, and the clock is moved by a day at a time. What a night costs
is CPU time: of days on which something was done, for each repayment, and of days without.

`python -m bench.loans` measures this row alone.
"""

import argparse
import http.client
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench import cpu, machine, postgres, server
from bench.merchants import DEMO, Merchant, send_expecting, send_request
from bench.results import CpuCost, LoanResult, MeasurementFailed
from kasuwa.postgres.embedded import embedded

LOANS, TIMES, DAYS = 1_000, 10, 3 * 365
DUE_SHARE = 10  # one of so many loans of the smaller world falls due
PAYOUT_DAYS = 10
START = datetime(2026, 1, 5, 8, tzinfo=UTC)
BALANCE, PRINCIPAL = "9000000000.00", "36000.00"
CLIENT = {
    "firstname": "Ada",
    "lastname": "Obi",
    "phone": "08031234567",
    "bankAccount": {"bank_code": "058", "account_number": "0000000000"},
}
INTEREST = {"interestRate": "24", "interestFrequency": "annualized"}
MAKERS = 32
REPLY_SECONDS = 120.0


class Lender:
    """The requests of one merchant, on one connection that stays open."""

    def __init__(self, port: int, merchant: Merchant) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REPLY_SECONDS)
        self._headers = {"mid": merchant.mid, "key": merchant.key, "Content-Type": "application/json"}

    def ask(self, path: str, **body: Any) -> dict[str, Any]:
        self._connection.request("PUT", path, json.dumps(body), self._headers)
        reply: dict[str, Any] = json.loads(self._connection.getresponse().read())
        if reply.get("status") != 200:
            raise MeasurementFailed(f"{path} {body.get('action')} answered {str(reply)[:300]}")
        return reply

    def lend_all(self, wanted: list[bool], installments: int) -> None:
        """Pays out loans, to one client. One that is due is collected each month for all the time, another one asks for
        nothing in that time."""
        client_id = self.ask("/clients", action="create", data=CLIENT, status="active")["data"]["client_id"]
        loan = {"client_id": client_id, "amount": PRINCIPAL, "interestSettings": INTEREST}
        for is_due in wanted:
            rest = {"grace": {"principal": installments, "interest": installments}}
            terms = {"period": installments} if is_due else {"period": installments + 1, **rest}
            loan_id = self.ask("/loans", action="request", **loan, **terms)["data"]["loan_id"]
            self.ask("/loans", action="process", loan_id=loan_id, status="approve")
            if is_due:
                self.ask("/loans", action="auto_repay", loan_id=loan_id, source="wallet")

    def close(self) -> None:
        self._connection.close()


class Nights:
    """The CPU time of the days so far."""

    def __init__(self) -> None:
        self.due_days = self.empty_days = 0
        self.due = self.empty = CpuCost(0.0, 0.0)

    def add(self, cost: CpuCost, *, is_due: bool) -> None:
        if is_due:
            self.due_days, self.due = self.due_days + 1, self.due + cost
        else:
            self.empty_days, self.empty = self.empty_days + 1, self.empty + cost


def measure_loans(
    cluster: embedded.Cluster, directory: Path, loans: int = LOANS, days: int = DAYS
) -> Iterator[LoanResult]:
    """Yields the nights with this many loans, and those with ten times as many."""
    due = max(1, loans // DUE_SHARE)
    for number in (loans, TIMES * loans):
        name = f"loans {number}"
        dsn = postgres.create_database(cluster, name)
        with server.running(directory / name, dsn) as running:
            yield measure_world(running, dsn, due=due, others=number - due, days=days)


def measure_world(running: server.Server, dsn: str, *, due: int, others: int, days: int) -> LoanResult:
    reply = send_expecting(
        running.port, "/sandbox", DEMO, {"action": "new_merchant", "now": START.isoformat(), "balance": BALANCE}
    )
    merchant = Merchant(reply["mid"], reply["key"])
    lender = Lender(running.port, merchant)
    make_loans(running.port, merchant, due, others, installments=days // 30 + 2)
    postgres.vacuum_and_checkpoint(dsn)
    meter, nights = cpu.CpuMeter(running, dsn), Nights()
    for day in range(PAYOUT_DAYS, PAYOUT_DAYS + days):
        before = meter.read()
        ran = advance(running.port, merchant, START + timedelta(days=day))
        nights.add(meter.cost_since(before, 1), is_due=ran > 0)
    collected = lender.ask("/loans", action="collections", state="collected", limit=1)["total"]
    declined = lender.ask("/loans", action="collections", state="declined", limit=1)["total"]
    lender.close()
    if not collected or declined:
        raise MeasurementFailed(f"{collected} repayments were collected and {declined} declined")
    return LoanResult(
        loans=due + others,
        days=days,
        repayments=collected,
        due_days=nights.due_days,
        of_repayment=nights.due.divided(collected),
        of_empty_day=nights.empty.divided(nights.empty_days),
    )


def make_loans(port: int, merchant: Merchant, due: int, others: int, installments: int) -> None:
    """Pays out all loans, some on each of the first days."""
    wanted = [number < due for number in range(due + others)]
    for day in range(PAYOUT_DAYS):
        if day:
            advance(port, merchant, START + timedelta(days=day))
        of_day = wanted[day::PAYOUT_DAYS]
        with ThreadPoolExecutor(MAKERS) as makers:
            parts = [of_day[maker::MAKERS] for maker in range(min(MAKERS, len(of_day)))]
            for made in [makers.submit(lend_all, port, merchant, part, installments) for part in parts]:
                made.result()


def lend_all(port: int, merchant: Merchant, wanted: list[bool], installments: int) -> None:
    lender = Lender(port, merchant)
    lender.lend_all(wanted, installments)
    lender.close()


def advance(port: int, merchant: Merchant, until: datetime) -> int:
    """Moves the clock. Returns how many jobs ran."""
    ran, more = 0, True
    while more:
        body = {"action": "advance", "until": until.isoformat()}
        reply = send_request(port, "/sandbox", merchant, body, seconds=REPLY_SECONDS)
        if reply.get("status") != 200:
            raise MeasurementFailed(f"advance answered {str(reply)[:300]}")
        ran, more = ran + sum(reply["ran"].values()), "more" in reply
    return ran


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.loans", description=__doc__.partition("\n")[0])
    parser.add_argument("--loans", type=int, default=LOANS, help=f"and {TIMES} times as many (default %(default)s)")
    parser.add_argument("--days", type=int, default=DAYS, help="that pass, one at a time (default %(default)s)")
    chosen = parser.parse_args()
    with machine.bench_directory() as directory, postgres.running(directory / "cluster") as cluster:
        found = []
        for result in measure_loans(cluster, directory, chosen.loans, chosen.days):
            found.append(result)
            print(result.describe(), flush=True)
        few, many = found
        print(f"the ratio for each repayment: {many.of_repayment.total_us / few.of_repayment.total_us:.2f}")


if __name__ == "__main__":
    main()
