"""Renders the templates of deploy/helm/kasuwa: by helm where it is installed, else by a small renderer.

The renderer knows the part of Go's template language that the chart uses: values, `if`, `else`, `not`, `range` over
maps and lists, and the functions of FUNCTIONS, alone or in a pipeline. Anything else raises TemplateError.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from tests.source_rules import REPOSITORY

CHART = REPOSITORY / "deploy" / "helm" / "kasuwa"
RELEASE, NAMESPACE = "shop", "payments"

Scope = Mapping[str, Any]

# An action, with the whitespace that its dashes take away.
ACTION = re.compile(r"(?:\s*\{\{-|\{\{)\s*(.*?)\s*(?:-\}\}\s*|\}\})", re.DOTALL)
WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s"]+')
RANGE = re.compile(r"range (?:(\$\w+), )?(\$\w+) := (\S+)")


class TemplateError(Exception):
    """A template has something that the renderer does not know, or names a value that is not there."""


def to_yaml(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=False).rstrip("\n")


def nindent(spaces: int, text: str) -> str:
    return "\n" + "\n".join(" " * spaces + line for line in text.splitlines())


def is_true(value: Any) -> bool:
    return bool(value)


FUNCTIONS: Mapping[str, Any] = {
    "add": lambda left, right: left + right,
    "default": lambda fallback, value: value if is_true(value) else fallback,
    "nindent": nindent,
    "not": lambda value: not is_true(value),
    "quote": lambda value: json.dumps(show(value)),
    "toYaml": to_yaml,
    "upper": lambda value: str(value).upper(),
}


def show(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- expressions ------------------------------------------------------------------------------------------------


def evaluate(expression: str, scope: Scope) -> Any:
    """Returns the value of a pipeline. The value of each part is the last argument of the next."""
    value: Any = None
    for n, part in enumerate(expression.split(" | ")):
        first, *rest = WORD.findall(part)
        arguments = [operand(word, scope) for word in rest] + ([value] if n else [])
        if first in FUNCTIONS:
            value = FUNCTIONS[first](*arguments)
        elif arguments:
            raise TemplateError(f"{first} is not a function that the renderer knows")
        else:
            value = operand(first, scope)
    return value


def operand(word: str, scope: Scope) -> Any:
    if word.startswith('"'):
        return json.loads(word)
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    root, *names = word.split(".")
    found: Any = scope if not root else scope.get(root)
    if root and root not in scope:
        raise TemplateError(f"{word} cannot be evaluated")
    for name in names:
        if not isinstance(found, Mapping) or name not in found:
            raise TemplateError(f"{word}: there is no {name}")
        found = found[name]
    return found


# --- templates --------------------------------------------------------------------------------------------------


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yields (literal text, action after it). The last action is empty."""
    at = 0
    for match in ACTION.finditer(text):
        yield text[at : match.start()], match[1]
        at = match.end()
    yield text[at:], ""


def render_template(text: str, scope: Scope) -> str:
    found = list(tokens(text))
    rendered, at, end = render_block(found, 0, scope)
    if end != "" or at != len(found):
        raise TemplateError(f"{end} without a beginning")
    return rendered


def render_block(found: list[tuple[str, str]], at: int, scope: Scope | None) -> tuple[str, int, str]:
    """Renders until `else`, `end` or the end of the text. Returns the text, the next place and what it ended at. A
    scope of None skips the block."""
    rendered = ""
    while at < len(found):
        literal, action = found[at]
        at += 1
        rendered += literal
        if action in ("", "else", "end"):
            return rendered, at, action
        keyword = action.partition(" ")[0]
        if keyword == "if":
            text, at = render_condition(found, at, action.removeprefix("if "), scope)
            rendered += text
        elif keyword == "range":
            text, at = render_range(found, at, action, scope)
            rendered += text
        elif scope is not None:
            rendered += show(evaluate(action, scope))
    raise TemplateError("an action is not closed")


def render_condition(found: list[tuple[str, str]], at: int, condition: str, scope: Scope | None) -> tuple[str, int]:
    chosen = scope is not None and is_true(evaluate(condition, scope))
    text, at, end = render_block(found, at, scope if chosen else None)
    other = ""
    if end == "else":
        other, at, end = render_block(found, at, None if chosen else scope)
    if end != "end":
        raise TemplateError(f"if {condition} has no end")
    if scope is None:
        return "", at
    return text if chosen else other, at


def render_range(found: list[tuple[str, str]], at: int, action: str, scope: Scope | None) -> tuple[str, int]:
    match = RANGE.fullmatch(action)
    if match is None:
        raise TemplateError(f"{action}: the renderer needs names for what it ranges over")
    key_name, value_name, source = match.groups()
    start, rendered = at, ""
    _, at, end = render_block(found, start, None)
    if end != "end":
        raise TemplateError(f"{action} has no end")
    if scope is not None:
        values = operand(source, scope)
        pairs = sorted(values.items()) if isinstance(values, Mapping) else list(enumerate(values))
        for key, value in pairs:
            inner = {**scope, value_name: value, **({key_name: key} if key_name else {})}
            rendered += render_block(found, start, inner)[0]
    return rendered, at


# --- the chart --------------------------------------------------------------------------------------------------


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def merged(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the defaults with given values over them, maps within maps merged, as helm does."""
    result = dict(defaults)
    for name, value in given.items():
        before = result.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        result[name] = merged(before, value) if both and before is not None else value
    return result


def chart_values(given: Mapping[str, Any]) -> dict[str, Any]:
    return merged(read_yaml(CHART / "values.yaml"), given)


def value_errors(values: Mapping[str, Any]) -> list[str]:
    """Returns what values.schema.json has against these values, each with its place."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    errors = jsonschema_rs.Draft7Validator(schema).iter_errors(values)
    return sorted(f"{'.'.join(map(str, error.instance_path))}: {error.message}" for error in errors)


def render_file(name: str, given: Mapping[str, Any]) -> str:
    chart = read_yaml(CHART / "Chart.yaml")
    scope = {
        "Values": chart_values(given),
        "Release": {"Name": RELEASE, "Namespace": NAMESPACE, "Service": "Helm"},
        "Chart": {"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"]},
    }
    return render_template((CHART / "templates" / name).read_text(), scope)


def render_chart(given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the manifests of the chart, by helm if it is installed."""
    if helm := shutil.which("helm"):
        command = [helm, "template", RELEASE, str(CHART), "--namespace", NAMESPACE, "--values", "-"]
        done = subprocess.run(command, input=yaml.safe_dump(dict(given)), capture_output=True, text=True, check=True)
        text = done.stdout
    else:
        assert value_errors(chart_values(given)) == []
        names = sorted(path.name for path in (CHART / "templates").glob("*.yaml"))
        text = "\n---\n".join(render_file(name, given) for name in names)
    return [manifest for manifest in yaml.safe_load_all(text) if manifest is not None]
