"""Decisions on a bank's answer to a transfer: every answer, at every age, in every status."""

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.decision import LoadedRows, Posting, PostingGroup, Row
from kasuwa.core.scenario import Scenario
from kasuwa.methods.disburse.model import INCOME, QUERY, RAIL, SEND, STAMP_DUTY, VAT, WALLET, decode_job_data
from kasuwa.methods.disburse.rules.on_bank_answer import need_answer
from kasuwa.methods.disburse.rules.payout_checks import need_beneficiary, settle_counters
from kasuwa.methods.disburse.rules.transfer import WALLET_INSUFFICIENT
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.terms.payouts import PayoutPolicy
from kasuwa.transactions.requery import MAX_TRAIL_LENGTH, next_requery_at
from kasuwa.transactions.transactions import FAILED, PENDING, PROCESSING, SUCCESSFUL, Transaction
from tests.hypothesis_settings import without_deadline
from tests.methods.disburse.orders import DUTY_ON, FREE, SentTransfer
from tests.rule_context import NOW, context, merchant

DAY = 24 * 3600

APPROVED = Answer(orders.SUCCESSFUL, "00", "Approved or completed successfully")
DECLINED = Answer(orders.FAILED, "51", "No sufficient funds")
IN_PROGRESS = Answer(orders.UNKNOWN, "09", "Request processing in progress")
SILENT = Answer(orders.UNKNOWN, None, "The rail has not answered")
WORKING = Answer(orders.PROCESSING, "09", "Transfer is being processed")
NOT_FOUND = Answer(orders.NOT_FOUND, "25", "Unable to locate record")
GIBBERISH = Answer(orders.UNREADABLE, "ZZ", "The bank's answer could not be read")
REFUSED = Answer(orders.UNAVAILABLE, None, "The rail is not available")
OPEN = [IN_PROGRESS, SILENT, WORKING, NOT_FOUND, GIBBERISH, REFUSED]


# --- the end ----------------------------------------------------------------------------------------------------


def test_a_success_posts_amount_fee_and_vat_under_the_hold() -> None:
    sent = SentTransfer.new()
    decision = sent.receive_answer(APPROVED)
    posts = (
        Posting(WALLET, RAIL, 500_000, "transfer"),
        Posting(WALLET, INCOME, 1_000, "transfer fee"),
        Posting(WALLET, VAT, 75, "transfer VAT"),
    )
    assert decision.groups == (PostingGroup(sent.row.txn_ref, WALLET_INSUFFICIENT, posts, releases=sent.held),)
    assert sum(post.amount for post in posts) == sent.held.amount


def test_stamp_duty_is_posted_if_enabled_and_a_free_transfer_posts_no_fees() -> None:
    taxed = SentTransfer.new(context(merchant=merchant(tariff=DUTY_ON)), amount="10000.00")
    assert taxed.receive_answer(APPROVED).groups[0].postings[-1] == Posting(WALLET, STAMP_DUTY, 5_000, "stamp duty")
    assert sum(post.amount for post in taxed.receive_answer(APPROVED).groups[0].postings) == taxed.held.amount
    free = SentTransfer.new(context(merchant=merchant(tariff=FREE)))
    assert free.receive_answer(APPROVED).groups[0].postings == (Posting(WALLET, RAIL, 500_000, "transfer"),)


def test_a_failure_voids_the_hold_and_reports_the_message_of_the_bank() -> None:
    sent = SentTransfer.new()
    decision = sent.receive_answer(DECLINED)
    assert decision.groups == (PostingGroup(sent.row.txn_ref, WALLET_INSUFFICIENT, releases=sent.held),)
    assert (decision.reply.txn_status, decision.reply.message) == (
        FAILED,
        "The beneficiary's bank: No sufficient funds",
    )


@pytest.mark.parametrize(
    ("answer", "status", "message"),
    [
        (APPROVED, SUCCESSFUL, "Transfer Successful"),
        (DECLINED, FAILED, "The beneficiary's bank: No sufficient funds"),
    ],
)
def test_the_end_is_recorded_with_its_time_code_and_trail(answer: Answer, status: str, message: str) -> None:
    sent = SentTransfer.new()
    decision = sent.receive_answer(answer, age=7)
    (row,) = decision.rows
    assert isinstance(row, Transaction)
    assert (row.status, row.code, row.message) == (status, answer.code, message)
    assert row.final_at == NOW + timedelta(seconds=7)
    assert [entry["step"] for entry in msgspec.json.decode(row.trail)] == ["requested", status]
    assert decision.jobs_done == (sent.job,)
    assert decision.reply.status == 200
    assert sent.row.status == PROCESSING  # what was given is left alone


