"""deploy/Dockerfile and .dockerignore, as far as they can be checked without a build. image_checks.py builds it."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.deploy.dockerfile import (
    context_files,
    copied_files,
    ignore_patterns,
    is_included,
    read_instruction,
    read_stages,
)
from tests.source_rules import REPOSITORY

BUILD, IMAGE = read_stages()


def test_the_image_is_started_without_a_shell_by_process_one_that_passes_signals_on() -> None:
    assert IMAGE.only("ENTRYPOINT").arguments == ("tini", "--", "kasuwa")
    assert IMAGE.only("CMD").arguments == ("serve",)
    assert IMAGE.only("STOPSIGNAL").arguments == ("SIGTERM",)


def test_the_image_is_not_run_by_root_and_writes_to_one_volume() -> None:
    user, group = IMAGE.only("USER").arguments[0].split(":")
    assert int(user) >= 10_000
    assert int(group) >= 10_000
    (volume,) = IMAGE.only("VOLUME").arguments
    assert IMAGE.environment()["KASUWA_DATA"] == volume == IMAGE.only("WORKDIR").arguments[0]
    # What comes after USER is done by that user: nothing is installed there.
    names = [instruction.name for instruction in IMAGE.instructions]
    assert {"RUN", "COPY"} & set(names[names.index("USER") :]) == set()


def test_the_health_check_asks_the_service_itself() -> None:
    check = IMAGE.only("HEALTHCHECK")
    assert check.arguments == ("kasuwa", "status")
    assert set(check.options) == {"interval", "timeout", "start-period", "retries"}


def test_every_step_is_one_of_the_install_script() -> None:
    steps = [step for stage in (BUILD, IMAGE) for run in stage.every("RUN") for step in run.arguments[2:]]
    assert steps == ["build-packages", "root", "dependencies", "package", "trim"]
    for run in (*BUILD.every("RUN"), *IMAGE.every("RUN")):
        assert run.arguments[0] == "sh"
        assert run.arguments[1].endswith("install.sh")


def test_the_image_gets_the_installed_service_and_no_sources() -> None:
    assert IMAGE.base == "scratch"
    (system, installed) = IMAGE.every("COPY")
    assert (system.options, system.arguments) == ({"from": "build"}, ("/image", "/"))
    # Not by `COPY --chown` onto the directory that is in the system already: its owner would stay.
    user, group = IMAGE.only("USER").arguments[0].split(":")
    made = f'install --directory --owner={user} --group={group} --mode=0700 "$ROOT{IMAGE.only("VOLUME").arguments[0]}"'
    assert made in (REPOSITORY / "deploy" / "install.sh").read_text()
    assert (installed.options, installed.arguments) == ({"from": "build"}, ("/opt/kasuwa", "/opt/kasuwa"))


def test_the_build_is_given_the_commit_before_the_step_that_writes_it_down() -> None:
    names = [(instruction.name, instruction.arguments) for instruction in BUILD.instructions]
    assert names[names.index(("ARG", ("COMMIT",))) + 1][1][2:] == ("package", "trim")


def test_a_change_of_the_sources_repeats_only_the_last_step() -> None:
    names = [(instruction.name, instruction.arguments) for instruction in BUILD.instructions]
    dependencies = names.index(("RUN", ("sh", "deploy/install.sh", "dependencies")))
    assert ("COPY", ("src/", "src/")) in names[dependencies:]
    before = [copy for copy in BUILD.instructions[:dependencies] if copy.name == "COPY"]
    copied = [path.as_posix() for copy in before for path, _ in copied_files(copy, context_files())]
    assert copied == ["deploy/install.sh", "requirements.txt"]


def test_the_script_refuses_a_step_that_it_does_not_have() -> None:
    done = subprocess.run(["sh", "deploy/install.sh", "packages"], cwd=REPOSITORY, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "install.sh: there is no step packages\n")


# --- the build context --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "data/secret.key",
        "deploy/secrets/secret_key",
        ".env",
        ".git/config",
        "deploy/compose.yaml",
        "tests/running.py",
        "src/kasuwa/__pycache__/app.cpython-311.pyc",
        "src/kasuwa.egg-info/PKG-INFO",
        "a/src/b.py",
        "src.py",
    ],
)
def test_the_build_does_not_see(path: str) -> None:
    assert not is_included(path, ignore_patterns())


@pytest.mark.parametrize(
    "path", ["src/kasuwa/boot/app.py", "src/kasuwa/postgres/migrations/0001_start.sql", "requirements.txt"]
)
def test_the_build_sees(path: str) -> None:
    assert is_included(path, ignore_patterns())


def test_an_unknown_instruction_is_refused() -> None:
    with pytest.raises(AssertionError, match="ADD"):
        read_instruction("ADD", "https://example.com/x /x")


def test_the_files_that_are_copied_make_a_complete_wheel(tmp_path: Path) -> None:
    """The wheel is built from the copied files alone, by the pinned setuptools, as the step `package` does."""
    files = context_files()
    for copy in BUILD.every("COPY"):
        for path, below in copied_files(copy, files):
            target = tmp_path / "src" / copy.arguments[-1] / below
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((REPOSITORY / path).read_bytes())
    words = ["--quiet", "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", "made", "./src"]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, cwd=tmp_path)
    (wheel,) = (tmp_path / "made").glob("kasuwa-*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("kasuwa/")}
    assert packed == {path.relative_to("src").as_posix() for path in files if path.parts[:2] == ("src", "kasuwa")}


def test_make_runs_the_checks_that_are_not_part_of_the_tests() -> None:
    """pytest leaves out a file that is named beside its directory, so that the files must be named alone."""
    command = ["make", "--dry-run", "--no-print-directory", "test-deploy"]
    output = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    (line,) = (line for line in output.stdout.splitlines() if "-m pytest " in line)
    named = line.partition(" -n 0 ")[2].split()
    assert named == sorted(f"tests/deploy/{path.name}" for path in Path(__file__).parent.glob("*_checks.py"))
