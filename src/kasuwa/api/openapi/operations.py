"""Builds the OpenAPI 3.1 documents from the action tables.

- `describe_paths`: one operation per path, as HTTP has them. A body is one of the path's requests.
- `describe_actions`: one operation per action, for code generators. OpenAPI allows one operation per path and verb, so
  the action is the fragment of the path (`/disburse#transfer`), which clients do not send.

Both have the same components. The example replies are recorded by the tests (tests/examples.py).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from kasuwa.api.idempotency_key import HEADER
from kasuwa.api.openapi.replies import (
    ERROR_BODY,
    ERROR_RESPONSES,
    HEADERS,
    HEALTH,
    describe_error,
    describe_replies,
    plain_paths,
)
from kasuwa.api.openapi.schemas import (
    Schema,
    SchemaSet,
    action_slug,
    get_component_name,
    operation_id,
    pascal_case,
    reference_to,
)
from kasuwa.api.openapi.webhooks import describe_webhooks, event_structs, webhook_parameters
from kasuwa.api.recorded_replies import read_recorded_replies
from kasuwa.api.replies import API_VERSION, ErrorBody
from kasuwa.authority.roles import ROLES_BY_PERMISSION
from kasuwa.core.action import Action, ApiMethod, Lookup, MemoryRead, Read, Write, get_scope, make_action_title

INTRODUCTION = """\
Merchant payments, cards, transfers, bills, lending and savings. Every operation is a PUT of one JSON object; this is \
the {environment} environment.

The field `action` of the body selects the action of a path; on `/resources` it is `inquire` or `request`. Amounts are \
in major units: send them as text, such as "1500.00". Times are UTC. An error has its code in `status`.

The examples of a path can be sent as they are, in their order. A template (`x-templates`) has a placeholder such as \
`<txnRef>` where a value of an earlier reply belongs, or needs what a payer does first. `x-scope` names the scope of \
keys, `x-roles` the roles of people in the console, and `x-idempotency` how a repeated request is recognized."""
BY_ACTION = """

Each action is an operation of its own here. The fragment of a path names the action and is not sent: the body selects \
it. The same API with one operation per path is described by `/openapi.json`."""
BY_PATH = """

