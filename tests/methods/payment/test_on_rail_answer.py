"""Every answer of a rail at every step of every method, before and after expiry.

IN_TIME and TOO_LATE are the rule in short: by state and answer, the new state (status, stage, next job).
"""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Job, Refusal
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.methods.payment.rules.on_rail_answer import PAYER_APPROVED_METHODS, RAIL_UNAVAILABLE
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.requery import MAX_TRAIL_LENGTH, REQUERY_EVERY_SECONDS
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    BEGUN,
    DECLINED,
    GIBBERISH,
    IN_PROGRESS,
    NOBODY_ASKED,
    NOT_FOUND,
    REFUSED,
    SILENT,
    WORKING,
    WRONG,
    InMemoryPayments,
    PaymentInProgress,
    begin,
    challenge,
    charge,
    charge_token,
    initiate,
    opened,
    paid_card,
)
from tests.rule_context import NOW

DAY = 24 * 3600.0
ANSWERS = {
    "approved": APPROVED,
    "declined": DECLINED,
    "in progress": IN_PROGRESS,
    "working": WORKING,
    "silent": SILENT,
    "gibberish": GIBBERISH,
    "not found": NOT_FOUND,
    "refused": REFUSED,
    "challenge": challenge("OTP"),
    "wrong": WRONG,
}

# --- where a payment can stand ------------------------------------------------------------------------------------


def opening(payments: InMemoryPayments) -> PaymentInProgress:
    return initiate(payments)


def charging(payments: InMemoryPayments, auth: str = "PIN") -> PaymentInProgress:
    paying = initiate(payments)
    paying.receive_answer(opened(auth))
    charge(payments, paying, auth)
    return paying


def validating(payments: InMemoryPayments) -> PaymentInProgress:
    paying = charging(payments, "OTP")
    paying.receive_answer(challenge("OTP"))
    payments.put("validate", txnRef=paying.txn_ref, otp="123456")
    return paying


def asking(payments: InMemoryPayments) -> PaymentInProgress:
    paying = charging(payments)
    paying.receive_answer(SILENT)
    return paying


def token(payments: InMemoryPayments) -> PaymentInProgress:
    saved = paid_card(payments).payment.token
    assert saved is not None
    return charge_token(payments, saved)


def token_asking(payments: InMemoryPayments) -> PaymentInProgress:
    paying = token(payments)
    paying.receive_answer(SILENT)
    return paying


def account(payments: InMemoryPayments) -> PaymentInProgress:
    return begin(payments, "account")


def account_validating(payments: InMemoryPayments) -> PaymentInProgress:
    paying = account(payments)
    paying.receive_answer(challenge("OTP"))
    payments.put("validate", txnRef=paying.txn_ref, otp="123456", validate="account")
    return paying


def prompting(payments: InMemoryPayments) -> PaymentInProgress:
    return begin(payments, "phone")


def awaited(payments: InMemoryPayments) -> PaymentInProgress:
    paying = prompting(payments)
    paying.receive_answer(challenge())
    return paying


def prompt_lost(payments: InMemoryPayments) -> PaymentInProgress:
    paying = prompting(payments)
    paying.receive_answer(SILENT)
    return paying


def handing_off(payments: InMemoryPayments) -> PaymentInProgress:
    paying = begin(payments, "mobile_money")
    paying.receive_answer(challenge("redirect"))
    payments.answer_page(paying.txn_ref, "")
    return paying


def hand_off_lost(payments: InMemoryPayments) -> PaymentInProgress:
    paying = handing_off(payments)
    paying.receive_answer(SILENT)
    return paying


START_STATES: dict[str, Callable[[InMemoryPayments], PaymentInProgress]] = {
    function.__name__: function
    for function in (
        opening,
        charging,
        validating,
        asking,
        token,
        token_asking,
        account,
        account_validating,
        prompting,
        awaited,
        prompt_lost,
        handing_off,
        hand_off_lost,
    )
}

