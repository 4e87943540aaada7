"""Connects to the primary among the servers of an address, also after a failover.

The driver accepts several hosts, but tries them one after the other within one timeout, so that one silent machine
hides the others. A standby must not be used: it may not have replayed a commit yet, and would report it as missing.
"""

import asyncio
import contextlib
import socket
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg

from kasuwa.postgres.backend_connection import BackendConnection, connect_session

ConnectTask = asyncio.Task[BackendConnection]

CONNECT_SECONDS = 5.0
# A machine that loses power does not close its connections, and by default the system would wait for it for a quarter
# of an hour or longer. With keepalive it is given up after the time that submissions wait (writer.py).
KEEPALIVE_OPTIONS = {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 8000}


async def connect_to_primary(dsn: str, **options: Any) -> BackendConnection:
    """Connects to all servers at once and returns the connection to the first that is a primary.

    Raises the most informative error if there is none."""
    options = {"timeout": CONNECT_SECONDS, **options, "target_session_attrs": "primary"}
    attempts: list[ConnectTask] = [
        asyncio.create_task(connect_session(server, **options)) for server in split_servers(dsn)
    ]
    waiting, winner = set(attempts), None
    try:
        while waiting and winner is None:
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            winner = next(filter(has_connected, attempts), None)
    finally:
        for other in attempts:
            if other is not winner:
                other.cancel()
                other.add_done_callback(close_connection)
    if winner is None:
        raise most_informative_error([task.exception() for task in attempts])
    enable_keepalive(winner.result())
    return winner.result()


def enable_keepalive(connection: Any) -> None:
    """Enables TCP keepalive, so that the system notices when the server is gone. Does nothing on Unix sockets."""
    line = connection._transport.get_extra_info("socket")
    if line is None or line.family == socket.AF_UNIX:
        return
    with contextlib.suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE_OPTIONS.items():
            if hasattr(socket, name):
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def has_connected(task: ConnectTask) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def close_connection(task: ConnectTask) -> None:
    if has_connected(task):
        task.result().terminate()


def most_informative_error(refusals: list[BaseException | None]) -> BaseException:
    """Returns the error to report. That a server is a standby says the least, so any other error is preferred."""
    for error in refusals:
        if error is not None and not isinstance(error, asyncpg.TargetServerAttributeNotMatched):
            return error
    return ConnectionError("no server there is a primary: promote one")


def split_servers(dsn: str) -> list[str]:
    """Returns the address once for each server it names, as in //h1:5432,h2:5432/name or //h1,h2/name?port=5432,5433 or
    ///name?host=h1,h2. An address in another form is returned unchanged."""
    parts = urlsplit(dsn)
    query = dict(parse_qsl(parts.query))
    account, at, named = parts.netloc.rpartition("@")
    hosts = (named or query.get("host", "")).split(",")
    ports = query.get("port", "").split(",")
    if len(ports) == 1:
        ports *= len(hosts)
    if len(hosts) == 1 or len(hosts) != len(ports):
        return [dsn]
    servers = []
    for host, port in zip(hosts, ports, strict=True):
        own = {"port": port} if port else {}
        netloc = account + at + host if named else parts.netloc
        if not named:
            own["host"] = host
        servers.append(parts._replace(netloc=netloc, query=urlencode(query | own)).geturl())
    return servers
