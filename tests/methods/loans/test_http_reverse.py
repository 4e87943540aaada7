"""Repayments that are reversed over HTTP: by the merchant, by a dispute, by a rail, and what crosses it.

Contract: loans#reverse
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, without_codes
from tests.methods.loans.lending_client import START, LendingClient
from tests.methods.loans.test_http_repay import pay, repaid, settle
from tests.methods.payment.payment_client import PaymentClient, card
from tests.running import Deployment


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def pay_by_card(bank: LendingClient, loan_id: str, amount: str = "1000.00") -> str:
    paid = pay(bank, loan_id, "card", amount, card=card(auth="PIN"))
    assert paid["txnStatus"] == "successful", paid
    return str(paid["txnRef"])


def reverse(bank: LendingClient, txn_ref: str, **fields: Any) -> Any:
    return bank.loans("reverse", txnRef=txn_ref, reason="The transfer was recalled", **fields)


def dispute(bank: LendingClient, txn_ref: str, outcome: str, **fields: Any) -> str:
    opened = bank.put("sandbox", action="dispute", txnRef=txn_ref, reason="fraudulent", **fields).body
    dispute_id = str(opened["data"]["dispute_id"])
    decide(bank, dispute_id, outcome)
    return dispute_id


def decide(bank: LendingClient, dispute_id: str, outcome: str) -> None:
    reply = bank.put("sandbox", action="dispute_outcome", dispute_id=dispute_id, outcome=outcome).body
    assert reply["status"] == 200, reply


def events_of(bank: LendingClient, loan_id: str) -> list[Any]:
    lines = bank.put("resources", inquire="events", limit=50).body["data"]
    payloads = (line["payload"] for line in reversed(lines))
    return [payload for payload in payloads if payload["kind"] == "loan" and payload["loan_id"] == loan_id]


def owed(bank: LendingClient, loan_id: str) -> Any:
    """Returns what a loan owes, without what tells its story."""
    loan = bank.view(loan_id)
    return loan["state"], loan["outstanding"], loan["schedule"], loan["credit"], loan["closed_at"]


# --- by the merchant --------------------------------------------------------------------------------------------------


def test_a_reversed_wallet_repayment_is_owed_again_with_event_statement_and_timeline(bank: LendingClient) -> None:
    loan_id = bank.lend()
    before = owed(bank, loan_id)
    txn_ref = bank.repay(loan_id, amount="1000.00")["txnRef"]
    shown = reverse(bank, txn_ref, dry_run=True)
    assert (shown["dry_run"], shown["explained"][0]["amount"]) == (True, "1000.00")
    assert repaid(bank, loan_id) == 100_000
    reply = reverse(bank, txn_ref)
    assert (reply["status"], reply["loan_id"], reply["amount"]) == (200, loan_id, "1000.00")
    assert owed(bank, loan_id) == before
    [event] = events_of(bank, loan_id)
    assert (event["step"], event["repaymentRef"], event["chargedAmount"]) == ("repayment_reversed", txn_ref, "1000.00")
    assert (event["state"], event["reason"]) == ("active", "The transfer was recalled")
    lines = bank.loans("statement", loan_id=loan_id)["data"]
    assert {line["narration"] for line in lines if line["origin"] == txn_ref} >= {
        "principal repaid",
        "principal reversed",
    }
    timeline = bank.put("sandbox", action="explain", txnRef=txn_ref).body
    assert "principal reversed" in str(timeline)
    assert "repayment_reversed" in str(bank.put("sandbox", action="explain", txnRef=loan_id).body)


def test_a_reversed_card_repayment_reopens_the_loan_that_it_had_closed(
    bank: LendingClient, deployment: Deployment
) -> None:
    loan_id = bank.lend()
    txn_ref = pay_by_card(bank, loan_id, "120000.00")
    assert (bank.view(loan_id)["state"], bank.open_accounts(deployment, loan_id)) == ("closed_repaid", 0)
    bank.advance(hours=24 * 40)
    reply = reverse(bank, txn_ref)
    assert (reply["data"]["state"], reply["data"]["closed_at"]) == ("active_in_arrears", None)
    assert bank.open_accounts(deployment, loan_id) == 1
    assert bank.view(loan_id) == reply["data"]


def test_a_pending_repayment_and_a_second_reverse_are_refused(bank: LendingClient) -> None:
    loan_id = bank.lend()
    pending = pay(bank, loan_id, "ussd", "1000.00", bank="gtb")["txnRef"]
    assert reverse(bank, pending)["message"] == "Only a successful repayment can be reversed"
    settle(bank, pending)
    assert reverse(bank, pending)["status"] == 200
    refused = reverse(bank, pending)
    assert (refused["status"], refused["message"][:35]) == (104, "The repayment was reversed already:")


def test_what_is_no_repayment_and_what_is_another_merchants_is_unknown(
    bank: LendingClient, open_shop: Callable[..., MerchantClient]
) -> None:
    paid = PaymentClient(bank).initiate(card(auth="PIN"))["txnRef"]
    message = "Invalid Repayment Reference: send the txnRef of a repayment of a loan"
    assert without_codes(reverse(bank, paid)) == {"status": 104, "message": message}
    txn_ref = bank.repay(bank.lend(), amount="1000.00")["txnRef"]
    other = open_shop()
    fields = {"action": "reverse", "txnRef": txn_ref, "reason": "x"}
    assert without_codes(other.put("loans", **fields).body) == {"status": 104, "message": message}


def test_a_repayment_reversed_through_two_doors_at_once_is_reversed_once(
    bank: LendingClient, deployment: Deployment
) -> None:
    loan_id = bank.lend()
    before = owed(bank, loan_id)
    refs = [pay_by_card(bank, loan_id) for _ in range(3)]

    def ask(place: int) -> Any:
        with deployment.connect() as wire:
            other = LendingClient(wire, bank.mid, bank.key)
            return reverse(other, refs[place // 2]) if place % 2 else dispute(other, refs[place // 2], "lost")

    with ThreadPoolExecutor(6) as pool:
        replies = list(pool.map(ask, range(6)))
    assert {reply["status"] for reply in replies[1::2]} <= {200, 104}
    assert owed(bank, loan_id) == before
    assert deployment.broken_invariants([bank.mid]) == []


# --- by a dispute -----------------------------------------------------------------------------------------------------


def test_a_lost_dispute_reverses_the_repayment_and_a_late_win_counts_it_again(bank: LendingClient) -> None:
    loan_id = bank.lend()
    before = owed(bank, loan_id)
    txn_ref = pay_by_card(bank, loan_id, "120000.00")
    dispute_id = dispute(bank, txn_ref, "lost")
    assert owed(bank, loan_id) == before
    decide(bank, dispute_id, "won")
    assert (bank.view(loan_id)["state"], repaid(bank, loan_id)) == ("closed_repaid", 12_000_000)
    steps = [event["step"] for event in events_of(bank, loan_id)]
    assert steps == ["repayment_reversed", "repayment_reinstated"]


def test_a_lost_dispute_of_a_part_takes_that_part_from_the_loan(bank: LendingClient) -> None:
    loan_id = bank.lend()
    txn_ref = pay_by_card(bank, loan_id)
    dispute(bank, txn_ref, "lost", amount="400.00")
    assert repaid(bank, loan_id) == 60_000
    assert reverse(bank, txn_ref)["amount"] == "600.00"
    assert repaid(bank, loan_id) == 0


def test_a_won_dispute_leaves_the_loan_alone(bank: LendingClient) -> None:
    loan_id = bank.lend()
    dispute(bank, pay_by_card(bank, loan_id), "won")
    assert (repaid(bank, loan_id), events_of(bank, loan_id)) == (100_000, [])


def test_a_dispute_after_a_reverse_changes_the_loan_no_more(bank: LendingClient) -> None:
    loan_id = bank.lend()
    before = owed(bank, loan_id)
    txn_ref = pay_by_card(bank, loan_id)
    reverse(bank, txn_ref)
    dispute_id = dispute(bank, txn_ref, "lost")
    assert owed(bank, loan_id) == before
    decide(bank, dispute_id, "won")
    assert owed(bank, loan_id) == before  # the merchant's word stands


def test_a_merchant_may_have_lost_disputes_ignored(bank: LendingClient, deployment: Deployment) -> None:
    deployment.run_command("merchant", "set", bank.mid, "--lending", '{"on_dispute": "ignore"}')
    loan_id = bank.lend()
    dispute(bank, pay_by_card(bank, loan_id), "lost")
    assert (repaid(bank, loan_id), events_of(bank, loan_id)) == (100_000, [])


def test_what_a_dispute_took_comes_back_also_if_disputes_are_ignored_since(
    bank: LendingClient, deployment: Deployment
) -> None:
    loan_id = bank.lend()
    dispute_id = dispute(bank, pay_by_card(bank, loan_id), "lost")
    assert repaid(bank, loan_id) == 0
    deployment.run_command("merchant", "set", bank.mid, "--lending", '{"on_dispute": "ignore"}')
    decide(bank, dispute_id, "won")
    assert repaid(bank, loan_id) == 100_000


def test_a_lost_dispute_of_a_client_who_left_is_a_notice_and_the_loan_stays_closed(
    bank: LendingClient, deployment: Deployment
) -> None:
    loan_id = bank.lend()
    txn_ref = pay_by_card(bank, loan_id, "120000.00")
    client_id = bank.view(loan_id)["client_id"]
    assert bank.put("clients", action="update", client_id=client_id, status="exited").body["status"] == 200
    dispute(bank, txn_ref, "lost")
    assert bank.view(loan_id)["state"] == "closed_repaid"
    [[notice]] = deployment.fetch("select message from operator_notice where reference = $1", txn_ref)
    assert notice.endswith("but the loan is as before: The loan would be owed again, but the client is exited")
    assert reverse(bank, txn_ref)["message"] == "The loan would be owed again, but the client is exited"


# --- what was paid too much -------------------------------------------------------------------------------------------


def paid_twice(bank: LendingClient) -> tuple[str, str, str]:
    """Returns a loan that was closed by one payment, and has another as a credit."""
    loan_id = bank.lend()
    first, second = (pay(bank, loan_id, "card", "120000.00", card=card())["txnRef"] for _ in range(2))
    for txn_ref in (first, second):
        assert bank.loans("validate", txnRef=txn_ref, otp="123456")["txnStatus"] == "successful"
    assert (bank.view(loan_id)["state"], bank.view(loan_id)["credit"]) == ("closed_repaid", "120000.00")
    return loan_id, first, second


def test_a_later_repayment_that_was_too_much_closes_the_loan_again(bank: LendingClient) -> None:
    loan_id, first, second = paid_twice(bank)
    reply = reverse(bank, first)
    assert (reply["data"]["state"], reply["data"]["credit"]) == ("closed_repaid", "0.00")
    [anew] = reply["reallocated"]
    assert (anew["txnRef"], anew["allocation"]["principal"]) == (second, "120000.00")
    assert (bank.view(loan_id)["state"], bank.view(loan_id)["credit"]) == ("closed_repaid", "0.00")
    refused = PaymentClient(bank).refund(second, "0.01")
    assert refused["message"].startswith("This payment was used for a loan or savings")
    client_id = bank.view(loan_id)["client_id"]
    assert bank.put("clients", action="update", client_id=client_id, status="exited").body["status"] == 200


def test_what_was_refunded_of_a_later_repayment_is_not_used_again(bank: LendingClient) -> None:
    loan_id, first, second = paid_twice(bank)
    assert PaymentClient(bank).refund(second, "20000.00")["status"] == 200
    reply = reverse(bank, first)
    assert (reply["data"]["state"], reply["reallocated"][0]["amount"]) == ("active", "100000.00")
    assert repaid(bank, loan_id) == 10_000_000
    assert bank.view(loan_id)["credit"] == "0.00"


def test_a_repayment_whose_surplus_was_refunded_says_what_the_loan_does_not_ask_for(bank: LendingClient) -> None:
    loan_id, _, second = paid_twice(bank)
    assert PaymentClient(bank).refund(second, "20000.00")["status"] == 200
    reply = reverse(bank, second)
    assert (reply["refunded_amount"], reply["data"]["credit"]) == ("20000.00", "0.00")
    assert bank.view(loan_id)["state"] == "closed_repaid"


def test_a_repayment_whose_surplus_is_being_refunded_is_reversed_after_that(bank: LendingClient) -> None:
    _, _, second = paid_twice(bank)
    lost = {"x-sandbox-scenario": "http=timeout"}
    assert PaymentClient(bank).refund(second, "20000.00", lost)["txnStatus"] == "pending"
    refused = reverse(bank, second)
    assert (refused["status"], refused["code"]) == (104, "repayment_being_refunded")
    assert refused["message"] == "What this repayment paid too much is being refunded; reverse it when that has ended"
    bank.advance(minutes=1)
    assert reverse(bank, second)["refunded_amount"] == "20000.00"


@pytest.mark.parametrize(
    ("surplus", "state", "outstanding", "credit"),
    [
        ("200.00", "active", "50.00", "0.00"),  # Fineract, LoanChargeback: chargeback HIGHER than the overpaid amount
        ("300.00", "closed_repaid", "0.00", "50.00"),  # LOWER than the overpaid amount
        ("250.00", "closed_repaid", "0.00", "0.00"),  # EQUALS than the overpaid amount
    ],
)
def test_a_lost_dispute_takes_what_was_paid_too_much_first(
    bank: LendingClient, surplus: str, state: str, outstanding: str, credit: str
) -> None:
    """Scenarios of Apache Fineract: a loan of 1,000.00 without interest, overpaid, and 250.00 of it charged back."""
    interest_free = {"interestRate": "0", "interestFrequency": "every_month"}
    loan_id = bank.lend(amount="1000.00", interestSettings=interest_free, period=1, tax_applied=False)
    refs = [pay(bank, loan_id, "card", amount, card=card())["txnRef"] for amount in ("1000.00", surplus)]
    for txn_ref in refs:
        assert bank.loans("validate", txnRef=txn_ref, otp="123456")["txnStatus"] == "successful"
    assert (bank.view(loan_id)["state"], bank.view(loan_id)["credit"]) == ("closed_repaid", surplus)
    dispute(bank, refs[0], "lost", amount="250.00")
    loan = bank.view(loan_id)
    assert (loan["state"], loan["outstanding"]["total"], loan["credit"]) == (state, outstanding, credit)
