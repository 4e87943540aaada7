"""Logs: one structured line per request, limited to the fields of RequestLine, and the setup of structlog.

The request line is written by hand into a buffer that is flushed ten times a second: at thousands of requests
a second a logging framework would cost more than the request. All other log lines go through structlog.
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


def utc_now_text() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class RequestLine(msgspec.Struct, kw_only=True):
    """The log line of a request. It never holds a body, the value of a header, or a query string."""

    at: str = msgspec.field(default_factory=utc_now_text)
    request_id: str
    address: str  # of the client
    method: str  # of HTTP, or "other"
    path: str  # a known path or path prefix, or "other"
    action: str
    mid: str  # empty if the merchant is not known
    http: int  # the HTTP status
    status: int  # the status in the body
    ms: float


class RequestIds:
    """Chooses the id of a request in the logs and in its reply: the client's X-Request-Id if it matches REQUEST_ID,
    otherwise a number of this process."""

    def __init__(self) -> None:
        self._prefix = os.urandom(5).hex()
        self._numbers = itertools.count(1)

    def choose(self, client_id: str | None) -> str:
        if client_id is not None and REQUEST_ID.fullmatch(client_id):
            return client_id
        return f"{self._prefix}-{next(self._numbers):x}"


class RequestLog:
    """Writes request lines to a file descriptor, many at a time. With fd None it is off: callers check `is_open`."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd
        self.is_open = fd is not None
        self._lines: list[bytes] = []
        self._size = 0
        self._flushing: asyncio.TimerHandle | None = None

    def write(self, line: RequestLine) -> None:
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
            with contextlib.suppress(OSError):  # requests go on if the disk is full or nobody reads the pipe
                os.write(self._fd, b"\n".join(self._lines) + b"\n")
        self._lines.clear()
        self._size = 0


class SafeStderr:
    """Standard error for log lines. Ignores write errors, such as a full disk or a closed pipe."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            return sys.stderr.write(text)
        return 0

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


def configure_logging(metrics: Metrics, *, json_lines: bool) -> None:
    """Sends all log lines but request lines to standard error, as text or as JSON, and counts the errors."""

    def count(_: Any, level: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        if level == "error":
            metrics.count(ERRORS, event["event"])
        return event

    library_handler = logging.StreamHandler(SafeStderr())
    library_handler.setFormatter(RedactingFormatter("%(levelname)s:%(name)s:%(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[library_handler])
    # The driver logs every connection it cannot restore, with a stack. /readyz and the replies report it better.
    logging.getLogger("asyncpg").setLevel(logging.CRITICAL)
    # The form parser logs what visitors send wrongly. The reply reports it to them.
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[
            count,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer() if json_lines else structlog.dev.ConsoleRenderer(colors=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(SafeStderr()),  # type: ignore[arg-type]
        # Debug lines are for developers, not for operators.
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
    )


class RedactingFormatter(logging.Formatter):
    """Formats the log lines of libraries. Shows an error's type and places only, as its text may quote a request."""

    def formatException(self, ei: Any) -> str:
        return str(describe_error(ei[1]))


def log_unhandled_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Logs errors that nobody awaited. asyncio's own lines would quote their text."""

    def log_error(_: asyncio.AbstractEventLoop, details: dict[str, Any]) -> None:
        error = details.get("exception")
        log.error("task failed", **({} if error is None else describe_error(error)))

    loop.set_exception_handler(log_error)


def describe_error(error: BaseException) -> dict[str, object]:
    """Returns an error's type and the places of its traceback. Leaves out its message, which may quote a request."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename.rpartition('kasuwa/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    cause = error.__cause__
    description: dict[str, object] = {"error": type(error).__name__, "places": places}
    return description | ({"cause": describe_error(cause)} if cause is not None else {})
