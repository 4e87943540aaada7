"""`kasuwa log`: the request log of a merchant of a running test server."""

import contextlib
import time
from typing import Annotated, Any

import typer

from kasuwa.commands.database import one_line_errors
from kasuwa.commands.events import KeyOption, MidOption, ServerOption
from kasuwa.commands.listening import POLL_SECONDS, ListenError, MerchantClient
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID

# Past requests that are shown.
SHOWN = 20


def show_log(
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new requests as they happen.")] = False,
    search: Annotated[str, typer.Option(help="Only requests with this text in them or in their reply.")] = "",
    refused: Annotated[bool, typer.Option("--refused", help="Only requests that were refused or failed.")] = False,
    bodies: Annotated[bool, typer.Option("--bodies", help="Print bodies too.")] = False,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Show a merchant's requests to a test server, with their replies.

    Secrets are hidden."""
    account = MerchantClient(server, mid, key)
    wanted: dict[str, Any] = {"action": "requests", "refused": refused} | ({"search": search} if search else {})
    with one_line_errors(), contextlib.suppress(KeyboardInterrupt):
        # The newest request of all: one that does not fit may come after the newest that does.
        newest = account.send_request({"action": "requests", "limit": 1}, "sandbox")["last"]
        for request in reversed(account.send_request({**wanted, "limit": SHOWN}, "sandbox")["data"]):
            newest = max(newest, request["number"])
            print_request(request, bodies)
        while follow:
            newest = print_new(account, wanted, newest, bodies)
            time.sleep(POLL_SECONDS)


def print_new(account: MerchantClient, wanted: dict[str, Any], after: int, bodies: bool) -> int:
    """Prints the requests after a number. Returns the number to go on from."""
    try:
        reply = account.send_request({**wanted, "after": after}, "sandbox")
    except ListenError as error:
        typer.echo(f"{error}; trying again", err=True)
        return after
    for request in reply["data"]:
        print_request(request, bodies)
    return int(reply["last"])


def print_request(request: dict[str, Any], bodies: bool) -> None:
    name = f"{request['path']} {request['action']}".strip()
    took = f"{request['milliseconds']:.1f} ms"
    typer.echo(f"{request['answered_at']}  {request['result']}  {name:<32} {took:>10}  {request['request_id']}")
    if bodies:
        typer.echo(f"  > {request['request_body']}\n  < {request['reply_body']}")
