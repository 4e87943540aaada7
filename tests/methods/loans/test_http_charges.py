"""Charges and waivers over HTTP: the transfer, the statement, lists, portfolio, events, roles and the console.

Contract: loans#charges
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient
from tests.methods.loans.lending_client import FAILING, START, LendingClient
from tests.methods.loans.test_http_reverse import events_of
from tests.running import Deployment

CHARGES = [
    {"name": "Processing fee", "percent": "1", "when": "disbursement", "deduct": True, "vat": "7.5"},
    {"name": "Late fee", "amount": "500.00", "when": "late"},
]


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def charge(bank: LendingClient, loan_id: str, **fields: Any) -> Any:
    return bank.loans("charge", loan_id=loan_id, name="Returned check", amount="1500.00", **fields)


def test_a_deducted_charge_is_not_transferred_and_all_is_owed(bank: LendingClient) -> None:
    asked = bank.request(bank.client(), charges=CHARGES)["data"]
    assert (asked["net_amount"], asked["charges"][0]["amount"]) == ("118710.00", "1200.00")
    before = bank.wallets()["NGN"].balance
    paid = bank.loans("process", loan_id=asked["loan_id"], status="approve")
    sent = bank.put("disburse", action="verify", txnRef=paid["txnRef"]).body
    assert sent["amount"] == "118710.00", sent
    assert before - bank.wallets()["NGN"].balance < 12_000_000
    loan = bank.view(asked["loan_id"])
    assert loan == paid["data"]
    assert (loan["outstanding"]["principal"], loan["outstanding"]["charges"]) == ("120000.00", "0.00")
    lines = bank.loans("statement", loan_id=asked["loan_id"])["data"]
    assert {"charge deducted", "vat deducted"} <= {line["narration"] for line in lines}


def test_a_failed_disbursement_charges_nothing(bank: LendingClient) -> None:
    asked = bank.request(bank.client(FAILING), charges=CHARGES)["data"]
    failed = bank.loans("process", loan_id=asked["loan_id"], status="approve")
    assert failed["data"]["state"] == "approved"
    assert bank.loans("statement", loan_id=asked["loan_id"])["total"] == 0


def test_late_charges_are_in_lists_and_in_the_portfolio_of_every_day(bank: LendingClient) -> None:
    loan_id = bank.lend(charges=CHARGES)
    bank.advance(hours=24 * 28)
    on_time = bank.loans("portfolio")["data"]
    bank.advance(hours=24 * 2)
    [line] = bank.loans("list")["data"]
    assert (line["overdue"], line["outstanding"]) == ("12027.15", bank.view(loan_id)["outstanding"])
    late = bank.loans("portfolio")["data"]
    assert (on_time["expected"]["overdue"], late["expected"]["overdue"]) == ("11527.15", "12027.15")
    assert late["period"]["collected"] == "0.00"
    assert bank.loans("portfolio", as_of="2026-02-28")["data"] == on_time
    assert bank.repay(loan_id)["allocation"]["charges"] == "500.00"
    assert bank.loans("portfolio")["data"]["period"]["collected"] == "12027.15"


def test_a_charge_is_made_and_waived_with_events(bank: LendingClient) -> None:
    loan_id = bank.lend()
    shown = charge(bank, loan_id, vat=7.5, dry_run=True)
    assert shown["explained"][0]["amount"] == "1612.50"
    assert "charges" not in bank.view(loan_id)
    made = charge(bank, loan_id, vat=7.5)["data"]
    assert bank.view(loan_id) == made
    [item] = made["charges"]
    half = bank.loans("waive", loan_id=loan_id, charge_id=item["charge_id"], amount="806.25", reason="Goodwill")
    assert half["data"]["outstanding"]["charges"] == "806.25"
    steps = [(event["step"], event["chargedAmount"], event.get("reason")) for event in events_of(bank, loan_id)]
    assert steps == [("charged", "1612.50", None), ("waived", "806.25", "Goodwill")]


def test_many_waivers_at_once_waive_a_charge_once(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    charge(bank, loan_id)

    def ask(_: int) -> Any:
        with deployment.connect() as wire:
            other = LendingClient(wire, bank.mid, bank.key)
            return other.loans("waive", loan_id=loan_id, charge_id="A1", amount="1500.00")["status"]

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(ask, range(8))) == [104] * 7 + [200]
    assert deployment.broken_invariants([bank.mid]) == []
    assert bank.view(loan_id)["outstanding"]["charges"] == "0.00"


def test_a_waiver_above_the_policy_is_refused(bank: LendingClient) -> None:
    bank.put("sandbox", action="payout_policy", approve_write_off_above="1000.00")
    loan_id = bank.lend()
    charge(bank, loan_id)
    assert bank.loans("waive", loan_id=loan_id, charge_id="A1")["code"] == "waiver_needs_approval"


def test_a_loan_without_charges_has_no_field_of_them(bank: LendingClient, deployment: Deployment) -> None:
    loan = bank.view(bank.lend())
    assert not {"charges", "agreed_charges", "net_amount"} & loan.keys()
    assert "charges" not in loan["outstanding"]
    assert all("charges" not in line for line in loan["schedule"])
    [[agreed]] = deployment.fetch("select agreed from loan where loan_id = $1", loan["loan_id"])
    assert agreed == ""
