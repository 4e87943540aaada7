"""What every answer of a rail means, on every step of every type, in time and too late.
Contract: #states, payment#charge, payment#validate

The table is the rule in short: where a payment stands, what is heard, and how it then stands (status, stage, next job).
"""

from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Job, Refusal
from kasuwa.core.requery import MOST_TRAIL, REQUERY_EVERY_SECONDS
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.methods.payment.rules.on_rail_answer import PAYER_APPROVED_METHODS, RAIL_UNAVAILABLE
from kasuwa.rails import ports
from kasuwa.rails.ports import Answer
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


def opening(desk: InMemoryPayments) -> PaymentInProgress:
    return initiate(desk)


def charging(desk: InMemoryPayments, auth: str = "PIN") -> PaymentInProgress:
    paying = initiate(desk)
    paying.receive_answer(opened(auth))
    charge(desk, paying, auth)
    return paying


def validating(desk: InMemoryPayments) -> PaymentInProgress:
    paying = charging(desk, "OTP")
    paying.receive_answer(challenge("OTP"))
    desk.put("validate", txnRef=paying.txn_ref, otp="123456")
    return paying


def asking(desk: InMemoryPayments) -> PaymentInProgress:
    paying = charging(desk)
    paying.receive_answer(SILENT)
    return paying


def token(desk: InMemoryPayments) -> PaymentInProgress:
    saved = paid_card(desk).payment.token
    assert saved is not None
    return charge_token(desk, saved)


def token_asking(desk: InMemoryPayments) -> PaymentInProgress:
    paying = token(desk)
    paying.receive_answer(SILENT)
    return paying


def account(desk: InMemoryPayments) -> PaymentInProgress:
    return begin(desk, "account")


def account_validating(desk: InMemoryPayments) -> PaymentInProgress:
    paying = account(desk)
    paying.receive_answer(challenge("OTP"))
    desk.put("validate", txnRef=paying.txn_ref, otp="123456", validate="account")
    return paying


def prompting(desk: InMemoryPayments) -> PaymentInProgress:
    return begin(desk, "phone")


def awaited(desk: InMemoryPayments) -> PaymentInProgress:
    paying = prompting(desk)
    paying.receive_answer(challenge())
    return paying


def prompt_lost(desk: InMemoryPayments) -> PaymentInProgress:
    paying = prompting(desk)
    paying.receive_answer(SILENT)
    return paying


def handing_off(desk: InMemoryPayments) -> PaymentInProgress:
    paying = begin(desk, "mobile_money")
    paying.receive_answer(challenge("redirect"))
    desk.answer_page(paying.txn_ref, "")
    return paying


def hand_off_lost(desk: InMemoryPayments) -> PaymentInProgress:
    paying = handing_off(desk)
    paying.receive_answer(SILENT)
    return paying


PLACES: dict[str, Callable[[InMemoryPayments], PaymentInProgress]] = {
    function.__name__: function
    for function in (
        *(opening, charging, validating, asking, token, token_asking, account, account_validating),
        *(prompting, awaited, prompt_lost, handing_off, hand_off_lost),
    )
}

WON, LOST = ("successful", "done", None), ("failed", "done", None)
ASKED = ("pending", "asking", "payment.ask")
RESENT = ("pending", "asking", "payment.charge")
INITIATED = ("pending", "initiated", "payment.expire")
AWAITS_OTP = ("pending", "awaiting_otp", "payment.expire")
AWAITS_PAYER = ("pending", "awaiting_payer", "payment.ask")

