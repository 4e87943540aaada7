"""The reference sections of docs/contract: `python -m tests.contract` writes them, tests/test_contract.py compares.

Each page holds prose and, between two comments, one section per action of its path: the fields of the request from its
type, the example, the fields of the reply from its type, the recorded reply, and the refusals of the path's rules.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple

from kasuwa.api.replies import refusal_reply
from kasuwa.core import codes
from kasuwa.core.codes import COMPAT_HTTP, STRICT_HTTP
from kasuwa.core.decision import Refusal
from kasuwa.documentation.error_list import ListedCode, list_error_codes
from tests.examples import file_of, parse_reply, pretty, read
from tests.walk.openapi_documents import ERROR_BODY, action_operation, actions_document, json_of, resolved
from tests.walk.rows import ACTION_ROWS, ActionRow

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "contract"
SLICES = ROOT / "src" / "kasuwa" / "methods"
SHARED = "kasuwa.transactions."
BLOCK = re.compile(r"(<!-- reference -->\n).*?(<!-- end -->\n)", re.DOTALL)
# The codes of errors, on their page.
CODES_BLOCK = re.compile(r"(<!-- codes -->\n).*?(<!-- end of codes -->\n)", re.DOTALL)
# A bar inside a cell of a table.
BAR = "\\|"
CODES = {name: value for name, value in vars(codes).items() if isinstance(value, int)}


class FieldLine(NamedTuple):
    name: str
    kind: str
    required: bool
    meaning: str


# --- fields ---------------------------------------------------------------------------------------------------


@cache
def document() -> Any:
    return actions_document()


def request_fields(row: ActionRow) -> list[FieldLine]:
    """Returns the fields of a request, without those that select its action."""
    schema = resolved(document(), json_of(action_operation(document(), row)["requestBody"])["schema"])
    selecting = {row.selector, *([row.action.variant[0]] if row.action.variant else [])}
    others = {name: found for name, found in schema["properties"].items() if name not in selecting}
    return list(flatten({**schema, "properties": others}, ""))


def reply_fields(row: ActionRow) -> list[FieldLine]:
    """Returns the fields of a reply. Those of a list are marked with `[]`."""
    options = json_of(action_operation(document(), row)["responses"]["200"])["schema"]["anyOf"]
    [schema] = [resolved(document(), option) for option in options if option["$ref"] != ERROR_BODY]
    return list(flatten(schema["items"], "[].") if schema["type"] == "array" else flatten(schema, ""))


def flatten(schema: dict[str, Any], prefix: str) -> Iterator[FieldLine]:
    """Every property of an object, nested ones by their path; `[]` marks the elements of an array."""
    schema = resolved(document(), schema)
    required = schema.get("required", ())
    for name, found in schema.get("properties", {}).items():
        options = [resolved(document(), option) for option in found.get("anyOf", [found])]
        path = f"{prefix}{name}"
        kinds = " or ".join(dict.fromkeys(map(kind_of, options)))
        yield FieldLine(path, kinds, name in required, found.get("description", ""))
        for option in options:
            if option.get("type") == "array" and isinstance(option.get("items"), dict):
                yield from flatten(option["items"], f"{path}[].")
            else:
                yield from flatten(option, f"{path}.")


def kind_of(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def table(lines: list[FieldLine], column: str) -> list[str]:
    rows = [
        f"| `{line.name}` | {line.kind} | {'yes' if line.required else ''} | {line.meaning.replace('|', BAR)} |"
        for line in lines
    ]
    return [f"| Field | Type | {column} | Meaning |", "|---|---|---|---|", *rows, ""]


def request_table(row: ActionRow) -> list[str]:
    fields = request_fields(row)
    return table(fields, "Required") if fields else ["No fields besides the ones that select it.", ""]


def reply_table(row: ActionRow) -> list[str]:
    fields = reply_fields(row)
    return table(fields, "Always") if fields else ["A map from text to text.", ""]


# --- refusals ---------------------------------------------------------------------------------------------------


def refusals_of(method: str) -> list[tuple[int, str, str]]:
    """The refusals that a path's rules, and the shared ones that they use, name as constants, with status and code."""
    found: dict[tuple[int, str, str], None] = {}
    own = [ast.parse(path.read_text()) for path in sorted((SLICES / method).rglob("*.py"))]
    for tree in (*own, *find_shared(own)):
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
                refusal = read_refusal(node.value)
                if refusal is not None:
                    found[refusal] = None
    return sorted(found)


