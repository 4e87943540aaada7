"""Builds and runs the image of deploy/Dockerfile without Docker. Needs root.

Each stage is a directory with a Debian of its own, made by mmdebstrap, and each RUN is a command in a chroot there.
The part that does not depend on the sources is kept in .venv/deploy for the next run, under a name made of the
instructions and the files that they copy, like the layers of an image.

A container runs in namespaces of its own: its root is mounted read-only, with one volume and the secrets mounted into
it, and its processes belong to the user of the image, without capabilities. The network is that of the machine.
"""

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import psutil

from tests.deploy.dockerfile import Instruction, Stage, context_files, copied_files, read_stages
from tests.packages import need_package
from tests.running import terminated_with_us
from tests.source_rules import REPOSITORY

CACHE = REPOSITORY / ".venv" / "deploy"
# The Debian of the Dockerfile's FROM, and its Python, for which the wheels are fetched. The image itself begins empty.
BASE, SUITE, PYTHON = "debian:bookworm-slim", "bookworm", "3.11"
EMPTY = "scratch"
# The commit that the build is told.
COMMIT = "0123456789ab"
# Where wheels and secrets are mounted. The first directory is part of every Debian.
WHEELS, SECRETS = "/mnt", "/run/secrets"
FORK_SECONDS = 10.0
ENTER = Path(__file__).with_name("enter.py")
BUILD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# Arguments: root, wheels, working directory, command.
RUN_SCRIPT = """
set -eu
root=$1 wheels=$2 directory=$3
shift 3
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --bind -o ro "$wheels" "$root/mnt"
exec chroot "$root" sh -c 'cd "$0" && exec "$@"' "$directory" "$@"
"""

# Arguments: root, volume, its mount point, secrets, command.
START_SCRIPT = """
set -eu
root=$1 volume=$2 mount_point=$3 secrets=$4
shift 4
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=1m,mode=755 dev "$root/dev"
for device in null zero random urandom; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm"
mount -t tmpfs -o size=64m,mode=1777 shm "$root/dev/shm"
mount --bind "$volume" "$root$mount_point"
mkdir -p "$root/run/secrets"
mount --bind -o ro "$secrets" "$root/run/secrets"
mount -o remount,bind,ro "$root"
exec "$@"
"""


class Image(msgspec.Struct):
    """A built image: its files, and the stage of the Dockerfile that says how it is started."""

    root: Path
    stage: Stage

    @property
    def user(self) -> tuple[int, int]:
        user, group = self.stage.only("USER").arguments[0].split(":")
        return int(user), int(group)

    @property
    def working_directory(self) -> str:
        return self.stage.every("WORKDIR")[-1].arguments[0]

    def command(self, *arguments: str) -> list[str]:
        """Returns the entry point with the given arguments, or with those of CMD."""
        return [*self.stage.only("ENTRYPOINT").arguments, *(arguments or self.stage.only("CMD").arguments)]

    @property
    def health_check(self) -> list[str]:
        return list(self.stage.only("HEALTHCHECK").arguments)

    @property
    def health_check_seconds(self) -> float:
        """The time after which a health check counts as failed."""
        return float(self.stage.only("HEALTHCHECK").options["timeout"].removesuffix("s"))


# --- building -------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def built_image() -> Iterator[Image]:
    """Builds the image in a temporary directory."""
    need_package("mmdebstrap", Path("/usr/bin/mmdebstrap"))
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="image-", dir=CACHE) as place:
        built: dict[str, Path] = {}
        files = context_files()
        for stage in read_stages():
            assert stage.base in (BASE, EMPTY), f"the Dockerfile is built on {stage.base}: tests/deploy knows {BASE}"
            root = Path(place, stage.name or "image")
            stable, changing = split_stage(stage)
            copy_tree(stable_root(stage, stable, files), root)
            apply_instructions(root, stage, changing, files, built)
            built[stage.name] = root
        yield Image(built[""], stage)


