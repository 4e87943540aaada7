"""Writes are possible again at most 15 seconds after one answer of the database was lost, by the sum of the deadlines.

One lost answer uses up one deadline; every other message is answered. Each path below also has a whole attempt to
connect, as if the server were slow to let the new connection in. How long it takes is measured by `python -m bench
--only recovery`, and every kind of message is lost in test_lost_answers.py.
"""

import inspect

import pytest

from kasuwa.boot import readiness
from kasuwa.engine import writer, writer_session
from kasuwa.jobs import presence
from kasuwa.postgres import backend_connection, connection_pool, connections, primary

RECOVERY_SECONDS = 15.0


def default_of(function: object, name: str) -> float:
    """Returns the default of a parameter: what is in force in a process."""
    return float(inspect.signature(function).parameters[name].default)  # type: ignore[arg-type]


# Until a call is given up: its statement's time, what is added to it, and the time until that is noticed.
NOTICED = backend_connection.GRACE_SECONDS + backend_connection.CHECK_SECONDS
WRITE = default_of(writer.Writer, "statement_seconds") + NOTICED
STATEMENT = default_of(connections.connect_as_owner, "statement_seconds") + NOTICED
POOLED = default_of(connections.open_pool, "statement_seconds") + NOTICED
CONNECT = default_of(connections.connect, "connect_seconds")

PATHS = {
    # The writer's loop goes on: after a call on its connections, or an attempt to make one.
    "a call of the writer": (WRITE, writer_session.RETRY_SECONDS, CONNECT),
    "a connection of the writer": (CONNECT, writer_session.RETRY_SECONDS, CONNECT),
    "a writer that nobody asks": (WRITE, writer.PROBE_SECONDS, CONNECT),
    # A client that sends one request after another is answered, and its next one is done.
    "a submission": (
        default_of(writer.Writer, "timeout_seconds"),
        writer.COMMIT_GRACE_SECONDS,
        writer.SWEEP_SECONDS,
        writer_session.RETRY_SECONDS,
        CONNECT,
    ),
    # A request waits for a pooled connection, for what reads its merchant, and for a new connection of the pool.
    "a read of a pool": (default_of(connection_pool.Pool, "acquire_seconds"), POOLED, CONNECT),
    "a pooled connection that is given back": (connection_pool.RELEASE_SECONDS, CONNECT),
    # The process is ready again: it is announced, and its pools are asked.
    "a presence": (STATEMENT, presence.POLL_SECONDS, CONNECT),
    "a question of /readyz": (connection_pool.PROBE_SECONDS, readiness.ANSWER_SECONDS, CONNECT),
}


@pytest.mark.parametrize("path", PATHS)
def test_the_deadlines_of_a_lost_answer_come_to_15_seconds_at_most(path: str) -> None:
    assert sum(PATHS[path]) <= RECOVERY_SECONDS


def test_a_writer_gives_up_a_call_before_its_submissions_are_answered() -> None:
    assert default_of(writer.Writer, "timeout_seconds") > WRITE
    assert default_of(writer_session.WriterSession, "statement_seconds") == connections.WRITE_SECONDS
    assert primary.CONNECT_SECONDS == CONNECT
