"""What an assistant, a page in a browser or another program may try that it must not get."""

import asyncio
import http.client
import json
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import MCPError

from tests.assistant.talk import TRANSPORTS, Assistant, over_http, serving_http, talk
from tests.running import Deployment
from tests.simulate.processes import run_command

# A tool, its arguments, and what the error must name.
REFUSED: tuple[tuple[str, dict[str, Any], tuple[str, ...]], ...] = (
    ("make_merchant", {"balance": 5, "name": ["x"], "nam": "y"}, ("'nam': unknown", "balance: ", "name: ")),
    ("list_actions", {"path": "../admin"}, ("there is no path",)),
    ("describe_action", {}, ("action: required",)),
    ("describe_action", {"action": "disburse transfr"}, ("did you mean disburse transfer?",)),
    ("call_action", {"action": "disburse transfer", "fields": ["x"]}, ("fields: an object",)),
    ("call_action", {"action": "disburse transfer", "merchant": "GP9999999"}, ("there is no merchant",)),
    ("call_action", {"action": "resources wallet", "fields": {"request": "resend"}}, ("request: the name",)),
    ("call_action", {"action": "resources wallet", "fields": {"inquire": "keys"}}, ("inquire: the name",)),
    ("call_action", {"action": "resources wallet", "idempotency_key": "a\r\nkey: b"}, ("idempotency_key: ",)),
    ("call_action", {"action": "resources wallet", "scenario": "rr=91\n"}, ("scenario: ",)),
    ("call_action", {"action": "http://example.com/disburse transfer"}, ("there is no action",)),
    ("advance_clock", {"days": -1, "hours": "many"}, ("days: ", "hours: ")),
    ("plan_fault", {"rail": "moon", "kind": "eclipse"}, ("rail: ", "kind: ")),
    ("explain", {"reference": "x" * 300}, ("reference: ",)),
    ("read_docs", {"page": "../../../../etc/passwd"}, ("there is no page",)),
    ("read_docs", {"page": "http://169.254.169.254/latest"}, ("there is no page",)),
    ("certify", {"app": "http://169.254.169.254/events"}, ("app: a URL of this machine",)),
    ("certify", {"app": "http://127.0.0.1.example.com/events"}, ("app: a URL of this machine",)),
    ("certify", {"app": "http://user@127.0.0.1/events"}, ("app: a URL of this machine",)),
    ("certify", {"app": "file:///etc/passwd"}, ("app: a URL of this machine",)),
    ("certify", {"app": "http://127.0.0.1:9/events", "only": ["rm -rf"]}, ("there is no check",)),
    ("__class__", {}, ("there is no tool",)),
)
RESOURCES = (
    "kasuwa://docs/../../etc/passwd",
    "kasuwa://docs/",
    "kasuwa://events/GP9999999",
    "kasuwa://events/../docs",
    "file:///etc/passwd",
    "http://127.0.0.1/readyz",
)
PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
SENT = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_hostile_arguments_are_refused_with_every_fault_and_the_server_goes_on(
    deployment: Deployment, tmp_path: Path, transport: str
) -> None:
    async def work(assistant: Assistant) -> None:
        for tool, arguments, wanted in REFUSED:
            text = await assistant.refused(tool, **arguments)
            assert [part for part in wanted if part not in text] == [], text
        for uri in RESOURCES:
            with pytest.raises(MCPError, match="there is no"):
                await assistant.client.read_resource(uri)
        # A refusal of the service is a reply like others.
        reply = await assistant.request("disburse transfer", amount="1e9", bankcode="'; drop table", accountnumber={})
        assert (reply["status"], len(reply["errors"])) == (104, 3)

    talk(transport, f"http://127.0.0.1:{deployment.port}", tmp_path / "log", work)
    assert (tmp_path / "log").read_text() == ""


