"""Processes are started before the database is prepared, and wait for it."""

from collections.abc import Callable
from multiprocessing.connection import Connection

from kasuwa.boot.supervise import FORK, PreparedSignal


def report_when(wait: Callable[[], None], answers: Connection) -> None:
    answers.send("started")
    wait()
    answers.send("prepared")


def test_a_process_waits_for_the_signal_and_a_later_one_does_not() -> None:
    signal = PreparedSignal()
    ours, theirs = FORK.Pipe()
    first = FORK.Process(target=report_when, args=(signal.wait, theirs))
    first.start()
    assert ours.recv() == "started"
    assert first.is_alive()
    assert not ours.poll()
    signal.give()
    assert ours.recv() == "prepared"
    first.join()
    later = FORK.Process(target=report_when, args=(signal.wait, theirs))
    later.start()
    assert [ours.recv(), ours.recv()] == ["started", "prepared"]
    later.join()
    assert (first.exitcode, later.exitcode) == (0, 0)
