"""The image of deploy/Dockerfile, built and run in a Debian of its own. `make test-deploy` runs this file, as root.

It is not part of `make test`, because a first build takes minutes. test_dockerfile.py checks what needs no build.
"""

import base64
import http.client
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import kasuwa
from kasuwa.boot import supervise
from kasuwa.postgres.embedded import embedded
from tests.deploy.image import (
    COMMIT,
    SECRETS,
    Container,
    Image,
    Mounts,
    built_image,
    give_to,
    run_in_container,
    running_container,
)
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import DEMO_KEY, DEMO_MID, free_port

READY_SECONDS = 120.0
# Programs that have no use in a container that only runs.
BUILD_TOOLS = ("pip", "pip3", "gcc", "cc", "make", "git", "curl", "wget", "apt-get", "dpkg", "perl", "strip")
# A PDF with logos, holidays, a time zone, the certificates of the system.
USES = """
import io, os, ssl
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from kasuwa.core.calendar import is_business_day
file = io.BytesIO()
canvas = Canvas(file)
for kind in ("PNG", "JPEG"):
    picture = io.BytesIO()
    Image.new("RGB", (9, 9)).save(picture, kind)
    canvas.drawImage(ImageReader(picture), 0, 0)
canvas.save()
assert not is_business_day(date(2027, 10, 1)) and is_business_day(date(2027, 10, 4))
assert datetime(2027, 1, 1, tzinfo=ZoneInfo("Africa/Lagos")).utcoffset() == timedelta(hours=1)
assert os.listdir(ssl.get_default_verify_paths().capath)
print(file.getvalue()[:4].decode())
"""
TRANSFER = {"bankcode": "058", "accountnumber": "0000000000", "amount": "10.00"}


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    with built_image() as built:
        yield built


@pytest.fixture
def mounts(tmp_path: Path, image: Image) -> Mounts:
    """An empty volume and a key in a file. Others may pass the directories above, as below /var/lib/docker."""
    volume, secrets = tmp_path / "volume", tmp_path / "secrets"
    volume.mkdir()
    secrets.mkdir()
    (secrets / "secret_key").write_text(base64.b64encode(bytes(range(32))).decode() + "\n")
    for directory in (volume, secrets):
        give_to(directory, image.user)
    return Mounts(volume, secrets)


@pytest.fixture
def environment() -> dict[str, str]:
    return {
        "KASUWA_PORT": str(free_port()),
        "KASUWA_CONSOLE_PORT": str(free_port()),
        "KASUWA_SECRET_KEY_FILE": f"{SECRETS}/secret_key",
    }


@pytest.fixture
def container(image: Image, mounts: Mounts, environment: dict[str, str], tmp_path: Path) -> Iterator[Container]:
    log = tmp_path / "log"
    with running_container(image, mounts, environment, log) as running:
        until = time.monotonic() + READY_SECONDS
        while not is_ready(int(environment["KASUWA_PORT"])):
            assert running.process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield running


def is_ready(port: int) -> bool:
    try:
        with HttpConnection("127.0.0.1", port) as wire:
            return wire.send("GET", "/readyz").http == 200
    except (OSError, http.client.HTTPException):
        return False


def status_fields(process: psutil.Process) -> dict[str, str]:
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


# --- what is in it ---------------------------------------------------------------------------------------------


def test_the_image_has_the_service_and_no_build_tools(image: Image) -> None:
    assert (image.root / "opt/kasuwa/bin/kasuwa").exists()
    folders = ("opt/kasuwa/bin", "usr/local/bin", "usr/bin", "bin", "usr/sbin")
    found = [path for folder in folders for name in BUILD_TOOLS if (path := image.root / folder / name).exists()]
    assert found == []
    for name in ("pip", "setuptools"):
        assert list(image.root.glob(f"opt/kasuwa/lib/python3*/site-packages/{name}*")) == []
    assert not (image.root / "src").exists()


def test_scanners_find_the_packages_of_debian_in_the_image(image: Image) -> None:
    listed = {path.name: path.read_text() for path in (image.root / "var/lib/dpkg/status.d").iterdir()}
    assert {"libc6", "libssl3", "python3.11-minimal"} <= set(listed)
    for name, control in listed.items():
        assert f"Package: {name}\n" in control
        assert "\nVersion: " in control


