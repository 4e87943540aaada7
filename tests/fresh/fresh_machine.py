"""A minimal Debian of its own with what README.md asks for and nothing else, entered by an ordinary user. Needs root.

Its root is a directory made by mmdebstrap, entered by chroot in namespaces of its own. It is kept in .venv/fresh for
the next run, without the sources. The network is that of the machine; pip takes the pinned wheels from a directory,
which the pip of this machine fetches with its own settings.
"""

import contextlib
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.packages import need_package
from tests.source_rules import REPOSITORY

CACHE = REPOSITORY / ".venv" / "fresh"
# The releases of Debian, each with the series of its Python.
SUITES = {"bookworm": "3.11", "trixie": "3.13"}
PACKAGES = ("python3", "python3-venv", "make", "git")
# Of the service, and of the tests: some install programs apart from our own environment.
REQUIREMENTS = (
    "requirements.txt",
    "requirements-dev.txt",
    "tests/generators/requirements.txt",
    "tests/api/public_client_requirements.txt",
)
USER, HOME = "ada", "/home/ada"
SOURCES = f"{HOME}/kasuwa"

# Arguments: root, wheels, command. The shell stays the first process of its namespace, with which all others end: one
# that changed its user would get no signal at the end of `unshare`.
ENTER_SCRIPT = """
set -eu
root=$1 wheels=$2
shift 2
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs -o size=6g,mode=1777 shm "$root/dev/shm"
mount --bind -o ro "$wheels" "$root/mnt"
chroot "$root" setpriv --reuid=1000 --regid=1000 --clear-groups --no-new-privs env -i HOME=/home/ada USER=ada \
    PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 PIP_NO_INDEX=1 PIP_FIND_LINKS=/mnt \
    sh -c 'cd /home/ada/kasuwa && exec "$@"' sh "$@"
"""


class FreshMachine:
    def __init__(self, root: Path, wheels: Path) -> None:
        self.root = root
        self._wheels = wheels

    def start(self, *words: str, output: Path) -> "subprocess.Popen[bytes]":
        """Starts a command in the copy of the repository, as an ordinary user. All its processes end with it."""
        entered = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER_SCRIPT, "enter"]
        with output.open("wb") as out:
            command = [*entered, str(self.root), str(self._wheels), *words]
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)

    def list_processes(self) -> list[str]:
        """Returns the processes whose root is this machine's."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (process / "root").readlink() == self.root:
                    found.append(process.name)
        return found


@contextlib.contextmanager
def fresh_machine(suite: str) -> Iterator[FreshMachine]:
    """Makes the machine unless it is kept, with a new copy of the files that git has."""
    need_package("mmdebstrap", Path("/usr/bin/mmdebstrap"))
    CACHE.mkdir(parents=True, exist_ok=True)
    root = CACHE / suite
    if not (root / "complete").exists():
        shutil.rmtree(root, ignore_errors=True)
        include = f"--include={','.join(PACKAGES)}"
        account = f"--customize-hook=chroot $1 useradd --uid 1000 --create-home {USER}"
        subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", include, account, suite, root], check=True)
        (root / "complete").touch()
    sources = root / SOURCES.lstrip("/")
    shutil.rmtree(sources, ignore_errors=True)
    sources.mkdir()
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_symlink() or (REPOSITORY / name).exists():
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, sources / name, follow_symlinks=False)
    subprocess.run(["chown", "--recursive", "1000:1000", sources], check=True)
    yield FreshMachine(root, fetched_wheels(SUITES[suite]))


def fetched_wheels(python: str) -> Path:
    """Returns a directory with the pinned wheels for a series of Python, fetched once."""
    pins = b"".join((REPOSITORY / name).read_bytes() for name in REQUIREMENTS)
    directory = CACHE / f"wheels-{python}-{hashlib.sha256(pins).hexdigest()[:16]}"
    if not directory.exists():
        unfinished = CACHE / f"unfinished-{python}"
        words = [
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "--python-version",
            python,
            "--dest",
            str(unfinished),
        ]
        for name in REQUIREMENTS:
            command = [sys.executable, "-m", "pip", "--quiet", "download", *words, "-r", name]
            subprocess.run(command, check=True, cwd=REPOSITORY)
        unfinished.rename(directory)
    return directory
