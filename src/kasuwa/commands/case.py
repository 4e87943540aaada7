"""`kasuwa case`: takes what happened to a reference out of a deployment, and plays it again in a test server."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from kasuwa.boot.supervise import ServeError
from kasuwa.commands.database import one_line_errors, record_audit_entry, run_with_connection
from kasuwa.commands.directory_option import DataOption
from kasuwa.core.vault import Vault
from kasuwa.merchants import merchants
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID, Settings

command = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Take what happened to a reference out of a deployment, and play it in a test server.",
)

ToOption = Annotated[Path | None, typer.Option("--to", help="File to write. Left out: standard output.")]
MidOption = Annotated[str | None, typer.Option("--mid", help="The merchant, if several have the reference.")]
UrlOption = Annotated[
    str | None, typer.Option("--url", help="Address of a test server. Left out: one is started, and ended afterwards.")
]
PytestOption = Annotated[
    Path | None, typer.Option("--pytest", help="Write the case as a test of pytest, to this file.")
]
ToleranceOption = Annotated[
    float, typer.Option("--tolerance", min=0, help="Seconds by which a step may come earlier or later.")
]


@command.command(name="export")
def export_case(reference: str, to: ToOption = None, mid: MidOption = None, data: DataOption = None) -> None:
    """Write everything that is needed to reproduce what happened to a reference: the merchant's terms, the requests,
    what rails answered and when, and what became of it.

    People are pseudonyms, references are names, and no secret is in it. The audit trail of the merchant notes the
    export."""
    from kasuwa.cases.export import CaseRefused, collect_case, find_merchant
    from kasuwa.testing.cases.case_file import render_case

    async def work(connection: Any, vault: Vault, settings: Settings) -> str:
        try:
            if mid is not None:
                merchant_id = await merchants.find_merchant_id(connection, mid)
            else:
                merchant_id = await find_merchant(connection, reference)
            async with connection.transaction(isolation="repeatable_read"):
                case = await collect_case(connection, vault, merchant_id, reference, settings.environment)
                await record_audit_entry(connection, merchant_id, "exported a case", reference)
        except CaseRefused as refused:
            raise ServeError(str(refused)) from None
        return render_case(case)

    text = run_with_connection(data, work)
    if to is None:
        typer.echo(text, nl=False)
        return
    try:
        to.write_text(text, encoding="utf-8")
    except OSError as error:
        sys.exit(f"kasuwa: {to} cannot be written ({error.strerror})")


@command.command(name="replay")
def replay_case(
    file: Path,
    url: UrlOption = None,
    mid: Annotated[str, typer.Option(envvar="KASUWA_MID", help="A merchant of the test server.")] = DEMO_MID,
    key: Annotated[str, typer.Option(envvar="KASUWA_KEY", help="Its key.")] = DEMO_KEY,
    tolerance: ToleranceOption = 5.0,
    pytest: PytestOption = None,
) -> None:
    """Play a case in a test server, step by step, and say where outcome or time differ.

    A merchant of its own is made for it, with the terms, the wallets and the clock of the case. The exit code is 0 if
    all is equal, and 1 if anything differs."""
    from kasuwa.testing.cases.case_file import read_case
    from kasuwa.testing.cases.case_merchant import CannotReplay
    from kasuwa.testing.cases.replay import run_replay
    from kasuwa.testing.exchanges import UnreadableRecording

    with one_line_errors():
        try:
            case = read_case(file)
            if pytest is not None:
                write_test(file, pytest)
            report = run_replay(case, url, (mid, key), tolerance)
        except (UnreadableRecording, CannotReplay) as error:
            raise ServeError(str(error)) from None
    for line in report.lines:
        typer.echo(line)
    if report.differences:
        raise typer.Exit(1)


def write_test(file: Path, test: Path) -> None:
    """Writes a test that plays a case, and the case beside it if it is elsewhere. Raises ServeError."""
    from kasuwa.testing.cases.pytest_file import render_test

    copy = test.with_name(file.name)
    try:
        test.write_text(render_test(copy), encoding="utf-8")
        if not copy.exists() or not copy.samefile(file):
            copy.write_bytes(file.read_bytes())
    except OSError as error:
        raise ServeError(f"{test} cannot be written ({error.strerror})") from None
