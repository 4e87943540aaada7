"""Write-offs over HTTP: by one key, by two, by people in the console, and what crosses them.

Contract: loans#write-off
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.loans.lending_client import START, LendingClient
from tests.methods.loans.test_http_repay import pay, settle
from tests.methods.loans.test_http_reverse import events_of
from tests.running import Deployment


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


@pytest.fixture
def careful(bank: LendingClient) -> LendingClient:
    """A lender whose write-offs above 50,000.00 wait."""
    bank.put("sandbox", action="payout_policy", approve_write_off_above="50000.00")
    return bank


def approver(bank: LendingClient, *scopes: str) -> LendingClient:
    key = bank.put("sandbox", action="new_key", scopes=list(scopes)).body["key"]
    return LendingClient(bank.connection, bank.mid, key)


def write_off(bank: LendingClient, loan_id: str, **fields: Any) -> Any:
    return bank.loans("write_off", loan_id=loan_id, reason="The client has moved away", **fields)


def test_a_loan_is_written_off_with_event_statement_and_recovery(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    shown = write_off(bank, loan_id, dry_run=True)
    assert (shown["dry_run"], shown["explained"][0]["amount"]) == (True, "137378.29")
    reply = write_off(bank, loan_id)
    assert (reply["message"], reply["data"]["state"]) == ("Loan Written Off", "closed_written_off")
    assert bank.view(loan_id) == reply["data"]
    assert bank.open_accounts(deployment, loan_id) == 0
    [event] = events_of(bank, loan_id)
    assert (event["step"], event["chargedAmount"], event["reason"]) == (
        "written_off",
        "137378.29",
        "The client has moved away",
    )
    assert bank.repay(loan_id, amount="7378.29")["data"]["written_off"]["total"] == "130000.00"
    narrations = {line["narration"] for line in bank.loans("statement", loan_id=loan_id)["data"]}
    assert "principal written off" in narrations
    assert write_off(bank, loan_id)["message"] == "The loan is closed_written_off and cannot be written off"


def test_parts_are_written_off_and_the_list_says_what_is_overdue(bank: LendingClient) -> None:
    loan_id = bank.lend()
    bank.advance(hours=24 * 40)
    [line] = bank.loans("list")["data"]
    assert (line["overdue"], line["next_due"]["n"]) == ("11527.15", 1)
    reply = write_off(bank, loan_id, parts=["interest", "tax"])
    assert reply["data"]["written_off"]["total"] == "2580.00"
    [line] = bank.loans("list")["data"]
    assert (line["overdue"], line["outstanding"]) == ("8947.15", bank.view(loan_id)["outstanding"])
    assert [event["step"] for event in events_of(bank, loan_id)] == ["late", "partly_written_off"]


def test_above_the_limit_another_key_approves(careful: LendingClient) -> None:
    loan_id = careful.lend()
    waiting = write_off(careful, loan_id)
    assert waiting["message"] == "The write-off waits for the approval of another key or person"
    shown = careful.view(loan_id)
    assert (shown["state"], shown["waiting_write_off"]["amount"]) == ("active", "137378.29")
    assert shown == waiting["data"]
    assert write_off(careful, loan_id)["code"] == "write_off_waits"
    own = careful.loans("decide_write_off", loan_id=loan_id, status="approve")
    assert own["code"] == "own_write_off"
    other = approver(careful, "approve")
    done = other.loans("decide_write_off", loan_id=loan_id, status="approve")
    assert (done["message"], done["data"]["state"]) == ("Loan Written Off", "closed_written_off")
    assert "waiting_write_off" not in careful.view(loan_id)
    assert other.loans("decide_write_off", loan_id=loan_id, status="approve")["code"] == "no_write_off_waits"
    steps = [event["step"] for event in events_of(careful, loan_id)]
    assert steps == ["write_off_waiting", "written_off"]


def test_a_key_that_may_only_lend_proposes_and_one_that_may_only_approve_decides(careful: LendingClient) -> None:
    loan_id = careful.lend()
    lends, approves = approver(careful, "lend"), approver(careful, "approve")
    assert approves.put("loans", action="write_off", loan_id=loan_id, reason="x").body["status"] != 200
    assert write_off(lends, loan_id)["status"] == 200
    assert lends.put("loans", action="decide_write_off", loan_id=loan_id, status="approve").body["status"] != 200
    assert approves.loans("decide_write_off", loan_id=loan_id, status="reject")["message"] == "Write-off Rejected"
    assert careful.view(loan_id)["state"] == "active"


def test_a_write_off_of_a_key_that_was_revoked_is_not_approved(careful: LendingClient, deployment: Deployment) -> None:
    loan_id = careful.lend()
    made = careful.put("sandbox", action="new_key", scopes=["lend"]).body
    other = approver(careful, "approve")
    assert write_off(LendingClient(careful.connection, careful.mid, made["key"]), loan_id)["status"] == 200
    deployment.run_command("merchant", "revoke-key", careful.mid, str(made["key_id"]))
    refused = other.loans("decide_write_off", loan_id=loan_id, status="approve")
    assert refused["code"] == "proposer_ended"
    assert careful.view(loan_id)["state"] == "active"


def test_many_approvals_at_once_write_off_once(careful: LendingClient, deployment: Deployment) -> None:
    loan_id = careful.lend()
    assert write_off(careful, loan_id)["status"] == 200
    key = approver(careful, "approve").key

    def ask(_: int) -> Any:
        with deployment.connect() as wire:
            other = LendingClient(wire, careful.mid, key)
            return other.loans("decide_write_off", loan_id=loan_id, status="approve")["status"]

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(ask, range(4))) == [104, 104, 104, 200]
    assert [event["step"] for event in events_of(careful, loan_id)] == ["write_off_waiting", "written_off"]
    assert deployment.broken_invariants([careful.mid]) == []


def test_a_payment_that_was_pending_at_a_write_off_is_recovered(bank: LendingClient) -> None:
    loan_id = bank.lend()
    pending = pay(bank, loan_id, "ussd", "1000.00", bank="gtb")["txnRef"]
    write_off(bank, loan_id)
    settle(bank, pending)
    loan = bank.view(loan_id)
    assert (loan["state"], loan["written_off"]["total"], loan["credit"]) == ("closed_written_off", "136378.29", "0.00")


def test_another_merchants_loan_is_unknown(bank: LendingClient, open_shop: Callable[..., MerchantClient]) -> None:
    loan_id, other = bank.lend(), open_shop()
    unknown = {"status": 104, "message": "Invalid Loan Reference"}
    requests: list[dict[str, Any]] = [
        {"action": "write_off", "reason": "x"},
        {"action": "decide_write_off", "status": "approve"},
    ]
    for fields in requests:
        assert without_codes(other.put("loans", loan_id=loan_id, **fields).body) == unknown


def test_reasons_of_reschedules_and_write_offs_are_exported_and_erased(
    careful: LendingClient, deployment: Deployment
) -> None:
    client_id = careful.client()
    loan_id = careful.request(client_id)["data"]["loan_id"]
    careful.loans("process", loan_id=loan_id, status="approve")
    careful.loans("reschedule", loan_id=loan_id, extra_installments=1, reason="Ada was ill", **{"from": "2026-02-28"})
    write_off(careful, loan_id)
    approved = approver(careful, "approve").loans("decide_write_off", loan_id=loan_id, status="approve")
    assert approved["data"]["state"] == "closed_written_off"
    exported = deployment.run_command("client", "export", careful.mid, client_id)
    assert ("Ada was ill" in exported, "The client has moved away" in exported) == (True, True)
    deployment.run_command("client", "erase", careful.mid, client_id, "--yes")
    assert careful.view(loan_id)["schedules"][0]["reason"] == "(erased)"
    kept = """
        select s.reason, w.detail ->> 'reason', w.detail -> 'maker' is not null, w.state
        from loan_schedule s join loan_write_off w using (merchant_id, loan_id) where s.loan_id = $1
    """
    [[schedule, proposed, maker, state]] = deployment.fetch(kept, loan_id)
    assert (schedule, proposed, maker, state) == ("(erased)", "(erased)", True, "approved")
    exported = deployment.run_command("client", "export", careful.mid, client_id)
    assert ("Ada was ill" in exported, "The client has moved away" in exported) == (False, False)
    assert deployment.broken_invariants([careful.mid]) == []