@pytest.mark.parametrize(("answer", "charged"), [(APPROVED, "5000.00"), (DECLINED, "0.00")])
def test_the_end_has_exactly_one_event_with_the_payload_of_the_contract(answer: Answer, charged: str) -> None:
    sent = SentTransfer.new()
    (event,) = sent.receive_answer(answer).events
    assert (event.reference, event.kind) == (sent.row.txn_ref, "transfer")
    assert msgspec.json.decode(event.payload) == {
        "status": 200,
        "txnStatus": answer.status,
        "txnRef": sent.row.txn_ref,
        "chargedAmount": charged,
        "paymentMethod": "transfer",
        "endpoint": "test",
        "kind": "transfer",
        "orderRef": "order-1042",
        "currency": "NGN",
    }


def test_a_merchant_that_listens_gets_a_delivery_in_the_same_decision() -> None:
    assert SentTransfer.new().receive_answer(APPROVED).jobs == ()
    sent = SentTransfer.new(context(has_webhook=True, scenario=Scenario(webhook="dup")))
    (job,) = sent.receive_answer(APPROVED, age=3).jobs
    assert (job.kind, job.lane, job.reference) == ("webhook.deliver", "webhook", sent.row.txn_ref)
    assert job.due == NOW + timedelta(seconds=3)
    assert msgspec.json.decode(job.work) == {"webhook": "dup"}
    assert job.key != sent.job.key


@pytest.mark.parametrize("answer", [APPROVED, DECLINED, *OPEN])
def test_every_account_that_a_decision_moves_was_asked_for(answer: Answer) -> None:
    sent = SentTransfer.new(context(merchant=merchant(tariff=DUTY_ON)), amount="10000.00")
    names = set(need_answer(sent.job, answer, sent.merchant).accounts)
    for group in sent.receive_answer(answer, age=DAY).groups:
        assert {name for post in group.postings for name in (post.debit, post.credit)} | {WALLET} <= names


# --- not yet ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "status", "code", "kind", "envelope"),
    [
        (IN_PROGRESS, PENDING, "09", QUERY, 200),
        (SILENT, PROCESSING, "unknown", QUERY, 200),
        (WORKING, PROCESSING, "09", QUERY, 200),
        (NOT_FOUND, PENDING, "25", QUERY, 200),
        (GIBBERISH, PENDING, "ZZ", QUERY, 201),
        (REFUSED, PROCESSING, "unavailable", SEND, 200),
    ],
)
def test_an_open_transfer_is_queried_and_resent_only_if_the_bank_never_took_it(
    answer: Answer, status: str, code: str, kind: str, envelope: int
) -> None:
    sent = SentTransfer.new()
    decision = sent.receive_answer(answer)
    (row,), (job,) = decision.rows, decision.jobs
    assert isinstance(row, Transaction)
    assert (row.status, row.code, row.final_at) == (status, code, None)
    assert (job.kind, job.key, job.attempt, job.work) == (kind, sent.job.key, 1, sent.job.work)
    assert (decision.reply.status, decision.reply.txn_status) == (envelope, status)
    assert (decision.groups, decision.events, decision.jobs_done, decision.notices) == ((), (), (), ())
    assert (sent.job.kind, sent.job.attempt) == (SEND, 0)  # what was given is left alone


def unanswered() -> SentTransfer:
    """A transfer that was sent, and of which nothing is known."""
    sent = SentTransfer.new()
    return sent.after(sent.receive_answer(SILENT))


@pytest.mark.parametrize("age", [1.0, 5.0, 1800.0, DAY - 1.0, DAY - 0.001])
def test_not_found_is_no_failure_before_a_day_has_passed(age: float) -> None:
    assert unanswered().receive_answer(NOT_FOUND, age).reply.txn_status == PENDING


@pytest.mark.parametrize("age", [DAY, DAY + 0.5, 3.0 * DAY])
def test_not_found_is_a_failure_after_a_day(age: float) -> None:
    decision = unanswered().receive_answer(NOT_FOUND, age)
    assert decision.reply.txn_status == FAILED
    assert decision.groups[0].postings == ()
    assert len(decision.events) == 1