Each path is one operation here. The same API with one operation per action is described by `/openapi-actions.json`."""

# A value of an earlier reply in an example, such as `<txnRef>`.
PLACEHOLDER = re.compile(r'"<[a-zA-Z_]+>"')
# Examples without one that need more than the examples before them: an endpoint, or what a payer was shown.
NEEDS_MORE = frozenset(
    {
        "resources resend",
        "resources ticket_by_code",
        "resources ticket_use",
        "sandbox pay_account",
        "sandbox redeem_cashcode",
        "sandbox compare_worlds",
    }
)

PATH_SUMMARIES = {
    "payment": "Collect money by card, saved card, bank account, USSD, phone, QR, bank transfer, mobile money",
    "disburse": "Send money to bank accounts, one or many at a time",
    "bills": "Airtime, electricity, television and other bills",
    "virtualcard": "Issue and manage cards",
    "clients": "People who borrow and save",
    "cashcode": "Codes that draw cash",
    "loans": "Lend and collect",
    "investments": "Savings accounts and thrift plans",
    "resources": "Lookups, wallet, events",
    "sandbox": "Drive the test environment",
}

SECURITY_SCHEMES = {
    "mid": {"type": "apiKey", "in": "header", "name": "mid", "description": "Id of the merchant, such as GP0000001."},
    "key": {"type": "apiKey", "in": "header", "name": "key", "description": "Secret key of the merchant."},
}

PARAMETERS: dict[str, Any] = {
    "RequestId": {
        "name": "x-request-id",
        "in": "header",
        "required": False,
        "description": "An id of the request, for logs. It is returned in the reply, which has one in any case.",
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": "idempotency-key",
        "in": "header",
        "required": False,
        "description": "1 to 255 ASCII characters. The same key with the same request returns the stored reply for 24 "
        "hours; with another request it is refused.",
        "schema": {"type": "string"},
    },
    "Scenario": {
        "name": "x-sandbox-scenario",
        "in": "header",
        "required": False,
        "description": "How the rails behave for this request, such as `rr=91;delay=5;http=timeout`.",
        "schema": {"type": "string"},
    },
}


class ApiDescription:
    """The parts that both documents share, built once."""

    def __init__(self, methods: Sequence[ApiMethod], environment: str) -> None:
        self.methods = methods
        self.environment = environment
        self.schemas = SchemaSet(methods, [ErrorBody, *event_structs()])
        self.components = {**self.schemas.components, "Health": {"title": "Health", **HEALTH}}
        self.components[ERROR_BODY] = describe_error(self.components[ERROR_BODY])
        self._recorded = read_recorded_replies(environment)

    def reply_examples(self, method: ApiMethod, actions: Iterable[Action]) -> dict[str, Any]:
        """Returns the recorded replies. An action without one is described without an example."""
        examples = {}
        for action in actions:
            name = f"{method.name}-{action_slug(action)}"
            if name in self._recorded:
                examples[make_action_title(action)] = {
                    "summary": f"To {make_action_title(action)}",
                    "value": self._recorded[name],
                }
        return examples

    def reply_options(self, replies: list[Schema]) -> list[Schema]:
        """Returns the bodies that a reply may have, in the order in which generated code should try them.

        A map of texts comes after the error: it would accept an error, too.
        """
        unique = [reply for n, reply in enumerate(replies) if reply not in replies[:n]]
        maps = [reply for reply in unique if "additionalProperties" in self.components[get_component_name(reply)]]
        return [*(reply for reply in unique if reply not in maps), reference_to(ERROR_BODY), *maps]

    def parameters(self, actions: Iterable[Action]) -> list[Schema]:
        """Returns references to the optional headers of a request, besides mid and key."""
        names = ["RequestId"]
        if any(isinstance(action, Write) and action.accepts_idempotency_key for action in actions):
            names.append("IdempotencyKey")
        if self.environment == "test":
            names.append("Scenario")
        return [{"$ref": f"#/components/parameters/{name}"} for name in names]

    def operation(
        self, method: ApiMethod, actions: Sequence[Action], body: Schema, replies: list[Schema]
    ) -> dict[str, Any]:
        """Returns what the operation of a path and that of an action have in common."""
        return {
            "tags": [method.name],
            "parameters": self.parameters(actions),
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": body, **describe_examples(method, actions)}},
            },
            "responses": describe_replies(self.reply_options(replies), self.reply_examples(method, actions)),
        }

    def document(self, paths: dict[str, Any], components: dict[str, Any], about: str) -> dict[str, Any]:
        parameters = {
            name: parameter
            for name, parameter in PARAMETERS.items()
            if name != "Scenario" or self.environment == "test"
        }
        tags = [{"name": method.name, "description": PATH_SUMMARIES[method.name]} for method in self.methods]
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "Kasuwa",
                "version": API_VERSION,
                "summary": "Merchant payments with double-entry books",
                "description": INTRODUCTION.format(environment=self.environment) + about,
                "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
            },
            "servers": [
                {"url": "/", "description": f"The deployment that this document came from: {self.environment}"}
            ],
            "tags": [
                *tags,
                {"name": "events", "description": "What the service sends to your endpoint"},
                {"name": "health", "description": "Whether the service works"},
            ],
            "paths": paths | plain_paths(),
            "webhooks": describe_webhooks(self.schemas),
            "components": {
                "schemas": dict(sorted(components.items())),
                "parameters": parameters | webhook_parameters(),
                "responses": ERROR_RESPONSES,
                "headers": HEADERS,
                "securitySchemes": SECURITY_SCHEMES,
            },
            "security": [{"mid": [], "key": []}],
        }


def describe_examples(method: ApiMethod, actions: Sequence[Action]) -> dict[str, Any]:
    """Returns the example requests: those that can be sent as they are in the order of the document, and templates."""
    kinds: dict[str, dict[str, Any]] = {"examples": {}, "x-templates": {}}
    for action in actions:
        kind = "x-templates" if is_template(method, action) else "examples"
        kinds[kind][make_action_title(action)] = {"summary": action.summary, "value": dict(action.example)}
    return {kind: examples for kind, examples in kinds.items() if examples}


def is_template(method: ApiMethod, action: Action) -> bool:
    """Returns whether an example names something that an earlier request, a payer or a setting makes."""
    is_marked = PLACEHOLDER.search(msgspec.json.encode(action.example).decode()) is not None
    return is_marked or f"{method.name} {make_action_title(action)}" in NEEDS_MORE


def describe_use(method: ApiMethod, action: Action) -> dict[str, Any]:
    """Returns who may request an action, and how a repeated request is recognized, as extensions.

    `x-idempotency` says whether the action may change something; if so, whether it takes the header, and which field
    of the body makes a repeat return the first outcome.
    """
    repeats: dict[str, Any] = {"changes": not isinstance(action, Read | MemoryRead | Lookup)}
    if isinstance(action, Write):
        repeats["header"] = HEADER if action.accepts_idempotency_key else None
        repeats["field"] = action.unique_reference
    return {
        "x-scope": get_scope(method, action),
        "x-roles": sorted(ROLES_BY_PERMISSION[action.permission]),
        "x-idempotency": repeats,
    }


# --- one operation per action -------------------------------------------------------------------------------------


def describe_actions(api: ApiDescription) -> dict[str, Any]:
    paths = {}
    for method in api.methods:
        for action in method.actions:
            body, reply = api.schemas.request(method, action), api.schemas.reply(method, action)
            operation = {
                "operationId": operation_id(method, action),
                "summary": action.summary,
                **describe_use(method, action),
                **api.operation(method, [action], body, [reply]),
            }
            paths[f"/{method.name}#{action_slug(action)}"] = {"put": operation}
    return api.document(paths, api.components, BY_ACTION)


# --- one operation per path ---------------------------------------------------------------------------------------


def describe_paths(api: ApiDescription) -> dict[str, Any]:
    paths, components = {}, dict(api.components)
    for method in api.methods:
        body = describe_body(api, method, components)
        lines = [f"- `{make_action_title(action)}`: {action.summary}" for action in method.actions]
        replies = [api.schemas.reply(method, action) for action in method.actions]
        operation = {
            "operationId": method.name,
            "summary": PATH_SUMMARIES[method.name],
            "description": "\n".join(lines),
            **describe_uses(method),
            **api.operation(method, method.actions, body, replies),
        }
        paths[f"/{method.name}"] = {"put": operation}
    return api.document(paths, components, BY_PATH)


def describe_uses(method: ApiMethod) -> dict[str, Any]:
    """Returns the extensions of a path's operation: each by the titles of its actions."""
    uses = {make_action_title(action): describe_use(method, action) for action in method.actions}
    names = dict.fromkeys(name for use in uses.values() for name in use)
    return {name: {title: use[name] for title, use in uses.items()} for name in names}


