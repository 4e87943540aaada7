"""The runtimes that the TypeScript client is tried in: node 18 to 24, Deno and Bun, as npm packages have them.

`make test-runtimes` installs them for Linux on x86-64, below the virtual environment, which takes some 600 MB. Tests
use those that are there, and the node of the system.
"""

import platform
import shutil
from pathlib import Path

from tests.node import NodeFailed, find_node, install_npm_packages, installed_packages, run_program
from tests.packages import may_install

FOLDER = Path(__file__).parent / "runtimes"
VERSION_SECONDS = 120
# The program of each, below node_modules, and its arguments before the file.
PROGRAMS: dict[str, tuple[str, ...]] = {
    "node-18": ("node-18/bin/node",),
    "node-20": ("node-20/bin/node",),
    "node-22": ("node-22/bin/node",),
    "node-24": ("node-24/bin/node",),
    "deno": ("@deno/linux-x64-glibc/deno", "run", "--allow-all", "--node-modules-dir=manual"),
    "bun": ("@oven/bun-linux-x64/bin/bun", "run"),
}


def find_runtimes() -> dict[str, tuple[str | Path, ...]]:
    """Returns the command of each runtime that is there: the node of the system, and what `install` has installed."""
    packages = installed_packages(FOLDER)
    found: dict[str, tuple[str | Path, ...]] = {"node": (find_node(),)}
    if packages is not None:
        for name, (program, *options) in PROGRAMS.items():
            if (packages / program).exists():
                found[name] = (packages / program, *options)
    return found


def install() -> None:
    """Installs all runtimes, and prints which are there and which are not."""
    if not may_install() and not (shutil.which("node") and shutil.which("npm")):
        print("node, npm: not here, nothing tried. Install the packages nodejs and npm")
        return
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        try:
            install_npm_packages(FOLDER)
        except NodeFailed as error:
            print(error)
    found = find_runtimes()
    for name, command in found.items():
        version = run_program([command[0], "--version"], Path.cwd(), VERSION_SECONDS).splitlines()[0]
        print(f"{name}: {version}")
    for name in PROGRAMS:
        if name not in found:
            print(f"{name}: not here, not tried")


if __name__ == "__main__":
    install()
