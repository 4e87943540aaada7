"""The list of production dependencies, as CycloneDX 1.6: `python -m kasuwa.evidence.sbom FILE [REQUIREMENTS]`.

It is read from the metadata of what is installed, beginning with this package, so it names what runs. With a file of
pinned requirements it also has the SHA-256 of the distributions that pip accepts.
"""

import re
import sys
import uuid
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

ROOT = "kasuwa"
# A name, and the extras that are asked for.
REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
OF_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
PINNED = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


class Installed(msgspec.Struct, frozen=True):
    """A distribution that is installed, with the extras of it that others ask for."""

    distribution: metadata.Distribution
    extras: frozenset[str] = frozenset()


def required_by(installed: Installed) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields the names that a distribution and its extras require, each with the extras that are asked for."""
    for line in installed.distribution.requires or ():
        requirement, _, marker = line.partition(";")
        match, of_extra = REQUIREMENT.match(requirement), OF_EXTRA.search(marker)
        if match is not None and (of_extra is None or canonical(of_extra[1]) in installed.extras):
            extras = (match[2] or "").split(",")
            yield canonical(match[1]), frozenset(canonical(name.strip()) for name in extras if name.strip())


def installed_closure(root: str = ROOT) -> dict[str, Installed]:
    """Returns the installed distributions that a root needs, by name. What is not installed is left out."""
    closure: dict[str, Installed] = {}
    waiting = [(canonical(root), frozenset[str]())]
    while waiting:
        name, extras = waiting.pop()
        if name in closure and extras <= closure[name].extras:
            continue
        try:
            known = closure.get(name) or Installed(metadata.distribution(name))
        except metadata.PackageNotFoundError:
            continue
        closure[name] = Installed(known.distribution, known.extras | extras)
        waiting += required_by(closure[name])
    return dict(sorted(closure.items()))


def read_hashes(requirements: str) -> dict[str, list[str]]:
    """Returns the hashes of each pinned requirement."""
    hashes: dict[str, list[str]] = {}
    name = ""
    for line in requirements.splitlines():
        pinned = PINNED.match(line)
        if pinned is not None:
            name = f"{canonical(pinned[1])}@{pinned[2]}"
        hashes.setdefault(name, []).extend(HASH.findall(line))
    return hashes


def describe(name: str, distribution: metadata.Distribution, hashes: dict[str, list[str]]) -> dict[str, Any]:
    version = distribution.version
    fields = distribution.metadata
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
    }
    if "License-Expression" in fields:
        component["licenses"] = [{"expression": fields["License-Expression"]}]
    known = hashes.get(f"{name}@{version}", [])
    if known:
        component["properties"] = [{"name": "kasuwa:distribution:sha256", "value": value} for value in known]
    return component


def make_sbom(requirements: str = "") -> dict[str, Any]:
    """Returns the document. It depends on what is installed alone."""
    closure = installed_closure()
    hashes = read_hashes(requirements)
    components = {name: describe(name, installed.distribution, hashes) for name, installed in closure.items()}
    own = components.pop(ROOT)
    refs = {name: component["bom-ref"] for name, component in components.items()} | {ROOT: own["bom-ref"]}
    dependencies = [
        {"ref": refs[name], "dependsOn": sorted({refs[other] for other, _ in required_by(installed) if other in refs})}
        for name, installed in closure.items()
    ]
    content = msgspec.json.encode([own, list(components.values())])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content.decode())}",
        "version": 1,
        "metadata": {"component": own | {"type": "application"}},
        "components": list(components.values()),
        "dependencies": dependencies,
    }


def encode_sbom(requirements: str = "") -> bytes:
    return msgspec.json.format(msgspec.json.encode(make_sbom(requirements)), indent=1) + b"\n"


def main(words: list[str]) -> None:
    target, *arguments = words
    Path(target).write_bytes(encode_sbom(Path(arguments[0]).read_text() if arguments else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
