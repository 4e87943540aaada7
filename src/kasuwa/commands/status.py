"""`kasuwa status`: asks running servers whether they are ready. Scripts call it often, so it imports little."""

import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from kasuwa.boot.server_records import ServerRecord, find_servers
from kasuwa.commands.directory_option import DataOption
from kasuwa.commands.listening import ListenError, check_address
from kasuwa.settings.settings import Settings, local_url, read_settings
from kasuwa.settings.values import SettingsError

POLL_SECONDS = 0.2
ANSWER_SECONDS = 5.0


class StatusError(Exception):
    """No server can be asked. The text says in one line why."""


class ServerStatus(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The state of one server. Fields that are not known are left out."""

    url: str
    ready: bool
    problem: str = ""  # why it is not ready
    environment: str | None = None
    version: str | None = None
    schema: int | None = None  # number of the newest migration of the database
    console_url: str | None = None
    metrics_url: str | None = None
    pid: int | None = None
    data: str | None = None


ServerOption = Annotated[str | None, typer.Option("--server", help="Address of the server to ask, on any machine.")]
WaitOption = Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait until it is ready.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one line of JSON a server.")]


def status(
    server: ServerOption = None, wait: WaitOption = 0, data: DataOption = None, json: JsonOption = False
) -> None:
    """Say whether a server is up and ready. The exit code is 1 if it is not.

    Without --server it finds the servers that run on the data directory. If there is none and KASUWA_DATABASE_URL is
    set, it asks the address of the settings."""
    try:
        if server is not None and data is not None:
            raise StatusError("--server and --data cannot both be given: one server is asked, or those of a directory")
        until = time.monotonic() + wait
        statuses = find_statuses(server, data)
        while not is_ready(statuses) and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
            statuses = find_statuses(server, data)
        if not statuses:
            raise StatusError(f"no server runs on {read_settings(os.environ, data=data).data}")
    except (StatusError, ListenError, SettingsError, OSError) as error:
        sys.exit(f"kasuwa: {error}")
    for one in statuses:
        typer.echo(msgspec.json.encode(one).decode() if json else describe(one))
    if not is_ready(statuses):
        raise typer.Exit(1)


def is_ready(statuses: list[ServerStatus]) -> bool:
    return bool(statuses) and all(one.ready for one in statuses)


def find_statuses(server: str | None, data: Path | None) -> list[ServerStatus]:
    """Asks the given server, or each that runs on the data directory."""
    if server is not None:
        check_address(server)
        return [ask(ServerStatus(url=server.rstrip("/"), ready=False))]
    settings = read_settings(os.environ, data=data)
    try:
        records = find_servers(settings.data)
    except PermissionError as error:
        raise StatusError(
            f"{error.filename} cannot be read ({error.strerror}): run as the server's user, or give --server"
        ) from None
    if not records and settings.database_url is not None and settings.port:
        return [ask(ServerStatus(url=local_url(settings.host, settings.port), ready=False))]
    return [ask(status_of_record(record, settings)) for record in records]


def status_of_record(record: ServerRecord, settings: Settings) -> ServerStatus:
    return ServerStatus(
        url=record.url,
        ready=False,
        environment=record.environment,
        version=record.version,
        schema=record.schema,
        console_url=record.console_url,
        metrics_url=record.metrics_url,
        pid=record.pid,
        data=str(settings.data),
    )


def ask(known: ServerStatus) -> ServerStatus:
    """Asks a server whether it is ready. Returns what is known of it with the answer."""
    try:
        with urllib.request.urlopen(f"{known.url}/readyz", timeout=ANSWER_SECONDS) as reply:
            return msgspec.structs.replace(known, ready=True, **read_details(read_reply(reply)))
    except urllib.error.HTTPError as error:
        with error:
            problem = read_reply(error).get("message") or f"HTTP {error.code}"
    except urllib.error.URLError as error:
        problem = f"no answer ({error.reason.strerror if isinstance(error.reason, OSError) else error.reason})"
    except (OSError, http.client.HTTPException) as error:
        problem = f"no answer ({type(error).__name__})"
    return msgspec.structs.replace(known, problem=str(problem))


def read_reply(reply: Any) -> dict[str, Any]:
    """Returns a reply that is a JSON object. Another one, such as a proxy's page, is read as empty."""
    try:
        return msgspec.json.decode(reply.read(65_536), type=dict[str, Any])
    except (OSError, http.client.HTTPException, msgspec.MsgspecError):
        return {}


def read_details(reply: dict[str, Any]) -> dict[str, Any]:
    """Returns the environment, version and schema if the reply has them, as it does in test."""
    kinds = {"environment": str, "version": str, "schema": int}
    return {name: reply[name] for name, kind in kinds.items() if isinstance(reply.get(name), kind)}


def describe(one: ServerStatus) -> str:
    """Returns a status as lines of a name and a value."""
    state = "ready" if one.ready else f"not ready: {one.problem}"
    values = {
        "state": state,
        "api": one.url,
        "console": one.console_url,
        "metrics": one.metrics_url,
        "environment": one.environment,
        "version": one.version,
        "schema": None if one.schema is None else f"migration {one.schema}",
        "data": one.data,
        "pid": one.pid,
    }
    return "\n".join(f"{name:<12} {value}" for name, value in values.items() if value is not None)
