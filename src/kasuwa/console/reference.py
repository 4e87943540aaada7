"""The API reference, from the same document as /openapi.json, with every action to try as the signed-in merchant."""

from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.console.access import ROLES_WITH, short_name
from kasuwa.console.visit import NotFound, Visit
from kasuwa.core.action import Action, Method, title_of

DEEPEST = 4


class Field(msgspec.Struct):
    name: str
    kind: str
    required: bool
    says: str


def slug_of(action: Action) -> str:
    return title_of(action).replace(" ", "-")


def find(visit: Visit) -> tuple[Method, Action]:
    for method in visit.parts.methods:
        for action in method.actions:
            if (method.name, slug_of(action)) == (visit.path("method"), visit.path("action")):
                return method, action
    raise NotFound


async def show_reference(visit: Visit) -> Response:
    contents = [(method, [(slug_of(a), a) for a in method.actions]) for method in visit.parts.methods]
    return visit.show("reference.html", contents=contents, api_url=visit.parts.api_url)


async def show_action(visit: Visit, status: int = 200, **told: Any) -> Response:
    method, action = find(visit)
    example = msgspec.json.format(msgspec.json.encode(dict(action.example)), indent=2).decode()
    request, reply = schemas_of(visit.parts.openapi, method, action)
    shared: dict[str, Any] = {
        "method": method,
        "action": action,
        "slug": slug_of(action),
        "fields": fields_of(visit.parts.openapi, request),
        "answers": fields_of(visit.parts.openapi, reply),
        "example": example,
        "reply": recorded_reply(visit.parts.openapi, method, action),
        "body": example,
        "answer": None,
        "may_try": visit.may(action),
        "who_may": ", ".join(sorted(short_name(role) for role in ROLES_WITH[action.needs_role])),
        "api_url": visit.parts.api_url,
    }
    return visit.show("reference_action.html", status, **{**shared, **told})


async def try_action(visit: Visit) -> Response:
    method, action = find(visit)
    body = visit.said("body")
    try:
        fields = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return await show_action(visit, 422, body=body, faults={"body": "one JSON object"})
    if visit.parts.find_action(method.name, fields) is not action:
        return await show_action(
            visit, 422, body=body, faults={"body": f"must ask for {slug_of(action)}, as this page"}
        )
    reply = await visit.do(method.name, fields, f"tried {method.name} {title_of(action)}")
    return await show_action(visit, body=body, answer=reply.body)


# --- schemas as tables --------------------------------------------------------------------------------------------


def schemas_of(openapi: dict[str, Any], method: Method, action: Action) -> tuple[Any, Any]:
    """The request and the reply of an action, in the order in which the document was made from the tables."""
    components = openapi["components"]["schemas"]
    reply = action.reply
    return components.get(action.request.__name__, {}), components.get(getattr(reply, "__name__", ""), {})


def recorded_reply(openapi: dict[str, Any], method: Method, action: Action) -> Any:
    said = openapi["paths"][f"/{method.name}"]["put"]["responses"]["200"]["content"]["application/json"]
    return said["examples"][title_of(action)]["value"]


def fields_of(openapi: dict[str, Any], schema: dict[str, Any], path: str = "", depth: int = 0) -> list[Field]:
    """Every field by its path; those of objects inside come behind their object."""
    found = []
    required = set(schema.get("required", ()))
    for name, raw in schema.get("properties", {}).items():
        inner = resolved(openapi, raw)
        found.append(Field(path + name, kind_of(openapi, raw), name in required, str(inner.get("description", ""))))
        if depth < DEEPEST:
            below = resolved(openapi, inner.get("items", {})) if inner.get("type") == "array" else inner
            found += fields_of(openapi, below, f"{path}{name}.", depth + 1)
    return found


def resolved(openapi: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Behind references, and the one choice that is not null."""
    if "$ref" in schema:
        target = openapi["components"]["schemas"].get(schema["$ref"].rpartition("/")[2], {})
        return resolved(openapi, target)
    choices = [choice for choice in schema.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1:
        return {**resolved(openapi, choices[0]), **{k: v for k, v in schema.items() if k == "description"}}
    return schema


def kind_of(openapi: dict[str, Any], schema: dict[str, Any]) -> str:
    inner = resolved(openapi, schema)
    if "enum" in inner:
        return "one of " + ", ".join(str(value) for value in inner["enum"])
    if "const" in inner:
        return str(inner["const"])
    if "anyOf" in inner:
        return " or ".join(dict.fromkeys(kind_of(openapi, c) for c in inner["anyOf"] if c.get("type") != "null"))
    if inner.get("type") == "array":
        return f"array of {kind_of(openapi, inner.get('items', {}))}"
    return str(inner.get("type", "any"))
