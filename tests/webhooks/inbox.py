"""A merchant's webhook receiver on loopback: it records every request, and answers as the test says.

It stands for the world outside the service, and can misbehave: refuse, hang, or close the connection.
"""

import contextlib
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import msgspec

# A generous limit that only stops a test that hangs. It says nothing about speed.
WAIT_TIMEOUT_SECONDS = 120.0

# With SO_LINGER set to zero, closing the socket sends a reset.
NO_LINGER = struct.pack("ii", 1, 0)


class ReceivedRequest(NamedTuple):
    """A request as received: header names in lower case, the body in bytes."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def payload(self) -> Any:
        return msgspec.json.decode(self.body)


class Answer(NamedTuple):
    code: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


OK = Answer(200)
BROKEN = Answer(500)
HANG = Answer(-1)
RESET = Answer(-2)


class Inbox:
    """`script` has the answers of the next requests, one each. Then `answer` is used for all others."""

    def __init__(self, server: "Receiver") -> None:
        self._server = server
        self._arrived = threading.Condition()
        self._letters: list[ReceivedRequest] = []
        self.script: deque[Answer] = deque()
        self.answer: Callable[[ReceivedRequest], Answer] = lambda letter: OK
        self.released = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/events"

    @property
    def requests(self) -> list[ReceivedRequest]:
        with self._arrived:
            return list(self._letters)

    @property
    def ids(self) -> list[str]:
        return [letter.id for letter in self.requests]

    def answers(self, *script: Answer, then: Answer = OK) -> None:
        self.script = deque(script)
        self.answer = lambda letter: then

    def receive(self, letter: ReceivedRequest) -> Answer:
        with self._arrived:
            self._letters.append(letter)
            self._arrived.notify_all()
            if self.script:
                return self.script.popleft()
        return self.answer(letter)

    def wait_for(self, count: int) -> list[ReceivedRequest]:
        """Returns the requests once there are so many."""
        with self._arrived:
            there = self._arrived.wait_for(lambda: len(self._letters) >= count, WAIT_TIMEOUT_SECONDS)
            assert there, f"{len(self._letters)} letters of {count} have come"
            return list(self._letters)


class Receiver(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024
    inbox: Inbox

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores broken connections: the tests kill senders."""


class WebhookRequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        letter = ReceivedRequest(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        answer = self.server.inbox.receive(letter)
        if answer == HANG:
            self.server.inbox.released.wait()
        if answer in (HANG, RESET):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            self.close_connection = True
            return
        self.send_response(answer.code)
        for name, value in (*answer.headers, ("content-length", str(len(answer.body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def do_GET(self) -> None:
        """Records the request that a sender would make if it followed redirects."""
        self.headers["content-length"] = "0"
        self.do_POST()

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: the requests are recorded."""


@contextlib.contextmanager
def running_inbox() -> Iterator[Inbox]:
    with Receiver(("127.0.0.1", 0), WebhookRequestHandler) as server:
        server.inbox = Inbox(server)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.inbox
        finally:
            server.inbox.released.set()
            server.shutdown()
            thread.join()
