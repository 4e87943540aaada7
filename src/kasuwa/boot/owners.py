"""What the processes of a deployment share, and the connections between them and to those of other hosts."""

import secrets
import socket
from collections.abc import Sequence

import msgspec
import structlog

from kasuwa import __version__
from kasuwa.api.dispatch import Dispatch
from kasuwa.api.forwarding import RequestInbox
from kasuwa.api.routes import make_routes
from kasuwa.boot.composition import Services
from kasuwa.cluster.api_processes import ApiProcess
from kasuwa.cluster.certificates import try_own
from kasuwa.cluster.links import OwnerLinks
from kasuwa.cluster.listener import OwnerListener
from kasuwa.cluster.peer_listener import PeerListener
from kasuwa.cluster.peer_registry import OwnProcess, PeerRegistry
from kasuwa.cluster.peers import PeerHost, make_protocol
from kasuwa.cluster.sockets import OwnerSockets
from kasuwa.http.shared_buckets import SharedLimits
from kasuwa.jobs.forwarded_jobs import JobInbox
from kasuwa.methods.tables import PAYER_ACTIONS
from kasuwa.observe.metrics import Metrics, SharedCounters
from kasuwa.postgres.connection_pool import Pool
from kasuwa.settings.peer_files import load_peer_certificates
from kasuwa.settings.settings import Settings, parse_peer_terms

log = structlog.get_logger("kasuwa.boot")


class SharedResources(msgspec.Struct, frozen=True):
    """Resources that the processes of a deployment share. Made by the supervisor before it starts the first of them."""

    counters: Sequence[SharedCounters] = ()  # the metrics of all processes
    sockets: OwnerSockets | None = None  # of the API processes, if there are several, or several hosts
    limits: SharedLimits | None = None  # if there are several API processes
    host: PeerHost | None = None  # this host among others


def make_peer_host(settings: Settings) -> PeerHost | None:
    """Returns this host among others, or None if it is to be alone."""
    terms, certificates = parse_peer_terms(settings), load_peer_certificates(settings)
    if terms is None or certificates is None:
        return None
    refused = try_own(certificates, terms.host.strip("[]"))
    if refused:  # it serves all the same: each host can decide for itself
        log.warning("other hosts will refuse the certificate of this one", why=refused, host=terms.host)
    return PeerHost(
        host_id=secrets.token_hex(16),
        machine=socket.gethostname(),
        protocol=make_protocol(__version__),
        addresses=tuple(terms.make_address(number) for number in range(settings.workers)),
        listen=(terms.listen_host, terms.listen_port),
        certificates=certificates,
    )


class OwnerConnections(msgspec.Struct):
    """The connections of a process to the API processes that own merchants."""

    links: OwnerLinks
    registry: PeerRegistry | None = None  # if there are other hosts
    listener: OwnerListener | None = None  # of a process that owns merchants itself

    def say_goodbye(self) -> None:
        if self.listener is not None:
            self.listener.say_goodbye()

    async def drain(self) -> None:
        """Ends the lease, and answers what other processes have sent."""
        if self.registry is not None:
            await self.registry.close()
        if self.listener is not None:
            await self.listener.drain()

    async def close(self) -> None:
        await self.drain()
        self.links.close()


async def start_owner(
    services: Services, dispatch: Dispatch, shared: SharedResources, pool: Pool
) -> OwnerConnections | None:
    """Makes this process an owner of merchants. Returns None if it is the only API process."""
    if shared.sockets is None:
        return None
    requests = RequestInbox(dispatch, make_routes(services.methods), services.merchant_directory, PAYER_ACTIONS)
    jobs = JobInbox(services.step_runner, services.writer)
    number = shared.sockets.read_process_number(services.metrics.process_name)
    assert number is not None, "an API process has a number"
    peers = None if shared.host is None else make_peer_listener(shared.host, number, services.metrics)
    listener = OwnerListener(shared.sockets.paths[number], {**requests.handlers, **jobs.handlers}, peers)
    await listener.start()
    return start_links(services, shared, pool, listener)


def make_peer_listener(host: PeerHost, number: int, metrics: Metrics) -> PeerListener:
    address, port = host.listen
    return PeerListener(
        (address, port + number), host.certificates, host.make_greeting(host.addresses[number]), metrics
    )


def start_links(
    services: Services, shared: SharedResources, pool: Pool, listener: OwnerListener | None = None
) -> OwnerConnections | None:
    """Connects this process to the owners. Returns None if there is only one API process. `pool` may write, and
    `listener` is that of a process that owns merchants itself."""
    sockets, host = shared.sockets, shared.host
    if sockets is None:
        return None
    number = sockets.read_process_number(services.metrics.process_name)
    connected = OwnerConnections(OwnerLinks(sockets.paths, number, services.metrics, host), listener=listener)
    connected.links.start()
    if host is not None:
        own = None
        if number is not None and listener is not None:
            own = OwnProcess(describe_process(host, number), listener)
        connected.registry = PeerRegistry(pool, connected.links, host, own, services.clock)
        connected.registry.start()
    return connected


def describe_process(host: PeerHost, number: int) -> ApiProcess:
    """Returns the row of an API process of this host."""
    return ApiProcess(
        address=host.addresses[number],
        host_id=host.host_id,
        machine=host.machine,
        number=number,
        protocol=host.protocol,
        version=__version__,
        clock_skew_ms=0,
    )
