"""The flow of a call: attempts, pauses, retries, polling and paging, for the sync and the async client alike.

A flow is a generator without I/O. It yields what is to be done (Send, Pause) and is sent what came of it. The
transports of _transport.py drive it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import random
from time import monotonic
from typing import Any, Callable, NamedTuple, TypeVar, Union, cast
from uuid import uuid4

from kasuwa_client import types
from kasuwa_client._action import Action, PreparedRequest, prepare
from kasuwa_client._events import AttemptFailed, CallEvent, Hook, ReplyReceived, RequestSent, Retrying
from kasuwa_client._judge import Answer, Failure, Success, judge
from kasuwa_client._masking import mask, mask_headers
from kasuwa_client._notation import Decoder
from kasuwa_client._result import no_fields
from kasuwa_client._tables import TYPES
from kasuwa_client._tracing import CallSpan, call_span
from kasuwa_client.errors import KasuwaError, OutcomeUnknown, UnreadableOutcome

T = TypeVar("T")
logger = logging.getLogger("kasuwa_client")
DECODER = Decoder(TYPES, vars(types))


class Send(NamedTuple):
    """Send the request, and return its Answer or Failure."""

    request: PreparedRequest
    timeout_seconds: float  # of each step: connect, write, read
    until: float  # the monotonic time at which the attempt ends anyway


class Pause(NamedTuple):
    seconds: float


Effect = Union[Send, Pause]
Flow = Generator[Effect, Union[Answer, Failure, None], T]


@dataclass(frozen=True)
class RetryPolicy:
    """The pace and number of retries. Only what is safe is repeated, whatever the numbers are."""

    max_retries: int = 3
    initial_seconds: float = 0.25  # longest pause before the first retry; doubles with each
    max_seconds: float = 8.0
    # Of all attempts and pauses together. The head of a reply that comes in pieces is bounded by the client's timeout
    # for each piece alone.
    deadline_seconds: float = 90.0

    def pause_seconds(self, retries: int, retry_after: float | None, jitter: float) -> float:
        """Returns the pause before the next attempt: half of it fixed, half random. `jitter` is between 0 and 1."""
        longest = min(self.max_seconds, self.initial_seconds * float(2**retries))
        return max(retry_after or 0.0, longest * (0.5 + jitter / 2))


DEFAULT_RETRY = RetryPolicy()


@dataclass(frozen=True)
class Settings:
    """The options that all calls of a client have in common."""

    mid: str
    key: str = field(repr=False)
    timeout_seconds: float = 30.0
    retry: RetryPolicy = DEFAULT_RETRY
    make_references: bool = True
    hooks: tuple[Hook, ...] = ()
    extra_headers: Mapping[str, str] = field(default_factory=no_fields)
    clock: Callable[[], float] = monotonic
    jitter: Callable[[], float] = random

    def tell(self, event: CallEvent) -> None:
        """Calls the hooks. One that raises is logged and does not change the outcome of the call."""
        for hook in self.hooks:
            try:
                hook(event)
            except Exception as error:
                logger.error("a hook raised %s", type(error).__name__)


def make_reference() -> str:
    return f"kc-{uuid4().hex}"


def prepare_call(
    settings: Settings, action: Action[Any], arguments: Mapping[str, Any], idempotency_key: str | None = None
) -> PreparedRequest:
    headers = {
        "content-type": "application/json",
        "accept": "application/json",
        "x-request-id": uuid4().hex,
        **settings.extra_headers,
        "mid": settings.mid,
        "key": settings.key,
    }
    return prepare(
        action,
        arguments,
        TYPES,
        idempotency_key=idempotency_key,
        headers=headers,
        make_reference=make_reference if settings.make_references else None,
    )


def call(
    settings: Settings, action: Action[T], arguments: Mapping[str, Any], idempotency_key: str | None = None
) -> Flow[T]:
    """Calls an action and returns its typed result."""
    body = yield from exchange(settings, prepare_call(settings, action, arguments, idempotency_key))
    return cast(T, DECODER.decode(action.reply, body))


def exchange(settings: Settings, request: PreparedRequest) -> Flow[Any]:
    """Sends a request until it has a definite reply, and returns the body of that reply."""
    with call_span(settings.mid, request.facts) as span:
        traced = replace(request, headers={**span.headers(), **request.headers})
        return (yield from _exchange(settings, traced, span))


def _exchange(settings: Settings, request: PreparedRequest, span: CallSpan) -> Flow[Any]:
    until = settings.clock() + settings.retry.deadline_seconds
    attempt = 0
    unknown: OutcomeUnknown | None = None
    while True:
        attempt += 1
        outcome = yield from _attempt(settings, request, attempt, until)
        span.note_attempt(attempt, outcome.http_status if isinstance(outcome, Answer) else None)
        verdict = judge(request, outcome)
        if isinstance(verdict, Success):
            return verdict.body
        # An earlier attempt may have been executed. A later one that never got to the operation says nothing of it.
        if isinstance(verdict.error, OutcomeUnknown) and not verdict.is_about_request:
            unknown = verdict.error
        error = verdict.error if unknown is None or verdict.is_about_request else unknown
        pause = settings.retry.pause_seconds(attempt - 1, verdict.retry_after, settings.jitter())
        if not verdict.may_retry or attempt > settings.retry.max_retries or settings.clock() + pause >= until:
            raise _with_state(error, request)
        facts = request.facts
        span.note_retry(verdict.error, pause)
        settings.tell(Retrying(facts.action, attempt, facts.request_id, pause, type(verdict.error).__name__))
        yield Pause(pause)


def _with_state(error: KasuwaError, request: PreparedRequest) -> KasuwaError:
    """Adds the typed reply to an error of status 201, so that wait() accepts it."""
    if isinstance(error, UnreadableOutcome):
        error.state = DECODER.decode(request.action.reply, error.reply)
    return error


def _attempt(settings: Settings, request: PreparedRequest, attempt: int, until: float) -> Flow[Answer | Failure]:
    facts = request.facts
    begun = settings.clock()
    if settings.hooks:
        shown = mask(request.body)
        settings.tell(
            RequestSent(facts.action, attempt, facts.request_id, request.path, mask_headers(request.headers), shown)
        )
    outcome = yield Send(request, min(settings.timeout_seconds, max(until - begun, 0.001)), until)
    assert outcome is not None
    seconds = settings.clock() - begun
    if isinstance(outcome, Failure):
        logger.debug("%s attempt %d failed: %s", facts.action, attempt, outcome.reason)
        settings.tell(AttemptFailed(facts.action, attempt, facts.request_id, outcome.reason, seconds))
    else:
        logger.debug("%s attempt %d: HTTP %d", facts.action, attempt, outcome.http_status)
        if settings.hooks:
            settings.tell(
                ReplyReceived(
                    facts.action, attempt, facts.request_id, outcome.http_status, seconds, _shown(outcome.content)
                )
            )
    return outcome


def _shown(content: bytes) -> Any:
    try:
        return mask(json.loads(content, parse_float=Decimal))
    except ValueError:
        return None


def with_deadline(settings: Settings, seconds: float) -> Settings:
    """Returns settings whose calls end within so many seconds."""
    shorter = min(settings.retry.deadline_seconds, max(seconds, 0.001))
    return replace(settings, retry=replace(settings.retry, deadline_seconds=shorter))
