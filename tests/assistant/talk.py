"""An assistant of the tests: the client of the package `mcp`, over standard input and output or over HTTP."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.serving import STOP_SECONDS
from tests.simulate.processes import clean_environment

T = TypeVar("T")
TRANSPORTS = ("stdio", "http")


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


@contextlib.contextmanager
def serving_http(url: str, words: Sequence[str], log: Path) -> Iterator[str]:
    """Runs the command with --http. Yields its address."""
    command = [sys.executable, *words_of(url, words), "--http", "0"]
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, env=clean_environment({}), stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            yield process.stdout.readline().rpartition(" ")[2].strip()
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def talk(
    transport: str, url: str, log: Path, work: Callable[[Assistant], Awaitable[T]], words: Sequence[str] = ()
) -> T:
    """Returns the result of `work`, called with an assistant of a server. Standard error of the command is in `log`."""

    async def run_stdio() -> T:
        async with over_stdio(url, words, log) as client:
            return await work(Assistant(client))

    async def run_http(address: str) -> T:
        async with Client(address) as client:
            return await work(Assistant(client))

    if transport == "stdio":
        return asyncio.run(run_stdio())
    with serving_http(url, words, log) as address:
        return asyncio.run(run_http(address))
