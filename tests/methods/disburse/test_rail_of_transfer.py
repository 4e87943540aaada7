"""The rail of a transfer: chosen when it is taken, and changed only while certainly nothing of it has left."""

from itertools import product
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job, LoadedRows, Row
from kasuwa.core.routing import RailDemand
from kasuwa.methods.disburse.model import QUERY, SEND
from kasuwa.methods.disburse.rules.on_bank_answer import decide_answer
from kasuwa.methods.disburse.steps import make_transfer_order
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import RAIL_SILENT, RAIL_UNAVAILABLE, Answer
from kasuwa.rails.vendors.bank_codes import UNSERVED_BANK
from kasuwa.transactions.requery import AT_ONCE
from kasuwa.transactions.transactions import Transaction
from tests.methods.disburse.orders import SentTransfer
from tests.rule_context import NOW, context, merchant

NOT_SENT = msgspec.structs.replace(RAIL_UNAVAILABLE, is_unsent=True, retry_after=600)


class TwoRails:
    """Gives new orders to `one`, and those that were not sent there to `two`."""

    def __init__(self, other: str = "two", count: int = 2) -> None:
        self.other = other
        self.count = count
        self.demands: list[tuple[RailDemand, tuple[str, ...]]] = []

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        self.demands.append((demand, preferred))
        return self.other if avoided else "one"

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        return self.count

    def find_account(self, rail: str, kept: str = "") -> str:
        return kept or f"account with {rail}"


def take(chooser: TwoRails) -> SentTransfer:
    given = context()
    given.rail_chooser = chooser
    sent = SentTransfer.new(given)
    sent.job.claims = 1
    return sent


def receive(sent: SentTransfer, answer: Answer, chooser: TwoRails, current: Job | None = None) -> Decision:
    """Returns the decision on an answer. `current` is the job as it is in the database by then."""
    current = current or sent.job
    rows: dict[bytes, Row | None] = {sent.row.key: sent.row, current.key: current}
    given = context(sent.row.created_at)
    given.rail_chooser = chooser
    decision = decide_answer(sent.job, answer, given, LoadedRows(rows))
    assert isinstance(decision, Decision)
    return decision


def changed(decision: Decision) -> tuple[Transaction, Job]:
    [row], [job] = decision.rows, decision.jobs
    assert isinstance(row, Transaction)
    return row, job


def test_rail_is_written_with_the_transfer_and_its_job() -> None:
    chooser = TwoRails()
    sent = take(chooser)
    assert (sent.row.rail, sent.job.rail, sent.job.is_rail_fixed) == ("one", "one", False)
    assert chooser.demands == [(RailDemand("bank", 500_000, "NGN", "058"), ())]


def test_account_is_written_before_anything_is_sent_and_moves_with_the_rail() -> None:
    chooser = TwoRails()
    sent = take(chooser)
    assert sent.row.rail_account == sent.job.rail_account == "account with one"
    assert make_transfer_order(sent.job, NOW).account == "account with one"
    row, job = changed(receive(sent, NOT_SENT, chooser))
    assert (row.rail_account, job.rail_account) == ("account with two", "account with two")
    for answer in (RAIL_UNAVAILABLE, RAIL_SILENT, Answer(orders.NOT_FOUND, "25", "")):
        row, job = changed(receive(sent, answer, chooser))
        assert (row.rail_account, job.rail_account) == ("account with one", "account with one")


def test_order_that_never_left_gets_the_account_of_the_settings_unless_it_is_fixed() -> None:
    chooser = TwoRails(other="one")
    sent = take(chooser)
    sent.job.rail_account = "former"
    row, job = changed(receive(sent, NOT_SENT, chooser))
    assert (row.rail_account, job.rail_account, job.kind) == ("account with one", "account with one", SEND)
    fixed = msgspec.structs.replace(sent.job, is_rail_fixed=True)
    _, job = changed(receive(sent, NOT_SENT, chooser, fixed))
    assert job.rail_account == "former"


def test_name_that_a_rail_looked_up_is_kept_with_the_order_until_its_end() -> None:
    chooser = TwoRails()
    sent = take(chooser)
    assert make_transfer_order(sent.job, NOW).beneficiary_name is None
    named = msgspec.structs.replace(NOT_SENT, facts={orders.BENEFICIARY_NAME: "ADA OBI"})
    _, job = changed(receive(sent, named, chooser))
    assert make_transfer_order(job, NOW).beneficiary_name == "ADA OBI", "the next rail compares it"
    paid = Answer(orders.SUCCESSFUL, "00", "", facts={orders.BENEFICIARY_NAME: "ADA OBI"})
    for answer, current in ((paid, sent.job), (Answer(orders.SUCCESSFUL, "00", ""), job)):
        [row] = [row for row in receive(sent, answer, chooser, current).rows if isinstance(row, Transaction)]
        assert "ADA OBI" not in msgspec.json.encode(row).decode(), "only the open order needs it"


def test_rails_of_the_merchant_are_passed_on() -> None:
    chooser = TwoRails()
    given = context(merchant=merchant(rails={"bank": ["monnify"]}))
    given.rail_chooser = chooser
    SentTransfer.new(given)
    assert chooser.demands[0][1] == ("monnify",)