def split_stage(stage: Stage) -> tuple[list[Instruction], list[Instruction]]:
    """Splits a stage before the first instruction that depends on the sources."""
    for n, instruction in enumerate(stage.instructions):
        if instruction.name == "COPY" and (instruction.options or "src/" in instruction.arguments):
            return stage.instructions[:n], stage.instructions[n:]
    return stage.instructions, []


def stable_root(stage: Stage, instructions: list[Instruction], files: list[Path]) -> Path:
    """Returns the directory with the first part of a stage, made if the kept one is of other instructions or files."""
    name = stage.name or "image"
    kept = CACHE / f"kept-{name}-{digest(stage.base, instructions, files)}"
    if not kept.exists():
        for old in CACHE.glob(f"kept-{name}-*"):
            shutil.rmtree(old)
        with tempfile.TemporaryDirectory(prefix="stage-", dir=CACHE) as place:
            root = Path(place, "root")
            root.mkdir()
            if stage.base != EMPTY:
                subprocess.run(["tar", "--extract", "--file", debian_base(), "--directory", root], check=True)
            apply_instructions(root, stage, instructions, files, {})
            root.rename(kept)
    return kept


def digest(base: str, instructions: list[Instruction], files: list[Path]) -> str:
    found = hashlib.sha256(msgspec.json.encode([base, instructions]))
    for instruction in instructions:
        if instruction.name == "COPY":
            for path, _ in copied_files(instruction, files):
                found.update((REPOSITORY / path).read_bytes())
    return found.hexdigest()[:16]


def debian_base() -> Path:
    """Returns the archive of a minimal Debian as it is in the base image, made once."""
    archive = CACHE / f"{SUITE}.tar"
    if not archive.exists():
        unfinished = archive.with_suffix(".unfinished.tar")
        merged = "--hook-dir=/usr/share/mmdebstrap/hooks/maybe-merged-usr"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", merged, SUITE, unfinished], check=True)
        unfinished.rename(archive)
    return archive


def wheels() -> Path:
    """Returns a directory with the pinned wheels, fetched once by the pip of this machine with its own settings."""
    pins = (REPOSITORY / "requirements.txt").read_bytes()
    directory = CACHE / f"wheels-{hashlib.sha256(pins).hexdigest()[:16]}"
    if not directory.exists():
        for old in CACHE.glob("wheels-*"):
            shutil.rmtree(old)
        unfinished = CACHE / "unfinished-wheels"
        words = ["--require-hashes", "--only-binary=:all:", "--python-version", PYTHON, "--dest", str(unfinished)]
        command = [sys.executable, "-m", "pip", "--quiet", "download", *words, "-r", "requirements.txt"]
        subprocess.run(command, check=True, cwd=REPOSITORY)
        unfinished.rename(directory)
    return directory


def apply_instructions(
    root: Path, stage: Stage, instructions: list[Instruction], files: list[Path], built: Mapping[str, Path]
) -> None:
    directory = "/"
    for instruction in stage.instructions:
        is_wanted = instruction in instructions
        if instruction.name == "WORKDIR":
            directory = instruction.arguments[0]
            (root / directory.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif instruction.name == "COPY" and is_wanted:
            copy_into(root, directory, instruction, files, built)
        elif instruction.name == "RUN" and is_wanted:
            given = {name: COMMIT for name in ("COMMIT",) if stage.every("ARG")}
            run_step(root, directory, instruction.arguments, given)


def copy_into(
    root: Path, directory: str, instruction: Instruction, files: list[Path], built: Mapping[str, Path]
) -> None:
    target = root / Path(directory, instruction.arguments[-1]).as_posix().lstrip("/")
    if stage := instruction.options.get("from"):
        source = built[stage] / instruction.arguments[0].lstrip("/")
        copy_tree(source, target)
        assert instruction.options.keys() == {"from"}, instruction
        return
    for path, below in copied_files(instruction, files):
        copy = target / below
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / path, copy)


def copy_tree(source: Path, target: Path) -> None:
    """Copies the content of a directory into another, which need not exist."""
    target.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "--archive", "--reflink=auto", f"{source}/.", target], check=True)


