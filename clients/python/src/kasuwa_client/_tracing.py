"""OpenTelemetry spans of calls, in applications that use OpenTelemetry. Others pay for one look-up."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kasuwa_client._version import __version__
from kasuwa_client.errors import CallFacts, KasuwaError, Refused

if TYPE_CHECKING:
    from opentelemetry.trace import Span

# The library that an application imports to be traced. It is not imported here: one that has not done so has no spans.
LIBRARY = "opentelemetry.trace"


class CallSpan:
    """The span of a call. It has references and statuses, and no other field of a request or a reply."""

    def __init__(self, span: Span | None = None) -> None:
        self._span = span

    def headers(self) -> dict[str, str]:
        """Returns the headers that name this span to the service, by the propagators of the application."""
        carrier: dict[str, str] = {}
        if self._span is not None and self._span.get_span_context().is_valid:
            from opentelemetry.propagate import inject

            inject(carrier)
        return carrier

    def note_attempt(self, attempt: int, http_status: int | None) -> None:
        """Notes the number of an attempt, and its HTTP status, None if it got no reply."""
        if self._span is not None:
            self._span.set_attribute("kasuwa.attempts", attempt)
            if http_status is not None:
                self._span.set_attribute("http.response.status_code", http_status)

    def note_retry(self, error: KasuwaError, pause_seconds: float) -> None:
        if self._span is not None:
            facts: dict[str, Any] = {"error.type": type(error).__name__, "kasuwa.pause_seconds": pause_seconds}
            self._span.add_event("kasuwa.retry", facts)

    def note_error(self, error: KasuwaError) -> None:
        """Marks the span as failed, by the class of the error and its codes. Its text is not shown."""
        if self._span is not None:
            from opentelemetry.trace import Status, StatusCode

            self._span.set_attribute("error.type", type(error).__name__)
            if isinstance(error, Refused):
                self._span.set_attribute("kasuwa.status", error.status)
                self._span.set_attribute("kasuwa.code", error.code)
            self._span.set_status(Status(StatusCode.ERROR))


@contextmanager
def call_span(mid: str, facts: CallFacts) -> Generator[CallSpan, None, None]:
    """Makes a call's span the current one for the block, as a child of the application's."""
    library = sys.modules.get(LIBRARY)
    if library is None:
        yield CallSpan()
        return
    known = {
        "kasuwa.action": facts.action,
        "kasuwa.mid": mid,
        "kasuwa.request_id": facts.request_id,
        "kasuwa.order_ref": facts.order_ref,
    }
    attributes = {name: value for name, value in known.items() if value}
    tracer = library.get_tracer("kasuwa_client", __version__)
    with tracer.start_as_current_span(
        f"kasuwa {facts.action}",
        kind=library.SpanKind.CLIENT,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        span = CallSpan(current)
        try:
            yield span
        except KasuwaError as error:
            span.note_error(error)
            raise
