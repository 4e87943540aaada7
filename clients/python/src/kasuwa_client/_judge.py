"""Interprets what came of one attempt: a result, or an error and whether the request may be sent again. Has no I/O."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple, Union

from kasuwa_client._action import PreparedRequest
from kasuwa_client._json import as_object
from kasuwa_client.errors import (
    STATUS_ERRORS,
    AuthenticationError,
    KasuwaError,
    MalformedRequest,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ServiceError,
    ServiceUnreachable,
    UnexpectedReply,
    UnknownAction,
    UnreadableOutcome,
)

# The words of the contract for an operation that may have been executed.
NOT_KNOWN = "outcome is not known"
UNKNOWN_TEXT = "It is not known whether the request was executed: {reason}"


class Answer(NamedTuple):
    """A complete HTTP reply."""

    http_status: int
    headers: Mapping[str, str]
    content: bytes


class Failure(NamedTuple):
    """An attempt without a complete HTTP reply."""

    reason: str
    was_sent: bool  # the service may have read the request


class Success(NamedTuple):
    body: Any


class Refusal(NamedTuple):
    """An attempt that ended with an error."""

    error: KasuwaError
    may_retry: bool
    is_about_request: bool  # the service decided on the operation: the outcome of earlier attempts is known too
    retry_after: float | None = None


Verdict = Union[Success, Refusal]


def judge(request: PreparedRequest, attempt: Answer | Failure) -> Verdict:
    """Returns the result of an attempt, or its error."""
    if isinstance(attempt, Failure):
        return _judge_failure(request, attempt)
    try:
        body = json.loads(attempt.content, parse_float=Decimal)
    except ValueError:
        return _judge_foreign(request, attempt, "the reply is not JSON")
    reply = as_object(body)
    status: object = None if reply is None else reply.get("status")
    if reply is not None and isinstance(status, int) and not isinstance(status, bool):
        return _judge_status(request, attempt, reply, status)
    if attempt.http_status == 200 and _has_no_status(request, body, status):
        return Success(body)
    return _judge_foreign(request, attempt, "the reply has no status")


def _has_no_status(request: PreparedRequest, body: Any, status: object) -> bool:
    """Returns whether the action's reply has no numeric status: a map, an array, or a lookup with a text as status."""
    if isinstance(body, list):
        return request.action.reply.startswith("[")
    if not isinstance(body, dict):
        return False
    return request.action.reply.startswith("{") or (isinstance(status, str) and not request.action.writes)


def _judge_failure(request: PreparedRequest, failure: Failure) -> Verdict:
    if not failure.was_sent:
        error: KasuwaError = ServiceUnreachable(f"The service cannot be reached: {failure.reason}", request.facts)
        return Refusal(error, may_retry=True, is_about_request=False)
    if not request.action.writes:
        error = ServiceUnreachable(f"The service did not reply: {failure.reason}", request.facts)
        return Refusal(error, may_retry=True, is_about_request=False)
    return _unknown(request, failure.reason)


def _unknown(request: PreparedRequest, reason: str) -> Refusal:
    error = OutcomeUnknown(UNKNOWN_TEXT.format(reason=reason), request.facts)
    return Refusal(error, may_retry=request.can_be_repeated, is_about_request=False)


def _judge_foreign(request: PreparedRequest, answer: Answer, reason: str) -> Refusal:
    """Judges a reply that the service did not write. A proxy that answers 4xx has not passed the request on."""
    text = f"{reason} (HTTP {answer.http_status})"
    if answer.http_status == 429:
        return _rate_limited(request, answer, None, "Too many requests")
    is_refusal = 300 <= answer.http_status < 500
    if request.action.writes and not is_refusal:
        return _unknown(request, text)
    error = UnexpectedReply(f"The reply cannot be read: {text}", request.facts, answer.http_status)
    return Refusal(error, may_retry=answer.http_status >= 500, is_about_request=False)


def _judge_status(request: PreparedRequest, answer: Answer, body: dict[str, Any], status: int) -> Verdict:
    if status in (200, 202):
        return Success(body)
    message = str(body.get("message", ""))
    if answer.http_status == 429:
        return _rate_limited(request, answer, body, message)
    if status == 201 and request.action.writes:
        error: KasuwaError = UnreadableOutcome(
            message, request.facts, reply=body, state=None, http_status=answer.http_status
        )
        return Refusal(error, may_retry=False, is_about_request=True)
    if status == 204 and NOT_KNOWN in message and request.action.writes:
        return _unknown(request, message)
    kind = STATUS_ERRORS.get(status, Refused)
    error = kind(message, request.facts, status=status, reply=body, http_status=answer.http_status)
    is_before_operation = kind in (AuthenticationError, MalformedRequest, UnknownAction)
    may_retry = kind is ServiceError and answer.http_status == 503
    return Refusal(error, may_retry, is_about_request=not (is_before_operation or may_retry))


def _rate_limited(request: PreparedRequest, answer: Answer, body: Any, message: str) -> Refusal:
    error = RateLimited(message, request.facts, status=204, reply=body, http_status=429)
    error.retry_after = read_retry_after(answer.headers.get("retry-after", ""))
    return Refusal(error, may_retry=True, is_about_request=False, retry_after=error.retry_after)


def read_retry_after(text: str) -> float | None:
    """Returns the seconds of a Retry-After header, or None if it has none. Its form as a date is not used here."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
