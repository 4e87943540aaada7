"""Replies stored under an Idempotency-Key: the same request gets the same reply and changes nothing."""

from collections.abc import Iterator
from datetime import timedelta

from kasuwa.core.decision import Decision, Job, Needs
from kasuwa.engine.batch import Submission
from kasuwa.engine.idempotency import (
    IDEMPOTENCY_KEY_TTL,
    IDEMPOTENCY_MISMATCH,
    IdempotencyClaim,
    IdempotencyRecord,
    idempotency_record_key,
    parse_idempotency_claim,
)
from tests.engine.memory_database import MemoryDatabase, visible_result, wallet_of
from tests.engine.toy import SHORT, WALL, Ticket, ToyRequest, job_key, merchant, submission
from tests.walk.bounds import STORED_REPLY


def funded(amount: int = 1_000) -> MemoryDatabase:
    database = MemoryDatabase()
    database.run([submission(ToyRequest("fund", amount=amount))])
    return database


def job_of(database: MemoryDatabase) -> Job:
    job = database.rows[job_key(ToyRequest("start"))]
    assert isinstance(job, Job)
    return job


def test_a_key_used_with_another_request_is_refused() -> None:
    database = funded()
    database.run([submission(ToyRequest("spend", amount=10, idempotency_key="k"))])
    for ask in (
        ToyRequest("spend", amount=11, idempotency_key="k"),
        ToyRequest("fund", amount=10, idempotency_key="k"),
    ):
        assert database.run([submission(ask)])[0] == IDEMPOTENCY_MISMATCH
    assert wallet_of(database).posted == 990


def test_a_key_is_the_merchants_own() -> None:
    database = funded()
    mine = ToyRequest("fund", 1, amount=10, idempotency_key="k")
    database.run([submission(mine), submission(mine._replace(merchant_id=2))])
    assert (wallet_of(database, 1).posted, wallet_of(database, 2).posted) == (1_010, 10)


def test_a_kept_reply_is_not_readable_where_it_lies() -> None:
    database = funded()
    database.run([submission(ToyRequest("start", amount=77, idempotency_key="k"))])
    assert b"open" not in database.all(IdempotencyRecord, 1)[0].sealed_reply


def test_a_key_is_kept_for_a_day_of_wall_time() -> None:
    for age, is_within in STORED_REPLY.sides:
        database, ask = funded(), ToyRequest("spend", amount=10, idempotency_key="k")
        database.run([submission(ask)])
        database.run([submission(ask)], wall=WALL + age)
        assert wallet_of(database).posted == (990 if is_within else 980), age


def test_a_refusal_is_not_kept() -> None:
    database, ask = funded(5), ToyRequest("spend", amount=10, idempotency_key="k")
    assert database.run([submission(ask)])[0] == SHORT
    database.run([submission(ToyRequest("fund", amount=10))])
    assert visible_result(database.run([submission(ask)])[0])[0] == "done"


def test_what_is_shown_once_is_not_in_the_kept_reply() -> None:
    claim = IdempotencyClaim(idempotency_record_key(1, "once"), b"digest", is_original_request=True)
    shown = Decision(reply="with the code", replay_reply="without it")
    asked = Submission(merchant(1), Needs(), lambda context, seen: shown, bytes(32), claim)
    database = funded()
    assert [visible_result(database.run([asked])[0])[1] for _ in range(2)] == [b'"with the code"', b'"without it"']


def test_a_refusal_that_leaves_something_behind_is_not_kept_either() -> None:
    replies: Iterator[Decision] = iter([Decision(reply=SHORT, numbers_used=1), Decision(reply="done")])
    claim = IdempotencyClaim(idempotency_record_key(1, "wrong"), b"digest", is_original_request=True)
    asked = Submission(merchant(1), Needs(), lambda context, seen: next(replies), bytes(32), claim)
    database = funded()
    first, second = (database.run([asked])[0] for _ in range(2))
    assert isinstance(first, Decision)
    assert first.reply == SHORT
    assert visible_result(second)[1] == b'"done"'
    assert database.book(1).last_number == 1


