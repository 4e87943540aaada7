"""The reference sections of docs/contract: `python -m tests.contract` writes them, tests/test_contract.py compares.

Each page holds prose and, between two comments, one section per action of its path: the fields of the request from its
type, the fields of the reply from the recorded example, the example itself, and the refusals of the path's rules.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kasuwa.core import codes
from kasuwa.core.fields import scalar_schema
from tests.examples import file_of, parse_reply, pretty, read
from tests.walk.rows import ACTION_ROWS, ActionRow

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "contract"
SLICES = ROOT / "src" / "kasuwa" / "methods"
BLOCK = re.compile(r"(<!-- reference -->\n).*?(<!-- end -->\n)", re.DOTALL)
CODES = {name: value for name, value in vars(codes).items() if isinstance(value, int)}


class FieldLine(NamedTuple):
    name: str
    kind: str
    required: bool
    meaning: str


# --- fields ---------------------------------------------------------------------------------------------------


@cache
def all_requests() -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """The schema of every request, and the components that they refer to."""
    kinds = [row.action.request for row in ACTION_ROWS]
    schemas, components = msgspec.json.schema_components(kinds, schema_hook=scalar_schema)
    return {row.title: schema for row, schema in zip(ACTION_ROWS, schemas, strict=True)}, dict(components)


def request_fields(row: ActionRow) -> list[FieldLine]:
    schemas, components = all_requests()
    return list(flatten(schemas[row.title], components, ""))


def flatten(schema: dict[str, Any], components: dict[str, Any], prefix: str) -> Iterator[FieldLine]:
    """Every property of an object, nested ones by their path; `[]` marks the elements of an array."""
    schema = resolve(schema, components)
    required = schema.get("required", ())
    for name, found in schema.get("properties", {}).items():
        options = [resolve(option, components) for option in found.get("anyOf", [found])]
        options = [option for option in options if option.get("type") != "null"]
        path = f"{prefix}{name}"
        meaning = found.get("description") or next((o["description"] for o in options if "description" in o), "")
        yield FieldLine(path, " or ".join(dict.fromkeys(map(kind_of, options))), name in required, meaning)
        for option in options:
            if option.get("type") == "array" and isinstance(option.get("items"), dict):
                yield from flatten(option["items"], components, f"{path}[].")
            else:
                yield from flatten(option, components, f"{path}.")


def resolve(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    reference = schema.get("$ref")
    return components[reference.rpartition("/")[2]] if reference else schema


def kind_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def table(lines: list[FieldLine]) -> list[str]:
    if not lines:
        return ["No fields besides the ones that select it.", ""]
    rows = [
        f"| `{line.name}` | {line.kind} | {'yes' if line.required else ''} | {line.meaning} |".replace("\n", " ")
        for line in lines
    ]
    return ["| Field | Type | Required | Meaning |", "|---|---|---|---|", *rows, ""]


# --- refusals ---------------------------------------------------------------------------------------------------


def refusals_of(method: str) -> list[tuple[int, str]]:
    """The refusals that a path's rules name as constants, with their status, in order."""
    found: dict[tuple[int, str], None] = {}
    for path in sorted((SLICES / method).rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                refusal = read_refusal(node.value)
                if refusal is not None:
                    found[refusal] = None
    return sorted(found)


def read_refusal(call: ast.Call) -> tuple[int, str] | None:
    if not (isinstance(call.func, ast.Name) and call.func.id == "Refusal" and len(call.args) >= 2):
        return None
    code, message = call.args[:2]
    if isinstance(code, ast.Name) and code.id in CODES and isinstance(message, ast.Constant):
        return CODES[code.id], str(message.value)
    return None


# --- pages ------------------------------------------------------------------------------------------------------


def reference_of(method: str) -> str:
    lines = ["## Reference", ""]
    for row in (row for row in ACTION_ROWS if row.method == method):
        name = row.title.removeprefix(f"{method}-")
        recorded = file_of(row).read_text()
        lines += [f'<a id="reference-{name}"></a>', f"### {name}", "", f"{row.action.summary}.", ""]
        lines += table(request_fields(row))
        lines += ["```json", pretty(read(recorded).fields), "```", ""]
        lines += ["Reply:", "", "```json", pretty(parse_reply(recorded)), "```", ""]
    refusals = refusals_of(method)
    if refusals:
        lines += ["### Refusals", "", "| `status` | `message` |", "|---|---|"]
        lines += [f"| {code} | {message} |" for code, message in refusals] + [""]
    return "\n".join(lines)


def build(page: Path) -> str:
    """The page with its reference section as it should be."""
    return BLOCK.sub(lambda found: f"{found[1]}{reference_of(page.stem)}{found[2]}", page.read_text())


def main() -> None:
    for page in sorted(FOLDER.glob("*.md")):
        page.write_text(build(page))
    print(f"{len(list(FOLDER.glob('*.md')))} pages in {FOLDER}")


if __name__ == "__main__":
    main()
