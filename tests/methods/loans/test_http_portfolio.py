"""The portfolio over HTTP: by days late, due and collected, expected, set aside; every day as it was answered then.

Contract: loans#portfolio
"""

import time
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, to_minor_units
from tests.methods.loans.lending_client import START, LendingClient
from tests.running import READY_SECONDS, Deployment

# 1,000.00 in four installments of 250.00, without interest, from 2026-01-31 on.
PLAIN = {
    "amount": "1000.00",
    "period": 4,
    "tax_applied": False,
    "method": "equal_principal",
    "interestSettings": {"interestRate": "0", "interestFrequency": "every_month"},
}
WITH_INTEREST = {**PLAIN, "interestSettings": {"interestRate": "10", "interestFrequency": "every_month"}}


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def portfolio(bank: LendingClient, as_of: str | None = None) -> Any:
    fields = {} if as_of is None else {"as_of": as_of}
    reply = bank.loans("portfolio", **fields)
    assert reply["status"] == 200, reply
    return reply["data"]


def filled(figures: Any) -> dict[str, tuple[int, str]]:
    """Returns the buckets that have loans."""
    return {line["days_late"]: (line["loans"], line["principal"]) for line in figures["buckets"] if line["loans"]}


def set_lending(bank: LendingClient, deployment: Deployment, settings: str, penalty_rate: str) -> None:
    """Changes the lending settings and waits until new loans have them: every process learns of them within seconds."""
    deployment.run_command("merchant", "set", bank.mid, "--lending", settings)
    client_id, until = bank.client(), time.monotonic() + READY_SECONDS
    while bank.request(client_id, **PLAIN, dry_run=True)["data"]["penalty_rate"] != penalty_rate:
        assert time.monotonic() < until, "new loans do not have the settings"


def computed(bank: LendingClient, loan_ids: list[str]) -> dict[str, Any]:
    """Returns the figures that follow from the schedules of the loans as they are shown now."""
    today = datetime.fromisoformat(bank.now()).date()
    buckets: dict[str, list[int]] = {}
    overdue = coming = 0
    for loan in map(bank.view, loan_ids):
        if not loan["state"].startswith("active"):
            continue
        unpaid = [
            (date.fromisoformat(line["due"]), to_minor_units(line["total"]) - to_minor_units(line["paid"]))
            for line in loan["schedule"]
        ]
        late = max(((today - due).days for due, owed in unpaid if owed), default=0)
        limits = {"0": 0, "1-30": 30, "31-60": 60, "61-90": 90, "91-180": 180, "181+": 10**6}
        bucket = buckets.setdefault(next(name for name, most in limits.items() if late <= most), [0, 0])
        bucket[0] += 1
        bucket[1] += to_minor_units(loan["outstanding"]["principal"])
        overdue += sum(owed for due, owed in unpaid if due <= today)
        coming += sum(owed for due, owed in unpaid if today < due <= today + timedelta(days=30))
    return {"buckets": buckets, "overdue": overdue, "coming": coming}


def shown(figures: Any) -> dict[str, Any]:
    buckets = {name: [loans, to_minor_units(principal)] for name, (loans, principal) in filled(figures).items()}
    expected = figures["expected"]
    return {
        "buckets": buckets,
        "overdue": to_minor_units(expected["overdue"]),
        "coming": to_minor_units(expected["days_30"]),
    }


def test_a_merchant_without_loans_has_an_empty_portfolio(bank: LendingClient) -> None:
    figures = portfolio(bank)
    assert (figures["as_of"], figures["loans"], figures["principal"]) == ("2026-01-31", 0, "0.00")
    assert (figures["par1"], len(figures["buckets"])) == ({"principal": "0.00", "share": "0.00"}, 6)


