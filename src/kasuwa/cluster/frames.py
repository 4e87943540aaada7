"""Frames between the processes of one deployment, over a Unix socket, or by TLS to another host.

A frame has a kind, a number that connects an answer with its question, and a payload in msgpack. Any number of
questions may be in flight on one connection. Frames that are sent in one turn of the event loop are written at once.
"""

import asyncio
import time
from collections.abc import Callable
from struct import Struct
from typing import Any

# Length of the payload, kind, number.
HEAD = Struct("!IBQ")
# Far more than a request body or a page of a list. A longer frame is not ours.
MAX_PAYLOAD_BYTES = 64 * 1024 * 1024

# Kinds of frames. HELLO: the owner is ready for questions. GOODBYE: it is stopping and answers what it was sent before.
# DECLINED: nothing was done. FAILED: the question may have been carried out, and there is no answer.
HELLO, GOODBYE, PING, PONG, ANSWER, DECLINED, FAILED = range(1, 8)
# Kinds of questions: a request of a merchant or of the console, a payer's answer on a page, the result of a job, and a
# request to be counted that is answered elsewhere.
REQUEST, PAYER_ANSWER, JOB_RESULT, RATE = range(16, 20)

QUESTION_NAMES = {REQUEST: "request", PAYER_ANSWER: "payer", JOB_RESULT: "job", RATE: "rate"}


class FrameConnection(asyncio.Protocol):
    """One end of a connection. `on_frame(connection, kind, number, payload)` is called for each frame, in order, and
    `on_closed(connection)` once at the end."""

    def __init__(
        self,
        on_frame: "Callable[[FrameConnection, int, int, bytes], None]",
        on_closed: "Callable[[FrameConnection], None]",
    ) -> None:
        self._on_frame = on_frame
        self._on_closed = on_closed
        self._loop = asyncio.get_running_loop()
        self._transport: Any = None
        self._unsent: list[bytes] = []
        self._received: list[bytes] = []
        self._received_bytes = 0
        self._wanted_bytes = HEAD.size
        self.received_at = time.monotonic()
        self.is_closed = False
        self._is_abandoned = False  # closed, perhaps before it was connected

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        if self._is_abandoned:
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.is_closed = True
        self._on_closed(self)

    def close(self) -> None:
        """Closes the connection after what was sent is written."""
        self._flush()
        self._is_abandoned = True
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        self._is_abandoned = True
        if self._transport is not None:
            self._transport.abort()

    def send(self, kind: int, number: int = 0, payload: bytes = b"") -> None:
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent += (HEAD.pack(len(payload), kind, number), payload)

    def _flush(self) -> None:
        if self._unsent and self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(self._unsent))
        self._unsent = []

    def data_received(self, data: bytes) -> None:
        if self._is_abandoned:
            return  # TLS hands over what came before both sides have hung up
        self.received_at = time.monotonic()
        self._received.append(data)
        self._received_bytes += len(data)
        if self._received_bytes < self._wanted_bytes:
            return  # a long frame is joined once, when all of it is there
        data = data if len(self._received) == 1 else b"".join(self._received)
        start = self._read_frames(data)
        rest = data[start:]
        self._received, self._received_bytes = ([rest] if rest else []), len(rest)

    def _read_frames(self, data: bytes) -> int:
        """Hands over the complete frames. Returns where the rest begins."""
        start, end = 0, len(data)
        while end - start >= HEAD.size:
            length, kind, number = HEAD.unpack_from(data, start)
            if length > MAX_PAYLOAD_BYTES:
                self.abort()
                return end
            body = start + HEAD.size
            if end - body < length:
                self._wanted_bytes = HEAD.size + length
                return start
            start = body + length
            self._on_frame(self, kind, number, data[body:start])
        self._wanted_bytes = HEAD.size
        return start
