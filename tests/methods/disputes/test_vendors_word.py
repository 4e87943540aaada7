"""The vendor's word about a dispute: our state, what the vendor says then, and what the books and the merchant see.

A dispute that a vendor announced is ended by the vendor alone: no deadline of ours takes money that the vendor holds,
and its final word corrects what was booked before, however late it comes.
"""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.methods.disputes.model import ALREADY_ENDED, Dispute
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.event_payloads import DisputeEvent
from tests.methods.disputes.in_memory_disputes import FUNDS, OUTCOME, InMemoryDisputes
from tests.methods.payment.in_memory_payments import PaymentInProgress, paid_card
from tests.rule_context import merchant

EVIDENCE = {"explanation": "The parcel was delivered."}

# What the vendor answers when it is asked.
SILENT = orders.RAIL_SILENT
AWAY = Answer(orders.UNAVAILABLE, None, "The rail is not available", retry_after=7200)
UNKNOWN = Answer(orders.NOT_FOUND, None, "it is not known there")
WAITING = Answer(orders.SUCCESSFUL, None, "awaiting-merchant-feedback", {"due_at": "1767225600.0"})
REVIEW = Answer(orders.SUCCESSFUL, None, "awaiting-bank-feedback", {"under_review": "yes"})
UNREADABLE = Answer(orders.SUCCESSFUL, None, "resolved enchanted")
WON = Answer(orders.SUCCESSFUL, None, "resolved declined", {"outcome": "won"})
LOST = Answer(orders.SUCCESSFUL, None, "resolved auto-accepted", {"outcome": "lost"})


class Story:
    """A payment, and the dispute that a vendor announced of it."""

    def __init__(self, funds: int = FUNDS, **settings: Any) -> None:
        self.books = InMemoryDisputes(merchant(**settings), funds=funds)
        self.paying: PaymentInProgress = paid_card(self.books)
        self.before = self.books.wallet[0]
        self.books.announce(self.paying.txn_ref)
        [opened] = self.books.of_type(Dispute)
        self.dispute_id = opened.dispute_id

    @property
    def dispute(self) -> Dispute:
        return self.books.dispute(self.dispute_id)

    def bring_to(self, state: str) -> None:
        """Brings the dispute to one of our states."""
        match state:
            case "overdue":
                self.run_until_due()
            case "under_review":
                self.books.respond(self.dispute, evidence=EVIDENCE)
            case "accepted":
                self.books.respond(self.dispute, accept=True)
            case "won" | "lost":
                self.books.announce(self.paying.txn_ref, outcome=state)
            case "expired":  # as a version that did not ask the vendor left it
                ended = msgspec.structs.replace(self.dispute, rail="")
                self.books.rows[ended.key] = ended
                self.books.later(days=30)
                self.run_job()

    def run_until_due(self) -> None:
        while self.job.kind == "dispute.deadline":
            self.run_job()

    @property
    def job(self) -> Any:
        job = self.books.job_of(self.dispute)
        assert job is not None
        return job

    def run_job(self, answer: Answer = orders.NO_CALL_MADE) -> None:
        decided = self.books.run_job(self.job, answer)
        assert isinstance(decided, Decision), decided

    def steps(self) -> list[str]:
        events = [event for event in self.books.events if event.object == self.dispute_id]
        return [msgspec.json.decode(event.payload, type=DisputeEvent).step for event in events]

    def taken(self) -> int:
        """Returns what the merchant has lost, with what is owed."""
        return self.before - self.books.wallet[0] - self.books.balance("receivable:disputes:NGN")


# --- the vendor is asked --------------------------------------------------------------------------------------------

# Our state, the vendor's answer, and then: state, whether the money is taken, whether the vendor is asked again.
ASKED = [
    ("overdue", SILENT, "needs_response", False, True),
    ("overdue", AWAY, "needs_response", False, True),
    ("overdue", UNKNOWN, "needs_response", False, True),
    ("overdue", WAITING, "needs_response", False, True),
    ("overdue", UNREADABLE, "needs_response", False, True),
    ("overdue", REVIEW, "under_review", False, True),
    ("overdue", WON, "won", False, False),
    ("overdue", LOST, "lost", True, False),
    ("under_review", SILENT, "under_review", False, True),
    ("under_review", AWAY, "under_review", False, True),
    ("under_review", UNKNOWN, "under_review", False, True),
    ("under_review", WAITING, "under_review", False, True),
    ("under_review", UNREADABLE, "under_review", False, True),
    ("under_review", REVIEW, "under_review", False, True),
    ("under_review", WON, "won", False, False),
    ("under_review", LOST, "lost", True, False),
]


