"""The rules of a loan until it is paid out: what is refused, what is kept, and where the money goes.

Contract: loans#request
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Refusal
from kasuwa.methods.clients.model import NO_BANK_ACCOUNT, UNKNOWN_CLIENT
from kasuwa.methods.disburse.model import JOB_DATA_DECODER
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT
from kasuwa.methods.loans.model import UNKNOWN_LOAN
from kasuwa.methods.loans.rules.origination import TOO_LARGE
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import Transaction
from tests.methods.loans.in_memory_lender import BAD, BANK, GOOD, OPENING, SLOW, START, Lender

FEES = 1_000 + 75


@pytest.fixture
def lender() -> Lender:
    return Lender()


def faults(refusal: Any) -> dict[str, str]:
    assert isinstance(refusal, Refusal), refusal
    return {fault.field: fault.reason for fault in refusal.field_errors}


# --- what may be asked ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"amount": "0.99"}, {"amount": "at least 1.00"}),
        (
            {"amount": "1e5"},
            {"amount": "digits with at most two decimals, above zero, at most 15 digits; write it without an exponent"},
        ),
        ({"period": 0}, {"period": "a number of installments from 1 to 366"}),
        ({"period": 367}, {"period": "a number of installments from 1 to 366"}),
        ({"period": 1.5}, {"period": "a whole number, not negative"}),
        ({"method": "balloon"}, {"method": "one of declining_equal_instalments, equal_principal, flat"}),
        ({"tax_applied": True}, {"tax_rate": "required if tax_applied is true"}),
        ({"tax_applied": True, "tax_rate": 100.1}, {"tax_rate": "a percentage from 0 to 100"}),
        ({"tax_rate": -1}, {"tax_rate": "a percentage from 0 to 1000 with at most six decimals"}),
        ({"client_id": ""}, {"client_id": "1 to 100 characters"}),
    ],
)
def test_a_wrong_field_is_named(lender: Lender, changes: dict[str, Any], fields: dict[str, str]) -> None:
    assert faults(lender.request(**changes)) == fields


@pytest.mark.parametrize(
    ("settings", "fields"),
    [
        ({"interestRate": "-1", "interestFrequency": "annualized"}, {"interestSettings.interestRate"}),
        ({"interestRate": "1.1234567", "interestFrequency": "annualized"}, {"interestSettings.interestRate"}),
        ({"interestRate": "1001", "interestFrequency": "annualized"}, {"interestSettings.interestRate"}),
        ({"interestRate": "5", "interestFrequency": "yearly"}, {"interestSettings.interestFrequency"}),
        ({}, {"interestSettings.interestRate", "interestSettings.interestFrequency"}),
        ("5 %", {"interestSettings"}),
    ],
)
def test_interest_settings_are_read_part_by_part(lender: Lender, settings: Any, fields: set[str]) -> None:
    assert set(faults(lender.request(interestSettings=settings))) == fields


def test_a_loan_whose_interest_no_book_could_keep_is_refused(lender: Lender) -> None:
    settings = {"interestRate": "1000", "interestFrequency": "every_day"}
    refusal = lender.request(amount="9999999999999", interestSettings=settings, period=366)
    assert refusal == TOO_LARGE


def test_a_loan_comes_to_the_largest_amount_and_no_more(lender: Lender) -> None:
    most: dict[str, Any] = {"amount": "9" * 15, "period": 1, "tax_applied": False, "tax_rate": None}
    settings = {"interestRate": "0", "interestFrequency": "annualized"}
    assert lender.request(**most, interestSettings=settings).data.amount == "9" * 15 + ".00"
    refusal = lender.request(**most, interestSettings={**settings, "interestRate": "0.000001"})
    assert refusal == TOO_LARGE


def test_there_is_no_upper_amount(lender: Lender) -> None:
    assert lender.request(amount="5000000000.00").data.amount == "5000000000.00"


def test_only_an_active_client_may_borrow(lender: Lender) -> None:
    assert lender.request(client_id="CL9") == UNKNOWN_CLIENT
    lender.add_client("CL2", status="pending_approval")
    refusal = lender.request(client_id="CL2")
    assert isinstance(refusal, Refusal)
    assert "pending_approval" in refusal.message


# --- a loan is asked for ----------------------------------------------------------------------------------------


def test_a_new_loan_awaits_approval_with_the_schedule_it_would_have(lender: Lender) -> None:
    reply = lender.request()
    assert (reply.status, reply.message) == (200, "Loan Requested")
    data = msgspec.to_builtins(reply.data)
    assert re.fullmatch("LN[0-9A-Za-z]{22}", data.pop("loan_id"))
    schedule = data.pop("schedule")
    assert data == {
        "client_id": "CL1",
        "officer": None,
        "branch": None,
        "state": "pending_approval",
        "amount": "1000.00",
        "currency": "NGN",
        "interestSettings": {"interestRate": "10", "interestFrequency": "every_month"},
        "method": "declining_equal_instalments",
        "period": 4,
        "tax_applied": False,
        "tax_rate": 0,
        "penalty_rate": "0",
        "tolerance_days": 0,
        "outstanding": dict.fromkeys(("principal", "interest", "tax", "penalty", "total", "payoff"), "0.00"),
        "credit": "0.00",
        "txnRef": None,
        "created_at": "2026-01-31T09:00:00.000Z",
        "disbursed_at": None,
        "closed_at": None,
    }
    assert [line["due"] for line in schedule] == ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]
    assert schedule[0] == {
        "n": 1,
        "due": "2026-02-28",
        "principal": "215.47",
        "interest": "100.00",
        "tax": "0.00",
        "total": "315.47",
        "paid": "0.00",
        "state": "pending",
    }
    assert lender.client().open_accounts == 1
    assert lender.wallet() == OPENING


def test_a_client_may_have_several_loans_each_with_an_id_of_its_own(lender: Lender) -> None:
    ids = {lender.request().data.loan_id for _ in range(3)}
    assert len(ids) == 3
    assert lender.client().open_accounts == 3


def test_method_tolerance_and_penalty_are_the_merchants_of_that_day() -> None:
    lender = Lender(method="flat", tolerance_days=3, penalty_rate="0.1")
    data = lender.request().data
    assert (data.method, data.tolerance_days, data.penalty_rate) == ("flat", 3, "0.1")
    assert lender.request(method="equal_principal").data.method == "equal_principal"


def test_a_tax_rate_counts_only_where_tax_is_applied(lender: Lender) -> None:
    taxed = lender.request(tax_applied=True, tax_rate=7.5).data
    assert (taxed.tax_applied, taxed.tax_rate, taxed.schedule[0].tax) == (True, 7.5, "7.50")
    plain = lender.request(tax_applied=False, tax_rate=7.5).data
    assert (plain.tax_applied, plain.tax_rate, plain.schedule[0].tax) == (False, 0, "0.00")


def test_a_dry_run_tells_every_figure_and_keeps_nothing(lender: Lender) -> None:
    before = lender.database.contents()
    reply = lender.request(dry_run=True, tax_applied=True, tax_rate=7.5)
    assert lender.database.contents() == before
    assert (reply.dry_run, reply.data.loan_id) == (True, None)
    explained = {figure.what: (figure.amount, figure.how) for figure in reply.explained}
    assert explained["installment"] == ("315.47", "1000.00 × r ÷ (1 − (1 + r)^−4), half up; r is 10 % every_month")
    assert explained["installment 2"] == (
        "321.35",
        "interest 10 % of 784.53 = 78.45; principal 315.47 − 78.45 = 237.02; tax 7.5 % of 78.45 = 5.88",
    )
    assert explained["installment 4"][1].split("; ")[1] == "principal: all that is left, 286.79"
    assert explained["interest"][0] == "261.88"
    assert explained["total"][0] == "1281.52"
    assert explained["disbursement"] == (
        "1010.75",
        "1000.00 and fee 10.00, VAT 0.75, stamp duty 0.00: taken from the wallet when the loan is approved",
    )
    kept = lender.request(tax_applied=True, tax_rate=7.5).data
    assert msgspec.structs.replace(kept, loan_id=None) == reply.data


@pytest.mark.parametrize(
    ("changes", "first", "second"),
    [
        (
            {"method": "flat"},
            ("principal of an installment", "250.00", "1000.00 ÷ 4, half up; interest is 10 % every_month"),
            ("installment 2", "350.00", "interest 10 % of 1000.00 = 100.00; principal 250.00"),
        ),
        (
            {"method": "equal_principal"},
            ("principal of an installment", "250.00", "1000.00 ÷ 4, half up; interest is 10 % every_month"),
            ("installment 2", "325.00", "interest 10 % of 750.00 = 75.00; principal 250.00"),
        ),
        (
            {"interestSettings": {"interestRate": "10", "interestFrequency": "annualized"}},
            (
                "installment",
                "255.23",
                "1000.00 × r ÷ (1 − (1 + r)^−4), half up; r is 10 % annualized ÷ 12 = 0.833333333333 % a month",
            ),
            ("installment 2", "255.23", "interest 0.833333333333 % of 753.10 = 6.28; principal 255.23 − 6.28 = 248.95"),
        ),
    ],
)
def test_every_method_explains_itself(
    lender: Lender, changes: dict[str, Any], first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    explained = lender.request(dry_run=True, **changes).explained
    assert (explained[0].what, explained[0].amount, explained[0].how) == first
    assert (explained[2].what, explained[2].amount, explained[2].how) == second


def test_a_dry_run_is_refused_as_the_request_would_be(lender: Lender) -> None:
    assert lender.request(dry_run=True, client_id="CL9") == UNKNOWN_CLIENT


# --- approve ----------------------------------------------------------------------------------------------------


def test_approving_pays_the_client_and_from_that_day_all_of_it_is_owed(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    lender.now += timedelta(days=3)
    reply = lender.process(loan_id)
    assert (reply.message, reply.data.state) == ("Loan Disbursed", "active")
    assert reply.data.disbursed_at == "2026-02-03T09:00:00.000Z"
    assert [line.due for line in reply.data.schedule][:2] == ["2026-03-03", "2026-04-03"]
    assert lender.wallet() == OPENING - 100_000 - FEES
    assert lender.owed(loan_id) == {"principal": 100_000, "interest": 26_188, "tax": 0, "penalty": 0}
    assert (lender.lending("principal"), lender.lending("interest_agreed")) == (-100_000, -26_188)
    assert msgspec.to_builtins(reply.data.outstanding) == {
        "principal": "1000.00",
        "interest": "261.88",
        "tax": "0.00",
        "penalty": "0.00",
        "total": "1261.88",
        "payoff": "1000.00",
    }


def test_cash_and_claim_move_in_one_group_under_the_transfers_reference(lender: Lender) -> None:
    lender.lend(tax_applied=True, tax_rate=10)
    (transfer,) = lender.database.all(Transaction, lender.merchant_id)
    assert transfer.txn_ref.startswith("GP|LD|")
    group = [row for row in lender.database.postings if row.reference == transfer.txn_ref]
    assert len({row.group_seq for row in group}) == 1
    assert [(row.debit.split(":")[:2], row.credit.split(":")[0], row.amount) for row in group] == [
        (["wallet", "main"], "rail", 100_000),
        (["wallet", "main"], "income", 1_000),
        (["wallet", "main"], "tax", 75),
        (["lending", "principal"], "loan_principal", 100_000),
        (["lending", "interest_agreed"], "loan_interest", 26_188),
        (["lending", "tax_agreed"], "loan_tax", 2_620),
    ]
    (event,) = lender.database.events
    assert msgspec.json.decode(event.payload)["chargedAmount"] == "1000.00"


def test_the_order_to_the_bank_names_the_account_and_the_loan(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    lender.process(loan_id, bank=SLOW)
    (job,) = lender.waiting("disburse.ask")
    order = JOB_DATA_DECODER.decode(job.work).order
    assert (order.bank_code, order.account_number) == (BANK["bank_code"], BANK["account_number"])
    assert (order.sender_name, order.narration) == ("Ada Stores", f"Loan {loan_id}")


def test_a_failed_disbursement_gives_all_back_and_approving_again_retries(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    reply = lender.process(loan_id, bank=BAD)
    assert reply.data.state == "approved"
    assert reply.message == "The disbursement failed (The beneficiary's bank: Do not honour); approve again to retry"
    assert lender.wallet() == OPENING
    assert lender.lines(loan_id) == []
    assert lender.waiting() == []
    assert lender.process(loan_id).data.state == "active"
    assert lender.wallet() == OPENING - 100_000 - FEES
    assert len(lender.database.events) == 2


def test_the_loan_is_disbursing_until_the_bank_answers(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    reply = lender.process(loan_id, bank=SLOW)
    assert reply.data.state == "disbursing"
    assert lender.owed(loan_id)["principal"] == 0
    for status in ("approve", "reject", "cancel"):
        refusal = lender.process(loan_id, status)
        assert isinstance(refusal, Refusal)
        assert "disbursing" in refusal.message
    lender.now += timedelta(days=1)
    (job,) = lender.waiting("disburse.ask")
    lender.receive_answer(job, SLOW)
    assert lender.loan(loan_id).state == "disbursing"
    (job,) = lender.waiting("disburse.ask")
    lender.receive_answer(job, msgspec.structs.replace(SLOW, status="successful"))
    assert lender.loan(loan_id).state == "active"
    assert lender.lines(loan_id)[0].due.isoformat() == "2026-03-01"


@pytest.mark.parametrize(
    ("ending", "state", "text"),
    [
        (GOOD, "active", "Loan Disbursed"),
        (BAD, "approved", "The disbursement failed (The beneficiary's bank: Do not honour); approve again to retry"),
    ],
)
def test_a_request_that_a_call_back_finishes_first_replies_with_the_loan(
    lender: Lender, ending: Answer, state: str, text: str
) -> None:
    loan_id = lender.request().data.loan_id
    lender.process(loan_id, bank=SLOW)
    (job,) = lender.waiting("disburse.ask")
    ended = lender.receive_answer(job, ending)
    waited = lender.receive_answer(job, SLOW)
    assert isinstance(ended, Decision)
    assert isinstance(waited, Decision)
    assert (waited.reply.message, waited.reply.data.state) == (text, state)
    assert waited.reply == ended.reply
    assert (waited.rows, waited.groups, waited.events, waited.notices) == ((), (), (), ())


def test_a_short_wallet_refuses_and_the_loan_stays_as_it_was() -> None:
    lender = Lender(opening=100_000 + FEES - 1)
    loan_id = lender.request().data.loan_id
    assert lender.process(loan_id) == WALLET_INSUFFICIENT
    assert lender.loan(loan_id).state == "pending_approval"
    lender.fund(1)
    assert lender.process(loan_id).data.state == "active"
    assert lender.wallet() == 0


@pytest.mark.parametrize("bank", [None, {"account_number": "0123456784", "bank_code": "058"}])
def test_a_client_without_an_account_that_can_be_paid_is_refused(lender: Lender, bank: Any) -> None:
    loan_id = lender.request().data.loan_id
    lender.add_client("CL1", bank=bank)
    lender.database.rows[lender.client().key] = msgspec.structs.replace(lender.client(), open_accounts=1)
    assert lender.process(loan_id) == NO_BANK_ACCOUNT
    assert lender.loan(loan_id).state == "pending_approval"


def test_a_client_who_is_no_longer_active_is_not_paid(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    lender.database.rows[lender.client().key] = msgspec.structs.replace(lender.client(), status="blacklisted")
    assert isinstance(lender.process(loan_id), Refusal)
    assert lender.process(loan_id, "reject").data.state == "closed_rejected"


# --- reject, cancel, and steps out of place -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "state", "message"),
    [("reject", "closed_rejected", "Loan Rejected"), ("cancel", "closed_withdrawn", "Loan Cancelled")],
)
def test_reject_and_cancel_close_it_and_free_the_client(lender: Lender, status: str, state: str, message: str) -> None:
    loan_id = lender.request().data.loan_id
    lender.now += timedelta(days=40)
    reply = lender.process(loan_id, status)
    assert (reply.message, reply.data.state) == (message, state)
    assert reply.data.closed_at == "2026-03-12T09:00:00.000Z"
    assert reply.data.schedule[0].due == "2026-04-12"
    assert lender.client().open_accounts == 0
    for step in ("approve", "reject", "cancel"):
        refusal = lender.process(loan_id, step)
        assert isinstance(refusal, Refusal)
        assert (refusal.code, state in refusal.message) == (104, True)


def test_an_approved_loan_can_be_cancelled_but_not_rejected(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    lender.process(loan_id, bank=BAD)
    refusal = lender.process(loan_id, "reject")
    assert refusal == Refusal(104, "The loan is approved and cannot be rejected", error_code="loan_state")
    assert lender.process(loan_id, "cancel").data.state == "closed_withdrawn"


def test_an_active_loan_cannot_be_processed(lender: Lender) -> None:
    loan_id = lender.lend()
    for step in ("approve", "reject", "cancel"):
        refusal = lender.process(loan_id, step)
        assert isinstance(refusal, Refusal)
        assert "active" in refusal.message


def test_an_unknown_loan_is_refused(lender: Lender) -> None:
    assert lender.process("LN0") == UNKNOWN_LOAN


def test_the_story_of_a_loan_is_kept(lender: Lender) -> None:
    loan_id = lender.request().data.loan_id
    lender.process(loan_id, bank=BAD)
    lender.process(loan_id)
    steps = [entry["step"] for entry in msgspec.json.decode(lender.loan(loan_id).trail)]
    assert steps == ["requested", "disbursing", "approved", "disbursing", "active"]


def test_the_schedule_of_a_pending_loan_moves_with_the_day_it_would_begin() -> None:
    lender = Lender(datetime(2026, 1, 31, 22, 59, tzinfo=UTC))
    assert lender.request(dry_run=True).data.schedule[0].due == "2026-02-28"
    lender.now += timedelta(minutes=1)
    assert lender.request(dry_run=True).data.schedule[0].due == "2026-03-01"
    assert lender.now > START
