"""Random bytes for decisions: no decision gets those of another, in whatever process it is made."""

from multiprocessing import get_context
from multiprocessing.connection import Connection

from kasuwa.engine.entropy import DIGEST_BYTES, READ_AHEAD, draw_entropy, unused


def test_no_two_decisions_get_the_same_bytes() -> None:
    drawn = [draw_entropy() for _ in range(3 * READ_AHEAD)]
    assert {len(one) for one in drawn} == {DIGEST_BYTES}
    assert len(set(drawn)) == len(drawn)


def send_drawn(answers: Connection) -> None:
    answers.send([draw_entropy() for _ in range(2 * READ_AHEAD)])


def test_a_forked_process_draws_bytes_of_its_own() -> None:
    unused.clear()
    draw_entropy()  # the rest of what was read is copied by the fork
    context = get_context("fork")
    answers, sender = context.Pipe(duplex=False)
    child = context.Process(target=send_drawn, args=(sender,))
    child.start()
    own = {draw_entropy() for _ in range(2 * READ_AHEAD)}
    theirs = set(answers.recv())
    child.join()
    assert len(own) == len(theirs) == 2 * READ_AHEAD
    assert own.isdisjoint(theirs)
