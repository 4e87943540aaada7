"""The output of `kasuwa serve` when it is ready: text for a person, or one line of JSON for a program."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import structlog
import typer

from kasuwa import __version__
from kasuwa.boot.server_records import ServerRecord, record_server
from kasuwa.boot.supervise import ServeError
from kasuwa.postgres.migrate import newest_known_version
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID, Settings, console_address, local_url

CURL = """curl -X PUT {url}/disburse -H 'mid: {mid}' -H 'key: {key}' \\
  -d '{{"action":"transfer","amount":"1500.00","bankcode":"058","accountnumber":"0000000000","orderRef":"first"}}'"""


logger = structlog.get_logger("kasuwa.serve")


class DemoMerchant(msgspec.Struct):
    mid: str
    key: str


class Announcement(ServerRecord, kw_only=True):
    """The line of JSON that `serve` writes when it is ready."""

    data: str | None  # None: the database is given by KASUWA_DATABASE_URL
    demo: DemoMerchant | None  # in test alone
    links: dict[str, str]  # sign-in link of each demo user who has no password yet, by email


def make_announcement(settings: Settings, dsn: str) -> Announcement:
    """Describes the ready server. In test it creates the demo users' sign-in links, which work once."""
    has_console, is_test = settings.console, settings.environment == "test"
    metrics_port = settings.metrics_port
    return Announcement(
        url=local_url(settings.host, settings.port),
        console_url=console_address(settings) if has_console else None,
        metrics_url=f"{local_url(settings.metrics_host, metrics_port)}/metrics" if metrics_port is not None else None,
        environment=settings.environment,
        version=__version__,
        schema=newest_known_version(),
        pid=os.getpid(),
        data=str(settings.data) if settings.database_url is None else None,
        demo=DemoMerchant(DEMO_MID, DEMO_KEY) if is_test else None,
        links=make_sign_in_links(settings, dsn) if has_console and is_test else {},
    )


def make_sign_in_links(settings: Settings, dsn: str) -> dict[str, str]:
    from kasuwa.commands import user

    return {
        email: f"{console_address(settings)}/link/{token}"
        for email, token in asyncio.run(user.make_demo_links(settings, dsn))
    }


def describe(ready: Announcement, host: str) -> str:
    """Returns the announcement as text. `host` is the address that the API listens on."""
    port = ready.url.rpartition(":")[2]
    lines = [f"Kasuwa ({ready.environment}) listens on http://{f'[{host}]' if ':' in host else host}:{port}"]
    if ready.data is not None:
        lines.append(f"Data: {ready.data}")
    if ready.demo is not None:
        lines.append(f"Demo merchant: mid {ready.demo.mid}, key {ready.demo.key}. Try:\n")
        lines.append(CURL.format(url=ready.url, mid=ready.demo.mid, key=ready.demo.key))
    lines.append(f"\nDocumentation: {ready.url}/docs/")
    if ready.console_url is not None:
        lines.append(f"Console: {ready.console_url}")
        lines += [f"  sign in once as {email}: {link}" for email, link in ready.links.items()]
    if ready.metrics_url is not None:
        lines.append(f"\nMetrics: {ready.metrics_url}")
    return "\n".join([*lines, "\nCtrl-C stops it."])


def encode(ready: Announcement) -> str:
    return msgspec.json.encode(ready).decode()


class ReadyFile:
    """The file of --ready-file. It appears complete when the server is ready, and is removed when it stops.

    Only its owner may read it, because it holds sign-in links. A pipe or a device is written to as it is."""

    def __init__(self, path: Path) -> None:
        self._path = path.absolute()
        self._line: str | None = None  # what was written

    def prepare(self) -> None:
        """Removes the file of an earlier server. Raises ServeError if the file could not be written later."""
        if self._path.is_dir():
            raise ServeError(f"--ready-file {self._path} is a directory: name a file")
        if self._is_special():
            return
        try:
            with tempfile.NamedTemporaryFile(dir=self._path.parent, prefix=f".{self._path.name}."):
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise self._refusal(error) from None

    def write(self, line: str) -> None:
        """Writes the line, and under the file's name only when it is complete. Raises ServeError."""
        try:
            if self._is_special():
                self._path.write_text(line + "\n")
                return
            descriptor, temporary = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
            with os.fdopen(descriptor, "w") as file:
                file.write(line + "\n")
            os.replace(temporary, self._path)
        except OSError as error:
            raise self._refusal(error) from None
        self._line = line

    def remove(self) -> None:
        """Removes the file if this server wrote it and no other has replaced it."""
        with contextlib.suppress(OSError):
            if self._line is not None and self._path.read_text() == self._line + "\n":
                self._path.unlink()

    def _is_special(self) -> bool:
        return self._path.exists() and not self._path.is_file()

    def _refusal(self, error: OSError) -> ServeError:
        return ServeError(f"--ready-file {self._path} cannot be written ({error.strerror}): name another file")


@contextlib.contextmanager
def published(
    announcement: Announcement, settings: Settings, ready: ReadyFile | None, *, as_json: bool
) -> Iterator[None]:
    """Announces the server: in its data directory, in the ready file and on standard output.

    Removes the files at the end of the block. Raises ServeError."""
    with contextlib.ExitStack() as at_end:
        try:
            if settings.data.is_dir():
                at_end.enter_context(record_server(settings.data, announcement))
        except OSError as error:
            # With a database of the operator's own, the data directory need not be writable.
            if settings.database_url is None:
                logger.warning("the server is not recorded in its data directory", error=type(error).__name__)
        if ready is not None:
            ready.write(encode(announcement))
            at_end.callback(ready.remove)
        try:
            typer.echo(encode(announcement) if as_json else describe(announcement, settings.host))
        except OSError as error:
            raise ServeError(f"standard output cannot be written ({error.strerror})") from None
        yield
