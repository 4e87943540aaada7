"""`kasuwa listen` and `kasuwa trigger`: events of a merchant of a running server."""

import contextlib
from typing import Annotated

import typer

from kasuwa.commands import listening
from kasuwa.commands.database import one_line_errors
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID

ServerOption = Annotated[str, typer.Option("--server", envvar="KASUWA_URL", help="Address of a running server.")]
MidOption = Annotated[str, typer.Option("--mid", envvar="KASUWA_MID", help="As which merchant.")]
KeyOption = Annotated[str, typer.Option("--key", envvar="KASUWA_KEY", help="Its key.")]
ForwardOption = Annotated[str | None, typer.Option("--forward-to", help="A local application to forward to, signed.")]


def listen_to_events(
    forward_to: ForwardOption = None,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Print a merchant's events as they happen, and forward them, signed."""
    with one_line_errors(), contextlib.suppress(KeyboardInterrupt):
        listening.listen(listening.MerchantClient(server, mid, key), forward_to, typer.echo)


def trigger_event(
    reference: str,
    forward_to: ForwardOption = None,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Send the event of a reference again, to its endpoint or an application.

    The exit code is 1 if the application does not accept it."""
    with one_line_errors():
        typer.echo(listening.trigger(listening.MerchantClient(server, mid, key), reference, forward_to))
