"""The encrypted connection between hosts, over real TCP, with somebody in the middle who reads, changes and repeats.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    the MAC of a hello is compared                     (a host with another secret is answered)
    the MAC of the listener covers the caller's hello  (an old answer is accepted)
    each direction has a key of its own                (both have the same)
    the nonce is the number of the record              (a repeated record is accepted)
    a listener waits for the first record              (an old hello is greeted)
    records are short before authentication            (a stranger's record is waited for)
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from kasuwa.observe.metrics import PEER_REFUSED, Metrics
from kasuwa.owners import peer_listener, secure_channel
from kasuwa.owners.handshake import BODY, HELLO_BYTES, KEY_BYTES, MAGIC, Handshake, HandshakeError, PeerSecret
from kasuwa.owners.peer_listener import PeerListener
from kasuwa.owners.secure_channel import LENGTH, TAG_BYTES, RecordCipher, SecureChannel
from tests.owners.test_links import run, wait_until

SECRET = PeerSecret("a secret of the tests, long enough")
OTHER_SECRET = PeerSecret("another secret, of the same length")
CARD = b"4111111111111111"


class Collecting(asyncio.Protocol):
    """An end of the connection that keeps what it receives."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.received = b""
        self.is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self.received += data

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True

    def send(self, data: bytes) -> None:
        assert self.transport is not None, "not authenticated"
        self.transport.write(data)


class Wire:
    """A listener on a port of its own, with what it accepted and refused."""

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.accepted: list[Collecting] = []
        self.refused_by_caller: list[str] = []
        self.listener = PeerListener(("127.0.0.1", 0), SECRET, b"hello", self.metrics)

    def make(self) -> Collecting:
        self.accepted.append(Collecting())
        return self.accepted[-1]

    @property
    def port(self) -> int:
        assert self.listener._server is not None
        return int(self.listener._server.sockets[0].getsockname()[1])

    def refusals(self, why: str) -> float:
        return self.metrics.series.get((PEER_REFUSED.name, ("", why)), [0.0])[0]

    async def call(self, port: int | None = None, secret: PeerSecret = SECRET) -> Collecting:
        end = Collecting()
        refused = self.refused_by_caller.append
        await asyncio.get_running_loop().create_connection(
            lambda: SecureChannel(end, secret, is_caller=True, on_refused=refused), "127.0.0.1", port or self.port
        )
        return end


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[Wire]:
    wire = Wire()
    await wire.listener.start(wire.make)
    try:
        yield wire
    finally:
        wire.listener.stop()
        for end in wire.accepted:
            if end.transport is not None:
                end.transport.abort()


@contextlib.asynccontextmanager
async def man_in_the_middle(
    port: int, change: Callable[[str, bytes], list[bytes]]
) -> AsyncIterator[tuple[int, bytearray]]:
    """A proxy that hands each chunk of a direction (`>` from the caller, `<` from the listener) to `change`, and passes
    on what that returns. Yields its port and all bytes that were sent to it."""
    seen = bytearray()
    ends: list[asyncio.StreamWriter] = []

    async def carry(direction: str, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while chunk := await source.read(1_000_000):
                seen.extend(chunk)
                for part in change(direction, chunk):
                    target.write(part)
                await target.drain()
        target.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward = await asyncio.open_connection("127.0.0.1", port)
        ends.extend((writer, onward))
        await asyncio.gather(carry(">", reader, onward), carry("<", onward_reader, writer))

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1], seen
    finally:
        server.close()
        for end in ends:
            end.close()
        for end in ends:
            with contextlib.suppress(OSError):
                await end.wait_closed()


def test_bytes_of_any_length_arrive_as_they_were_sent_and_nobody_between_reads_them() -> None:
    async def send() -> None:
        async with listening() as wire, man_in_the_middle(wire.port, lambda _, chunk: [chunk]) as (port, seen):
            caller = await wire.call(port)
            await wait_until(lambda: caller.transport is not None and wire.accepted[0].transport is not None)
            [listener] = wire.accepted
            sent = [CARD, b"x", CARD * 100_000, b"", b"end"]
            for data in sent:
                caller.send(data)
                listener.send(data[::-1])
            await wait_until(lambda: caller.received.endswith(b"dne") and listener.received.endswith(b"end"))
            assert listener.received == b"".join(sent)
            assert caller.received == b"".join(data[::-1] for data in sent)
            assert len(seen) > 2 * len(b"".join(sent))
            assert CARD not in seen
            assert CARD[::-1] not in seen
            caller.transport.close()  # type: ignore[union-attr]
            await wait_until(lambda: caller.is_lost and listener.is_lost)

    run(send())


