"""The replies of the OpenAPI documents: status codes, headers, and the body of errors."""

from typing import Any

from kasuwa.api.openapi.schemas import Schema, reference_to
from kasuwa.api.replies import ErrorBody
from kasuwa.core.codes import (
    AUTHENTICATION_FAILED,
    ERROR,
    ERROR_MEANINGS,
    INSUFFICIENT_FUNDS,
    INVALID_JSON,
    INVALID_METHOD,
    INVALID_REQUEST,
    NOT_VALIDATED,
    UNREADABLE_ANSWER,
)

ERROR_BODY = ErrorBody.__name__

# Names of the error codes in generated enumerations.
ERROR_NAMES = {
    AUTHENTICATION_FAILED: "AUTHENTICATION_FAILED",
    INVALID_METHOD: "INVALID_METHOD",
    INVALID_JSON: "INVALID_JSON",
    INVALID_REQUEST: "INVALID_REQUEST",
    UNREADABLE_ANSWER: "UNREADABLE_ANSWER",
    NOT_VALIDATED: "NOT_VALIDATED",
    ERROR: "ERROR",
    INSUFFICIENT_FUNDS: "INSUFFICIENT_FUNDS",
}

HEADERS: dict[str, Any] = {
    "RequestId": {
        "description": "The `x-request-id` of the request, or one that the service made.",
        "schema": {"type": "string"},
        "required": True,
    },
    "ApiVersion": {
        "description": "Version of the API.",
        "schema": {"type": "string"},
        "required": True,
    },
    "RetryAfter": {
        "description": "Seconds to wait before the next attempt. HTTP 503 may be without it.",
        "schema": {"type": "integer"},
        "required": False,
    },
}

# Replies whose body is always an error, as components: HTTP status and meaning.
ERROR_REPLIES = {
    "BodyIncomplete": ("400", "The body broke off, or with strict codes, is not JSON (status 103)."),
    "AuthenticationFailed": ("401", "Authentication failed (status 101)."),
    "UnknownAction": ("404", "There is no such action (status 102), with strict codes."),
    "BodyTimeout": ("408", "The body took too long (status 103)."),
    "BodyTooLarge": ("413", "The body is too large (status 103)."),
    "InvalidRequest": ("422", "Some fields are not valid (status 104), with strict codes."),
    "RateLimited": ("429", "Too many requests (status 204)."),
    "ServiceError": ("500", "An error of the service (status 204). The message says whether anything was changed."),
    "Unavailable": ("503", "The database cannot be reached, or too many large bodies arrived at once (status 204)."),
}
# Replies whose body may also be that of the action, by HTTP status.
STRICT_REPLIES = {
    "402": "Not covered (status 301) or not validated (status 203), with strict codes.",
    "502": "The answer of a rail could not be read (status 201), with strict codes.",
}
OK = "The reply. Errors also have HTTP 200 unless strict codes are set: `status` tells."
# Replies that say when to try again.
RETRIED = ("RateLimited", "Unavailable")


def describe_error(schema: Schema) -> Schema:
    """Returns the schema of an error's body with every code of the contract and its meaning."""
    lines = [f"{code}: {meaning}." for code, meaning in ERROR_MEANINGS.items()]
    status = {
        **schema["properties"]["status"],
        "enum": list(ERROR_MEANINGS),
        "x-enum-varnames": [ERROR_NAMES[code] for code in ERROR_MEANINGS],
        "x-enum-descriptions": list(ERROR_MEANINGS.values()),
    }
    status["description"] = " ".join([*filter(None, [status.get("description")]), *lines])
    return {**schema, "properties": {**schema["properties"], "status": status}}


def describe_replies(replies: list[Schema], examples: dict[str, Any]) -> dict[str, Any]:
    """Returns the responses of an operation. `replies` are references to the bodies that it may have."""
    either = {"anyOf": replies}
    good = answer(OK, either)
    if examples:
        good["content"]["application/json"]["examples"] = examples
    described = {"200": good}
    described |= {http: answer(meaning, either) for http, meaning in STRICT_REPLIES.items()}
    described |= {http: {"$ref": f"#/components/responses/{name}"} for name, (http, _) in ERROR_REPLIES.items()}
    return dict(sorted(described.items()))


def answer(description: str, schema: Schema, has_retry_after: bool = False) -> dict[str, Any]:
    headers = {
        "x-request-id": {"$ref": "#/components/headers/RequestId"},
        "x-api-version": {"$ref": "#/components/headers/ApiVersion"},
    }
    if has_retry_after:
        headers["retry-after"] = {"$ref": "#/components/headers/RetryAfter"}
    return {"description": description, "headers": headers, "content": {"application/json": {"schema": schema}}}


ERROR_RESPONSES = {
    name: answer(meaning, reference_to(ERROR_BODY), name in RETRIED) for name, (_, meaning) in ERROR_REPLIES.items()
}


def plain_paths() -> dict[str, Any]:
    """Returns the paths that report whether the service works."""

    def plain(name: str, summary: str, answers: dict[str, str]) -> dict[str, Any]:
        return {
            "get": {
                "operationId": name,
                "tags": ["health"],
                "summary": summary,
                "security": [],
                "responses": {http: answer(meaning, reference_to("Health")) for http, meaning in answers.items()},
            }
        }

    return {
        "/healthz": plain("healthz", "Whether the process runs", {"200": "The process runs."}),
        "/readyz": plain(
            "readyz",
            "Whether the deployment can serve",
            {"200": "It can serve.", "503": "It cannot serve: `message` says why."},
        ),
    }


HEALTH: Schema = {
    "type": "object",
    "description": "Whether the service works.",
    "properties": {
        "status": {"type": "integer", "enum": [200, ERROR], "description": "200, or 204 if it cannot serve."},
        "message": {"type": "string", "description": "`up` or `ready`, or the reason why it cannot serve."},
    },
    "required": ["status", "message"],
}