def test_the_day_begins_when_a_transfer_that_was_refused_for_days_has_left() -> None:
    """The bank may still be behind: failed now, the transfer could be paid and its money be back in the wallet."""
    refused = SentTransfer.new()
    for age in (0.0, DAY, 2.0 * DAY):
        refused = refused.after(refused.receive_answer(REFUSED, age))
        assert refused.job.kind == SEND
    assert refused.receive_answer(NOT_FOUND, 2.5 * DAY).reply.txn_status == PENDING
    lost = refused.after(refused.receive_answer(SILENT, 2.5 * DAY))
    assert lost.receive_answer(NOT_FOUND, 2.5 * DAY + 5).reply.txn_status == PENDING
    assert lost.receive_answer(NOT_FOUND, 3.5 * DAY - 0.001).reply.txn_status == PENDING
    assert lost.receive_answer(NOT_FOUND, 3.5 * DAY).reply.txn_status == FAILED


@pytest.mark.parametrize("answer", [IN_PROGRESS, SILENT, WORKING, GIBBERISH, REFUSED])
def test_nothing_else_becomes_a_failure_by_age(answer: Answer) -> None:
    decision = SentTransfer.new().receive_answer(answer, age=30.0 * DAY)
    assert decision.reply.txn_status in (PENDING, PROCESSING)
    assert len(decision.jobs) == 1


def test_a_refused_query_leaves_the_transfer_open_and_is_repeated() -> None:
    sent = SentTransfer.new()
    asked = sent.after(sent.receive_answer(SILENT))
    assert asked.receive_answer(REFUSED, age=6).jobs[0].kind == QUERY


def test_the_trail_of_an_open_transfer_is_bounded_and_always_json() -> None:
    sent = SentTransfer.new()
    for hour in range(400):
        sent = sent.after(sent.receive_answer(IN_PROGRESS, age=hour * 3600.0 + 1))
    assert len(sent.row.trail) < MAX_TRAIL_LENGTH + 500
    assert len(msgspec.json.decode(sent.row.trail)) > 20
    (row,) = sent.receive_answer(APPROVED, age=400 * 3600.0).rows
    assert isinstance(row, Transaction)
    assert msgspec.json.decode(row.trail)[-1]["step"] == SUCCESSFUL


@pytest.mark.parametrize("text", ['"', "\\", '"},{"at":"', "\n", "💸"])
def test_the_message_of_a_bank_is_stored_unchanged(text: str) -> None:
    (row,) = SentTransfer.new().receive_answer(Answer(orders.FAILED, "05", text)).rows
    assert isinstance(row, Transaction)
    assert msgspec.json.decode(row.trail)[-1]["said"] == row.message == f"The beneficiary's bank: {text}"


# --- final is final ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [APPROVED, DECLINED, *OPEN])
@pytest.mark.parametrize("first", [APPROVED, DECLINED])
@pytest.mark.parametrize("job_is_gone", [True, False])
def test_a_contradiction_of_a_final_status_becomes_an_operator_notice(
    first: Answer, answer: Answer, job_is_gone: bool
) -> None:
    sent = SentTransfer.new()
    (row,) = sent.receive_answer(first).rows
    assert isinstance(row, Transaction)
    ended = SentTransfer(row, sent.job, sent.merchant, sent.has_webhook)
    decision = ended.receive_answer(answer, age=2.0 * DAY, job_is_gone=job_is_gone)
    contradicts = answer.status in (SUCCESSFUL, FAILED) and answer.status != first.status
    assert (decision.rows, decision.groups, decision.events, decision.jobs) == ((), (), (), ())
    assert (decision.reply.txn_status, decision.reply.message) == (first.status, row.message)
    assert decision.jobs_done == (() if job_is_gone else (sent.job,))
    assert len(decision.notices) == contradicts
    if contradicts:
        assert decision.notices[0].reference == row.txn_ref
        assert f"is {first.status}, but its rail now says {answer.status}" in decision.notices[0].message


# --- the ladder -------------------------------------------------------------------------------------------------

REQUERY_TIMES = [5, 30, 120, 600, 1800, *range(3600, DAY + 1, 3600)]

starts = st.integers(min_value=0, max_value=60 * 365 * DAY * 10**6).map(
    lambda after: datetime(1975, 1, 1, tzinfo=NOW.tzinfo) + timedelta(microseconds=after)
)


def climb(sent: SentTransfer, answer: Answer, rungs: int, first_age: float = 0.0) -> list[float]:
    """Returns the ages at which a transfer is queried if every query runs exactly on time."""
    ages, age, decision = [], first_age, sent.receive_answer(answer, first_age)
    for _ in range(rungs):
        if not decision.jobs:
            break
        sent = sent.after(decision)
        age = (sent.job.due - sent.row.created_at) / timedelta(seconds=1)
        ages.append(age)
        decision = sent.receive_answer(answer, age)
    return ages


