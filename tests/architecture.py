"""docs/architecture.md, drawn from the imports by `python -m tests.architecture`; test_architecture.py compares."""

import ast

from tests.source_rules import REPOSITORY, Source, imported_modules, read_all
from tests.source_rules_imports import FLOORS

PAGE = REPOSITORY / "docs" / "architecture.md"
HEAD = """\
# Architecture

Drawn from the sources by `python -m tests.architecture`. `tests/test_tidy.py` keeps to it.

## Floors

A package imports itself and the packages on the floors below it, never one above. `core`, `terms`, `transactions`,
`wire` and `ledger` are pure: no clock, no I/O.

"""


def edges(sources: list[Source]) -> dict[tuple[str, str], int]:
    """Returns the number of imports from one package to another."""
    modules = {source.module for source in sources}
    found: dict[tuple[str, str], int] = {}
    for source in sources:
        for target in set(imported_modules(source, modules)):
            pair = (source.package, target.partition(".")[0])
            if pair[0] != pair[1] and "" not in pair:
                found[pair] = found.get(pair, 0) + 1
    return found


def summary_of(source: Source) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = " ".join((ast.get_docstring(source.tree) or "").split("\n\n")[0].split())
    return text.replace("|", "\\|")


def draw() -> str:
    sources = [source for source in read_all("src/kasuwa") if source.name != "__init__.py"]
    beneath = edges(sources)
    lines = ["| Package | Imports |", "|---|---|"]
    for package in reversed(FLOORS):
        below = [other for other in FLOORS if (package, other) in beneath]
        lines += [f"| `{package}` | {', '.join(f'`{other}`' for other in reversed(below)) or 'nothing'} |"]
    lines += ["", "## Modules", ""]
    rooms: dict[str, list[Source]] = {}
    for source in sources:
        rooms.setdefault(source.path.rpartition("/")[0], []).append(source)
    for folder, inside in sorted(rooms.items()):
        lines += [f"### {folder or 'kasuwa'}", "", "| Module | What it holds |", "|---|---|"]
        lines += [f"| `{source.name}` | {summary_of(source)} |" for source in inside] + [""]
    return HEAD + "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(draw())
    print(f"drawn in {PAGE}")
