"""The list of dependencies names what is installed and runs."""

import json
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from kasuwa.evidence.sbom import make_sbom

REPOSITORY = Path(__file__).parents[2]
PINNED = REPOSITORY / "requirements.txt"


def test_it_names_the_production_dependencies_and_no_others() -> None:
    found = {component["name"]: component["version"] for component in make_sbom()["components"]}
    pinned = dict(re.findall(r"^([a-z0-9.\-_]+)==([^\s;]+)", PINNED.read_text(), re.MULTILINE | re.IGNORECASE))
    # uvloop is asked for as an extra. setuptools builds, and does not run.
    assert {"asyncpg", "msgspec", "granian", "uvloop"} <= found.keys() == pinned.keys() - {"setuptools"}
    assert all(metadata.version(name) == version for name, version in found.items())
    assert "pytest" not in found


def test_it_is_the_same_each_time_and_complete() -> None:
    document = make_sbom()
    assert document == make_sbom()
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    refs = {component["bom-ref"] for component in document["components"]}
    refs.add(document["metadata"]["component"]["bom-ref"])
    named = {ref for one in document["dependencies"] for ref in (one["ref"], *one["dependsOn"])}
    assert named == refs


def test_a_release_has_the_hashes_of_the_pinned_distributions(tmp_path: Path) -> None:
    target = tmp_path / "sbom.json"
    subprocess.run([sys.executable, "-m", "kasuwa.evidence.sbom", target, PINNED], check=True)
    document = json.loads(target.read_bytes())
    [msgspec] = [component for component in document["components"] if component["name"] == "msgspec"]
    hashes = [one["value"] for one in msgspec["properties"] if one["name"] == "kasuwa:distribution:sha256"]
    assert hashes
    assert all(f"--hash=sha256:{value}" in PINNED.read_text() for value in hashes)
