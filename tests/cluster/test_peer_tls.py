"""TLS between hosts, over real TCP: who is accepted, who is refused and why, and certificates that are renewed."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from kasuwa.cluster import certificates, links, peer_check, peer_listener
from kasuwa.cluster.certificates import CertificateFiles, PeerCertificates, make_contexts
from kasuwa.cluster.frames import HEAD, REQUEST
from kasuwa.cluster.links import LinkState, OwnerLink, OwnerLinks
from kasuwa.cluster.listener import Inquiry, OwnerListener
from kasuwa.cluster.peer_check import check_peer
from kasuwa.cluster.peer_listener import PeerListener
from kasuwa.cluster.peers import Peer, PeerHost
from kasuwa.observe.metrics import PEER_REFUSED, Metrics
from tests.certificates import Authority, other_ca
from tests.cluster.test_links import DEADLINE_SECONDS, wait_until

CARD = b"4111111111111111"
CALLER, LISTENER = "127.0.0.2", "127.0.0.3"


def run(work: Coroutine[Any, Any, None]) -> None:
    """Runs a test on the event loop of the service. The deadline only keeps it from hanging."""
    uvloop.run(asyncio.wait_for(work, DEADLINE_SECONDS))


class Host:
    """A host of one API process that listens for others, and its links to them."""

    def __init__(self, files: CertificateFiles, directory: Path, address: str = LISTENER) -> None:
        self.metrics = Metrics()
        self.certificates = PeerCertificates(files)
        self.questions: list[bytes] = []
        self.peers = PeerListener((address, 0), self.certificates, b"", self.metrics)
        path = directory / f"{address}.sock"
        self.listener = OwnerListener(path, {REQUEST: self.answer}, self.peers)
        host = PeerHost(
            host_id=address,
            machine=address,
            protocol="1/1",
            addresses=(f"{address}:1",),
            listen=(address, 0),
            certificates=self.certificates,
        )
        self.links = OwnerLinks([path], 0, self.metrics, host)
        self._address = address

    def answer(self, payload: bytes, inquiry: Inquiry) -> None:
        self.questions.append(payload)
        inquiry.answer(b"answer to " + payload)

    @property
    def peer(self) -> Peer:
        return Peer(f"{self._address}:{self.peers.port}", b"")

    def connect(self, other: "Host | Peer") -> OwnerLink:
        peer = other.peer if isinstance(other, Host) else other
        self.links.set_peers([peer])
        return self.links._links[peer.address]

    def refusals(self, why: str, peer: str = "") -> float:
        return self.metrics.series.get((PEER_REFUSED.name, (peer, why)), [0.0])[0]


@contextlib.asynccontextmanager
async def started(host: Host, *known: str) -> AsyncIterator[Host]:
    await host.listener.start()
    host.links.start()
    host.peers.set_hosts(known)
    try:
        yield host
    finally:
        host.links.close()
        host.listener.say_goodbye()
        for connection in list(host.listener._connections):
            connection.abort()
        await host.listener.drain()


@pytest.fixture
def ca(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@contextlib.asynccontextmanager
async def pair(calling: CertificateFiles, listening: CertificateFiles, directory: Path) -> AsyncIterator[list[Host]]:
    async with (
        started(Host(listening, directory), CALLER, LISTENER) as listener,
        started(Host(calling, directory, CALLER)) as caller,
    ):
        yield [caller, listener]


def context_of(files: CertificateFiles, change: Callable[[ssl.SSLContext], None] = lambda _: None) -> ssl.SSLContext:
    context = make_contexts(files)[1]
    context.check_hostname = False
    change(context)
    return context


async def send_as_stranger(listener: Host, context: ssl.SSLContext | None, sent: bytes = b"") -> bytes:
    """Connects, sends, and returns all that is answered until the listener hangs up."""
    host, port = listener.peer.endpoint
    answered = b""
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection(host, port, ssl=context)
        writer.write(sent)
        with contextlib.suppress(OSError):
            answered = await reader.read()
        writer.close()
        await writer.wait_closed()
    return answered


# --- who is accepted ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("run_loop", [uvloop.run, asyncio.run])
def test_hosts_of_one_ca_ask_each_other(run_loop: Callable[..., None], ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async with pair(ca.issue(CALLER), ca.issue(LISTENER), tmp_path) as (caller, listener):
            link = caller.connect(listener)
            await wait_until(lambda: link.state is LinkState.LIVE)
            for size in (1, 1000, 5_000_000):
                assert await link.ask(REQUEST, b"x" * size) == b"answer to " + b"x" * size
            assert await check_peer(listener.peer, caller.certificates) == peer_check.ANSWERS
            assert listener.refusals("unknown host") == 0

    run_loop(asyncio.wait_for(ask(), DEADLINE_SECONDS))


def test_nobody_between_two_hosts_reads_what_they_send(ca: Authority, tmp_path: Path) -> None:
    seen = bytearray()

    async def ask() -> None:
        async with pair(ca.issue(CALLER), ca.issue(LISTENER), tmp_path) as (caller, listener):

            async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
                with contextlib.suppress(OSError):
                    while chunk := await source.read(1_000_000):
                        seen.extend(chunk)
                        target.write(chunk)
                target.close()

            async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                onward_reader, onward = await asyncio.open_connection(*listener.peer.endpoint)
                await asyncio.gather(carry(reader, onward), carry(onward_reader, writer))

            between = await asyncio.start_server(accept, LISTENER, 0)
            link = caller.connect(Peer(f"{LISTENER}:{between.sockets[0].getsockname()[1]}", b""))
            await wait_until(lambda: link.state is LinkState.LIVE)
            assert await link.ask(REQUEST, CARD) == b"answer to " + CARD
            link.close()
            between.close()

    run(ask())
    assert len(seen) > 1000
    assert CARD not in seen


# --- who is refused -----------------------------------------------------------------------------------------


WRONG: dict[str, Callable[[Authority, str, Path], CertificateFiles]] = {
    certificates.OTHER_CA: other_ca,
    certificates.EXPIRED: lambda ca, host, _: ca.issue(host, days=-1),
}


@pytest.mark.parametrize("why", WRONG)
def test_a_listener_with_a_wrong_certificate_is_asked_nothing(why: str, ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async with pair(ca.issue(CALLER), WRONG[why](ca, LISTENER, tmp_path), tmp_path) as (caller, listener):
            link = caller.connect(listener)
            await wait_until(lambda: caller.refusals(why, listener.peer.address) > 0)
            assert link.state is LinkState.AWAY
            assert await check_peer(listener.peer, caller.certificates) == why

    run(ask())


@pytest.mark.parametrize("why", WRONG)
def test_a_caller_with_a_wrong_certificate_is_not_greeted(why: str, ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async with pair(WRONG[why](ca, CALLER, tmp_path), ca.issue(LISTENER), tmp_path) as (caller, listener):
            link = caller.connect(listener)
            await wait_until(lambda: listener.refusals(why) > 0)
            await wait_until(lambda: caller.refusals("not greeted", listener.peer.address) > 0)
            assert (link.state, listener.questions) == (LinkState.AWAY, [])
            assert await check_peer(listener.peer, caller.certificates) == certificates.NOT_ACCEPTED

    run(ask())


def test_a_listener_with_the_certificate_of_another_host_is_asked_nothing(ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async with pair(ca.issue(CALLER), ca.issue("127.0.0.9"), tmp_path) as (caller, listener):
            caller.connect(listener)
            await wait_until(lambda: caller.refusals(certificates.OTHER_HOST, listener.peer.address) > 0)
            assert await check_peer(listener.peer, caller.certificates) == certificates.OTHER_HOST

    run(ask())


@pytest.mark.parametrize("names", [["127.0.0.9"], ["db.example"], ["*.example"]])
def test_a_caller_that_is_no_host_of_the_table_is_not_answered(
    names: list[str], ca: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_listener, "UNKNOWN_SECONDS", 0.1)
    question = HEAD.pack(len(CARD), REQUEST, 1) + CARD

    async def ask() -> None:
        async with started(Host(ca.issue(LISTENER), tmp_path), CALLER, "*.example", "a.example") as listener:
            files = ca.issue("stranger", *names)
            assert await send_as_stranger(listener, context_of(files)) == b""
            await wait_until(lambda: listener.refusals("unknown host") == 1)
            assert await send_as_stranger(listener, context_of(files), question) == b""
            assert listener.questions == []

    run(ask())


def test_a_host_that_calls_before_its_row_was_read_is_greeted_then(ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async with pair(ca.issue(CALLER), ca.issue(LISTENER), tmp_path) as (caller, listener):
            listener.peers.set_hosts([])
            link = caller.connect(listener)
            await wait_until(lambda: len(listener.peers._waiting) == 1)
            listener.peers.set_hosts([LISTENER])
            listener.peers.set_hosts([LISTENER, CALLER])
            await wait_until(lambda: link.state is LinkState.LIVE)
            assert listener.refusals("unknown host") == 0

    run(ask())


def at_most_tls_1_2(context: ssl.SSLContext) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def test_a_listener_refuses_plain_text_older_tls_and_callers_without_certificate(ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async with started(Host(ca.issue(LISTENER), tmp_path), CALLER) as listener:
            nameless = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            nameless.load_verify_locations(ca.path)
            nameless.check_hostname = False
            older = context_of(ca.issue(CALLER), at_most_tls_1_2)
            http = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
            frame = HEAD.pack(len(CARD), REQUEST, 1) + CARD
            for context, sent, why in (
                (None, http, certificates.NOT_TLS),
                (None, frame, certificates.NOT_TLS),
                (older, b"", certificates.OLDER_TLS),
                (nameless, frame, certificates.NO_CERTIFICATE),
            ):
                before = listener.refusals(why)
                answered = await send_as_stranger(listener, context, sent)
                await wait_until(lambda: listener.refusals(why) == before + 1)  # noqa: B023
                assert b"hello" not in answered
            assert listener.questions == []

    run(ask())


# A listener on the event loop of the service hangs up and does not say that the version is not its own.
@pytest.mark.parametrize(("is_tls", "why"), [(False, certificates.NOT_TLS), (True, certificates.NO_HANDSHAKE)])
def test_a_caller_refuses_plain_text_and_older_tls(is_tls: bool, why: str, ca: Authority, tmp_path: Path) -> None:
    async def ask() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"220 mail.example ready\r\n")
            await reader.read()
            writer.close()

        context = make_contexts(ca.issue(LISTENER))[0]
        at_most_tls_1_2(context)
        server = await asyncio.start_server(answer, LISTENER, 0, ssl=context if is_tls else None)
        async with started(Host(ca.issue(CALLER), tmp_path, CALLER)) as caller:
            peer = Peer(f"{LISTENER}:{server.sockets[0].getsockname()[1]}", b"")
            caller.connect(peer)
            await wait_until(lambda: caller.refusals(why, peer.address) > 0)
        server.close()

    run(ask())


# --- every wait ends ----------------------------------------------------------------------------------------


def test_a_stranger_who_says_nothing_is_hung_up_on(
    ca: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "HANDSHAKE_SECONDS", 0.1)

    async def wait() -> None:
        async with started(Host(ca.issue(LISTENER), tmp_path), CALLER) as listener:
            assert await send_as_stranger(listener, None) == b""
            await wait_until(lambda: listener.refusals(certificates.NO_HANDSHAKE) == 1)

    run(wait())


def test_a_listener_that_does_not_greet_is_given_up_and_tried_again(
    ca: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "GIVE_UP_SECONDS", 0.3)

    async def wait() -> None:
        calls = []

        async def keep(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            calls.append(writer)
            await reader.read()
            writer.close()

        server = await asyncio.start_server(keep, LISTENER, 0, ssl=make_contexts(ca.issue(LISTENER))[0])
        async with started(Host(ca.issue(CALLER), tmp_path, CALLER)) as caller:
            caller.connect(Peer(f"{LISTENER}:{server.sockets[0].getsockname()[1]}", b""))
            await wait_until(lambda: len(calls) >= 2)
        server.close()

    run(wait())


def test_strangers_hold_few_connections_and_hosts_are_served_after_them(
    ca: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(peer_listener, "MAX_UNAUTHENTICATED", 3)

    async def crowd() -> None:
        async with pair(ca.issue(CALLER), ca.issue(LISTENER), tmp_path) as (caller, listener):
            strangers = [await asyncio.open_connection(*listener.peer.endpoint) for _ in range(3)]
            await wait_until(lambda: len(listener.peers._waiting) == 3)
            link = caller.connect(listener)
            await wait_until(lambda: listener.refusals("too many") > 0)
            for _, writer in strangers:
                writer.close()
            await wait_until(lambda: link.state is LinkState.LIVE)
            # Those that are authenticated do not count.
            assert listener.peers._waiting == set()

    run(crowd())


def test_a_listener_that_stops_hangs_up_on_strangers_and_not_on_hosts(ca: Authority, tmp_path: Path) -> None:
    async def stop() -> None:
        async with pair(ca.issue(CALLER), ca.issue(LISTENER), tmp_path) as (caller, listener):
            link = caller.connect(listener)
            await wait_until(lambda: link.state is LinkState.LIVE)
            reader, writer = await asyncio.open_connection(*listener.peer.endpoint)
            await wait_until(lambda: len(listener.peers._waiting) == 1)
            listener.peers.stop()
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
            assert await link.ask(REQUEST, b"the last") == b"answer to the last"

    run(stop())


# --- renewal ------------------------------------------------------------------------------------------------


def test_a_renewed_certificate_is_shown_to_the_next_caller(ca: Authority, tmp_path: Path) -> None:
    async def renew() -> None:
        async with pair(ca.issue(CALLER), ca.issue(LISTENER, days=-1), tmp_path) as (caller, listener):
            link = caller.connect(listener)
            await wait_until(lambda: caller.refusals(certificates.EXPIRED, listener.peer.address) > 0)
            assert not listener.certificates.reload()
            ca.issue(LISTENER)
            assert listener.certificates.reload()
            await wait_until(lambda: link.state is LinkState.LIVE)
            ca.issue(CALLER)
            assert caller.certificates.reload()
            assert await check_peer(listener.peer, caller.certificates) == peer_check.ANSWERS

    run(renew())


def test_a_ca_is_changed_while_hosts_serve(ca: Authority, tmp_path: Path) -> None:
    """First every host trusts both, then each gets a certificate of the new one, then the old one is taken away."""
    new = Authority(tmp_path / "new", "the next ca")
    caller_files, listener_files = ca.issue(CALLER), ca.issue(LISTENER)
    trusted = ca.path.read_bytes()

    def install(files: CertificateFiles, host: str) -> None:
        issued = new.issue(host)
        files.certificate.write_bytes(issued.certificate.read_bytes())
        files.key.write_bytes(issued.key.read_bytes())

    async def change() -> None:
        async with pair(caller_files, listener_files, tmp_path) as (caller, listener):

            async def is_answered(*reloaded: Host) -> bool:
                assert all(host.certificates.reload() for host in reloaded)
                return await check_peer(listener.peer, caller.certificates) == peer_check.ANSWERS

            ca.path.write_bytes(trusted + new.path.read_bytes())
            assert await is_answered(caller, listener)
            install(listener_files, LISTENER)
            assert await is_answered(listener)
            install(caller_files, CALLER)
            assert await is_answered(caller)
            ca.path.write_bytes(new.path.read_bytes())
            assert await is_answered(caller, listener)

    run(change())
