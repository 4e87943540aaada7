"""`kasuwa rail check`: checks a rail that speaks the rail protocol (docs/rail-protocol.md)."""

import asyncio
import re
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kasuwa.rails.check.all_checks import ALL_CHECKS
from kasuwa.rails.check.callback_listener import CallbackListener
from kasuwa.rails.check.client import RailClient
from kasuwa.rails.check.run import NotRun, Options, RefusedToRun, Report, run_checks
from kasuwa.rails.remote.signing import RemoteSecret

URL = re.compile(
    r"https://[^\s/?#@]+(/[^\s?#]*)?|http://(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?(/[^\s?#]*)?", re.ASCII
)
CANNOT_RUN = 2


def check_rail(
    url: Annotated[str, typer.Argument(help="Address of the rail, without /v1.")],
    secret_file: Annotated[Path, typer.Option(help="File with the secret that signs.")],
    key_id: Annotated[str, typer.Option(help="Name of the secret.")] = "key-1",
    live: Annotated[bool, typer.Option("--live", help="Order small amounts also from a rail with real money.")] = False,
    restart: Annotated[str | None, typer.Option(help="Command that restarts the rail, for one of the checks.")] = None,
    listen: Annotated[str | None, typer.Option(help="HOST:PORT that the rail's call-backs come to.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Order, lose, repeat and contradict at a rail, and say what it does wrong.

    Only orders of its own are made, to the samples that the rail gives. The exit code is 0 if every check passed, 1 if
    one failed, and 2 if none could run."""
    try:
        secret = RemoteSecret(key_id, read_secret(secret_file))
        if URL.fullmatch(url) is None:
            raise RefusedToRun("The address of a rail begins with https://, or http:// on this machine.")
        report = asyncio.run(run(url, secret, live, restart, listen))
    except RefusedToRun as error:
        typer.echo(f"kasuwa: no check was run. {error}", err=True)
        raise typer.Exit(CANNOT_RUN) from None
    typer.echo(msgspec.json.format(msgspec.json.encode(report)).decode() if json else describe_report(report))
    raise typer.Exit(1 if report.failed else 0)


def read_secret(path: Path) -> str:
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        raise RefusedToRun(f"The secret cannot be read from {path}.") from None
    if not secret:
        raise RefusedToRun(f"{path} is empty.")
    return secret


async def run(url: str, secret: RemoteSecret, live: bool, restart: str | None, listen: str | None) -> Report:
    async def restart_rail() -> None:
        process = await asyncio.create_subprocess_shell(restart or "")
        if await process.wait() != 0:
            raise NotRun("the command of --restart failed")

    listener = CallbackListener(secret)
    if listen is not None:
        host, _, port = listen.rpartition(":")
        try:
            await listener.start(host or "127.0.0.1", int(port))
        except (OSError, ValueError):
            raise RefusedToRun(f"{listen} cannot be listened on: --listen takes HOST:PORT.") from None
    options = Options(
        is_live_allowed=live,
        restart=restart_rail if restart else None,
        callbacks=None if listen is None else listener.keys,
        network=None if listen is None else listener.network,
    )
    try:
        async with RailClient(url, secret) as client:
            return await run_checks(client, ALL_CHECKS, options)
    finally:
        await listener.stop()


def describe_report(report: Report) -> str:
    lines = [
        f"{check.result:8} {check.name}" + (f"\n         {check.sentence}" if check.sentence else "")
        for check in report.checks
    ]
    counts = {
        result: sum(check.result == result for check in report.checks) for result in ("passed", "failed", "not run")
    }
    summary = ", ".join(f"{count} {result}" for result, count in counts.items())
    return "\n".join(
        [*lines, "", f"{report.rail} ({report.environment}): {summary}; {report.calls} calls in {report.seconds} s"]
    )