# --- every combination of what is known of an order ------------------------------------------------------------------

ANSWERS: dict[str, Answer] = {
    "not sent": NOT_SENT,
    "bank not served": UNSERVED_BANK,
    "refused": RAIL_UNAVAILABLE,
    "silent": RAIL_SILENT,
    "in progress": Answer(orders.PROCESSING, "09", ""),
    "unreadable": Answer(orders.UNREADABLE, None, ""),
    "not found": Answer(orders.NOT_FOUND, "25", ""),
}
MOVING = ("not sent", "bank not served")


@pytest.mark.parametrize(
    ("name", "kind", "claims", "current_claims", "is_fixed"),
    list(product(ANSWERS, (SEND, QUERY), (1, 2), (1, 2), (False, True))),
)
def test_order_moves_only_if_certainly_nothing_has_left(
    name: str, kind: str, claims: int, current_claims: int, is_fixed: bool
) -> None:
    chooser, answer = TwoRails(), ANSWERS[name]
    sent = take(chooser)
    sent.job = msgspec.structs.replace(sent.job, kind=kind, claims=claims, is_rail_fixed=is_fixed)
    current = msgspec.structs.replace(sent.job, claims=current_claims)
    decision = receive(sent, answer, chooser, current)
    moves = name in MOVING and kind == SEND and claims == current_claims == 1 and not is_fixed
    if answer.status == orders.FAILED and not moves:
        assert (decision.reply.txn_status, decision.jobs_done) == ("failed", (current,))
        return
    row, job = changed(decision)
    assert row.rail == job.rail == ("two" if moves else "one")
    assert job.kind == (SEND if moves or (answer.status == orders.UNAVAILABLE and kind == SEND) else QUERY)
    # From now on it can move only if nothing has left so far.
    assert job.is_rail_fixed == (not answer.is_unsent or is_fixed or current_claims > 1)


@pytest.mark.parametrize("count", [2, 3])
def test_order_moves_at_once_until_every_rail_was_tried(count: int) -> None:
    chooser = TwoRails(count=count)
    sent = take(chooser)
    waits = []
    for other in ("two", "three", "one"):
        chooser.other, sent.job.claims = other, 1
        sent = sent.after(receive(sent, NOT_SENT, chooser))
        assert (sent.job.rail, sent.job.kind) == (other, SEND)
        waits.append((sent.job.due - sent.row.created_at).total_seconds())
    assert [wait > 1 for wait in waits] == [attempt >= count - 1 for attempt in range(3)]


def test_unavailable_after_a_lost_answer_never_moves_an_order() -> None:
    chooser = TwoRails()
    sent = take(chooser)
    silent = sent.after(receive(sent, RAIL_SILENT, chooser))
    assert (silent.job.kind, silent.job.is_rail_fixed) == (QUERY, True)
    for answer in (NOT_SENT, RAIL_UNAVAILABLE, NOT_SENT):
        silent.job.claims = 1
        silent = silent.after(receive(silent, answer, chooser))
        assert (silent.job.rail, silent.job.kind, silent.job.is_rail_fixed) == ("one", QUERY, True)


def test_order_that_was_refused_stays_at_its_rail_for_good() -> None:
    chooser = TwoRails()
    refused = take(chooser)
    refused = refused.after(receive(refused, RAIL_UNAVAILABLE, chooser))
    refused.job.claims = 1
    again = refused.after(receive(refused, NOT_SENT, chooser))
    assert (again.job.rail, again.job.kind) == ("one", SEND)


def test_first_move_is_at_once_and_later_ones_keep_to_the_schedule() -> None:
    chooser = TwoRails()
    sent = take(chooser)
    moved = sent.after(receive(sent, NOT_SENT, chooser))
    assert moved.job.due - moved.row.created_at == AT_ONCE
    moved.job.claims, chooser.other = 1, "one"
    back = moved.after(receive(moved, NOT_SENT, chooser))
    assert (back.job.rail, back.job.kind) == ("one", SEND)
    assert (back.job.due - back.row.created_at).total_seconds() == 5


def test_order_that_no_other_rail_can_take_waits_as_long_as_its_rail_asks() -> None:
    chooser = TwoRails(other="one")
    sent = take(chooser)
    waiting = sent.after(receive(sent, NOT_SENT, chooser))
    assert (waiting.job.rail, waiting.job.is_rail_fixed) == ("one", False)
    assert (waiting.job.due - waiting.row.created_at).total_seconds() == 600


@pytest.mark.parametrize(("kind", "answer"), [(SEND, NOT_SENT), (QUERY, RAIL_SILENT)])
def test_order_of_an_earlier_version_gets_the_first_rail(kind: str, answer: Any) -> None:
    sent = SentTransfer.new()
    assert sent.job.rail == ""
    sent.job = msgspec.structs.replace(sent.job, kind=kind, claims=3)
    row, job = changed(receive(sent, answer, TwoRails()))
    assert (row.rail, job.rail, job.kind) == ("one", "one", kind)
