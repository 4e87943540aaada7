"""`kasuwa serve`: runs the service until it is stopped."""

import contextlib
import os
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from kasuwa.boot import supervise
from kasuwa.boot.ports import reserve_ports
from kasuwa.commands import announcement
from kasuwa.commands.database import one_line_errors
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.record import serve_recording
from kasuwa.settings.peer_files import load_peer_certificates
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import read_settings


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (KASUWA_HOST, 127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(help="Port of the API (KASUWA_PORT, 8080). 0 chooses a free one.")] = None,
    console_port: Annotated[
        int | None, typer.Option(help="Port of the console (KASUWA_CONSOLE_PORT, 8081). 0 chooses a free one.")
    ] = None,
    data: DataOption = None,
    workers: Annotated[
        str | None,
        typer.Option(help="API processes (KASUWA_WORKERS): a number, or auto, which is the default: half the cores."),
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="File to write when ready: one line of JSON. Removed at the end.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print that line of JSON instead of text.")] = False,
    replay: Annotated[
        Path | None,
        typer.Option(
            help="Answer from this file of `kasuwa record`, or golden file, in its order, without a database."
        ),
    ] = None,
    replay_loosely: Annotated[
        bool, typer.Option("--replay-loosely", help="Answer in any order, also with other references.")
    ] = False,
) -> None:
    """Run the service: API, job worker, console and, unless given one, its own PostgreSQL.

    It runs until Ctrl-C or SIGTERM. The database is its own, in the data directory, unless KASUWA_DATABASE_URL is set.
    The line of JSON has the addresses, the version and the process id, and in test the demo merchant's key and sign-in
    links to the console.

    With --replay it answers what was recorded and nothing else. Its exit code is then 1 if a request was not
    recorded, or a recorded one did not come."""
    with one_line_errors(), contextlib.ExitStack() as at_end:
        requested_settings = read_settings(
            os.environ, host=host, port=port, console_port=console_port, data=data, workers=workers
        )
        ready = announcement.ReadyFile(ready_file) if ready_file is not None else None
        if ready is not None:
            ready.prepare()
        if replay is not None:
            serve_recording(replay, requested_settings, ready, is_loose=replay_loosely, as_json=json)
            return
        load_peer_certificates(requested_settings)  # refused before anything is changed
        settings = at_end.enter_context(reserve_ports(requested_settings))
        load_secret_key(settings)
        with supervise.importing_process_code():
            dsn, cluster = at_end.enter_context(supervise.open_database(settings))
        # The processes that serve do not know how to become the owner.
        served = msgspec.structs.replace(settings, database_owner_url=None)

        def prepare() -> None:
            supervise.prepare(settings, dsn)

        def announce() -> None:
            new_announcement = announcement.make_announcement(settings, dsn)
            at_end.enter_context(announcement.published(new_announcement, settings, ready, as_json=json))

        supervise.Supervisor(served, dsn, cluster).run(prepare, announce)