# By place: what an answer in time leads to. What is not listed is asked after: nobody knows what was done.
ENDS = {"approved": WON, "declined": LOST}
IN_TIME: dict[str, dict[str, Any]] = {
    "opening": {"declined": LOST, "refused": LOST, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "charging": {**ENDS, "refused": INITIATED, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "validating": {**ENDS, "refused": AWAITS_OTP, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "asking": {**ENDS, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "token": {**ENDS, "refused": RESENT, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "token_asking": {**ENDS, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
    "account": {**ENDS, "refused": LOST, "challenge": AWAITS_OTP, "wrong": AWAITS_OTP},
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
    **{place: {"not found": LOST, "challenge": LOST} for place in PLACES},
    "token": {"challenge": LOST},
    "token_asking": {"challenge": LOST},
    **{
        place: dict.fromkeys(("not found", "challenge", "in progress", "working"), LOST)
        for place in ("prompting", "awaited", "prompt_lost")
    },
}
TOO_LATE["prompting"]["refused"] = LOST


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("place", PLACES)
def test_an_answer_in_time(place: str, answer: str) -> None:
    paying = PLACES[place](InMemoryPayments())
    paying.receive_answer(ANSWERS[answer], seconds=2)
    assert paying.state == IN_TIME[place].get(answer, ASKED)


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("place", PLACES)
def test_an_answer_after_the_payers_time_is_up(place: str, answer: str) -> None:
    paying = PLACES[place](InMemoryPayments())
    paying.receive_answer(ANSWERS[answer], minutes=10)
    assert paying.state == (TOO_LATE[place].get(answer) or IN_TIME[place].get(answer, ASKED))
    if answer == "silent":
        assert paying.row.status == "pending"


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("place", PLACES)
def test_whatever_is_heard_the_job_is_due_later_and_never_charges_anew_what_may_be_done(
    place: str, answer: str
) -> None:
    for stretch in (timedelta(seconds=1), timedelta(minutes=10), timedelta(days=3)):
        desk = InMemoryPayments()
        paying = PLACES[place](desk)
        before = paying.job
        paying.receive_answer(ANSWERS[answer], seconds=stretch.total_seconds())
        if paying.row.status != "pending":
            assert len(desk.events) == 1 + place.startswith("token")
            continue
        after = paying.job
        assert after.kind == "payment.expire" or after.due > desk.now
        assert after.kind != "payment.charge" or (before.kind == "payment.charge" and answer == "refused")
        assert after.key == before.key


@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_code_is_the_only_answer_that_is_a_refusal_but_for_a_rail_that_is_away(place: str) -> None:
    for name, answer in ANSWERS.items():
        reply = PLACES[place](InMemoryPayments()).receive_answer(answer).reply
        assert isinstance(reply, Refusal) == (name == "wrong" or reply == RAIL_UNAVAILABLE), name


def test_a_session_that_is_opened_without_a_word_on_authentication_has_taken_no_money() -> None:
    paying = opening(InMemoryPayments())
    assert paying.receive_answer(APPROVED).reply.txn_status == "pending"
    paying.receive_answer(NOT_FOUND, minutes=10)
    assert paying.state == LOST


def test_a_rail_that_cannot_be_read_is_told_apart() -> None:
    assert charging(InMemoryPayments()).receive_answer(GIBBERISH).reply.status == 201
    assert charging(InMemoryPayments()).receive_answer(IN_PROGRESS).reply.status == 200


# --- nobody is asked twice ------------------------------------------------------------------------------------------


def test_a_hand_off_whose_answer_is_lost_is_asked_after_and_never_offered_again() -> None:
    desk = InMemoryPayments()
    paying = hand_off_lost(desk)
    assert desk.answer_page(paying.txn_ref, "").message == "This payment awaits no validation"
    for _ in range(30):
        paying.receive_answer(IN_PROGRESS, hours=1)
        assert paying.state == ASKED
    assert paying.receive_answer(APPROVED).reply.txn_status == "successful"


def test_a_rail_that_is_silent_at_expiry_may_have_been_paid() -> None:
    paying = awaited(InMemoryPayments())
    paying.receive_answer(SILENT, minutes=10)
    assert paying.state == AWAITS_PAYER
    paying.receive_answer(APPROVED, hours=5)
    assert paying.row.status == "successful"


def test_asking_goes_on_by_the_ladder_and_ends_with_the_payers_time() -> None:
    desk = InMemoryPayments()
    paying = awaited(desk)
    ages = []
    while paying.row.status == "pending":
        ages.append((paying.job.due - NOW).total_seconds())
        desk.now = paying.job.due
        paying.receive_answer(IN_PROGRESS)
    assert ages == [5, 30, 120, 600]
    assert (paying.row.code, paying.row.message) == ("expired", "The customer did not complete the payment in time")


def test_what_may_have_been_done_is_asked_after_every_hour_for_as_long_as_it_takes() -> None:
    desk = InMemoryPayments()
    paying = asking(desk)
    dues = []
    for _ in range(200):
        dues.append(paying.job.due)
        desk.now = paying.job.due
        paying.receive_answer(IN_PROGRESS)
    assert {(late - early).total_seconds() for early, late in pairwise(dues[6:])} == {REQUERY_EVERY_SECONDS}
    assert len(paying.row.trail) < MOST_TRAIL + 200
    assert (paying.row.status, paying.job.attempt) == ("pending", 201)


# --- what is kept meanwhile -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("answer", "code"), [(IN_PROGRESS, "09"), (SILENT, "unknown"), (NOT_FOUND, "25")])
def test_the_code_of_what_is_open_is_the_rails_or_what_its_silence_means_and_the_end_has_its_own(
    answer: Answer, code: str
) -> None:
    paying = asking(InMemoryPayments())
    paying.receive_answer(answer)
    assert (paying.row.code, paying.row.message) == (code, "PENDING")
    paying.receive_answer(APPROVED)
    assert (paying.row.code, paying.row.message) == ("00", "Approved")


def test_a_session_that_comes_with_an_open_answer_is_what_is_asked_after() -> None:
    paying = charging(InMemoryPayments())
    paying.receive_answer(Answer(ports.UNKNOWN, "09", "Request in progress", {"session": "S-2"}))
    assert JOB_DATA_DECODER.decode(paying.job.work).session == paying.payment.session == "S-2"


def test_a_fraud_flag_is_kept_to_the_end() -> None:
    paying = charging(InMemoryPayments(), "OTP")
    reply = paying.receive_answer(Answer(ports.CHALLENGE, None, "", {"auth": "OTP", "fraud": "flagged"})).reply
    assert reply.fraud_status == "flagged"
    paying.desk.put("validate", txnRef=paying.txn_ref, otp="123456")
    paying.receive_answer(APPROVED)
    assert msgspec.json.decode(paying.payment.facts) == {"fraud": "flagged"}


def test_a_saved_card_that_the_rail_never_saw_fails_after_a_day_and_not_before() -> None:
    paying = token_asking(InMemoryPayments())
    paying.receive_answer(NOT_FOUND, hours=23)
    assert paying.state == ASKED
    paying.receive_answer(NOT_FOUND, hours=1)
    assert (paying.row.status, paying.row.code) == ("failed", "25")


# --- out of turn ----------------------------------------------------------------------------------------------------


def test_a_final_payment_is_final_and_who_contradicts_is_raised() -> None:
    desk = InMemoryPayments()
    paying = charging(desk)
    job = paying.job
    paying.receive_answer(APPROVED)
    events = list(desk.events)
    again = desk.receive_answer(job, APPROVED)
    assert (again.rows, again.groups, again.notices, again.reply.txn_status) == ((), (), (), "successful")
    desk.receive_answer(job, DECLINED)
    assert [notice.reference for notice in desk.notices] == [paying.txn_ref]
    assert (desk.events, paying.row.status) == (events, "successful")


def test_an_answer_to_a_step_that_was_overtaken_counts_only_if_it_is_final() -> None:
    desk = InMemoryPayments()
    paying = awaited(desk)
    asked = paying.job
    late = msgspec.structs.replace(asked, kind="payment.charge")
    for answer in (IN_PROGRESS, SILENT, challenge(), WRONG):
        assert desk.receive_answer(late, answer).rows == ()
    assert paying.job == asked
    desk.receive_answer(late, APPROVED)
    assert paying.row.status == "successful"


def test_an_expiry_that_was_overtaken_by_the_payers_code_is_nothing() -> None:
    desk = InMemoryPayments()
    paying = charging(desk, "OTP")
    paying.receive_answer(challenge("OTP"))
    expiry = paying.job
    desk.put("validate", txnRef=paying.txn_ref, otp="123456")
    desk.advance(minutes=10)
    assert desk.receive_answer(expiry, NOBODY_ASKED).rows == ()
    assert paying.state == ("pending", "validating", "payment.validate")


def expiring(desk: InMemoryPayments) -> PaymentInProgress:
    paying = initiate(desk)
    paying.receive_answer(opened("OTP"))
    return paying


def test_a_payer_who_does_not_come_fails_the_payment() -> None:
    paying = expiring(InMemoryPayments())
    paying.receive_answer(NOBODY_ASKED, minutes=10)
    assert (paying.state, paying.row.code) == (LOST, "expired")


@pytest.mark.parametrize(("answer", "end"), [(APPROVED, WON), (DECLINED, LOST)])
def test_a_rail_that_calls_back_while_the_payer_is_awaited_ends_it(answer: Answer, end: Any) -> None:
    paying = expiring(InMemoryPayments())
    paying.receive_answer(answer)
    assert paying.state == end


# --- what the payer is told -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", sorted(PAYER_APPROVED_METHODS))
def test_a_payers_step_that_ends_at_once_still_answers_as_one(method: str) -> None:
    desk = InMemoryPayments()
    paying = begin(desk, method)
    facts = BEGUN[method].facts
    reply = paying.receive_answer(Answer(ports.SUCCESSFUL, "00", "Approved", facts)).reply
    assert (reply.status, paying.row.status) == (202, "successful")
    failed = begin(desk, method).receive_answer(Answer(ports.FAILED, "51", "No", facts)).reply
    assert (failed.status, failed.txn_status) == (200, "failed")


def test_one_payment_has_one_job_whatever_happens() -> None:
    for place in PLACES.values():
        paying = place(InMemoryPayments())
        assert isinstance(paying.job, Job)