def test_an_answer_that_is_worth_waiting_for_is_not_kept() -> None:
    """A copy under another key finds the first request at the rail. Its reply is not final, so it is not stored."""
    database, replies = funded(), iter([Decision(reply="at the rail", in_progress=True), Decision(reply="done")])
    claim = IdempotencyClaim(idempotency_record_key(1, "other"), b"digest", is_original_request=True)
    asked = Submission(merchant(1), Needs(), lambda context, seen: next(replies), bytes(32), claim)
    assert [visible_result(database.run([asked])[0]) for _ in range(3)] == [
        ("done", b'"at the rail"', True),
        ("done", b'"done"', False),
        ("done", b'"done"', False),
    ]


def test_what_is_shown_once_is_not_in_the_reply_of_a_repeat() -> None:
    database = funded()
    claim = IdempotencyClaim(idempotency_record_key(1, "once"), b"digest", is_original_request=True)
    shown = Decision(reply={"code": "1234567890", "state": "new"}, replay_reply={"state": "new"})
    asked = Submission(merchant(1), Needs(), lambda context, seen: shown, bytes(32), claim)
    assert [visible_result(database.run([asked])[0])[1] for _ in range(3)] == [
        b'{"code":"1234567890","state":"new"}',
        b'{"state":"new"}',
        b'{"state":"new"}',
    ]


def closing(verb: str, job: Job) -> Submission:
    """The step that ends the request of a key: the job has the key's claim."""
    made = submission(ToyRequest(verb))
    made.idempotency_claim = parse_idempotency_claim(job.idempotency_claim)
    return made


def test_a_copy_waits_while_the_first_is_at_the_rail_and_then_gets_its_end() -> None:
    database, ask = funded(), ToyRequest("start", idempotency_key="k")
    first = database.run([submission(ask)])[0]
    assert visible_result(first) == ("done", b'[1,"open"]', False)
    assert (job_of(database).idempotency_claim or b"").startswith(idempotency_record_key(1, "k"))
    assert visible_result(database.run([submission(ask)])[0]) == ("done", b'[1,"open"]', True)
    database.run([closing("finish", job_of(database))])
    assert visible_result(database.run([submission(ask)])[0]) == ("done", b'[1,"ended with 100"]', False)
    assert database.run([submission(ask._replace(amount=5))])[0] == IDEMPOTENCY_MISMATCH


def test_a_reply_that_was_given_stays_as_it_was() -> None:
    database, ask = funded(), ToyRequest("start", idempotency_key="k")
    database.run([submission(ask)])
    database.run([closing("try_later", job_of(database))])
    assert visible_result(database.run([submission(ask)])[0]) == ("done", b'"later"', False)
    (kept,) = database.all(IdempotencyRecord, 1)
    database.run([closing("finish", job_of(database))], wall=WALL + timedelta(hours=1))
    assert database.all(IdempotencyRecord, 1) == [kept]


def test_a_step_whose_kept_reply_is_gone_keeps_none() -> None:
    database = funded()
    database.run([submission(ToyRequest("start", idempotency_key="k"))])
    (kept,) = database.all(IdempotencyRecord, 1)
    del database.rows[kept.key]
    database.run([closing("finish", job_of(database))])
    assert database.all(IdempotencyRecord, 1) == []


def test_a_late_step_of_an_old_request_leaves_the_reply_of_the_keys_next_one() -> None:
    """After a day the key may be used again. The end of the first request must not replace the second one's reply."""
    database, later = funded(), WALL + IDEMPOTENCY_KEY_TTL
    database.run([submission(ToyRequest("start", idempotency_key="k"))])
    anew = ToyRequest("start", ref="b", amount=50, idempotency_key="k")
    old = job_of(database)
    database.run([submission(anew)], wall=later)
    database.run([closing("finish", old)], wall=later)
    assert visible_result(database.run([submission(anew)], wall=later)[0])[1] == b'[2,"open"]'
    assert len(database.all(Ticket, 1)) == 2
