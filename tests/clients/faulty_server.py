"""A real HTTP server on a socket that misbehaves as a script says: drops, delays, half replies, error replies.

Each request takes the next step of the script. `forward` passes a request on to the real service, so that a reply can
get lost after the service has executed the request.
"""

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

# Only prevents a hanging test: requests take milliseconds.
SOCKET_SECONDS = 30.0


class Received(NamedTuple):
    """A request as it arrived."""

    headers: dict[str, str]  # names in lower case
    body: bytes

    @property
    def fields(self) -> Any:
        return json.loads(self.body)


# Answers a request on its connection. Afterwards the connection is closed.
Step = Callable[[socket.socket, Received], None]


def reply(http_status: int, body: Any, **headers: str) -> Step:
    """Answers with a complete reply. A body that is not bytes is sent as JSON."""
    return lambda connection, received: connection.sendall(encode_reply(http_status, body, headers))


def drop(connection: socket.socket, received: Received) -> None:
    """Closes the connection without a reply, after the whole request was read."""


def half_of(http_status: int, body: Any) -> Step:
    """Sends the head and half of the body, and closes the connection."""

    def answer(connection: socket.socket, received: Received) -> None:
        whole = encode_reply(http_status, body, {})
        connection.sendall(whole[: len(whole) - len(json.dumps(body)) // 2])

    return answer


def delay(seconds: float, then: Step) -> Step:
    def answer(connection: socket.socket, received: Received) -> None:
        time.sleep(seconds)
        with suppress(OSError):
            then(connection, received)

    return answer


def drip(seconds: float, body: Any) -> Step:
    """Sends the head of a reply, then its body byte by byte with a pause after each."""

    def answer(connection: socket.socket, received: Received) -> None:
        head, _, content = encode_reply(200, body, {}).partition(b"\r\n\r\n")
        with suppress(OSError):
            connection.sendall(head + b"\r\n\r\n")
            for byte in content:
                connection.sendall(bytes([byte]))
                time.sleep(seconds)

    return answer


def forward(port: int, *, lose_reply: bool = False) -> Step:
    """Passes the request on to the service on a port. With `lose_reply` its reply is dropped."""

    def answer(connection: socket.socket, received: Received) -> None:
        service = http.client.HTTPConnection("127.0.0.1", port, timeout=SOCKET_SECONDS)
        sent = {name: value for name, value in received.headers.items() if name not in ("host", "connection")}
        service.request("PUT", received.headers["x-test-path"], received.body, {**sent, "accept-encoding": "identity"})
        response = service.getresponse()
        body = response.read()
        service.close()
        if not lose_reply:
            connection.sendall(encode_reply(response.status, body, {}))

    return answer


def encode_reply(http_status: int, body: Any, headers: dict[str, str]) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"HTTP/1.1 {http_status} Said", f"content-length: {len(content)}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


class FaultyServer:
    """Answers requests by its script. The last step is repeated for all further requests."""

    def __init__(self, script: list[Step]) -> None:
        self._script = script
        self.received: list[Received] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(SOCKET_SECONDS)
        with connection, suppress(OSError):
            received = read_request(connection)
            if received is None:
                return
            step = self._script[min(len(self.received), len(self._script) - 1)]
            self.received.append(received)
            step(connection, received)
            # Closes in order, so that the client reads what was sent before it sees the end.
            connection.shutdown(socket.SHUT_WR)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        # shutdown wakes the thread in accept; close alone does not.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(SOCKET_SECONDS)


def read_request(connection: socket.socket) -> Received | None:
    """Reads a request to its end. Returns None if the connection ends before."""
    with connection.makefile("rb") as reader:
        request_line = reader.readline()
        if not request_line:
            return None
        headers = {"x-test-path": request_line.split()[1].decode()}
        while (line := reader.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return Received(headers, reader.read(int(headers.get("content-length", "0"))))


@contextmanager
def faulty_server(*script: Step) -> Iterator[FaultyServer]:
    server = FaultyServer(list(script))
    server.start()
    try:
        yield server
    finally:
        server.stop()


def closed_port() -> str:
    """Returns an address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"