def test_the_user_of_the_image_can_write_to_its_volume_only(image: Image) -> None:
    user, group = image.user
    shared = stat.S_ISVTX  # /tmp, which is everyone's
    writable = [
        path.relative_to(image.root).as_posix()
        for path in image.root.rglob("*")
        if not path.is_symlink()
        and (path.is_dir() or path.is_file())
        and ((found := path.stat()).st_uid == user or found.st_gid == group or found.st_mode & stat.S_IWOTH)
        and not found.st_mode & shared
    ]
    assert writable == ["var/lib/kasuwa"]


def test_the_image_is_smaller_than_200_megabytes(image: Image) -> None:
    """Counts the sizes of the files, which Docker shows."""
    options = ["--summarize", "--apparent-size", "--block-size=1MB"]
    output = subprocess.run(["du", *options, image.root], capture_output=True, text=True, check=True)
    assert int(output.stdout.split()[0]) < 200


def test_what_is_left_of_the_packages_does_what_the_service_needs(image: Image, mounts: Mounts) -> None:
    done = run_in_container(image, mounts, {}, ["python3", "-B", "-W", "error", "-c", USES])
    assert (done.returncode, done.stdout, done.stderr) == (0, "%PDF\n", "")


def test_the_commands_of_an_archive_of_the_log_are_in_the_image(image: Image, mounts: Mounts) -> None:
    """PostgreSQL starts them (docs/operating.md)."""
    copying = "cd /var/lib/kasuwa && echo log > a && cp a new && sync new && mv new b && cat b"
    done = run_in_container(image, mounts, {}, ["sh", "-c", copying])
    assert (done.returncode, done.stdout) == (0, "log\n"), done


def test_the_version_names_the_commit_that_the_build_is_given(image: Image, mounts: Mounts) -> None:
    done = run_in_container(image, mounts, {}, image.command("--version"))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"kasuwa {kasuwa.__version__} ({COMMIT})\n", "")


# --- how it runs -----------------------------------------------------------------------------------------------


