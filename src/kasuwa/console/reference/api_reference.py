"""The API reference, made from the document of /openapi-actions.json. Users can try every action as their merchant."""

from typing import Any

import msgspec
from starlette.responses import Response

from kasuwa.authority.roles import short_name
from kasuwa.console.kit.visit import NotAllowed, NotFound, Visit, roles_of_action
from kasuwa.console.reference.try_it import action_slug, can_make_one, fill_example, make_needed, remember_reply
from kasuwa.console.reference.try_it_needs import NEEDS
from kasuwa.core.action import Action, ApiMethod, make_action_title
from kasuwa.wire.schema_fields import action_schemas, list_fields


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
    """Shows an action, with the "Try it" form. `values` replace those of the page."""
    method, action = find_documented_action(visit)
    openapi = await visit.services.read_openapi()
    operation = openapi["paths"][f"/{method.name}#{action_slug(action)}"]["put"]
    request, reply = action_schemas(openapi, operation)
    can_try = visit.session_merchant is not None and visit.may_try(method.name, action)
    if can_try and "example" not in values:
        values["example"] = await fill_example(visit, title_in_path(method, action), action)
    shared: dict[str, Any] = {
        "method": method,
        "action": action,
        "slug": action_slug(action),
        "fields": list_fields(openapi, request),
        "reply_fields": list_fields(openapi, reply),
        "shown_example": msgspec.json.format(msgspec.json.encode(dict(action.example)), indent=2).decode(),
        "reply": recorded_reply(operation, action),
        "example": None,
        "body": values["example"].text if can_try else "",
        "live_reply": None,
        "can_try": can_try,
        "allowed_roles": ", ".join(
            sorted(short_name(role) for role in roles_of_action(method.name, action, action.permission))
        ),
        "api_url": visit.services.api_url,
    }
    return visit.render("reference_action.html", status, **{**shared, **values})


async def try_action(visit: Visit) -> Response:
    """Sends the request of the form, or makes what its example refers to and the merchant does not have yet."""
    method, action = find_documented_action(visit)
    if visit.form_text("make"):
        return await make_what_is_missing(visit, method, action)
    body = visit.form_text("body")
    try:
        fields = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return await show_action(visit, 422, body=body, faults={"body": "must be one JSON object"})
    if visit.services.find_action(method.name, fields) is not action:
        return await show_action(
            visit, 422, body=body, faults={"body": f"must request the action of this page, {action_slug(action)}"}
        )
    reply = await visit.run_action(method.name, fields, f"tried {method.name} {make_action_title(action)}")
    if reply.is_success:
        remember_reply(visit, title_in_path(method, action), action, fields, reply.body)
    return await show_action(visit, body=body, live_reply=reply.body)


async def make_what_is_missing(visit: Visit, method: ApiMethod, action: Action) -> Response:
    """Makes objects with other examples, and shows the form with their references."""
    title = title_in_path(method, action)
    needs = NEEDS.get(title, ())
    if not needs or not all(can_make_one(visit, need) for need in needs):
        raise NotAllowed
    references, problem = await make_needed(visit, needs)
    faults = {"": problem} if problem else {}
    return await show_action(visit, example=await fill_example(visit, title, action, references), faults=faults)


def title_in_path(method: ApiMethod, action: Action) -> str:
    return f"{method.name}-{action_slug(action)}"


def recorded_reply(operation: dict[str, Any], action: Action) -> Any:
    """Returns the example reply of an action."""
    content = operation["responses"]["200"]["content"]["application/json"]
    return content["examples"][make_action_title(action)]["value"]