@pytest.mark.parametrize(("ours", "answer", "state", "is_taken", "is_asked_again"), ASKED)
def test_the_vendor_is_asked_before_anything_is_taken(
    ours: str, answer: Answer, state: str, is_taken: bool, is_asked_again: bool
) -> None:
    story = Story()
    story.bring_to(ours)
    assert (story.job.kind, story.taken()) == ("dispute.ask", 0)
    story.run_job(answer)
    dispute = story.dispute
    assert (dispute.state, story.taken()) == (state, dispute.total if is_taken else 0)
    assert story.books.wallet[1] == (dispute.covered if is_asked_again else 0), "the hold stays while it is open"
    job = story.books.job_of(dispute)
    assert (job is not None) == is_asked_again
    if job is not None:
        assert job.kind == "dispute.ask"
        assert job.due >= story.books.now + timedelta(seconds=answer.retry_after)
    assert story.steps()[-1] in (state, "reminder")


def test_an_overdue_dispute_is_a_notice_once_and_is_asked_after_hourly() -> None:
    story = Story()
    story.bring_to("overdue")
    for count in range(3):
        asked_at = max(story.books.now, story.job.due)
        story.run_job(WAITING)
        assert (story.job.attempt, story.job.due) == (count + 1, asked_at + timedelta(hours=1))
    [notice] = story.books.notices
    assert "Nothing is taken until dispute 77 at paystack ends: awaiting-merchant-feedback" in notice.message


def test_a_review_that_takes_long_is_a_notice_every_thirty_days() -> None:
    story = Story()
    story.bring_to("under_review")
    known = len(story.books.notices)
    for _ in range(60):
        story.run_job(REVIEW)
    assert [notice.message.partition(" since")[0] for notice in story.books.notices[known:]] == [
        f"the dispute of {story.paying.txn_ref} has no outcome"
    ] * 2


def test_a_vendor_that_gives_more_time_moves_the_deadline() -> None:
    story = Story()
    story.bring_to("overdue")
    later = story.books.now + timedelta(hours=100)
    story.run_job(Answer(orders.SUCCESSFUL, None, "awaiting-merchant-feedback", {"due_at": str(later.timestamp())}))
    assert (story.dispute.due_at, story.job.kind) == (later, "dispute.deadline")
    assert isinstance(story.books.respond(story.dispute, evidence=EVIDENCE), Decision)
    announced = Story()
    moved = announced.dispute.due_at + timedelta(hours=5)
    announced.books.announce(announced.paying.txn_ref, due_at=moved)
    assert announced.dispute.due_at == moved
    announced.books.announce(announced.paying.txn_ref, due_at=moved - timedelta(hours=9))
    assert announced.dispute.due_at == moved, "it is never made shorter"


def test_a_job_of_an_earlier_version_asks_the_vendor_too() -> None:
    story = Story()
    story.books.respond(story.dispute, evidence=EVIDENCE)
    old = msgspec.structs.replace(story.job, kind="dispute.review", work="{}")
    story.books.rows[old.key] = old
    story.run_job()
    assert (story.dispute.state, story.job.kind) == ("under_review", "dispute.ask")


def test_a_dispute_without_a_vendor_expires_at_its_deadline() -> None:
    books = InMemoryDisputes()
    dispute = books.open(paid_card(books).txn_ref, hours=1)
    job = books.job_of(dispute)
    assert job is not None
    books.run_job(job)
    assert books.dispute(dispute.dispute_id).state == "expired"


# --- the vendor tells by itself ---------------------------------------------------------------------------------------

