"""Settlement of payments: split parts, the merchant's rest, settlement days and payouts."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.calendar import lagos_day
from kasuwa.core.decision import Job
from kasuwa.methods.payment.settlement_model import SettlementBatch
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.reserve import ReserveTerms
from kasuwa.transactions.transactions import Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    NOBODY_ASKED,
    SILENT,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    charge_token,
    fields_of,
    paid_card,
)
from tests.rule_context import NOW, merchant

LATER = merchant(settlement_days=1)


def beneficiary(payments: InMemoryPayments, name: str = "Bola Ade") -> str:
    reply = payments.put("beneficiary", name=name, bankcode="058", accountnumber="0000000000")
    return str(reply.reply.ref_code)


def due_jobs(payments: InMemoryPayments) -> list[Job]:
    return sorted((job for job in payments.jobs() if job.lane == "schedule"), key=lambda job: job.due)


def run_next(payments: InMemoryPayments) -> Any:
    job = due_jobs(payments)[0]
    payments.now = max(payments.now, job.due)
    return payments.receive_answer(job, NOBODY_ASKED)


def transfer_of(decision: Any) -> Transaction:
    return next(row for row in decision.rows if isinstance(row, Transaction))


def answer_transfer(payments: InMemoryPayments, decision: Any, answer: Answer) -> Any:
    (job,) = payments.jobs(transfer_of(decision).key)
    return payments.receive_answer(job, answer)


def of_beneficiary(payments: InMemoryPayments, ref_code: str) -> int:
    return payments.balance(f"beneficiary:{ref_code}:NGN")


# --- who may get a part ---------------------------------------------------------------------------------------------


def test_a_beneficiary_has_a_code_and_an_account_that_can_exist() -> None:
    payments = InMemoryPayments()
    assert beneficiary(payments).startswith("RS")
    assert beneficiary(payments) != beneficiary(payments)
    assert fields_of(payments.put("beneficiary", name="A", bankcode="xyz", accountnumber="0000000000")) == ["bankcode"]
    assert fields_of(payments.put("beneficiary", name="A", bankcode="058", accountnumber="0123456780")) == [
        "accountnumber"
    ]


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ([{"percentage": "60"}, {"percentage": "40.01"}], "split"),
        ([{"share": "1500.01"}, {"percentage": "1"}], "split"),
        ([{"percentage": "0"}, {"percentage": "1"}], "split.0"),
        ([{"percentage": "100.5"}, {"percentage": "1"}], "split.0"),
        ([{}, {"percentage": "1"}], "split.0"),
        ([{"percentage": "1"}, {"percentage": "1", "share": "2.00"}], "split.1"),
    ],
)
def test_invalid_split_parts_are_refused(parts: list[dict[str, str]], field: str) -> None:
    payments = InMemoryPayments()
    named = [{"ref_code": beneficiary(payments), **part} for part in parts]
    for method in ("qrpay", "phone"):
        body = {"phonenumber": "08031234567"} if method == "phone" else {}
        refused = payments.put("charge", method, amount="1500.00", split=named, **body)
        assert fields_of(refused) == [field]


def test_a_duplicate_beneficiary_or_a_currency_other_than_naira_is_refused() -> None:
    payments = InMemoryPayments()
    code = beneficiary(payments)
    twice = [{"ref_code": code, "percentage": "1"}] * 2
    assert fields_of(payments.put("charge", "qrpay", amount="10.00", split=twice)) == ["split"]
    token = paid_card(payments).payment.token
    dollars = payments.put("charge", "token", token=token, amount="10.00", currency="USD", split=twice[:1])
    assert fields_of(dollars) == ["split"]


def test_a_share_must_fit_every_installment() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    schedule = {"05-01-2026": "900.00", "06-01-2026": "100.00"}
    fields = {"token": token, "installment": {"payment_schedule": schedule, "total": "1000.00"}}
    code = beneficiary(payments)
    refused = payments.put("charge", "token", **fields, split=[{"ref_code": code, "share": "101.00"}])
    assert fields_of(refused) == ["split"]
    PaymentInProgress(payments, payments.put("charge", "token", **fields, split=[{"ref_code": code, "fixed": "50.00"}]))


def test_with_nothing_due_today_a_share_is_checked_against_later_charges() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    fields = {"token": token, "installment": {"payment_schedule": {"06-01-2026": 100}, "total": "1000.00"}}
    PaymentInProgress(
        payments,
        payments.put("charge", "token", **fields, split=[{"ref_code": beneficiary(payments), "share": "900.00"}]),
    )


def test_a_higher_tariff_does_not_reduce_the_parts_of_a_plan() -> None:
    payments = InMemoryPayments()
    first, second = beneficiary(payments), beneficiary(payments)
    parts = [{"ref_code": first, "share": "1000.00"}, {"ref_code": second, "share": "470.00"}]
    schedule = {"payment_schedule": {"05-01-2026": 1500, "06-01-2026": 1500}, "total": "3000.00"}
    paid_card(payments, amount=None, split=parts, installment=schedule)
    dearer = {"collection": {"card_local": {"percent": "10", "flat": "0", "cap": None}}}
    payments.merchant = merchant(tariff=dearer)
    job = next(job for job in due_jobs(payments) if job.kind == "instalment.charge")
    payments.now = job.due
    paying = PaymentInProgress(payments, payments.receive_answer(job, NOBODY_ASKED))
    wallet = payments.balance("wallet:main:NGN")
    paying.receive_answer(APPROVED)
    assert paying.row.status == "successful"
    assert of_beneficiary(payments, first) == 200_000
    assert of_beneficiary(payments, second) == 94_000
    assert payments.balance("wallet:main:NGN") == wallet + paying.payment.settled - 147_000


# --- parts and rest -------------------------------------------------------------------------------------------------

PARTS = st.lists(
    st.one_of(
        st.integers(1, 4_000).map(lambda n: {"percentage": f"{n / 100:.2f}"}),
        st.integers(1, 30_000).map(lambda n: {"share": f"{n / 100:.2f}"}),
    ),
    min_size=1,
    max_size=5,
)


@given(PARTS, st.integers(100, 2_000_000), st.sampled_from([0, 1, 3]), st.sampled_from(["merchant", "customer"]))
@without_deadline(200)
def test_parts_and_rest_are_what_is_settled_and_all_of_it_is_posted(
    parts: list[dict[str, str]], amount: int, days: int, bearer: str
) -> None:
    payments = InMemoryPayments(of=merchant(settlement_days=days))
    codes = [beneficiary(payments) for _ in parts]
    split = [{"ref_code": code, **part} for code, part in zip(codes, parts, strict=True)]
    asked = payments.put("charge", "qrpay", amount=f"{amount / 100:.2f}", split=split, bearer=bearer)
    if not hasattr(asked, "rows"):
        assert fields_of(asked) == ["split"]
        return
    paying = PaymentInProgress(payments, asked)
    paying.receive_answer(APPROVED)
    shares = [of_beneficiary(payments, code) for code in codes]
    place = next((name for name in payments.balances() if name.startswith(("settling:", "wallet:"))), "wallet:main:NGN")
    assert sum(shares) + payments.balance(place) == paying.payment.settled
    assert place.startswith("settling:") == bool(days) or not payments.balance(place)
    amounts = {(row.kind, row.owner): row.amount for row in payments.of_type(SettlementBatch)}
    expected = {("payout", code): share for code, share in zip(codes, shares, strict=True) if share}
    if days:
        expected["settlement", "merchant"] = payments.balance(place)
    assert amounts == expected
    run_all(payments)
    assert payments.balances().keys() <= {
        "rail:mobile:NGN",
        "rail:bank:NGN",
        "wallet:main:NGN",
        "income:collection:NGN",
        "tax:vat:NGN",
    }
    assert payments.balance("rail:bank:NGN") == sum(shares)
    assert payments.balance("wallet:main:NGN") == paying.payment.settled - sum(shares)


def run_all(payments: InMemoryPayments) -> None:
    while due_jobs(payments):
        decision = run_next(payments)
        if any(isinstance(row, Transaction) for row in decision.rows):
            answer_transfer(payments, decision, APPROVED)


# --- days -----------------------------------------------------------------------------------------------------------


def test_payments_of_one_day_are_settled_in_one_batch() -> None:
    payments = InMemoryPayments(of=LATER)
    paid = [paid_card(payments) for _ in range(3)]
    (job,) = due_jobs(payments)
    (batch,) = payments.of_type(SettlementBatch)
    assert batch.amount == sum(paying.payment.settled for paying in paid)
    assert f"{job.due.isoformat()}" == "2026-01-06T08:00:00+00:00"
    run_next(payments)
    assert (payments.balance("settling:20260106:NGN"), payments.balance("wallet:main:NGN")) == (0, batch.amount)
    assert payments.receive_answer(job, NOBODY_ASKED).groups == ()


def test_a_payment_of_which_the_fee_leaves_nothing_ends_on_its_day_too() -> None:
    payments = InMemoryPayments(of=LATER)
    foreign = {"card_no": "4242424242424242", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}
    paying = paid_card(payments, amount="1.00", card=foreign)
    assert (paying.row.fee + paying.row.vat, paying.payment.settled) == (100, 0)
    [batch] = payments.of_type(SettlementBatch)
    assert (batch.amount, batch.fee, batch.vat) == (0, paying.row.fee, paying.row.vat)
    assert run_next(payments).groups == ()
    [batch] = payments.of_type(SettlementBatch)
    assert (batch.state, due_jobs(payments)) == ("done", [])
    assert payments.balances() == {
        "rail:card:NGN": -100,
        "income:collection:NGN": paying.row.fee,
        "tax:vat:NGN": paying.row.vat,
    }


@pytest.mark.parametrize("terms", [{"settlement_days": 1}, {"reserve": ReserveTerms("10", 5)}])
def test_a_batch_whose_job_comes_again_is_moved_once(terms: dict[str, Any]) -> None:
    """Other money of the same day lies in the account, so that its floor does not refuse a second movement."""
    payments = InMemoryPayments(of=merchant(**terms))
    paid_card(payments)
    (job,), (batch,) = due_jobs(payments), payments.of_type(SettlementBatch)
    [waiting] = [name for name in payments.accounts if name.startswith(("settling:", "reserve:"))]
    payments.account(waiting).posted += batch.amount
    payments.account("outside:funding:NGN").posted -= batch.amount
    before = payments.balance("wallet:main:NGN")
    run_next(payments)
    assert payments.balance("wallet:main:NGN") == before + batch.amount
    assert payments.receive_answer(job, NOBODY_ASKED).groups == ()
    assert payments.balance("wallet:main:NGN") == before + batch.amount


def test_a_part_is_paid_out_the_day_after_it_is_settled_free_of_charge() -> None:
    for days, expected in ((0, "20260106"), (1, "20260107")):
        payments = InMemoryPayments(of=merchant(settlement_days=days))
        code = beneficiary(payments)
        begin(payments, "qrpay", split=[{"ref_code": code, "percentage": "50"}]).receive_answer(APPROVED)
        payout = next(row for row in payments.of_type(SettlementBatch) if row.kind == "payout")
        assert (payout.day, payout.owner) == (expected, code)
        while due_jobs(payments)[0].kind != "payout.send":
            run_next(payments)
        sent = run_next(payments)
        row = transfer_of(sent)
        assert (row.amount, row.fee, row.vat) == (payout.amount, 0, 0)
        assert payments.account(f"beneficiary:{code}:NGN").held == payout.amount
        answer_transfer(payments, sent, APPROVED)
        assert of_beneficiary(payments, code) == 0
        assert {row.state for row in payments.of_type(SettlementBatch)} == {"done"}


def test_a_failed_payout_is_retried_the_next_day_and_an_operator_is_notified() -> None:
    payments = InMemoryPayments()
    code = beneficiary(payments)
    begin(payments, "qrpay", split=[{"ref_code": code, "percentage": "50"}]).receive_answer(APPROVED)
    sent = run_next(payments)
    answer_transfer(payments, sent, SILENT)
    assert [row.state for row in payments.of_type(SettlementBatch)] == ["sent"]
    answer_transfer(payments, sent, DECLINED)
    failed, following = sorted(payments.of_type(SettlementBatch), key=lambda row: row.day)
    assert (failed.state, following.state, following.amount) == ("done", "due", failed.amount)
    assert "is tried again tomorrow" in payments.notices[0].message
    (job,) = due_jobs(payments)
    assert lagos_day(job.due) == lagos_day(NOW) + timedelta(days=2)
    again = run_next(payments)
    assert transfer_of(again).txn_ref != transfer_of(sent).txn_ref
    answer_transfer(payments, again, APPROVED)
    assert (of_beneficiary(payments, code), payments.balance("rail:bank:NGN")) == (0, transfer_of(sent).amount)


def test_payouts_that_fail_are_one_transfer_with_the_part_of_the_next_day() -> None:
    payments = InMemoryPayments()
    code = beneficiary(payments)
    part = [{"ref_code": code, "percentage": "50"}]
    for day in range(1, 5):
        begin(payments, "qrpay", split=part).receive_answer(APPROVED)
        sent = run_next(payments)
        answer_transfer(payments, sent, DECLINED)
        assert transfer_of(sent).amount == of_beneficiary(payments, code)
        states = [row.state for row in payments.of_type(SettlementBatch)]
        assert (states.count("done"), states.count("due"), len(due_jobs(payments))) == (day, 1, 1)
    again = run_next(payments)
    answer_transfer(payments, again, APPROVED)
    assert (of_beneficiary(payments, code), due_jobs(payments)) == (0, [])


def test_a_part_added_while_a_payout_is_sent_is_not_in_it() -> None:
    payments = InMemoryPayments()
    code = beneficiary(payments)
    part = [{"ref_code": code, "percentage": "50"}]
    begin(payments, "qrpay", split=part).receive_answer(APPROVED)
    sent = run_next(payments)
    begin(payments, "qrpay", split=part).receive_answer(APPROVED)
    answer_transfer(payments, sent, DECLINED)
    waiting = [row.amount for row in payments.of_type(SettlementBatch) if row.state == "due"]
    assert waiting == [of_beneficiary(payments, code)] == [2 * transfer_of(sent).amount]
    run_all(payments)
    assert of_beneficiary(payments, code) == 0


def test_a_token_charge_is_split_as_requested() -> None:
    payments = InMemoryPayments()
    token = paid_card(payments).payment.token
    assert token is not None
    code = beneficiary(payments)
    paying = charge_token(payments, token, split=[{"ref_code": code, "share": "100.00"}])
    paying.receive_answer(APPROVED)
    assert of_beneficiary(payments, code) == 10_000
    assert msgspec.json.decode(paying.payment.detail)["split"][0]["share"] == 10_000
