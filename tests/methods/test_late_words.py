"""The vendor's late word: our state, what the vendor says then, and what becomes of it, for all that a vendor holds.

Transfers, bills and refunds: a final word ends what is open. What has ended keeps its status and moves nothing by
itself: a word against it is an act that two operators decide, every other word is nothing. Disputes: the vendor's final
word also corrects what has ended.
"""

from collections.abc import Callable
from datetime import timedelta
from itertools import product
from typing import Any, Protocol

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job
from kasuwa.methods.payment.model import JOB_DATA_DECODER
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.transactions import Transaction, encode_text
from tests.methods.bills.payments import SentBill
from tests.methods.disburse.orders import SentTransfer
from tests.methods.disputes import test_vendors_word
from tests.methods.disputes.test_vendors_word import LOST, WON, Story
from tests.methods.payment.in_memory_payments import InMemoryPayments, paid_card

DAY = 24 * 3600.0

# What the vendor says. A bill that is delivered comes with its token.
WORDS = {
    "successful": Answer(orders.SUCCESSFUL, "00", "Approved", {"token": "12345678901234567890", "units": "23.89"}),
    "failed": Answer(orders.FAILED, "51", "No sufficient funds"),
    "processing": Answer(orders.PROCESSING, "09", "Being processed"),
    "unknown": Answer(orders.UNKNOWN, "09", "Request in progress"),
    "unreadable": Answer(orders.UNREADABLE, "ZZ", "The answer could not be read"),
    "not found": Answer(orders.NOT_FOUND, "25", "Unable to locate record"),
    "silent": orders.RAIL_SILENT,
    "unavailable": orders.RAIL_UNAVAILABLE,
}
FINAL = ("successful", "failed")

# The words that bring an order to each of our states, and the days that pass before each.
STATES: dict[str, tuple[tuple[str, float], ...]] = {
    "sent": (),  # it has not been answered at all
    "lost": (("silent", 0),),  # its answer was lost, and it is asked after
    "refused": (("unavailable", 0),),  # nothing was sent, and it is sent again
    "working": (("processing", 0), ("unknown", 0)),
    "unclear": (("unreadable", 0),),
    "missing": (("silent", 0), ("not found", 0.5)),  # the vendor does not know it yet
    "successful": (("successful", 0),),
    "failed": (("failed", 0),),
    "given up": (("silent", 0), ("not found", 1.5)),  # the vendor did not know it after a day: it has failed
    "successful late": (("unknown", 0), ("processing", 3), ("successful", 9)),
}
ENDED = {"successful": "successful", "failed": "failed", "given up": "failed", "successful late": "successful"}
# Whether nothing of the order has certainly reached the vendor: it is then sent again, and not found is no failure.
UNSENT = "refused"


class VendorOrder(Protocol):
    """An order at a vendor, by the rules of its slice."""

    @property
    def status(self) -> str: ...

    @property
    def taken(self) -> int:
        """Returns what postings took from the wallet."""
        ...

    @property
    def contradictions(self) -> list[str]: ...

    @property
    def events(self) -> int: ...

    @property
    def is_asked_again(self) -> bool: ...

    def receive(self, answer: Answer, days: float) -> None: ...


class SingleOrder:
    """A transfer or a bill."""

    def __init__(self, sent: SentTransfer | SentBill) -> None:
        self.sent: Any = sent
        self.seconds, self.taken, self.events, self.is_asked_again = 1.0, 0, 0, True
        self.contradictions: list[str] = []

    @property
    def status(self) -> str:
        return str(self.sent.row.status)

    def receive(self, answer: Answer, days: float) -> None:
        self.seconds += days * DAY + 60
        decision = self.sent.receive_answer(answer, self.seconds, job_is_gone=not self.is_asked_again)
        assert isinstance(decision, Decision)
        for group in decision.groups:
            self.taken += sum(posting.amount for posting in group.postings if posting.debit.startswith("wallet"))
        self.events += len(decision.events)
        self.contradictions += [notice.message for notice in decision.notices if notice.is_contradiction]
        self.sent.row = next((row for row in decision.rows if isinstance(row, Transaction)), self.sent.row)
        self.is_asked_again &= self.sent.job not in decision.jobs_done
        self.sent.job = next((job for job in decision.jobs if job.key == self.sent.job.key), self.sent.job)


class RefundOrder:
    """A refund of a payment by card."""

    def __init__(self) -> None:
        self.payments = InMemoryPayments(funds=10_000_000)
        paying = paid_card(self.payments)
        self._events, self._wallet = len(self.payments.events), self.payments.balance("wallet:main:NGN")
        asked = self.payments.put("refund", txnRef=paying.txn_ref, amount="500.00")
        self._key = asked.rows[0].key
        [job] = self.payments.jobs(self._key)
        # A payment that a vendor collected, and not the sandbox.
        work = msgspec.structs.replace(JOB_DATA_DECODER.decode(job.work), vendor="paystack")
        self._job: Job = msgspec.structs.replace(job, work=encode_text(work))
        self.payments.rows[job.key] = self._job

    @property
    def status(self) -> str:
        row = self.payments.rows[self._key]
        assert isinstance(row, Transaction)
        return row.status

    @property
    def taken(self) -> int:
        return self._wallet - self.payments.balance("wallet:main:NGN")

    @property
    def events(self) -> int:
        return len(self.payments.events) - self._events

    @property
    def contradictions(self) -> list[str]:
        return [notice.message for notice in self.payments.notices if notice.is_contradiction]

    @property
    def is_asked_again(self) -> bool:
        return bool(self.payments.jobs(self._key))

    def receive(self, answer: Answer, days: float) -> None:
        self.payments.advance(days=days, seconds=60)
        jobs = self.payments.jobs(self._key)
        self._job = jobs[0] if jobs else self._job
        assert isinstance(self.payments.receive_answer(self._job, answer), Decision)


