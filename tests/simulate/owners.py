"""Finds the API process that owns a merchant, and opens connections to a chosen process."""

import contextlib
import socket
import time
from collections.abc import Iterable, Sequence

import psutil

from kasuwa.cluster.partitions import PartitionTable
from tests.merchant_client import ANSWER_SECONDS, HttpConnection
from tests.simulate.processes import wait_until

# After this time a connection is taken to be in the queue of another process.
ACCEPT_SECONDS = 2.0


def socket_names(process: psutil.Process) -> set[str]:
    """Returns the names of the Unix sockets on which a process listens or accepts."""
    with contextlib.suppress(psutil.Error):
        return {str(found.laddr).rpartition("/")[2] for found in process.net_connections(kind="unix") if found.laddr}
    return set()


def owner_of(merchant_id: int, processes: Sequence[psutil.Process]) -> psutil.Process:
    """Returns the API process that is the merchant's first choice."""
    table = PartitionTable(len(processes))
    name = f"{table.first_choices[merchant_id % table.size]}.sock"
    return next(process for process in processes if name in socket_names(process))


def others(process: psutil.Process, processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    return [other for other in processes if other.pid != process.pid]


def serves(process: psutil.Process, client: socket.socket) -> bool:
    """Whether a connection of ours was accepted by this process."""
    port = client.getsockname()[1]
    with contextlib.suppress(psutil.Error):
        return any(found.raddr and found.raddr.port == port for found in process.net_connections(kind="tcp"))
    return False


def connect_to(process: psutil.Process, port: int) -> socket.socket:
    """Returns a connection that this process has accepted. The system chooses the process, so several are tried."""
    tried: list[socket.socket] = []

    def is_found() -> bool:
        tried.append(socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS))
        # A connection is shown with a process once that has accepted it. A process that is stopped never does.
        until = time.monotonic() + ACCEPT_SECONDS
        while not any(serves(found, tried[-1]) for found in siblings(process)) and time.monotonic() < until:
            time.sleep(0.01)
        return serves(process, tried[-1])

    wait_until(f"process {process.pid} accepts a connection", is_found)
    for unused in tried[:-1]:
        unused.close()
    return tried[-1]


class ProcessConnection(HttpConnection):
    """A connection to one API process. It is opened again if it was closed."""

    def __init__(self, process: psutil.Process, port: int) -> None:
        super().__init__("127.0.0.1", port)
        self._process = process
        self._port = port

    def _drop_if_closed(self) -> None:
        super()._drop_if_closed()
        if self._connection.sock is None:
            self._connection.sock = connect_to(self._process, self._port)


def siblings(process: psutil.Process) -> list[psutil.Process]:
    """Returns all processes of the same service."""
    with contextlib.suppress(psutil.Error):
        parent = process.parent()
        return [] if parent is None else parent.children()
    return []
