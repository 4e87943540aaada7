"""Refunds: never more than was charged, out of the wallet, whatever the rail says and however many ask.

Contract: payment#refund
"""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import Decision, Job, Refusal
from kasuwa.core.scenario import InjectedFault
from kasuwa.core.transactions import Transaction
from kasuwa.methods.payment.model import JOB_DATA_DECODER, UNKNOWN_REFERENCE
from kasuwa.methods.payment.rules.refund import (
    METHOD_NOT_REFUNDABLE,
    PAYMENT_NOT_SUCCESSFUL,
    WALLET_INSUFFICIENT,
    refundable,
)
from kasuwa.rails.ports import Answer
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

FUNDS = 10_000_000


@pytest.fixture
def desk() -> InMemoryPayments:
    return InMemoryPayments(funds=FUNDS)


def refund(desk: InMemoryPayments, paying: PaymentInProgress, amount: str = "500.00", **said: Any) -> Any:
    return desk.put("refund", txnRef=paying.txn_ref, amount=amount, **said)


def job_of(desk: InMemoryPayments, decision: Decision) -> Job:
    row = decision.rows[0]
    assert isinstance(row, Transaction)
    (job,) = desk.jobs(row.key)
    return job


def hear(desk: InMemoryPayments, decision: Decision, answer: Answer, **stretch: float) -> Any:
    desk.advance(**stretch)
    return desk.receive_answer(job_of(desk, decision), answer)


# --- asking ---------------------------------------------------------------------------------------------------------