def test_a_caller_with_another_secret_gets_no_answer() -> None:
    async def call() -> None:
        async with listening() as wire:
            caller = await wire.call(secret=OTHER_SECRET)
            await wait_until(lambda: caller.is_lost)
            assert caller.transport is None
            assert wire.accepted[0].transport is None
            assert wire.refusals("other secret") == 1
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
            writer.write(Handshake(OTHER_SECRET).call())
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()

    run(call())


def test_a_caller_does_not_talk_to_a_listener_with_another_secret() -> None:
    async def call() -> None:
        async def impostor(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(HELLO_BYTES)
            writer.write(Handshake(OTHER_SECRET).call())
            writer.close()

        server = await asyncio.start_server(impostor, "127.0.0.1", 0)
        wire = Wire()
        caller = await wire.call(server.sockets[0].getsockname()[1])
        await wait_until(lambda: caller.is_lost)
        assert (caller.transport, wire.refused_by_caller) == (None, ["other secret"])
        server.close()

    run(call())


def flip_last_bit(chunk: bytes) -> bytes:
    return chunk[:-1] + bytes([chunk[-1] ^ 1])


@pytest.mark.parametrize("attack", ["changed", "repeated", "left out", "reflected"])
def test_a_record_that_is_not_the_next_one_ends_the_connection(attack: str) -> None:
    from_listener: list[bytes] = []

    def change(direction: str, chunk: bytes) -> list[bytes]:
        if direction == "<":
            from_listener.append(chunk)
            return [chunk]
        if not chunk.startswith(LENGTH.pack(len(b"second") + TAG_BYTES)):
            return [chunk]
        attacks = {
            "changed": [flip_last_bit(chunk)],
            "repeated": [chunk, chunk],
            "left out": [],
            "reflected": [from_listener[-1]],
        }
        return attacks[attack]

    async def send() -> None:
        async with listening() as wire, man_in_the_middle(wire.port, change) as (port, _):
            caller = await wire.call(port)
            await wait_until(lambda: caller.transport is not None and wire.accepted[0].transport is not None)
            [listener] = wire.accepted
            caller.send(b"first")
            listener.send(b"answer")
            await wait_until(lambda: (listener.received, caller.received) == (b"first", b"answer"))
            caller.send(b"second")
            await asyncio.sleep(0.05)
            with contextlib.suppress(AssertionError):
                caller.send(b"third, which is longer")
            await wait_until(lambda: listener.is_lost)
            assert listener.received == (b"firstsecond" if attack == "repeated" else b"first")
            assert wire.refusals("other record") == 1

    run(send())


def test_a_recorded_connection_that_is_played_again_is_not_greeted() -> None:
    recorded: list[bytes] = []

    def record(direction: str, chunk: bytes) -> list[bytes]:
        if direction == ">":
            recorded.append(chunk)
        return [chunk]

    async def play() -> None:
        async with listening() as wire, man_in_the_middle(wire.port, record) as (port, _):
            caller = await wire.call(port)
            await wait_until(lambda: caller.transport is not None)
            caller.send(CARD)
            await wait_until(lambda: wire.accepted[0].received == CARD)
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
            writer.write(b"".join(recorded))
            # The listener proves that it knows the secret, and says nothing more.
            with contextlib.suppress(ConnectionError):
                assert len(await reader.read()) == HELLO_BYTES
            await wait_until(lambda: wire.accepted[1].is_lost)
            assert wire.accepted[1].transport is None
            assert wire.accepted[1].received == b""
            assert wire.refusals("other record") == 1
            writer.close()

    run(play())


def test_a_caller_does_not_accept_an_old_answer_or_its_own_hello() -> None:
    first, second = Handshake(SECRET), Handshake(SECRET)
    answer, _ = Handshake(SECRET).answer(first.call())
    for hello in (answer, second.call()):
        with pytest.raises(HandshakeError) as error:
            second.finish(second.call(), hello)
        assert error.value.reason == "other secret"


def test_keys_differ_by_connection_and_direction() -> None:
    keys = []
    for _ in range(2):
        caller, listener = Handshake(SECRET), Handshake(SECRET)
        call = caller.call()
        answer, at_listener = listener.answer(call)
        assert caller.finish(call, answer) == at_listener
        keys += [at_listener.to_caller, at_listener.to_listener]
    assert len(set(keys)) == 4
    assert {len(key) for key in keys} == {KEY_BYTES}


def test_a_public_key_that_everybody_can_compute_with_is_refused() -> None:
    forged = Handshake(SECRET)
    forged._body = BODY.pack(MAGIC, bytes(KEY_BYTES), bytes(KEY_BYTES))
    with pytest.raises(HandshakeError, match="not a peer"):
        Handshake(SECRET).answer(forged.call())


def test_another_version_of_the_handshake_is_refused_as_such() -> None:
    later = Handshake(SECRET)
    later._body = MAGIC[:-1] + b"\x02" + later._body[len(MAGIC) :]
    with pytest.raises(HandshakeError, match="other version"):
        Handshake(SECRET).answer(later.call())


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" + bytes(200), "not a peer"),
        (bytes(HELLO_BYTES), "not a peer"),
        (Handshake(SECRET).call() + LENGTH.pack(TAG_BYTES + 1), "other record"),
        (Handshake(SECRET).call() + LENGTH.pack(2**32 - 1), "other record"),
    ],
)
def test_a_stranger_is_read_no_further_than_needed(sent: bytes, why: str) -> None:
    async def send() -> None:
        async with listening() as wire:
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
            writer.write(sent)
            with contextlib.suppress(ConnectionError):
                await reader.read()
            await wait_until(lambda: wire.refusals(why) == 1)
            assert wire.accepted[0].transport is None
            writer.close()

    run(send())


