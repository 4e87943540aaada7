"""Bodies and replies of the HTTP server on raw sockets, on both event loops."""

import socket
import struct
import time

import pytest
from structlog.testing import capture_logs

from tests.http.http_application import (
    CHUNKED,
    LOOPS,
    PIECE,
    assert_still_serves,
    chunk,
    head,
    is_closed,
    put,
    running,
    wait_until,
)


@pytest.fixture(params=LOOPS)
def loop_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# --- bodies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/echo", "/chunks"])
@pytest.mark.parametrize("size", [0, 1, 5000, 70_000, 3_000_000])
def test_a_body_is_read_however_it_is_delimited(loop_name: str, path: str, size: int) -> None:
    body = bytes(range(256)) * (size // 256) + b"y" * (size % 256)
    with running(loop_name) as server, server.connect() as client:
        assert client.send(put(path, body)).reply()[2] == body
        pieces = b"".join(chunk(body[at : at + 999]) for at in range(0, size, 999))
        client.send(head(path, CHUNKED, verb="PUT") + pieces + b"0\r\n\r\n")
        assert client.reply()[2] == body
        assert client.send(head("/a")).reply()[2] == b"/a"


def test_the_application_is_called_before_the_body(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/echo", "content-length: 4", verb="PUT"))
        wait_until(lambda: server.application.requests)
        assert client.send(b"body").reply()[2] == b"body"


BROKEN_BODIES = {
    "short of its length": head("/echo", "content-length: 9", verb="PUT") + b"{}",
    "no last chunk": head("/chunks", CHUNKED, verb="PUT") + chunk(b"{}"),
    "half of the last chunk": head("/chunks", CHUNKED, verb="PUT") + chunk(b"{}") + b"0\r\n",
    "a malformed size": head("/chunks", CHUNKED, verb="PUT") + chunk(b"{}") + b"zz\r\n",
    "a negative size": head("/chunks", CHUNKED, verb="PUT") + chunk(b"{}") + b"-1\r\n",
    "an endless size": head("/chunks", CHUNKED, verb="PUT") + b"f" * 17 + b"\r\n{}",
    "a bare LF": head("/chunks", CHUNKED, verb="PUT") + b"2\n{}\n0\n\n",
    "a longer chunk than it says": head("/chunks", CHUNKED, verb="PUT") + b"2\r\n{}}\r\n0\r\n\r\n",
    "trailer fields": head("/chunks", CHUNKED, verb="PUT") + chunk(b"{}") + b"0\r\nmid: x\r\n\r\n",
    "endless trailer fields": head("/chunks", CHUNKED, verb="PUT") + chunk(b"{}") + b"0\r\nx: " + b"y" * 90_000,
}


@pytest.mark.parametrize("name", BROKEN_BODIES)
def test_a_body_that_breaks_off_raises(loop_name: str, name: str) -> None:
    with running(loop_name) as server, capture_logs() as logs, server.connect() as client:
        client.send(BROKEN_BODIES[name])
        if name in ("short of its length", "no last chunk", "half of the last chunk"):
            client.socket.shutdown(socket.SHUT_WR)
        status, headers, body = client.reply()
        assert (status, headers["connection"], body) == (400, "close", b"incomplete")
        assert client.rest() == b""
        assert_still_serves(server)
    assert logs == []


def test_a_reset_connection_breaks_off_the_body(loop_name: str) -> None:
    with running(loop_name) as server, capture_logs() as logs:
        client = server.connect().send(BROKEN_BODIES["no last chunk"])
        wait_until(lambda: server.application.requests)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.socket.close()
        wait_until(lambda: server.application.errors)
        wait_until(lambda: not server.server._connections)
    assert logs == []


def test_a_body_that_nobody_reads_is_not_taken_into_memory(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            client.send(put("/slow", b"x" * 20_000_000))
        (connection,) = server.server._connections
        assert connection._current is not None
        assert 64 * 1024 <= connection._current._buffered < 128 * 1024
        server.application.go_on.set()
        status, headers, body = client.reply()
        assert (status, headers["connection"], body) == (200, "close", b"slow")


@pytest.mark.parametrize("body", [put("/a", b"x" * 50_000), head("/a", CHUNKED) + chunk(b"x" * 50_000) + b"0\r\n\r\n"])
def test_a_small_body_that_was_not_read_is_dropped_and_the_connection_kept(loop_name: str, body: bytes) -> None:
    with running(loop_name) as server, server.connect() as client:
        for _ in range(3):
            # The reply comes before the body has arrived.
            assert client.send(body[:-20_000]).reply()[2] == b"/a"
            assert client.send(body[-20_000:] + put("/echo", b"next")).reply()[2] == b"next"


@pytest.mark.parametrize(
    "sent",
    [
        head("/a", "content-length: 900000", verb="PUT") + b"x" * 900_000,
        head("/a", CHUNKED, verb="PUT") + chunk(b"x" * 60_000) * 9,
    ],
)
def test_the_connection_ends_after_a_large_body_that_was_not_read(loop_name: str, sent: bytes) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(sent[:200])
        assert client.reply()[2] == b"/a"
        client.send(sent[200:] + put("/echo", b"smuggled"))
        assert client.rest() == b""
        assert [request.path for request in server.application.requests] == ["/a"]


def test_a_body_that_is_dropped_may_not_take_long(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        assert client.send(head("/a", "content-length: 10", verb="PUT")).reply()[0] == 200
        started = time.monotonic()
        assert is_closed(client)
        assert 1 < time.monotonic() - started < 5


def test_a_client_that_waits_to_continue_may_when_the_body_is_read(loop_name: str) -> None:
    expecting = head("/echo", "content-length: 4", "Expect: 100-Continue", verb="PUT")
    with running(loop_name) as server, server.connect() as client:
        assert client.send(expecting).reply()[0] == 100
        assert client.send(b"body").reply()[2] == b"body"
        assert client.send(expecting + b"body").reply()[2] == b"body"


def test_a_client_that_waits_to_continue_is_hung_up_on_if_refused(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/a", "content-length: 4", "expect: 100-continue", verb="PUT"))
        status, headers, _ = client.reply()
        assert (status, headers["connection"], client.rest()) == (200, "close", b"")


def test_other_expectations_are_ignored(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/echo", "content-length: 4", "expect: 200-ok", verb="PUT"))
        time.sleep(0.1)
        assert client.send(b"body").reply()[::2] == (200, b"body")


# --- replies ---------------------------------------------------------------------------------------------------------


def test_the_reply_to_head_has_no_body(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        client.send(head("/abc", verb="HEAD") + head("/pieces/3", verb="HEAD") + head("/abc"))
        assert client.reply(is_head=True)[1]["content-length"] == "4"
        assert client.reply(is_head=True)[1]["transfer-encoding"] == "chunked"
        assert client.reply()[2] == b"/abc"


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_a_body_has_no_length(loop_name: str, status: int) -> None:
    with running(loop_name) as server, server.connect() as client:
        answered, headers, _ = client.send(head(f"/empty/{status}") + head("/next")).reply()
        assert (answered, headers.keys() & {"content-length", "transfer-encoding"}) == (status, set())
        assert client.reply()[2] == b"/next"


def test_a_reply_in_pieces_is_chunked(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        _, headers, _ = client.send(head("/pieces/2", "connection: close")).reply()
        assert (headers["transfer-encoding"], "content-length" in headers) == ("chunked", False)
        assert client.rest() == chunk(PIECE) * 2 + b"0\r\n\r\n"


def test_a_reply_in_pieces_to_an_older_client_ends_with_the_connection(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client:
        _, headers, _ = client.send(head("/pieces/3", "connection: keep-alive", version="1.0")).reply()
        assert (headers["connection"], "transfer-encoding" in headers) == ("close", False)
        assert client.rest() == PIECE * 3


def test_pieces_are_made_as_the_client_takes_them(loop_name: str) -> None:
    with running(loop_name) as server, server.connect() as client, capture_logs() as logs:
        client.send(head("/pieces/400")).reply()
        (connection,) = server.server._connections
        transport = connection._transport
        assert transport is not None
        wait_until(lambda: transport.get_write_buffer_size() > 0)
        time.sleep(0.2)
        assert 0 < transport.get_write_buffer_size() < 300_000
        client.socket.close()
        wait_until(lambda: server.application.errors)
    assert logs == []


@pytest.mark.parametrize("path", ["/large", "/pieces/400"])
def test_a_client_that_does_not_read_is_hung_up_on(loop_name: str, path: str) -> None:
    with running(loop_name, write_seconds=0.3) as server, server.connect() as client:
        client.send(head(path))
        wait_until(lambda: server.server._connections)
        wait_until(lambda: not server.server._connections)


def test_a_client_that_reads_slowly_gets_all_and_the_next_reply_waits(loop_name: str) -> None:
    """The client takes something between two checks, which are less than the limit apart."""
    with running(loop_name, check_seconds=3600.0, write_seconds=30.0) as server, server.connect() as client:
        client.send(head("/large") + head("/next"))
        wait_until(lambda: server.application.requests)
        (connection,) = server.server._connections
        assert connection._transport is not None
        count_unsent, later = connection._transport.get_write_buffer_size, 0
        while unsent := server.call(count_unsent):
            assert [request.path for request in server.application.requests] == ["/large"]
            while server.call(count_unsent) == unsent:
                client._receive()
            later += 20
            server.check(later)
        assert later > 60
        assert len(client.reply()[2]) == 20_000_000
        assert client.reply()[2] == b"/next"


@pytest.mark.parametrize("path", ["/raise", "/silence", "/broken"])
def test_an_error_of_the_application_is_logged_and_answered_500(loop_name: str, path: str) -> None:
    with running(loop_name) as server, capture_logs() as logs, server.connect() as client:
        status, headers, body = client.send(head(path) + head("/next")).reply()
        assert (status, headers["connection"], headers["content-length"], body) == (500, "close", "0", b"")
        assert client.rest() == b""
        assert_still_serves(server)
    assert [entry["event"] for entry in logs] == ["a request could not be answered"]
    assert "secret" not in str(logs)


def test_an_error_within_a_reply_breaks_it_off(loop_name: str) -> None:
    with running(loop_name) as server, capture_logs() as logs, server.connect() as client:
        client.send(head("/torn")).reply()
        received = b""
        try:
            while data := client.socket.recv(65536):
                received += data
        except ConnectionError:
            pass
        assert not received.endswith(b"0\r\n\r\n")
    assert len(logs) == 1
