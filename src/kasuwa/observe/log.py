"""Logs: one structured line a request, and an allow-list of what may stand in it.

The request line is written by hand into a buffer that is flushed ten times a second: at thousands of requests
a second a logging framework would cost more than the request. Everything else goes through structlog.
"""

import asyncio
import contextlib
import itertools
import logging
import os
import re
import sys
import traceback
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

import msgspec
import structlog

from kasuwa.observe.metrics import ERRORS, Metrics

FLUSH_SECONDS = 0.1
FLUSH_BYTES = 64 * 1024
log = structlog.get_logger("kasuwa")

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


class RequestLine(msgspec.Struct):
    """All that may be said of a request: never a body, a header's value or a query."""

    at: str
    request_id: str
    address: str
    method: str
    path: str
    action: str
    mid: str
    http: int
    status: int
    ms: float


class RequestIds:
    """What a request is called in the logs and in its reply: the caller's own name for it, if that may stand in a
    log, or a number of this process."""

    def __init__(self) -> None:
        self._prefix = os.urandom(5).hex()
        self._numbers = itertools.count(1)

    def choose(self, client_id: str | None) -> str:
        if client_id is not None and REQUEST_ID.fullmatch(client_id):
            return client_id
        return f"{self._prefix}-{next(self._numbers):x}"


class RequestLog:
    """Lines to a file descriptor, in lumps. Closed (fd None), it costs nothing."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        self.is_open = fd is not None
        self._lines: list[bytes] = []
        self._size = 0
        self._flushing: asyncio.TimerHandle | None = None

    def write(
        self,
        request_id: str,
        address: str,
        method: str,
        path: str,
        action: str,
        mid: str,
        http: int,
        status: int,
        seconds: float,
    ) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = RequestLine(at, request_id, address, method, path, action, mid, http, status, round(seconds * 1000, 2))
        self._lines.append(msgspec.json.encode(line))
        self._size += len(self._lines[-1])
        if self._size >= FLUSH_BYTES:
            self.flush()
        elif self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self.flush)

    def flush(self) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        if self._lines and self._fd is not None:
            with contextlib.suppress(OSError):  # a full disk, a pipe that nobody reads: requests go on
                os.write(self._fd, b"\n".join(self._lines) + b"\n")
        self._lines.clear()
        self._size = 0


class SafeStderr:
    """Standard error for log lines. One that cannot be written (a full disk, a closed pipe) stops nobody's work."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            return sys.stderr.write(text)
        return 0

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


def configure_logging(meter: Metrics, *, json_lines: bool) -> None:
    """What is not a request line: to standard error, for a person or as JSON. Errors are counted too."""

    def count(_: Any, level: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if level == "error":
            meter.count(ERRORS, event["event"])
        return event

    said_by_libraries = logging.StreamHandler(SafeStderr())
    said_by_libraries.setFormatter(RedactingFormatter("%(levelname)s:%(name)s:%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[said_by_libraries])
    # The driver logs every connection it cannot restore, with a stack; /readyz and the replies say it better.
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)
    # The reader of forms logs what visitors send wrongly; they are told in the reply.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[
            count,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer() if json_lines else structlog.dev.ConsoleRenderer(colors=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(SafeStderr()),  # type: ignore[arg-type]
        # What is only of use while something is built is not said to operators.
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


class RedactingFormatter(logging.Formatter):
    """Formats what libraries log. Of an error that comes with it, its kind and places: its text may quote a request."""

    def formatException(self, ei: Any) -> str:
        return str(describe_error(ei[1]))


def log_unhandled_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Logs errors that nobody awaited. asyncio's own lines would quote their text."""

    def complain(_: asyncio.AbstractEventLoop, about: dict[str, Any]) -> None:
        error = about.get("exception")
        log.error("task failed", **({} if error is None else describe_error(error)))

    loop.set_exception_handler(complain)


def describe_error(error: BaseException) -> dict[str, object]:
    """The kind of an error and the places it came through. Not its message: that may quote what was sent."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename.rpartition('kasuwa/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    cause = error.__cause__
    found: dict[str, object] = {"error": type(error).__name__, "places": places}
    return found | ({"cause": describe_error(cause)} if cause is not None else {})
