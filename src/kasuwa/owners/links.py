"""The connections of one process to the API processes that own merchants, and the choice of the owner.

An owner is asked only while its connection is live. It is not live if the process is gone or stopping, or if it has not
answered a ping for SILENT_SECONDS; its partitions then belong to the next process of their order. Ownership makes
writes cheap, and nothing else: whoever decides a write checks the merchant's version under its lock.

    away ──HELLO──> live ──no answer──> silent ──answer──> live
                    live ──GOODBYE──> leaving ──all answered──> away
    any ──connection lost──> away
"""

import asyncio
import time
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import msgspec

from kasuwa.observe.metrics import FORWARDED, OWNERS_LIVE, Metrics
from kasuwa.owners.frames import (
    ANSWER,
    DECLINED,
    GOODBYE,
    HELLO,
    PING,
    QUESTION_NAMES,
    FrameConnection,
)
from kasuwa.owners.partitions import PartitionTable

TICK_SECONDS = 0.25
# A connection on which nothing arrived for this long is pinged.
PING_SECONDS = 0.5
# An owner from which nothing arrived for this long, although it was asked, gets no more questions. Questions that may
# be repeated are then decided here.
SILENT_SECONDS = 2.0
# After this long, the other questions are given up too: their outcome is unknown.
GIVE_UP_SECONDS = 10.0
RECONNECT_SECONDS = 0.1


class ReplyLost(Exception):
    """The owner was asked and its answer did not arrive: the question may have been carried out."""


class NothingDone(Exception):
    """The owner declined the question, or was not asked: nothing was done."""


class LinkState(Enum):
    AWAY = "away"
    LIVE = "live"
    SILENT = "silent"
    LEAVING = "leaving"


class PendingQuestion(msgspec.Struct, eq=False):
    answer: "asyncio.Future[bytes]"
    may_repeat: bool  # deciding it again here is safe


