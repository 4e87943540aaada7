"""A transfer and the sandbox bank together: from the order to its end, with business time as the only clock.

The step, the bank and the rule are the real ones; what the writer and the worker add in between is to keep the
rows and to wait until a job falls due.
"""

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.methods.disburse.model import QUERY, SEND
from kasuwa.methods.disburse.steps import call_bank
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import Rails
from kasuwa.rails.ports.orders import RAIL_SILENT, RAIL_UNAVAILABLE, Answer, BankRail, NoAnswer, Unavailable
from kasuwa.rails.routing.orders import RoutedBank
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.transactions.transactions import FAILED, FINAL, PENDING, PROCESSING, SUCCESSFUL, add_rail_notice
from tests.methods.disburse.orders import SentTransfer
from tests.rails.no_rails import no_rails
from tests.rule_context import context

ACCOUNTS: list[dict[str, Any]] = load_reference_data("magic_values")["accounts"]["list"]
DAY = 24 * 3600
SANDBOX = Rails(bank=SandboxBank())


def with_bank(bank: BankRail) -> Rails:
    return msgspec.structs.replace(SANDBOX, bank=bank)


def call(rails: Rails, sent: SentTransfer, age: float) -> Answer:
    """Calls the rail as the stepper does: an unavailable or silent rail becomes an answer too."""
    now = sent.row.created_at + timedelta(seconds=age)
    try:
        return asyncio.run(call_bank(rails, sent.job, now, None))
    except Unavailable:
        return RAIL_UNAVAILABLE
    except NoAnswer:
        return RAIL_SILENT


def follow(rails: Rails, scenario: Scenario = NO_SCENARIO, **changes: Any) -> list[tuple[float, str, str]]:
    """Returns the steps of a transfer until it is final or three days old: age, job kind and resulting status."""
    sent, age = SentTransfer.new(context(scenario=scenario), **changes), 0.0
    story: list[tuple[float, str, str]] = []
    while age <= 3 * DAY:
        decision: Decision = sent.receive_answer(call(rails, sent, age), age)
        story.append((age, sent.job.kind, decision.reply.txn_status))
        if decision.reply.txn_status in FINAL:
            break
        sent = sent.after(decision)
        age = (sent.job.due - sent.row.created_at) / timedelta(seconds=1)
    return story


@pytest.mark.parametrize("row", ACCOUNTS, ids=lambda row: row["account"])
def test_every_magic_account_ends_as_and_when_its_table_says(row: dict[str, Any]) -> None:
    story = follow(SANDBOX, accountnumber=row["account"])
    age, _, status = story[-1]
    assert (age, status) == (row["after_seconds"], row["final"])


@pytest.mark.parametrize("row", ACCOUNTS, ids=lambda row: row["account"])
def test_with_v_1_every_magic_account_is_processing_first_and_ends_alike(row: dict[str, Any]) -> None:
    account = row["account"]
    story = follow(SANDBOX, accountnumber=f"{account[:8]}1{account[9]}")
    assert story[0][2] == PROCESSING
    assert (story[-1][0], story[-1][2]) == (max(row["after_seconds"], 5), row["final"])


@pytest.mark.parametrize("account", ["0000000020", "0000005120", "0000009900"])
def test_a_transfer_that_waits_for_a_call_back_is_queried_until_it_ends(account: str) -> None:
    story = follow(SANDBOX, accountnumber=account)
    assert {status for _, _, status in story} == {PENDING}
    assert story[-1][0] == 3 * DAY


def test_only_the_first_call_sends_and_all_others_ask() -> None:
    for account in ("0000000900", "0000002500", "0000000020"):
        verbs = [verb for _, verb, _ in follow(SANDBOX, accountnumber=account)]
        assert verbs[0] == SEND
        assert set(verbs[1:]) == {QUERY}


@pytest.mark.parametrize(
    ("scenario", "age", "status"),
    [
        (Scenario(http="timeout"), 5, SUCCESSFUL),
        (Scenario(http="500"), 5, SUCCESSFUL),
        (Scenario(http="reset"), DAY, FAILED),
        (Scenario(http="unavailable"), 5, SUCCESSFUL),
        (Scenario(rr="05"), 0, FAILED),
        (Scenario(rr="91"), 5, FAILED),
        (Scenario(delay=6), 30, SUCCESSFUL),
        (Scenario(delay=600, rr="51"), 600, FAILED),
        (Scenario(delay=601), 1800, SUCCESSFUL),
        (Scenario(rr="51", http="timeout"), 5, FAILED),
    ],
)
def test_a_scenario_ends_a_transfer_at_the_next_query(scenario: Scenario, age: int, status: str) -> None:
    story = follow(SANDBOX, scenario)
    assert (story[-1][0], story[-1][2]) == (age, status)


