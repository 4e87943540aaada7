"""The guardian: a process that runs one `kasuwa serve` for as long as anybody uses it, then stops it and cleans up.

    python -m kasuwa.testing.guardian DIRECTORY

Every user of the server holds a shared lock on the file `users` in the directory. The system releases the lock of a
process that ends, however it ends. The guardian waits for the exclusive lock, so it gets it when the last user is gone,
and keeps it: whoever finds the lock taken starts a server of its own. If the guardian itself is killed, the server
notices (KASUWA_STOP_WITH) and stops.

Files of the directory: `users` (the lock), `data` (of the server), `ready.json` (of `serve --ready-file`), `serve.log`
(output of the server), `ended` (written when the server ended although it is used).
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO

USERS, DATA, READY, LOG, ENDED = "users", "data", "ready.json", "serve.log", "ended"
# After this the server is killed. It normally takes less than a second.
STOP_SECONDS = 25.0
POLL_SECONDS = 0.1


def run(directory: Path) -> None:
    """Runs the server until it ends or nobody uses it. Removes the directory when nobody uses it."""
    server = start_server(directory)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    # The exclusive lock is kept until the directory is gone.
    with (directory / USERS).open("rb") as users:
        unused = threading.Event()
        waiting = threading.Thread(target=stop_when_unused, args=(users, server, unused), daemon=True)
        waiting.start()
        server.wait()
        stop_database(directory / DATA)
        if not unused.is_set():
            # The users read why from the log, and clean up by leaving.
            (directory / ENDED).touch()
        waiting.join()
        remove_directory(directory)


def start_server(directory: Path) -> "subprocess.Popen[bytes]":
    ports = ["--port", "0", "--console-port", "0"]
    files = ["--data", str(directory / DATA), "--ready-file", str(directory / READY)]
    environment = {**os.environ, "KASUWA_STOP_WITH": str(os.getpid())}
    command = [sys.executable, "-m", "kasuwa", "serve", *ports, *files]
    with (directory / LOG).open("wb") as log:
        return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def stop_when_unused(users: BinaryIO, server: "subprocess.Popen[bytes]", unused: threading.Event) -> None:
    """Waits for the exclusive lock, then stops the server if it still runs."""
    fcntl.flock(users, fcntl.LOCK_EX)
    unused.set()
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()


def stop_database(data: Path) -> None:
    """Stops the embedded database if the server was killed and left it running."""
    from kasuwa.postgres.embedded import embedded
    from kasuwa.postgres.embedded.account import EmbeddedError

    if (data / "cluster").is_dir():
        with contextlib.suppress(EmbeddedError, OSError):
            cluster = embedded.Cluster(data.resolve())
            if cluster.is_running():
                cluster.stop(immediate=True)


def remove_directory(directory: Path) -> None:
    """Removes a directory, again where a process of a killed server still writes into it."""
    until = time.monotonic() + STOP_SECONDS
    while directory.exists() and time.monotonic() < until:
        shutil.rmtree(directory, ignore_errors=True)
        if directory.exists():
            time.sleep(POLL_SECONDS)


def main() -> None:
    # The guardian is nobody's child, so that whoever started it need not wait for it.
    if os.fork() == 0:
        os.setsid()
        run(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
