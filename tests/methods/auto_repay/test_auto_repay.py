"""Automatic collection in memory: what is agreed, when it is collected and from what, declines, retries and ends."""

from datetime import date
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Refusal
from kasuwa.methods.auto_repay.rules.agree import FIXED_SOURCE, NOT_AGREED, OTHER_CLIENT, UNKNOWN_TOKEN
from kasuwa.methods.auto_repay.rules.dates import RUN
from kasuwa.methods.investments.model import SAVINGS_CLOSED, SAVINGS_DORMANT, UNKNOWN_SAVINGS
from kasuwa.methods.loans.model import UNKNOWN_LOAN
from kasuwa.methods.loans.rules.auto_repay_record import make_auto_repay_record
from tests.methods.auto_repay.collecting_lender import (
    CHARGE,
    EXPIRED,
    PAID,
    SHORT,
    TOKEN,
    UNKNOWN,
    CollectingLender,
)
from tests.methods.guarantees.guaranteed_lender import PLAIN
from tests.walk.bounds import COLLECT_HOUR, RETRIES, RETRY_DAY

# The loan of 1000.00 is paid out on 2026-01-31 and falls due on these days.
DAYS = ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]


@pytest.fixture
def lender() -> CollectingLender:
    return CollectingLender()


# --- agreeing ---------------------------------------------------------------------------------------------------


def test_an_agreement_names_what_comes_next(lender: CollectingLender) -> None:
    record = lender.agree().data
    assert (record.state, record.source, record.at, record.retry) == ("active", "wallet", "09", [1, 3, 7])
    assert (record.next_step, record.next_date, record.collect_date) == ("notice", "2026-02-27", "2026-02-28")
    assert (record.next_amount, record.attempts, record.collected) == ("250.00", 0, "0.00")
    assert [job.due for job in lender.jobs(RUN)] == [lender.auto.next_at]


def test_a_dry_run_explains_and_stores_nothing(lender: CollectingLender) -> None:
    reply = lender.agree(dry_run=True)
    assert (reply.dry_run, reply.data.auto_repay_id, lender.jobs(RUN)) == (True, None, [])
    [figure] = reply.explained
    assert figure.amount == "250.00"
    assert "2026-02-28, from the wallet, at 09:00" in figure.how
    assert "again on 2026-03-01, 2026-03-03, 2026-03-07" in figure.how
    assert "not tried again" in lender.agree(dry_run=True, retry=[]).explained[0].how


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"source": "token"}, "token"),
        ({"source": "savings"}, "savings_id"),
        ({"token": "card.1"}, "token"),
        ({"savings_id": "SV1"}, "savings_id"),
        ({"retry": [3, 1]}, "retry"),
        ({"retry": [1, 1]}, "retry"),
    ],
)
def test_terms_that_make_no_sense_are_refused(lender: CollectingLender, fields: dict[str, Any], code: str) -> None:
    refused = lender.agree(**fields)
    assert isinstance(refused, Refusal)
    assert [error.field for error in refused.field_errors] == [code]


@COLLECT_HOUR.tries
def test_a_loan_is_collected_at_an_hour_from_0_to_23(lender: CollectingLender, value: int, is_within: bool) -> None:
    assert isinstance(lender.agree(at=value), Refusal) != is_within


@RETRY_DAY.tries
def test_a_retry_is_made_after_1_to_30_days(lender: CollectingLender, value: int, is_within: bool) -> None:
    assert isinstance(lender.agree(retry=[value]), Refusal) != is_within


@RETRIES.tries
def test_there_are_5_retries_and_no_more(lender: CollectingLender, value: int, is_within: bool) -> None:
    assert isinstance(lender.agree(retry=list(range(1, value + 1))), Refusal) != is_within


