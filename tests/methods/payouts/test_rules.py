"""The rules of payouts by schedule: when they are due, how much is paid out, and what ends them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.action import Write
from kasuwa.core.calendar import utc_text
from kasuwa.core.decision import Decision, Job
from kasuwa.ledger.chart import open_account
from kasuwa.methods.disburse.model import SEND, decode_job_data
from kasuwa.methods.payouts import actions
from kasuwa.methods.payouts.model import PAY_OUT, next_payout
from kasuwa.methods.payouts.rules import largest_transfer
from kasuwa.rails.ports.orders import NO_CALL_MADE
from kasuwa.terms.tariff import Tariff, calculate_transfer_fees
from kasuwa.transactions.transactions import Transaction, encode_text
from tests.hypothesis_settings import without_deadline
from tests.methods.payment.in_memory_payments import (
    APPROVED,
    DECLINED,
    IN_PROGRESS,
    InMemoryPayments,
    decode_fields,
)
from tests.rule_context import MERCHANT
from tests.walk.bounds import LEAST_BALANCE

WALLET = "wallet:main:NGN"
DEBT = "receivable:disputes:NGN"
[PAYOUT_STEP] = actions.STEPS


@pytest.mark.parametrize(
    ("frequency", "now", "due"),
    [
        ("daily", datetime(2026, 1, 5, 9, 30, tzinfo=UTC), datetime(2026, 1, 6, 8, tzinfo=UTC)),
        ("above", datetime(2026, 1, 5, 23, 30, tzinfo=UTC), datetime(2026, 1, 7, 8, tzinfo=UTC)),
        ("weekly", datetime(2026, 1, 5, 6, tzinfo=UTC), datetime(2026, 1, 12, 8, tzinfo=UTC)),
        ("weekly", datetime(2026, 1, 11, 6, tzinfo=UTC), datetime(2026, 1, 12, 8, tzinfo=UTC)),
        ("monthly", datetime(2026, 1, 31, 6, tzinfo=UTC), datetime(2026, 2, 1, 8, tzinfo=UTC)),
        ("monthly", datetime(2026, 12, 1, 6, tzinfo=UTC), datetime(2027, 1, 1, 8, tzinfo=UTC)),
    ],
)
def test_a_payout_is_due_at_nine_in_lagos(frequency: str, now: datetime, due: datetime) -> None:
    assert next_payout(frequency, now) == due


@without_deadline(200)
@given(st.integers(0, 20_000_000))
def test_a_payout_is_the_largest_that_the_balance_covers_with_its_fees(there: int) -> None:
    check_largest(MERCHANT.terms(Tariff), there)


# The ends of bands and the threshold of the stamp duty, with the fees of both sides.
PLACES = (500_000, 1_000_000, 5_000_000)


@pytest.mark.parametrize("place", PLACES)
def test_a_balance_at_the_end_of_a_band_leaves_no_more_than_it_must(place: int) -> None:
    for there in range(place - 100, place + 12_000, 7):
        check_largest(MERCHANT.terms(Tariff), there)


def check_largest(tariff: Tariff, there: int) -> None:
    def total(amount: int) -> int:
        return amount + calculate_transfer_fees(tariff, amount).total

    amount = largest_transfer(tariff, there)
    assert amount == 0 or total(amount) <= there
    # More is not covered: neither a kobo more, nor what the balance leaves beside the fees of any amount.
    assert all(total(more) > there for more in (amount + 1, *range(amount + 1, max(amount + 1, there), 997)))


class InMemoryPayouts(InMemoryPayments):
    """A merchant with a daily schedule of payouts."""

    def __init__(self, funds: int, **fields: Any) -> None:
        super().__init__(funds=funds, has_webhook=True, purposes=actions.PURPOSES)
        self.accounts[DEBT] = open_account(self.merchant.merchant_id, DEBT)
        schedule = {"frequency": "daily", "bankcode": "058", "accountnumber": "0000000000", **fields}
        [action] = [action for action in actions.RESOURCES if isinstance(action, Write)]
        request = decode_fields(action, schedule, self.merchant)
        self.decide(action.needs(request, self.merchant), lambda context, seen: action.decide(request, context, seen))

    @property
    def job(self) -> Job:
        [job] = [job for job in self.jobs() if job.kind == PAY_OUT]
        return job

    def pay_out(self, job: Job) -> Any:
        """Runs a job at its time. The rule also reads accounts, as rows."""
        self.now = max(self.now, job.due)
        self.rows |= {account.key: account for account in self.accounts.values()}
        needs = PAYOUT_STEP.needs(job, NO_CALL_MADE, self.merchant)
        return self.decide(needs, lambda context, seen: PAYOUT_STEP.decide(job, NO_CALL_MADE, context, seen))

    @property
    def transfer_job(self) -> Job:
        [job] = [job for job in self.jobs() if job.lane == "bank"]
        return job

    def announced(self) -> list[tuple[str, str]]:
        """Returns kind and status of the events so far."""
        payloads = [msgspec.json.decode(event.payload) for event in self.events]
        return [(one["kind"], one["txnStatus"]) for one in payloads]

    def delivered(self) -> set[str]:
        """Returns the references of the events that are delivered."""
        return {job.reference for job in self.jobs() if job.lane == "webhook"}


def paid_out(decision: Any) -> list[int]:
    assert isinstance(decision, Decision), decision
    return [row.amount + row.fee + row.vat + row.duty for row in decision.rows if isinstance(row, Transaction)]


def test_a_payout_leaves_what_is_held() -> None:
    books = InMemoryPayouts(500_000)
    books.account(WALLET).held = 200_000
    assert paid_out(books.pay_out(books.job)) == [300_000]


@LEAST_BALANCE.tries
def test_the_balance_and_not_what_the_fee_leaves_of_it_must_reach_the_least(value: int, is_within: bool) -> None:
    books = InMemoryPayouts(value, frequency="above", least="5000.00")
    assert paid_out(books.pay_out(books.job)) == ([value] if is_within else [])


def test_a_payout_leaves_what_the_merchant_owes() -> None:
    books = InMemoryPayouts(500_000)
    books.account(DEBT).posted, books.account("outside:funding:NGN").posted = -120_000, -380_000
    assert paid_out(books.pay_out(books.job)) == [380_000]


def test_a_job_that_is_run_twice_pays_once() -> None:
    """Money that comes in after a payout waits for the next day, also if the job of the payout comes again."""
    books = InMemoryPayouts(500_000)
    job = books.job
    assert paid_out(books.pay_out(job)) == [500_000]
    following = books.job
    books.account(WALLET).posted += 700_000
    books.account("outside:funding:NGN").posted -= 700_000
    assert paid_out(books.pay_out(job)) == []
    assert books.job == following
    assert paid_out(books.pay_out(following)) == [700_000]


def test_a_payout_is_announced_once_the_bank_has_paid_it() -> None:
    books = InMemoryPayouts(500_000)
    books.pay_out(books.job)
    books.receive_answer(books.transfer_job, IN_PROGRESS)
    assert books.announced() == []
    books.now += timedelta(days=1)
    books.receive_answer(books.transfer_job, APPROVED)
    assert books.announced() == [("transfer", "successful"), ("settlement", "successful")]
    [transfer, settlement] = books.events
    assert (settlement.reference, settlement.object_seq) == (f"ST20260107NGN {transfer.reference}", 1)
    assert settlement.object == settlement.reference
    assert msgspec.json.decode(settlement.payload)["txnRef"] == transfer.reference
    assert books.delivered() == {transfer.reference, settlement.reference}


def test_a_payout_that_failed_is_not_announced() -> None:
    books = InMemoryPayouts(500_000)
    books.pay_out(books.job)
    books.receive_answer(books.transfer_job, DECLINED)
    assert books.announced() == [("transfer", "failed")]


def test_a_payout_that_an_earlier_version_began_is_not_announced_again() -> None:
    """Its transfer has no purpose: it was announced when it began."""
    books = InMemoryPayouts(500_000)
    books.pay_out(books.job)
    job = books.transfer_job
    assert job.kind == SEND
    data = decode_job_data(job.work)
    earlier = msgspec.structs.replace(data, order=msgspec.structs.replace(data.order, purpose=None))
    books.rows[job.key] = job = msgspec.structs.replace(job, work=encode_text(earlier))
    books.receive_answer(job, APPROVED)
    assert books.announced() == [("transfer", "successful")]
    assert books.balance(WALLET) == 0


def test_a_suspended_merchant_is_paid_out_once_it_is_resumed() -> None:
    books = InMemoryPayouts(500_000)
    job, active = books.job, books.merchant
    books.merchant = msgspec.structs.replace(active, suspended=True)
    assert paid_out(books.pay_out(job)) == []
    assert [notice.message for notice in books.notices] == [
        "a payout by schedule was left out: the merchant is suspended"
    ]
    assert books.job.due == job.due + timedelta(days=1)
    books.merchant = active
    assert paid_out(books.pay_out(books.job)) == [500_000]


def test_a_suspended_merchant_with_an_empty_wallet_makes_no_notice() -> None:
    books = InMemoryPayouts(0)
    books.merchant = msgspec.structs.replace(books.merchant, suspended=True)
    assert paid_out(books.pay_out(books.job)) == []
    assert books.notices == []


def send_schedule(payouts: InMemoryPayouts, **fields: object) -> Any:
    [action] = [action for action in actions.RESOURCES if isinstance(action, Write)]
    request = decode_fields(action, fields, payouts.merchant)
    return payouts.decide(
        action.needs(request, payouts.merchant), lambda context, seen: action.decide(request, context, seen)
    )


SAME = {"frequency": "daily", "bankcode": "058", "accountnumber": "0000000000"}


def test_the_same_schedule_again_changes_nothing() -> None:
    payouts = InMemoryPayouts(1_000_000)
    before = dict(payouts.rows)
    due = payouts.job.due
    payouts.advance(hours=20)
    for fields in (SAME, {"frequency": "daily"}, {"frequency": "daily", "least": 0}):
        decision = send_schedule(payouts, **fields)
        assert (decision.rows, decision.jobs, decision.reply.message) == ((), (), "Payouts are scheduled")
        assert decision.reply.data.next_payout == utc_text(due)
    assert payouts.rows == before


def test_another_least_or_account_leaves_the_day_of_the_next_payout() -> None:
    payouts = InMemoryPayouts(1_000_000)
    due = payouts.job.due
    payouts.advance(hours=20)
    assert send_schedule(payouts, frequency="daily", least=10).reply.data.least == "10.00"
    assert payouts.job.due == due
    send_schedule(payouts, frequency="weekly")
    assert payouts.job.due == next_payout("weekly", payouts.now)


def test_payouts_that_are_off_stay_off() -> None:
    payouts = InMemoryPayouts(1_000_000)
    assert len(send_schedule(payouts, frequency="off").rows) == 1
    again = send_schedule(payouts, frequency="off")
    assert (again.rows, again.jobs_done, again.reply.message) == ((), (), "Payouts are off")
