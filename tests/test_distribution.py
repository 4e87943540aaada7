"""The distributions as their users get them: made by `make release` in a clean clone, installed into a clean
environment, and run outside the repository."""

import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kasuwa
from tests.clients.test_python_package import dependencies_of
from tests.merchant_client import MerchantClient
from tests.node import find_npm, run_node
from tests.packages import find_php_with_curl, need_package
from tests.running import DEMO_KEY, DEMO_MID, Deployment, Deployments, stop
from tests.serving import FREE_PORTS, STOP_SECONDS
from tests.simulate.processes import wait_until
from tests.source_rules import REPOSITORY

pytestmark = pytest.mark.xdist_group("distribution")

# Made by tools and by running servers: in the root directory, and anywhere.
MADE_IN_ROOT = {".git", ".venv", "data", "build", "dist"}
MADE_ANYWHERE = shutil.ignore_patterns("node_modules", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis")
TRANSFER = {
    "action": "transfer",
    "amount": "1500.00",
    "bankcode": "058",
    "accountnumber": "0000000000",
    "orderRef": "first",
}
INSTALL_SECONDS = 600
SYSTEM_PYTHON = Path("/usr/bin/python3")


def not_sources(directory: str, names: list[str]) -> set[str]:
    return MADE_ANYWHERE(directory, names) | (MADE_IN_ROOT if Path(directory) == REPOSITORY else set())


# Who commits and tags in the clone.
COMMITTER = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "Ada"), ("EMAIL", "ada@example.com"))
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean clone of the repository in which `make release` has run to its end, or without npm `make dist`. It uses
    this environment instead of one of its own, which would take minutes."""
    place = tmp_path_factory.mktemp("released") / "clone"
    shutil.copytree(REPOSITORY, place, ignore=not_sources, symlinks=True)
    program = place / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    program.chmod(0o755)
    run_in(place, "git", "init", "--quiet")
    run_in(place, "git", "add", "--all")
    run_in(place, "git", "commit", "--quiet", "--message", "Begin")
    (place / ".venv" / ".stamp").write_text(f"{place}\n")
    release = ("release", f"VERSION={kasuwa.__version__}") if shutil.which("npm") else ("dist",)
    run_in(place, "make", "--no-print-directory", *release)
    return place


@pytest.fixture(scope="module")
def built(clone: Path) -> Path:
    """The directory with the distributions."""
    return clone / "dist"


def run_in(place: Path, *command: str) -> str:
    # Packages of npm that were installed before are not asked for again.
    environ = {**os.environ, **COMMITTER, "npm_config_prefer_offline": "true"}
    done = subprocess.run(command, cwd=place, env=environ, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_release_has_every_distribution_and_a_tag_and_leaves_the_clone_clean(clone: Path) -> None:
    find_npm()
    version = kasuwa.__version__
    assert sorted(path.name for path in (clone / "dist").iterdir()) == [
        f"kasuwa-{version}-py3-none-any.whl",
        f"kasuwa-{version}.tar.gz",
        f"kasuwa-client-{version}.tgz",
        f"kasuwa-client-php-{version}.zip",
        f"kasuwa_client-{version}-py3-none-any.whl",
        f"kasuwa_client-{version}.tar.gz",
        "sbom.json",
    ]
    assert run_in(clone, "git", "tag") == f"v{version}\n"
    assert run_in(clone, "git", "status", "--porcelain") == ""
    listed = json.loads((clone / "dist" / "sbom.json").read_text())
    pinned = {str(canonicalize_name(name)) for name in pins("requirements.txt")} - {"setuptools"}
    assert {one["name"] for one in listed["components"]} == pinned


def test_the_npm_package_is_installed_and_tells_its_version(clone: Path, tmp_path: Path) -> None:
    npm = find_npm()
    package = clone / "dist" / f"kasuwa-client-{kasuwa.__version__}.tgz"
    run_in(tmp_path, str(npm), "install", "--offline", "--no-audit", "--no-fund", str(package))
    script = 'import { VERSION } from "kasuwa-client"; console.log(VERSION);'
    assert run_node(["--input-type=module", "--eval", script], tmp_path) == f"{kasuwa.__version__}\n"


def test_the_zip_of_the_php_client_runs_without_the_clone(clone: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(clone / "dist" / f"kasuwa-client-php-{kasuwa.__version__}.zip") as packed:
        packed.extractall(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"composer.json", "README.md", "LICENSE", "src"}
    load = "spl_autoload_register(fn ($name) => require strtr(substr($name, 7), '\\\\', '/') . '.php');"
    program = f"{load} chdir('src'); echo (new Kasuwa\\Kasuwa(mid: 'GP1', key: '1'))::VERSION;"
    assert run_in(tmp_path, str(find_php_with_curl()), "-r", program) == kasuwa.__version__


@pytest.mark.parametrize("version", ["", "0.0.1"])
def test_a_release_of_another_version_than_that_of_the_sources_is_refused(clone: Path, version: str) -> None:
    command = ["make", "--no-print-directory", "release", f"VERSION={version}"]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True)
    assert done.returncode != 0
    assert ("Which one?" if not version else f"CHANGELOG.md has no section '## {version}'.") in done.stdout


def test_distributions_are_built_without_the_development_environment() -> None:
    command = ["make", "--dry-run", "--always-make", "--no-print-directory", "dist"]
    lines = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert "requirements.txt" in lines
    assert "requirements-dev.txt" not in lines
    assert "npm pack" in lines


# Where the version stands besides src/kasuwa/__init__.py.
VERSIONED = {
    "CHANGELOG.md": "\n## {}\n",
    "clients/php/composer.json": '\n    "version": "{}",\n',
    "clients/php/src/Kasuwa.php": "VERSION = '{}'",
    "clients/python/pyproject.toml": '\nversion = "{}"\n',
    "clients/python/src/kasuwa_client/_version.py": '\n__version__ = "{}"\n',
    "clients/typescript/package.json": '\n  "version": "{}",\n',
    "clients/typescript/package-lock.json": '\n  "version": "{}",\n',
    "clients/typescript/src/version.ts": 'VERSION = "{}"',
    "deploy/Dockerfile": "--tag kasuwa:{} ",
    "deploy/compose.yaml": "kasuwa:{}",
    "deploy/helm/kasuwa/Chart.yaml": "\nappVersion: {}\n",
}


@pytest.mark.parametrize("path", VERSIONED)
def test_every_part_has_the_version_of_the_service(path: str) -> None:
    assert VERSIONED[path].format(kasuwa.__version__) in (REPOSITORY / path).read_text()


def wheel_of(built: Path, name: str = "kasuwa") -> Path:
    [found] = built.glob(f"{name}-*.whl")
    return found


def metadata_of(built: Path) -> Message:
    with zipfile.ZipFile(wheel_of(built)) as wheel:
        return BytesParser().parsebytes(wheel.read(f"kasuwa-{kasuwa.__version__}.dist-info/METADATA"))


# --- what is in it ----------------------------------------------------------------------------------------------


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Path) -> None:
    sources = REPOSITORY / "src"
    # Pages of docs/ are part of the package by links.
    expected = {
        Path(folder, name).relative_to(sources).as_posix()
        for folder, _, names in os.walk(sources / "kasuwa", followlinks=True)
        for name in names
        if "__pycache__" not in folder
    }
    with zipfile.ZipFile(wheel_of(built)) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == expected | {"kasuwa/data/commit.txt"}
    assert "kasuwa/py.typed" in names


def test_the_source_distribution_has_what_is_needed_to_build_and_the_license(built: Path) -> None:
    root = f"kasuwa-{kasuwa.__version__}"
    with tarfile.open(built / f"{root}.tar.gz") as archive:
        names = set(archive.getnames())
    for name in ("pyproject.toml", "requirements.in", "README.md", "LICENSE", "src/kasuwa/__init__.py"):
        assert f"{root}/{name}" in names
    assert {name.split("/")[1] for name in names if "/" in name and name.count("/") > 1} == {"src"}


def test_the_metadata_describe_the_package(built: Path) -> None:
    found = metadata_of(built)
    assert (found["Name"], found["Version"]) == ("kasuwa", kasuwa.__version__)
    assert (found["License-Expression"], found.get_all("License-File")) == ("Apache-2.0", ["LICENSE"])
    assert (found["Author"], found["Requires-Python"]) == ("Kasuwa contributors", ">=3.11")
    assert found["Summary"]
    assert found["Keywords"]
    assert "Typing :: Typed" in found.get_all("Classifier", [])
    assert str(found.get_payload()).startswith("# Kasuwa\n")
    assert sorted(found.get_all("Provides-Extra", [])) == ["mcp", "testing"]


def test_every_dependency_has_a_floor_that_the_pinned_version_satisfies(built: Path) -> None:
    pinned = pins("requirements.txt")
    needs = [Requirement(line) for line in metadata_of(built).get_all("Requires-Dist", [])]
    for need in needs:
        assert [one.operator for one in need.specifier] == [">="], need
        if need.marker is None:
            assert need.specifier.contains(pinned[canonicalize_name(need.name)]), need
    assert sorted(need.name for need in needs if need.marker is not None) == [
        "kasuwa-client",
        "kasuwa-client",
        "mcp",
        "pytest",
    ]
    assert "setuptools" not in [need.name for need in needs], "it is needed to build, not to run"


def test_no_distribution_and_no_list_of_requirements_names_a_package_index() -> None:
    index = re.compile(r"--(extra-)?index-url|--find-links|--trusted-host|://")
    for path in REPOSITORY.glob("requirements*"):
        assert not index.search(path.read_text()), path.name


# --- what it does where it is installed ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A directory outside the repository that every user may enter, unlike those of pytest."""
    with tempfile.TemporaryDirectory(prefix="kasuwa-installed-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)


def users() -> list[str]:
    """Root and an ordinary user, or whoever runs the tests."""
    return ["root", "nobody"] if os.geteuid() == 0 else [pwd.getpwuid(os.geteuid()).pw_name]


def interpreter_for_all() -> str:
    """Returns a Python that every user of these tests can run: this one, or Debian's if this one is in root's home."""
    ours = str(Path(sys.executable).resolve())
    if can_run(ours):
        return ours
    need_package("python3", SYSTEM_PYTHON)
    assert can_run(str(SYSTEM_PYTHON)), f"{SYSTEM_PYTHON} is not Python 3.11 or later"
    return str(SYSTEM_PYTHON)


def can_run(python: str, fault: str = "sys.version_info < (3, 11)") -> bool:
    """Returns whether every user can run an interpreter, and the expression is false there."""
    check = [python, "-c", f"import sys; sys.exit({fault})"]
    try:
        return subprocess.run(check, capture_output=True, cwd="/", **rights_of(users()[-1])).returncode == 0
    except PermissionError:
        return False


def rights_of(name: str) -> dict[str, Any]:
    """Returns the options of a subprocess that runs as a user."""
    entry = pwd.getpwnam(name)
    if entry.pw_uid == os.geteuid():
        return {}
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@pytest.fixture(scope="module")
def program(built: Path, place: Path) -> Path:
    """The command `kasuwa` of an environment with the wheel and the pinned requirements, and nothing else."""
    environment = place / "environment"
    interpreter = interpreter_for_all()
    subprocess.run([interpreter, "-m", "venv", "--without-pip", str(environment)], check=True)
    if has_our_bytecode(interpreter):
        link_packages(environment, pins("requirements.txt"))
    else:
        requirements = str(REPOSITORY / "requirements.txt")
        run_pip(environment, "install", "--quiet", "--no-compile", "--require-hashes", "-r", requirements)
    run_pip(environment, "install", "--quiet", "--no-compile", "--no-deps", "--no-index", str(wheel_of(built)))
    run_pip(environment, "check")
    return environment / "bin" / "kasuwa"


def run_pip(environment: Path, *words: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "--disable-pip-version-check"]
    done = subprocess.run([*pip, *words], capture_output=True, text=True, timeout=INSTALL_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


def has_our_bytecode(python: str) -> bool:
    """Returns whether packages of this environment fit an interpreter that every user can run."""
    return can_run(python, "sys.implementation.cache_tag != " + repr(sys.implementation.cache_tag))


def link_packages(environment: Path, versions: dict[str, str]) -> None:
    """Installs pinned packages as hard links to the files of this environment, which pip has checked by their hashes.
    It takes a second, and installing them again a minute."""
    [target] = environment.glob("lib/python*/site-packages")
    for name, version in versions.items():
        installed = distribution(name)
        assert installed.version == version, f"{name}: this environment is not that of the lists of requirements"
        for listed in installed.files or ():
            source = Path(str(installed.locate_file(listed)))
            # Commands of the packages are not needed, and name the interpreter of this environment.
            if ".." in listed.parts or "__pycache__" in listed.parts or not source.is_file():
                continue
            (target / listed).parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(source, target / listed)


def link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # on another file system
        shutil.copy2(source, target)


def pins(name: str) -> dict[str, str]:
    """Returns the pinned versions of a list of requirements."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (REPOSITORY / name).read_text(), re.MULTILINE))


class User:
    """A user who runs the installed command in a home directory of the test."""

    def __init__(self, name: str, program: Path, home: Path) -> None:
        self.home = home
        self._program = program
        self._rights = rights_of(name)

    @classmethod
    def with_new_home(cls, name: str, program: Path, place: Path) -> "User":
        home = place / name
        home.mkdir(parents=True)
        entry = pwd.getpwnam(name)
        os.chown(home, entry.pw_uid, entry.pw_gid)
        return cls(name, program, home)

    def start(self, *words: str, **environ: str) -> "subprocess.Popen[str]":
        # As cron would: a bare environment, nothing of this repository.
        given = {"PATH": os.defpath, "HOME": str(self.home), **environ}
        return subprocess.Popen(
            [str(self._program), *words],
            env=given,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **self._rights,
        )

    def run(self, *words: str, **environ: str) -> tuple[int, str, str]:
        process = self.start(*words, **environ)
        out, err = process.communicate(timeout=STOP_SECONDS)
        return process.returncode, out, err


def transfer(url: str) -> Any:
    request = urllib.request.Request(
        f"{url}/disburse",
        data=json.dumps(TRANSFER).encode(),
        headers={"mid": DEMO_MID, "key": DEMO_KEY},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.load(reply)


@pytest.mark.parametrize("name", users())
def test_it_serves_from_a_clean_environment_with_data_in_the_home_directory(
    name: str, program: Path, place: Path, clone: Path
) -> None:
    commit = run_in(clone, "git", "rev-parse", "--short=12", "HEAD").strip()
    user = User.with_new_home(name, program, place)
    data = user.home / ".local" / "share" / "kasuwa"
    assert user.run("--version") == (0, f"kasuwa {kasuwa.__version__} ({commit})\n", "")
    assert user.run("status") == (1, "", f"kasuwa: no server runs on {data}\n")
    assert user.run("audit")[0] == 1
    assert list(user.home.iterdir()) == [], "a command that looks creates nothing"
    ready_file = user.home / "ready.json"
    server = user.start("serve", *FREE_PORTS, "--ready-file", str(ready_file))
    try:
        wait_until("it is ready or has ended", lambda: ready_file.exists() or server.poll() is not None)
        assert server.poll() is None, server.communicate()
        ready = json.loads(ready_file.read_text())
        assert ready["data"] == str(data)
        assert transfer(ready["url"])["txnStatus"] == "successful"
        with urllib.request.urlopen(f"{ready['url']}/docs/guides/errors.html", timeout=30) as page:
            assert b"Handle errors" in page.read()
        code, out, err = user.run("status", "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["url"] == ready["url"]
    finally:
        server.terminate()
        out, err = server.communicate(timeout=STOP_SECONDS)
    assert (server.returncode, err) == (0, "")
    assert f"Data: {data}\n" in out
    assert sorted(path.name for path in user.home.iterdir()) == [".local"]


def test_the_guide_to_upgrades_leads_from_a_serving_version_to_an_installed_one(
    built: Path, place: Path, tmp_path: Path, deployments: Deployments
) -> None:
    """Its lines are run as printed. Only the packages are linked: an index would have to be asked for them."""
    page = (REPOSITORY / "docs" / "upgrade.md").read_text()
    section = page.partition("\n## Upgrade\n")[2].partition("\n## ")[0]
    [block] = re.findall("```sh\n(.*?)```", section, re.DOTALL)
    make, packages, install = block.splitlines()
    assert packages == "/opt/kasuwa-new/bin/pip install --require-hashes -r requirements.txt"
    new = place / "new"
    run_in(built, "sh", "-ec", make.replace("python3", sys.executable).replace("/opt/kasuwa-new", str(new)))
    link_packages(new, pins("requirements.txt"))
    run_in(built, "sh", "-ec", install.replace("/opt/kasuwa-new", str(new)))
    before, after = section.split("Stop the old `serve` and start the new one")
    commands = [re.findall("`kasuwa ([^`]+)`", part) for part in (before, after)]
    assert commands == [["migrate --dry-run", "migrate"], ["status --wait 60", "doctor", "audit"]]
    deployment = Deployment(tmp_path / "serve", deployments.migrated_database("upgraded"), {})
    deployment.directory.mkdir()
    program = new / "bin" / "kasuwa"

    def run(line: str) -> tuple[int, str]:
        done = deployment.run_program(str(program), *line.split())
        return done.returncode, done.stderr

    process = deployment.start()
    try:
        deployment.wait_ready(process)
        shop = deployment.open_shop()
        shop.connection.close()
        assert [run(line) for line in commands[0]] == [(0, ""), (0, "")]
        stop(process)
        process = deployment.start_program(str(program))
        checked = {line: run(line) for line in commands[1]}
        # It ends with 1 if there is something to look at, such as a database without a backup.
        assert checked.pop("doctor") in ((0, ""), (1, ""))
        assert checked == {"status --wait 60": (0, ""), "audit": (0, "")}
        with deployment.connect() as wire:
            assert MerchantClient(wire, shop.mid, shop.key).put("resources", inquire="wallet").body["status"] == 200
    finally:
        deployment.close()
        stop(process)


@pytest.mark.parametrize("name", users()[-1:])
def test_a_home_directory_that_cannot_be_used_is_named_in_one_line(name: str, program: Path, place: Path) -> None:
    home = place / "closed"
    home.mkdir(mode=0o555)
    code, out, err = User(name, program, home).run("serve", *FREE_PORTS)
    assert (code, out) == (1, "")
    assert err.startswith(f"kasuwa: {home}/.local/share/kasuwa cannot be written (Permission denied): ")
    assert err.endswith("choose another data directory with --data or KASUWA_DATA\n")
    assert err.count("\n") == 1


def test_a_user_without_an_account_is_asked_for_a_data_directory(program: Path) -> None:
    """Only root can run as a number without an account. Others have one, and are found a directory."""
    rights: dict[str, Any] = {"user": 54321, "group": 54321, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [str(program), "doctor"], env={"PATH": os.defpath}, cwd="/", capture_output=True, text=True, **rights
    )
    assert done.returncode == 1
    if rights:
        expected = "kasuwa: this user has no home directory: choose a data directory with --data or KASUWA_DATA\n"
        assert (done.stdout, done.stderr) == ("", expected)
    else:
        home = pwd.getpwuid(os.geteuid()).pw_dir
        assert f"{home}/.local/share/kasuwa" in done.stdout


def test_mcp_without_its_extra_says_how_to_install_it(program: Path) -> None:
    done = subprocess.run([str(program), "mcp"], env={"PATH": os.defpath}, cwd="/", capture_output=True, text=True)
    expected = "kasuwa: mcp needs the package mcp: pip install 'kasuwa[mcp]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", expected)


# --- kasuwa[testing] ----------------------------------------------------------------------------------------------

PLUGIN_TEST = """\
def test_a_transfer(kasuwa):
    kasuwa.client.disburse.transfer(amount="1500.00", bankcode="058", accountnumber="0000000000")
    assert kasuwa.events.one("transfer").txn_status == "successful"
"""


def test_the_extra_testing_brings_the_plugin_and_what_it_needs(program: Path, built: Path, place: Path) -> None:
    """Comes after the tests of the environment without it."""
    environment = program.parent.parent
    python = environment / "bin" / "python"
    missing = subprocess.run([python, "-c", "import kasuwa_client"], capture_output=True, text=True)
    assert "No module named 'kasuwa_client'" in missing.stderr
    pinned = pins("requirements-dev.txt")
    extra, client = f"kasuwa[testing] @ {wheel_of(built).as_uri()}", str(wheel_of(built, "kasuwa_client"))
    if has_our_bytecode(str(python)):
        # pip finds these installed, and would fail without an index if another were needed.
        needed = {canonicalize_name(name) for top in ("pytest", "httpx") for name in dependencies_of(top)}
        link_packages(environment, {name: pinned[name] for name in needed - set(pins("requirements.txt"))})
        options = ["--no-index"]
    else:
        constraints = place / "constraints.txt"
        constraints.write_text("\n".join(f"{name}=={version}" for name, version in pinned.items()))
        options = ["--constraint", str(constraints)]
    run_pip(environment, "install", "--quiet", "--no-compile", *options, client, extra)
    run_pip(environment, "check")
    user = User.with_new_home(users()[-1], python, place / "testing")
    (user.home / "test_shop.py").write_text(PLUGIN_TEST)
    code, out, err = user.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--basetemp", str(user.home / "temp"))
    assert (code, err) == (0, ""), out
    assert "1 passed" in out