def test_an_unknown_loan_is_not_collected(lender: CollectingLender) -> None:
    assert lender.agree(loan_id="LNnobody") == UNKNOWN_LOAN
    assert lender.stop(loan_id="LNnobody") == UNKNOWN_LOAN
    assert lender.stop() == NOT_AGREED


def test_a_closed_loan_is_not_collected(lender: CollectingLender) -> None:
    lender.repay(lender.loan_id, "1000.00")
    refused = lender.agree()
    assert refused.message == "The loan is closed_repaid and cannot be collected"


def test_an_unknown_card_is_refused(lender: CollectingLender) -> None:
    assert lender.agree("token", token="nobody.1") == UNKNOWN_TOKEN
    lender.save_card()
    assert lender.agree("token", token=TOKEN).data.token == "card****"
    lender.erase_card()
    assert lender.agree("token", token=TOKEN) == UNKNOWN_TOKEN


def test_savings_that_cannot_pay_are_refused(lender: CollectingLender) -> None:
    assert lender.agree("savings", savings_id="SVnobody") == UNKNOWN_SAVINGS
    other = lender.member("BOLA")
    assert lender.agree("savings", savings_id=other) == OTHER_CLIENT
    fixed = lender.save("10.00", period=None, term_days=30)
    assert lender.agree("savings", savings_id=fixed) == FIXED_SOURCE
    closed = lender.save("10.00")
    lender.cash_out("CL1", "10.00")
    assert lender.agree("savings", savings_id=closed) == SAVINGS_CLOSED


def test_dormant_savings_are_refused(lender: CollectingLender) -> None:
    dormant = lender.save("10.00")
    lender.to_day("2027-02-02")
    assert lender.agree("savings", savings_id=dormant) == SAVINGS_DORMANT


# --- collecting -------------------------------------------------------------------------------------------------


