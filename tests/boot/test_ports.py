"""The reservation of ports: what is taken is refused in one line, and what is reserved is kept and shared."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa.boot import ports
from kasuwa.boot.ports import PortError, reserve_ports
from kasuwa.settings.settings import PEER_FILES, Settings
from tests.running import free_port


@pytest.fixture(autouse=True)
def _refuse_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "PORT_SECONDS", 0.0)


@pytest.fixture
def sockets() -> Iterator[list[socket.socket]]:
    opened: list[socket.socket] = []
    yield opened
    for one in opened:
        one.close()


def listen(port: int, *options: int, host: str = "127.0.0.1") -> socket.socket:
    server = socket.socket()
    for option in options:
        server.setsockopt(socket.SOL_SOCKET, option, 1)
    server.bind((host, port))
    server.listen(16)
    return server


def listen_as_a_process(port: int) -> socket.socket:
    listener = ports.open_listener("127.0.0.1", port)
    listener.listen(16)
    return listener


def settings(**changes: object) -> Settings:
    return Settings(**{"console": False, "data": Path("/nonexistent"), **changes})  # type: ignore[arg-type]


def refused(given: Settings) -> str:
    with pytest.raises(PortError) as error, reserve_ports(given):
        pass
    text = str(error.value)
    assert "\n" not in text
    return text


def test_port_0_becomes_a_free_port_for_each_listener() -> None:
    with reserve_ports(settings(port=0, console=True, console_port=0, metrics_port=0)) as found:
        chosen = {found.port, found.console_port, found.metrics_port}
    assert len(chosen) == 3
    assert 0 not in chosen


def test_a_given_port_stays_and_a_listener_that_is_off_has_none() -> None:
    port = free_port()
    with reserve_ports(settings(port=port, console_port=port)) as found:
        assert (found.port, found.console_port, found.metrics_port) == (port, port, None)


@pytest.mark.parametrize("is_given", [True, False])
def test_a_reserved_port_is_shared_by_our_processes_and_by_nobody_else(
    is_given: bool, sockets: list[socket.socket]
) -> None:
    with reserve_ports(settings(port=free_port() if is_given else 0)) as found:
        assert "--port" in refused(settings(port=found.port)), "nothing listens yet"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", found.port))
        sockets += [listen_as_a_process(found.port), listen_as_a_process(found.port)]
        assert "--port" in refused(settings(port=found.port)), "two processes listen"
        sockets.append(socket.create_connection(("127.0.0.1", found.port)))
        for one in sockets[:2]:
            one.close()
        assert "--port" in refused(settings(port=found.port)), "all processes have died"
        sockets.append(listen_as_a_process(found.port))


def test_a_port_is_free_again_after_the_reservation() -> None:
    port = free_port()
    for _ in range(2):
        # The server closes first, so that its side of the connection stays in TIME_WAIT.
        with (
            reserve_ports(settings(port=port)),
            listen_as_a_process(port) as server,
            socket.create_connection(("127.0.0.1", port)),
        ):
            server.accept()[0].close()


def test_a_port_with_old_connections_of_another_program_is_free() -> None:
    port = free_port()
    with listen(port, socket.SO_REUSEADDR) as server, socket.create_connection(("127.0.0.1", port)):
        server.accept()[0].close()
    with reserve_ports(settings(port=port)) as found:
        assert "--port" in refused(settings(port=found.port))


@pytest.mark.parametrize("options", [(), (socket.SO_REUSEADDR,), (socket.SO_REUSEPORT,)])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_port_of_another_server_is_refused_however_it_was_bound(options: tuple[int, ...], host: str) -> None:
    port = free_port()
    with listen(port, *options, host=host):
        expected = f"cannot listen on 127.0.0.1:{port} (Address already in use): stop what uses it, or choose another "
        assert refused(settings(port=port)) == expected + "--port"
        console = settings(port=0, console=True, console_port=port)
        assert refused(console) == expected + "--console-port"
        assert refused(settings(port=0, metrics_port=port)) == expected + "KASUWA_METRICS_PORT"


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_two_listeners_of_one_deployment_cannot_have_the_same_port(host: str) -> None:
    port = free_port()
    both = settings(host=host, port=port, console=True, console_port=port)
    assert refused(both) == (
        f"the API and the console cannot both listen on port {port}: choose another --console-port"
    )
    metrics = settings(host=host, port=0, console=True, console_port=port, metrics_port=port)
    assert refused(metrics) == (
        f"the console and the metrics cannot both listen on port {port}: choose another KASUWA_METRICS_PORT"
    )


def test_two_listeners_on_different_addresses_may_have_the_same_port() -> None:
    port = free_port()
    with reserve_ports(settings(port=port, console=True, console_host="127.0.0.2", console_port=port)) as found:
        assert (found.port, found.console_port) == (port, port)


def test_an_address_that_is_not_ours_is_refused_in_one_line() -> None:
    assert refused(settings(host="192.0.2.1", port=0)).startswith("cannot listen on 192.0.2.1 (")


def test_a_port_for_other_hosts_that_is_taken_is_refused(sockets: list[socket.socket]) -> None:
    """Each API process has one, from that of the setting on."""
    first = free_port()
    peers = {
        "peer_listen": f"127.0.0.1:{first}",
        **dict.fromkeys(PEER_FILES, "named.pem"),
        "database_url": "postgresql://db/kasuwa",
    }
    with reserve_ports(settings(port=0, workers=2, **peers)):
        # Held for the API processes, which share them.
        sockets += [listen_as_a_process(first), listen_as_a_process(first + 1)]
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", first + 1))
    assert refused(settings(port=0, workers=2, **peers)) == (
        f"cannot listen on 127.0.0.1:{first} (Address already in use): "
        "stop what uses it, or choose another KASUWA_PEER_LISTEN"
    )
