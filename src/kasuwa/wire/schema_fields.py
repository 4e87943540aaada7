"""Reads the fields of requests and replies from an OpenAPI document, as lines of a table."""

from typing import Any

import msgspec

MAX_DEPTH = 4
# Name of the component that describes errors, which every action may reply with.
ERROR_BODY = "/ErrorBody"


class SchemaField(msgspec.Struct):
    name: str
    type_text: str
    required: bool
    description: str


def action_schemas(openapi: dict[str, Any], operation: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the request and reply schemas of an action. The fields of a list are those of its elements."""
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    answers = operation["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]
    reply = resolve_schema(openapi, next(answer for answer in answers if not answer["$ref"].endswith(ERROR_BODY)))
    element = resolve_schema(openapi, reply["items"]) if reply.get("type") == "array" else reply
    return resolve_schema(openapi, body), element


def list_fields(openapi: dict[str, Any], schema: dict[str, Any], path: str = "", depth: int = 0) -> list[SchemaField]:
    """Returns all fields by their dotted path. Fields of nested objects follow their object."""
    fields = []
    required = set(schema.get("required", ()))
    for name, raw in schema.get("properties", {}).items():
        inner = resolve_schema(openapi, raw)
        fields.append(
            SchemaField(path + name, describe_type(openapi, raw), name in required, str(inner.get("description", "")))
        )
        if depth < MAX_DEPTH:
            below = resolve_schema(openapi, inner.get("items", {})) if inner.get("type") == "array" else inner
            fields += list_fields(openapi, below, f"{path}{name}.", depth + 1)
    return fields


def resolve_schema(openapi: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Follows references, and unwraps a choice between one schema and null."""
    if "$ref" in schema:
        target = openapi["components"]["schemas"].get(schema["$ref"].rpartition("/")[2], {})
        return {**resolve_schema(openapi, target), **{k: v for k, v in schema.items() if k == "description"}}
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return {**resolve_schema(openapi, choices[0]), **{k: v for k, v in schema.items() if k == "description"}}
    return schema


def describe_type(openapi: dict[str, Any], schema: dict[str, Any]) -> str:
    inner = resolve_schema(openapi, schema)
    if "enum" in inner:
        return "one of " + ", ".join(str(value) for value in inner["enum"])
    if "const" in inner:
        return str(inner["const"])
    if "anyOf" in inner:
        return " or ".join(dict.fromkeys(describe_type(openapi, c) for c in inner["anyOf"] if c.get("type") != "null"))
    if inner.get("type") == "array":
        return f"array of {describe_type(openapi, inner.get('items', {}))}"
    return str(inner.get("type", "any"))
