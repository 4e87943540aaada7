"""The Model Context Protocol: tools and resources over standard input and output, or over HTTP on this machine.

It needs the package `mcp`, which comes with kasuwa[mcp].
"""

import hmac
import logging
import socket
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
import uvicorn
from anyio import to_thread
from mcp import MCPError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kasuwa import __version__
from kasuwa.integration.assistant.connection import AssistantError, Connection
from kasuwa.integration.assistant.documents import Documents
from kasuwa.integration.assistant.tools import Tool, Workplace, find_tool, list_tools, read_events

PAGES, EVENTS = "kasuwa://docs/", "kasuwa://events/"
MARKDOWN, JSON = "text/markdown", "application/json"
HOST = "127.0.0.1"
ENDPOINT = "/mcp"
MOST_BODY_BYTES = 1024 * 1024
STOP_SECONDS = 2

INSTRUCTIONS = """\
Kasuwa is a merchant financial service: payments, transfers, bills, cards, loans and savings behind one HTTP API. \
Search the documentation before you write code against it. An action is called by name with its fields, after \
describe_action has shown their schema. Amounts are texts in major units, such as "1500.00". Keys, tokens and links \
are never shown: *** stands for them."""
IN_TEST = """ This is the test environment: no money is real. Make a merchant for each thing that you try, and name \
it by its mid. advance_clock moves its time; values that are sent choose outcomes (guides/test-values.md)."""
IN_LIVE = " This is live: nothing can be changed from here, and personal data is masked."

ResultT = TypeVar("ResultT")


class Offer:
    """The handlers of the protocol: tools and resources of one server."""

    def __init__(self, connection: Connection) -> None:
        self._workplace = Workplace(connection, Documents(connection))
        self._tools = list_tools(connection.is_test)

    def make_server(self) -> "Server[Any]":
        is_test = self._workplace.connection.is_test
        return Server(
            "kasuwa",
            title="Kasuwa",
            version=__version__,
            instructions=INSTRUCTIONS + (IN_TEST if is_test else IN_LIVE),
            on_list_tools=self.list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=self.list_resources,
            on_list_resource_templates=self.list_templates,
            on_read_resource=self.read_resource,
        )

    async def list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in self._tools])

    async def call_tool(self, _: Any, wanted: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            tool = find_tool(self._tools, wanted.name)
            text = await self._run(partial(tool.call, self._workplace, wanted.arguments or {}))
        except AssistantError as error:
            failure = types.TextContent(text=self._workplace.connection.hide_keys(str(error)))
            return types.CallToolResult(content=[failure], is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=text)])

    async def list_resources(self, _: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await self._resource_run(self._describe_resources))

    async def list_templates(self, _: Any, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=f"{PAGES}{{+page}}",
                    name="page",
                    mime_type=MARKDOWN,
                    description="A page, by its address.",
                ),
                types.ResourceTemplate(
                    uri_template=f"{EVENTS}{{mid}}",
                    name="events",
                    mime_type=JSON,
                    description="The newest events of a merchant.",
                ),
            ]
        )

    async def read_resource(self, _: Any, wanted: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(wanted.uri)
        text, kind = await self._resource_run(partial(self._read, uri))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=kind)])

    def _describe_resources(self) -> list[types.Resource]:
        pages = self._workplace.documents.pages.values()
        return [
            *(
                types.Resource(uri=f"{EVENTS}{mid}", name=f"Events of {mid}", mime_type=JSON)
                for mid in self._workplace.connection.mids
            ),
            *(
                types.Resource(
                    uri=f"{PAGES}{page.address}", name=page.label, description=page.summary, mime_type=MARKDOWN
                )
                for page in pages
                if not page.is_of_action
            ),
        ]

    def _read(self, uri: str) -> tuple[str, str]:
        if uri.startswith(PAGES):
            return self._workplace.documents.read_page(uri.removeprefix(PAGES)), MARKDOWN
        if uri.startswith(EVENTS):
            return read_events(self._workplace, uri.removeprefix(EVENTS)), JSON
        raise AssistantError(f"there is no resource {uri[:100]!r}: they begin with {PAGES} or {EVENTS}")

    async def _resource_run(self, act: Callable[[], ResultT]) -> ResultT:
        try:
            return await self._run(act)
        except AssistantError as error:
            raise MCPError(types.INVALID_PARAMS, self._workplace.connection.hide_keys(str(error))) from None

    async def _run(self, act: Callable[[], ResultT]) -> ResultT:
        """Runs what waits for the server in a thread. A bug is told without its text, which may have what was sent."""
        try:
            return await to_thread.run_sync(act)
        except AssistantError:
            raise
        except Exception as error:
            print(*traceback.format_tb(error.__traceback__), type(error).__name__, sep="", file=sys.stderr)
            raise AssistantError(f"a fault of kasuwa mcp: {type(error).__name__}") from None


def describe_tool(tool: Tool[Any]) -> types.Tool:
    hints = types.ToolAnnotations(
        read_only_hint=not tool.changes, destructive_hint=tool.erases, open_world_hint=tool.reaches_others
    )
    return types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema, annotations=hints)


def quiet_logs() -> None:
    """The package logs what it cannot read, which may be a secret: only its errors are of use."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)


def serve_stdio(connection: Connection) -> None:
    """Serves standard input and output until the input ends."""
    quiet_logs()
    server = Offer(connection).make_server()

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)


class TokenGate:
    """Passes requests with the bearer token on to an ASGI application, and answers all others with 401."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_allowed(scope):
            await self._app(scope, receive, send)
        else:
            await Response(status_code=401, headers={"www-authenticate": "Bearer"})(scope, receive, send)

    def _is_allowed(self, scope: Scope) -> bool:
        sent = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = sent[0].partition(b" ") if len(sent) == 1 else (b"", b"", b"")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token, self._token)


def serve_http(connection: Connection, port: int, token: str, tell: Callable[[str], None]) -> None:
    """Serves HTTP on this machine alone until a signal ends it, to those who send the token. Other Host and Origin
    headers than its own are refused too, so that no page of a browser reaches it. Raises OSError if the port cannot be
    had."""
    quiet_logs()
    with socket.create_server((HOST, port)) as listening:
        own = [f"{name}:{listening.getsockname()[1]}" for name in (HOST, "localhost")]
        security = TransportSecuritySettings(allowed_hosts=own, allowed_origins=[f"http://{name}" for name in own])
        app = (
            Offer(connection)
            .make_server()
            .streamable_http_app(
                streamable_http_path=ENDPOINT, max_request_body_size=MOST_BODY_BYTES, transport_security=security
            )
        )
        config = uvicorn.Config(
            TokenGate(app, token),
            log_level="critical",
            access_log=False,
            timeout_graceful_shutdown=STOP_SECONDS,
            server_header=False,
        )
        tell(f"http://{own[0]}{ENDPOINT}")
        uvicorn.Server(config).run(sockets=[listening])
