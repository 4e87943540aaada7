"""A gateway between an application and the service: it passes every request on, keeps the exchange as it was on the
wire, and can lose, hold, refuse or change one on its way."""

import contextlib
import http.client
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

HOST = "127.0.0.1"
MAX_BODY_BYTES = 4 * 1024 * 1024
UPSTREAM_SECONDS = 120.0
POLL_SECONDS = 0.05
# Headers that belong to one connection. The service must not compress: the gateway keeps and changes bodies as text.
OF_CONNECTION = frozenset(
    {"host", "connection", "keep-alive", "content-length", "transfer-encoding", "accept-encoding"}
)

Json = dict[str, Any]


@dataclass
class WireExchange:
    """One request as it came, with the reply that the application got."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    sent: bytes
    started: float  # seconds of a monotonic clock
    seconds: float = 0.0
    http_status: int | None = None  # None: the application got no reply
    answered: bytes = b""
    plan: str = ""  # the name of the interference, if there was one
    has_given_up: bool = False  # the application closed its connection before the reply

    @property
    def request(self) -> Json:
        return read_object(self.sent)

    @property
    def reply(self) -> Json:
        return read_object(self.answered)

    @property
    def action(self) -> str:
        """Returns the path and the action, such as `payment.charge`."""
        path = self.path.strip("/")
        request = self.request
        names = (request.get(name) for name in ("action", "request", "inquire"))
        return f"{path}.{next((name for name in names if isinstance(name, str)), '')}"


def read_object(text: bytes) -> Json:
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


@dataclass
class Plan:
    """An interference with the next requests that fit, `times` at most."""

    name: str
    fits: Callable[[WireExchange], bool]
    times: int = 1
    loses_reply: bool = False  # the service does it, and the application gets no reply
    holds_seconds: float = 0.0  # the reply comes so much later, unless the application gives up
    refusal: tuple[int, Mapping[str, str], Json] | None = None  # answered instead of the service
    change_request: Callable[[Json], Json] | None = None
    change_reply: Callable[[Json], Json] | None = None
    used: list[WireExchange] = field(default_factory=list)


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores broken connections: applications under test give up."""


class Gateway:
    """Listens on a free port of the loopback interface until `close`."""

    def __init__(self, upstream: str) -> None:
        self._upstream = urlsplit(upstream)
        self._lock = threading.Lock()
        self._exchanges: list[WireExchange] = []
        self._plans: list[Plan] = []
        self._listener = Listener((HOST, 0), type("Handler", (GatewayHandler,), {"gateway": self}))
        self.url = f"http://{HOST}:{self._listener.server_address[1]}"
        threading.Thread(target=self._listener.serve_forever, args=(POLL_SECONDS,), daemon=True).start()

    def close(self) -> None:
        self._listener.shutdown()
        self._listener.server_close()

    def __enter__(self) -> "Gateway":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def exchanges(self) -> list[WireExchange]:
        """Returns what came, in order, also what is not answered yet."""
        with self._lock:
            return list(self._exchanges)

    @contextlib.contextmanager
    def planned(self, plan: Plan) -> Any:
        """Interferes as planned during the block."""
        with self._lock:
            self._plans.append(plan)
        try:
            yield plan
        finally:
            with self._lock:
                self._plans.remove(plan)

    def take_plan(self, exchange: WireExchange) -> Plan | None:
        with self._lock:
            for plan in self._plans:
                if len(plan.used) < plan.times and plan.fits(exchange):
                    plan.used.append(exchange)
                    exchange.plan = plan.name
                    return plan
        return None

    def keep(self, exchange: WireExchange) -> None:
        with self._lock:
            self._exchanges.append(exchange)

    def ask_service(self, exchange: WireExchange, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Returns the service's reply. Raises OSError or HTTPException."""
        target = f"{self._upstream.path.rstrip('/')}{exchange.path}" + (f"?{exchange.query}" if exchange.query else "")
        make = http.client.HTTPSConnection if self._upstream.scheme == "https" else http.client.HTTPConnection
        connection = make(self._upstream.netloc, timeout=UPSTREAM_SECONDS)
        try:
            headers = {name: value for name, value in exchange.headers.items() if name not in OF_CONNECTION}
            connection.request(exchange.method, target, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.getheaders(), reply.read()
        finally:
            connection.close()


class GatewayHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    gateway: Gateway

    def pass_on(self) -> None:
        length = self.headers["content-length"] or "0"
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self.send_error(413)
            return
        address = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        sent = self.rfile.read(int(length))
        exchange = WireExchange(self.command, address.path, address.query, headers, sent, time.monotonic())
        plan = self.gateway.take_plan(exchange)
        self.gateway.keep(exchange)
        self._answer(exchange, plan)

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = pass_on

    def _answer(self, exchange: WireExchange, plan: Plan | None) -> None:
        if plan is not None and plan.refusal is not None:
            status, headers, reply = plan.refusal
            self._send(exchange, status, list(headers.items()), json.dumps(reply).encode())
            return
        body = exchange.sent
        if plan is not None and plan.change_request is not None:
            body = json.dumps(plan.change_request(exchange.request)).encode()
        try:
            status, reply_headers, answered = self.gateway.ask_service(exchange, body)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        if plan is not None:
            if plan.loses_reply:
                self.close_connection = True
                return
            if plan.holds_seconds and self._is_abandoned(plan.holds_seconds):
                exchange.has_given_up = True
                self.close_connection = True
                return
            if plan.change_reply is not None:
                answered = json.dumps(plan.change_reply(read_object(answered))).encode()
        self._send(exchange, status, reply_headers, answered)

    def _is_abandoned(self, seconds: float) -> bool:
        """Returns whether the application closes its connection within so many seconds."""
        until = time.monotonic() + seconds
        while (remaining := until - time.monotonic()) > 0:
            readable, _, _ = select.select([self.connection], [], [], min(remaining, POLL_SECONDS))
            if readable:
                try:
                    return not self.connection.recv(1, socket.MSG_PEEK)
                except OSError:
                    return True
        return False

    def _send(self, exchange: WireExchange, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        exchange.seconds = time.monotonic() - exchange.started
        exchange.http_status, exchange.answered = status, body
        self.send_response_only(status)
        for name, value in headers:
            if name.lower() not in OF_CONNECTION:
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Prints nothing: exchanges are kept."""
