"""The rules that close personalized accounts. Contract: resources#close-account"""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job, LoadedRows, Refusal, Row
from kasuwa.core.references import job_key
from kasuwa.methods.resources.model import ACCOUNT_JOB_DECODER, CLOSE_ACCOUNT
from kasuwa.methods.resources.rules.close_account import (
    STILL_OPENING,
    UNKNOWN_REFERENCE,
    decide_close,
    decide_close_answer,
)
from kasuwa.methods.resources.rules.erase import erase_owner
from kasuwa.methods.resources.rules.open_account import seal_owner
from kasuwa.methods.resources.wire import CloseAccountRequest
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.inbound_accounts import AccountOwner, PersonalizedAccountRow, personalized_key
from tests.rule_context import MERCHANT, NOW, context

KEY = personalized_key(MERCHANT.merchant_id, "r 1")
OPEN = PersonalizedAccountRow(
    key=KEY,
    merchant_id=MERCHANT.merchant_id,
    reference="r 1",
    account_number="9912345678",
    bank_code="035",
    bank_name="Wema Bank",
    bvn_sealed=None,
    created_at=NOW,
    state="open",
    rail="monnify",
    rail_reference="GP|PA|000000001|20260105X",
    facts='{"rail_id": "17"}',
    person_sealed=seal_owner(KEY, AccountOwner("Ada Obi", "ada@example.com"), context()),
)
DONE = Answer(orders.SUCCESSFUL, "00", "closed")


def request_close(row: PersonalizedAccountRow | None) -> Decision | Refusal:
    return decide_close(CloseAccountRequest(reference="r 1"), context(), LoadedRows({KEY: row}))


def begin(row: PersonalizedAccountRow = OPEN) -> tuple[PersonalizedAccountRow, Job]:
    decision = request_close(row)
    assert isinstance(decision, Decision)
    [closing], [job] = decision.rows, decision.jobs
    assert isinstance(closing, PersonalizedAccountRow)
    assert (decision.follow_up, decision.reply.status) == (job, 202)
    return closing, job


def answer_close(row: PersonalizedAccountRow, job: Job, answer: Answer, current: Job | None) -> Decision:
    rows: dict[bytes, Row | None] = {KEY: row, job_key(KEY): current}
    return decide_close_answer(job, answer, context(), LoadedRows(rows))


def test_the_rail_is_asked_with_its_own_identifiers() -> None:
    closing, job = begin()
    work = ACCOUNT_JOB_DECODER.decode(job.work)
    assert (closing.state, job.kind, job.reference) == ("closing", CLOSE_ACCOUNT, OPEN.rail_reference)
    assert (work.rail, work.facts) == ("monnify", {"rail_id": "17"})


@pytest.mark.parametrize(
    ("row", "refusal"),
    [
        (None, UNKNOWN_REFERENCE),
        (msgspec.structs.replace(OPEN, state="failed"), UNKNOWN_REFERENCE),
        (msgspec.structs.replace(OPEN, state="opening"), STILL_OPENING),
    ],
)
def test_what_is_not_open_is_refused(row: Any, refusal: Refusal) -> None:
    assert request_close(row) == refusal


def test_a_repeat_answers_how_far_it_is() -> None:
    closing, job = begin()
    waits = request_close(closing)
    assert isinstance(waits, Decision)
    assert (waits.in_progress, waits.is_provisional, waits.jobs) == (True, True, ())
    [closed] = answer_close(closing, job, DONE, job).rows
    assert isinstance(closed, PersonalizedAccountRow)
    again = request_close(closed)
    assert isinstance(again, Decision)
    assert (again.reply.status, again.rows, again.is_provisional) == (200, (), False)


def test_the_rails_confirmation_closes_it_and_has_one_event() -> None:
    closing, job = begin()
    decision = answer_close(closing, job, DONE, job)
    [closed], [event] = decision.rows, decision.events
    assert isinstance(closed, PersonalizedAccountRow)
    assert (closed.state, closed.closed_at, decision.jobs_done) == ("closed", NOW, (job,))
    assert msgspec.json.decode(event.payload)["accountReference"] == "r 1"
    late = answer_close(closed, job, DONE, None)
    assert (late.rows, late.events, late.reply.status) == ((), (), 200)


@pytest.mark.parametrize("status", [orders.UNAVAILABLE, orders.UNKNOWN, orders.PROCESSING])
def test_a_rail_that_does_not_answer_is_asked_until_it_does(status: str) -> None:
    closing, job = begin()
    answer = Answer(status, None, "words", notice="look")
    decision = answer_close(closing, job, answer, job)
    [again], [waiting] = decision.jobs, decision.rows
    assert isinstance(waiting, PersonalizedAccountRow)
    assert (again.kind, again.due > job.due, decision.reply.status, decision.events) == (CLOSE_ACCOUNT, True, 202, ())
    assert (decision.is_provisional, len(decision.notices)) == (True, 1)
    assert answer_close(waiting, again, answer, again).notices == ()


def test_an_account_that_the_rail_does_not_close_is_open_again() -> None:
    closing, job = begin()
    decision = answer_close(closing, job, Answer(orders.FAILED, "05", "not now"), job)
    [kept] = decision.rows
    assert isinstance(kept, PersonalizedAccountRow)
    assert (kept.state, decision.jobs_done, decision.events) == ("open", (job,), ())
    assert decision.reply == Refusal(
        204, "The account could not be closed and stays open: not now", error_code="account_not_closed"
    )
    assert [notice.message for notice in decision.notices] == ["monnify does not close account 9912345678"]


# --- erasure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["open", "closed", "failed"])
def test_an_erased_account_keeps_its_number_without_its_owner(state: str) -> None:
    row = msgspec.structs.replace(OPEN, state=state, bvn_sealed=b"bvn", person_sealed=b"owner")
    erased = erase_owner(row)
    assert isinstance(erased, PersonalizedAccountRow)
    assert erased == msgspec.structs.replace(row, bvn_sealed=None, person_sealed=None)
    assert erase_owner(erased) == erased


@pytest.mark.parametrize("state", ["opening", "closing"])
def test_an_account_that_the_rail_is_asked_about_is_not_erased(state: str) -> None:
    assert erase_owner(msgspec.structs.replace(OPEN, state=state)) == TRANSACTION_IN_PROGRESS