def test_it_serves_from_a_read_only_root_as_its_user(
    container: Container, image: Image, mounts: Mounts, environment: dict[str, str]
) -> None:
    with HttpConnection("127.0.0.1", int(environment["KASUWA_PORT"])) as wire:
        shop = MerchantClient(wire, DEMO_MID, DEMO_KEY)
        assert shop.transfer(amount="10.00")["status"] == 200
    names = {process.name() for process in container.processes()}
    assert {"tini", "kasuwa api", "kasuwa worker", "kasuwa console", "postgres"} <= names
    for process in container.processes():
        fields = status_fields(process)
        assert fields["Uid"].split() == [str(image.user[0])] * 4
        assert fields["Gid"].split() == [str(image.user[1])] * 4
        assert {fields[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert fields["NoNewPrivs"] == "1"
    first = container.first_process()
    mounted = [line.split() for line in Path(f"/proc/{first.pid}/mounts").read_text().splitlines()]
    root = [options.split(",") for _, place, _, options, *_ in mounted if place == "/"]
    assert "ro" in root[-1]
    assert not (mounts.volume / "secret.key").exists()


def test_the_health_check_passes_only_while_the_service_answers(
    container: Container, image: Image, environment: dict[str, str]
) -> None:
    """Runs the command of HEALTHCHECK in the container, within its own time limit."""
    healthy = container.execute(image, environment, image.health_check)
    assert (healthy.returncode, healthy.stderr) == (0, "")
    assert f":{environment['KASUWA_PORT']}" in healthy.stdout
    serving = [process for process in container.processes() if process.name() == "kasuwa api"]
    assert serving
    for process in serving:
        process.suspend()
    try:
        hanging = container.execute(image, environment, image.health_check)
    finally:
        for process in serving:
            process.resume()
    assert hanging.returncode == 1
    assert "no answer" in hanging.stdout
    assert container.execute(image, environment, image.health_check).returncode == 0


def test_the_health_check_fails_where_no_service_runs(
    image: Image, mounts: Mounts, environment: dict[str, str]
) -> None:
    done = run_in_container(image, mounts, environment, image.health_check)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "kasuwa: no server runs on /var/lib/kasuwa\n"
    elsewhere = {**environment, "KASUWA_DATABASE_URL": "postgresql://kasuwa@127.0.0.1:1/kasuwa"}
    done = run_in_container(image, mounts, elsewhere, image.health_check)
    assert done.returncode == 1
    assert "no answer" in done.stdout


def test_a_container_cannot_write_to_its_root(image: Image, mounts: Mounts) -> None:
    done = run_in_container(image, mounts, {}, ["sh", "-c", ": > /var/lib/kasuwa/x && : > /tmp/x"])
    assert done.returncode != 0
    assert done.stderr == "sh: 1: cannot create /tmp/x: Read-only file system\n"
    assert (mounts.volume / "x").exists()


def test_a_stop_under_load_answers_what_is_in_flight_and_ends_well(
    container: Container, image: Image, environment: dict[str, str]
) -> None:
    """Every reply is complete. A connection that is refused or closed before a request was sent is no loss."""
    statuses: list[int] = []
    broken: list[str] = []

    def send_until_closed() -> None:
        try:
            with HttpConnection("127.0.0.1", int(environment["KASUWA_PORT"])) as wire:
                shop = MerchantClient(wire, DEMO_MID, DEMO_KEY)
                while True:
                    statuses.append(shop.send_fields("disburse", {"action": "transfer", **TRANSFER}).http)
        except http.client.RemoteDisconnected:
            pass  # closed between two requests
        except (OSError, http.client.HTTPException) as error:
            broken.append(repr(error))

    threads = [threading.Thread(target=send_until_closed) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(statuses) < 20:
        time.sleep(0.01)
    container.send_stop_signal(image)
    longest = supervise.LONGEST_STOP_SECONDS + embedded.LONGEST_STOP_SECONDS
    assert container.process.wait(longest) == 0
    for thread in threads:
        thread.join(longest)
    assert set(statuses) <= {200, 503}
    assert [text for text in broken if "refused" not in text and "reset" not in text] == []


def test_a_container_that_is_killed_leaves_no_process(
    image: Image, mounts: Mounts, environment: dict[str, str], tmp_path: Path
) -> None:
    """The checks must leave no servers on the machine that runs them."""
    with running_container(image, mounts, environment, tmp_path / "log") as running:
        until = time.monotonic() + READY_SECONDS
        while len(left := running.processes()) < 3:
            assert time.monotonic() < until, (tmp_path / "log").read_text()
            time.sleep(0.02)
    _, alive = psutil.wait_procs(left, timeout=READY_SECONDS)
    assert alive == []


def test_a_stop_during_the_start_ends_the_container(
    image: Image, mounts: Mounts, environment: dict[str, str], tmp_path: Path
) -> None:
    """Process 1 ignores signals that it does not handle, and Python handles SIGTERM only when it serves."""
    with running_container(image, mounts, environment, tmp_path / "log") as running:
        until = time.monotonic() + READY_SECONDS
        while not (mounts.volume / "cluster").exists():
            assert time.monotonic() < until, (tmp_path / "log").read_text()
            time.sleep(0.02)
        running.send_stop_signal(image)
        assert running.process.wait(supervise.LONGEST_STOP_SECONDS) in (0, 128 + 15)


def test_migrations_run_as_a_command_of_the_image(image: Image, mounts: Mounts) -> None:
    key = {"KASUWA_SECRET_KEY_FILE": f"{SECRETS}/secret_key"}
    first = run_in_container(image, mounts, key, image.command("migrate"))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("applied 0001")
    second = run_in_container(image, mounts, key, image.command("migrate"))
    assert second.stdout == "nothing to do: the schema is up to date\n"


def test_live_does_not_start_without_a_key(image: Image, mounts: Mounts) -> None:
    done = run_in_container(image, mounts, {"KASUWA_ENVIRONMENT": "live"}, image.command())
    assert done.returncode == 1
    assert done.stderr.startswith("kasuwa: KASUWA_SECRET_KEY is not set")
