"""Rules about the sources, as functions: each takes parsed sources and returns a sentence for every violation.

`test_tidy.py` runs them, with those of source_rules_sql.py and source_rules_words.py, over the repository. It also runs
them over small offenders, so that a rule that reports nothing is noticed. They read syntax only: nothing is imported or
run.
"""

import ast
import gc
import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path

import pytest

from tests.source_rules_imports import (
    BORROWED_MODULES,
    FLOORS,
    NARROWER,
    REGISTRIES,
    SLICE_IMPORTS,
    SLICES_MAY_IMPORT,
    WORK_OF_SLICES,
)

REPOSITORY = Path(__file__).parents[1]
LONGEST_FILE = 700
LONGEST_FUNCTION = 70

VAGUE_NAMES = {"manager", "helper", "util", "service", "handler", "base", "common", "misc", "data", "info"}

IMPURE_MODULES = {
    "asyncio",
    "asyncpg",
    "concurrent",
    "multiprocessing",
    "select",
    "signal",
    "socket",
    "ssl",
    "subprocess",
    "glob",
    "http",
    "io",
    "os",
    "pathlib",
    "shutil",
    "sqlite3",
    "sys",
    "tempfile",
    "threading",
    "urllib",
    "random",
    "secrets",
    "time",
    "uuid",
    "aiohttp",
    "granian",
    "httptools",
    "httpx",
    "logging",
    "psycopg",
    "requests",
    "structlog",
}
CLOCK_FUNCTIONS = {"now", "utcnow", "today", "monotonic", "perf_counter"}
IMPURE_BUILTINS = {"open", "print", "input", "exec", "eval", "__import__"}


