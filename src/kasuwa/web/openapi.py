"""Builds the OpenAPI 3.1 document from the action tables: one request and reply schema per action.

The example replies are recorded by the tests (tests/examples.py)."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from kasuwa.core.action import Action, ApiMethod, Write, title_of
from kasuwa.core.fields import scalar_schema
from kasuwa.core.reference_tables import load_reference_data
from kasuwa.web.replies import ErrorBody
from kasuwa.web.server import API_VERSION

REFERENCES = "#/components/schemas/{name}"
# Docstrings of request and reply types become descriptions, without the marks of the contract in them.
CONTRACT_MARK = re.compile(r"\s*\(?Contract: [\w#/, -]+\)?\.?")


def describe(methods: Sequence[ApiMethod], environment: str) -> dict[str, Any]:
    kinds = [kind for method in methods for action in method.actions for kind in (action.request, action.reply)]
    schemas, components = msgspec.json.schema_components(
        [*kinds, ErrorBody], ref_template=REFERENCES, schema_hook=scalar_schema
    )
    found = iter(schemas)
    paths = {f"/{method.name}": {"put": describe_method(method, found, environment)} for method in methods}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kasuwa",
            "version": API_VERSION,
            "description": "Merchant payments, cards, transfers, bills, lending and savings. Every operation is a "
            f"PUT of one JSON object; this is the {environment} environment.",
        },
        "paths": paths | plain_paths(),
        "components": {
            "schemas": {name: without_marks(component) for name, component in components.items()},
            "securitySchemes": {
                "mid": {"type": "apiKey", "in": "header", "name": "mid"},
                "key": {"type": "apiKey", "in": "header", "name": "key"},
            },
        },
        "security": [{"mid": [], "key": []}],
    }


def without_marks(schema: Any) -> Any:
    """Returns a schema whose descriptions are one line each, without marks of the contract."""
    if isinstance(schema, list):
        return [without_marks(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: " ".join(CONTRACT_MARK.sub("", part).split())
        if name == "description" and isinstance(part, str)
        else without_marks(part)
        for name, part in schema.items()
    }


def parameters(method: ApiMethod, environment: str) -> list[dict[str, Any]]:
    """Returns the optional headers of a request, besides mid and key."""

    def header(name: str, description: str) -> dict[str, Any]:
        return {
            "name": name,
            "in": "header",
            "required": False,
            "description": description,
            "schema": {"type": "string"},
        }

    found = [header("x-request-id", "Echoed in the reply; made where it is missing")]
    if any(isinstance(action, Write) and action.accepts_idempotency_key for action in method.actions):
        found.append(header("idempotency-key", "1 to 255 ASCII characters: the same request gets the kept reply"))
    if environment == "test":
        found.append(header("x-sandbox-scenario", "How the outside behaves, such as rr=91;delay=5;http=timeout"))
    return found


def describe_method(method: ApiMethod, schemas: Any, environment: str) -> dict[str, Any]:
    requests, replies, examples, answers = [], [], {}, {}
    recorded = load_reference_data("replies")
    for action in method.actions:
        request, reply = next(schemas), next(schemas)
        requests.append(describe_request(method, action, request))
        replies.append(reply)
        title = title_of(action)
        examples[title] = {"summary": action.summary, "value": dict(action.example)}
        name = f"{method.name}-{title.replace(' ', '-')}"
        if name in recorded:
            # An action without a recorded reply is described without an example.
            answers[title] = {"summary": f"To {title}", "value": recorded[name]}
    lines = [f"- `{title_of(action)}`: {action.summary}" for action in method.actions]
    return {
        "operationId": method.name,
        "summary": f"Actions of {method.name}",
        "description": "\n".join(lines),
        "parameters": parameters(method, environment),
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"anyOf": requests}, "examples": examples}},
        },
        "responses": responses(replies, answers),
    }


def describe_request(method: ApiMethod, action: Action, schema: dict[str, Any]) -> dict[str, Any]:
    """Returns the schema of an action's request: its own fields, and those that select the action."""
    selector = action.selector or method.selectors[0]
    words: dict[str, Any] = {selector: {"const": action.name}}
    if action.variant is not None:
        words[action.variant[0]] = {"const": action.variant[1]}
    selecting = {"type": "object", "properties": words, "required": list(words)}
    return {"title": title_of(action), "description": action.summary, "allOf": [selecting, schema]}


def responses(replies: list[dict[str, Any]], recorded: dict[str, Any]) -> dict[str, Any]:
    error = {"$ref": REFERENCES.format(name="ErrorBody")}
    unique = [reply for n, reply in enumerate(replies) if reply not in replies[:n]]

    def answer(description: str, schema: dict[str, Any]) -> dict[str, Any]:
        return {"description": description, "content": {"application/json": {"schema": schema}}}

    good = answer("The reply, or an error with its code in `status`", {"anyOf": [*unique, error]})
    good["content"]["application/json"]["examples"] = recorded
    return {
        "200": good,
        "400": answer("The body broke off (103); or, with strict codes, it is not JSON (103)", error),
        "402": answer("Not covered (301) or not validated (203), with strict codes", error),
        "404": answer("No such action (102), with strict codes", error),
        "408": answer("The body took too long (103)", error),
        "422": answer("Some fields are not valid (104), with strict codes", error),
        "502": answer("A rail's answer could not be read (201), with strict codes", error),
        "401": answer("Merchant authentication failed (101)", error),
        "413": answer("The body is too large (103)", error),
        "429": answer("Too many requests (204)", error),
        "500": answer("An error of ours (204); the message says whether anything was changed", error),
        "503": answer("The database cannot be reached, or too many large bodies at once (204)", error),
    }


def plain_paths() -> dict[str, Any]:
    def plain(summary: str) -> dict[str, Any]:
        content = {"application/json": {"schema": {"type": "object"}}}
        answers = {
            "200": {"description": "yes", "content": content},
            "503": {"description": "no", "content": content},
        }
        return {"get": {"summary": summary, "security": [], "responses": answers}}

    return {"/healthz": plain("Is the process up?"), "/readyz": plain("Can it serve?")}
