"""Guarantees and collateral over HTTP, on real PostgreSQL: pledged, called, repaid, and in the views of both clients.

Contract: loans#guarantees, loans#call, loans#collateral
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import update
from tests.methods.investments.savers import balance, cash_out, enroll, invest, open_savings, view
from tests.methods.loans.lending_client import START, LendingClient
from tests.methods.loans.test_http_reverse import events_of
from tests.running import Deployment

NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}
PLAIN: dict[str, Any] = {"interestSettings": NO_INTEREST, "amount": "10000.00", "period": 4, "tax_applied": False}
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def guarantor(bank: LendingClient, deposit: str = "5000.00", **fields: Any) -> dict[str, str]:
    client_id = enroll(bank)
    terms: dict[str, Any] = {"interestSettings": NO_INTEREST, **fields}
    return {"client_id": client_id, "savings_id": open_savings(bank, client_id, deposit, **terms)}


def pledge(bank: LendingClient, loan_id: str, member: dict[str, str], amount: str = "4000.00", **more: Any) -> Any:
    return bank.loans("guarantee", loan_id=loan_id, **member, amount=amount, **more)


def lend_late(bank: LendingClient, *members: dict[str, str]) -> str:
    """Returns a loan of which 2,500.00 is late, and which each of the members guarantees with 4,000.00."""
    loan_id = bank.lend(**PLAIN)
    for member in members:
        assert pledge(bank, loan_id, member)["status"] == 200
    bank.advance(days=32)
    assert bank.view(loan_id)["state"] == "active_in_arrears"
    return loan_id


def test_a_guarantee_is_called_and_repaid_in_the_views_of_both(bank: LendingClient, deployment: Deployment) -> None:
    member = guarantor(bank)
    loan_id = lend_late(bank, member)
    assert invest(bank, "view_savings", savings_id=member["savings_id"])["pledged"] == "4000.00"
    assert cash_out(bank, member["savings_id"], member["client_id"], "1000.01")["code"] == "savings_insufficient"
    called = bank.loans("call_guarantee", loan_id=loan_id)
    assert (called["amount"], called["data"]["state"]) == ("2500.00", "active")
    shown = bank.view(loan_id)
    assert shown["guarantees"] == called["guarantees"] == called["data"]["guarantees"]
    [record] = shown["guarantees"]
    assert (record["held"], record["called"], record["owed"]) == ("1500.00", "2500.00", "2500.00")
    assert bank.loans("guarantees", client_id=member["client_id"])["data"] == [record]
    assert bank.loans("guarantees", borrower_id=shown["client_id"])["data"] == [record]
    [line] = [
        one for one in invest(bank, "statement", savings_id=member["savings_id"])["data"] if one["amount"][0] == "-"
    ]
    assert (line["narration"], line["amount"], line["origin"]) == ("guarantee called", "-2500.00", called["txnRef"])
    [event] = [one for one in events_of(bank, loan_id) if one["step"] == "guarantee_called"]
    assert (event["chargedAmount"], event["repaymentRef"]) == ("2500.00", called["txnRef"])
    assert bank.loans("reverse", txnRef=called["txnRef"], reason="x")["code"] == "repayment_of_guarantors"
    bank.repay(loan_id, amount="7500.00")
    assert bank.view(loan_id)["state"] == "closed_repaid"
    for client_id in (shown["client_id"], member["client_id"]):
        assert update(bank, client_id, status="exited")["code"] == "client_accounts_open"
    repaid = bank.loans("pay_guarantor", guarantee_id=record["guarantee_id"], amount="2500.00", payment_method="wallet")
    assert (repaid["data"]["state"], balance(bank, member["savings_id"])) == ("ended", 500_000)
    assert update(bank, shown["client_id"], status="exited")["status"] == 200


def test_a_member_is_not_erased_while_savings_are_pledged(bank: LendingClient, deployment: Deployment) -> None:
    member = guarantor(bank)
    loan_id = bank.lend(**PLAIN)
    record = pledge(bank, loan_id, member)["data"]
    cash_out(bank, member["savings_id"], member["client_id"], "1000.00")
    assert view(bank, member["savings_id"])["state"] == "active"
    assert update(bank, member["client_id"], status="exited")["code"] == "client_accounts_open"
    assert bank.loans("release_guarantee", guarantee_id=record["guarantee_id"])["data"]["state"] == "released"
    cash_out(bank, member["savings_id"], member["client_id"], "4000.00")
    assert update(bank, member["client_id"], status="exited")["status"] == 200


def test_two_guarantors_are_called_at_once_and_the_loan_is_paid_once(
    bank: LendingClient, deployment: Deployment
) -> None:
    members = [guarantor(bank), guarantor(bank)]
    loan_id = lend_late(bank, *members)

    def call(_: int) -> Any:
        with deployment.connect() as wire:
            return LendingClient(wire, bank.mid, bank.key).loans("call_guarantee", loan_id=loan_id)

    with ThreadPoolExecutor(2) as pool:
        replies = list(pool.map(call, range(2)))
    assert sorted(reply.get("code", "done") for reply in replies) == ["done", "not_in_arrears"]
    assert [one["called"] for one in bank.view(loan_id)["guarantees"]] == ["1250.00", "1250.00"]


def test_a_cash_out_at_the_moment_of_a_call_takes_nothing_that_is_pledged(
    bank: LendingClient, deployment: Deployment
) -> None:
    member = guarantor(bank)
    loan_id = lend_late(bank, member)

    def take(amount: str) -> Any:
        with deployment.connect() as wire:
            other = LendingClient(wire, bank.mid, bank.key)
            if amount:
                return cash_out(other, member["savings_id"], member["client_id"], amount)["status"]
            return other.loans("call_guarantee", loan_id=loan_id)["status"]

    with ThreadPoolExecutor(4) as pool:
        replies = list(pool.map(take, ("1000.00", "", "1000.00", "4000.00")))
    assert sorted(replies) == [200, 200, 301, 301]
    assert balance(bank, member["savings_id"]) == 0
    assert bank.view(loan_id)["guarantees"][0]["held"] == "1500.00"


def test_a_dispute_that_is_lost_holds_the_savings_again(bank: LendingClient) -> None:
    member = guarantor(bank)
    loan_id = bank.lend(**PLAIN)
    pledge(bank, loan_id, member)
    card = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}
    asked = bank.loans("repay", loan_id=loan_id, payment_method="card", amount="5000.00", card=card)
    paid = bank.loans("validate", txnRef=asked["txnRef"], otp="123456")
    assert paid["txnStatus"] == "successful", paid
    assert bank.view(loan_id)["guarantees"][0]["held"] == "2000.00"
    cash_out(bank, member["savings_id"], member["client_id"], "2500.00")
    disputed = bank.put("sandbox", action="dispute", txnRef=asked["txnRef"], reason="fraudulent").body
    assert disputed["status"] == 200, disputed
    dispute_id = disputed["data"]["dispute_id"]
    lost = bank.put("sandbox", action="dispute_outcome", dispute_id=dispute_id, outcome="lost").body
    assert lost["status"] == 200, lost
    [record] = bank.view(loan_id)["guarantees"]
    assert (record["held"], record["shortfall"]) == ("2500.00", "1500.00")


def test_a_fixed_deposit_is_pledged_and_rolls_over(bank: LendingClient) -> None:
    member = guarantor(bank, period=None, term_days=30, rollover="all")
    loan_id = lend_late(bank, member)
    shown = view(bank, member["savings_id"])
    assert (shown["state"], shown["balance"]) == ("active", "1000.00")
    assert bank.loans("call_guarantee", loan_id=loan_id, amount="100.00")["amount"] == "100.00"
    assert view(bank, member["savings_id"])["balance"] == "1000.00"


def test_collateral_is_described_shown_and_given_back(bank: LendingClient) -> None:
    loan_id = bank.request(bank.client(), **PLAIN)["data"]["loan_id"]
    assert "collateral" not in bank.view(loan_id)
    fields = {"loan_id": loan_id, "description": "A tricycle", "value": "850000.00", "documents": [HASH]}
    shown = bank.loans("collateral", **fields, dry_run=True)
    assert (shown["dry_run"], shown["data"]["collateral_id"]) == (True, None)
    made = bank.loans("collateral", **fields)["data"]
    assert bank.view(loan_id)["collateral"] == [made]
    assert (made["state"], made["documents"]) == ("held", [HASH])
    returned = bank.loans("return_collateral", collateral_id=made["collateral_id"])["data"]
    assert (returned["state"], bank.view(loan_id)["collateral"]) == ("returned", [returned])
    assert bank.loans("return_collateral", collateral_id=made["collateral_id"])["code"] == "collateral_returned"
    assert bank.loans("return_collateral", collateral_id="CT-none")["code"] == "collateral_not_found"
    bank.loans("process", loan_id=loan_id, status="reject")
    assert bank.loans("collateral", **fields)["code"] == "loan_state"


def test_the_description_of_collateral_is_exported_and_erased_with_the_client(
    bank: LendingClient, deployment: Deployment
) -> None:
    client_id = bank.client()
    loan_id = bank.request(client_id, **PLAIN)["data"]["loan_id"]
    bank.loans("collateral", loan_id=loan_id, description="Ada's tricycle", value="850000.00")
    assert "Ada's tricycle" in deployment.run_command("client", "export", bank.mid, client_id)
    bank.loans("process", loan_id=loan_id, status="reject")
    deployment.run_command("client", "erase", bank.mid, client_id, "--yes")
    assert bank.view(loan_id)["collateral"][0]["description"] == "(erased)"


def test_a_guarantee_is_called_in_a_world_as_it_was_before(bank: LendingClient, deployment: Deployment) -> None:
    member = guarantor(bank)
    loan_id = lend_late(bank, member)
    assert bank.put("sandbox", action="snapshot", name="before the call").body["status"] == 200
    called = bank.loans("call_guarantee", loan_id=loan_id)
    assert called["amount"] == "2500.00"
    assert bank.put("sandbox", action="restore", name="before the call").body["status"] == 200
    [record] = bank.view(loan_id)["guarantees"]
    assert (record["held"], record["called"]) == ("4000.00", "0.00")
    assert bank.loans("call_guarantee", loan_id=loan_id)["amount"] == "2500.00"
    assert deployment.broken_invariants([bank.mid]) == []


def test_people_see_guarantees_on_the_pages_of_the_loan_and_of_both_clients(
    bank: LendingClient, deployment: Deployment
) -> None:
    member = guarantor(bank)
    loan_id = lend_late(bank, member)
    bank.loans("collateral", loan_id=loan_id, description="Tricycle of Ada", value="850000.00")
    record = bank.view(loan_id)["guarantees"][0]
    finance = sign_in_as(deployment, "merchant:finance", bank.mid)
    page = finance.get(f"/loans/{loan_id}").text
    assert record["guarantee_id"] in page
    assert "Tricycle of Ada" in page
    assert "Call the guarantees" in page
    assert record["guarantee_id"] in finance.get(f"/clients/{member['client_id']}").text