class Source:
    """One parsed file. `place` is its path below src/kasuwa, or below the repository for tests and bench."""

    def __init__(self, place: str, text: str) -> None:
        self.path = place
        self.text = text

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Parsed when a rule asks for it: all workers import this, and one runs the rules."""
        # Python 3.11 counts the depth of a tree wrongly if garbage is collected while it is made, and raises.
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return ast.parse(self.text)
        finally:
            if was_enabled:
                gc.enable()

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def package(self) -> str:
        return self.module.partition(".")[0]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def is_rules(self) -> bool:
        """Whether the file holds the pure part of a slice: its rows and its decisions."""
        parts = self.path.split("/")
        is_model = parts[-1] in ("model.py", "rules.py") or parts[-1].endswith("_model.py")
        in_slice = parts[0] == "methods" and ("rules" in parts[2:3] or is_model)
        return in_slice or self.path == "console/operator/manual_posting.py"

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the syntax tree. Kept, because every rule walks them."""
        return list(ast.walk(self.tree))

    @cached_property
    def docstrings(self) -> set[int]:
        owners = [node for node in self.nodes if isinstance(node, DOCUMENTED) and node.body]
        first = [owner.body[0] for owner in owners]
        return {id(node.value) for node in first if isinstance(node, ast.Expr)}

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yields each import as (module, name). The name is empty for a plain import."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((node.module or "", alias.name) for alias in node.names)

    def functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        return [node for node in self.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@pytest.fixture(scope="module", autouse=True)
def without_garbage_collection() -> Iterator[None]:
    """Serves modules that walk syntax trees, which import it. Trees have millions of nodes and leave no garbage:
    looking for it takes longer than the rules do, and later collections leave the trees out."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@cache
def read_all(folder: str, below: str = "", ending: str = "py") -> list[Source]:
    """Returns the files of a folder. Each is read and parsed once per process."""
    root = REPOSITORY / folder
    paths = sorted(path for path in root.rglob(f"*.{ending}") if "__pycache__" not in path.parts)
    return [Source(below + path.relative_to(root).as_posix(), path.read_text()) for path in paths]


# --- imports ------------------------------------------------------------------------------------------------------


def imported_modules(source: Source, modules: set[str]) -> Iterator[str]:
    """Yields the modules of the service that a file imports, named below kasuwa."""
    for module, name in source.imports():
        if module == "kasuwa" or module.startswith("kasuwa."):
            inside = module.removeprefix("kasuwa").lstrip(".")
            longer = f"{inside}.{name}".strip(".")
            yield longer if longer in modules else inside


def may_import(source: Source, target: str) -> bool:
    if not target:
        return True  # the version
    package = target.partition(".")[0]
    if source.package not in FLOORS or package not in FLOORS:
        return False
    if source.package == package == "methods" and source.module not in REGISTRIES:
        return may_borrow(source.module.split("."), target.split("."))
    if source.package == "methods" and source.module not in REGISTRIES and source.name[:-3] not in WORK_OF_SLICES:
        return is_inside(target, SLICES_MAY_IMPORT)
    narrower = next((allowed for part, allowed in NARROWER.items() if is_inside(source.module, {part})), None)
    if narrower is not None and not is_inside(target, narrower):
        return False
    return FLOORS.index(package) <= FLOORS.index(source.package)


def may_borrow(mine: list[str], theirs: list[str]) -> bool:
    """Whether a module of one slice may import a module of the same or another slice."""
    is_borrowed = len(theirs) > 2 and theirs[2] in BORROWED_MODULES
    return mine[1:2] == theirs[1:2] or (is_borrowed and theirs[1] in SLICE_IMPORTS.get(mine[1], set()))


def is_inside(module: str, parts: set[str]) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in parts)


def wrong_imports(sources: list[Source]) -> list[str]:
    modules = {source.module for source in sources}
    return [
        f"{source.path} imports {target}"
        for source in sources
        for target in sorted(set(imported_modules(source, modules)))
        if not may_import(source, target)
    ]


def relative_imports(sources: Iterable[Source]) -> list[str]:
    return [
        f"{source.path}:{node.lineno} imports relative to itself"
        for source in sources
        for node in source.nodes
        if isinstance(node, ast.ImportFrom) and node.level
    ]


@cache
def module_names(source: Source) -> set[str]:
    """Returns the names that a file defines outside its functions and classes."""
    names: set[str] = set()
    todo: list[ast.stmt] = list(source.tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


# What applications import in their tests: its names are defined in several modules.
PUBLIC_PACKAGE = "testing"


def indirect_imports(sources: Iterable[Source], service: Iterable[Source]) -> list[str]:
    """Returns imports of a name from a module of the service that does not define it, but imports it itself."""
    defined = {source.module: module_names(source) for source in service}
    found = []
    for source in sources:
        for module, name in source.imports():
            if not module.startswith("kasuwa."):
                continue
            inside = module.removeprefix("kasuwa.")
            is_module = f"{inside}.{name}" in defined
            if inside == PUBLIC_PACKAGE or is_module:
                continue
            if name and inside in defined and name not in defined[inside]:
                found.append(f"{source.path} imports {name} from {module}, which does not define it")
    return found


def reexports(source: Source) -> list[str]:
    """Returns the places where a file offers another module's names as its own. Only the public package may."""
    if source.module == PUBLIC_PACKAGE:
        return []
    aliases = [
        node.lineno
        for node in source.nodes
        if isinstance(node, ast.Import | ast.ImportFrom) and any(a.asname == a.name for a in node.names)
    ]
    lists = [n.lineno for n in source.nodes if isinstance(n, ast.Name) and n.id == "__all__"]
    return [f"{source.path}:{line} re-exports names of other modules" for line in (*aliases, *lists)]


def cycles(sources: list[Source]) -> list[str]:
    modules = {source.module for source in sources}
    graph = {
        source.module: sorted({t for t in imported_modules(source, modules) if t in modules}) for source in sources
    }
    found: list[str] = []
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            found.append(" → ".join((*path[path.index(module) :], module)))
        elif module not in done:
            for target in graph[module]:
                visit(target, (*path, module))
            done.add(module)

    for module in graph:
        visit(module, ())
    return found


# --- sizes and names ------------------------------------------------------------------------------------------------


def too_long(sources: Iterable[Source]) -> list[str]:
    found = []
    for source in sources:
        lines = len(source.text.splitlines())
        if lines > LONGEST_FILE:
            found.append(f"{source.path} has {lines} lines")
        for node in source.functions():
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                found.append(f"{source.path}: {node.name} has {length} lines")
    return found


# Files of one folder, its __init__ file aside. Commands are one file each.
MOST_FILES = 25
FULL_FOLDERS = {"commands"}


def crowded_folders(sources: Iterable[Source]) -> list[str]:
    count: dict[str, int] = {}
    for source in sources:
        folder = source.path.rpartition("/")[0]
        count[folder] = count.get(folder, 0) + (source.name != "__init__.py")
    return [
        f"{folder} has {files} files"
        for folder, files in count.items()
        if files > MOST_FILES and folder not in FULL_FOLDERS
    ]


def packed_literals(source: Source) -> list[str]:
    """Returns the lines that unpack a tuple in place, as in `*("a", "b"),`, to take fewer lines."""
    return [
        f"{source.path}:{node.lineno} packs a literal"
        for node in source.nodes
        if isinstance(node, ast.Starred) and isinstance(node.value, ast.Tuple)
    ]


def without_docstring(sources: Iterable[Source]) -> list[str]:
    return [source.path for source in sources if source.text.strip() and not ast.get_docstring(source.tree)]


def full_init_files(sources: Iterable[Source]) -> list[str]:
    """Returns the __init__ files with content. That of the service itself holds its version, and that of the testing
    package its public names."""
    return [
        source.path
        for source in sources
        if source.name == "__init__.py"
        and source.text.strip()
        and not holds_version(source)
        and source.path != "testing/__init__.py"
    ]


def holds_version(source: Source) -> bool:
    """Whether a file is the service's own __init__ file, with a docstring and the version and nothing else."""
    names = [ast.unparse(line.targets[0]) for line in source.tree.body[1:] if isinstance(line, ast.Assign)]
    return source.path == "__init__.py" and names == ["__version__"] and len(source.tree.body) == 2


def vague_module_names(sources: Iterable[Source]) -> list[str]:
    banned = VAGUE_NAMES | {f"{word}s" for word in VAGUE_NAMES} | {"utilities"}
    return [s.path for s in sources if banned & set(re.split(r"[/_]", s.path.removesuffix(".py").lower()))]


MENTIONED_FILE = re.compile(r"(?<![\w/.*{<-])((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)\b")
FILES_OF_OTHERS = {"asyncio/runners.py", "asyncio/base_events.py", "uvloop/__init__.py"}


def unknown_files(sources: Iterable[Source], known: Iterable[Source]) -> list[str]:
    """Returns mentions of Python files that do not exist, by their name or the end of their path."""
    ends = {"/".join(parts[first:]) for parts in (s.path.split("/") for s in known) for first in range(len(parts))}
    return [
        f"{source.path} mentions {name}"
        for source in sources
        for name in sorted(set(MENTIONED_FILE.findall(source.text)))
        if name not in ends and name not in FILES_OF_OTHERS and not name.startswith("src/kasuwa/")
    ]


# --- connections ----------------------------------------------------------------------------------------------------

# Only these modules open connections, so that each has a deadline for every statement and lock. Commands and the
# preparation of a database may take as long as they need.
CONNECTION_MODULES = {
    "postgres/backend_connection.py",
    "postgres/connections.py",
    "postgres/pgbouncer.py",
    "postgres/primary.py",
}
UNBOUNDED_MODULES = {
    "boot/app.py",
    "boot/composition.py",
    "boot/prepare.py",
    "doctor/checks.py",
    "commands/database.py",
    "commands/migrate.py",
    "commands/user.py",
}
UNBOUNDED_CONNECTS = {"connect_to_primary"}
DRIVER_CONNECTS = {"connect", "create_pool"}


def unbounded_connections(source: Source) -> list[str]:
    """Returns the lines that open a connection without postgres/connections.py."""
    if source.path in CONNECTION_MODULES:
        return []
    found = []
    for node in source.nodes:
        if isinstance(node, ast.Call):
            called = node.func
            plain = (
                isinstance(called, ast.Name)
                and called.id in UNBOUNDED_CONNECTS
                and source.path not in UNBOUNDED_MODULES
            )
            driver = (
                isinstance(called, ast.Attribute)
                and called.attr in DRIVER_CONNECTS
                and isinstance(called.value, ast.Name)
                and called.value.id == "asyncpg"
            )
            if plain or driver:
                found.append(f"{source.path}:{node.lineno} opens a connection without deadlines")
    return found


# --- purity ---------------------------------------------------------------------------------------------------------


def impurities(source: Source) -> list[str]:
    """Returns the impure parts of a file: imports, clocks, I/O, and coroutines that are more than a signature."""
    found = [f"imports {module}" for module, _ in source.imports() if module.partition(".")[0] in IMPURE_MODULES]
    for node in source.nodes:
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Attribute) and called.attr in CLOCK_FUNCTIONS:
                found.append(f"line {node.lineno} reads a clock")
            if isinstance(called, ast.Name) and called.id in IMPURE_BUILTINS:
                found.append(f"line {node.lineno} calls {called.id}")
        elif isinstance(node, ast.Await):
            found.append(f"line {node.lineno} awaits")
        elif isinstance(node, ast.AsyncFunctionDef) and not is_signature(node):
            found.append(f"line {node.lineno} is a coroutine")
    return [f"{source.path}: {complaint}" for complaint in found]


