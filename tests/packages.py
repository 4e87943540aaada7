"""The Debian packages that some tests need, beyond Python and make.

As root, a missing one is installed. Where that is not possible, the tests that need it are left out, and one line at
the end of the run names the packages and the number of tests. With NEED_ALL_PACKAGES=1 in the environment, such a test
is an error instead.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

NGINX = Path("/usr/sbin/nginx")
STRICT = "NEED_ALL_PACKAGES"
REASON = "needs the package "


class PackageMissing(Exception):
    """A package is not installed, and nothing may be left out. The text names it."""


def need_package(package: str, installed_path: Path) -> None:
    """Returns if the package that has this file is installed, now or before. Otherwise it leaves out the running test,
    or raises PackageMissing where nothing may be left out."""
    if installed_path.exists() or install(package, installed_path):
        return
    if os.environ.get(STRICT) == "1":
        raise PackageMissing(f"{installed_path} is missing: install the package {package}")
    pytest.skip(f"{REASON}{package}")


def find_program(name: str, package: str, installed_path: Path) -> Path:
    """Returns a program of the PATH, else that of a package, which is needed then (see `need_package`)."""
    found = shutil.which(name)
    if found is not None:
        return Path(found)
    need_package(package, installed_path)
    return installed_path


def find_curl() -> Path:
    return find_program("curl", "curl", Path("/usr/bin/curl"))


def find_nginx() -> Path:
    """Returns Debian's nginx, which is not in the PATH of ordinary users."""
    need_package("nginx", NGINX)
    return NGINX


def find_openssl() -> Path:
    return find_program("openssl", "openssl", Path("/usr/bin/openssl"))


def find_php() -> Path:
    return find_program("php", "php-cli", Path("/usr/bin/php"))


def find_php_with_curl() -> Path:
    """Returns php if it has its extension curl, which is a package of its own."""
    php = find_php()
    program = "echo extension_loaded('curl') ? '' : ini_get('extension_dir');"
    missing_in = subprocess.run([php, "-r", program], capture_output=True, text=True, check=True).stdout
    if missing_in:
        need_package("php-curl", Path(missing_in, "curl.so"))
    return php


def find_java() -> Path:
    return find_program("java", "default-jre-headless", Path("/usr/bin/java"))


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install(package: str, installed_path: Path) -> bool:
    """Installs a package if we may, one process at a time. Returns whether the file is there then."""
    if not may_install():
        return False
    with Path(tempfile.gettempdir(), "kasuwa-apt.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed_path.exists():
            subprocess.run(["apt-get", "update"], check=False)
            subprocess.run(["apt-get", "install", "--yes", package], check=False)
    return installed_path.exists()


def describe_left_out(reasons: Iterable[str]) -> str | None:
    """Returns the line about tests that were left out, or None. `reasons` are those of all skipped tests."""
    packages = Counter(reason.partition(REASON)[2] for reason in reasons if REASON in reason)
    if not packages:
        return None
    counts = ", ".join(f"{count} that need {package}" for package, count in sorted(packages.items()))
    return f"left out: {counts}. To run them: apt-get install {' '.join(sorted(packages))}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    line = describe_left_out(str(report.longrepr[2]) for report in skipped if isinstance(report.longrepr, tuple))
    if line is not None:
        terminalreporter.write_line(line, yellow=True)
