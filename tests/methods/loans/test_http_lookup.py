"""Loans as they are found again: lists in figures, what a disbursement and a repayment belong to, and credits.

Contract: loans#request
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest

from kasuwa.transactions.sealed_payers import PayerMetadata, payment_payer_aad, unseal_payer
from tests.merchant_client import MerchantClient, to_minor_units, without_codes
from tests.methods.loans.lending_client import FAILING, PENDING, START, LendingClient
from tests.methods.payment.payment_client import OTP, card
from tests.running import Deployment
from tests.sealed_rows import read_vault


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def approve(bank: LendingClient, account: str) -> tuple[str, Any]:
    loan_id = bank.request(bank.client(account))["data"]["loan_id"]
    return str(loan_id), bank.loans("process", loan_id=loan_id, status="approve")


def event_of(bank: LendingClient, txn_ref: str) -> Any:
    [line] = bank.put("resources", inquire="events", txnRef=txn_ref).body["data"]
    return line["payload"]


# --- a disbursement ---------------------------------------------------------------------------------------------------


def test_a_disbursement_names_its_loan_and_its_transfer(bank: LendingClient) -> None:
    loan_id = bank.request(bank.client())["data"]["loan_id"]
    paid = bank.loans("process", loan_id=loan_id, status="approve")
    assert (paid["txnStatus"], paid["loan_id"], paid["txnRef"][:6]) == ("successful", loan_id, "GP|LD|")
    assert bank.view(loan_id)["txnRef"] == paid["txnRef"]
    payload = event_of(bank, paid["txnRef"])
    assert (payload["loan_id"], payload["txnStatus"], payload["orderRef"]) == (loan_id, "successful", paid["txnRef"])
    for reference in (loan_id, paid["txnRef"]):
        found = bank.put("disburse", action="verify", txnRef=reference).body
        assert (found["txnRef"], found["txnStatus"], found["loan_id"]) == (paid["txnRef"], "successful", loan_id)


def test_a_disbursement_that_is_open_is_settled_and_explained_by_its_loan(bank: LendingClient) -> None:
    loan_id, begun = approve(bank, PENDING)
    assert (begun["txnStatus"], begun["data"]["state"]) == ("pending", "disbursing")
    assert bank.put("disburse", action="verify", txnRef=loan_id).body["txnStatus"] == "pending"
    settled = bank.put("sandbox", action="settle", txnRef=loan_id, outcome="successful").body
    assert (settled["status"], settled["txnRef"]) == (200, begun["txnRef"])
    assert bank.view(loan_id)["state"] == "active"
    story = bank.put("sandbox", action="explain", txnRef=loan_id).body
    assert story["status"] == 200
    lines = [line for value in story.values() if isinstance(value, list) for line in value]
    assert {line.get("txnRef") for line in lines if line["what"] == "hold"} == {begun["txnRef"]}
    seqs = [line["seq"] for line in lines if line["what"] == "posting"]
    assert len(seqs) == len(set(seqs)) > 3


def test_a_disbursement_that_failed_says_so_with_the_state(bank: LendingClient) -> None:
    loan_id, failed = approve(bank, FAILING)
    assert (failed["status"], failed["txnStatus"], failed["data"]["state"]) == (200, "failed", "approved")
    assert failed["message"].startswith("The disbursement failed (")
    assert event_of(bank, failed["txnRef"])["loan_id"] == loan_id


# --- a repayment ------------------------------------------------------------------------------------------------------


def test_a_repayment_by_card_names_its_loan_at_every_step(bank: LendingClient) -> None:
    loan_id, sent_meta = bank.lend(), {"till": 3, "note": "kept"}
    asked = bank.loans(
        "repay",
        loan_id=loan_id,
        payment_method="card",
        amount="1000.00",
        card=card(),
        meta=sent_meta,
        ip="102.89.2.1",
        fingerprint="f0",
    )
    assert (asked["status"], asked["loan_id"]) == (202, loan_id)
    done = bank.loans("validate", txnRef=asked["txnRef"], otp=OTP)
    assert (done["txnStatus"], done["loan_id"]) == ("successful", loan_id)
    for reference in (asked["txnRef"], loan_id):
        found = bank.put("payment", action="verify", txnRef=reference).body
        assert (found["txnRef"], found["loan_id"], found["meta"]) == (asked["txnRef"], loan_id, sent_meta)
    assert event_of(bank, asked["txnRef"])["loan_id"] == loan_id


def test_payer_details_of_a_repayment_are_kept_with_it(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    paid = bank.loans(
        "repay", loan_id=loan_id, payment_method="token", amount="10.00", token="x", ip="1.2.3.4", fingerprint="f0"
    )
    assert paid["status"] == 104
    asked = bank.loans(
        "repay", loan_id=loan_id, payment_method="ussd", bank="gtb", amount="10.00", ip="1.2.3.4", fingerprint="f0"
    )
    [[merchant_id, sealed]] = deployment.fetch(
        "select merchant_id, payer_sealed from payment where txn_ref = $1", asked["txnRef"]
    )
    vault = asyncio.run(read_vault(deployment))
    payer = unseal_payer(merchant_id, payment_payer_aad(asked["txnRef"]), sealed, vault.unseal)
    assert payer.purpose == PayerMetadata(ip="1.2.3.4", fingerprint="f0")


def test_a_wallet_repayment_is_verified_by_its_references_and_the_newest_wins(bank: LendingClient) -> None:
    loan_id = bank.lend()
    first, second = (
        bank.repay(loan_id, amount=amount, customer_txnref="order-7", meta={"n": n})
        for n, amount in enumerate(("100.00", "200.00"), start=1)
    )
    assert (first["loan_id"], first["txnRef"][:6]) == (loan_id, "GP|LR|")
    by_reference = bank.put("payment", action="verify", txnRef=first["txnRef"]).body
    assert (by_reference["txnStatus"], by_reference["chargedAmount"], by_reference["loan_id"]) == (
        "successful",
        100,
        loan_id,
    )
    assert (by_reference["customer_txnref"], by_reference["payment_method"]) == ("order-7", "wallet")
    assert by_reference["meta"] == {"n": 1}
    bank.advance(seconds=1)
    third = bank.repay(loan_id, amount="300.00", customer_txnref="order-7")
    newest = bank.put("payment", action="verify", customer_txnref="order-7").body
    assert newest["txnRef"] == third["txnRef"]
    payload = event_of(bank, second["txnRef"])
    assert (payload["loan_id"], payload["customer_txnref"]) == (loan_id, "order-7")


# --- what was paid beyond the loan ------------------------------------------------------------------------------------


def pay_twice(bank: LendingClient) -> tuple[str, str]:
    """A loan that two cards repaid whole; the second payment's reference."""
    loan_id = bank.lend()
    both = [
        bank.loans("repay", loan_id=loan_id, payment_method="card", amount="120000.00", card=card()) for _ in range(2)
    ]
    for asked in both:
        done = bank.loans("validate", txnRef=asked["txnRef"], otp=OTP)
        assert done["txnStatus"] == "successful"
    return loan_id, both[1]["txnRef"]