@without_deadline(60)
@given(starts)
def test_an_unknown_outcome_follows_the_requery_schedule_to_exactly_one_day(start: datetime) -> None:
    assert climb(SentTransfer.new(context(start)), IN_PROGRESS, len(REQUERY_TIMES)) == REQUERY_TIMES


@without_deadline(60)
@given(starts)
def test_a_transfer_not_found_by_the_bank_fails_after_exactly_one_day(start: datetime) -> None:
    assert climb(SentTransfer.new(context(start)), NOT_FOUND, 100) == REQUERY_TIMES


@pytest.mark.parametrize("answer", OPEN)
def test_every_answer_without_a_result_follows_the_same_schedule(answer: Answer) -> None:
    assert climb(SentTransfer.new(), answer, 12) == REQUERY_TIMES[:12]


@given(st.integers(min_value=0, max_value=400 * DAY * 10**6), starts)
def test_the_next_query_is_in_the_future_at_the_next_scheduled_time(age_microseconds: int, start: datetime) -> None:
    now = start + timedelta(microseconds=age_microseconds)
    age = now.timestamp() - start.timestamp()
    query_age = (next_requery_at(now, age) - start) / timedelta(seconds=1)
    assert query_age > age
    hourly = (age_microseconds // (3600 * 10**6) + 1) * 3600
    after = [*REQUERY_TIMES[:5], hourly] if age_microseconds < 1800 * 10**6 else [hourly, hourly + 3600]
    assert any(abs(query_age - step) < 2e-6 for step in after if step > age - 0.002), (query_age, after)


def test_the_requery_schedule_is_that_of_the_contract() -> None:
    assert REQUERY_TIMES[:6] == [5, 30, 120, 600, 1800, 3600]
    assert all(later - earlier == 3600 for earlier, later in pairwise(REQUERY_TIMES[5:]))
    assert REQUERY_TIMES[-1] == DAY


def test_a_transfer_that_waited_for_its_rail_is_queried_soon_after_it_left() -> None:
    sent = SentTransfer.new()
    sent = sent.after(sent.receive_answer(REFUSED, 0))
    sent = sent.after(sent.receive_answer(REFUSED, 5))
    assert (sent.job.kind, sent.job.due) == (SEND, NOW + timedelta(seconds=30))
    ages = climb(sent, WORKING, 4, first_age=30)
    assert ages == [35, 60, 150, 630]


def times(decision_age: float, answer: Answer, **kwargs: Any) -> datetime:
    return SentTransfer.new(**kwargs).receive_answer(answer, decision_age).jobs[0].due


def test_a_late_query_continues_with_the_next_scheduled_time_and_skips_none() -> None:
    assert times(31.5, IN_PROGRESS) == NOW + timedelta(seconds=120)
    assert times(1800.0, IN_PROGRESS) == NOW + timedelta(seconds=3600)
    assert times(5 * 3600.0 + 12, IN_PROGRESS) == NOW + timedelta(hours=6)


# --- begun before the policy ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "source", "policy", "is_known"),
    [
        (SUCCESSFUL, WALLET, PayoutPolicy(approve_new_beneficiary=True), True),
        (FAILED, WALLET, PayoutPolicy(approve_new_beneficiary=True), False),
        (SUCCESSFUL, "beneficiary:BN1:NGN", PayoutPolicy(approve_new_beneficiary=True), False),
        (SUCCESSFUL, WALLET, PayoutPolicy(approve_above="0.00"), False),
        (SUCCESSFUL, WALLET, PayoutPolicy(), False),
    ],
)
def test_a_paid_transfer_from_before_the_policy_makes_its_beneficiary_known(
    status: str, source: str, policy: PayoutPolicy, is_known: bool
) -> None:
    sent, given = SentTransfer.new(), context(merchant=merchant(payouts=policy))
    data = decode_job_data(sent.job.work)
    data = msgspec.structs.replace(data, order=msgspec.structs.replace(data.order, source_account=source))
    ended = msgspec.structs.replace(sent.row, status=status)
    shown: dict[bytes, Row | None] = {key: None for _, key in need_beneficiary(given.merchant, data)}
    written = settle_counters(ended, data, given, LoadedRows(shown))
    assert [(one.paid_at, one.day_count, one.hour_count) for one in written] == ([(NOW, 0, 0)] if is_known else [])
    known = LoadedRows(shown | {one.key: one for one in written})
    assert settle_counters(ended, data, given, known) == ()
