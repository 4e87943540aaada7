"""docs/architecture.md, drawn from the imports by `python -m tests.architecture`; test_architecture.py compares."""

import ast

from tests.source_rules import REPOSITORY, Source, imported_modules, read_all
from tests.source_rules_imports import COMPOSITION_ROOTS

PAGE = REPOSITORY / "docs" / "architecture.md"
HEAD = """\
# Architecture

Drawn from the imports by `python -m tests.architecture`; `tests/test_tidy.py` keeps to what may import what.

An arrow points to what is imported. What starts and wires the parts ({roots}) imports everything and is left out of
the drawing.

"""


def edges(sources: list[Source]) -> dict[tuple[str, str], int]:
    """Returns the number of imports from one package to another."""
    modules = {source.module for source in sources}
    found: dict[tuple[str, str], int] = {}
    for source in sources:
        for target in set(imported_modules(source, modules)):
            pair = (source.package, target.partition(".")[0])
            if pair[0] != pair[1] and not COMPOSITION_ROOTS & set(pair) and "" not in pair:
                found[pair] = found.get(pair, 0) + 1
    return found


def summary_of(source: Source) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = " ".join((ast.get_docstring(source.tree) or "").split("\n\n")[0].split())
    return text.replace("|", "\\|")


def draw() -> str:
    sources = [source for source in read_all("src/kasuwa") if source.name != "__init__.py"]
    lines = ["```mermaid", "graph TD"]
    lines += [f"    {one} --> {other}" for one, other in sorted(edges(sources))]
    lines += ["```", "", "## Modules", ""]
    rooms: dict[str, list[Source]] = {}
    for source in sources:
        rooms.setdefault(source.path.rpartition("/")[0], []).append(source)
    for folder, inside in sorted(rooms.items()):
        lines += [f"### {folder or 'kasuwa'}", "", "| Module | What it holds |", "|---|---|"]
        lines += [f"| `{source.name}` | {summary_of(source)} |" for source in inside] + [""]
    roots = ", ".join(f"`{name}`" for name in sorted(COMPOSITION_ROOTS - {"__main__"}))
    return HEAD.format(roots=roots) + "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(draw())
    print(f"drawn in {PAGE}")
