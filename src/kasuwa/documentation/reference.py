"""The reference of the API: every path and action with its fields, samples and refusals."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kasuwa.core.action import Action, ApiMethod, Write, make_action_title
from kasuwa.core.decision import Refusal
from kasuwa.documentation.markdown import render_samples
from kasuwa.documentation.refusals import find_refusals
from kasuwa.documentation.samples import make_samples
from kasuwa.wire.schema_fields import SchemaField, action_schemas, list_fields


class ActionReference(msgspec.Struct, kw_only=True):
    """The content of the page of one action."""

    path: str
    slug: str  # unique within the path
    summary: str
    scope: str  # the scope that a key needs
    is_repeatable: bool  # accepts an Idempotency-Key
    unique_reference: str  # the field with which a repeated request is carried out once; empty if there is none
    is_test_only: bool
    request_fields: list[SchemaField]
    reply_fields: list[SchemaField]
    request: str  # the example, as formatted JSON
    samples: str  # HTML
    reply: str  # the recorded reply, as formatted JSON
    refusals: list[Refusal]

    @property
    def title(self) -> str:
        return f"{self.path}-{self.slug}"


class PathReference(msgspec.Struct, kw_only=True):
    name: str
    summary: str
    actions: list[ActionReference]
    refusals: list[Refusal]  # those of all actions, and of the steps that follow them


def make_action_slug(action: Action) -> str:
    return make_action_title(action).replace(" ", "-")


def describe_path(method: ApiMethod, openapi: dict[str, Any], live: frozenset[str]) -> PathReference:
    """Returns the reference of a path. `openapi` is the document with one operation per action, and `live` has the
    titles of the actions that live has."""
    actions = [describe_action(method, action, openapi, live) for action in method.actions]
    summaries = {tag["name"]: tag["description"] for tag in openapi["tags"]}
    later = [refusal for step in method.steps for refusal in find_refusals(step)]
    return PathReference(
        name=method.name,
        summary=summaries[method.name],
        actions=actions,
        refusals=unique_refusals([*(one for action in actions for one in action.refusals), *later]),
    )


def unique_refusals(refusals: Sequence[Refusal]) -> list[Refusal]:
    by_code = {(refusal.code, refusal.message): refusal for refusal in refusals}
    return [by_code[key] for key in sorted(by_code)]


def describe_action(
    method: ApiMethod, action: Action, openapi: dict[str, Any], live: frozenset[str]
) -> ActionReference:
    slug = make_action_slug(action)
    title = f"{method.name}-{slug}"
    operation = openapi["paths"][f"/{method.name}#{slug}"]["put"]
    request, reply = action_schemas(openapi, operation)
    examples = operation["responses"]["200"]["content"]["application/json"].get("examples", {})
    recorded = examples[make_action_title(action)]["value"]
    return ActionReference(
        path=method.name,
        slug=slug,
        summary=action.summary,
        scope=operation["x-scope"],
        is_repeatable=isinstance(action, Write) and action.accepts_idempotency_key,
        unique_reference=(isinstance(action, Write) and action.unique_reference) or "",
        is_test_only=title not in live,
        request_fields=list_fields(openapi, request),
        reply_fields=list_fields(openapi, reply),
        request=format_json(action.example),
        samples=render_samples(make_samples(title, method.name, action.example)),
        reply=format_json(recorded),
        refusals=find_refusals(action),
    )


def format_json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
