"""`kasuwa mcp`: serves a running server to an assistant, by the Model Context Protocol."""

import re
import secrets
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from kasuwa.commands.listening import ListenError, check_address
from kasuwa.integration.assistant.connection import AssistantError, Connection
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID

TOKEN_BYTES = 32
# What a header takes as a bearer token, and long enough that nobody finds it by trying.
TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{24,512}=*", re.ASCII)


def check_token(token: str | None) -> None:
    """Raises AssistantError if a token was given that cannot be one."""
    if token and TOKEN.fullmatch(token) is None:
        raise AssistantError("KASUWA_MCP_TOKEN must have 24 to 512 letters, digits or . _ ~ + / -")


def serve_assistant(
    server: Annotated[str, typer.Option(envvar="KASUWA_URL", help="Address of a running server.")] = (
        "http://127.0.0.1:8080"
    ),
    mid: Annotated[str, typer.Option(envvar="KASUWA_MID", help="As which merchant.")] = DEMO_MID,
    key: Annotated[str, typer.Option(envvar="KASUWA_KEY", help="Its key.")] = DEMO_KEY,
    http: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Serve HTTP on this port of 127.0.0.1, at /mcp. 0 chooses a free one."),
    ] = None,
    token: Annotated[
        str,
        typer.Option(envvar="KASUWA_MCP_TOKEN", help="With --http, the token that requests must have. One is made."),
    ] = "",
    keys_file: Annotated[
        Path | None, typer.Option(help="File to add the mid and the key of each new merchant to, for you alone.")
    ] = None,
) -> None:
    """Serve a running server to an assistant, by the Model Context Protocol.

    It serves standard input and output, or HTTP with --http, where each request needs a token as `Authorization:
    Bearer`: that of KASUWA_MCP_TOKEN, or one that is made and printed. In the test environment an assistant makes
    merchants, calls actions, moves clocks, plans faults and reads the documentation. In live it only reads, and only
    with a key of scope read: the server is asked what the key may do. Keys are never shown to an assistant."""
    if find_spec("mcp") is None or find_spec("kasuwa_client") is None:
        sys.exit("kasuwa: mcp needs the package mcp: pip install 'kasuwa[mcp]'")
    try:
        check_token(token)
        check_address(server)
        connection = Connection(server, mid, key, keys_file)
        connection.check()
    except (AssistantError, ListenError) as error:
        sys.exit(f"kasuwa: {error}")
    from kasuwa.integration.assistant import protocol

    if http is None:
        protocol.serve_stdio(connection)
        return

    def tell(url: str) -> None:
        typer.echo(f"Kasuwa for assistants is at {url}")
        if not token:
            typer.echo(f"Requests need the header Authorization: Bearer {required}")

    required = token or secrets.token_urlsafe(TOKEN_BYTES)
    try:
        protocol.serve_http(connection, http, required, tell)
    except OSError as error:
        sys.exit(f"kasuwa: port {http} of 127.0.0.1 cannot be used: {error.strerror}")
