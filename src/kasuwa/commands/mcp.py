"""`kasuwa mcp`: serves a running server to an assistant, by the Model Context Protocol."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from kasuwa.commands.listening import ListenError, check_address
from kasuwa.integration.assistant.connection import AssistantError, Connection
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID


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
    keys_file: Annotated[
        Path | None, typer.Option(help="File to add the mid and the key of each new merchant to, for you alone.")
    ] = None,
) -> None:
    """Serve a running server to an assistant, by the Model Context Protocol.

    It serves standard input and output, or HTTP with --http. In the test environment an assistant makes merchants,
    calls actions, moves clocks, plans faults and reads the documentation. In live it only reads, and only with a key
    of scope read: the server is asked what the key may do. Keys are never shown to an assistant."""
    if find_spec("mcp") is None or find_spec("kasuwa_client") is None:
        sys.exit("kasuwa: mcp needs the package mcp: pip install 'kasuwa[mcp]'")
    try:
        check_address(server)
        connection = Connection(server, mid, key, keys_file)
        connection.check()
    except (AssistantError, ListenError) as error:
        sys.exit(f"kasuwa: {error}")
    from kasuwa.integration.assistant import protocol

    if http is None:
        protocol.serve_stdio(connection)
        return
    try:
        protocol.serve_http(connection, http, lambda url: typer.echo(f"Kasuwa for assistants is at {url}"))
    except OSError as error:
        sys.exit(f"kasuwa: port {http} of 127.0.0.1 cannot be used: {error.strerror}")