def test_what_was_paid_beyond_a_loan_shows_and_is_refunded(bank: LendingClient, deployment: Deployment) -> None:
    loan_id, second = pay_twice(bank)
    assert bank.view(loan_id)["credit"] == "120000.00"
    assert bank.loans("list")["data"][0]["credit"] == "120000.00"
    assert bank.put("payment", action="verify", txnRef=second).body["unappliedAmount"] == "120000.00"
    assert event_of(bank, second)["unappliedAmount"] == "120000.00"
    had = bank.wallet().balance
    refused = bank.put("payment", action="refund", txnRef=second, amount="120000.01").body
    assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["amount"])
    part = bank.put("payment", action="refund", txnRef=second, amount="20000.00").body
    assert (part["txnStatus"], part["refundableAmount"]) == ("successful", "100000.00")
    assert bank.view(loan_id)["credit"] == "100000.00"
    rest = bank.put("payment", action="refund", txnRef=second, amount="100000.00").body
    assert (rest["txnStatus"], rest["refundableAmount"]) == ("successful", "0.00")
    assert (bank.view(loan_id)["credit"], bank.wallet().balance) == ("0.00", had - 12_000_000)
    verified = bank.put("payment", action="verify", txnRef=second).body
    assert (verified["refundedAmount"], verified["unappliedAmount"]) == ("120000.00", "0.00")


def test_what_a_loan_used_of_a_payment_cannot_be_refunded(bank: LendingClient) -> None:
    loan_id = bank.lend()
    paid = bank.loans("repay", loan_id=loan_id, payment_method="card", amount="500.00", card=card(auth="PIN"))
    refused = bank.put("payment", action="refund", txnRef=paid["txnRef"], amount="1.00").body
    assert (refused["status"], bank.view(loan_id)["credit"]) == (104, "0.00")


# --- lists ------------------------------------------------------------------------------------------------------------


