"""The PHP client against a real server that loses, delays, cuts and replaces answers; and money that moves once anyway.

Each case is a test of clients/php/test/faults.php.
"""

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.clients.faulty_server import Step, closed_port, delay, drop, faulty_server, forward, half_of, reply
from tests.clients.php_client import run_tests
from tests.running import Deployment

UNKNOWN = {"status": 204, "message": "The outcome is not known; verify by your reference before you send it again"}
STOPPING = {"status": 204, "message": "The service is stopping; try again"}
NO_FUNDS = {"status": 301, "message": "Insufficient funds"}
WRONG_KEY = {"status": 101, "message": "The mid or the key is wrong"}
SLOW_DOWN = {"status": 204, "message": "slow down"}
WALLET: dict[str, Any] = {"status": 200, "data": []}

Script = Callable[[int], tuple[Step, ...]]

# The script of the server, and the number of requests that it must have received.
CASES: dict[str, tuple[Script, int]] = {
    "lost": (lambda port: (forward(port, lose_reply=True), forward(port)), 2),
    "half": (lambda port: (half_of(200, {"status": 200, "txnStatus": "successful"}), forward(port)), 2),
    "unknown": (lambda port: (reply(500, UNKNOWN), forward(port)), 2),
    "away": (lambda port: (reply(503, STOPPING), forward(port)), 2),
    "proxy": (lambda port: (reply(502, b"<html>bad gateway</html>"), forward(port)), 2),
    "lost without retries": (lambda port: (forward(port, lose_reply=True),), 1),
    "late": (lambda port: (delay(2, drop),), 1),
    "lost, and then refused before the operation": (lambda port: (drop, reply(200, WRONG_KEY)), 2),
    "lost, and then refused by the operation": (lambda port: (drop, reply(200, NO_FUNDS)), 2),
    "refused by the key alone": (lambda port: (reply(200, WRONG_KEY),), 1),
    "lost cancel": (lambda port: (drop,), 1),
    "lost without references": (lambda port: (drop,), 1),
    "lost read": (lambda port: (drop,), 2),
    "redirect": (lambda port: (reply(302, b"", location="http://127.0.0.1:1/"),), 1),
    "too many requests": (lambda port: (reply(429, SLOW_DOWN, retry_after="1"),), 2),
    "too long to wait": (lambda port: (reply(429, SLOW_DOWN, retry_after="60"),), 1),
    "waiting through trouble": (lambda port: (drop, reply(503, STOPPING), forward(port)), 3),
    "a hook sees every attempt": (lambda port: (drop, forward(port)), 2),
    "retry-after is a number or a date": (lambda port: (drop,), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_safe_is_repeated_and_executed_once(name: str, deployment: Deployment, tmp_path: Path) -> None:
    script, requests = CASES[name]
    with faulty_server(*script(deployment.port)) as server:
        assert run_tests(deployment, tmp_path, "faults.php", name, FAULTY_URL=server.url) == [name]
        assert len(server.received) == requests
    # All attempts of a call are the same request.
    bodies = {json.dumps(received.fields.get("orderRef")) for received in server.received}
    assert len(bodies) <= 1
    assert len({received.headers["x-request-id"] for received in server.received}) <= (3 if "waiting" in name else 1)


def test_nothing_was_sent_to_an_address_that_nobody_listens_on(deployment: Deployment, tmp_path: Path) -> None:
    name = "nobody listens"
    assert run_tests(deployment, tmp_path, "faults.php", name, FAULTY_URL=closed_port()) == [name]


def test_a_request_that_waits_for_its_connection_was_not_sent(deployment: Deployment, tmp_path: Path) -> None:
    name = "a handshake that never ends"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        assert run_tests(deployment, tmp_path, "faults.php", name, FAULTY_URL=url) == [name]


def test_a_request_may_have_arrived_whatever_curl_counts_of_it(deployment: Deployment, tmp_path: Path) -> None:
    name = "a request of which curl has counted nothing"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        assert run_tests(deployment, tmp_path, "faults.php", name, FAULTY_URL=url) == [name]


class KeepingHandler(BaseHTTPRequestHandler):
    """Answers the first request and keeps the connection. Any later request is read, and lost with its connection."""

    protocol_version = "HTTP/1.1"
    received: list[bytes]

    def do_PUT(self) -> None:
        self.received.append(self.rfile.read(int(self.headers["content-length"])))
        if len(self.received) > 1:
            self.close_connection = True
            return
        content = json.dumps(WALLET).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def test_curl_does_not_repeat_by_itself_what_may_be_done_twice(deployment: Deployment, tmp_path: Path) -> None:
    """curl sends a request again if a connection that it kept turns out to be closed, whatever the request is."""
    received: list[bytes] = []
    handler = type("Handler", (KeepingHandler,), {"received": received})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        name = "a kept connection that closes"
        url = f"http://127.0.0.1:{server.server_address[1]}"
        assert run_tests(deployment, tmp_path, "faults.php", name, FAULTY_URL=url) == [name]
    finally:
        server.shutdown()
        server.server_close()
    assert [json.loads(body).get("action") for body in received] == [None, "cancel"]
