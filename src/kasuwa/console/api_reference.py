"""The API reference, made from the document of /openapi-actions.json. Users can try every action as their merchant."""

from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console.access import ROLES_BY_PERMISSION, short_name
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.action import Action, ApiMethod, title_of

MAX_DEPTH = 4
# Name of the component that describes errors, which every action may reply with.
ERROR_BODY = "/ErrorBody"


class SchemaField(msgspec.Struct):
    name: str
    type_text: str
    required: bool
    description: str


def action_slug(action: Action) -> str:
    return title_of(action).replace(" ", "-")


def find_documented_action(visit: Visit) -> tuple[ApiMethod, Action]:
    """Returns the method and action that the path names. Raises NotFound."""
    for method in visit.services.methods:
        for action in method.actions:
            if (method.name, action_slug(action)) == (visit.path_parameter("method"), visit.path_parameter("action")):
                return method, action
    raise NotFound


async def show_reference(visit: Visit) -> Response:
    contents = [(method, [(action_slug(a), a) for a in method.actions]) for method in visit.services.methods]
    return visit.render("reference.html", contents=contents, api_url=visit.services.api_url)


async def show_action(visit: Visit, status: int = 200, **values: Any) -> Response:
    method, action = find_documented_action(visit)
    example = msgspec.json.format(msgspec.json.encode(dict(action.example)), indent=2).decode()
    openapi = await visit.services.read_openapi()
    operation = openapi["paths"][f"/{method.name}#{action_slug(action)}"]["put"]
    request, reply = action_schemas(openapi, operation)
    shared: dict[str, Any] = {
        "method": method,
        "action": action,
        "slug": action_slug(action),
        "fields": list_fields(openapi, request),
        "reply_fields": list_fields(openapi, reply),
        "example": example,
        "reply": recorded_reply(operation, action),
        "body": example,
        "live_reply": None,
        "can_try": visit.is_allowed(action),
        "allowed_roles": ", ".join(sorted(short_name(role) for role in ROLES_BY_PERMISSION[action.permission])),
        "api_url": visit.services.api_url,
    }
    return visit.render("reference_action.html", status, **{**shared, **values})


async def try_action(visit: Visit) -> Response:
    method, action = find_documented_action(visit)
    body = visit.form_text("body")
    try:
        fields = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return await show_action(visit, 422, body=body, faults={"body": "must be one JSON object"})
    if visit.services.find_action(method.name, fields) is not action:
        return await show_action(
            visit, 422, body=body, faults={"body": f"must request the action of this page, {action_slug(action)}"}
        )
    reply = await visit.run_action(method.name, fields, f"tried {method.name} {title_of(action)}")
    return await show_action(visit, body=body, live_reply=reply.body)


# --- schemas as tables --------------------------------------------------------------------------------------------


def action_schemas(openapi: dict[str, Any], operation: dict[str, Any]) -> tuple[Any, Any]:
    """Returns the request and reply schemas of an action. The fields of a list are those of its elements."""
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    answers = operation["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"]
    reply = resolve_schema(openapi, next(answer for answer in answers if not answer["$ref"].endswith(ERROR_BODY)))
    element = resolve_schema(openapi, reply["items"]) if reply.get("type") == "array" else reply
    return resolve_schema(openapi, body), element


def recorded_reply(operation: dict[str, Any], action: Action) -> Any:
    """Returns the example reply of an action."""
    content = operation["responses"]["200"]["content"]["application/json"]
    return content["examples"][title_of(action)]["value"]


def list_fields(openapi: dict[str, Any], schema: dict[str, Any], path: str = "", depth: int = 0) -> list[SchemaField]:
    """Returns all fields by their dotted path. Fields of nested objects follow their object."""
    found = []
    required = set(schema.get("required", ()))
    for name, raw in schema.get("properties", {}).items():
        inner = resolve_schema(openapi, raw)
        found.append(
            SchemaField(path + name, describe_type(openapi, raw), name in required, str(inner.get("description", "")))
        )
        if depth < MAX_DEPTH:
            below = resolve_schema(openapi, inner.get("items", {})) if inner.get("type") == "array" else inner
            found += list_fields(openapi, below, f"{path}{name}.", depth + 1)
    return found


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