# Our state, what the vendor tells, and then: state, and whether the money is taken.
ANNOUNCED = [
    ("needs_response", {}, "needs_response", False),
    ("needs_response", {"is_under_review": True}, "under_review", False),
    ("needs_response", {"outcome": "won"}, "won", False),
    ("needs_response", {"outcome": "lost"}, "lost", True),
    ("overdue", {}, "needs_response", False),
    ("overdue", {"is_under_review": True}, "under_review", False),
    ("overdue", {"outcome": "won"}, "won", False),
    ("overdue", {"outcome": "lost"}, "lost", True),
    ("under_review", {}, "under_review", False),
    ("under_review", {"is_under_review": True}, "under_review", False),
    ("under_review", {"outcome": "won"}, "won", False),
    ("under_review", {"outcome": "lost"}, "lost", True),
    ("won", {}, "won", False),
    ("won", {"is_under_review": True}, "won", False),
    ("won", {"outcome": "won"}, "won", False),
    ("won", {"outcome": "lost"}, "lost", True),
    ("lost", {}, "lost", True),
    ("lost", {"is_under_review": True}, "lost", True),
    ("lost", {"outcome": "lost"}, "lost", True),
    ("lost", {"outcome": "won"}, "won", False),
    ("accepted", {}, "accepted", True),
    ("accepted", {"is_under_review": True}, "accepted", True),
    ("accepted", {"outcome": "lost"}, "accepted", True),
    ("accepted", {"outcome": "won"}, "won", False),
    ("expired", {}, "expired", True),
    ("expired", {"is_under_review": True}, "expired", True),
    ("expired", {"outcome": "lost"}, "expired", True),
    ("expired", {"outcome": "won"}, "won", False),
]


@pytest.mark.parametrize(("ours", "announced", "state", "is_taken"), ANNOUNCED)
def test_the_vendors_word_counts_however_late(ours: str, announced: dict[str, Any], state: str, is_taken: bool) -> None:
    story = Story()
    story.bring_to(ours)
    before, events = story.dispute, story.steps()
    for _ in range(2):  # vendors repeat themselves
        story.books.announce(story.paying.txn_ref, due_at=None, **announced)
    dispute = story.dispute
    assert (dispute.state, story.taken()) == (state, dispute.total if is_taken else 0)
    assert story.steps() == (events if before.state == state else [*events, state])
    assert story.paying.payment.disputed == (0 if state == "won" else dispute.amount)
    assert (dispute.ended_at is None) == dispute.is_open
    assert not [notice for notice in story.books.notices if "says" in notice.message]


def test_a_debt_of_a_dispute_that_is_won_late_is_paid_out_of_what_comes_back() -> None:
    story = Story(funds=0, settlement_days=1)
    story.bring_to("lost")
    total = story.dispute.total
    assert (story.books.wallet[0], story.books.balance("receivable:disputes:NGN")) == (0, -total)
    story.bring_to("won")
    assert (story.books.wallet[0], story.books.balance("receivable:disputes:NGN")) == (total, -total)
    story.books.collect_debt()
    assert (story.books.wallet[0], story.books.balance("receivable:disputes:NGN")) == (0, 0)


def test_a_late_loss_of_money_that_was_refunded_since_is_left_to_two_operators() -> None:
    story = Story()
    story.bring_to("won")
    story.books.put("refund", txnRef=story.paying.txn_ref, amount="1200.00")
    story.books.announce(story.paying.txn_ref, outcome="lost")
    assert (story.dispute.state, story.taken()) == ("won", 0)
    assert "it took NGN 500.00, but only NGN 300.00 was not refunded" in story.books.notices[-1].message


def test_in_live_an_operator_does_not_contradict_an_outcome() -> None:
    story = Story(environment="live")
    story.bring_to("lost")
    request = {"dispute_id": story.dispute_id, "outcome": "won"}
    assert story.books.send(OUTCOME, **request) == ALREADY_ENDED
    assert story.dispute.state == "lost"


def test_a_dispute_that_is_announced_under_review_is_opened_and_reviewed() -> None:
    books = InMemoryDisputes()
    paying = paid_card(books)
    for _ in range(2):
        books.announce(paying.txn_ref, is_under_review=True)
    [dispute] = books.of_type(Dispute)
    assert dispute.state == "under_review"
    assert books.wallet[1] == dispute.covered
