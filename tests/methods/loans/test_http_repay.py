"""Repaying a loan by every payment method, through the payment flow: 202, validate, call-backs.

Contract: payment#charge, loans#request
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.merchant_client import MerchantClient, to_minor_units, without_codes
from tests.methods.loans.lending_client import START, LendingClient
from tests.methods.payment.payment_client import OTP, PaymentClient, card
from tests.running import Deployment
from tests.walk.bounds import PAYOFF

DECLINED = "4111115100000011"
LATER = "4111110900000014"

# Of a card payment of 1,000.00 in Nigeria: 1.5 %, and VAT on it.
FEE = 1_500 + 113


@pytest.fixture
def bank(open_shop: Callable[..., MerchantClient]) -> LendingClient:
    shop = open_shop(now=START)
    return LendingClient(shop.connection, shop.mid, shop.key)


def pay(bank: LendingClient, loan_id: str, method: str, amount: str = "1000.00", /, **fields: Any) -> Any:
    return bank.loans("repay", loan_id=loan_id, payment_method=method, amount=amount, **fields)


def settle(bank: LendingClient, txn_ref: str, outcome: str = "successful") -> None:
    assert bank.put("sandbox", action="settle", txnRef=txn_ref, outcome=outcome).body["status"] == 200


def repaid(bank: LendingClient, loan_id: str) -> int:
    """Returns the amount credited to the loan."""
    return sum(to_minor_units(line["paid"]) for line in bank.view(loan_id)["schedule"])


# --- cards --------------------------------------------------------------------------------------------------------


def test_a_card_pays_into_the_wallet_and_the_loan_is_credited_with_all_of_it(
    bank: LendingClient, deployment: Deployment
) -> None:
    loan_id = bank.lend()
    had = bank.wallet().balance
    reply = pay(bank, loan_id, "card", card=card(auth="PIN"), ip="127.0.0.1", fingerprint="f", meta={"till": 3})
    assert (reply["status"], reply["txnStatus"], reply["chargedAmount"]) == (200, "successful", "1000.00")
    assert (reply["payment_method"], reply["txnRef"][:2]) == ("card", "GP")
    assert bank.wallet().balance == had + 100_000 - FEE
    assert repaid(bank, loan_id) == 100_000
    rows = deployment.fetch(
        "select debit, credit, amount, group_seq from posting where reference = $1 order by seq", reply["txnRef"]
    )
    assert len({row[3] for row in rows}) == 1
    assert [(row[0].split(":")[0], row[1].split(":")[0], row[2]) for row in rows] == [
        ("rail", "wallet", 100_000),
        ("wallet", "income", 1_500),
        ("wallet", "tax", 113),
        ("loan_principal", "lending", 100_000),
        ("loan_interest", "lending", 13_473),  # not asked for any more
        ("loan_tax", "lending", 1_011),
    ]


def test_an_otp_is_asked_for_and_brought_by_validate(bank: LendingClient) -> None:
    loan_id = bank.lend()
    asked = pay(bank, loan_id, "card", card=card())
    assert (asked["status"], asked["auth_type"], "validate" in asked) == (202, "OTP", True)
    assert repaid(bank, loan_id) == 0
    assert bank.loans("validate", txnRef=asked["txnRef"], otp="000000")["status"] == 203
    assert repaid(bank, loan_id) == 0
    done = bank.loans("validate", txnRef=asked["txnRef"], otp=OTP)
    assert (done["status"], done["message"], done["txnStatus"]) == (200, "Validation Successful", "successful")
    assert repaid(bank, loan_id) == 100_000
    again = bank.loans("validate", txnRef=asked["txnRef"], otp=OTP)
    assert (again["status"], again["txnStatus"]) == (200, "successful")
    assert repaid(bank, loan_id) == 100_000


def test_three_wrong_codes_fail_the_payment_and_the_loan_stands(bank: LendingClient) -> None:
    loan_id = bank.lend()
    asked = pay(bank, loan_id, "card", card=card())
    assert [bank.loans("validate", txnRef=asked["txnRef"], otp="000000")["status"] for _ in range(3)] == [203] * 3
    assert bank.loans("validate", txnRef=asked["txnRef"], otp=OTP)["status"] == 203
    assert repaid(bank, loan_id) == 0


def test_three_d_secure_shows_a_page_and_ends_by_the_payer(bank: LendingClient) -> None:
    loan_id = bank.lend()
    asked = pay(bank, loan_id, "card", card=card(auth="3DSecure"))
    assert (asked["status"], "/pay/" in asked["authURL"]) == (202, True)
    settle(bank, asked["txnRef"])
    assert repaid(bank, loan_id) == 100_000


def test_a_declined_card_credits_nothing(bank: LendingClient) -> None:
    loan_id = bank.lend()
    had = bank.wallet()
    reply = pay(bank, loan_id, "card", card=card(DECLINED, "PIN"))
    assert (reply["status"], reply["txnStatus"]) == (200, "failed")
    assert (repaid(bank, loan_id), bank.wallet()) == (0, had)


def test_a_card_whose_outcome_comes_later_credits_the_loan_then(bank: LendingClient) -> None:
    loan_id = bank.lend()
    reply = pay(bank, loan_id, "card", card=card(LATER, "PIN"))
    assert (reply["txnStatus"], repaid(bank, loan_id)) == ("pending", 0)
    bank.advance(seconds=6)
    assert repaid(bank, loan_id) == 100_000


# --- every other method -------------------------------------------------------------------------------------------


def test_a_saved_card_repays_at_once(bank: LendingClient) -> None:
    loan_id = bank.lend()
    reply = pay(bank, loan_id, "token", token=PaymentClient(bank).token())
    assert (reply["txnStatus"], repaid(bank, loan_id)) == ("successful", 100_000)


def test_a_bank_account_is_debited_after_its_otp(bank: LendingClient) -> None:
    loan_id = bank.lend()
    asked = pay(bank, loan_id, "account", account={"accountnumber": "0000000000", "bankcode": "058"})
    assert asked["status"] == 202
    assert bank.loans("validate", txnRef=asked["txnRef"], otp=OTP, validate="account")["txnStatus"] == "successful"
    assert repaid(bank, loan_id) == 100_000


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        ("ussd", {"bank": "gtb"}),
        ("qrpay", {}),
        ("phone", {"phonenumber": "08000000099"}),
        ("mobile_money", {"type": "paga", "redirect_url": "https://shop.example/back"}),
    ],
)
def test_what_the_payer_does_elsewhere_credits_the_loan_by_the_call_back(
    bank: LendingClient, method: str, fields: dict[str, Any]
) -> None:
    loan_id = bank.lend()
    asked = pay(bank, loan_id, method, **fields)
    assert (asked["status"], repaid(bank, loan_id)) == (202, 0)
    settle(bank, asked["txnRef"])
    assert repaid(bank, loan_id) == 100_000


def test_a_bank_transfer_into_the_account_that_was_shown_credits_the_loan(bank: LendingClient) -> None:
    loan_id = bank.lend()
    asked = pay(bank, loan_id, "bank_transfer")
    assert asked["status"] == 202
    paid = bank.put("sandbox", action="pay_account", accountNumber=asked["accountNumber"], amount="1000.00").body
    assert (paid["status"], repaid(bank, loan_id)) == (200, 100_000)


def test_a_payment_nobody_completes_expires_and_the_loan_stands(bank: LendingClient) -> None:
    loan_id = bank.lend()
    pay(bank, loan_id, "ussd", bank="gtb")
    bank.advance(hours=1)
    assert repaid(bank, loan_id) == 0


# --- closing, and too much ----------------------------------------------------------------------------------------


def test_the_payoff_by_card_closes_the_loan_and_more_is_refused(bank: LendingClient) -> None:
    for amount, is_within in PAYOFF.sides:
        loan_id = bank.lend()
        paid = pay(bank, loan_id, "card", amount, card=card(auth="PIN"))
        assert [fault["field"] for fault in paid.get("errors", [])] == ([] if is_within else ["amount"]), amount
        assert (paid["status"], paid.get("txnStatus")) == ((200, "successful") if is_within else (104, None))
        is_closed = bank.view(loan_id)["state"] == "closed_repaid"
        assert is_closed == (amount == PAYOFF.within[-1])


def test_a_payoff_validated_after_midnight_leaves_the_interest_of_that_day(bank: LendingClient) -> None:
    loan_id = bank.lend()
    bank.advance(until="2026-03-10T23:55:00+01:00")
    payoff = bank.view(loan_id)["outstanding"]["payoff"]
    asked = pay(bank, loan_id, "card", payoff, card=card())
    assert asked["status"] == 202
    bank.advance(until="2026-03-11T00:01:00+01:00")
    a_day = to_minor_units(bank.view(loan_id)["outstanding"]["payoff"]) - to_minor_units(payoff)
    assert bank.loans("validate", txnRef=asked["txnRef"], otp=OTP)["txnStatus"] == "successful"
    loan = bank.view(loan_id)
    assert (loan["state"], to_minor_units(loan["outstanding"]["payoff"])) == ("active", a_day)
    assert a_day <= to_minor_units(loan["outstanding"]["total"]) < 2 * a_day
    assert bank.repay(loan_id, amount=loan["outstanding"]["payoff"])["data"]["state"] == "closed_repaid"


def test_two_payments_under_way_never_credit_more_than_is_owed(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    first, second = (pay(bank, loan_id, "ussd", "120000.00", bank="gtb") for _ in range(2))
    settle(bank, first["txnRef"])
    assert bank.view(loan_id)["state"] == "closed_repaid"
    settle(bank, second["txnRef"])
    newest = bank.loans("statement", loan_id=loan_id)["data"][0]
    assert (newest["part"], newest["narration"], newest["amount"]) == ("credit", "paid too much", "120000.00")
    assert newest["origin"] == second["txnRef"]
    [[notice]] = deployment.fetch("select message from operator_notice where reference = $1", second["txnRef"])
    assert notice.startswith("120000.00 was paid beyond what was owed on loan")


# --- what is refused ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "fields", "named"),
    [
        ("card", {}, {"card"}),
        ("card", {"card": card(expiry_year="20")}, {"card.expiry_year"}),
        ("card", {"card": card(), "currency": "USD"}, {"currency"}),
        ("card", {"card": {**card(), "card_no": "1234"}}, {"card.card_no"}),
        ("token", {"token": "xxxxxxxx.1"}, {"token"}),
        ("token", {}, {"token"}),
        ("account", {}, {"account"}),
        ("ussd", {}, {"bank"}),
        ("phone", {}, {"phonenumber"}),
        ("mobile_money", {}, {"type"}),
        ("mobile_money", {"type": "paga"}, {"redirect_url"}),
        ("mobile_money", {"type": "mpesa", "country": "KE", "currency": "KES"}, {"currency", "type"}),
        ("mobile_money", {"type": "ghana", "phonenumber": "0240000000", "network": "mtn"}, {"type"}),
        ("bank_transfer", {"customer_txnref": "x" * 101}, {"customer_txnref"}),
    ],
)
def test_each_method_names_what_it_needs(
    bank: LendingClient, method: str, fields: dict[str, Any], named: set[str]
) -> None:
    loan_id = bank.lend()
    refused = pay(bank, loan_id, method, **fields)
    assert refused["status"] == 104
    assert {fault["field"] for fault in refused["errors"]} == named
    assert repaid(bank, loan_id) == 0


def test_validate_knows_repayments_alone_and_only_its_own_merchants(
    bank: LendingClient, open_shop: Callable[..., MerchantClient]
) -> None:
    payments = PaymentClient(bank)
    begun = payments.initiate(card())
    unknown = {"status": 104, "message": "Invalid Transaction Reference"}
    assert without_codes(bank.loans("validate", txnRef=begun["txnRef"], otp=OTP)) == unknown
    asked = pay(bank, bank.lend(), "card", card=card())
    other = open_shop()
    assert without_codes(other.put("loans", action="validate", txnRef=asked["txnRef"], otp=OTP).body) == unknown
    assert without_codes(bank.loans("validate", txnRef="GP", otp=OTP)) == unknown


def test_a_dry_run_by_card_tells_the_fee_and_keeps_nothing(bank: LendingClient, deployment: Deployment) -> None:
    loan_id = bank.lend()
    before = bank.view(loan_id), bank.wallet()
    preview = pay(bank, loan_id, "card", card=card(auth="PIN"), dry_run=True)
    figures = {figure["what"]: figure for figure in preview["explained"]}
    assert figures["collection"]["amount"] == "16.13"
    assert figures["collection"]["how"] == "fee 15.00, VAT 1.13: the merchant's, out of what is settled"
    assert (preview["dry_run"], preview["payment_method"], "txnRef" in preview) == (True, "card", False)
    assert (bank.view(loan_id), bank.wallet()) == before
    [[payments]] = deployment.fetch(
        "select count(*) from payment p join merchant m using (merchant_id) where m.mid = $1", bank.mid
    )
    assert payments == 0
    refused = pay(bank, loan_id, "card", dry_run=True)
    assert [fault["field"] for fault in refused["errors"]] == ["card"]
