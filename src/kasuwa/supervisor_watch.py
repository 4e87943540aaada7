"""The tie between a part and the supervisor that forked it: a part does not outlive its supervisor.

The supervisor's process id is taken before the fork and handed over. A part that asked for its parent's id only once
it runs could be told that of process 1, which adopts the children of a dead parent, and would then never stop.
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
    """Call first in a part. From here on the system sends it SIGTERM when the supervisor dies, where the system can do
    so (Linux); elsewhere `stop_signal` looks. Ends the process if the supervisor is dead already."""
    global _supervisor
    _supervisor = supervisor
    if sys.platform == "linux":
        # A C library without prctl leaves the look below.
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != supervisor:
        sys.exit(0)


def make_stop_event() -> asyncio.Event:
    """Set by SIGTERM, SIGINT, or the death of the supervisor: an orphan must not go on serving."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    supervisor = os.getppid() if _supervisor is None else _supervisor

    def look() -> None:
        if os.getppid() != supervisor:
            stopping.set()
        else:
            loop.call_later(POLL_SECONDS, look)

    look()
    return stopping
