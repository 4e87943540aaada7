"""Stops a process when the supervisor that forked it dies.

The supervisor's process id is taken before the fork and passed on. A process that asked for its parent's id after the
fork could get that of process 1, which adopts the children of a dead parent, and would then never stop.
"""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys

POLL_SECONDS = 0.5
# <sys/prctl.h>
PR_SET_PDEATHSIG = 1

_supervisor: int | None = None


def exit_with_supervisor(supervisor: int) -> None:
    """Makes the system send SIGTERM to this process when the supervisor dies. Call it first in a fork.

    Works on Linux only. Elsewhere the event of `make_stop_event` polls. Exits if the supervisor is dead already."""
    global _supervisor
    _supervisor = supervisor
    if sys.platform == "linux":
        # With a C library without prctl, make_stop_event still polls.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != supervisor:
        sys.exit(0)


def has_ended(process_id: int | None, parent: int) -> bool:
    """Returns whether a process has ended. False for None. `parent` is the id that this process's parent had at first:
    a parent that was killed may be a zombie, which has an id still but is no parent any more."""
    if process_id is None:
        return False
    if process_id == parent and os.getppid() != parent:
        return True
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it runs as another user
        return False
    return False


def make_stop_event() -> asyncio.Event:
    """Returns an event that SIGTERM, SIGINT or the death of the supervisor sets: an orphan must not go on serving."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    supervisor = os.getppid() if _supervisor is None else _supervisor

    def poll() -> None:
        if os.getppid() != supervisor:
            stopping.set()
        else:
            loop.call_later(POLL_SECONDS, poll)

    poll()
    return stopping
