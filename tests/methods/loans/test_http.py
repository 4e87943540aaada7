"""Loans over HTTP: asked for, paid out by the sandbox's bank, repaid, late, written off; to the kobo.

Contract: loans#request
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from tests.merchant_client import MerchantClient, Wallet, to_minor_units, without_codes
from tests.methods.clients.enrollment import BVN, enroll, look_up_bvn
from tests.methods.loans.lending_client import FAILING, GOOD, PENDING, START, LendingClient
from tests.methods.payment.payment_client import OTP, card
from tests.running import Deployment
from tests.walk.test_tenancy import everything_of

OPENING = 1_000_000_000
FEES = 5_000 + 375  # of a transfer above 50,000.00

UNKNOWN = {"status": 104, "message": "Invalid Loan Reference"}


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


# --- a loan's life ------------------------------------------------------------------------------------------------


def test_a_loan_from_request_to_its_last_installment(bank: LendingClient, deployment: Deployment) -> None:
    asked = bank.request(bank.client())
    loan = asked["data"]
    loan_id = loan["loan_id"]
    assert (asked["status"], asked["message"], loan["state"]) == (200, "Loan Requested", "pending_approval")
    assert bank.view(loan_id) == loan
    paid_out = bank.loans("process", loan_id=loan_id, status="approve")
    assert (paid_out["message"], paid_out["data"]["state"]) == ("Loan Disbursed", "active")
    assert bank.view(loan_id) == paid_out["data"]
    assert bank.wallet() == Wallet(OPENING - 12_000_000 - FEES, OPENING - 12_000_000 - FEES, 0)
    assert bank.open_accounts(deployment, loan_id) == 1
    schedule, paid = paid_out["data"]["schedule"], 0
    for line in schedule:
        bank.advance(until=f"{line['due']}T12:00:00+01:00")
        reply = bank.repay(loan_id)
        assert (reply["chargedAmount"], reply["txnStatus"]) == (line["total"], "successful")
        paid += to_minor_units(line["total"])
    assert reply["data"]["state"] == "closed_repaid"
    assert set(reply["data"]["outstanding"].values()) == {"0.00"}
    assert paid == 12_000_000 + 1_616_583 + sum(to_minor_units(line["tax"]) for line in schedule)
    assert bank.wallet().balance == OPENING - 12_000_000 - FEES  # the claim moved alone
    assert bank.open_accounts(deployment, loan_id) == 0
    assert without_codes(bank.repay(loan_id)) == {
        "status": 104,
        "message": "The loan is closed_repaid and cannot be repaid",
    }


def test_the_record_is_the_contracts(bank: LendingClient) -> None:
    loan_id = bank.lend()
    loan = bank.view(loan_id)
    schedule = loan.pop("schedule")
    client_id = loan.pop("client_id")
    assert client_id.startswith("CL")
    assert loan.pop("txnRef").startswith("GP|LD|")
    assert loan == {
        "loan_id": loan_id,
        "officer": None,
        "branch": None,
        "state": "active",
        "amount": "120000.00",
        "currency": "NGN",
        "interestSettings": {"interestRate": "24", "interestFrequency": "annualized"},
        "method": "declining_equal_instalments",
        "period": 12,
        "tax_applied": True,
        "tax_rate": 7.5,
        "penalty_rate": "0",
        "tolerance_days": 0,
        "outstanding": {
            "principal": "120000.00",
            "interest": "16165.83",
            "tax": "1212.46",
            "penalty": "0.00",
            "total": "137378.29",
            "payoff": "120000.00",
        },
        "credit": "0.00",
        "created_at": "2026-01-31T09:00:00.000Z",
        "disbursed_at": "2026-01-31T09:00:00.000Z",
        "closed_at": None,
    }
    assert schedule[1] == {
        "n": 2,
        "due": "2026-03-31",
        "principal": "9126.09",
        "interest": "2221.06",
        "tax": "166.58",
        "total": "11513.73",
        "paid": "0.00",
        "state": "pending",
    }


def test_amounts_and_rates_may_be_numbers_or_texts(bank: LendingClient) -> None:
    client_id = bank.client()
    texts = {"interestSettings": {"interestRate": 24, "interestFrequency": "annualized"}, "amount": "120000"}
    first, second = bank.request(client_id), bank.request(client_id, **texts, tax_rate="7.5")
    for reply in (first, second):
        del reply["data"]["loan_id"]
    assert first == second


# --- disbursement -------------------------------------------------------------------------------------------------


def test_a_disbursement_that_fails_gives_the_money_back_and_can_be_tried_again(bank: LendingClient) -> None:
    client_id = bank.client(FAILING)
    loan_id = bank.request(client_id)["data"]["loan_id"]
    reply = bank.loans("process", loan_id=loan_id, status="approve")
    assert (reply["data"]["state"], reply["message"]) == (
        "approved",
        "The disbursement failed (The beneficiary's bank: Do not honour); approve again to retry",
    )
    assert bank.wallet() == Wallet(OPENING, OPENING, 0)
    good = {"bankAccount": {"account_number": GOOD, "bank_code": "058"}}
    assert bank.put("clients", action="update", client_id=client_id, data=good).body["status"] == 200
    assert bank.loans("process", loan_id=loan_id, status="approve")["data"]["state"] == "active"
    assert bank.wallet().balance == OPENING - 12_000_000 - FEES


@pytest.mark.parametrize(("outcome", "state"), [("successful", "active"), ("failed", "approved")])
def test_a_disbursement_the_bank_has_not_confirmed_ends_by_its_call_back(
    bank: LendingClient, deployment: Deployment, outcome: str, state: str
) -> None:
    loan_id = bank.request(bank.client(PENDING))["data"]["loan_id"]
    reply = bank.loans("process", loan_id=loan_id, status="approve")
    assert (reply["status"], reply["data"]["state"]) == (200, "disbursing")
    assert bank.wallet() == Wallet(OPENING, OPENING - 12_000_000 - FEES, 12_000_000 + FEES)
    refused = bank.loans("process", loan_id=loan_id, status="cancel")
    assert without_codes(refused) == {"status": 104, "message": "The loan is disbursing and cannot be cancelled"}
    [[txn_ref]] = deployment.fetch("select transfer from loan where loan_id = $1", loan_id)
    assert txn_ref.startswith("GP|LD|")
    bank.advance(days=1)
    bank.put("sandbox", action="settle", txnRef=txn_ref, outcome=outcome)
    loan = bank.view(loan_id)
    assert (loan["state"], bank.wallet().held) == (state, 0)
    assert loan["schedule"][0]["due"] == "2026-03-01"


@pytest.mark.parametrize(
    ("account", "scenario", "state"),
    [
        ("0000000910", {}, "active"),  # 09 at first, successful when asked again
        ("0000009100", {}, "approved"),  # 91 at first, failed when asked again
        (GOOD, {"x-sandbox-scenario": "http=timeout"}, "active"),  # done, and the answer lost
    ],
)
def test_a_bank_that_answers_later_by_itself_ends_the_disbursement(
    bank: LendingClient, account: str, scenario: dict[str, str], state: str
) -> None:
    loan_id = bank.request(bank.client(account))["data"]["loan_id"]
    body = {"action": "process", "loan_id": loan_id, "status": "approve"}
    assert bank.send_fields("loans", body, headers=scenario).body["data"]["state"] == "disbursing"
    bank.advance(minutes=1)
    assert (bank.view(loan_id)["state"], bank.wallet().held) == (state, 0)


def test_a_wallet_that_is_short_refuses_and_leaves_the_loan_as_it_was(bank: LendingClient) -> None:
    loan_id = bank.request(bank.client(), amount="10000000.00")["data"]["loan_id"]
    assert bank.loans("process", loan_id=loan_id, status="approve")["status"] == 301
    assert bank.view(loan_id)["state"] == "pending_approval"
    assert bank.wallet() == Wallet(OPENING, OPENING, 0)


def test_each_disbursement_and_repayment_leaves_one_event(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    txn_ref = bank.repay(loan_id, amount="100.00")["txnRef"]
    rows = deployment.fetch(
        "select e.payload from event e join merchant m using (merchant_id) where m.mid = $1 order by e.seq", bank.mid
    )
    payloads = [msgspec.json.decode(row[0]) for row in rows]
    assert [(one["paymentMethod"], one["chargedAmount"], one["txnStatus"]) for one in payloads] == [
        ("transfer", "120000.00", "successful"),
        ("wallet", "100.00", "successful"),
    ]
    assert payloads[1]["txnRef"] == txn_ref


# --- clients ------------------------------------------------------------------------------------------------------


def test_only_active_clients_of_ones_own_may_borrow(
    bank: LendingClient, open_shop: Callable[..., MerchantClient]
) -> None:
    assert bank.request("CL0000")["message"] == "Invalid Client Reference"
    refused = bank.request(bank.client(status="pending_approval"))
    assert (refused["status"], "pending_approval" in refused["message"]) == (104, True)
    other = open_shop()
    stranger = LendingClient(other.connection, other.mid, other.key).client()
    assert bank.request(stranger) == bank.request("CL0000")


def test_a_client_with_an_open_loan_cannot_leave_active(bank: LendingClient) -> None:
    client_id = bank.client()
    loan_id = bank.request(client_id)["data"]["loan_id"]
    leave = {"action": "update", "client_id": client_id, "data": {}, "status": "exited"}
    assert bank.send_fields("clients", leave).body["status"] == 104
    bank.loans("process", loan_id=loan_id, status="reject")
    left = bank.put("clients", action="update", client_id=client_id, data={}, status="inactive").body
    assert left["data"]["status"] == "inactive"


def test_a_client_without_a_bank_account_is_not_paid(bank: LendingClient) -> None:
    loan_id = bank.request(bank.client(None))["data"]["loan_id"]
    refused = bank.loans("process", loan_id=loan_id, status="approve")
    assert (refused["status"], "bankAccount" in refused["message"]) == (104, True)


# --- tenancy and lists --------------------------------------------------------------------------------------------


def test_another_merchants_loan_is_as_unknown_as_any(
    bank: LendingClient, open_shop: Callable[..., MerchantClient]
) -> None:
    loan_id = bank.lend()
    other = open_shop()
    stranger = LendingClient(other.connection, other.mid, other.key)
    for unknown in (loan_id, "LN0", "x" * 100):
        assert without_codes(stranger.loans("view", loan_id=unknown)) == UNKNOWN
        assert without_codes(stranger.loans("statement", loan_id=unknown)) == UNKNOWN
        assert without_codes(stranger.loans("process", loan_id=unknown, status="approve")) == UNKNOWN
        assert without_codes(stranger.repay(unknown)) == UNKNOWN
    assert stranger.loans("list") == {"status": 200, "data": [], "total": 0, "offset": 0, "limit": 50}


def without_schedule(record: dict[str, Any]) -> dict[str, Any]:
    assert len(record["schedule"]) == record["period"]
    return {name: value for name, value in record.items() if name != "schedule"}


def test_loans_are_listed_newest_first_by_pages(bank: LendingClient) -> None:
    client_id = bank.client()
    ids = [bank.request(client_id, period=n)["data"]["loan_id"] for n in (1, 2, 3)]
    page = bank.loans("list", offset=1, limit=1)
    assert (page["total"], page["offset"], page["limit"]) == (3, 1, 1)
    assert [line["loan_id"] for line in page["data"]] == [ids[1]]
    assert [loan["loan_id"] for loan in bank.loans("list", limits=2)["data"]] == ids[:0:-1]
    bank.loans("process", loan_id=ids[2], status="approve")
    assert bank.loans("list")["data"][0]["outstanding"] == bank.view(ids[2])["outstanding"]


# --- repayment ----------------------------------------------------------------------------------------------------


def test_the_payoff_shown_closes_the_loan_and_a_kobo_more_is_refused(bank: LendingClient) -> None:
    loan_id = bank.lend()
    bank.advance(days=45)
    payoff = bank.view(loan_id)["outstanding"]["payoff"]
    more = f"{payoff[:-1]}{int(payoff[-1]) + 1}" if payoff[-1] != "9" else f"{payoff}9"
    refused = bank.repay(loan_id, amount=more)
    assert (refused["status"], refused["errors"][0]["field"]) == (104, "amount")
    assert bank.repay(loan_id, amount=payoff)["data"]["state"] == "closed_repaid"


def test_a_dry_run_says_what_happens_and_nothing_does(bank: LendingClient) -> None:
    client_id = bank.client()
    dry = bank.request(client_id, dry_run=True)
    assert (dry["dry_run"], dry["data"]["loan_id"]) == (True, None)
    assert dry["explained"][0]["amount"] == "11347.15"
    assert bank.loans("list")["total"] == 0
    loan_id = bank.lend()
    before = (bank.view(loan_id), bank.loans("statement", loan_id=loan_id), bank.wallet())
    preview = bank.repay(loan_id, amount="500.00", dry_run=True)
    assert (preview["dry_run"], "txnRef" in preview, preview["allocation"]["principal"]) == (True, False, "500.00")
    assert (bank.view(loan_id), bank.loans("statement", loan_id=loan_id), bank.wallet()) == before
    assert bank.repay(loan_id, amount="500.00")["data"] == preview["data"]


def test_repayments_at_once_never_pay_more_than_is_owed(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    body = msgspec.json.encode(
        {"action": "repay", "loan_id": loan_id, "payment_method": "wallet", "amount": "50000.00"}
    )

    def pay(_: int) -> Any:
        with deployment.connect() as wire:
            return wire.send("PUT", "/loans", body, bank.headers).body

    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(pay, range(8)))
    assert sorted(reply["status"] for reply in replies) == [104] * 6 + [200] * 2
    assert len({reply["txnRef"] for reply in replies if reply["status"] == 200}) == 2
    assert bank.view(loan_id)["state"] == "active"


def test_approvals_at_once_pay_out_once(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.request(bank.client())["data"]["loan_id"]
    body = msgspec.json.encode({"action": "process", "loan_id": loan_id, "status": "approve"})

    def approve(_: int) -> Any:
        with deployment.connect() as wire:
            return wire.send("PUT", "/loans", body, bank.headers).body

    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(approve, range(8)))
    assert sorted(reply["status"] for reply in replies) == [104] * 7 + [200]
    assert bank.wallet().balance == OPENING - 12_000_000 - FEES


def test_an_idempotency_key_repays_once(bank: LendingClient) -> None:
    loan_id = bank.lend()
    body = {"action": "repay", "loan_id": loan_id, "payment_method": "wallet", "amount": "100.00"}
    replies = [bank.send_fields("loans", body, headers={"idempotency-key": "again"}).body for _ in range(2)]
    assert replies[0] == replies[1]
    assert bank.view(loan_id)["schedule"][0]["paid"] == "100.00"


# --- time ---------------------------------------------------------------------------------------------------------


def test_a_late_loan_is_in_arrears_pays_penalties_and_its_statement_says_it_all(
    bank: LendingClient, deployment: Deployment
) -> None:
    deployment.run_command(
        "merchant", "set", bank.mid, "--lending", '{"penalty_rate": "0.1", "method": "equal_principal"}'
    )
    loan_id = lend_with(bank, penalty_rate="0.1")
    ran = bank.advance(until="2026-03-10T12:00:00+01:00")["ran"]
    assert ran["loans"] == 10
    loan = bank.view(loan_id)
    assert (loan["state"], loan["schedule"][0]["state"]) == ("active_in_arrears", "late")
    assert loan["outstanding"]["penalty"] == "2.50"
    reply = bank.repay(loan_id)
    assert reply["allocation"] == {"penalty": "2.50", "interest": "100.00", "tax": "0.00", "principal": "250.00"}
    assert reply["data"]["state"] == "active"
    statement = bank.loans("statement", loan_id=loan_id)
    assert statement["total"] == 2 + 10 + 3
    lines = [(line["part"], line["narration"], line["amount"], line["balance"]) for line in statement["data"]]
    assert lines[:4] == [
        ("penalty", "penalty repaid", "-2.50", "0.00"),
        ("interest", "interest repaid", "-100.00", "150.00"),
        ("principal", "principal repaid", "-250.00", "750.00"),
        ("penalty", "penalty for lateness", "0.25", "2.50"),
    ]
    assert lines[-2:] == [
        ("interest", "interest agreed", "250.00", "250.00"),
        ("principal", "principal agreed", "1000.00", "1000.00"),
    ]
    assert statement["data"][3]["origin"] == loan_id
    assert statement["data"][0]["origin"] == reply["txnRef"]
    assert bank.loans("statement", loan_id=loan_id, offset=1, limit=2)["data"] == statement["data"][1:3]


def lend_with(bank: LendingClient, penalty_rate: str) -> str:
    """A loan under settings that were just changed: every process learns of them within seconds."""
    settings = {"interestRate": "10", "interestFrequency": "every_month"}
    client_id = bank.client()
    while True:
        loan = bank.request(client_id, amount="1000.00", period=4, tax_applied=False, interestSettings=settings)["data"]
        if loan["penalty_rate"] == penalty_rate:
            break
    loan_id = str(loan["loan_id"])
    assert bank.loans("process", loan_id=loan_id, status="approve")["data"]["state"] == "active"
    return loan_id


def test_an_operator_writes_a_loan_off(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    bank.advance(days=60)
    assert deployment.run_command("loan", "write-off", bank.mid, loan_id).strip() == f"{loan_id} is closed_written_off"
    loan = bank.view(loan_id)
    assert (loan["state"], loan["outstanding"]["total"]) == ("closed_written_off", "0.00")
    assert bank.loans("statement", loan_id=loan_id)["data"][0]["narration"].endswith("written off")
    assert bank.open_accounts(deployment, loan_id) == 0
    refused = deployment.run_refused_command("loan", "write-off", bank.mid, loan_id)
    assert "The loan is closed_written_off and cannot be written off" in refused


# --- what is refused ----------------------------------------------------------------------------------------------


def test_missing_and_wrong_fields_are_all_named(bank: LendingClient) -> None:
    assert [fault["field"] for fault in bank.loans("request")["errors"]] == [
        "client_id",
        "interestSettings",
        "amount",
        "period",
    ]
    wrong = bank.request("CL1", amount="0", period=0, tax_rate="x", interestSettings={"interestRate": "-1"})
    assert {fault["field"] for fault in wrong["errors"]} == {
        "amount",
        "period",
        "tax_rate",
        "interestSettings.interestRate",
        "interestSettings.interestFrequency",
    }
    assert bank.loans("process", loan_id="LN0", status="pay")["errors"][0]["field"] == "status"
    assert bank.loans("repay", loan_id="LN0", payment_method="barter")["errors"][0]["field"] == "payment_method"
    assert bank.loans("list", limit=201)["errors"][0]["field"] == "limit"
    assert bank.loans("forgive", loan_id="LN0")["status"] == 102


def test_dry_runs_of_a_decision_and_of_a_code_change_nothing(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.request(bank.client())["data"]["loan_id"]
    before = everything_of(deployment, bank)
    preview = bank.loans("process", loan_id=loan_id, status="approve", dry_run=True)
    assert (preview["dry_run"], preview["data"]["state"], "txnRef" in preview) == (True, "active", False)
    assert preview["explained"][-1]["amount"] == "120053.75"
    for status, state in (("reject", "closed_rejected"), ("cancel", "closed_withdrawn")):
        assert bank.loans("process", loan_id=loan_id, status=status, dry_run=True)["data"]["state"] == state
    assert everything_of(deployment, bank) == before
    big = bank.request(bank.client(), amount=100_000_000)["data"]["loan_id"]
    assert bank.loans("process", loan_id=big, status="approve", dry_run=True)["status"] == 301
    bank.loans("process", loan_id=loan_id, status="approve")
    asked = bank.loans("repay", loan_id=loan_id, payment_method="card", amount="10.00", card=card())
    before = everything_of(deployment, bank)
    checked = bank.loans("validate", txnRef=asked["txnRef"], otp=OTP, dry_run=True)
    assert (checked["status"], checked["dry_run"]) == (200, True)
    assert everything_of(deployment, bank) == before


def test_what_a_client_is_lent_in_a_day_is_limited_by_its_kyc_tier(open_shop: Callable[..., MerchantClient]) -> None:
    shop = open_shop(now=START)
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    limits = {"tier_1": {"daily_amount": "100000.00"}, "tier_2": {"daily_count": 1}}
    assert shop.put("sandbox", action="payout_policy", tier_limits=limits).body["status"] == 200
    account = {"account_number": GOOD, "bank_code": "058"}
    person = look_up_bvn(shop, BVN)
    named = {"firstname": person["firstname"], "lastname": person["lastname"], "bankAccount": account}
    verified = enroll(shop, status="active", verify=True, bvn=BVN, phone=person["phone"], dob=person["dob"], **named)
    assert verified["bvn_verified"] is True

    def lend(client_id: str) -> Any:
        loan_id = bank.request(client_id)["data"]["loan_id"]
        return bank.loans("process", loan_id=loan_id, status="approve")

    unverified = bank.client()
    for client_id, limit in ((unverified, "tier 1 daily_amount"), (verified["client_id"], "tier 2 daily_count")):
        if client_id == verified["client_id"]:
            assert lend(client_id)["data"]["state"] == "active"
        refused = lend(client_id)
        assert (refused["status"], f"beyond the limit {limit}" in refused["message"]) == (104, True), refused
    shop.advance(days=1)
    assert lend(verified["client_id"])["data"]["state"] == "active"
    assert lend(unverified)["status"] == 104