def test_a_list_shows_loans_in_figures_and_agrees_with_their_views(bank: LendingClient) -> None:
    ids = [bank.lend(), bank.lend(method="flat"), bank.request(bank.client())["data"]["loan_id"]]
    bank.repay(ids[0], amount="60000.00")
    bank.advance(until="2026-03-05T10:00:00+01:00")
    listed = {line["loan_id"]: line for line in bank.loans("list")["data"]}
    for loan_id in ids:
        line, view = listed[loan_id], bank.view(loan_id)
        schedule = view.pop("schedule")
        figures, coming = line.pop("installments"), line.pop("next_due")
        late = [each for each in schedule if each["state"] == "late"]
        assert to_minor_units(line.pop("overdue")) == sum(
            to_minor_units(each["total"]) - to_minor_units(each["paid"]) for each in late
        )
        assert line == view
        assert figures["total"] == 12
        assert figures["late"] == sum(each["state"] == "late" for each in schedule)
        assert figures["paid"] == sum(each["state"] == "paid" for each in schedule)
        owing = [each for each in schedule if to_minor_units(each["paid"]) < to_minor_units(each["total"])]
        if view["disbursed_at"] is None:
            assert coming is None
            continue
        assert (coming["n"], coming["due"]) == (owing[0]["n"], owing[0]["due"])
        assert to_minor_units(coming["amount"]) == to_minor_units(owing[0]["total"]) - to_minor_units(owing[0]["paid"])


def test_loans_are_listed_by_client_and_by_state(bank: LendingClient) -> None:
    client = bank.client()
    mine = [bank.request(client)["data"]["loan_id"] for _ in range(2)]
    late = bank.lend()
    bank.loans("process", loan_id=mine[0], status="reject")

    def listed(**chosen: Any) -> list[str]:
        body = bank.loans("list", **chosen)
        assert body["total"] == len(body["data"])
        return [line["loan_id"] for line in body["data"]]

    assert listed() == [late, mine[1], mine[0]]
    assert listed(client_id=client) == [mine[1], mine[0]]
    assert listed(client_id=client, state="closed_rejected") == [mine[0]]
    assert (listed(state="active"), listed(state="active_in_arrears")) == ([late], [])
    bank.advance(until="2026-03-05T10:00:00+01:00")
    assert (listed(state="active"), listed(state="active_in_arrears")) == ([], [late])
    assert bank.loans("list", state="lost")["status"] == 104


def test_a_page_of_long_loans_is_small(bank: LendingClient) -> None:
    for _ in range(5):
        bank.lend(period=366, interestSettings={"interestRate": "0.1", "interestFrequency": "every_day"})
    body = bank.loans("list", limit=200)
    assert len(body["data"]) == 5
    assert all("schedule" not in line and line["installments"]["total"] == 366 for line in body["data"])


# --- one moment -------------------------------------------------------------------------------------------------------


def test_views_and_lists_never_mix_two_states_of_a_loan(bank: LendingClient, deployment: Deployment) -> None:
    """Each reply shows one state while a loan is repaid: paid and outstanding amounts add up to the loan."""
    loan_id = bank.lend()

    body = msgspec.json.encode({"action": "repay", "loan_id": loan_id, "payment_method": "wallet", "amount": "1000.00"})

    def repay() -> None:
        with deployment.connect() as wire:
            for _ in range(40):
                assert wire.send("PUT", "/loans", body, bank.headers).body["status"] == 200

    with ThreadPoolExecutor(1) as both:
        done = both.submit(repay)
        while not done.done():
            view = bank.view(loan_id)
            principal = sum(to_minor_units(line["principal"]) for line in view["schedule"])
            assert principal == 12_000_000
            [line] = bank.loans("list")["data"]
            assert to_minor_units(line["outstanding"]["principal"]) == to_minor_units(line["outstanding"]["payoff"])
        done.result()


def test_verify_by_the_loan_finds_repayments_from_the_wallet(bank: LendingClient) -> None:
    loan_id = bank.lend()
    first = bank.repay(loan_id, amount="500.00")
    found = bank.put("payment", action="verify", txnRef=loan_id).body
    assert (found["txnRef"], found["payment_method"], found["loan_id"]) == (first["txnRef"], "wallet", loan_id)
    second = bank.repay(loan_id, amount="600.00")
    assert bank.put("payment", action="verify", txnRef=loan_id).body["txnRef"] == second["txnRef"]
    other = bank.lend()
    unknown = bank.put("payment", action="verify", txnRef=other).body
    assert without_codes(unknown) == {"status": 104, "message": "Invalid Transaction Reference"}
