"""The OpenAPI documents as tests read them: built once per process, and ways to follow their references."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from kasuwa.api.openapi.operations import ApiDescription, describe_actions, describe_paths
from kasuwa.core.action import make_action_title
from kasuwa.methods.tables import list_methods
from tests.walk.rows import ActionRow

COMPONENT = "#/components/schemas/"
ERROR_BODY = f"{COMPONENT}ErrorBody"


@cache
def _described(environment: str) -> ApiDescription:
    return ApiDescription(list_methods(environment), environment)


@cache
def _paths(environment: str) -> bytes:
    return msgspec.json.encode(describe_paths(_described(environment)))


@cache
def _actions(environment: str) -> bytes:
    return msgspec.json.encode(describe_actions(_described(environment)))


def paths_document(environment: str = "test") -> Any:
    return msgspec.json.decode(_paths(environment))


def actions_document(environment: str = "test") -> Any:
    return msgspec.json.decode(_actions(environment))


def title_in(row: ActionRow) -> str:
    """Returns the name of the row's example in the documents."""
    return make_action_title(row.action)


def path_operation(document: Any, method: str) -> Any:
    return document["paths"][f"/{method}"]["put"]


def action_operation(document: Any, row: ActionRow) -> Any:
    return document["paths"][f"/{row.method}#{title_in(row).replace(' ', '-')}"]["put"]


def json_of(part: Any) -> Any:
    """Returns the JSON content of a request body or response."""
    return part["content"]["application/json"]


def example_of(part: Any, row: ActionRow) -> Any:
    """Returns the row's example in the JSON content of a request body."""
    content = json_of(part)
    return {**content.get("examples", {}), **content.get("x-templates", {})}[title_in(row)]["value"]


def schema_within(document: Any, schema: Any) -> Any:
    """Returns a schema of the document that can stand alone: what it refers to comes along, and no more, because the
    whole document takes long to read."""
    schemas, needed, left = document["components"]["schemas"], {}, [schema]
    while left:
        for part in parts_of(left.pop()):
            name = str(part.get("$ref", "")).removeprefix(COMPONENT)
            if name in schemas and name not in needed:
                needed[name] = schemas[name]
                left.append(schemas[name])
    return {**schema, "components": {"schemas": needed}}


def resolved(document: Any, schema: Any) -> Any:
    """Returns the component that a reference leads to, or the schema itself."""
    if "$ref" not in schema:
        return schema
    return resolved(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])


def parts_of(part: Any) -> Iterator[dict[str, Any]]:
    """Yields every object of a document, at any depth."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from parts_of(inner)


def properties_of(document: Any, schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every property of a schema with its path, those of nested objects, lists and maps too."""
    found = resolved(document, schema)
    for name, inner in found.get("properties", {}).items():
        yield f"{path}{name}", inner
        yield from properties_of(document, inner, f"{path}{name}.")
    for options in ("anyOf", "oneOf", "allOf"):
        for option in found.get(options, ()):
            yield from properties_of(document, option, path)
    for inside in ("items", "additionalProperties"):
        if isinstance(found.get(inside), dict):
            yield from properties_of(document, found[inside], path)
