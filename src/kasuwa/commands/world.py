"""`kasuwa world`: the worlds of a merchant of a running test server."""

import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from kasuwa.commands.database import one_line_errors
from kasuwa.commands.events import KeyOption, MidOption, ServerOption
from kasuwa.commands.listening import ListenError, MerchantClient
from kasuwa.methods.sandbox.world_file import MAX_FILE_BYTES
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID

DEFAULT_SERVER = "http://127.0.0.1:8080"
# The largest world takes a minute on a server that does nothing else.
MOST_SECONDS = 600.0
# How often a command says that it still waits.
PROGRESS_SECONDS = 5.0

PassphraseOption = Annotated[
    str,
    typer.Option(
        envvar="KASUWA_WORLD_PASSPHRASE",
        prompt=True,
        hide_input=True,
        help="Of the file, at least 12 characters. Asked for if it is not given.",
    ),
]

command = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Store, restore, copy, compare, export and import the worlds of a merchant of a test server.",
)


@command.command()
def snapshot(
    name: str, server: ServerOption = DEFAULT_SERVER, mid: MidOption = DEMO_MID, key: KeyOption = DEMO_KEY
) -> None:
    """Store everything that the merchant has, as a world."""
    world = act(MerchantClient(server, mid, key), "snapshot", name=name)["data"]
    typer.echo(describe(world))


@command.command()
def restore(
    name: str, server: ServerOption = DEFAULT_SERVER, mid: MidOption = DEMO_MID, key: KeyOption = DEMO_KEY
) -> None:
    """Make the merchant what it was when a world was stored. What was done since is kept aside."""
    reply = act(MerchantClient(server, mid, key), "restore", name=name)
    typer.echo(f"{reply['message']}: {reply['rows']:,} rows")


@command.command()
def fork(
    name: Annotated[str | None, typer.Argument(help="The world. Left out: the merchant as it is now.")] = None,
    server: ServerOption = DEFAULT_SERVER,
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Make a new merchant that is a copy, and print its mid and key. The key is shown this once."""
    fields = {} if name is None else {"name": name}
    copy = act(MerchantClient(server, mid, key), "fork", **fields)
    typer.echo(f"mid  {copy['mid']}\nkey  {copy['key']}")


@command.command(name="list")
def list_worlds(server: ServerOption = DEFAULT_SERVER, mid: MidOption = DEMO_MID, key: KeyOption = DEMO_KEY) -> None:
    """List the worlds, newest first."""
    for world in act(MerchantClient(server, mid, key), "worlds")["data"]:
        typer.echo(describe(world))


@command.command()
def compare(
    name: str,
    other: str,
    server: ServerOption = DEFAULT_SERVER,
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Say in which tables two worlds differ. The exit code is 1 if they do."""
    lines = act(MerchantClient(server, mid, key), "compare_worlds", name=name, other=other)["data"]
    for line in lines:
        numbers = f"{line['only_in_first']:>8} only in {name}  {line['only_in_other']:>8} only in {other}"
        typer.echo(f"{line['table']:<26} {numbers}  {line['changed']:>8} changed")
    if lines:
        raise typer.Exit(1)
    typer.echo("Both worlds are the same")


@command.command(name="export")
def export_world(
    name: str,
    file: Path,
    passphrase: PassphraseOption,
    server: ServerOption = DEFAULT_SERVER,
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Write a world to a new file, encrypted with a passphrase. API keys and signing secrets are not in it."""
    reply = act(MerchantClient(server, mid, key), "export_world", name=name, passphrase=passphrase)
    content = b64decode(reply["file"])
    with one_line_errors(), file_errors(file), file.open("xb") as out:
        out.write(content)
    typer.echo(f"{describe(reply['data'])}\n{file}: {len(content):,} bytes")


@command.command(name="import")
def import_world(
    file: Path,
    name: str,
    passphrase: PassphraseOption,
    server: ServerOption = DEFAULT_SERVER,
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Store the world of a file under a name. The merchant stays as it is until you restore or fork the world."""
    with one_line_errors(), file_errors(file):
        if file.stat().st_size > MAX_FILE_BYTES:
            raise ListenError(f"{file} has more than {MAX_FILE_BYTES // 1024 // 1024} MiB, so it is no file of a world")
        content = b64encode(file.read_bytes()).decode()
    account = MerchantClient(server, mid, key)
    reply = act(account, "import_world", name=name, passphrase=passphrase, file=content)
    typer.echo(describe(reply["data"]))


@command.command()
def delete(
    name: str, server: ServerOption = DEFAULT_SERVER, mid: MidOption = DEMO_MID, key: KeyOption = DEMO_KEY
) -> None:
    """Delete a world."""
    typer.echo(act(MerchantClient(server, mid, key), "delete_world", name=name)["message"])


def act(account: MerchantClient, action: str, **fields: Any) -> Any:
    """Requests an action of the sandbox. Exits with one line if it is refused."""
    with one_line_errors(), progress(account, action):
        return account.send_request({"action": action, **fields}, "sandbox", seconds=MOST_SECONDS)


@contextmanager
def progress(account: MerchantClient, action: str) -> Iterator[None]:
    """Says on standard error every few seconds that the block still runs, and how far the server is."""
    ended = threading.Event()

    def tell() -> None:
        seconds = 0.0
        while not ended.wait(PROGRESS_SECONDS):
            seconds += PROGRESS_SECONDS
            rows = find_progress(account, action)
            print(f"{action.replace('_', ' ')}: {seconds:.0f} s{rows}", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        ended.set()
        teller.join()


def find_progress(account: MerchantClient, action: str) -> str:
    """Returns how far the server is with an action, or "" if it does not say so."""
    try:
        reply = account.send_request({"action": "worlds"}, "sandbox")
    except ListenError:
        return ""
    return "".join(
        f", {one['rows_done']:,} of {one['rows_total']:,} rows"
        for one in reply.get("running", ())
        if one["action"] == action
    )


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Turns an error of a file into one that is reported in one line."""
    try:
        yield
    except OSError as error:
        raise ListenError(f"{path}: {error.strerror}") from None


def describe(world: dict[str, Any]) -> str:
    return f"{world['name']:<24} {world['rows']:>9,} rows {world['bytes']:>11,} bytes  at {world['business_time']}"
