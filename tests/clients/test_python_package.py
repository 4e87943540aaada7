"""The distribution kasuwa-client: built, installed into a clean environment outside the repository, and used there."""

import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from kasuwa_client import __version__
from tests.merchant_client import MerchantClient

SOURCES = Path(__file__).parents[2] / "clients" / "python"
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
CALL = """
import sys
from kasuwa_client import Kasuwa, __file__ as place
with Kasuwa(mid=sys.argv[1], key=sys.argv[2], base_url=sys.argv[3]) as shop:
    print(place, shop.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000").txn_status)
"""


def build(kind: str, folder: Path, out: Path) -> Path:
    """Builds a wheel or sdist with the pinned setuptools, without asking an index."""
    command = [sys.executable, "-c", BUILD, f"build_{kind}", str(out)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return out / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sdist, so that both are complete."""
    place = tmp_path_factory.mktemp("package")
    copy = shutil.copytree(SOURCES, place / "copy", ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    (place / "sdist").mkdir()
    archive = build("sdist", copy, place)
    subprocess.run(["tar", "--extract", "--file", archive, "--directory", place / "sdist"], check=True)
    [unpacked] = (place / "sdist").iterdir()
    return build("wheel", unpacked, place)


def dependencies_of(name: str) -> Iterator[str]:
    """Yields the distributions that one needs to run, itself included."""
    yield name
    for line in requires(name) or ():
        needed = Requirement(line)
        if needed.marker is None or needed.marker.evaluate({"extra": ""}):
            yield from dependencies_of(needed.name)


def install(environment: Path, wheel: Path) -> Path:
    """Makes an environment with the wheel and the dependencies of httpx. Returns its Python."""
    venv.create(environment, with_pip=False, symlinks=True)
    [packages] = environment.glob("lib/python*/site-packages")
    for name in set(dependencies_of("httpx")):
        for file in distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(file.locate()), packages / file)
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    subprocess.run([*pip, "check"], check=True, stdout=subprocess.DEVNULL)
    return python


def test_the_wheel_holds_the_package_its_types_and_its_metadata(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata_name] = [name for name in names if name.endswith("METADATA")]
        metadata = archive.read(metadata_name).decode()
    modules = {path.name for path in (SOURCES / "src" / "kasuwa_client").glob("*.py")}
    assert {name.partition("/")[2] for name in names if name.startswith("kasuwa_client/")} == modules | {"py.typed"}
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: anyio<5,>=4",
        "Requires-Dist: httpx<1,>=0.26",
    ]
    for line in (f"Version: {__version__}", "Requires-Python: >=3.9", "License-Expression: Apache-2.0"):
        assert line in metadata.splitlines()
    assert "# kasuwa-client" in metadata


def test_the_installed_client_calls_the_service(
    wheel: Path, tmp_path: Path, shop: MerchantClient, base_url: str
) -> None:
    python = install(tmp_path / "environment", wheel)
    command = [str(python), "-I", "-c", CALL, shop.mid, shop.key, base_url]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    place, status = done.stdout.split()
    assert Path(place).is_relative_to(tmp_path)
    assert status == "successful"