SUCCEEDED, FAILED = ("successful", "done", None), ("failed", "done", None)
OUTCOME_QUERIED = ("pending", "asking", "payment.ask")
RESENT = ("pending", "asking", "payment.charge")
INITIATED = ("pending", "initiated", "payment.expire")
AWAITS_OTP = ("pending", "awaiting_otp", "payment.expire")
AWAITS_PAYER = ("pending", "awaiting_payer", "payment.ask")

# By start: what an answer in time leads to. What is not listed is asked after: nobody knows what was done.
ENDS = {"approved": SUCCEEDED, "declined": FAILED}
IN_TIME: dict[str, dict[str, Any]] = {
    "opening": {"declined": FAILED, "refused": FAILED, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "charging": {**ENDS, "refused": INITIATED, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "validating": {**ENDS, "refused": AWAITS_OTP, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "asking": {**ENDS, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "token": {**ENDS, "refused": RESENT, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "token_asking": {**ENDS, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "account": {**ENDS, "refused": FAILED, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "account_validating": {**ENDS, "refused": AWAITS_OTP, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "prompting": {
        **ENDS,
        **dict.fromkeys(("challenge", "wrong", "in progress", "working"), AWAITS_PAYER),
        "refused": RESENT,
    },
    "awaited": {**dict.fromkeys(ANSWERS, AWAITS_PAYER), **ENDS},
    "prompt_lost": {**ENDS, **dict.fromkeys(("challenge", "wrong", "in progress", "working"), AWAITS_PAYER)},
    "handing_off": {**ENDS, **dict.fromkeys(("challenge", "wrong", "refused"), AWAITS_PAYER)},
    "hand_off_lost": {**ENDS, **dict.fromkeys(("challenge", "wrong"), AWAITS_PAYER)},
}
# Once the payer's time is up, what the rail leaves no doubt about has failed; the rest is as in time.
TOO_LATE: dict[str, dict[str, Any]] = {
    **{start: {"not found": FAILED, "challenge": FAILED} for start in START_STATES},
    "token": {"challenge": FAILED},
    "token_asking": {"challenge": FAILED},
    **{
        start: dict.fromkeys(("not found", "challenge", "in progress", "working"), FAILED)
        for start in ("prompting", "awaited", "prompt_lost")
    },
}
TOO_LATE["prompting"]["refused"] = FAILED


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("start", START_STATES)
def test_an_answer_in_time(start: str, answer: str) -> None:
    paying = START_STATES[start](InMemoryPayments())
    paying.receive_answer(ANSWERS[answer], seconds=2)
    assert paying.state == IN_TIME[start].get(answer, OUTCOME_QUERIED)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("start", START_STATES)
def test_an_answer_after_the_payers_time_is_up(start: str, answer: str) -> None:
    paying = START_STATES[start](InMemoryPayments())
    paying.receive_answer(ANSWERS[answer], minutes=10)
    assert paying.state == (TOO_LATE[start].get(answer) or IN_TIME[start].get(answer, OUTCOME_QUERIED))
    if answer == "silent":
        assert paying.row.status == "pending"


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("start", START_STATES)
def test_the_next_job_is_due_later_and_never_repeats_a_charge_that_may_be_done(start: str, answer: str) -> None:
    for stretch in (timedelta(seconds=1), timedelta(minutes=10), timedelta(days=3)):
        payments = InMemoryPayments()
        paying = START_STATES[start](payments)
        before = paying.job
        paying.receive_answer(ANSWERS[answer], seconds=stretch.total_seconds())
        if paying.row.status != "pending":
            assert len(payments.events) == 1 + start.startswith("token")
            continue
        after = paying.job
        assert after.kind == "payment.expire" or after.due > payments.now
        assert after.kind != "payment.charge" or (before.kind == "payment.charge" and answer == "refused")
        assert after.key == before.key


@pytest.mark.parametrize("start", START_STATES)
def test_only_a_wrong_otp_and_an_unavailable_rail_are_refusals(start: str) -> None:
    for name, answer in ANSWERS.items():
        reply = START_STATES[start](InMemoryPayments()).receive_answer(answer).reply
        assert isinstance(reply, Refusal) == (name == "wrong" or reply == RAIL_UNAVAILABLE), name


def test_a_session_without_an_authentication_has_charged_nothing() -> None:
    paying = opening(InMemoryPayments())
    assert paying.receive_answer(APPROVED).reply.txn_status == "pending"
    paying.receive_answer(NOT_FOUND, minutes=10)
    assert paying.state == FAILED


def test_an_unreadable_answer_has_status_201() -> None:
    assert charging(InMemoryPayments()).receive_answer(GIBBERISH).reply.status == 201
    assert charging(InMemoryPayments()).receive_answer(IN_PROGRESS).reply.status == 200


# --- nobody is asked twice ------------------------------------------------------------------------------------------


def test_a_page_approval_whose_answer_is_lost_is_queried_and_not_asked_again() -> None:
    payments = InMemoryPayments()
    paying = hand_off_lost(payments)
    assert payments.answer_page(paying.txn_ref, "").message == "This payment awaits no validation"
    for _ in range(30):
        paying.receive_answer(IN_PROGRESS, hours=1)
        assert paying.state == OUTCOME_QUERIED
    assert paying.receive_answer(APPROVED).reply.txn_status == "successful"


def test_a_rail_that_is_silent_at_expiry_may_have_been_paid() -> None:
    paying = awaited(InMemoryPayments())
    paying.receive_answer(SILENT, minutes=10)
    assert paying.state == AWAITS_PAYER
    paying.receive_answer(APPROVED, hours=5)
    assert paying.row.status == "successful"


def test_queries_follow_the_requery_schedule_and_end_at_expiry() -> None:
    payments = InMemoryPayments()
    paying = awaited(payments)
    ages = []
    while paying.row.status == "pending":
        ages.append((paying.job.due - NOW).total_seconds())
        payments.now = paying.job.due
        paying.receive_answer(IN_PROGRESS)
    assert ages == [5, 30, 120, 600]
    assert (paying.row.code, paying.row.message) == ("expired", "The customer did not complete the payment in time")


def test_an_unknown_outcome_is_queried_every_hour_without_end() -> None:
    payments = InMemoryPayments()
    paying = asking(payments)
    dues = []
    for _ in range(200):
        dues.append(paying.job.due)
        payments.now = paying.job.due
        paying.receive_answer(IN_PROGRESS)
    assert {(late - early).total_seconds() for early, late in pairwise(dues[6:])} == {REQUERY_EVERY_SECONDS}
    assert len(paying.row.trail) < MAX_TRAIL_LENGTH + 200
    assert (paying.row.status, paying.job.attempt) == ("pending", 201)


# --- what is kept meanwhile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "code"), [(IN_PROGRESS, "09"), (SILENT, "unknown"), (NOT_FOUND, "25")])
def test_a_pending_payment_has_the_code_of_the_last_answer(answer: Answer, code: str) -> None:
    paying = asking(InMemoryPayments())
    paying.receive_answer(answer)
    assert (paying.row.code, paying.row.message) == (code, "PENDING")
    paying.receive_answer(APPROVED)
    assert (paying.row.code, paying.row.message) == ("00", "Approved")


def test_the_session_of_a_pending_answer_is_used_by_the_next_query() -> None:
    paying = charging(InMemoryPayments())
    paying.receive_answer(Answer(orders.UNKNOWN, "09", "Request in progress", {"session": "S-2"}))
    assert JOB_DATA_DECODER.decode(paying.job.work).session == paying.payment.session == "S-2"


def test_a_fraud_flag_is_kept_to_the_end() -> None:
    paying = charging(InMemoryPayments(), "OTP")
    reply = paying.receive_answer(Answer(orders.CHALLENGE, None, "", {"auth": "OTP", "fraud": "flagged"})).reply
    assert reply.fraud_status == "flagged"
    paying.payments.put("validate", txnRef=paying.txn_ref, otp="123456")
    paying.receive_answer(APPROVED)
    assert msgspec.json.decode(paying.payment.facts) == {"fraud": "flagged"}


def test_a_saved_card_that_the_rail_never_saw_fails_after_a_day_and_not_before() -> None:
    paying = token_asking(InMemoryPayments())
    paying.receive_answer(NOT_FOUND, hours=23)
    assert paying.state == OUTCOME_QUERIED
    paying.receive_answer(NOT_FOUND, hours=1)
    assert (paying.row.status, paying.row.code) == ("failed", "25")


# --- out of turn ----------------------------------------------------------------------------------------------------


def test_a_final_payment_stays_final_and_a_contradiction_makes_a_notice() -> None:
    payments = InMemoryPayments()
    paying = charging(payments)
    job = paying.job
    paying.receive_answer(APPROVED)
    events = list(payments.events)
    again = payments.receive_answer(job, APPROVED)
    assert (again.rows, again.groups, again.notices, again.reply.txn_status) == ((), (), (), "successful")
    payments.receive_answer(job, DECLINED)
    assert [notice.reference for notice in payments.notices] == [paying.txn_ref]
    assert (payments.events, paying.row.status) == (events, "successful")


def test_an_outdated_answer_counts_only_if_it_is_final() -> None:
    payments = InMemoryPayments()
    paying = awaited(payments)
    asked = paying.job
    late = msgspec.structs.replace(asked, kind="payment.charge")
    for answer in (IN_PROGRESS, SILENT, challenge(), WRONG):
        assert payments.receive_answer(late, answer).rows == ()
    assert paying.job == asked
    payments.receive_answer(late, APPROVED)
    assert paying.row.status == "successful"


def test_an_expiry_job_after_the_payers_otp_changes_nothing() -> None:
    payments = InMemoryPayments()
    paying = charging(payments, "OTP")
    paying.receive_answer(challenge("OTP"))
    expiry = paying.job
    payments.put("validate", txnRef=paying.txn_ref, otp="123456")
    payments.advance(minutes=10)
    assert payments.receive_answer(expiry, NOBODY_ASKED).rows == ()
    assert paying.state == ("pending", "validating", "payment.validate")


def expiring(payments: InMemoryPayments) -> PaymentInProgress:
    paying = initiate(payments)
    paying.receive_answer(opened("OTP"))
    return paying


def test_a_payment_that_the_payer_does_not_complete_fails() -> None:
    paying = expiring(InMemoryPayments())
    paying.receive_answer(NOBODY_ASKED, minutes=10)
    assert (paying.state, paying.row.code) == (FAILED, "expired")


@pytest.mark.parametrize(("answer", "end"), [(APPROVED, SUCCEEDED), (DECLINED, FAILED)])
def test_a_rail_that_calls_back_while_the_payer_is_awaited_ends_it(answer: Answer, end: Any) -> None:
    paying = expiring(InMemoryPayments())
    paying.receive_answer(answer)
    assert paying.state == end


# --- what the payer is told -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(PAYER_APPROVED_METHODS))
def test_a_payer_step_that_succeeds_at_once_still_has_status_202(method: str) -> None:
    payments = InMemoryPayments()
    paying = begin(payments, method)
    facts = BEGUN[method].facts
    reply = paying.receive_answer(Answer(orders.SUCCESSFUL, "00", "Approved", facts)).reply
    assert (reply.status, paying.row.status) == (202, "successful")
    failed = begin(payments, method).receive_answer(Answer(orders.FAILED, "51", "No", facts)).reply
    assert (failed.status, failed.txn_status) == (200, "failed")


def test_one_payment_has_one_job_whatever_happens() -> None:
    for start in START_STATES.values():
        paying = start(InMemoryPayments())
        assert isinstance(paying.job, Job)
