"""The connections of one process to the API processes that own merchants, and the choice of the owner.

An owner is asked only while its connection is live. It is not live if the process is gone or stopping, or if it has not
answered a ping for SILENT_SECONDS; its partitions then belong to the next process of their order. Ownership makes
writes cheap, and nothing else: whoever decides a write checks the merchant's version under its lock.

    away ──HELLO──> live ──no answer──> silent ──answer──> live
                    live ──GOODBYE──> leaving ──all answered──> away
    any ──connection lost──> away

The API processes of this host are always known. Those of other hosts are given by `set_peers`, as they are read from
the table of live processes.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from pathlib import Path

import msgspec

from kasuwa.cluster.dialing import Dialer, LocalDialer, PeerDialer
from kasuwa.cluster.frames import (
    ANSWER,
    DECLINED,
    GOODBYE,
    HELLO,
    JOB_RESULT,
    PAYER_ANSWER,
    PING,
    QUESTION_NAMES,
    RATE,
    REQUEST,
    FrameConnection,
)
from kasuwa.cluster.partitions import AddressTable, Member, PartitionTable
from kasuwa.cluster.peers import Peer, PeerHost
from kasuwa.observe.metrics import FORWARDED, OWNERS_LIVE, PEER_FORWARDED, PEER_LIVE, PEER_REFUSED, Metrics

TICK_SECONDS = 0.25
# A connection on which nothing arrived for this long is pinged.
PING_SECONDS = 0.5
# An owner from which nothing arrived for this long, although it was asked, gets no more questions. Questions that may
# be repeated are then decided here.
SILENT_SECONDS = 2.0
# After this long, the other questions are given up too: their outcome is unknown.
GIVE_UP_SECONDS = 10.0
# How long a question waits for its answer, by kind, also if the owner answers pings. Longer than the owner's own
# deadlines, so that what ends here is a question that the owner has lost track of. A request may wait for one that is
# in progress, for its commit, a rail and a second commit; an advance of a sandbox's clock for its lease, and then runs
# for 20 s. The result of a job is one commit. A count is made in memory, and the reply to a read waits for it.
ANSWER_SECONDS = {REQUEST: 60.0, PAYER_ANSWER: 60.0, JOB_RESULT: 10.0, RATE: 2.0}


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
    expires_at: float


class OwnerLink:
    """The connection to one API process."""

    def __init__(self, links: "OwnerLinks", dialer: Dialer) -> None:
        self._links = links
        self._dialer = dialer
        self.state = LinkState.AWAY
        self._connection: FrameConnection | None = None
        self._pending: dict[int, PendingQuestion] = {}
        self._last_number = 0
        self._lost = asyncio.Event()
        self._connecting: asyncio.Task[None] | None = None

    @property
    def peer(self) -> str:
        """The address of a process of another host. Empty for one of this host."""
        return self._dialer.peer

    async def ask(self, kind: int, payload: bytes, *, may_repeat: bool = False) -> bytes:
        """Sends a question and returns the answer. Raises NothingDone, or ReplyLost also if the answer is late."""
        connection, count = self._connection, partial(self._links.count, self.peer)
        if connection is None or connection.is_closed:
            count(kind, "not sent")
            raise NothingDone
        self._last_number += 1
        answer = asyncio.get_running_loop().create_future()
        expires_at = time.monotonic() + ANSWER_SECONDS[kind]
        self._pending[self._last_number] = PendingQuestion(answer, may_repeat, expires_at)
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
        if connection is not self._connection:
            return  # it was given up
        if kind == HELLO and payload != self._dialer.greeting:
            self._links.refuse(self.peer, "other process")
            connection.abort()
            return
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
        if connection is not self._connection:
            return
        if self.state is LinkState.AWAY and self.peer:
            self._links.refuse(self.peer, "not greeted")
        self._connection = None
        self._lost.set()
        self._set_state(LinkState.AWAY)
        self._give_up(lambda pending: True)

    def _give_up(self, is_lost: Callable[[PendingQuestion], bool]) -> None:
        for number, pending in list(self._pending.items()):
            if is_lost(pending):
                del self._pending[number]
                if not pending.answer.done():
                    pending.answer.set_exception(ReplyLost())

    def _set_state(self, state: LinkState) -> None:
        if state is not self.state:
            self.state = state
            self._links.update_owners()

    # --- liveness -----------------------------------------------------------------------------------------------

    def check(self, now: float) -> None:
        """Pings an owner that is quiet, and gives up on one that stays silent, and on questions whose time is up."""
        connection = self._connection
        if connection is None:
            return
        quiet = now - connection.received_at
        if quiet > GIVE_UP_SECONDS:
            connection.abort()
        elif self.state is LinkState.AWAY:
            return  # it has not greeted yet
        elif quiet > SILENT_SECONDS:
            if self.state is LinkState.LIVE:
                self._set_state(LinkState.SILENT)
            self._give_up(lambda pending: pending.may_repeat)
        elif quiet > PING_SECONDS:
            connection.send(PING)
        self._give_up(lambda pending: pending.expires_at <= now)
        self._hang_up_if_left()

    def excuse(self, now: float) -> None:
        """Counts the owner as live now. Called if this process was itself too late to listen."""
        if self._connection is not None:
            self._connection.received_at = now
        for pending in self._pending.values():
            pending.expires_at = max(pending.expires_at, now + SILENT_SECONDS)

    def start(self) -> None:
        self._connecting = asyncio.get_running_loop().create_task(self._keep_connected())

    async def _keep_connected(self) -> None:
        """Connects again whenever the connection is lost. Runs until it is cancelled."""
        while True:
            # Set before it is connected: the HELLO may arrive before this task runs again.
            connection = self._connection = FrameConnection(self._receive, self._lose)
            self._lost.clear()
            try:
                await self._dialer.connect(self._get_connection)
            except OSError:
                self._connection = None
                connection.abort()  # it may have been connected too late
            else:
                await self._lost.wait()
            await asyncio.sleep(self._dialer.retry_seconds)

    def _get_connection(self) -> FrameConnection:
        assert self._connection is not None, "set before connecting"
        return self._connection

    def leave(self) -> None:
        """Asks nothing more, and connects again when all is answered."""
        if self.state in (LinkState.LIVE, LinkState.SILENT):
            self._set_state(LinkState.LEAVING)
            self._hang_up_if_left()

    def close(self) -> None:
        if self._connecting is not None:
            self._connecting.cancel()
        if self._connection is not None:
            self._connection.close()


class OwnerLinks:
    """The owners as one process sees them. `own` is this process's number, or None if it owns no merchants. `host` is
    this host among others, or None if it is the only one."""

    def __init__(self, paths: Sequence[Path], own: int | None, metrics: Metrics, host: PeerHost | None = None) -> None:
        self._metrics = metrics
        self._host = host
        names: Sequence[Member] = range(len(paths)) if host is None else host.addresses
        self._local_names = names
        self._own = None if own is None else names[own]
        self._table = PartitionTable(len(paths)) if host is None else AddressTable(names)
        dialers = {name: LocalDialer(path) for name, path in zip(names, paths, strict=True) if name != self._own}
        self._links = {name: OwnerLink(self, dialer) for name, dialer in dialers.items()}
        self._peers: dict[Member, Peer] = {}
        self._owners: list[Member | None] = []
        self._watching: asyncio.Task[None] | None = None
        self.update_owners()
        metrics.add_collector(self._collect)

    def start(self) -> None:
        for link in self._links.values():
            link.start()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def close(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
        for link in self._links.values():
            link.close()

    def set_peers(self, peers: Sequence[Peer]) -> None:
        """Connects to these API processes of other hosts. One that is missing or was replaced is given up when its
        connection is lost: it may be late to renew its lease, or be stopping and answer what it was sent."""
        assert self._host is not None, "a host that is alone has no peers"
        by_address = {peer.address: peer for peer in peers}
        known = set(self._peers.values())
        for name, before in list(self._peers.items()):
            if by_address.get(before.address) != before and self._links[name].state is LinkState.AWAY:
                self._links.pop(name).close()
                del self._peers[name]
        for address, peer in by_address.items():
            if address not in self._peers and address not in self._local_names:
                self._peers[address] = peer
                dialer = PeerDialer(peer, self._host.certificates, partial(self.refuse, address))
                self._links[address] = OwnerLink(self, dialer)
                self._links[address].start()
        if known != set(self._peers.values()):
            self._table = AddressTable([*self._local_names, *self._peers])
            self.update_owners()

    def leave_peers(self) -> None:
        """Connects to processes of other hosts again, each when it has answered what it was asked."""
        for name in self._peers:
            self._links[name].leave()

    def find(self, merchant_id: int) -> OwnerLink | None:
        """Returns the connection to the merchant's owner. None if that is this process, or if no owner is live."""
        owner = self._owners[merchant_id % self._table.size]
        return None if owner is None or owner == self._own else self._links[owner]

    def is_first_choice(self, merchant_id: int) -> bool:
        """Whether this process owns the merchant when all are live."""
        return self._table.first_choices[merchant_id % self._table.size] == self._own

    def update_owners(self) -> None:
        """Recomputes the owners of all partitions. Called when a connection becomes live, or is no longer."""
        live = {name for name, link in self._links.items() if link.state is LinkState.LIVE}
        if self._own is not None:
            live.add(self._own)
        self._owners = self._table.list_owners(live)

    def count(self, peer: str, kind: int, outcome: str) -> None:
        self._metrics.count(FORWARDED, QUESTION_NAMES[kind], outcome)
        if peer:
            self._metrics.count(PEER_FORWARDED, peer, outcome)

    def refuse(self, peer: str, why: str) -> None:
        """Counts a connection to a process that is not the one it should be."""
        self._metrics.count(PEER_REFUSED, peer, why)

    def _collect(self) -> None:
        live = {name for name, link in self._links.items() if link.state is LinkState.LIVE}
        self._metrics.gauge(OWNERS_LIVE, len(live), self._metrics.process_name)
        known = {labels[1] for name, labels in self._metrics.series if name == PEER_LIVE.name}
        for peer in {*known, *map(str, self._peers)}:
            self._metrics.gauge(PEER_LIVE, float(peer in live), self._metrics.process_name, peer)

    async def _watch(self) -> None:
        before = time.monotonic()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.monotonic()
            is_late = now - before > TICK_SECONDS + PING_SECONDS
            before = now
            for link in list(self._links.values()):
                # If this process did not run for a while, answers may be waiting that it has not read.
                if is_late:
                    link.excuse(now)
                link.check(now)