ORDERS: dict[str, Callable[[], VendorOrder]] = {
    "transfer": lambda: SingleOrder(SentTransfer.new()),
    "bill": lambda: SingleOrder(SentBill.new()),
    "refund": RefundOrder,
}


def expected_status(kind: str, state: str, word: str, days: float) -> str:
    """Returns how an order has ended after a word, or "open"."""
    if state in ENDED:
        return ENDED[state]
    # The day of a refund begins with the first answer to its sending, that of the others with the sending itself.
    is_fresh = state == UNSENT or (kind, state) == ("refund", "sent")
    if word == "not found" and days >= 1 and not is_fresh:
        return "failed"
    return word if word in FINAL else "open"


@pytest.mark.parametrize("days", [0, 2])
@pytest.mark.parametrize(("kind", "state", "word"), [*product(ORDERS, STATES, WORDS)])
def test_a_late_word_ends_what_is_open_and_is_an_act_for_two_people_after_the_end(
    kind: str, state: str, word: str, days: float
) -> None:
    order = ORDERS[kind]()
    for earlier, passed in STATES[state]:
        order.receive(WORDS[earlier], passed)
    taken = order.taken
    for count in range(2):  # vendors repeat themselves
        order.receive(WORDS[word], days if count == 0 else 0)
        if count == 0:
            first = (order.status, order.taken, order.events, order.is_asked_again)
    expected = expected_status(kind, state, word, days)
    is_open = expected == "open"
    assert (order.status if order.status in FINAL else "open") == expected
    if (state, word) != ("sent", "not found"):  # the first answer to a sending says nothing of how long ago it was
        assert first == (order.status, order.taken, order.events, order.is_asked_again), "the second changes nothing"
    assert order.is_asked_again == is_open
    assert order.events == (0 if is_open else 1), "the end has one event"
    assert (order.taken > 0) == (expected == "successful")
    if state in ENDED:
        assert order.taken == taken, "a word moves nothing that has ended"
    is_contradicted = state in ENDED and word in FINAL and word != ENDED[state]
    assert order.contradictions == [f"the {kind} is {expected}, but its rail now says {word}"] * (2 * is_contradicted)


# --- disputes --------------------------------------------------------------------------------------------------------

# Our states of disputes that have ended, and how each counts for the money.
ENDED_DISPUTES = {"won": "won", "lost": "lost", "accepted": "lost"}
OUTCOMES = {"won": WON, "lost": LOST}
UNDECIDED = [answer for _, answer, _, _, asked in test_vendors_word.ASKED if asked]


@pytest.mark.parametrize(("ended", "word"), [*product(ENDED_DISPUTES, OUTCOMES)])
def test_an_answer_that_comes_after_the_end_of_a_dispute_corrects_it(ended: str, word: str) -> None:
    story = ended_while_asked(ended)
    steps = story.steps()
    for _ in range(2):
        story.books.run_job(story.asking, OUTCOMES[word])
    is_contradicted = ENDED_DISPUTES[ended] != word
    assert story.dispute.state == (word if is_contradicted else ended)
    assert story.taken() == (story.dispute.total if word == "lost" else 0)
    assert story.steps() == ([*steps, word] if is_contradicted else steps)


@pytest.mark.parametrize(("ended", "answer"), [*product(ENDED_DISPUTES, UNDECIDED)])
def test_an_answer_without_an_outcome_changes_no_dispute_that_has_ended(ended: str, answer: Answer) -> None:
    story = ended_while_asked(ended)
    before = (story.dispute, story.taken(), story.steps())
    story.books.run_job(story.asking, answer)
    assert (story.dispute, story.taken(), story.steps()) == before


class AskedStory(Story):
    """A dispute that ends while its vendor is asked. `asking` is the job as its process claimed it."""

    asking: Job


def ended_while_asked(state: str) -> AskedStory:
    story = AskedStory()
    story.bring_to("overdue")
    story.asking = story.job
    # The vendor gives more time meanwhile, and the merchant can accept it.
    story.books.announce(story.paying.txn_ref, due_at=story.books.now + timedelta(days=3))
    story.bring_to(state)
    return story


def test_the_tables_of_disputes_have_every_state_with_every_word() -> None:
    asked = {(ours, answer.message) for ours, answer, *_ in test_vendors_word.ASKED}
    assert len(asked) == len({ours for ours, _ in asked}) * len({word for _, word in asked})
    announced_words = {(ours, str(announced)) for ours, announced, *_ in test_vendors_word.ANNOUNCED}
    assert len(announced_words) == len({ours for ours, _ in announced_words}) * len(
        {word for _, word in announced_words}
    )
