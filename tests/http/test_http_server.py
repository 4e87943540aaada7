"""The HTTP server on raw sockets, on both event loops: connections, headers, refusals and shutdown."""

import socket
import struct
import time

import pytest
from structlog.testing import capture_logs

from kasuwa.boot.app import HEADER_MILLISECONDS
from kasuwa.http.connection import Connection, decode_path
from kasuwa.http.headers import RequestHeaders
from kasuwa.http.server import connections_within
from tests.http.http_application import CHUNKED, LOOPS, assert_still_serves, chunk, head, put, running, wait_until
from tests.walk.bounds import HEADER_SECONDS


@pytest.fixture(params=LOOPS)
def loop_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- connections -----------------------------------------------------------------------------------------------------


def test_a_connection_serves_many_requests(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        for body in (b"{}", b"", b"x" * 3000):
            status, headers, echoed = client.send(put("/echo", body)).reply()
            assert (status, echoed) == (200, body)
            assert headers["content-type"] == "text/plain"
            assert headers["content-length"] == str(len(body))
            assert headers["date"].endswith("GMT")
            assert "connection" not in headers


def test_a_request_in_pieces_of_one_byte_is_read(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        for byte in put("/echo/a%20b?c=d", b'{"a":1}', "X-Some: y", "x-SOME: z"):
            client.send(bytes([byte]))
            time.sleep(0.001)
        assert client.reply()[2] == b'{"a":1}'
        request = server.application.requests[0]
        assert (request.method, request.path) == ("PUT", "/echo/a b")
        assert (request.headers.get("x-some"), request.headers.get_all("x-some")) == ("y", ["y", "z"])
        assert request.client == f"127.0.0.1:{client.socket.getsockname()[1]}"


def test_pipelined_requests_are_answered_in_order_one_at_a_time(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(put("/slow", b"{}") + b"".join(put("/echo", b"%d" % n) for n in range(300)) + head("/last"))
        wait_until(lambda: server.application.requests)
        time.sleep(0.1)
        assert len(server.application.requests) == 1
        server.application.go_on.set()
        assert client.reply()[2] == b"slow"
        assert [client.reply()[2] for _ in range(301)] == [*(b"%d" % n for n in range(300)), b"/last"]


def test_pipelined_requests_with_large_bodies_are_answered_in_order(loop_name: str) -> None:
    bodies = [bytes([65 + n]) * (n * 40_000) for n in range(6)]
    with running(loop_name) as server, server.connect() as client:
        server.application.go_on.set()
        client.send(head("/slow") + b"".join(put("/echo", body) + put("/chunks", body) for body in bodies))
        assert client.reply()[2] == b"slow"
        for body in bodies:
            assert client.reply()[2] == body
            assert client.reply()[2] == body


def test_what_arrives_during_a_request_is_left_in_the_systems_buffer(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/slow"))
        client.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            client.send(head("/next") * 1_000_000)
        assert [request.path for request in server.application.requests] == ["/slow"]


@pytest.mark.parametrize(
    ("request_head", "closes"),
    [
        (head("/a", "connection: close"), True),
        (head("/a", version="1.0"), True),
        (head("/a", "connection: keep-alive", version="1.0"), False),
        (head("/a", "connection: keep-alive"), False),
    ],
)
def test_the_client_chooses_whether_the_connection_stays_open(
    loop_name: str, request_head: bytes, closes: bool
) -> None:
    with running(loop_name) as server, server.connect() as client:
        status, headers, body = client.send(request_head).reply()
        assert (status, body) == (200, b"/a")
        if closes:
            assert (headers["connection"], client.rest()) == ("close", b"")
        else:
            assert headers.get("connection", "keep-alive") == "keep-alive"
            assert client.send(request_head).reply()[0] == 200


def test_a_client_that_has_stopped_sending_is_answered(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(put("/echo", b"1") + put("/echo", b"2")).socket.shutdown(socket.SHUT_WR)
        assert [client.reply()[2], client.reply()[2], client.rest()] == [b"1", b"2", b""]


def test_a_request_of_a_client_that_goes_away_runs_to_its_end(loop_name: str) -> None:
    with running(loop_name) as server, capture_logs() as logs:
        closing, resetting = (server.connect().send(put("/slow", b"{}")) for _ in range(2))
        wait_until(lambda: len(server.application.requests) == 2)
        resetting.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        for client in (closing, resetting):
            client.socket.close()
        time.sleep(0.2)
        assert server.application.finished == []
        server.application.go_on.set()
        wait_until(lambda: server.application.finished == ["/slow", "/slow"])
        wait_until(lambda: not server.server._connections)
    assert logs == []


@pytest.mark.parametrize("resets", [True, False])
def test_an_end_that_is_noticed_only_with_the_reply_is_no_error(loop_name: str, resets: bool) -> None:
    with running(loop_name) as server, capture_logs() as logs:
        client = server.connect().send(head("/slow", "content-length: 900000", verb="PUT") + b"x" * 70_000)
        wait_until(lambda: any(not connection._is_reading for connection in server.server._connections))
        if resets:
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.close()
        server.application.go_on.set()
        wait_until(lambda: not server.server._connections)
    assert logs == []


def test_further_connections_wait_until_one_ends(loop_name: str) -> None:
    with running(loop_name, connections=3) as server:
        first = [server.connect() for _ in range(3)]
        for client in first:
            assert client.send(head("/a")).reply()[0] == 200
        with server.connect() as fourth:
            fourth.send(head("/b")).socket.settimeout(0.3)
            with pytest.raises(TimeoutError):
                fourth.reply()
            fourth.socket.settimeout(10)
            first[0].socket.close()
            assert fourth.reply()[2] == b"/b"
        for client in first:
            client.socket.close()
        assert_still_serves(server)


def test_connections_leave_files_for_the_rest_of_the_process() -> None:
    assert [connections_within(files, 4096) for files in (None, 100_000, 1024, 10)] == [4096, 4096, 768, 1]


def test_replies_are_sent_without_delay(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/a")).reply()
        (connection,) = server.server._connections
        assert connection._transport is not None
        accepted = connection._transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


# --- headers ---------------------------------------------------------------------------------------------------------


def test_the_first_of_repeated_headers_counts() -> None:
    headers = RequestHeaders()
    for name, value in ((b"Mid", b" a \t"), (b"mid", b"b"), (b"key", b"\xc3\xa9"), (b"key", b"c"), (b"empty", b"")):
        headers.add(name, value)
    assert (headers.get("mid"), headers.get_all("mid")) == ("a", ["a", "b"])
    assert (headers.get("key"), "key" in headers, headers.get_all("key")) == (None, True, ["c"])
    assert (headers.get("empty"), headers.get("none", "x"), "none" in headers) == ("", "x", False)
    assert headers.field_count == 5


@pytest.mark.parametrize(
    ("url", "path"),
    [
        (b"/a/b?c#d", "/a/b"),
        (b"/a#b?c", "/a"),
        (b"/%2e%2e/%C3%A9%20/%ff%zz", "/../é /\ufffd%zz"),
        (b"http://host/a?b", "/a"),
        (b"http://host?b", "/"),
        (b"*", "*"),
        (b"host:80", ""),
    ],
)
def test_the_path_is_decoded_and_without_the_query(url: bytes, path: str) -> None:
    assert decode_path(url) == path


@pytest.mark.parametrize("is_idle", [True, False])
def test_a_connection_without_complete_headers_is_closed_in_time(loop_name: str, is_idle: bool) -> None:
    limits = {"header_seconds": HEADER_MILLISECONDS / 1000, "check_seconds": 3600.0}
    with running(loop_name, **limits) as server, server.connect() as client, server.connect() as silent:
        client.send(head("/a")).reply()
        wait_until(lambda: len(server.server._connections) == 2)
        if not is_idle:
            for part in (b"GET /", b"a", b"b"):
                client.send(part)
                time.sleep(0.05)
        connections = tuple(server.server._connections)

        def is_open(connection: Connection, seconds: float) -> bool:
            """Checks a connection that long after it began to wait for a request."""
            connection.check(connection._deadline + (seconds - limits["header_seconds"]))
            return connection._transport is not None and not connection._transport.is_closing()

        for seconds, is_within in HEADER_SECONDS.sides:
            assert server.call(lambda: [is_open(one, seconds) for one in connections]) == [is_within] * 2  # noqa: B023
        assert client.rest() == b""
        assert silent.rest() == b""


def test_a_request_may_take_longer_than_its_headers(loop_name: str) -> None:
    with running(loop_name, header_seconds=60.0, check_seconds=3600.0) as server, server.connect() as client:
        client.send(head("/slow"))
        wait_until(lambda: server.application.requests)
        server.check(120)
        server.application.go_on.set()
        assert client.reply()[2] == b"slow"
        client.send(put("/echo", b"12345")[:-2])
        wait_until(lambda: len(server.application.requests) == 2)
        server.check(120)
        assert client.send(b"45").reply()[2] == b"12345"


@pytest.mark.parametrize(
    "lines",
    [["a: " + "b" * 70_000], ["a" * 70_000], [f"a{n}: b" for n in range(101)], [f"a{n}: b" for n in range(9000)]],
)
def test_headers_that_are_too_large_are_refused(loop_name: str, lines: list[str]) -> None:
    with running(loop_name) as server, server.connect() as client:
        status, headers, body = client.send(head("/a", *lines)).reply()
        assert (status, headers["connection"], body) == (431, "close", b"")
        assert client.rest() == b""
        assert server.application.requests == []
        assert_still_serves(server)


def test_large_headers_within_the_limit_are_read(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        for _ in range(2):
            assert client.send(head("/a", "b: " + "c" * 60_000)).reply()[0] == 200
            assert server.application.requests[-1].headers["b"] == "c" * 60_000


MALFORMED = {
    "no version": b"GET /\r\n\r\n",
    "no request": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "an unknown method": b"FLY / HTTP/1.1\r\n\r\n",
    "HTTP/2 with prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/2": head("/", version="2.0"),
    "HTTP/1.2": head("/", version="1.2"),
    "a bare LF": b"GET / HTTP/1.1\nhost: x\n\n",
    "a bare CR": head("/", "a: b\rc: d"),
    "a NUL character": head("/", "a: b\0c"),
    "a space before the colon": head("/", "a : b"),
    "a folded line": head("/", "a: b", " c"),
    "length and chunks": head("/echo", "content-length: 5", CHUNKED, verb="PUT") + b"0\r\n\r\n",
    "chunks and length": head("/echo", CHUNKED, "content-length: 5", verb="PUT") + b"0\r\n\r\n",
    "two lengths": head("/echo", "content-length: 1", "content-length: 1", verb="PUT") + b"x",
    "a list of lengths": head("/echo", "content-length: 1, 1", verb="PUT") + b"x",
    "a negative length": head("/echo", "content-length: -1", verb="PUT"),
    "a length with a sign": head("/echo", "content-length: +1", verb="PUT") + b"x",
    "a hexadecimal length": head("/echo", "content-length: 0x1", verb="PUT") + b"x",
    "an empty length": head("/echo", "content-length:", verb="PUT"),
    "an endless length": head("/echo", "content-length: 99999999999999999999", verb="PUT"),
    "chunks in HTTP/1.0": head("/chunks", CHUNKED, verb="PUT", version="1.0") + b"0\r\n\r\n",
    "chunked twice": head("/chunks", CHUNKED, CHUNKED, verb="PUT") + b"0\r\n\r\n",
    "another coding before chunks": head("/chunks", "transfer-encoding: gzip, chunked", verb="PUT") + b"0\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\na: b\r\n\r\n",
    "two hosts": head("/", "host: y"),
    "the same host twice": head("/", "host: x"),
    "a list of hosts": b"GET / HTTP/1.1\r\nhost: x, y\r\n\r\n",
    "a host with a path": b"GET / HTTP/1.1\r\nhost: x/y\r\n\r\n",
    "a host beyond ASCII": b"GET / HTTP/1.1\r\nhost: \xc3\xa9\r\n\r\n",
    "chunked, but not at last": head("/chunks", f"{CHUNKED}, gzip", verb="PUT") + b"0\r\n\r\n",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_http_is_refused_and_the_connection_closed(loop_name: str, name: str) -> None:
    with running(loop_name) as server, capture_logs() as logs, server.connect() as client:
        client.send(put("/echo", b"before") + MALFORMED[name])
        assert client.reply()[2] == b"before"
        status, headers, body = client.reply()
        assert (status, headers["connection"], body) == (400, "close", b"")
        assert client.rest() == b""
        assert [request.path for request in server.application.requests] == ["/echo"]
        assert_still_serves(server)
    assert logs == []


def test_a_client_that_goes_on_sending_after_malformed_http_can_read_the_refusal(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/slow"))
        wait_until(lambda: server.application.requests)
        client.send(b"FLY / HTTP/1.1\r\n\r\n" + b"z" * 30_000)
        time.sleep(0.1)
        server.application.go_on.set()
        assert client.reply()[2] == b"slow"
        for _ in range(5):
            client.send(b"z" * 100_000)
            time.sleep(0.02)
        assert client.reply()[0] == 400
        assert client.rest() == b""


@pytest.mark.parametrize("coding", ["identity", "xchunked", "gzip"])
def test_another_transfer_coding_than_chunked_is_refused(loop_name: str, coding: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/chunks", f"transfer-encoding: {coding}", verb="PUT") + put("/echo", b"smuggled"))
        assert client.reply()[0] == 400
        assert client.rest() == b""
        assert server.application.requests == []


def test_a_request_of_http_1_0_may_name_no_host(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        assert client.send(b"GET / HTTP/1.0\r\n\r\n").reply()[0] == 200


@pytest.mark.parametrize("is_chunked", [True, False])
def test_a_request_for_another_protocol_is_an_ordinary_one(loop_name: str, is_chunked: bool) -> None:
    upgrade = ("connection: Upgrade, HTTP2-Settings", "upgrade: h2c", "http2-settings: AAMAAABkAAQAAP__")
    with running(loop_name) as server:
        with server.connect() as client:
            status, headers, body = client.send(head("/a", *upgrade)).reply()
            assert (status, headers["connection"], body) == (200, "close", b"/a")
            assert client.rest() == b""
        with server.connect() as client:
            body = b"x" * 9000
            chunks = head("/chunks", CHUNKED, *upgrade, verb="PUT") + chunk(body) + b"0\r\n\r\n"
            client.send((chunks if is_chunked else put("/echo", body, *upgrade)) + put("/echo", b"after"))
            assert client.reply()[2] == body
            assert client.rest() == b""
        with server.connect() as client:
            status, headers, body = client.send(head("host:80", verb="CONNECT") + b"\x16\x03\x01").reply()
            assert (status, headers["connection"], client.rest()) == (200, "close", b"")
        assert [request.path for request in server.application.requests][-1] == ""


# --- shutdown --------------------------------------------------------------------------------------------------------


def test_at_shutdown_requests_in_progress_are_answered_and_idle_connections_closed(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as idle, server.connect() as busy, server.connect() as sending:
        idle.send(head("/a")).reply()
        busy.send(head("/slow"))
        sending.send(head("/echo", "content-length: 4", verb="PUT"))
        wait_until(lambda: len(server.application.requests) == 3)
        server.call(server.server.stop)
        assert idle.rest() == b""
        with pytest.raises(ConnectionRefusedError):
            server.connect()
        server.application.go_on.set()
        for client, body in ((busy, b"slow"), (sending.send(b"body"), b"body")):
            status, headers, replied = client.reply()
            assert (status, headers["connection"], replied) == (200, "close", body)
            assert client.rest() == b""


def test_the_last_replies_are_sent_before_the_server_ends(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        server.application.go_on.set()
        client.send(head("/slow"))
        wait_until(lambda: server.application.finished)
        server.call(server.server.stop)
        server.run(server.server.close())
        assert client.reply()[2] == b"slow"