class OwnerLink:
    """The connection to one API process."""

    def __init__(self, links: "OwnerLinks", process: int, path: Path) -> None:
        self._links = links
        self._path = path
        self.process = process
        self.state = LinkState.AWAY
        self._connection: FrameConnection | None = None
        self._pending: dict[int, PendingQuestion] = {}
        self._last_number = 0
        self._lost = asyncio.Event()

    async def ask(self, kind: int, payload: bytes, *, may_repeat: bool = False) -> bytes:
        """Sends a question and returns the answer. Raises NothingDone or ReplyLost."""
        connection, count = self._connection, self._links.count
        if connection is None or connection.is_closed:
            count(kind, "not sent")
            raise NothingDone
        self._last_number += 1
        answer = asyncio.get_running_loop().create_future()
        self._pending[self._last_number] = PendingQuestion(answer, may_repeat)
        connection.send(kind, self._last_number, payload)
        try:
            answered: bytes = await answer
        except NothingDone:
            count(kind, "declined")
            raise
        except ReplyLost:
            count(kind, "lost")
            raise
        count(kind, "answered")
        return answered

    # --- frames -------------------------------------------------------------------------------------------------

    def _receive(self, connection: FrameConnection, kind: int, number: int, payload: bytes) -> None:
        if self.state is LinkState.SILENT or kind == HELLO:
            self._set_state(LinkState.LIVE)
        if kind == GOODBYE:
            self._set_state(LinkState.LEAVING)
        pending = self._pending.pop(number, None)
        if pending is not None and not pending.answer.done():
            if kind == ANSWER:
                pending.answer.set_result(payload)
            else:
                pending.answer.set_exception(NothingDone() if kind == DECLINED else ReplyLost())
        self._hang_up_if_left()

    def _hang_up_if_left(self) -> None:
        if self.state is LinkState.LEAVING and not self._pending and self._connection is not None:
            self._connection.close()

    def _lose(self, connection: FrameConnection) -> None:
        self._connection = None
        self._lost.set()
        self._set_state(LinkState.AWAY)
        self._give_up(only_repeatable=False)

    def _give_up(self, *, only_repeatable: bool) -> None:
        for number, pending in list(self._pending.items()):
            if pending.may_repeat or not only_repeatable:
                del self._pending[number]
                if not pending.answer.done():
                    pending.answer.set_exception(ReplyLost())

    def _set_state(self, state: LinkState) -> None:
        if state is not self.state:
            self.state = state
            self._links.update_owners()

    # --- liveness -----------------------------------------------------------------------------------------------

    def check(self, now: float) -> None:
        """Pings an owner that is quiet, and gives up on one that stays silent."""
        connection = self._connection
        if connection is None or self.state is LinkState.AWAY:
            return
        quiet = now - connection.received_at
        if quiet > GIVE_UP_SECONDS:
            connection.abort()
        elif quiet > SILENT_SECONDS:
            if self.state is LinkState.LIVE:
                self._set_state(LinkState.SILENT)
            self._give_up(only_repeatable=True)
        elif quiet > PING_SECONDS:
            connection.send(PING)

    def excuse(self, now: float) -> None:
        """Counts the owner as live now. Called if this process was itself too late to listen."""
        if self._connection is not None:
            self._connection.received_at = now

    async def keep_connected(self) -> None:
        """Connects again whenever the connection is lost. Runs until it is cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            # Set before it is connected: the HELLO may arrive before this task runs again.
            self._connection = FrameConnection(self._receive, self._lose)
            self._lost.clear()
            try:
                await loop.create_unix_connection(self._get_connection, str(self._path))
            except OSError:
                self._connection = None
            else:
                await self._lost.wait()
            await asyncio.sleep(RECONNECT_SECONDS)

    def _get_connection(self) -> FrameConnection:
        assert self._connection is not None, "set before connecting"
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


class OwnerLinks:
    """The owners as one process sees them. `own` is this process's number, or None if it owns no merchants."""

    def __init__(self, paths: Sequence[Path], own: int | None, metrics: Metrics) -> None:
        self._metrics = metrics
        self._own = own
        self._table = PartitionTable(len(paths))
        self._links = {number: OwnerLink(self, number, path) for number, path in enumerate(paths) if number != own}
        self._owners: list[int | None] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.update_owners()
        metrics.add_collector(self._collect)

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = [loop.create_task(link.keep_connected()) for link in self._links.values()]
        self._tasks.append(loop.create_task(self._watch()))

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        for link in self._links.values():
            link.close()

    def find(self, merchant_id: int) -> OwnerLink | None:
        """Returns the connection to the merchant's owner. None if that is this process, or if no owner is live."""
        owner = self._owners[merchant_id % self._table.size]
        return None if owner is None or owner == self._own else self._links[owner]

    def is_first_choice(self, merchant_id: int) -> bool:
        """Whether this process owns the merchant when all are live."""
        return self._table.first_choices[merchant_id % self._table.size] == self._own

    def update_owners(self) -> None:
        """Recomputes the owners of all partitions. Called when a connection becomes live, or is no longer."""
        live = {number for number, link in self._links.items() if link.state is LinkState.LIVE}
        if self._own is not None:
            live.add(self._own)
        self._owners = self._table.list_owners(live)

    def count(self, kind: int, outcome: str) -> None:
        self._metrics.count(FORWARDED, QUESTION_NAMES[kind], outcome)

    def _collect(self) -> None:
        live = sum(link.state is LinkState.LIVE for link in self._links.values())
        self._metrics.gauge(OWNERS_LIVE, live, self._metrics.process_name)

    async def _watch(self) -> None:
        before = time.monotonic()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.monotonic()
            is_late = now - before > TICK_SECONDS + PING_SECONDS
            before = now
            for link in self._links.values():
                # If this process did not run for a while, answers may be waiting that it has not read.
                if is_late:
                    link.excuse(now)
                link.check(now)
