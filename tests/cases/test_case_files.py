"""The file of a case is somebody else's: what it can do where it is played, and to the test that is written of it."""

import ast
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kasuwa.testing.cases.case_file import Case, CaseFile
from kasuwa.testing.cases.pytest_file import render_test
from kasuwa.testing.cases.replay import run_replay
from kasuwa.testing.exchanges import Exchange

URL = "http://127.0.0.1:9/events"


class RecordingServer(ThreadingHTTPServer):
    """A server that takes every request as a test server does, and keeps what was sent to it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), RequestHandler)
        self.sent: list[tuple[str, Any]] = []


class RequestHandler(BaseHTTPRequestHandler):
    server: RecordingServer

    def do_PUT(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.sent.append((self.path.strip("/"), body))
        reply = json.dumps({"status": 200, "mid": "m", "key": "k", "word": "webhook", "data": {}}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[RecordingServer]:
    with RecordingServer() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def play(server: RecordingServer, *exchanges: tuple[str, dict[str, Any]]) -> list[tuple[str, Any]]:
    """Plays requests and returns what was sent of them, without what each replay sends by itself."""
    case = Case(kasuwa="1", environment="live", reference="x", starts_at=datetime(2026, 1, 5, 9, tzinfo=UTC))
    timing = {"at_ms": 0, "ms": 0}
    file = CaseFile(case, [Exchange(name, body, 200, {"word": "<word 1>"}, timing=timing) for name, body in exchanges])
    run_replay(file, f"http://127.0.0.1:{server.server_port}", ("m", "k"), 5.0)
    return [one for one in server.sent if one[1].get("action") not in ("new_merchant", "advance")]


@pytest.mark.parametrize(
    "name", ["lost-answer.json", 'a"), print("b.json', "a'\n\\.json", "naïve ².json", "\udcff.json"]
)
def test_the_name_of_a_file_is_one_text_in_the_code_of_its_test(name: str) -> None:
    tree = ast.parse(render_test(Path("suite") / name))
    names = [type(statement).__name__ for statement in tree.body]
    assert names == ["Expr", "ImportFrom", "ImportFrom", "ImportFrom", "Assign", "FunctionDef"]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    assert [call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)] == [name]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("sandbox.fault", {"action": "webhook", "url": URL}),
        ("sandbox.fault", {"action": "close"}),
        ("sandbox.fault", {"action": "fork"}),
        ("sandbox.fault", {"inquire": "fault"}),
        ("sandbox.close", {"action": "fault"}),
        ("sandbox.fault", {"action": "fault", "webhook": URL}),
        ("virtualcard.decider", {"action": "decider", "decision_url": URL}),
        ("payment.charge card", {"action": "charge", "user": {"redirect_url": URL}}),
    ],
)
def test_a_request_is_played_by_what_is_sent_not_by_its_name(
    name: str, body: dict[str, Any], server: RecordingServer
) -> None:
    assert play(server, (name, body)) == []


def test_a_reply_does_not_choose_the_action_of_a_later_request(server: RecordingServer) -> None:
    first = ("resources.balance", {"inquire": "balance"})
    assert play(server, first, ("sandbox.fault", {"action": "<word 1>"})) == [("resources", first[1])]


def test_requests_that_play_the_outside_are_sent(server: RecordingServer) -> None:
    fault = {"action": "fault", "kind": "timeout", "rail": "bank"}
    assert play(server, ("sandbox.fault", fault)) == [("sandbox", fault)]
