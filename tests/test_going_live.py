"""docs/going-live.md, followed as it is printed: a PostgreSQL 15 with its logins, TLS by nginx, people, the first naira
in and out, backup, an outage of the rail, and an upgrade.

The environment has the variables that the page exports, with free ports. A person's link is opened over HTTP.
"""

import contextlib
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psutil
import pytest

from kasuwa.postgres.embedded import embedded
from tests.console.test_signing_in import PASSWORD, set_up_codes
from tests.console.visitor import Visitor
from tests.packages import find_curl, find_nginx, find_openssl
from tests.printed_page import Block, Reader, Values, read_blocks
from tests.running import (
    OLDEST,
    STOP_SECONDS,
    Deployment,
    debian_bin,
    free_port,
    memory_directory,
    terminated_with_us,
)
from tests.source_rules import REPOSITORY

PAGE = REPOSITORY / "docs" / "going-live.md"
BLOCKS = read_blocks(PAGE)
EXPORTS = dict(re.findall(r"(\w+)=(\S+)", "\n".join(BLOCKS[0].lines)))
FIRST_IN = "The first naira in"
SECRETS = (
    "secret_key",
    "close_key",
    "paystack_secret_key",
    "owner_password",
    "application_password",
    "reader_password",
)
PID_FILES = ("serve.pid", "twin.pid", "nginx.pid")


@contextlib.contextmanager
def running_durable_cluster() -> Iterator[embedded.Cluster]:
    """A PostgreSQL of the oldest version that is supported, of its own, because its roles are those of the page."""
    with tempfile.TemporaryDirectory(
        prefix="kasuwa-live-", dir=memory_directory(), ignore_cleanup_errors=True
    ) as place:
        directory = Path(place)
        directory.chmod(0o711)
        cluster = embedded.start(directory, options={"shared_buffers": "64MB"}, bin_directory=debian_bin())
        pid = int((directory / "cluster" / "data" / "postmaster.pid").read_text().split()[0])
        try:
            with terminated_with_us(pid, signal.SIGQUIT, directory):
                yield cluster
        finally:
            cluster.stop(immediate=True)


class LivePage:
    """The page's variables with values of this run, and the directory in which it is followed."""

    def __init__(self, cluster: embedded.Cluster, directory: Path) -> None:
        self.directory = directory
        # Its ports and its connection are used; the page starts the service itself.
        self.deployment = Deployment(directory, cluster.dsn_for("kasuwa_live"), {})
        sockets = cluster.dsn.partition("host=")[2].partition("&")[0]
        port = cluster.dsn.rpartition("port=")[2]
        ports = {name: str(free_port()) for name in ("TLS_PORT", "CONSOLE_TLS_PORT", "TWIN_PORT")}
        self.environ = {
            **EXPORTS,
            **ports,
            "KASUWA_SOURCE": str(REPOSITORY),
            "DATABASE_ADMIN": cluster.dsn,
            "DATABASE_SERVER": f"{quote(sockets, safe='%')}:{port}".replace("/", "%2F"),
            "KASUWA_PORT": str(self.deployment.port),
            "KASUWA_CONSOLE_PORT": str(self.deployment.console_port),
            "KASUWA_METRICS_PORT": str(self.deployment.metrics_port),
            "KASUWA_PUBLIC_URL": f"https://localhost:{ports['TLS_PORT']}",
            "KASUWA_CONSOLE_URL": f"https://localhost:{ports['CONSOLE_TLS_PORT']}",
            "KASUWA_PAYSTACK_BASE_URL": f"http://127.0.0.1:{ports['TWIN_PORT']}",
            "PATH": os.pathsep.join(
                [str(Path(sys.executable).parent), str(debian_bin()), os.environ["PATH"], "/usr/sbin"]
            ),
        }

    def sign_in(self, name: str) -> Visitor:
        """Opens the link of a person, chooses a password and sets up an authenticator."""
        link = "/link/" + (self.directory / f"{name}.link").read_text().strip().rpartition("/link/")[2]
        visitor = Visitor(self.deployment)
        visitor.get(link)
        assert visitor.post(link, password=PASSWORD, again=PASSWORD).http == 303
        set_up_codes(visitor)
        return visitor

    def stop_all(self) -> None:
        self.deployment.close()
        for name in PID_FILES:
            with contextlib.suppress(OSError, ValueError, psutil.Error):
                end(psutil.Process(int((self.directory / name).read_text())))


def end(process: psutil.Process) -> None:
    """Ends a process that is not a child of ours. Where nothing collects it, it stays as a zombie."""
    process.terminate()
    until = time.monotonic() + STOP_SECONDS
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < until:
        time.sleep(0.05)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    find_nginx()
    find_openssl()
    find_curl()
    directory = tmp_path_factory.mktemp("live")
    with running_durable_cluster() as cluster:
        page = LivePage(cluster, directory)
        try:
            yield page
        finally:
            page.stop_all()


def sections() -> dict[str, list[Block]]:
    found: dict[str, list[Block]] = {}
    for block in BLOCKS[1:]:
        found.setdefault(block.section, []).append(block)
    return found


def test_every_step_of_the_page_works_as_printed(page: LivePage) -> None:
    values = Values()
    for name, blocks in sections().items():
        if name == FIRST_IN:
            page.sign_in("ada")
        with Reader(page.directory, page.environ, values, frozenset()) as reader:
            reader.follow(blocks)
    assert "secrets" in os.listdir(page.directory)
    assert (page.directory / "secrets").stat().st_mode & 0o077 == 0
    texts = [path.read_text() for path in (page.directory / "serve.log", page.directory / "serve.err")]
    for secret in SECRETS:
        assert (page.directory / "secrets" / secret).read_text().strip() not in "".join(texts)


def test_the_page_has_the_settings_that_live_needs() -> None:
    used = {name for block in BLOCKS[1:] for line in block.lines for name in re.findall(r"\$\{?([A-Z_]{3,})", line)}
    assert used - {"PWD"} <= set(EXPORTS)
    assert {block.language for block in BLOCKS} == {"sh", "console", "sql", "nginx"}
    assert all(block.file for block in BLOCKS if block.language in {"sql", "nginx"})
    assert OLDEST == 15
    assert list(sections()) == [
        "Secrets",
        "Database",
        "Start",
        "TLS",
        "People and the first merchant",
        FIRST_IN,
        "The first naira out",
        "Backup",
        "Monitoring",
        "When a rail is down",
        "Upgrade",
    ]
