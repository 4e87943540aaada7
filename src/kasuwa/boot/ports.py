"""Reserves the ports of `kasuwa serve` before its processes bind them, and chooses free ones for port 0.

Each API process binds the port by itself with SO_REUSEPORT, so that the kernel spreads connections evenly. With that
option a bind does not fail if another server of the same user has the port: both would get a part of the requests. So
the supervisor first claims the port with a socket that listens without the option, which fails if anything else has it.
It then keeps a second socket, bound but not listening, for as long as it runs: that one shares the port with the
processes of this deployment and with nobody else.
"""

import contextlib
import errno
import socket
import time
from collections.abc import Iterator

import msgspec

from kasuwa.settings.settings import Settings, parse_peer_terms

# The processes of a supervisor that was killed hold their port until they have answered the requests in flight.
PORT_SECONDS = 5.0
POLL_SECONDS = 0.05
ALL_INTERFACES = ("0.0.0.0", "::")


class PortError(Exception):
    """A port cannot be listened on. The text says in one line which, why, and what to do."""


class Listener(msgspec.Struct, frozen=True):
    """An address that a process of the deployment listens on."""

    what: str
    host: str
    setting: str  # the field of Settings that holds the port
    option: str  # the name by which a user chooses the port


def list_listeners(settings: Settings) -> list[Listener]:
    """Returns the listeners of a deployment: the API, and the console and the metrics if they are on."""
    listeners = [Listener("the API", settings.host, "port", "--port")]
    if settings.console:
        listeners.append(Listener("the console", settings.console_host, "console_port", "--console-port"))
    if settings.metrics_port is not None:
        listeners.append(Listener("the metrics", settings.metrics_host, "metrics_port", "KASUWA_METRICS_PORT"))
    return listeners


@contextlib.contextmanager
def reserve_ports(settings: Settings) -> Iterator[Settings]:
    """Reserves all ports until the end of the block. Yields the settings with the chosen port for each that was 0.

    Raises PortError if one is taken, or if two listeners have the same."""
    listeners = list_listeners(settings)
    refuse_shared_ports(settings, listeners)
    with contextlib.ExitStack() as reserved:
        chosen: dict[str, int] = {}
        # Given ports first, so that none of them is chosen for another listener.
        for listener in sorted(listeners, key=lambda one: getattr(settings, one.setting) == 0):
            port = getattr(settings, listener.setting)
            holder = claim_port(listener, port) if port else choose_port(listener)
            if holder is not None:
                reserved.enter_context(holder)
                chosen[listener.setting] = holder.getsockname()[1]
        reserve_peer_ports(settings, reserved)
        yield msgspec.structs.replace(settings, **chosen)


def reserve_peer_ports(settings: Settings, reserved: contextlib.ExitStack) -> None:
    """Reserves the ports on which the API processes listen for other hosts."""
    terms = parse_peer_terms(settings)
    if terms is None:
        return
    listener = Listener("the other hosts", terms.listen_host, "peer_listen", "KASUWA_PEER_LISTEN")
    for number in range(settings.workers):
        holder = claim_port(listener, terms.get_listen_port(number))
        if holder is not None:
            reserved.enter_context(holder)


def refuse_shared_ports(settings: Settings, listeners: list[Listener]) -> None:
    for n, second in enumerate(listeners):
        for first in listeners[:n]:
            port = getattr(settings, first.setting)
            if port and port == getattr(settings, second.setting) and hosts_overlap(first.host, second.host):
                raise PortError(
                    f"{first.what} and {second.what} cannot both listen on port {port}: choose another {second.option}"
                )


def hosts_overlap(one: str, other: str) -> bool:
    return one == other or one in ALL_INTERFACES or other in ALL_INTERFACES


def choose_port(listener: Listener) -> socket.socket:
    """Returns a socket that holds a free port. The system never chooses one that another socket has, shared or not."""
    holder = new_socket(listener.host)
    try:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind((listener.host, 0))
    except OSError as error:
        holder.close()
        raise refusal(listener, 0, error) from None
    return holder


def claim_port(listener: Listener, port: int) -> socket.socket | None:
    """Returns a socket that holds the port, or None on a system that cannot hold and share it. Raises PortError."""
    until = time.monotonic() + PORT_SECONDS
    while True:
        try:
            return try_claim(listener.host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                raise refusal(listener, port, error) from None
        time.sleep(POLL_SECONDS)


def try_claim(host: str, port: int) -> socket.socket | None:
    """Claims the port, then exchanges the claim for a socket that holds it. Raises OSError if the port is taken."""
    with new_socket(host) as claim:
        # Connections of an earlier server that are not yet over (TIME_WAIT) do not count.
        claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        claim.bind((host, port))
        claim.listen(0)
        claim.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder = new_socket(host)
        try:
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            holder.bind((host, port))
            # With this option still set, the claim of another server would pass while nothing listens yet.
            holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        except OSError:
            holder.close()
            return None
        return holder


def open_listener(host: str, port: int) -> socket.socket:
    """Returns the socket of a process, bound to a port that further processes may share. It does not listen yet."""
    listener = new_socket(host)
    if hasattr(socket, "SO_REUSEPORT"):  # not on Windows, where SO_REUSEADDR would let other programs take the port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind((host, port))
    return listener


def new_socket(host: str) -> socket.socket:
    # asyncio sends small replies without delay (TCP_NODELAY) only if the protocol is named.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)


def refusal(listener: Listener, port: int, error: OSError) -> PortError:
    where = f"{listener.host}:{port}" if port else listener.host
    remedy = f"stop what uses it, or choose another {listener.option}" if port else "choose another address"
    return PortError(f"cannot listen on {where} ({error.strerror}): {remedy}")
