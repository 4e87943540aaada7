"""`kasuwa listen` and `kasuwa trigger`: events of a merchant of a running server."""

import contextlib
import re
from typing import Annotated

import typer

from kasuwa.commands import listening
from kasuwa.commands.database import one_line_errors
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID

# References have digits or capitals.
EVENT_NAME = re.compile(r"[a-z_]+(\.[a-z_]+)?")

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
    event: Annotated[str, typer.Argument(help="A reference, or an event such as dispute.opened.")],
    changes: Annotated[list[str] | None, typer.Argument(help="Fields of a new event, such as amount=900.00.")] = None,
    forward_to: ForwardOption = None,
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Send the event of a reference again, or make an event happen on a test server.

    An event happens by requests of the merchant, which make what it is about; fields=values replace theirs. It goes to
    the endpoint, and to the application. The exit code is 1 if the application does not accept it."""
    account = listening.MerchantClient(server, mid, key)
    with one_line_errors():
        if changes or EVENT_NAME.fullmatch(event):
            typer.echo(listening.make_happen(account, event, changes or [], forward_to))
        else:
            typer.echo(listening.trigger(account, event, forward_to))