def test_a_loan_is_collected_on_each_due_date_and_ends(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day("2026-06-30")
    assert lender.attempts() == [(day, "collected", 25_000, "") for day in DAYS]
    assert (lender.loan(lender.loan_id).state, lender.auto.state, lender.jobs(RUN)) == ("closed_repaid", "ended", [])
    due, collected = ("loan_due", ""), ("loan_collected", "")
    assert [event[:2] for event in lender.list_steps()] == [due, collected] * 4
    assert lender.list_steps()[0] == ("loan_due", "", "2026-02-28")
    assert lender.list_steps()[1] == ("loan_collected", "", "2026-03-30")
    assert lender.list_steps()[-1] == ("loan_collected", "", "")


def test_what_is_agreed_already_keeps_its_plan_and_tells_nobody_again(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day(DAYS[0], 8)
    before, jobs = lender.auto, lender.jobs(RUN)
    assert lender.agree().data.next_step == "collect"
    assert (lender.auto, lender.jobs(RUN)) == (before, jobs)
    lender.to_day(DAYS[0])
    assert [event[0] for event in lender.list_steps()] == ["loan_due", "loan_collected"]
    assert lender.agree(at=18).data.next_step == "notice"
    assert lender.jobs(RUN) != jobs


def test_it_is_collected_at_the_hour_that_was_agreed_on(lender: CollectingLender) -> None:
    lender.agree(at=18)
    lender.to_day(DAYS[0], 17)
    assert lender.attempts() == []
    lender.to_day(DAYS[0], 18)
    assert len(lender.attempts()) == 1


def test_what_was_paid_before_is_not_collected(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day(DAYS[0], 8)
    lender.repay(lender.loan_id, "100.00")
    lender.to_day(DAYS[0])
    assert lender.attempts() == [(DAYS[0], "collected", 15_000, "")]
    lender.to_day(DAYS[1], 8)
    lender.repay(lender.loan_id, "250.00")
    lender.to_day("2026-04-01")
    assert len(lender.attempts()) == 1
    assert lender.next == "2026-04-29"


def test_a_day_on_which_nothing_will_be_due_is_passed(lender: CollectingLender) -> None:
    lender.agree()
    assert lender.repay(lender.loan_id, "999.99").data.state == "active"
    lender.to_day("2026-06-30")
    assert [(attempt[1], attempt[2]) for attempt in lender.attempts()] == [("collected", 1)]


def test_what_is_due_already_is_collected_when_the_hour_comes(lender: CollectingLender) -> None:
    lender.to_day("2026-03-10", 12)
    record = lender.agree().data
    assert (record.next_step, record.next_date, record.collect_date) == ("notice", "2026-03-10", "2026-03-11")
    lender.to_day("2026-03-10", 13)
    assert (lender.list_steps(), lender.attempts()) == ([("loan_due", "", "2026-03-11")], [])
    lender.to_day("2026-03-11")
    assert lender.attempts() == [("2026-03-11", "collected", 25_000, "")]
    assert lender.next == "2026-03-30"


def test_arrears_are_collected_with_their_penalties(lender: CollectingLender) -> None:
    late = CollectingLender(penalty_rate="1")
    late.to_day("2026-03-10", 8)
    late.agree()
    late.to_day("2026-03-10")
    assert late.attempts() == [("2026-03-10", "collected", 25_000 + 10 * 250, "")]


def test_a_loan_is_collected_once_it_is_paid_out(lender: CollectingLender) -> None:
    lender.add_client("CL2")
    lender.loan_id = lender.request(client_id="CL2", **PLAIN).data.loan_id
    record = lender.agree().data
    assert (record.next_step, record.next_date, record.collect_date) == ("payout", "2026-02-01", None)
    assert "nothing until the loan is paid out" in lender.agree(dry_run=True).explained[0].how
    lender.to_day("2026-02-02", 8)
    lender.process(lender.loan_id)
    lender.to_day("2026-02-02")
    assert lender.next == "2026-03-01"
    lender.to_day("2026-03-02")
    assert lender.attempts() == [("2026-03-02", "collected", 25_000, "")]


def test_it_ends_with_a_loan_that_is_rejected(lender: CollectingLender) -> None:
    lender.loan_id = lender.request(**PLAIN).data.loan_id
    lender.agree()
    lender.process(lender.loan_id, "reject")
    lender.to_day("2026-02-02")
    assert (lender.auto.state, lender.jobs(RUN)) == ("ended", [])


def test_it_ends_with_a_loan_that_is_written_off(lender: CollectingLender) -> None:
    lender.agree()
    lender.write_off(lender.loan_id)
    assert lender.stop(dry_run=True).data.state == "ended"
    lender.to_day("2026-03-02")
    assert (lender.auto.state, lender.attempts()) == ("ended", [])


def test_a_worker_that_was_down_collects_once_what_is_due(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day("2026-02-27")
    [job] = lender.jobs(RUN)
    lender.now = lender.now.replace(month=4, day=10)
    lender.run(job)
    assert lender.attempts() == [(DAYS[0], "collected", 50_000, "")]
    assert lender.next == "2026-04-29"


def test_a_run_that_was_made_before_does_nothing(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day("2026-02-27")
    [job] = lender.jobs(RUN)
    lender.now = job.due
    lender.run(job)
    lender.run(job)
    assert len(lender.attempts()) == 1


# --- from savings -----------------------------------------------------------------------------------------------


def test_savings_pay_whole_or_not_at_all(lender: CollectingLender) -> None:
    savings_id = lender.save("300.00")
    lender.agree("savings", savings_id=savings_id)
    wallet = lender.wallet()
    lender.to_day("2026-03-01")
    assert (lender.available("CL1"), lender.wallet()) == (5_000, wallet + 25_000)
    lender.to_day(DAYS[1])
    assert lender.attempts()[1:] == [(DAYS[1], "declined", 25_000, "savings_short")]
    assert lender.list_steps()[-1] == ("loan_collection_failed", "failed", "2026-04-01")
    lender.deposit("CL1", "200.00")
    lender.to_day("2026-04-02")
    assert lender.attempts()[2:] == [(DAYS[1], "collected", 25_000, "")]
    assert (lender.available("CL1"), lender.auto.reason) == (0, "")


def test_retries_are_made_after_1_3_and_7_days_and_then_given_up(lender: CollectingLender) -> None:
    lender.agree("savings", savings_id=lender.save("0.01"))
    lender.to_day("2026-03-20")
    failed = "loan_collection_failed"
    assert lender.list_steps()[1:] == [
        (failed, "failed", "2026-03-01"),
        (failed, "failed", "2026-03-03"),
        (failed, "failed", "2026-03-07"),
        (failed, "missed", "2026-03-30"),
    ]
    assert (lender.auto.missed, lender.auto.attempts) == (1, 4)
    lender.deposit("CL1", "500.00")
    lender.to_day(DAYS[1])
    assert lender.attempts()[-1] == (DAYS[1], "collected", 50_000, "")


def test_retries_are_those_that_were_agreed_on(lender: CollectingLender) -> None:
    lender.agree("savings", savings_id=lender.save("0.01"), retry=[2, 30])
    lender.to_day("2026-03-20")
    assert [event[1:] for event in lender.list_steps()[1:]] == [("failed", "2026-03-02"), ("failed", "2026-03-30")]
    lender.to_day("2026-03-30")
    assert [event[1] for event in lender.list_steps() if event[1]] == ["failed", "failed", "missed"]


def test_a_retry_is_not_made_on_the_next_due_date(lender: CollectingLender) -> None:
    lender.add_client("CL2")
    weekly = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_week"}}
    lender.loan_id = lender.lend(client_id="CL1", **weekly)
    lender.agree("savings", savings_id=lender.save("0.01"))
    lender.to_day("2026-02-14", 8)
    steps = [event[1:] for event in lender.list_steps() if event[0] == "loan_collection_failed"]
    assert steps == [("failed", "2026-02-08"), ("failed", "2026-02-10"), ("missed", "2026-02-13")]


def test_it_pauses_after_three_due_dates_that_were_missed(lender: CollectingLender) -> None:
    lender.agree("savings", savings_id=lender.save("0.01"), retry=[])
    lender.to_day("2026-06-30")
    assert [event[1] for event in lender.list_steps() if event[1]] == ["missed", "missed", "paused"]
    assert (lender.auto.state, lender.auto.reason, lender.jobs(RUN)) == ("paused", "savings_short", [])
    assert lender.agree().data.next_date == "2026-06-30"


def test_it_pauses_when_the_last_due_date_is_missed(lender: CollectingLender) -> None:
    lender.agree("savings", savings_id=lender.save("750.00"), retry=[])
    lender.to_day("2026-06-30")
    assert (lender.auto.state, lender.auto.missed, lender.auto.collections) == ("paused", 1, 3)


def test_savings_that_are_held_say_so(lender: CollectingLender) -> None:
    savings_id = lender.save("300.00")
    lender.add_client("CL2")
    other = lender.request(client_id="CL2", **PLAIN).data.loan_id
    lender.pledge(other, "CL1", "200.00")
    lender.agree("savings", savings_id=savings_id)
    lender.to_day(DAYS[0])
    assert lender.attempts() == [(DAYS[0], "declined", 25_000, "savings_held")]


def test_savings_that_became_dormant_say_so() -> None:
    lender = CollectingLender()
    yearly = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_four_weeks"}, "period": 30}
    savings_id = lender.save("1000.00")
    lender.loan_id = lender.lend(**yearly)
    lender.agree("savings", savings_id=savings_id, retry=[])
    lender.to_day("2027-03-20")
    assert {attempt[3] for attempt in lender.attempts()} == {"", "savings_dormant"}
    assert lender.auto.reason == "savings_dormant"


def test_savings_that_were_closed_pause_it_at_once(lender: CollectingLender) -> None:
    savings_id = lender.save("300.00")
    lender.agree("savings", savings_id=savings_id)
    lender.cash_out("CL1", "300.00")
    lender.to_day("2026-03-20")
    assert lender.attempts() == [(DAYS[0], "declined", 25_000, "savings_closed")]
    assert (lender.auto.state, lender.list_steps()[-1][1:]) == ("paused", ("paused", ""))


# --- from the wallet --------------------------------------------------------------------------------------------


def test_a_wallet_that_is_short_declines() -> None:
    # Enough to pay the loan out and its fees, and little more.
    lender = CollectingLender()
    lender.agree()
    spent = lender.lend(client_id="CL1", **{**PLAIN, "amount": str((lender.wallet() - 10_000) // 100)})
    assert spent
    lender.to_day(DAYS[0])
    assert lender.attempts() == [(DAYS[0], "declined", 25_000, "wallet_short")]


# --- from a card ------------------------------------------------------------------------------------------------


@pytest.fixture
def carded(lender: CollectingLender) -> CollectingLender:
    lender.save_card()
    assert lender.agree("token", token=TOKEN).data.state == "active"
    return lender


def test_a_card_is_charged_and_its_end_plans_the_next_day(carded: CollectingLender) -> None:
    carded.to_day(DAYS[0])
    assert carded.attempts() == [(DAYS[0], "charging", 25_000, "")]
    assert (carded.jobs(RUN), carded.auto.next_at, carded.client().pending_payments) == ([], None, 1)
    assert carded.stop(dry_run=True).data.state == "stopped"
    carded.card_answers = [PAID]
    carded.to_day("2026-03-01")
    assert carded.attempts() == [(DAYS[0], "collected", 25_000, "")]
    assert (carded.next, carded.auto.charging, carded.client().pending_payments) == ("2026-03-30", "", 0)


def test_a_card_pays_the_whole_loan(carded: CollectingLender) -> None:
    carded.card_answers = [PAID] * 4
    carded.to_day("2026-06-01")
    assert (carded.loan(carded.loan_id).state, carded.auto.state) == ("closed_repaid", "ended")
    assert (carded.auto.collections, carded.auto.collected) == (4, 100_000)


def test_a_soft_decline_is_retried(carded: CollectingLender) -> None:
    carded.card_answers = [SHORT, PAID]
    carded.to_day(DAYS[0])
    assert (carded.attempts(), carded.next) == ([(DAYS[0], "declined", 25_000, "card_declined")], "2026-03-01")
    carded.to_day("2026-03-01")
    assert carded.attempts()[1:] == [(DAYS[0], "collected", 25_000, "")]


def test_any_other_decline_pauses_at_once(carded: CollectingLender) -> None:
    carded.card_answers = [EXPIRED]
    carded.to_day("2026-03-20")
    assert (carded.auto.state, carded.auto.attempts) == ("paused", 1)
    assert carded.list_steps()[-1] == ("loan_collection_failed", "paused", "")


def test_a_card_that_was_erased_pauses_it(carded: CollectingLender) -> None:
    carded.erase_card()
    carded.to_day("2026-03-20")
    assert carded.attempts() == [(DAYS[0], "declined", 25_000, "card_erased")]
    assert carded.auto.state == "paused"


def test_a_charge_that_succeeds_after_the_loan_was_repaid_is_credit(carded: CollectingLender) -> None:
    carded.to_day(DAYS[0])
    carded.repay(carded.loan_id, "1000.00")
    carded.card_answers = [PAID]
    carded.to_day("2026-03-01")
    assert (carded.client().credit, carded.auto.state, carded.auto.collected) == (25_000, "ended", 25_000)
    assert carded.jobs(RUN) == []


def test_a_charge_that_is_in_progress_is_not_made_again(carded: CollectingLender) -> None:
    carded.card_answers = [UNKNOWN]
    carded.to_day("2026-04-20")
    assert carded.attempts() == [(DAYS[0], "charging", 25_000, "")]
    assert carded.jobs(RUN) == []


def test_what_is_agreed_already_is_unchanged_during_a_charge(carded: CollectingLender) -> None:
    carded.card_answers = [SHORT]
    carded.to_day("2026-03-01")
    auto = carded.auto
    assert (auto.tries, auto.charging != "") == (2, True)
    assert carded.agree("token", token=TOKEN).data.next_step == "charging"
    assert carded.auto == auto
    carded.card_answers = [SHORT]
    carded.to_day("2026-03-02")
    assert carded.next == "2026-03-03"


@pytest.mark.parametrize(("answer", "amount"), [(PAID, 25_000), (SHORT, 50_000)])
def test_a_due_date_that_passed_during_a_charge_is_collected_next(
    carded: CollectingLender, answer: Any, amount: int
) -> None:
    carded.to_day("2026-04-05")
    carded.card_answers = [answer, PAID]
    carded.to_day("2026-04-06")
    assert [(day, amount) for day, _, amount, _ in carded.attempts()] == [(DAYS[0], 25_000), ("2026-04-06", amount)]
    assert (carded.auto.due_on, carded.auto.state) == (date(2026, 4, 30), "active")


def test_a_charge_ends_after_it_was_stopped(carded: CollectingLender) -> None:
    carded.to_day(DAYS[0])
    assert carded.stop().data.state == "stopped"
    carded.card_answers = [PAID]
    carded.to_day("2026-03-20")
    assert (carded.auto.state, carded.auto.collected, carded.jobs(RUN)) == ("stopped", 25_000, [])


@pytest.mark.parametrize(("answer", "collected"), [(PAID, 25_000), (SHORT, 0), (EXPIRED, 0)])
def test_a_new_agreement_waits_for_the_charge_in_progress(
    carded: CollectingLender, answer: Any, collected: int
) -> None:
    carded.to_day(DAYS[0])
    record = carded.agree("wallet").data
    assert (record.state, record.next_step, record.next_date) == ("active", "charging", None)
    carded.card_answers = [answer]
    carded.to_day(DAYS[0], 13)
    assert (carded.auto.state, carded.auto.collected) == ("active", collected)
    carded.to_day("2026-03-01")
    assert carded.auto.collected == 25_000
    assert carded.jobs(CHARGE) == []


# --- due dates that move ----------------------------------------------------------------------------------------


def test_a_due_date_that_is_moved_earlier_is_collected(lender: CollectingLender) -> None:
    lender.agree()
    lender.reschedule(lender.loan_id, first_due="2026-02-10")
    assert (lender.next, len(lender.jobs(RUN))) == ("2026-02-09", 1)
    lender.to_day("2026-03-11")
    assert lender.attempts() == [(day, "collected", 25_000, "") for day in ("2026-02-10", "2026-03-10")]


def test_a_due_date_that_is_moved_later_is_collected_then(lender: CollectingLender) -> None:
    lender.agree()
    lender.reschedule(lender.loan_id, first_due="2026-03-20")
    lender.to_day("2026-03-21")
    assert lender.attempts() == [("2026-03-20", "collected", 25_000, "")]


def test_a_retry_does_not_wait_beyond_a_due_date_that_is_moved_earlier(lender: CollectingLender) -> None:
    lender.agree("savings", savings_id=lender.save("0.00"), retry=[20])
    lender.to_day(DAYS[0])
    lender.reschedule(lender.loan_id, first_due="2026-03-05")
    lender.to_day("2026-03-06")
    assert [attempt[:3] for attempt in lender.attempts()] == [
        (DAYS[0], "declined", 25_000),
        ("2026-03-05", "declined", 50_000),
    ]


def test_a_due_date_whose_repayment_was_taken_back_is_collected(lender: CollectingLender) -> None:
    txn_ref = lender.repay(lender.loan_id, "999.99").txn_ref
    lender.agree()
    assert lender.auto.due_on == date(2026, 5, 31)
    lender.reverse(txn_ref)
    lender.to_day(DAYS[0])
    assert lender.attempts() == [(DAYS[0], "collected", 25_000, "")]


def test_a_due_date_that_owes_again_by_a_charge_is_collected(lender: CollectingLender) -> None:
    lender.repay(lender.loan_id, "999.99")
    lender.agree()
    assert lender.auto.due_on == date(2026, 5, 31)
    lender.charge(lender.loan_id, "5.00", due=DAYS[0], dry_run=True)
    assert lender.auto.due_on == date(2026, 5, 31)
    lender.charge(lender.loan_id, "5.00", due=DAYS[0])
    lender.to_day(DAYS[0])
    assert lender.attempts() == [(DAYS[0], "collected", 500, "")]


def test_a_due_date_that_owes_again_before_its_hour_is_collected_then(lender: CollectingLender) -> None:
    txn_ref = lender.repay(lender.loan_id, "999.99").txn_ref
    lender.agree(at=18)
    lender.to_day(DAYS[0], 12)
    assert lender.auto.due_on == date(2026, 5, 31)
    lender.reverse(txn_ref)
    lender.to_day(DAYS[0], 18)
    assert lender.attempts() == [(DAYS[0], "collected", 25_000, "")]
    assert lender.list_steps()[0] == ("loan_due", "", DAYS[0])


def test_a_due_date_that_owes_again_after_its_hour_is_collected_with_the_next(lender: CollectingLender) -> None:
    txn_ref = lender.repay(lender.loan_id, "999.99").txn_ref
    lender.agree(at=8)
    lender.to_day(DAYS[0], 12)
    lender.reverse(txn_ref)
    lender.to_day(DAYS[1])
    assert lender.attempts() == [(DAYS[1], "collected", 50_000, "")]


# --- stopped, agreed on again, taken back -----------------------------------------------------------------------


def test_a_stopped_collection_collects_nothing_until_it_is_agreed_on_again(lender: CollectingLender) -> None:
    lender.agree()
    assert lender.stop(dry_run=True).data.state == "stopped"
    assert lender.auto.state == "active"
    assert lender.stop().message == "Automatic Collection Stopped"
    assert lender.stop().data.state == "stopped"
    lender.to_day("2026-03-20", 12)
    assert (lender.attempts(), lender.jobs(RUN)) == ([], [])
    lender.agree(at=13)
    lender.to_day("2026-03-20", 14)
    assert lender.attempts() == [("2026-03-20", "collected", 25_000, "")]


def test_a_collection_stopped_while_its_loan_is_closed_does_not_begin_again(lender: CollectingLender) -> None:
    lender.agree()
    txn_ref = lender.repay(lender.loan_id, "1000.00").txn_ref
    assert lender.stop().data.state == "ended"
    assert (lender.auto.state, lender.jobs(RUN)) == ("ended", [])
    lender.reverse(txn_ref)
    lender.to_day(DAYS[0])
    assert (lender.loan(lender.loan_id).state, lender.attempts()) == ("active", [])


def test_a_new_agreement_takes_the_place_of_the_old_one(lender: CollectingLender) -> None:
    first = lender.agree("savings", savings_id=lender.save("0.01")).data
    second = lender.agree("wallet", at=15).data
    assert (second.auto_repay_id, second.source, second.at) == (first.auto_repay_id, "wallet", "15")
    lender.to_day(DAYS[0], 15)
    assert lender.attempts() == [(DAYS[0], "collected", 25_000, "")]


def test_what_is_agreed_already_is_agreed_again_without_a_change(lender: CollectingLender) -> None:
    first, [job] = lender.agree(at=15), lender.jobs(RUN)
    auto = lender.auto
    lender.to_day("2026-02-10")
    assert lender.agree(at=15).data == first.data
    assert (lender.auto, lender.jobs(RUN)) == (auto, [job])
    assert lender.agree(at=16).data.at == "16"


def test_an_agreement_again_after_a_decline_begins_anew(lender: CollectingLender) -> None:
    savings_id = lender.save("0.01")
    lender.agree("savings", savings_id=savings_id)
    lender.to_day(DAYS[0])
    lender.deposit("CL1", "500.00")
    assert lender.auto.tries == 1
    record = lender.agree("savings", savings_id=savings_id).data
    assert (record.next_date, record.collect_date, lender.auto.tries) == ("2026-02-28", "2026-03-01", 0)


def test_a_reversed_collection_pauses_it(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day("2026-03-01")
    [txn_ref] = [payload["txnRef"] for payload in repayments(lender)]
    assert lender.reverse(txn_ref, dry_run=True).dry_run
    assert lender.auto.state == "active"
    lender.reverse(txn_ref)
    assert (lender.auto.state, lender.auto.reason, lender.jobs(RUN)) == ("paused", "repayment_reversed", [])
    assert lender.list_steps()[-1] == ("loan_collection_failed", "paused", "")
    lender.to_day("2026-04-20", 8)
    assert lender.auto.attempts == 1
    lender.agree()
    lender.to_day("2026-04-20")
    assert lender.attempts()[1:] == [("2026-04-20", "collected", 50_000, "")]


@pytest.mark.parametrize("how", ["repaid", "written off"])
def test_a_paused_collection_has_ended_with_its_loan(lender: CollectingLender, how: str) -> None:
    lender.agree("savings", savings_id=lender.save("0.00"), retry=[])
    lender.to_day("2026-04-30")
    assert lender.auto.state == "paused"
    repaid = lender.repay(lender.loan_id, "1000.00") if how == "repaid" else lender.write_off(lender.loan_id)
    assert make_auto_repay_record(lender.auto, lender.loan(lender.loan_id)).state == "ended"
    if how == "repaid":
        lender.reverse(repaid.txn_ref)
        assert make_auto_repay_record(lender.auto, lender.loan(lender.loan_id)).state == "paused"


def test_a_reversal_of_another_repayment_does_not_pause_it(lender: CollectingLender) -> None:
    lender.agree()
    txn_ref = lender.repay(lender.loan_id, "100.00").txn_ref
    lender.reverse(txn_ref)
    assert lender.auto.state == "active"
    lender.to_day(DAYS[0])
    assert lender.attempts() == [(DAYS[0], "collected", 25_000, "")]


def test_a_repayment_with_its_identifier_as_reference_is_no_collection(lender: CollectingLender) -> None:
    auto_repay_id = lender.agree().data.auto_repay_id
    lender.to_day("2026-03-01")
    txn_ref = lender.repay(lender.loan_id, "100.00", customer_txnref=auto_repay_id).txn_ref
    lender.reverse(txn_ref)
    assert (lender.auto.state, lender.auto.collected, len(lender.jobs(RUN))) == ("active", 25_000, 1)
    [collected] = [one["txnRef"] for one in repayments(lender) if one["txnRef"] != txn_ref]
    lender.reverse(collected)
    assert (lender.auto.state, lender.auto.reason) == ("paused", "repayment_reversed")


def test_a_reversal_after_the_end_does_not_begin_it_again(lender: CollectingLender) -> None:
    lender.agree()
    lender.to_day("2026-06-30")
    lender.reverse(repayments(lender)[-1]["txnRef"])
    assert (lender.loan(lender.loan_id).state, lender.auto.state) == ("active_in_arrears", "ended")


def repayments(lender: CollectingLender) -> list[dict[str, Any]]:
    events = [event for event in lender.database.events if event.kind == "repayment"]
    return [msgspec.json.decode(event.payload) for event in events]
