"""An assistant of the tests: the client of the package `mcp`, over standard input and output or over HTTP."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.serving import STOP_SECONDS
from tests.simulate.processes import clean_environment

T = TypeVar("T")
TRANSPORTS = ("stdio", "http")
# Of a tool that waits for the service, such as a clock that is moved by weeks.
ANSWER_SECONDS = 150.0


class Assistant:
    """A connected client, which remembers all its answers."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.answers: list[str] = []

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """Returns the text of a tool that succeeds."""
        is_error, text = await self.try_call(tool, arguments)
        assert not is_error, text
        return text

    async def refused(self, tool: str, /, **arguments: Any) -> str:
        """Returns the text of a tool that fails."""
        is_error, text = await self.try_call(tool, arguments)
        assert is_error, text
        return text

    async def try_call(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result, types.CallToolResult)
        [content] = result.content
        assert isinstance(content, types.TextContent)
        self.answers.append(content.text)
        return bool(result.is_error), content.text

    async def request(self, action: str, merchant: str | None = None, /, **fields: Any) -> Any:
        """Returns the reply to an action."""
        chosen = {} if merchant is None else {"merchant": merchant}
        return json.loads(await self.call("call_action", action=action, fields=fields, **chosen))

    async def read(self, uri: str) -> str:
        result = await self.client.read_resource(uri)
        assert isinstance(result, types.ReadResourceResult)
        [content] = result.contents
        assert isinstance(content, types.TextResourceContents)
        self.answers.append(content.text)
        return content.text


def words_of(url: str, words: Sequence[str] = ()) -> list[str]:
    return ["-m", "kasuwa", "mcp", "--server", url, *words]


@contextlib.asynccontextmanager
async def over_stdio(url: str, words: Sequence[str], log: Path) -> AsyncIterator[Client]:
    with log.open("w") as errors:
        started = StdioServerParameters(command=sys.executable, args=words_of(url, words), env=clean_environment({}))
        async with Client(stdio_client(started, errlog=errors)) as client:
            yield client


class Served(NamedTuple):
    """A command that serves HTTP."""

    address: str
    authorization: str  # the header that it printed, or "" if it printed none


@contextlib.contextmanager
def serving_http(url: str, words: Sequence[str], log: Path, token: str = "") -> Iterator[Served]:
    """Runs the command with --http, with a token in its environment if one is given."""
    command = [sys.executable, *words_of(url, words), "--http", "0"]
    given = {"KASUWA_MCP_TOKEN": token} if token else {}
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, env=clean_environment(given), stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            address = process.stdout.readline().rpartition(" ")[2].strip()
            printed = "" if token else process.stdout.readline().partition("Authorization: ")[2].strip()
            yield Served(address, printed)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


async def over_http(address: str, authorization: str, work: Callable[[Assistant], Awaitable[T]]) -> T:
    headers = {"Authorization": authorization} if authorization else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=ANSWER_SECONDS) as http_client,
        Client(streamable_http_client(address, http_client=http_client)) as client,
    ):
        return await work(Assistant(client))


def talk(
    transport: str, url: str, log: Path, work: Callable[[Assistant], Awaitable[T]], words: Sequence[str] = ()
) -> T:
    """Returns the result of `work`, called with an assistant of a server. Standard error of the command is in `log`."""

    async def run_stdio() -> T:
        async with over_stdio(url, words, log) as client:
            return await work(Assistant(client))

    if transport == "stdio":
        return asyncio.run(run_stdio())
    with serving_http(url, words, log) as served:
        return asyncio.run(over_http(served.address, served.authorization, work))
