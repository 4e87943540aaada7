"""BatchState, case by case: failing decisions, sub-decisions, numbers, jobs and clocks."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from kasuwa.concurrency.time_slices import run_to_completion
from kasuwa.core.calendar import NEVER
from kasuwa.core.decision import (
    AuditEntry,
    Context,
    Decision,
    Event,
    HeldAmount,
    Job,
    LoadedRows,
    Needs,
    NeedsMore,
    Posting,
    PostingGroup,
    Refusal,
    SandboxEffects,
)
from kasuwa.core.references import merchant_state_key
from kasuwa.core.scenario import InjectedFault
from kasuwa.engine.batch import JOB_LEASE, Deployment, InconsistentBatchState, RuleFailure, Submission, decide_batch
from kasuwa.engine.idempotency import IdempotencyClaim
from kasuwa.engine.merchant_state import business_now
from kasuwa.ledger.apply import LedgerError
from tests.engine.memory_database import MemoryDatabase, visible_result, wallet_of
from tests.engine.toy import (
    ACCOUNTS,
    OUTSIDE,
    RAIL,
    SHORT,
    WALL,
    WALLET,
    WORLD,
    Ticket,
    ToyRequest,
    job_key,
    merchant,
    submission,
    ticket_key,
)

HOUR = timedelta(hours=1)


def deciding(rule: Callable[[Context, LoadedRows], Any], claim: IdempotencyClaim | None = None) -> Submission:
    return Submission(merchant(1), Needs((), ACCOUNTS), rule, b"entropy".ljust(32), claim)


def answering(decision: Decision) -> Submission:
    return deciding(lambda context, seen: decision)


def posting(amount: int, debit: str = OUTSIDE, credit: str = WALLET) -> PostingGroup:
    return PostingGroup("move", SHORT, (Posting(debit, credit, amount, "transfer"),))


def funded(amount: int = 1_000) -> MemoryDatabase:
    database = MemoryDatabase()
    database.run([submission(ToyRequest("fund", amount=amount))])
    return database


def set_clock(database: MemoryDatabase, **fields: Any) -> None:
    database.rows[merchant_state_key(1)] = msgspec.structs.replace(database.book(1), **fields)


# --- decisions that break ---------------------------------------------------------------------------------------


def join_badly(parts: list[Any]) -> Any:
    raise ZeroDivisionError


SPOILING = {
    "its join raises": Decision(combine=join_badly),
    "a part cannot be made": Decision(
        combine=lambda results: Decision(reply=results), sub_decisions=map(join_badly, [[]])
    ),
    "a part is none the ledger takes": Decision(
        combine=lambda results: Decision(reply=results), sub_decisions=(Decision(groups=(posting(0),)),)
    ),
    "an event is not text": Decision(groups=(posting(5),), events=(Event("x", "toy", b"\xff"),)),
    "a fault cannot be kept": Decision(sandbox=SandboxEffects(injected_faults=(object(),))),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("decision", SPOILING.values(), ids=SPOILING)
def test_a_decision_that_fails_while_recorded_raises_inconsistent_state(decision: Decision) -> None:
    database = funded()
    before = msgspec.msgpack.encode(list(database.rows.values()))
    batch = [submission(ToyRequest("spend", amount=10)), answering(decision)]
    state = database.batch_state(batch)
    with pytest.raises(InconsistentBatchState):
        run_to_completion(decide_batch(state, batch))
    assert msgspec.msgpack.encode(list(database.rows.values())) == before


def test_after_a_spoiled_batch_the_others_go_on_fresh_desks() -> None:
    database = funded()
    with pytest.raises(InconsistentBatchState):
        database.run([submission(ToyRequest("spend", amount=10)), answering(Decision(combine=join_badly))])
    database.run([submission(ToyRequest("spend", amount=10))])
    assert wallet_of(database).posted == 990


@pytest.mark.parametrize("answer", [None, "text", 5, (Refusal(104, "x"),)])
def test_a_rule_that_answers_something_else_is_broken(answer: object) -> None:
    assert isinstance(funded().run([deciding(lambda context, seen: answer)])[0], RuleFailure)


@pytest.mark.parametrize("error", [KeyError("row"), AssertionError(), LedgerError("x"), RecursionError()])
def test_what_a_rule_raises_is_kept_for_the_log(error: Exception) -> None:
    def rule(context: Context, rows: LoadedRows) -> Decision:
        raise error

    result = funded().run([deciding(rule)])[0]
    assert isinstance(result, RuleFailure)
    assert result.error is error


def test_a_hold_is_ended_once_within_one_decision_too() -> None:
    database = funded()
    database.run([submission(ToyRequest("start"))])
    end = PostingGroup("a", SHORT, releases=HeldAmount(WALLET, 100))
    made = answering(Decision(reply="twice", groups=(end, end)))
    assert visible_result(database.run([made])[0]) == ("broken", "LedgerError")
    assert wallet_of(database).held == 100


def test_a_later_group_of_a_decision_sees_what_an_earlier_one_moved() -> None:
    database = funded(100)
    decision = Decision(reply="both", groups=(posting(60, WALLET, RAIL), posting(60, WALLET, RAIL)))
    assert database.run([answering(decision)])[0] == SHORT
    decision = Decision(reply="three", groups=(posting(60, WALLET, RAIL), posting(20), posting(60, WALLET, RAIL)))
    assert visible_result(database.run([answering(decision)])[0])[0] == "done"
    assert wallet_of(database).posted == 0
    assert [row.group_seq for row in database.postings] == [1, 2, 3, 4]


def test_a_rule_that_asks_for_more_changes_nothing_by_asking() -> None:
    database = funded()
    batch = [submission(ToyRequest("ask_more"))]
    state = database.batch_state(batch)
    assert isinstance(run_to_completion(decide_batch(state, batch))[0], NeedsMore)
    assert not any(
        (state.inserted_rows, state.updated_rows, state.deleted_jobs, state.postings, state.written_merchants)
    )


# --- parts ----------------------------------------------------------------------------------------------------------


def test_parts_stand_or_fall_each_on_its_own() -> None:
    database = funded(100)
    parts = (
        Decision(reply="first", groups=(posting(70, WALLET, RAIL),)),
        Decision(reply="short", groups=(posting(70, WALLET, RAIL),), events=(Event("x", "toy", b"x"),)),
        Refusal(104, "bad"),
        Decision(reply="last", groups=(posting(30, WALLET, RAIL),), events=(Event("y", "toy", b"y"),)),
    )
    whole = Decision(
        numbers_used=5,
        sub_decisions=parts,
        combine=lambda became: Decision(reply=[visible_result(part)[:2] for part in became]),
    )
    result = database.run([answering(whole)])[0]
    assert isinstance(result, Decision)
    assert result.reply == [("done", b'"first"'), ("refused", 301), ("refused", 104), ("done", b'"last"')]
    assert wallet_of(database).posted == 0
    assert [event.reference for event in database.events] == ["y"]
    assert (database.book(1).last_number, database.book(1).last_event_seq) == (5, 1)


# --- numbers and entropy --------------------------------------------------------------------------------------------


def test_a_number_is_given_again_only_when_it_was_not_used() -> None:
    given: list[int] = []

    def take(used: int, outcome: Any) -> Submission:
        def rule(context: Context, rows: LoadedRows) -> Any:
            given.append(context.number)
            return Decision(reply="x", numbers_used=used) if outcome is None else outcome

        return deciding(rule)

    database = funded()
    database.run([take(1, None), take(9, SHORT), take(3, None), take(0, None), take(1, None)])
    database.run([take(1, None)])
    assert given == [1, 2, 2, 5, 5, 6]
    assert database.book(1).last_number == 6


def test_with_a_seed_entropy_depends_on_earlier_decisions_and_is_repeatable() -> None:
    seeded = Deployment(WORLD.vault, WORLD.number_permutation, b"seed")

    def entropies(world: Deployment) -> list[bytes]:
        database, seen_entropy = MemoryDatabase(), []

        def rule(context: Context, rows: LoadedRows) -> Decision:
            seen_entropy.append(context.entropy)
            return Decision(reply="x", groups=(posting(1),), numbers_used=1)

        for _ in range(3):
            database.run([deciding(rule)], world=world)
        return seen_entropy

    assert entropies(seeded) == entropies(seeded)
    assert len(set(entropies(seeded))) == 3
    assert set(entropies(WORLD)) == {b"entropy".ljust(32)}


def test_with_a_seed_a_rule_that_needs_more_keeps_its_own_entropy() -> None:
    """A rule that is run again gets the same random bytes, and two rules at the same decision count differ."""
    seeded = Deployment(WORLD.vault, WORLD.number_permutation, b"seed")
    drawn: dict[int, list[bytes]] = {0: [], 1: []}

    def drawing(n: int) -> Submission:
        def rule(context: Context, rows: LoadedRows) -> Decision | NeedsMore:
            drawn[n].append(context.entropy)
            key = context.entropy[:16]
            return Decision(reply="x", numbers_used=1) if rows.is_loaded(key) else NeedsMore(Needs(((Ticket, key),)))

        return deciding(rule)

    MemoryDatabase().run([drawing(0), drawing(1)], world=seeded)
    assert [len(entropies) for entropies in drawn.values()] == [2, 2]
    assert all(first == again for first, again in drawn.values())
    assert drawn[0] != drawn[1]


def test_audit_entries_are_recorded_only_with_their_decision() -> None:
    entry = AuditEntry("ada", "looked", "KSW|GVC|1|x")
    database = funded()
    database.run([answering(Decision(reply="x", groups=(posting(10**9, WALLET, RAIL),), audit_entries=(entry,)))])
    assert database.audit_rows == []
    version = database.book(1).version
    database.run([answering(Decision(reply="x", audit_entries=(entry,)))])
    assert [(row.merchant_id, row.actor, row.subject) for row in database.audit_rows] == [(1, "ada", "KSW|GVC|1|x")]
    assert database.book(1).version == version + 1


def test_groups_that_are_only_tried_refuse_and_are_never_recorded() -> None:
    entry = AuditEntry("ada", "tried", "KSW|GVC|1|x")
    database = funded()
    before = wallet_of(database)
    for amount, expected in ((10**9, SHORT), (500, "x")):
        tried = Decision(reply="x", tried_groups=(posting(amount, WALLET, RAIL),), audit_entries=(entry,))
        [result] = database.run([answering(tried)])
        assert visible_result(result) == visible_result(expected if isinstance(expected, Refusal) else tried)
    assert wallet_of(database) == before
    assert len(database.audit_rows) == 1


# --- jobs and clocks ------------------------------------------------------------------------------------------------


def job_of(database: MemoryDatabase) -> Job:
    job = database.rows[job_key(ToyRequest("start"))]
    assert isinstance(job, Job)
    return job


def test_the_job_that_is_run_at_once_is_leased_to_who_asked() -> None:
    database = funded()
    database.run([submission(ToyRequest("start"))])
    assert (job_of(database).leased_until, job_of(database).claims, job_of(database).run_at) == (
        WALL + JOB_LEASE,
        1,
        WALL,
    )


def test_a_job_that_nobody_runs_at_once_is_leased_to_nobody() -> None:
    database = funded()
    sent = submission(ToyRequest("start"))
    sent.runs_follow_up = False
    database.run([sent])
    assert (job_of(database).leased_until, job_of(database).claims, job_of(database).run_at) == (None, 0, WALL)


def test_a_job_for_later_is_nobodys() -> None:
    database = funded()
    database.run([submission(ToyRequest("start"))])
    database.run([submission(ToyRequest("try_later"))])
    assert (job_of(database).leased_until, job_of(database).claims, job_of(database).attempt) == (None, 0, 1)


def test_a_finished_job_is_deleted_and_never_written_if_new_in_the_batch() -> None:
    database = funded()
    batch = [submission(ToyRequest("start")), submission(ToyRequest("finish"))]
    state = database.batch_state(batch)
    run_to_completion(decide_batch(state, batch))
    assert job_key(ToyRequest("start")) not in {*state.inserted_rows, *state.updated_rows, *state.deleted_jobs}
    database.run([submission(ToyRequest("start", ref="b"))])
    database.run([submission(ToyRequest("try_later", ref="b")), submission(ToyRequest("finish", ref="b"))])
    assert database.all(Job, 1) == []


@pytest.mark.parametrize(
    ("clock", "due", "run_at"),
    [
        ({"clock_offset_us": 0}, WALL + HOUR, WALL + HOUR),
        ({"clock_offset_us": 3_600_000_000}, WALL + 3 * HOUR, WALL + 2 * HOUR),
        ({"clock_fixed_at": WALL - 9 * HOUR}, WALL - 9 * HOUR, WALL),
        ({"clock_fixed_at": WALL - 9 * HOUR}, WALL - 8 * HOUR, NEVER),
    ],
)
def test_a_job_runs_when_its_business_time_comes_on_the_walls_clock(
    clock: dict[str, Any], due: datetime, run_at: datetime
) -> None:
    database = funded()
    set_clock(database, **clock)
    job = Job(b"job".ljust(16), 1, "toy", "toy", "a", b"", due, due, None, 0, 0, None, "{}")
    database.run([answering(Decision(reply="x", jobs=(job,)))])
    assert database.all(Job, 1)[0].run_at == run_at


@pytest.mark.parametrize("clock", [{"clock_offset_us": -5}, {"clock_fixed_at": WALL - HOUR}])
def test_a_moved_clock_is_seen_by_the_next_and_written_to_the_state_row(clock: dict[str, Any]) -> None:
    database, seen_times = funded(), []
    set_clock(database, **clock)

    def look(context: Context, rows: LoadedRows) -> Decision:
        seen_times.append(context.now)
        return Decision(reply="x")

    batch = [answering(Decision(reply="moved", sandbox=SandboxEffects(clock=WALL + HOUR))), deciding(look)]
    state = database.batch_state(batch)
    run_to_completion(decide_batch(state, batch))
    assert seen_times == [WALL + HOUR]
    assert state.written_merchants == {1}
    assert business_now(state.merchant_states[1], WALL) == WALL + HOUR


def test_planned_faults_are_seen_by_the_next_until_they_are_used_up() -> None:
    database, seen_faults = funded(), []

    def look(context: Context, rows: LoadedRows) -> Decision:
        seen_faults.append(context.injected_faults)
        return Decision(reply="x", sandbox=SandboxEffects(injected_faults=()))

    planned = (InjectedFault("bank", "reset", 2),)
    database.run(
        [
            answering(Decision(reply="planned", sandbox=SandboxEffects(injected_faults=planned))),
            deciding(look),
            deciding(look),
        ]
    )
    assert seen_faults == [planned, ()]
    assert database.book(1).faults is None


# --- what a rule sees -------------------------------------------------------------------------------------------


def test_a_rule_sees_the_rows_it_asked_for_and_none_of_its_neighbors() -> None:
    """Two submissions of one batch share the rows that were fetched, but each sees only its own."""
    database, ask = funded(), ToyRequest("start")
    database.run([submission(ask)])
    ticket, job = ticket_key(ask), job_key(ask)
    found: list[tuple[bool, bool]] = []

    def look(context: Context, rows: LoadedRows) -> Decision:
        found.append((rows.is_loaded(ticket), rows.is_loaded(job)))
        return Decision(reply="looked")

    neighbor = submission(ToyRequest("fund"))
    neighbor.needs = Needs(((Ticket, ticket), (Job, job)), ACCOUNTS)
    only_ticket = Submission(merchant(1), Needs(((Ticket, ticket),)), look, bytes(32))
    database.run([neighbor, only_ticket, deciding(look)])
    assert found == [(True, False), (False, False)]


def test_a_rule_cannot_read_a_row_that_only_its_neighbor_requested() -> None:
    database, ask = funded(), ToyRequest("start")
    database.run([submission(ask)])
    reading = deciding(lambda context, seen: Decision(reply=seen.get(Ticket, ticket_key(ask))))
    neighbor = submission(ToyRequest("finish"))
    result = database.run([neighbor, reading])[1]
    assert isinstance(result, RuleFailure)
    assert isinstance(result.error, KeyError)


def test_what_a_rule_asks_for_later_is_fetched_though_a_neighbor_has_a_part_of_it() -> None:
    """A rule may check one key to know whether all of its needs are loaded, whatever else is in the batch."""
    database, ask = funded(), ToyRequest("start")
    database.run([submission(ask)])
    ticket, job = ticket_key(ask), job_key(ask)

    def look(context: Context, rows: LoadedRows) -> Decision | NeedsMore:
        if not rows.is_loaded(ticket):
            return NeedsMore(Needs(((Ticket, ticket), (Job, job))))
        return Decision(reply=rows.get(Job, job) is not None)

    neighbor = deciding(lambda context, seen: Decision(reply="looked"))
    neighbor.needs = Needs(((Ticket, ticket),))
    result = database.run([neighbor, deciding(look)])[1]
    assert isinstance(result, Decision)
    assert result.reply is True