def is_signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function is a method of a Protocol, whose body is only `...`."""
    return all(isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) for line in node.body)


def function_bodies(source: Source) -> list[str]:
    nodes = [node for node in source.nodes if isinstance(node, FUNCTIONS)]
    return [f"{source.path}:{node.lineno} has a function" for node in nodes]


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def floats(source: Source) -> list[str]:
    return [
        f"{source.path}:{node.lineno} has a float"
        for node in source.nodes
        if (isinstance(node, ast.Constant) and isinstance(node.value, float))
        or (isinstance(node, ast.Name) and node.id == "float")
    ]


# --- log lines ----------------------------------------------------------------------------------------------------

LOGGERS = {"log", "logger"}
LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}
# Errors of ours whose text is written for people and quotes nothing that was sent.
LOGGABLE_ERRORS = {"MailNotSent", "EmbeddedError", "InvalidCatalogue"}


def error_texts_in_logs(source: Source) -> list[str]:
    """Returns log calls with the text of an exception, which may quote a request. Its type and places may be logged."""
    found = []
    for handler in source.nodes:
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None:
            continue
        if not named_in(handler.type) & LOGGABLE_ERRORS:
            found += [call for call in log_calls(ast.walk(handler)) if quotes(call, handler.name)]
    found += [call for call in log_calls(source.nodes) if prints_stack(call)]
    return [f"{source.path}:{call.lineno} logs the text of an error" for call in found]


def named_in(node: ast.AST | None) -> set[str]:
    nodes = () if node is None else ast.walk(node)
    return {n.attr if isinstance(n, ast.Attribute) else n.id for n in nodes if isinstance(n, ast.Attribute | ast.Name)}


def log_calls(nodes: Iterable[ast.AST]) -> Iterator[ast.Call]:
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEVELS:
            owner = node.func.value
            if isinstance(owner, ast.Name) and owner.id in LOGGERS:
                yield node


def prints_stack(call: ast.Call) -> bool:
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr == "exception" or any(keyword.arg == "exc_info" for keyword in call.keywords)


def quotes(call: ast.Call, error: str) -> bool:
    """Whether an error is an argument in any way but through describe_error, or by its type."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return any(isinstance(node, ast.Name) and node.id == error for part in arguments for node in walk_unredacted(part))


def walk_unredacted(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call) and named_in(node.func) & {"describe_error", "type"}:
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from walk_unredacted(child)


# visit.py opens a page's snapshot; server.py authenticates before there is a page.
MAY_TOUCH_POOLS = ("console/kit/visit.py", "console/server.py")


def reads_without_the_visit(source: Source) -> list[str]:
    """Returns places where a console page reads without its visit, which reads the whole page from one snapshot."""
    if source.path in MAY_TOUCH_POOLS:
        return []
    found = [
        f"{source.path} imports snapshot" for made in source.imports() if made == ("kasuwa.engine.reading", "snapshot")
    ]
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr in ("reader", "operators"):
            of = node.value
            if (isinstance(of, ast.Attribute) and of.attr == "parts") or (
                isinstance(of, ast.Name) and of.id == "parts"
            ):
                found.append(f"{source.path}:{node.lineno} uses a pool of the console's parts")
    return found
