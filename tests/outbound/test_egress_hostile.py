"""Hostile or broken receivers: outgoing HTTP ends in time, and says what may have happened."""

import asyncio
import socket
from collections.abc import Sequence

import pytest

from kasuwa.outbound.egress import (
    MAX_BODY_BYTES,
    MAX_PER_HOST,
    EgressLimits,
    EgressResponse,
    QueueTimeout,
    RequestFailed,
)
from tests.outbound.receivers import (
    OK,
    PATIENT,
    Receiver,
    ServeConnection,
    answering,
    flooding,
    keep_silent,
    on_both_loops,
    receiving,
    reset,
    sending,
)

# For requests whose turn does not come.
FEW = EgressLimits(queue_seconds=0.2, connect_seconds=30, response_seconds=30, total_seconds=30)
# For answers with a status but without a body.
WAITS_FOR_STATUS = EgressLimits(queue_seconds=30, connect_seconds=30, response_seconds=30, total_seconds=0.3)

ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
LOST = "The connection was lost before the answer"
NO_HTTP = "The answer is not HTTP, or its headers are too large"
LATE = "There was no answer in time"


async def failure(talk: ServeConnection, limits: EgressLimits = PATIENT) -> RequestFailed:
    async with receiving(talk) as shop, sending(limits=limits) as egress:
        with pytest.raises(RequestFailed) as raised:
            await egress.post(shop.url, b"{}", {})
        return raised.value


async def success(talk: ServeConnection, limits: EgressLimits = PATIENT) -> EgressResponse:
    async with receiving(talk) as shop, sending(limits=limits) as egress:
        return await egress.post(shop.url, b"{}", {})


# --- bodies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "more", "kept"),
    [
        (ENDLESS, b"a" * 10_000, b"a" * MAX_BODY_BYTES),
        (CHUNKED, b"3e8\r\n" + b"a" * 1000 + b"\r\n", b"a" * MAX_BODY_BYTES),
        (CHUNKED, b"a\r\n" + b"a" * 10 + b"\r\n", b"a" * MAX_BODY_BYTES),
        (OK.replace(b"Length: 2", b"Length: 99999999999"), b"a" * 10_000, b"ok" + b"a" * (MAX_BODY_BYTES - 2)),
    ],
    ids=["until the connection ends", "in chunks", "in small chunks", "with a length"],
)
@on_both_loops
async def test_of_an_endless_body_the_first_part_is_kept(first: bytes, more: bytes, kept: bytes) -> None:
    async with receiving(flooding(first, more)) as shop, sending() as egress:
        sent = await egress.post(shop.url, b"{}", {})
        assert (sent.status, sent.body) == (200, kept)
        await asyncio.wait_for(shop.gone.wait(), 30)


@on_both_loops
async def test_chunks_that_carry_nothing_end_too() -> None:
    async with receiving(flooding(CHUNKED + b"1;", b"x" * 10_000)) as shop, sending() as egress:
        assert (await egress.post(shop.url, b"{}", {})).status == 200
        await asyncio.wait_for(shop.gone.wait(), 30)


@on_both_loops
async def test_a_body_that_drips_is_taken_as_far_as_it_came() -> None:
    async def drip(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 1000000\r\n\r\n")
        try:
            while True:
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.01)
        finally:
            seen.gone.set()

    async with receiving(drip) as shop, sending(limits=WAITS_FOR_STATUS) as egress:
        sent = await egress.post(shop.url, b"{}", {})
        assert sent.status == 202
        assert sent.body == b"a" * len(sent.body)
        assert len(sent.body) < 1000
        await asyncio.wait_for(shop.gone.wait(), 30)