def run_step(root: Path, directory: str, command: tuple[str, ...], given: Mapping[str, str] | None = None) -> None:
    """Runs a command of a RUN instruction. pip takes the wheels from a directory, and still checks their hashes."""
    environment = {"PATH": BUILD_PATH, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": WHEELS, **(given or {})}
    words = ["sh", "-c", RUN_SCRIPT, "sh", str(root), str(wheels()), directory, *command]
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", *words],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-4000:]}"


# --- running --------------------------------------------------------------------------------------------------


class Container:
    """A running container. `process` waits for it, and ends with its exit code."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def first_process(self) -> psutil.Process:
        """Returns process 1 of the container, as the machine sees it."""
        (first,) = psutil.Process(self.process.pid).children()
        return first

    def kill(self) -> None:
        """Ends the container with all its processes, which the system does when its process 1 is killed.

        unshare cannot do it: a process that changes its user no longer gets a signal when its parent dies."""
        with contextlib.suppress(psutil.NoSuchProcess, ValueError):
            self.first_process().kill()
        self.process.wait()

    def processes(self) -> list[psutil.Process]:
        first = self.first_process()
        return [first, *first.children(recursive=True)]

    def execute(
        self, image: Image, environment: Mapping[str, str], arguments: list[str]
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a command in this container as its user, as `docker exec` and health checks do."""
        entered = ["nsenter", "--target", str(self.first_process().pid), "--mount", "--pid", "--ipc", "--uts"]
        command = [*entered, *entering(image, environment, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=image.health_check_seconds)

    def send_stop_signal(self, image: Image) -> None:
        self.first_process().send_signal(signal.Signals[image.stage.only("STOPSIGNAL").arguments[0]])


class Mounts(msgspec.Struct):
    """The directories of the machine that a container gets."""

    volume: Path
    secrets: Path


def entering(image: Image, environment: Mapping[str, str], arguments: list[str]) -> list[str]:
    """Returns a command that runs another in the image as its user, with the variables of the image."""
    variables = {**image.stage.environment(), **environment}
    settings = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    user, group = image.user
    python = str(Path(sys.executable).resolve())
    return [
        *settings,
        python,
        "-IS",
        str(ENTER),
        str(image.root),
        str(user),
        str(group),
        image.working_directory,
        *arguments,
    ]


def container_command(image: Image, mounts: Mounts, environment: Mapping[str, str], arguments: list[str]) -> list[str]:
    (mount_point,) = image.stage.only("VOLUME").arguments
    script = [START_SCRIPT, "sh", str(image.root), str(mounts.volume), mount_point, str(mounts.secrets)]
    spaces = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
    return [*spaces, "sh", "-c", *script, *entering(image, environment, arguments)]


@contextlib.contextmanager
def running_container(image: Image, mounts: Mounts, environment: Mapping[str, str], log: Path) -> Iterator[Container]:
    command = container_command(image, mounts, environment, image.command())
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    container = Container(process)
    try:
        with terminated_with_us(wait_for_child(process).pid, signal.SIGKILL):
            yield container
    finally:
        container.kill()


def wait_for_child(process: "subprocess.Popen[bytes]") -> psutil.Process:
    """Returns the process that unshare forks, which becomes process 1 of the container."""
    until = time.monotonic() + FORK_SECONDS
    while not (children := psutil.Process(process.pid).children()):
        assert time.monotonic() < until, "unshare has started nothing"
        time.sleep(0.01)
    return children[0]


def run_in_container(
    image: Image, mounts: Mounts, environment: Mapping[str, str], arguments: list[str]
) -> "subprocess.CompletedProcess[str]":
    """Runs a command in a container of its own, and returns how it ended."""
    return subprocess.run(container_command(image, mounts, environment, arguments), capture_output=True, text=True)


def give_to(directory: Path, user: tuple[int, int]) -> None:
    """Makes a directory and its files readable for one user alone, as secrets of a container should be."""
    for path in (directory, *directory.iterdir()):
        os.chown(path, *user)
        path.chmod(0o700 if path.is_dir() else 0o400)