def test_a_refund_holds_its_money_and_counts_as_gone_at_once(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    decision = refund(desk, paying)
    assert (decision.reply.txn_status, decision.reply.refundable_amount) == ("pending", "1000.00")
    assert desk.account("wallet:main:NGN").held == 50_000
    assert (paying.payment.refunding, paying.payment.refunded) == (50_000, 0)
    assert JOB_DATA_DECODER.decode(job_of(desk, decision).work).session == paying.payment.session


def test_only_a_successful_payment_of_ours_that_can_be_paid_back_is_refunded(desk: InMemoryPayments) -> None:
    assert desk.put("refund", txnRef="GP|nothing", amount="1.00") == UNKNOWN_REFERENCE
    assert refund(desk, initiate(desk)) == PAYMENT_NOT_SUCCESSFUL
    failed = begin(desk, "phone")
    failed.receive_answer(DECLINED)
    assert refund(desk, failed) == PAYMENT_NOT_SUCCESSFUL
    for method in ("ussd", "qrpay"):
        paying = begin(desk, method)
        paying.receive_answer(APPROVED)
        assert refund(desk, paying) == METHOD_NOT_REFUNDABLE
    for method in ("account", "phone", "bank_transfer", "mobile_money"):
        paying = begin(desk, method)
        paying.receive_answer(APPROVED)
        assert isinstance(refund(desk, paying), Decision)


def test_more_than_is_left_is_refused_with_what_is_left(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    assert fields_of(refund(desk, paying, "1500.01")) == ["amount"]
    refund(desk, paying, "1000.00")
    refused = refund(desk, paying, "500.01")
    assert refused.field_errors[0].reason == "at most 500.00, what is left to refund"
    assert isinstance(refund(desk, paying, "500.00"), Decision)
    assert fields_of(refund(desk, paying, "0.01")) == ["amount"]


def test_a_customer_who_bore_the_fee_gets_all_that_was_charged(desk: InMemoryPayments) -> None:
    paying = paid_card(desk, bearer="customer")
    assert paying.payment.charged > 150_000
    assert isinstance(refund(desk, paying, f"{paying.payment.charged / 100:.2f}"), Decision)


def test_a_wallet_that_is_short_refuses_and_keeps_nothing() -> None:
    desk = InMemoryPayments(of=merchant(settlement_days=1))
    paying = paid_card(desk)
    before = dict(desk.rows)
    assert refund(desk, paying) == WALLET_INSUFFICIENT
    assert desk.rows == before


def test_charges_of_a_plan_are_refunded_as_the_merchants_own(desk: InMemoryPayments) -> None:
    paid_card(desk, is_recurring=True, recurrent={"frequency": "daily", "value": "12"})
    due = next(job for job in desk.jobs() if job.kind == "recurrent.charge")
    desk.now = due.due
    paying = PaymentInProgress(desk, desk.receive_answer(due, APPROVED))
    paying.receive_answer(APPROVED)
    decision = refund(desk, paying)
    assert hear(desk, decision, APPROVED).reply.refunded_amount == "500.00"


def test_a_planned_fault_is_used_up_by_a_refund(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    desk.faults = (InjectedFault("card", "timeout", 2),)
    refund(desk, paying)
    assert desk.faults == (InjectedFault("card", "timeout", 1),)


# --- what the rail says ---------------------------------------------------------------------------------------------


def test_a_success_takes_the_held_money_to_the_rail_and_leaves_the_fee(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    before = desk.balances()
    reply = hear(desk, refund(desk, paying), APPROVED).reply
    assert (reply.message, reply.refunded_amount, reply.refundable_amount) == ("Refund Successful", "500.00", "1000.00")
    after = desk.balances()
    assert after["wallet:main:NGN"] == before["wallet:main:NGN"] - 50_000
    assert after["rail:card:NGN"] == before["rail:card:NGN"] + 50_000
    assert after["income:collection:NGN"] == before["income:collection:NGN"]
    assert (paying.payment.refunded, paying.payment.refunding, paying.row.status) == (50_000, 0, "successful")


def test_a_failure_gives_the_money_back_and_it_can_be_refunded_again(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    before = desk.balances()
    reply = hear(desk, refund(desk, paying, "1500.00"), DECLINED).reply
    assert (reply.txn_status, reply.message) == ("failed", "Refund Failed: Insufficient Funds")
    assert (desk.balances(), desk.account("wallet:main:NGN").held, refundable(paying.payment)) == (before, 0, 150_000)
    assert isinstance(refund(desk, paying, "1500.00"), Decision)


@pytest.mark.parametrize("answer", [IN_PROGRESS, WORKING, SILENT, GIBBERISH, NOT_FOUND, REFUSED])
def test_what_is_not_known_is_asked_after_and_only_what_was_refused_is_sent_again(
    desk: InMemoryPayments, answer: Answer
) -> None:
    decision = refund(desk, paid_card(desk))
    reply = hear(desk, decision, answer, seconds=2).reply
    job = job_of(desk, decision)
    assert reply.txn_status == "pending"
    assert job.kind == ("payment.refund" if answer == REFUSED else "payment.ask_refund")
    assert (job.attempt, (job.due - NOW).total_seconds()) == (1, 5)
    hear(desk, decision, SILENT, seconds=5)
    hear(desk, decision, REFUSED, seconds=30)
    assert job_of(desk, decision).kind == "payment.ask_refund"


def test_a_refund_that_the_rail_never_saw_fails_after_a_day(desk: InMemoryPayments) -> None:
    decision = refund(desk, paid_card(desk))
    assert hear(desk, decision, NOT_FOUND, hours=23).reply.txn_status == "pending"
    assert hear(desk, decision, NOT_FOUND, hours=1).reply.txn_status == "failed"


def test_a_final_refund_is_final_and_who_contradicts_is_raised(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    decision = refund(desk, paying)
    job = job_of(desk, decision)
    hear(desk, decision, APPROVED)
    balances = desk.balances()
    assert desk.receive_answer(job, DECLINED).reply.txn_status == "successful"
    assert (len(desk.notices), desk.balances()) == (1, balances)


# --- the events -----------------------------------------------------------------------------------------------------


def test_refund_events_belong_to_their_payment_in_the_order_in_which_they_ended(desk: InMemoryPayments) -> None:
    paying = paid_card(desk)
    first, second, third = (refund(desk, paying, "100.00") for _ in range(3))
    hear(desk, second, APPROVED)
    hear(desk, first, DECLINED)
    hear(desk, third, APPROVED)
    own, *refunds = desk.events
    assert (own.reference, own.object, own.object_seq) == (paying.txn_ref, "", 1)
    assert [(event.object, event.object_seq, event.kind) for event in refunds] == [
        (paying.txn_ref, n, "refund") for n in (2, 3, 4)
    ]
    told = [msgspec.json.decode(event.payload) for event in refunds]
    assert [(line["txnStatus"], line["chargedAmount"]) for line in told] == [
        ("successful", "100.00"),
        ("failed", "0.00"),
        ("successful", "100.00"),
    ]
    assert {line["refundOf"] for line in told} == {paying.txn_ref}
    assert len({line["txnRef"] for line in told}) == 3


# --- never more than was charged --------------------------------------------------------------------------------------

STEPS = st.lists(
    st.tuples(st.sampled_from(["ask", "approve", "decline", "silent"]), st.integers(1, 120_000), st.integers(0, 5)),
    max_size=30,
)


@given(STEPS)
@without_deadline(150)
def test_refunds_never_exceed_the_charge_however_they_come_and_end(steps: list[tuple[str, int, int]]) -> None:
    desk = InMemoryPayments(funds=FUNDS)
    token = paid_card(desk).payment.token
    assert token is not None
    paying = charge_token(desk, token)
    paying.receive_answer(APPROVED)
    charged, wallet = paying.payment.charged, desk.balance("wallet:main:NGN")
    open_refunds: list[Decision] = []
    answers = {"approve": APPROVED, "decline": DECLINED, "silent": SILENT}
    gone = 0
    for what, amount, which in steps:
        if what == "ask":
            asked = refund(desk, paying, f"{amount / 100:.2f}")
            taken = gone + sum(one.rows[0].amount for one in open_refunds)  # type: ignore[attr-defined]
            assert isinstance(asked, Refusal) == (taken + amount > charged)
            open_refunds += [] if isinstance(asked, Refusal) else [asked]
        elif open_refunds:
            one = open_refunds[which % len(open_refunds)]
            hear(desk, one, answers[what], seconds=1)
            if what != "silent":
                open_refunds.remove(one)
                gone += one.rows[0].amount if what == "approve" else 0  # type: ignore[attr-defined]
        payment = paying.payment
        assert payment.refunded == gone <= charged
        assert desk.balance("wallet:main:NGN") == wallet - gone
        assert desk.account("wallet:main:NGN").held == payment.refunding
