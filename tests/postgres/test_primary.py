"""Several servers in one address: how the address is read, and that the primary is found behind a silent server."""

import asyncio
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from kasuwa.postgres.embedded import embedded
from kasuwa.postgres.embedded.directory import PORT, socket_directory
from kasuwa.postgres.primary import KEEPALIVE_OPTIONS, connect_to_primary, split_servers
from tests.running import running_cluster

ADDRESSES = {
    "postgresql://k:p%40@one:1,two:2/d?sslmode=require": [
        "postgresql://k:p%40@one:1/d?sslmode=require",
        "postgresql://k:p%40@two:2/d?sslmode=require",
    ],
    "postgresql://one,two/d?port=1,2": ["postgresql://one/d?port=1", "postgresql://two/d?port=2"],
    "postgresql://k@/d?host=/a,two&port=1": [
        "postgresql://k@/d?host=%2Fa&port=1",
        "postgresql://k@/d?host=two&port=1",
    ],
    "postgresql://one:1/d?sslmode=require": ["postgresql://one:1/d?sslmode=require"],
    "postgresql://k@/d?host=/a&port=1": ["postgresql://k@/d?host=/a&port=1"],
    "postgresql:///d": ["postgresql:///d"],
    "postgresql://one,two/d?port=1,2,3": ["postgresql://one,two/d?port=1,2,3"],
    "host=one": ["host=one"],
}


@pytest.mark.parametrize("dsn", ADDRESSES)
def test_an_address_is_one_for_each_server_it_names(dsn: str) -> None:
    assert split_servers(dsn) == ADDRESSES[dsn]


@pytest.fixture(scope="module")
def cluster() -> Iterator[embedded.Cluster]:
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Yields a port that accepts connections and never answers, like a machine behind a firewall."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        yield int(silent.getsockname()[1])


def address(cluster: embedded.Cluster, silent_port: int) -> str:
    sockets = quote(str(socket_directory(cluster.directory)))
    return f"postgresql://kasuwa@/kasuwa?host=127.0.0.1,{sockets}&port={silent_port},{PORT}"


def test_a_silent_server_does_not_hide_the_primary(cluster: embedded.Cluster, silent_port: int) -> None:
    async def ask() -> bool:
        # The timeout is an hour: waiting for the silent server first would never end within the test.
        connection = await connect_to_primary(address(cluster, silent_port), timeout=3600)
        try:
            return await connection.fetchval("select true")
        finally:
            await connection.close()

    assert asyncio.run(asyncio.wait_for(ask(), 60))


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while chunk := await reader.read(65536):
        writer.write(chunk)
    writer.close()


def test_a_network_connection_to_the_primary_has_keepalive_set(cluster: embedded.Cluster) -> None:
    """Checks that TCP keepalive is set on a network connection; a real network failure is not simulated."""
    inside = socket_directory(cluster.directory) / f".s.PGSQL.{PORT}"

    async def let_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind = await asyncio.open_unix_connection(str(inside))
        await asyncio.gather(carry(reader, behind[1]), carry(behind[0], writer))

    async def ask() -> list[int]:
        async with await asyncio.start_server(let_in, "127.0.0.1", 0) as door:
            port = door.sockets[0].getsockname()[1]
            connection: Any = await connect_to_primary(f"postgresql://kasuwa@127.0.0.1:{port}/kasuwa?sslmode=disable")
            line = connection._transport.get_extra_info("socket")
            found = [line.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in KEEPALIVE_OPTIONS]
            found.append(line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
            await connection.close()
            return found

    assert asyncio.run(ask()) == [*KEEPALIVE_OPTIONS.values(), 1]


def test_an_unreachable_database_is_reported_with_the_reason() -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(connect_to_primary("postgresql://kasuwa@/kasuwa?host=/nowhere,/nobody"))