def test_loans_are_counted_by_days_late_with_what_is_due_and_expected(bank: LendingClient) -> None:
    late, paying = bank.lend(**PLAIN), bank.lend(**PLAIN)
    bank.request(bank.client(), **PLAIN)  # a loan that is not paid out is no part of it
    assert filled(portfolio(bank)) == {"0": (2, "2000.00")}
    bank.advance(until="2026-02-28T12:00:00+01:00")
    assert portfolio(bank)["expected"] == {"overdue": "500.00", "days_7": "0.00", "days_30": "0.00"}
    bank.repay(paying)
    figures = portfolio(bank)
    assert filled(figures) == {"0": (2, "1750.00")}
    period = {"from": "2026-02-01", "to": "2026-02-28", "written_off": "0.00", "recovered": "0.00"}
    assert figures["period"] == period | {"amount_due": "500.00", "paid_of_due": "250.00", "collected": "250.00"}
    bank.advance(until="2026-03-25T12:00:00+01:00")
    figures = portfolio(bank)
    assert filled(figures) == {"0": (1, "750.00"), "1-30": (1, "1000.00")}
    assert figures["par1"] == {"principal": "1000.00", "share": "57.14"}
    assert figures["par30"] == {"principal": "0.00", "share": "0.00"}
    assert figures["expected"] == {"overdue": "250.00", "days_7": "500.00", "days_30": "500.00"}
    # The installments of both are due on 28 February and 31 March: in 7 and in 30 days.
    in_a_week = [portfolio(bank, day)["expected"]["days_7"] for day in ("2026-02-20", "2026-02-21")]
    in_a_month = [portfolio(bank, day)["expected"]["days_30"] for day in ("2026-02-28", "2026-03-01")]
    assert (in_a_week, in_a_month) == (["0.00", "500.00"], ["0.00", "500.00"])
    bank.repay(late, amount="1000.00")
    figures = portfolio(bank)
    assert filled(figures) == {"0": (1, "750.00")}
    # What is paid off early is not due any more on a later day.
    assert figures["period"]["collected"] == "1000.00"


