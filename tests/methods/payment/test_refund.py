"""Refunds: never more than was charged, out of the wallet, for every answer of the rail."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision, Job, Refusal
from kasuwa.core.scenario import InjectedFault
from kasuwa.methods.payment.model import JOB_DATA_DECODER, UNKNOWN_REFERENCE, PaymentFacts
from kasuwa.methods.payment.rules.refund import (
    METHOD_NOT_REFUNDABLE,
    PAYMENT_NOT_SUCCESSFUL,
    WALLET_INSUFFICIENT,
    refundable,
)
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    GIBBERISH,
    IN_PROGRESS,
    NOT_FOUND,
    REFUSED,
    SILENT,
    WORKING,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    charge_token,
    fields_of,
    initiate,
    paid_card,
)
from tests.rule_context import NOW, merchant
from tests.walk.bounds import REFUNDED

FUNDS = 10_000_000


@pytest.fixture
def payments() -> InMemoryPayments:
    return InMemoryPayments(funds=FUNDS)


def refund(payments: InMemoryPayments, paying: PaymentInProgress, amount: str = "500.00", **fields: Any) -> Any:
    return payments.put("refund", txnRef=paying.txn_ref, amount=amount, **fields)


def job_of(payments: InMemoryPayments, decision: Decision) -> Job:
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    (job,) = payments.jobs(row.key)
    return job


def receive_answer(payments: InMemoryPayments, decision: Decision, answer: Answer, **stretch: float) -> Any:
    payments.advance(**stretch)
    return payments.receive_answer(job_of(payments, decision), answer)


# --- asking ---------------------------------------------------------------------------------------------------------


def test_a_refund_holds_its_amount_and_counts_as_refunded_at_once(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    decision = refund(payments, paying)
    assert (decision.reply.txn_status, decision.reply.refundable_amount) == ("pending", "1000.00")
    assert payments.account("wallet:main:NGN").held == 50_000
    assert (paying.payment.refunding, paying.payment.refunded) == (50_000, 0)
    assert JOB_DATA_DECODER.decode(job_of(payments, decision).work).session == paying.payment.session


def test_only_a_successful_payment_of_a_refundable_method_is_refunded(payments: InMemoryPayments) -> None:
    assert payments.put("refund", txnRef="GP|nothing", amount="1.00") == UNKNOWN_REFERENCE
    assert refund(payments, initiate(payments)) == PAYMENT_NOT_SUCCESSFUL
    failed = begin(payments, "phone")
    failed.receive_answer(DECLINED)
    assert refund(payments, failed) == PAYMENT_NOT_SUCCESSFUL
    for method in ("ussd", "qrpay"):
        paying = begin(payments, method)
        paying.receive_answer(APPROVED)
        assert refund(payments, paying) == METHOD_NOT_REFUNDABLE
    for method in ("account", "phone", "bank_transfer", "mobile_money"):
        paying = begin(payments, method)
        paying.receive_answer(APPROVED)
        assert isinstance(refund(payments, paying), Decision)


def test_more_than_is_left_is_refused_with_what_is_left(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    assert fields_of(refund(payments, paying, "1500.01")) == ["amount"]
    refund(payments, paying, "1000.00")
    refused = refund(payments, paying, "500.01")
    assert refused.field_errors[0].reason == "at most 500.00, what is left to refund"
    assert isinstance(refund(payments, paying, "500.00"), Decision)
    assert fields_of(refund(payments, paying, "0.01")) == ["amount"]


@REFUNDED.tries
def test_what_was_charged_and_not_refunded_is_refunded_and_no_more(
    payments: InMemoryPayments, value: str, is_within: bool
) -> None:
    paying = paid_card(payments)
    refund(payments, paying, "1000.00")
    assert isinstance(refund(payments, paying, value), Decision) == is_within


def test_of_a_surplus_what_is_being_refunded_is_not_refunded_again(payments: InMemoryPayments) -> None:
    """The surplus of a repayment is less than what was charged, so that the charge leaves room for both."""
    paying = paid_card(payments)
    detail = msgspec.json.decode(paying.payment.detail)
    detail["purpose"] = {"purpose": "loans.repay", "reference": "L1"}
    facts = msgspec.json.encode(PaymentFacts(surplus=30_000)).decode()
    subject = msgspec.structs.replace(paying.payment, detail=msgspec.json.encode(detail).decode(), facts=facts)
    assert refundable(subject) == 30_000
    assert refundable(msgspec.structs.replace(subject, refunding=30_000)) == 0
    assert refundable(msgspec.structs.replace(subject, refunded=10_000, refunding=5_000)) == 15_000


def test_a_customer_who_bore_the_fee_gets_all_that_was_charged(payments: InMemoryPayments) -> None:
    paying = paid_card(payments, bearer="customer")
    assert paying.payment.charged > 150_000
    assert isinstance(refund(payments, paying, f"{paying.payment.charged / 100:.2f}"), Decision)


def test_a_refund_that_the_wallet_does_not_cover_is_refused() -> None:
    payments = InMemoryPayments(of=merchant(settlement_days=1))
    paying = paid_card(payments)
    before = dict(payments.rows)
    assert refund(payments, paying) == WALLET_INSUFFICIENT
    assert payments.rows == before


def test_charges_of_a_plan_are_refunded_as_the_merchants_own(payments: InMemoryPayments) -> None:
    paid_card(payments, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    due = next(job for job in payments.jobs() if job.kind == "recurrent.charge")
    payments.now = due.due
    paying = PaymentInProgress(payments, payments.receive_answer(due, APPROVED))
    paying.receive_answer(APPROVED)
    decision = refund(payments, paying)
    assert receive_answer(payments, decision, APPROVED).reply.refunded_amount == "500.00"


def test_a_refund_uses_up_an_injected_fault(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    payments.faults = (InjectedFault("card", "timeout", 2),)
    refund(payments, paying)
    assert payments.faults == (InjectedFault("card", "timeout", 1),)


# --- what the rail says ---------------------------------------------------------------------------------------------


def test_a_success_takes_the_held_money_to_the_rail_and_leaves_the_fee(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    before = payments.balances()
    reply = receive_answer(payments, refund(payments, paying), APPROVED).reply
    assert (reply.message, reply.refunded_amount, reply.refundable_amount) == ("Refund Successful", "500.00", "1000.00")
    after = payments.balances()
    assert after["wallet:main:NGN"] == before["wallet:main:NGN"] - 50_000
    assert after["rail:card:NGN"] == before["rail:card:NGN"] + 50_000
    assert after["income:collection:NGN"] == before["income:collection:NGN"]
    assert (paying.payment.refunded, paying.payment.refunding, paying.row.status) == (50_000, 0, "successful")


def test_a_failure_gives_the_money_back_and_it_can_be_refunded_again(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    before = payments.balances()
    reply = receive_answer(payments, refund(payments, paying, "1500.00"), DECLINED).reply
    assert (reply.txn_status, reply.message) == ("failed", "Refund Failed: Insufficient Funds")
    assert (payments.balances(), payments.account("wallet:main:NGN").held, refundable(paying.payment)) == (
        before,
        0,
        150_000,
    )
    assert isinstance(refund(payments, paying, "1500.00"), Decision)


@pytest.mark.parametrize("answer", [IN_PROGRESS, WORKING, SILENT, GIBBERISH, NOT_FOUND, REFUSED])
def test_an_unknown_outcome_is_queried_and_only_a_refused_refund_is_resent(
    payments: InMemoryPayments, answer: Answer
) -> None:
    decision = refund(payments, paid_card(payments))
    reply = receive_answer(payments, decision, answer, seconds=2).reply
    job = job_of(payments, decision)
    assert reply.txn_status == "pending"
    assert job.kind == ("payment.refund" if answer == REFUSED else "payment.ask_refund")
    assert (job.attempt, (job.due - NOW).total_seconds()) == (1, 5)
    receive_answer(payments, decision, SILENT, seconds=5)
    receive_answer(payments, decision, REFUSED, seconds=30)
    assert job_of(payments, decision).kind == "payment.ask_refund"


def test_a_refund_that_the_rail_never_saw_fails_after_a_day(payments: InMemoryPayments) -> None:
    decision = refund(payments, paid_card(payments))
    assert receive_answer(payments, decision, NOT_FOUND, hours=23).reply.txn_status == "pending"
    assert receive_answer(payments, decision, NOT_FOUND, hours=1).reply.txn_status == "failed"


def test_a_final_refund_stays_final_and_a_contradiction_makes_a_notice(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    decision = refund(payments, paying)
    job = job_of(payments, decision)
    receive_answer(payments, decision, APPROVED)
    balances = payments.balances()
    assert payments.receive_answer(job, DECLINED).reply.txn_status == "successful"
    assert (len(payments.notices), payments.balances()) == (1, balances)


# --- the events -----------------------------------------------------------------------------------------------------


def test_refund_events_belong_to_their_payment_in_the_order_in_which_they_ended(payments: InMemoryPayments) -> None:
    paying = paid_card(payments)
    first, second, third = (refund(payments, paying, "100.00") for _ in range(3))
    receive_answer(payments, second, APPROVED)
    receive_answer(payments, first, DECLINED)
    receive_answer(payments, third, APPROVED)
    own, *refunds = payments.events
    assert (own.reference, own.object, own.object_seq) == (paying.txn_ref, "", 1)
    assert [(event.object, event.object_seq, event.kind) for event in refunds] == [
        (paying.txn_ref, n, "refund") for n in (2, 3, 4)
    ]
    payloads = [msgspec.json.decode(event.payload) for event in refunds]
    assert [(line["txnStatus"], line["chargedAmount"]) for line in payloads] == [
        ("successful", "100.00"),
        ("failed", "0.00"),
        ("successful", "100.00"),
    ]
    assert {line["refundOf"] for line in payloads} == {paying.txn_ref}
    assert len({line["txnRef"] for line in payloads}) == 3


# --- never more than was charged --------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "approve", "decline", "silent"]), st.integers(1, 120_000), st.integers(0, 5)),
    max_size=30,
)


@given(STEPS)
@without_deadline(150)
def test_refunds_never_exceed_the_charge(steps: list[tuple[str, int, int]]) -> None:
    payments = InMemoryPayments(funds=FUNDS)
    token = paid_card(payments).payment.token
    assert token is not None
    paying = charge_token(payments, token)
    paying.receive_answer(APPROVED)
    charged, wallet = paying.payment.charged, payments.balance("wallet:main:NGN")
    open_refunds: list[Decision] = []
    answers = {"approve": APPROVED, "decline": DECLINED, "silent": SILENT}
    gone = 0
    for what, amount, which in steps:
        if what == "ask":
            asked = refund(payments, paying, f"{amount / 100:.2f}")
            taken = gone + sum(one.rows[0].amount for one in open_refunds)  # type: ignore[attr-defined]
            assert isinstance(asked, Refusal) == (taken + amount > charged)
            open_refunds += [] if isinstance(asked, Refusal) else [asked]
        elif open_refunds:
            one = open_refunds[which % len(open_refunds)]
            receive_answer(payments, one, answers[what], seconds=1)
            if what != "silent":
                open_refunds.remove(one)
                gone += one.rows[0].amount if what == "approve" else 0  # type: ignore[attr-defined]
        payment = paying.payment
        assert payment.refunded == gone <= charged
        assert payments.balance("wallet:main:NGN") == wallet - gone
        assert payments.account("wallet:main:NGN").held == payment.refunding