@on_both_loops
async def test_a_body_that_breaks_off_does_not_undo_the_status() -> None:
    async def break_off(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        writer.write(OK.replace(b"Length: 2", b"Length: 3"))

    assert (await success(break_off)).status == 200


# --- answers that do not come, or are none --------------------------------------------------------------------------


@on_both_loops
async def test_a_receiver_that_never_answers_is_not_waited_for() -> None:
    error = await failure(
        keep_silent, EgressLimits(queue_seconds=30, connect_seconds=30, response_seconds=0.2, total_seconds=0.3)
    )
    assert (str(error), error.may_have_arrived) == (LATE, True)
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


@on_both_loops
async def test_a_status_line_that_drips_is_late() -> None:
    async def drip(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        for byte in OK * 100:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.1)

    error = await failure(
        drip, EgressLimits(queue_seconds=30, connect_seconds=30, response_seconds=0.5, total_seconds=0.6)
    )
    assert (str(error), error.may_have_arrived) == (LATE, True)


@on_both_loops
async def test_a_reset_may_have_arrived() -> None:
    error = await failure(reset)
    assert (str(error), error.may_have_arrived) == (LOST, True)


@on_both_loops
async def test_a_port_that_nobody_listens_on_has_received_nothing() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        async with sending() as egress:
            with pytest.raises(RequestFailed, match=r"^No connection could be made$") as raised:
                await egress.post(f"http://127.0.0.1:{held.getsockname()[1]}/", b"{}", {})
        assert not raised.value.may_have_arrived


@pytest.mark.parametrize("scheme", ["http", "https"])
@on_both_loops
async def test_a_connection_that_is_not_made_in_time_has_sent_nothing(scheme: str) -> None:
    async def resolve(host: str) -> Sequence[str]:
        if scheme == "http":
            await asyncio.sleep(60)
        return ["127.0.0.1"]

    limits = EgressLimits(queue_seconds=30, connect_seconds=0.2, response_seconds=30, total_seconds=30)
    async with receiving(keep_silent) as shop, sending(resolve=resolve, limits=limits) as egress:
        with pytest.raises(RequestFailed, match=r"^No connection could be made in time$") as raised:
            await egress.post(f"{scheme}://shop.example:{shop.port}/", b"{}", {})
        assert not raised.value.may_have_arrived


@pytest.mark.parametrize("addresses", [None, []], ids=["an error", "none"])
@on_both_loops
async def test_a_name_without_an_address_has_received_nothing(addresses: list[str] | None) -> None:
    async def resolve(host: str) -> Sequence[str]:
        if addresses is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return addresses

    async with sending(resolve=resolve) as egress:
        with pytest.raises(RequestFailed, match=r"^No address was found for the host$") as raised:
            await egress.post("http://shop.example/", b"{}", {})
        assert not raised.value.may_have_arrived


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", LOST),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", LOST),
        (b"220 smtp.example ESMTP\r\n", NO_HTTP),
        (b"\x00" * 1000, NO_HTTP),
        (b"HTTP/1.1 abc OK\r\n\r\n", NO_HTTP),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", NO_HTTP),
        (OK.replace(b"Length: 2", b"Length: -2"), NO_HTTP),
        (OK.replace(b"Length: 2", b"Length: 2\r\nContent-Length: 3"), NO_HTTP),
        (OK.replace(b"OK", b"OK\r\nX-Large: " + b"a" * 9000), NO_HTTP),
        (OK.replace(b"OK", b"OK" + b"k" * 9000), NO_HTTP),
        (OK.replace(b"OK", b"OK" + b"".join(b"\r\nX-%d: a" % n for n in range(200))), NO_HTTP),
    ],
)
@on_both_loops
async def test_what_is_no_answer_is_not_taken_for_one(raw: bytes, reason: str) -> None:
    async def talk(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        writer.write(raw)

    error = await failure(talk)
    assert (str(error), error.may_have_arrived) == (reason, True)


@pytest.mark.parametrize(
    ("first", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nX-Endless: ", b"a" * 10_000),
        (b"HTTP/1.1 200 OK\r\n", b"X: a\r\n" * 1000),
        (b"HTTP/1.1 200 O", b"K" * 10_000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (b"", b"HTTP/1.1 103 Early Hints\r\nLink: </>\r\n\r\n" * 500),
        (b"", b"\r\n" * 5000),
    ],
    ids=["one header", "many headers", "a reason", "continue", "hints", "nothing"],
)
@on_both_loops
async def test_headers_that_never_end_are_not_read_for_ever(first: bytes, more: bytes) -> None:
    error = await failure(flooding(first, more))
    assert str(error) in (NO_HTTP, LOST)


# --- connections between requests -----------------------------------------------------------------------------------


@on_both_loops
async def test_an_answer_nobody_asked_for_is_not_taken_for_the_next() -> None:
    stray = asyncio.Event()

    async def talk(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        writer.write(OK)
        await stray.wait()
        writer.write(OK.replace(b"200", b"500"))
        await reader.read()

    async with receiving(talk) as shop, sending() as egress:
        assert (await egress.post(shop.url, b"1", {})).status == 200
        stray.set()
        await asyncio.sleep(0.1)
        assert (await egress.post(shop.url, b"2", {})).status == 200
        assert (shop.connections, len(shop.requests)) == (2, 2)


@on_both_loops
async def test_a_flood_between_requests_ends_the_connection() -> None:
    async with receiving(flooding(OK, OK * 1000)) as shop, sending() as egress:
        for count in (1, 2):
            assert (await egress.post(shop.url, b"{}", {})).status == 200
            await asyncio.wait_for(shop.gone.wait(), 30)
            assert shop.connections == count
            shop.gone.clear()


@on_both_loops
async def test_an_upgrade_is_a_status_and_no_more() -> None:
    upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nxyz"
    async with receiving(answering(upgrade)) as shop, sending() as egress:
        for count in (1, 2):
            assert (await egress.post(shop.url, b"{}", {})).status == 101
            assert shop.connections == count


@on_both_loops
@pytest.mark.parametrize("way", ["given up", "cancelled"])
async def test_an_answer_that_comes_too_late_is_nobody_elses(way: str) -> None:
    """The connection of a late answer is not used again."""
    late = asyncio.Event()

    async def answer_late(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = seen.connections == 1
        while True:
            await seen.read_request(reader)
            if first:
                await late.wait()
            writer.write(OK.replace(b"200 OK", b"500 Late") if first else OK)

    impatient = EgressLimits(queue_seconds=30, connect_seconds=30, response_seconds=2, total_seconds=30)
    async with receiving(answer_late) as shop, sending(limits=impatient if way == "given up" else PATIENT) as egress:
        asked = asyncio.create_task(egress.post(shop.url, b"{}", {}))
        while not (shop.requests or asked.done()):
            await asyncio.sleep(0.001)
        if way == "cancelled":
            asked.cancel()
        with pytest.raises((RequestFailed, asyncio.CancelledError)):
            await asked
        late.set()
        assert (await egress.post(shop.url, b"{}", {})).status == 200
        assert shop.connections == 2


@on_both_loops
@pytest.mark.parametrize("value", ["a\r\nHost: b", "a\nb", "a\rb", "a\0b"])
async def test_a_header_with_a_line_break_is_not_sent(value: str) -> None:
    async with receiving(answering(OK)) as shop, sending() as egress:
        for header in ({"x": value}, {value: "x"}):
            with pytest.raises(ValueError, match="line break"):
                await egress.post(shop.url, b"{}", header)
        assert shop.connections == 0


def holding(answers: asyncio.Event) -> ServeConnection:
    """Answers when the test says so."""

    async def hold(seen: Receiver, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        await answers.wait()
        writer.write(OK)

    return hold


@on_both_loops
async def test_waiting_too_long_for_a_turn_fails_and_nothing_was_tried() -> None:
    answers = asyncio.Event()
    async with receiving(holding(answers)) as shop, receiving(answering(OK)) as other, sending(limits=FEW) as egress:
        held = [asyncio.create_task(egress.post(shop.url, b"{}", {})) for _ in range(MAX_PER_HOST)]
        await asyncio.sleep(0)
        with pytest.raises(QueueTimeout) as raised:
            await egress.post(shop.url, b"{}", {})
        assert not raised.value.may_have_arrived
        assert (await egress.post(other.url, b"{}", {})).status == 200
        answers.set()
        assert {sent.status for sent in await asyncio.gather(*held)} == {200}
        assert len(shop.requests) == MAX_PER_HOST


@on_both_loops
async def test_who_is_cancelled_gives_the_turn_back() -> None:
    answers = asyncio.Event()
    async with receiving(holding(answers)) as shop, sending(limits=FEW) as egress:
        for _ in range(3):
            posts = [asyncio.create_task(egress.post(shop.url, b"{}", {})) for _ in range(MAX_PER_HOST)]
            await asyncio.sleep(0.01)
            for post in posts:
                post.cancel()
            results = await asyncio.gather(*posts, return_exceptions=True)
            assert {type(one) for one in results} == {asyncio.CancelledError}
        answers.set()
        assert (await egress.post(shop.url, b"{}", {})).status == 200