def test_a_stranger_who_says_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secure_channel, "HANDSHAKE_SECONDS", 0.05)

    async def wait() -> None:
        async with listening() as wire:
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            assert wire.refusals("no handshake") == 1
            writer.close()

    run(wait())


def test_strangers_hold_few_connections_and_peers_are_served_after_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(peer_listener, "MAX_UNAUTHENTICATED", 3)

    async def crowd() -> None:
        async with listening() as wire:
            strangers = [await asyncio.open_connection("127.0.0.1", wire.port) for _ in range(3)]
            await wait_until(lambda: len(wire.accepted) == 3)
            late = await wire.call()
            await wait_until(lambda: late.is_lost)
            assert wire.refusals("too many") == 1
            for _, writer in strangers:
                writer.close()
            await wait_until(lambda: all(end.is_lost for end in wire.accepted))
            # Those that are authenticated do not count.
            for _ in range(5):
                before = len(wire.accepted)
                await wire.call()
                await wait_until(lambda: wire.accepted[before:] != [] and wire.accepted[before].transport is not None)  # noqa: B023
            assert wire.refusals("too many") == 1

    run(crowd())


def test_a_listener_that_stops_hangs_up_on_strangers_and_not_on_peers() -> None:
    async def stop() -> None:
        async with listening() as wire:
            peer = await wire.call()
            await wait_until(lambda: wire.accepted != [] and wire.accepted[0].transport is not None)
            reader, writer = await asyncio.open_connection("127.0.0.1", wire.port)
            await wait_until(lambda: len(wire.accepted) == 2)
            wire.listener.stop()
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            wire.accepted[0].send(b"the last answer")
            await wait_until(lambda: peer.received == b"the last answer")
            writer.close()

    run(stop())


def test_the_cipher_takes_only_the_next_record() -> None:
    sending, receiving = RecordCipher(bytes(KEY_BYTES)), RecordCipher(bytes(KEY_BYTES))
    records = [sending.encrypt(b"%d" % number) for number in range(3)]
    plain = [receiving.decrypt(record[: LENGTH.size], record[LENGTH.size :]) for record in records]
    assert plain == [b"0", b"1", b"2"]
    assert sending.encrypt(b"0") != records[0]
