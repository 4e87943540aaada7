"""Automatic collection over HTTP, on real PostgreSQL: savings, cards and the wallet that repay loans."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import balance, open_savings
from tests.methods.loans.lending_client import LendingClient
from tests.methods.loans.test_http_reverse import decide, dispute, reverse
from tests.methods.payment.payment_client import VISA_OK, PaymentClient
from tests.running import Deployment

NOW = "2026-01-31T08:00:00+01:00"
FREE = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_month"}, "amount": 1000, "period": 4}
NO_TAX = {"tax_applied": False, "tax_rate": None}
# Cards that pay the first time, and are declined from then on: for lack of money, and because they have expired.
SHORT_LATER, EXPIRED_LATER = "4111110051000011", "4111110054000018"


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    return open_bank(open_shop)


def open_bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=NOW)
    return LendingClient(shop.connection, shop.mid, shop.key)


def lend(bank: LendingClient) -> str:
    return bank.lend(**FREE, **NO_TAX)


def agree(bank: LendingClient, loan_id: str, source: str = "wallet", **fields: Any) -> Any:
    return bank.loans("auto_repay", loan_id=loan_id, source=source, **fields)


def agree_on_card(bank: LendingClient, loan_id: str, number: str = VISA_OK) -> Any:
    return agree(bank, loan_id, "token", token=PaymentClient(bank).token(number))


def attempts(bank: LendingClient, loan_id: str, **fields: Any) -> list[Any]:
    return list(bank.loans("collections", loan_id=loan_id, **fields)["data"])


def events(bank: LendingClient, auto_repay_id: str) -> list[Any]:
    lines = bank.put("resources", inquire="events", txnRef=auto_repay_id, limit=50).body["data"]
    return [line["payload"] for line in reversed(lines)]


def test_savings_repay_a_loan_until_it_is_closed(bank: LendingClient) -> None:
    loan_id = lend(bank)
    client_id = bank.view(loan_id)["client_id"]
    savings_id = open_savings(bank, client_id, "5000.00", interestSettings=FREE["interestSettings"])
    agreed = agree(bank, loan_id, "savings", savings_id=savings_id)["data"]
    assert (agreed["next_step"], agreed["next_date"], agreed["next_amount"]) == ("notice", "2026-02-27", "250.00")
    bank.advance(days=29)
    shown = bank.view(loan_id)
    assert (shown["outstanding"]["total"], balance(bank, savings_id)) == ("750.00", 475_000)
    assert (shown["auto_repay"]["collected"], shown["auto_repay"]["next_date"]) == ("250.00", "2026-03-30")
    bank.advance(days=100)
    shown = bank.view(loan_id)
    assert (shown["state"], shown["auto_repay"]["state"], balance(bank, savings_id)) == (
        "closed_repaid",
        "ended",
        400_000,
    )
    assert shown["auto_repay"]["next_date"] is None
    assert [(line["state"], line["amount"]) for line in attempts(bank, loan_id)] == [("collected", "250.00")] * 4
    sent = events(bank, agreed["auto_repay_id"])
    assert [event["kind"] for event in sent] == ["loan_due", "loan_collected"] * 4
    assert (sent[0]["txnStatus"], sent[0]["amount"], sent[0]["date"]) == ("pending", "250.00", "2026-02-28")
    assert (sent[-1]["state"], sent[-1]["outstanding"]) == ("closed_repaid", "0.00")
    line = attempts(bank, loan_id)[0]
    assert sent[-1]["repaymentRef"] == line["txnRef"]
    found = bank.put("resources", inquire="transaction", reference=line["txnRef"]).body["data"]
    assert (found["kind"], found["state"], found["amount"]) == ("repayment", "successful", "250.00")
    assert {"kind": "loan", "reference": loan_id, "state": None} in found["related"]


def test_a_card_repays_a_loan_and_its_charges_are_payments(bank: LendingClient) -> None:
    loan_id = lend(bank)
    agreed = agree_on_card(bank, loan_id)["data"]
    assert agreed["token"].endswith("****")
    bank.advance(days=29)
    [line] = attempts(bank, loan_id)
    assert (line["state"], line["source"], line["due"]) == ("collected", "token", "2026-02-28")
    paid = bank.put("payment", action="verify", txnRef=line["txnRef"]).body
    assert (paid["txnStatus"], paid["loan_id"]) == ("successful", loan_id)
    assert paid["customer_txnref"] == agreed["auto_repay_id"]
    assert bank.view(loan_id)["outstanding"]["total"] == "750.00"


def test_a_card_without_money_is_charged_again_and_then_the_day_is_given_up(bank: LendingClient) -> None:
    loan_id = lend(bank)
    auto_repay_id = agree_on_card(bank, loan_id, SHORT_LATER)["data"]["auto_repay_id"]
    bank.advance(days=40)
    lines = attempts(bank, loan_id, state="declined")
    assert [line["is_final"] for line in reversed(lines)] == [False, False, False, True]
    assert {line["reason"] for line in lines} == {"card_declined"}
    assert len({line["txnRef"] for line in lines}) == 4
    failed = [event for event in events(bank, auto_repay_id) if event["kind"] == "loan_collection_failed"]
    assert [event["step"] for event in failed] == ["failed", "failed", "failed", "missed"]
    assert (failed[0]["txnStatus"], failed[0]["reason"], failed[0]["next_date"]) == (
        "failed",
        "card_declined",
        "2026-03-01",
    )


def test_a_card_that_has_expired_is_not_charged_again(bank: LendingClient) -> None:
    loan_id = lend(bank)
    agree_on_card(bank, loan_id, EXPIRED_LATER)
    bank.advance(days=60)
    [line] = attempts(bank, loan_id)
    assert (line["state"], line["is_final"]) == ("declined", True)
    shown = bank.view(loan_id)["auto_repay"]
    assert (shown["state"], shown["reason"], shown["next_step"]) == ("paused", "card_declined", None)


@pytest.mark.parametrize("how", ["merchant", "dispute"])
def test_a_collection_that_is_taken_back_is_not_collected_again_at_once(bank: LendingClient, how: str) -> None:
    loan_id = lend(bank)
    auto_repay_id = agree_on_card(bank, loan_id)["data"]["auto_repay_id"]
    bank.advance(days=29)
    txn_ref = attempts(bank, loan_id)[0]["txnRef"]
    if how == "merchant":
        assert reverse(bank, txn_ref)["status"] == 200
    else:
        dispute(bank, txn_ref, "lost")
    shown = bank.view(loan_id)
    assert (shown["outstanding"]["total"], shown["auto_repay"]["state"]) == ("1000.00", "paused")
    assert events(bank, auto_repay_id)[-1]["reason"] == "repayment_reversed"
    bank.advance(days=40)
    assert len(attempts(bank, loan_id)) == 1
    agree(bank, loan_id)
    bank.advance(days=2)
    assert attempts(bank, loan_id)[0]["amount"] == "500.00"


def test_a_dispute_that_is_won_leaves_the_collection_as_it_is(bank: LendingClient) -> None:
    loan_id = lend(bank)
    agree_on_card(bank, loan_id)
    bank.advance(days=29)
    txn_ref = attempts(bank, loan_id)[0]["txnRef"]
    opened = bank.put("sandbox", action="dispute", txnRef=txn_ref, reason="fraudulent").body
    decide(bank, opened["data"]["dispute_id"], "won")
    assert bank.view(loan_id)["auto_repay"]["state"] == "active"


def test_a_collection_is_stopped_and_has_no_job(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = lend(bank)
    auto_repay_id = agree(bank, loan_id)["data"]["auto_repay_id"]
    jobs = "select 1 from scheduled_job where reference = $1"
    assert len(deployment.fetch(jobs, auto_repay_id)) == 1
    stopped = bank.loans("stop_auto_repay", loan_id=loan_id)
    assert (stopped["message"], stopped["data"]["state"]) == ("Automatic Collection Stopped", "stopped")
    assert deployment.fetch(jobs, auto_repay_id) == []
    bank.advance(days=40)
    assert attempts(bank, loan_id) == []


def test_an_export_of_a_client_has_no_whole_token(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = lend(bank)
    token = PaymentClient(bank).token()
    agree(bank, loan_id, "token", token=token)
    [[columns]] = deployment.fetch(
        "select array_agg(column_name::text) from information_schema.columns where table_name = $1",
        "loan_auto_repayment",
    )
    assert "card_token" in columns
    exported = deployment.run_command("client", "export", bank.mid, bank.view(loan_id)["client_id"])
    assert loan_id in exported
    assert token not in exported


def test_a_restored_snapshot_collects_as_before(bank: LendingClient) -> None:
    loan_id = lend(bank)
    agree(bank, loan_id)
    assert bank.put("sandbox", action="snapshot", name="before").body["status"] == 200
    bank.advance(days=29)
    assert len(attempts(bank, loan_id)) == 1
    assert bank.put("sandbox", action="restore", name="before").body["status"] == 200
    assert attempts(bank, loan_id) == []
    bank.advance(days=29)
    assert [line["state"] for line in attempts(bank, loan_id)] == ["collected"]


def test_the_page_of_a_loan_says_what_comes_next_and_what_was_declined(
    bank: LendingClient, deployment: Deployment
) -> None:
    loan_id = lend(bank)
    client_id = bank.view(loan_id)["client_id"]
    savings_id = open_savings(bank, client_id, "1.00", interestSettings=FREE["interestSettings"])
    owner = sign_in_as(deployment, "merchant:owner", bank.mid)
    asked = {"source": "savings", "savings_id": savings_id, "retry": "2, 5", "at": "10"}
    assert owner.post(f"/loans/{loan_id}/auto-repay", **asked).http == 303
    page = owner.get(f"/loans/{loan_id}").text
    assert "The client is told on 2026-02-27" in page
    bank.advance(days=29)
    page = owner.get(f"/loans/{loan_id}").text
    assert "Tried again on 2026-03-02" in page
    assert "The savings did not cover the amount." in page
    assert "Attempts to collect" in page
    assert owner.post(f"/loans/{loan_id}/stop-auto-repay").http == 303
    assert "stop-auto-repay" not in owner.get(f"/loans/{loan_id}").text


def test_a_merchant_does_not_reach_another_ones_loan(
    bank: LendingClient, open_shop: Callable[..., MerchantClient]
) -> None:
    loan_id = lend(bank)
    agree(bank, loan_id)
    other = open_bank(open_shop)
    assert agree(other, loan_id)["code"] == "loan_not_found"
    assert other.loans("stop_auto_repay", loan_id=loan_id)["code"] == "loan_not_found"
    assert attempts(other, loan_id) == []
    assert bank.view(loan_id)["auto_repay"]["state"] == "active"