def test_http_answers_this_machine_alone_and_no_page_of_a_browser(deployment: Deployment, tmp_path: Path) -> None:
    with serving_http(f"http://127.0.0.1:{deployment.port}", [], tmp_path / "log") as served:
        place = urlsplit(served.address)
        own = f"127.0.0.1:{place.port}"

        def post(body: str = PING, **headers: str) -> int:
            connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
            try:
                known = {**SENT, "authorization": served.authorization}
                connection.request("POST", place.path, body, {**known, **headers})
                return connection.getresponse().status
            finally:
                connection.close()

        assert place.hostname == "127.0.0.1"
        assert post(Host=own, Origin=f"http://{own}") == post() != 403
        assert post(Host="shop.example") == 421
        assert post(Host=f"shop.example:{place.port}") == 421
        assert post(Host=f"127.0.0.1.shop.example:{place.port}") == 421
        for origin in (
            "https://shop.example",
            "null",
            f"http://127.0.0.1:{place.port}.shop.example",
            "http://127.0.0.1",
        ):
            assert post(Origin=origin) == 403, origin
        assert post(" " * 2_000_000) == 413
        # What a form of a page can send without asking.
        assert post(**{"content-type": "text/plain"}) == 400
        assert listeners(place.port) == {"127.0.0.1"}
        # A page that comes here under a name of its own (DNS rebinding) does not have the token either.
        assert post(Host=own, Origin=f"http://{own}", authorization="") == 401
    assert (tmp_path / "log").read_text() == ""


def send_plainly(address: str, *authorizations: str) -> tuple[int, str | None]:
    """Sends a ping with these headers. Returns the status and how to authenticate."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
    try:
        connection.putrequest("POST", place.path)
        for value in authorizations:
            connection.putheader("Authorization", value)
        for name, value in {**SENT, "content-length": str(len(PING))}.items():
            connection.putheader(name, value)
        connection.endheaders(PING.encode())
        reply = connection.getresponse()
        return reply.status, reply.headers["www-authenticate"]
    finally:
        connection.close()


def test_http_answers_those_alone_who_send_the_token(deployment: Deployment, tmp_path: Path) -> None:
    async def list_tools(assistant: Assistant) -> int:
        return len((await assistant.client.list_tools()).tools)

    url = f"http://127.0.0.1:{deployment.port}"
    with serving_http(url, [], tmp_path / "made") as first, serving_http(url, [], tmp_path / "again") as second:
        assert re.fullmatch(r"Bearer [\w-]{43}", first.authorization, re.ASCII)
        assert first.authorization != second.authorization
        assert asyncio.run(over_http(first.address, first.authorization, list_tools)) == 10
        refused = (401, "Bearer")
        word = first.authorization.removeprefix("Bearer ")
        for sent in ((), ("",), (word,), (f"Basic {word}",), (f"{first.authorization}x",), (first.authorization[:-1],)):
            assert send_plainly(first.address, *sent) == refused, sent
        assert send_plainly(first.address, second.authorization) == refused
        assert send_plainly(first.address, second.authorization, first.authorization) == refused
        assert send_plainly(first.address, f"bearer {word}") == send_plainly(first.address, first.authorization)
        assert send_plainly(first.address, first.authorization)[0] != 401
        for wrong in ("", second.authorization):
            with pytest.raises(BaseExceptionGroup) as failed:
                asyncio.run(over_http(first.address, wrong, list_tools))
            assert failed.group_contains(MCPError)
    assert [(tmp_path / name).read_text() for name in ("made", "again")] == ["", ""]


def test_a_token_of_the_environment_is_taken_and_not_printed(deployment: Deployment, tmp_path: Path) -> None:
    async def list_tools(assistant: Assistant) -> int:
        return len((await assistant.client.list_tools()).tools)

    token = "assistants-of-this-desk-1"
    with serving_http(f"http://127.0.0.1:{deployment.port}", [], tmp_path / "log", token) as served:
        assert served.authorization == ""
        assert asyncio.run(over_http(served.address, f"Bearer {token}", list_tools)) == 10
        assert send_plainly(served.address) == (401, "Bearer")


@pytest.mark.parametrize("token", ["short", "twenty-four letters and spaces", "x" * 600, "ọjà-ọjà-ọjà-ọjà-ọjà-ọjà-ọjà"])
def test_a_token_that_cannot_be_one_is_refused_at_the_start(token: str) -> None:
    done = run_command(["mcp", "--http", "0"], {"KASUWA_MCP_TOKEN": token})
    assert (done.returncode, done.stdout) == (1, "")
    assert "KASUWA_MCP_TOKEN must have 24 to 512" in done.stderr
    assert token not in done.stderr


def listeners(port: int | None) -> set[str]:
    """Returns the addresses of this machine that something listens at on a port."""
    own = {"127.0.0.1", "127.0.0.2", *(str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), port))}
    found = set()
    for address in own:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
            if probe.connect_ex((address, port)) == 0:
                found.add(address)
    return found
