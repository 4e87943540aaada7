"""Rules about what the sources ask of Python when they run: event loops, and names that came after 3.11.0.

Like those of source_rules.py, each takes parsed sources and returns a sentence for every violation.
"""

import ast
from collections.abc import Iterable, Iterator

from tests.source_rules import Source

Function = tuple[str, str]  # module and name

# Modules whose `run` runs an event loop. It raises if one is running already.
LOOP_MODULES = {"asyncio", "uvloop"}

# What came with a bug-fix release of 3.11, as "Changed in version 3.11.x" of the manual says; mypy knows what came with
# later series (`python_version` in pyproject.toml), and not this. Attributes by name, and keywords by function.
LATER_ATTRIBUTES = {
    "data_filter": "3.11.4",
    "tar_filter": "3.11.4",
    "fully_trusted_filter": "3.11.4",
    "extraction_filter": "3.11.4",
    "FilterError": "3.11.4",
    "LinkFallbackError": "3.11.13",
    "SetReparseDeferralEnabled": "3.11.9",
    "GetReparseDeferralEnabled": "3.11.9",
    "verify_generated_headers": "3.11.10",
}
LATER_KEYWORDS = {
    ("extract", "filter"): "3.11.4",
    ("extractall", "filter"): "3.11.4",
    ("unpack_archive", "filter"): "3.11.4",
    ("getaddresses", "strict"): "3.11.10",
    ("parseaddr", "strict"): "3.11.10",
}
LATER_WORDS = {*LATER_ATTRIBUTES, *(function for function, _ in LATER_KEYWORDS)}


# --- event loops ------------------------------------------------------------------------------------------------


def nested_loops(sources: list[Source]) -> list[str]:
    """A coroutine calls no function that runs an event loop, itself or through others. Functions are followed by the
    names under which modules import them; methods are not followed."""
    modules = {source.module: source for source in sources}
    calls = {}
    for source in sources:
        known = imported_functions(source, set(modules))
        for node in source.tree.body:
            if isinstance(node, ast.FunctionDef):
                calls[source.module, node.name] = list(called_in(node, known))
    runners = {name for name, found in calls.items() if None in found}
    while grown := {name for name, found in calls.items() if name not in runners and runners & set(found)}:
        runners |= grown
    return [
        f"{source.path}:{line}: a coroutine calls {name}, which runs an event loop"
        for source in sources
        for line, name in calls_of_coroutines(source, set(modules), runners)
    ]


def calls_of_coroutines(source: Source, modules: set[str], runners: set[Function]) -> Iterator[tuple[int, str]]:
    known = imported_functions(source, modules)
    for node in source.nodes:
        if isinstance(node, ast.AsyncFunctionDef):
            for called in called_in(node, known):
                if called is None or called in runners:
                    yield node.lineno, "asyncio.run" if called is None else ".".join(called)


def imported_functions(source: Source, modules: set[str]) -> dict[str, Function | str]:
    """Returns what names mean in a module: a function of a module, or a module by its name. Imports inside functions
    count too."""
    known: dict[str, Function | str] = {
        node.name: (source.module, node.name) for node in source.tree.body if isinstance(node, ast.FunctionDef)
    }
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "kasuwa":
            package = (node.module or "").removeprefix("kasuwa").removeprefix(".")
            for alias in node.names:
                module = f"{package}.{alias.name}".removeprefix(".")
                known[alias.asname or alias.name] = module if module in modules else (package, alias.name)
    return known


def called_in(function: ast.AST, known: dict[str, Function | str]) -> Iterator[Function | None]:
    """Yields the functions that one calls, and None where it runs a loop. Bodies of functions in it are left out: they
    run when they are called, and coroutines in a loop."""
    for node in own_nodes(function):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and isinstance(meant := known.get(called.id), tuple):
            yield meant
        elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            meant = known.get(called.value.id)
            if isinstance(meant, str):
                yield meant, called.attr
            elif called.attr == "run" and called.value.id in LOOP_MODULES:
                yield None


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from own_nodes(child)


# --- the version of Python ----------------------------------------------------------------------------------------


def later_names(sources: Iterable[Source]) -> list[str]:
    """Nothing is used that came with a bug-fix release of Python 3.11: Debian 12 has 3.11.2."""
    return [
        f"{source.path}:{line}: {name} came with Python {version}"
        for source in sources
        # Most files have none of these words, and need not be parsed.
        if any(word in source.text for word in LATER_WORDS)
        for line, name, version in names_that_came_later(source)
    ]


def names_that_came_later(source: Source) -> Iterator[tuple[int, str, str]]:
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in LATER_ATTRIBUTES:
            yield node.lineno, node.attr, LATER_ATTRIBUTES[node.attr]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if alias.name in LATER_ATTRIBUTES:
                    yield node.lineno, alias.name, LATER_ATTRIBUTES[alias.name]
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            for keyword in node.keywords:
                if version := LATER_KEYWORDS.get((called, keyword.arg or "")):
                    yield node.lineno, f"{called}({keyword.arg}=…)", version
