"""`kasuwa record` and `kasuwa serve --replay`: keep what an application sent and got, and answer from that."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from kasuwa import __version__
from kasuwa.boot.supervise import ServeError
from kasuwa.commands import announcement
from kasuwa.commands.database import one_line_errors
from kasuwa.commands.events import KeyOption, MidOption, ServerOption
from kasuwa.commands.listening import check_address
from kasuwa.postgres.migrate import newest_known_version
from kasuwa.settings.settings import DEMO_KEY, DEMO_MID, Settings, local_url

POLL_SECONDS = 0.05


def record(
    command: Annotated[list[str], typer.Argument(help="The command that runs the application, after --.")],
    to: Annotated[Path, typer.Option(help="File to write.")],
    server: ServerOption = "http://127.0.0.1:8080",
    mid: MidOption = DEMO_MID,
    key: KeyOption = DEMO_KEY,
) -> None:
    """Run an application, and keep its requests and the replies of a test server in a file.

    The application finds the address to call as KASUWA_URL, with KASUWA_MID and KASUWA_KEY. Secrets are masked in the
    file, which `kasuwa serve --replay` answers from. The exit code is that of the application."""
    from kasuwa.integration.gateway import Gateway
    from kasuwa.integration.recording import is_action, render_recording

    with one_line_errors():
        check_address(server)
        if not to.parent.is_dir():
            raise ServeError(f"{to} cannot be written (there is no such directory)")
        with Gateway(server) as gateway:
            credentials = {"KASUWA_URL": gateway.url, "KASUWA_MID": mid, "KASUWA_KEY": key}
            try:
                code = subprocess.run(command, env={**os.environ, **credentials}, check=False).returncode
            except KeyboardInterrupt:  # the application got it too: Ctrl-C goes to both
                code = 130
            except OSError as error:
                raise ServeError(f"{command[0]} cannot be run ({error.strerror})") from None
            text = render_recording(gateway.exchanges, [gateway.url, server.rstrip("/")])
        try:
            to.write_text(text, encoding="utf-8")
        except OSError as error:
            raise ServeError(f"{to} cannot be written ({error.strerror})") from None
    typer.echo(f"{to} has {sum(map(is_action, gateway.exchanges))} of {len(gateway.exchanges)} requests", err=True)
    raise typer.Exit(code)


def serve_recording(
    path: Path, settings: Settings, ready: announcement.ReadyFile | None, *, is_loose: bool, as_json: bool
) -> None:
    """Answers from a recording until Ctrl-C or SIGTERM. Exits with 1 if a request was not recorded or, strictly, if a
    recorded one did not come. Raises ServeError."""
    from kasuwa.integration.recording import read_recording
    from kasuwa.integration.replay import Replayer, listen
    from kasuwa.testing.exchanges import UnreadableRecording

    try:
        # Read before it is listened, so that a wrong file leaves no port open. Addresses in it are replaced afterwards.
        read_recording(path, "")
        listener = listen(settings.host, settings.port)
        url = local_url(settings.host, listener.server_address[1])
        replayer = Replayer(read_recording(path, url), is_loose=is_loose)
    except UnreadableRecording as error:
        raise ServeError(str(error)) from None
    except OSError as error:
        raise ServeError(f"port {settings.port} cannot be listened on ({error.strerror})") from None
    listener.replayer = replayer
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    threading.Thread(target=listener.serve_forever, args=(POLL_SECONDS,), daemon=True).start()
    announced = describe_replay(url)
    if ready is not None:
        ready.write(announcement.encode(announced))
    typer.echo(announcement.encode(announced) if as_json else f"Kasuwa (replay of {path}) listens on {url}")
    stopped.wait()
    listener.shutdown()
    if ready is not None:
        ready.remove()
    missing = 0 if is_loose else replayer.unused
    if replayer.refused or missing:
        sys.exit(f"kasuwa: {replayer.refused} requests were not recorded, {missing} recorded ones did not come")


def describe_replay(url: str) -> announcement.Announcement:
    return announcement.Announcement(
        url=url,
        console_url=None,
        metrics_url=None,
        environment="test",
        version=__version__,
        schema=newest_known_version(),
        pid=os.getpid(),
        data=None,
        demo=announcement.DemoMerchant(DEMO_MID, DEMO_KEY),
        links={},
    )