def find_shared(own: list[ast.Module]) -> list[ast.Module]:
    """The modules of `transactions` that others import something from."""
    imports = (node for tree in own for node in tree.body if isinstance(node, ast.ImportFrom) and node.module)
    names = sorted({node.module for node in imports if node.module and node.module.startswith(SHARED)})
    return [ast.parse((SLICES.parents[1] / f"{name.replace('.', '/')}.py").read_text()) for name in names]


def read_refusal(call: ast.Call) -> tuple[int, str, str] | None:
    if not (isinstance(call.func, ast.Name) and call.func.id == "Refusal" and len(call.args) >= 2):
        return None
    code, message = call.args[:2]
    names = {keyword.arg: keyword.value for keyword in call.keywords}
    name = names.get("error_code")
    if isinstance(code, ast.Name) and code.id in CODES and isinstance(message, ast.Constant):
        return CODES[code.id], str(message.value), str(name.value) if isinstance(name, ast.Constant) else ""
    return None


# --- pages ------------------------------------------------------------------------------------------------------


def reference_of(method: str) -> str:
    lines = ["## Reference", ""]
    for row in (row for row in ACTION_ROWS if row.method == method):
        name = row.title.removeprefix(f"{method}-")
        recorded = file_of(row).read_text()
        lines += [f'<a id="reference-{name}"></a>', f"### {name}", "", f"{row.action.summary}.", ""]
        lines += request_table(row)
        lines += ["```json", pretty(read(recorded).fields), "```", ""]
        lines += ["Reply:", "", *reply_table(row)]
        lines += ["```json", pretty(parse_reply(recorded)), "```", ""]
    refusals = refusals_of(method)
    if refusals:
        lines += ["### Refusals", "", "| `status` | `code` | `message` |", "|---|---|---|"]
        lines += [f"| {status} | [{code}](errors.md#{code}) | {message} |" for status, message, code in refusals] + [""]
    return "\n".join(lines)


def reference_of_errors() -> str:
    """The section of every code, with what it means, the messages that it has, and a reply."""
    listed = list_error_codes()
    lines = ["## Codes of replies", ""]
    lines += [line for one in listed if not one.is_of_field for line in section_of(one)]
    lines += ["## Codes of fields", "", "Of the entries of `errors`; the reply itself has `field_invalid`.", ""]
    lines += [line for one in listed if one.is_of_field for line in section_of(one)]
    return "\n".join(lines)


def section_of(one: ListedCode) -> list[str]:
    status = one.example.code
    http = f"HTTP {COMPAT_HTTP.get(status, 200)}, with strict codes {STRICT_HTTP[status]}"
    lines = [f'<a id="{one.code}"></a>', f"### {one.code}", "", f"Status {status} ({http})."]
    lines += [f"{one.meaning[:1].upper()}{one.meaning[1:]}."] if one.meaning else []
    messages = [text.replace("{", "<").replace("}", ">") for text in one.messages]
    several = messages if len(messages) > 1 and not one.meaning else []
    lines += ["", *(f"- `{text}`" for text in several), ""] if several else [""]
    return [*lines, "```json", example_of(one.example), "```", ""]


def example_of(refusal: Refusal) -> str:
    """The reply that a refusal makes. What its message takes from a request is in angle brackets."""
    named = {name: f"<{name}>" for _, name, _, _ in Formatter().parse(refusal.message) if name}
    filled = refusal.fill(**named) if named else refusal
    return refusal_reply(filled, strict=False).body.decode()


def build(page: Path) -> str:
    """The page with its reference section as it should be."""
    with_codes = CODES_BLOCK.sub(lambda found: f"{found[1]}{reference_of_errors()}{found[2]}", page.read_text())
    return BLOCK.sub(lambda found: f"{found[1]}{reference_of(page.stem)}{found[2]}", with_codes)


def main() -> None:
    for page in sorted(FOLDER.glob("*.md")):
        page.write_text(build(page))
    print(f"{len(list(FOLDER.glob('*.md')))} pages in {FOLDER}")


if __name__ == "__main__":
    main()
