"""Finding the primary among the servers that an address names, also after another was promoted.

The driver can be given several hosts itself, but asks them one after the other within one timeout: a machine that
is silent, as one without power is, keeps it from the next for ever. And it takes a standby unless it is told not to.
A standby may not have replayed yet what was committed, so whoever asks it what became of a commit is told wrongly.
"""

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import asyncpg

from kasuwa.db.pgbouncer import connect_session

if TYPE_CHECKING:
    DriverConnection = asyncpg.Connection[Any]
else:  # the driver itself is not generic
    DriverConnection = asyncpg.Connection

ConnectTask = asyncio.Task[DriverConnection]

CONNECT_SECONDS = 5.0
# A machine that loses its power says no goodbye, and the system would wait for it a quarter of an hour, or for ever. So
# it is asked every other second, and given up after as long as requests wait (writer.py).
KEEPALIVE_OPTIONS = {"TCP_KEEPIDLE": 2, "TCP_KEEPINTVL": 2, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 8000}


async def connect_to_primary(dsn: str, **options: Any) -> DriverConnection:
    """A connection to the one that is the primary now. All are asked at once, and the first that says so is taken."""
    options = {"timeout": CONNECT_SECONDS, **options, "target_session_attrs": "primary"}
    asked: list[ConnectTask] = [
        asyncio.create_task(connect_session(server, **options)) for server in split_servers(dsn)
    ]
    waiting, taken = set(asked), None
    try:
        while waiting and taken is None:
            _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            taken = next(filter(is_connected, asked), None)
    finally:
        for other in asked:
            if other is not taken:
                other.cancel()
                other.add_done_callback(close_connection)
    if taken is None:
        raise most_informative_error([task.exception() for task in asked])
    enable_keepalive(taken.result())
    return taken.result()


def enable_keepalive(connection: Any) -> None:
    """Have the system notice when the other machine is gone, as far as it can. A socket file needs none of it."""
    line = connection._transport.get_extra_info("socket")
    if line is None or line.family == socket.AF_UNIX:
        return
    with contextlib.suppress(OSError):
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in KEEPALIVE_OPTIONS.items():
            if hasattr(socket, name):
                line.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def is_connected(task: ConnectTask) -> bool:
    return task.done() and not task.cancelled() and task.exception() is None


def close_connection(task: ConnectTask) -> None:
    if is_connected(task):
        task.result().terminate()


def most_informative_error(refusals: list[BaseException | None]) -> BaseException:
    """That a server is a standby says the least: it is as it should be, and another is missing."""
    for error in refusals:
        if error is not None and not isinstance(error, asyncpg.TargetServerAttributeNotMatched):
            return error
    return ConnectionError("no server there is a primary: promote one")


def split_servers(dsn: str) -> list[str]:
    """The address once for each server it names, as in //h1:5432,h2:5432/name or //h1,h2/name?port=5432,5433 or
    ///name?host=h1,h2. What the driver will not understand is left to it as it is."""
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