def test_without_a_bank_a_transfer_stays_processing_and_is_sent_again() -> None:
    story = follow(with_bank(RoutedBank(no_rails("bank"))))
    assert {(verb, status) for _, verb, status in story} == {(SEND, PROCESSING)}


class Recorder(SandboxBank):
    """A bank that was never reached, or answered somebody who died: it notes what it is asked."""

    def __init__(self, known: Answer | Exception) -> None:
        self.known = known
        self.calls: list[str] = []

    async def query(self, order: orders.TransferOrder) -> Answer:
        self.calls.append(f"query {order.key}")
        if isinstance(self.known, Exception):
            raise self.known
        return self.known

    async def transfer(self, order: orders.TransferOrder) -> Answer:
        self.calls.append(f"transfer {order.key}")
        return await super().transfer(order)


NOT_FOUND = Answer(orders.NOT_FOUND, "25", "Unable to locate record")
PAID = Answer(orders.SUCCESSFUL, "00", "Approved")


@pytest.mark.parametrize(
    ("claims", "known", "verbs"),
    [
        (1, PAID, ["transfer"]),  # the request itself
        (2, PAID, ["query"]),  # taken over, and the bank had it
        (2, NOT_FOUND, ["query", "transfer"]),  # taken over, and the bank never saw it
    ],
)
def test_a_job_taken_over_after_a_crash_is_queried_before_it_is_sent(
    claims: int, known: Answer, verbs: list[str]
) -> None:
    sent, bank = SentTransfer.new(), Recorder(known)
    sent.job.claims = claims
    assert call(with_bank(bank), sent, 25.0).status == SUCCESSFUL
    assert bank.calls == [f"{verb} {sent.job.merchant_id} {sent.row.txn_ref}" for verb in verbs]


@pytest.mark.parametrize("trouble", [orders.Unavailable("away"), orders.NoAnswer("lost")])
def test_a_job_taken_over_waits_while_its_rail_cannot_be_queried(trouble: Exception) -> None:
    """The job waits. The next claim is its first again, and queries first because the database remembers."""
    sent, bank = SentTransfer.new(context()), Recorder(trouble)
    sent.job.claims = 2
    assert call(with_bank(bank), sent, 25.0).status == orders.UNAVAILABLE
    waiting = sent.after(sent.receive_answer(RAIL_UNAVAILABLE, 25))
    waiting.job.claims, waiting.job.is_queried_first = 1, True
    assert waiting.job.kind == SEND
    assert waiting.row.status == PROCESSING
    back = Recorder(PAID)
    assert call(with_bank(back), waiting, 30.0).status == SUCCESSFUL
    assert [made.split()[0] for made in (*bank.calls, *back.calls)] == ["query", "query"]


def test_a_transfer_that_was_queried_and_not_found_is_not_sent_again() -> None:
    sent, bank = SentTransfer.new(), Recorder(NOT_FOUND)
    sent.job.kind = QUERY
    sent.job.claims = 2
    assert call(with_bank(bank), sent, 25.0).status == orders.NOT_FOUND
    assert bank.calls == [f"query {sent.job.merchant_id} {sent.row.txn_ref}"]


# --- what else an answer says ----------------------------------------------------------------------------------


def test_rail_that_asks_to_be_left_alone_is_left_alone_for_so_long() -> None:
    sent = SentTransfer.new(context())
    answer = msgspec.structs.replace(RAIL_UNAVAILABLE, retry_after=90)
    again = sent.after(sent.receive_answer(answer, 0))
    assert (again.job.due - sent.row.created_at) == timedelta(seconds=90)
    short = msgspec.structs.replace(RAIL_UNAVAILABLE, retry_after=2)
    again = sent.after(sent.receive_answer(short, 0))
    assert (again.job.due - sent.row.created_at) == timedelta(seconds=5)


def test_notice_of_an_answer_is_given_when_it_is_new_and_when_the_transfer_ends() -> None:
    sent = SentTransfer.new(context())
    short = msgspec.structs.replace(RAIL_UNAVAILABLE, notice="fund the account")

    def decide(sent: SentTransfer, answer: Answer, age: float) -> Decision:
        return add_rail_notice(sent.receive_answer(answer, age), sent.row, answer.notice)

    first = decide(sent, short, 0)
    assert [(notice.reference, notice.message) for notice in first.notices] == [(sent.row.txn_ref, "fund the account")]
    sent = sent.after(first)
    assert decide(sent, short, 5).notices == ()
    failed = Answer(orders.FAILED, "96", "could not be delivered", notice="our fault")
    assert [notice.message for notice in decide(sent, failed, 5).notices] == ["our fault"]
