"""Random batches keep the invariants of the books, and give the same results as their submissions one by one."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kasuwa.core.money import LARGEST_BALANCE
from kasuwa.engine.batch import TOO_LARGE, Submission
from kasuwa.engine.idempotency import IdempotencyRecord
from tests.engine.invariants import anything, asks, check_invariants, funded, submissions
from tests.engine.memory_database import MemoryDatabase, visible_result, wallet_of
from tests.engine.toy import FAILING_RULES, MERCHANTS, VALID_RULES, ToyRequest, submission
from tests.hypothesis_settings import without_deadline

UNTIMED = without_deadline(150)


# --- the invariants -------------------------------------------------------------------------------------------


@UNTIMED
@given(st.lists(st.lists(anything, max_size=8), max_size=5))
def test_any_batches_in_any_order_keep_the_invariants(batches: list[list[ToyRequest]]) -> None:
    database = funded()
    for n, chosen in enumerate(batches):
        results = database.run(submissions(chosen, n * 100))
        assert len(results) == len(chosen)
        check_invariants(database)


@UNTIMED
@given(st.lists(anything, max_size=10), st.randoms(use_true_random=False))
def test_any_order_of_arrival_keeps_the_invariants(chosen: list[ToyRequest], chance: Any) -> None:
    chance.shuffle(chosen)
    database = funded()
    database.run(submissions(chosen))
    check_invariants(database)


# --- neighbors -----------------------------------------------------------------------------------------------


@UNTIMED
@given(
    st.lists(asks((*VALID_RULES, "ask_more")), max_size=8),
    st.lists(
        st.tuples(st.integers(min_value=0, max_value=8), asks(FAILING_RULES, claimed=False)), min_size=1, max_size=4
    ),
)
def test_a_refused_or_failing_submission_does_not_affect_the_others(
    chosen: list[ToyRequest], hurtful: list[tuple[int, ToyRequest]]
) -> None:
    alone, disturbed = funded(), funded()
    undisturbed = [visible_result(result) for result in alone.run(submissions(chosen))]
    batch: list[Submission] = submissions(chosen)
    bad = [submission(ask) for _, ask in hurtful]
    for (place, _), made in zip(hurtful, bad, strict=True):
        batch.insert(place, made)
    results = disturbed.run(batch)
    assert [visible_result(r) for made, r in zip(batch, results, strict=True) if made not in bad] == undisturbed
    assert all(
        visible_result(r)[0] in ("refused", "broken") for made, r in zip(batch, results, strict=True) if made in bad
    )
    assert disturbed.contents() == alone.contents()


@UNTIMED
@given(st.lists(asks(VALID_RULES), max_size=10))
def test_a_short_one_between_others_does_not_stop_them(chosen: list[ToyRequest]) -> None:
    without, with_short = funded(), funded()
    expected = [visible_result(result) for result in without.run(submissions(chosen))]
    too_much = submission(ToyRequest("spend", amount=10**14))
    results = with_short.run([too_much, *submissions(chosen), too_much])
    assert [visible_result(result) for result in results[1:-1]] == expected
    assert visible_result(results[0]) == visible_result(results[-1]) == ("refused", 301, "short")
    assert with_short.contents() == without.contents()


def test_a_balance_that_the_books_cannot_keep_is_refused_alone() -> None:
    database = MemoryDatabase()
    at, above = submission(ToyRequest("fund", amount=LARGEST_BALANCE)), submission(ToyRequest("fund", amount=1))
    elsewhere = submission(ToyRequest("fund", merchant_id=2, amount=1))
    results = database.run([at, above, elsewhere])
    assert results[1] == TOO_LARGE
    assert [wallet_of(database, merchant_id).posted for merchant_id in MERCHANTS] == [LARGEST_BALANCE, 1]


# --- one by one ---------------------------------------------------------------------------------------------------


@UNTIMED
@given(st.lists(asks((*VALID_RULES, *FAILING_RULES)), max_size=12))
def test_a_batch_is_the_same_as_its_submissions_one_by_one(chosen: list[ToyRequest]) -> None:
    together, apart = funded(), funded()
    at_once = [visible_result(result) for result in together.run(submissions(chosen))]
    one_by_one = [visible_result(apart.run([made])[0]) for made in submissions(chosen)]
    assert at_once == one_by_one
    assert together.contents(versions=False) == apart.contents(versions=False)


def asks_once(ask: ToyRequest) -> object:
    """Makes each request ask for its own further rows, so that no request finds those of another."""
    return (ask.merchant_id, ask.ref) if ask.verb == "ask_more" else object()


@UNTIMED
@given(st.lists(asks((*VALID_RULES, "ask_more"), claimed=False), max_size=10, unique_by=asks_once))
def test_who_asks_for_more_is_decided_after_its_mates_and_otherwise_alike(chosen: list[ToyRequest]) -> None:
    together, apart = funded(), funded()
    order = sorted(range(len(chosen)), key=lambda n: chosen[n].verb == "ask_more")
    results = [visible_result(result) for result in together.run(submissions(chosen))]
    made = submissions(chosen)
    assert [results[n] for n in order] == [visible_result(apart.run([made[n]])[0]) for n in order]
    assert together.contents(versions=False) == apart.contents(versions=False)


@UNTIMED
@given(st.lists(st.lists(anything, max_size=6), max_size=4))
def test_the_version_of_a_merchant_rises_exactly_when_it_was_written(batches: list[list[ToyRequest]]) -> None:
    database = funded()
    for n, chosen in enumerate(batches):
        before = {merchant_id: written(database, merchant_id) for merchant_id in MERCHANTS}
        versions = {merchant_id: database.book(merchant_id).version for merchant_id in MERCHANTS}
        database.run(submissions(chosen, n * 100))
        for merchant_id in MERCHANTS:
            moved = database.book(merchant_id).version - versions[merchant_id]
            assert moved in (0, 1)
            if written(database, merchant_id) != before[merchant_id]:
                assert moved == 1


def written(database: MemoryDatabase, merchant_id: int) -> list[Any]:
    rows, postings, events, notices = database.contents(versions=False)
    return [row for part in (rows, postings, events, notices) for row in part if row.merchant_id == merchant_id]


@UNTIMED
@given(st.lists(asks(VALID_RULES), max_size=8))
def test_repeated_requests_change_nothing_and_get_the_same_replies(
    chosen: list[ToyRequest],
) -> None:
    named = [ToyRequest(ask.verb, ask.merchant_id, ask.ref, ask.amount, f"key {n}") for n, ask in enumerate(chosen)]
    database = funded()
    first = [visible_result(result) for result in database.run(submissions(named))]
    before = database.contents()
    kept = {row.key for merchant_id in MERCHANTS for row in database.all(IdempotencyRecord, merchant_id)}
    done = [n for n, answer in enumerate(first) if answer[0] == "done"]
    assert len(kept) == len(done)  # refusals are not stored
    again = [visible_result(result) for result in database.run([submissions(named, 1_000)[n] for n in done])]
    assert [answer[1] for answer in again] == [first[n][1] for n in done]
    assert database.contents() == before