def test_a_write_off_and_what_is_recovered_after_it_are_shown(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend(**PLAIN)
    bank.advance(until="2026-03-10T12:00:00+01:00")
    deployment.run_command("loan", "write-off", bank.mid, loan_id)
    figures = portfolio(bank)
    assert (figures["loans"], figures["period"]["written_off"]) == (0, "1000.00")
    txn_ref = bank.repay(loan_id, amount="300.00")["txnRef"]
    period = portfolio(bank)["period"]
    assert (period["recovered"], period["collected"]) == ("300.00", "0.00")
    assert bank.loans("reverse", txnRef=txn_ref, reason="recalled")["status"] == 200
    assert portfolio(bank)["period"]["recovered"] == "0.00"
    before = portfolio(bank, "2026-03-09")
    assert (filled(before), before["period"]["written_off"]) == ({"1-30": (1, "1000.00")}, "0.00")


def test_every_past_day_is_what_it_was_answered_on_that_day(bank: LendingClient, deployment: Deployment) -> None:
    settings = '{"penalty_rate": "0.1", "provision_rates": ["1", "5", "25", "50", "75", "100"]}'
    set_lending(bank, deployment, settings, "0.1")
    loans = [bank.lend(**WITH_INTEREST) for _ in range(4)]
    repaid: list[str] = []
    acts: dict[str, Callable[[], Any]] = {
        "2026-02-10": lambda: repaid.append(bank.repay(loans[0], amount="400.00")["txnRef"]),
        "2026-02-28": lambda: bank.repay(loans[1]),
        "2026-03-05": lambda: repaid.append(bank.repay(loans[2])["txnRef"]),
        "2026-03-20": lambda: bank.loans("reverse", txnRef=repaid[0], reason="recalled"),
        "2026-04-02": lambda: deployment.run_command("loan", "write-off", bank.mid, loans[3]),
        "2026-04-20": lambda: bank.repay(loans[3], amount="100.00"),
        "2026-05-05": lambda: bank.repay(loans[1], amount=bank.view(loans[1])["outstanding"]["payoff"]),
        "2026-06-10": lambda: bank.loans("reverse", txnRef=repaid[1], reason="recalled"),
    }
    answered = {}
    for day, act in acts.items():
        bank.advance(until=f"{day}T12:00:00+01:00")
        act()
        assert shown(portfolio(bank)) == computed(bank, loans)
        bank.advance(until=f"{day}T23:30:00+01:00")
        answered[day] = portfolio(bank)
    bank.advance(until="2026-07-15T12:00:00+01:00")
    assert {day: portfolio(bank, day) for day in answered} == answered


def test_a_day_on_which_a_loan_was_closed_is_as_before_when_it_opens_again(bank: LendingClient) -> None:
    loan_id = bank.lend(**PLAIN)
    bank.advance(until="2026-02-10T12:00:00+01:00")
    txn_ref = bank.repay(loan_id, amount="1000.00")["txnRef"]
    acts: dict[str, Callable[[], Any]] = {
        "2026-02-27": lambda: None,
        "2026-03-31": lambda: None,
        "2026-04-10": lambda: bank.loans("reverse", txnRef=txn_ref, reason="recalled"),
        "2026-05-31": lambda: bank.repay(loan_id, amount=bank.view(loan_id)["outstanding"]["payoff"]),
    }
    answered = {}
    for day, act in acts.items():
        bank.advance(until=f"{day}T12:00:00+01:00")
        act()
        answered[day] = portfolio(bank)
    assert [figures["loans"] for figures in answered.values()] == [0, 0, 1, 0]
    assert {day: portfolio(bank, day) for day in answered} == answered


def test_the_provision_of_a_day_is_posted_in_the_night_after_it(bank: LendingClient, deployment: Deployment) -> None:
    settings = '{"penalty_rate": "0.1", "provision_rates": ["1", "5", "25", "50", "75", "100"]}'
    set_lending(bank, deployment, settings, "0.1")
    bank.lend(**PLAIN)
    assert portfolio(bank)["provision"] == "0.00"
    bank.advance(until="2026-02-01T12:00:00+01:00")
    assert portfolio(bank)["provision"] == "10.00"
    bank.advance(until="2026-03-01T12:00:00+01:00")
    assert portfolio(bank)["provision"] == "50.00"
    assert [portfolio(bank, day)["provision"] for day in ("2026-01-31", "2026-02-28")] == ["0.00", "10.00"]


def test_loans_are_counted_by_officer_and_by_branch(bank: LendingClient) -> None:
    late, _ = bank.lend(**PLAIN, officer="ada", branch="Kano"), bank.lend(**PLAIN, officer="ada")
    bank.lend(**{**PLAIN, "amount": "5000.00"}, officer="obi", branch="Kano")
    bank.lend(**PLAIN)
    assert (bank.view(late)["officer"], bank.view(late)["branch"]) == ("ada", "Kano")
    bank.advance(until="2026-03-05T12:00:00+01:00")
    bank.repay(late, amount="1000.00")
    figures = bank.loans("portfolio", by="officer")["data"]
    sizes = [(group["name"], group["loans"], group["principal"]) for group in figures["groups"]]
    assert sizes == [("obi", 1, "5000.00"), (None, 1, "1000.00"), ("ada", 1, "1000.00")]
    assert figures["groups"][0]["par1"] == {"principal": "5000.00", "share": "100.00"}
    groups = figures.pop("groups")
    assert figures == portfolio(bank)
    assert sum(to_minor_units(group["principal"]) for group in groups) == to_minor_units(figures["principal"])
    before = bank.loans("portfolio", by="branch", as_of="2026-02-01")["data"]["groups"]
    assert [(group["name"], group["principal"]) for group in before] == [("Kano", "6000.00"), (None, "2000.00")]


def test_a_day_that_has_not_come_is_refused(bank: LendingClient) -> None:
    reply = bank.loans("portfolio", as_of="2026-02-01")
    assert (reply["status"], reply["errors"][0]["field"]) == (104, "as_of")
    [fault] = reply["errors"]
    assert (fault["code"], fault["reason"]) == ("day_in_the_future", "not later than today")
    assert portfolio(bank, "2026-01-31")["as_of"] == "2026-01-31"


def test_a_merchant_sees_its_own_loans_alone(bank: LendingClient, open_shop: Callable[..., MerchantClient]) -> None:
    bank.lend(**PLAIN)
    other = open_shop(now=START)
    figures = portfolio(LendingClient(other.connection, other.mid, other.key))
    assert (figures["loans"], figures["period"]["collected"]) == (0, "0.00")
