"""Reads deploy/Dockerfile and .dockerignore: the instructions that the Dockerfile uses, and no others.

An instruction or option that is not known raises an error, so that a change of the Dockerfile cannot be passed over.
"""

import fnmatch
import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tests.source_rules import REPOSITORY

DOCKERFILE = REPOSITORY / "deploy" / "Dockerfile"
DOCKERIGNORE = REPOSITORY / ".dockerignore"

# Instructions whose arguments are a JSON list (the exec form). The shell form is not used: it has no place for signals.
EXEC_FORM = {"RUN", "ENTRYPOINT", "CMD", "VOLUME"}
WORDS = {"ARG", "COPY", "ENV", "EXPOSE", "WORKDIR", "USER", "STOPSIGNAL"}


class Instruction(msgspec.Struct, frozen=True):
    name: str
    arguments: tuple[str, ...]
    options: dict[str, str]


class Stage(msgspec.Struct):
    """One FROM and its instructions. `name` is empty for the last stage, which is the image."""

    base: str
    name: str
    instructions: list[Instruction]

    def every(self, name: str) -> list[Instruction]:
        return [instruction for instruction in self.instructions if instruction.name == name]

    def only(self, name: str) -> Instruction:
        (found,) = self.every(name)
        return found

    def environment(self) -> dict[str, str]:
        pairs = [instruction.arguments[0].partition("=") for instruction in self.every("ENV")]
        return {name: value for name, _, value in pairs}


def read_stages(text: str | None = None) -> list[Stage]:
    stages: list[Stage] = []
    for line in logical_lines(DOCKERFILE.read_text() if text is None else text):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found = re.fullmatch(r"(\S+)(?: AS (\S+))?", rest)
            assert found, line
            stages.append(Stage(found[1], found[2] or "", []))
        else:
            stages[-1].instructions.append(read_instruction(name, rest))
    return stages


def logical_lines(text: str) -> Iterator[str]:
    """Yields the lines without comments and blank lines, with continuation lines joined."""
    kept = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    yield from (line.strip() for line in "\n".join(kept).replace("\\\n", " ").splitlines())


def read_instruction(name: str, rest: str) -> Instruction:
    options: dict[str, str] = {}
    while found := re.match(r"--([a-z-]+)=(\S+)\s+", rest):
        options[found[1]] = found[2]
        rest = rest[found.end() :]
    if name == "HEALTHCHECK":
        assert rest.startswith("CMD "), rest
        return Instruction(name, tuple(json.loads(rest.removeprefix("CMD "))), options)
    if name in EXEC_FORM:
        return Instruction(name, tuple(json.loads(rest)), options)
    assert name in WORDS, f"the Dockerfile has {name}, which tests/deploy cannot read"
    return Instruction(name, tuple(rest.split()), options)


# --- the build context ----------------------------------------------------------------------------------------


def context_files(root: Path = REPOSITORY) -> list[Path]:
    """Returns the files that .dockerignore lets into the build, relative to the root of the repository."""
    patterns = ignore_patterns()
    # The first part of each exception: nothing else can be included, and the directories of tools are large.
    tops = {pattern.lstrip("!").partition("/")[0] for pattern in patterns if pattern.startswith("!")}
    found = [path for top in tops for path in (root / top, *(root / top).rglob("*")) if path.is_file()]
    paths = [path.relative_to(root) for path in found]
    return sorted(path for path in paths if is_included(path.as_posix(), patterns))


def ignore_patterns() -> list[str]:
    patterns = [line for line in DOCKERIGNORE.read_text().splitlines() if line and not line.startswith("#")]
    assert patterns[0] == "*", "the first pattern must leave everything out"
    return patterns


def is_included(path: str, patterns: list[str]) -> bool:
    """Whether a path gets into the build: the last pattern that matches it or a directory above it decides."""
    parts = path.split("/")
    above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    included = True
    for pattern in patterns:
        plain = pattern.lstrip("!").rstrip("/")
        if any(matches(candidate, plain) for candidate in above):
            included = pattern.startswith("!")
    return included


def matches(path: str, pattern: str) -> bool:
    """Whether a pattern of .dockerignore matches a whole path. `*` stays within one name, a leading `**/` does not."""
    if pattern.startswith("**/"):
        parts = path.split("/")
        return any(matches("/".join(parts[n:]), pattern[3:]) for n in range(len(parts)))
    wanted, names = pattern.split("/"), path.split("/")
    return len(wanted) == len(names) and all(map(fnmatch.fnmatchcase, names, wanted))


def copied_files(instruction: Instruction, files: list[Path]) -> list[tuple[Path, str]]:
    """Returns the context files that a COPY takes, each with its path below the destination."""
    *sources, _ = instruction.arguments
    found: list[tuple[Path, str]] = []
    for source in sources:
        taken = [
            path
            for path in files
            if path.as_posix() == source or path.as_posix().startswith(f"{source}".rstrip("/") + "/")
        ]
        assert taken, f"COPY {source}: no such file in the build context"
        found += [(path, path.relative_to(source).as_posix() if path != Path(source) else path.name) for path in taken]
    return found