def describe_body(api: ApiDescription, method: ApiMethod, components: dict[str, Any]) -> Schema:
    """Returns the body of a path: the requests of its actions, told apart by the field that selects the action.

    Adds the components that this takes: one per selector, and one per action of several forms.
    """
    choices: dict[str, dict[str, list[Action]]] = {}
    for action in method.actions:
        selected = choices.setdefault(action.selector or method.selectors[0], {})
        selected.setdefault(action.name, []).append(action)
    bodies = []
    for selector, by_name in choices.items():
        mapping = {name: describe_forms(api, method, actions, components) for name, actions in by_name.items()}
        name = f"{method.name.capitalize()}Body" + (pascal_case(selector) if len(choices) > 1 else "")
        components[name] = {"title": name, **choice_by(selector, mapping)}
        bodies.append(reference_to(name))
    return bodies[0] if len(bodies) == 1 else {"anyOf": bodies}


def describe_forms(api: ApiDescription, method: ApiMethod, actions: list[Action], components: dict[str, Any]) -> Schema:
    """Returns the request of an action: one schema, or a component that chooses among the action's forms."""
    if len(actions) == 1:
        return api.schemas.request(method, actions[0])
    name = pascal_case(f"{method.name} {actions[0].name}") + "Forms"
    fields = {action.variant[0] for action in actions if action.variant is not None}
    mapping = {
        action.variant[1]: api.schemas.request(method, action) for action in actions if action.variant is not None
    }
    plain = [api.schemas.request(method, action) for action in actions if action.variant is None]
    selector = actions[0].selector or method.selectors[0]
    forms: Schema = {
        "title": name,
        "type": "object",
        "properties": {selector: {"type": "string", "const": actions[0].name, "description": "Selects the action."}},
        "required": [selector],
    }
    if plain:
        # Without the field, the body is that of the plain form: no discriminator could name it.
        components[name] = {**forms, "oneOf": [*mapping.values(), *plain]}
    else:
        [field] = fields
        components[name] = {**forms, **choice_by(field, mapping)}
    return reference_to(name)


def choice_by(field: str, mapping: dict[str, Schema]) -> Schema:
    """Returns a choice between schemas by the value of a field, which is a constant in each of them."""
    targets = {value: schema["$ref"] for value, schema in mapping.items()}
    return {"oneOf": list(mapping.values()), "discriminator": {"propertyName": field, "mapping": targets}}
