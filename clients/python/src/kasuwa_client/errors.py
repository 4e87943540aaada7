"""Exceptions of the client: one class per status of the contract, and those of requests without a definite reply.

    KasuwaError
    ├── ServiceUnreachable       nothing was sent, or a read got no reply
    ├── UnexpectedReply          a reply that the service did not write, such as a proxy's refusal
    ├── OutcomeUnknown           the operation may or may not have been executed
    │   ├── UnreadableOutcome    status 201 of a write: the service asks the rail again
    │   └── StillPending         wait() ran out of time
    ├── InvalidSignature         an event that the service did not sign
    └── Refused                  the service replied with an error: one class per status
        ├── AuthenticationError  101
        ├── UnknownAction        102
        ├── MalformedRequest     103
        ├── InvalidRequest       104
        ├── UnreadableAnswer     201
        ├── NotValidated         203
        ├── ServiceError         204
        ├── RateLimited          204 with HTTP 429
        └── InsufficientFunds    301

A message never holds a secret. `reply` is what the service sent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kasuwa_client._json import as_array, as_object


class FieldError(NamedTuple):
    """One fault of a request."""

    field: str
    reason: str
    code: str = ""  # one of FieldCode, or of a newer service
    value: str | None = None  # what was sent, as text; `***` for a secret, None for an object or an array


class CallFacts(NamedTuple):
    """The facts about a call that every error carries."""

    action: str = ""  # such as "disburse.transfer"
    request_id: str = ""  # x-request-id of the request, which the service writes to its log
    order_ref: str | None = None  # the orderRef that was sent, also if the client made it
    idempotency_key: str | None = None  # the Idempotency-Key that was sent, also if the client made it
    customer_txnref: str | None = None  # the merchant's own reference of a payment


NO_FACTS = CallFacts()


class KasuwaError(Exception):
    """Parent of all exceptions of the client."""

    def __init__(self, message: str, call: CallFacts = NO_FACTS) -> None:
        super().__init__(message)
        self.message = message
        self.call = call

    @property
    def action(self) -> str:
        return self.call.action

    @property
    def request_id(self) -> str:
        return self.call.request_id

    @property
    def order_ref(self) -> str | None:
        return self.call.order_ref

    @property
    def idempotency_key(self) -> str | None:
        return self.call.idempotency_key

    def __str__(self) -> str:
        where = [part for part in (self.action, f"request {self.request_id}" if self.request_id else "") if part]
        return f"{self.message} ({', '.join(where)})" if where else self.message


class ServiceUnreachable(KasuwaError):
    """The service could not be reached and nothing was executed, or a read got no reply."""


class UnexpectedReply(KasuwaError):
    """The reply is not one of the service, and nothing was executed. A proxy or a wrong address may be the cause."""

    def __init__(self, message: str, call: CallFacts = NO_FACTS, http_status: int | None = None) -> None:
        super().__init__(message, call)
        self.http_status = http_status


class InvalidSignature(KasuwaError):
    """An event is not signed with any of the keys, or is too old."""


class Refused(KasuwaError):
    """The service replied with an error. Statuses that this version does not know raise this class itself.

    `code` says what is wrong, for programs (see ErrorCode), and `doc_url` is the page about it.
    """

    code: str
    doc_url: str

    def __init__(
        self, message: str, call: CallFacts = NO_FACTS, *, status: int, reply: Any = None, http_status: int = 200
    ) -> None:
        super().__init__(message, call)
        self.status = status
        self.reply = reply
        self.http_status = http_status
        self.errors = _read_errors(reply)
        facts = as_object(reply) or {}
        self.code = str(facts.get("code", ""))
        self.doc_url = str(facts.get("doc_url", ""))

    def __str__(self) -> str:
        return f"status {self.status}: {super().__str__()}"


class AuthenticationError(Refused):
    """Status 101: the mid or the key is wrong, or the merchant is suspended."""


class UnknownAction(Refused):
    """Status 102: the path has no such action. `/sandbox` exists in the test environment only."""


class MalformedRequest(Refused):
    """Status 103: the body is not a complete JSON object, or is too large."""


class InvalidRequest(Refused):
    """Status 104: the request is not valid. `errors` names each faulty field with the reason."""


class UnreadableAnswer(Refused):
    """Status 201: a rail answered something that cannot be read. Of a write, see UnreadableOutcome."""


class NotValidated(Refused):
    """Status 203: a code or PIN is wrong, expired or used up."""


class ServiceError(Refused):
    """Status 204: an error of the service, and nothing was executed."""


class RateLimited(ServiceError):
    """HTTP 429: too many requests. `retry_after` is the number of seconds to wait, if the reply has it."""

    retry_after: float | None = None


class InsufficientFunds(Refused):
    """Status 301: the wallet, or the card that is named, does not cover the amount."""


class OutcomeUnknown(KasuwaError):
    """The operation may or may not have been executed.

    Verify by your reference, or send the same request again with the same `order_ref` or `idempotency_key`: it is not
    executed twice. `state` is the last known state, or None.
    """

    def __init__(self, message: str, call: CallFacts = NO_FACTS, *, state: Any = None) -> None:
        super().__init__(message, call)
        self.state = state


class StillPending(OutcomeUnknown):
    """The outcome was not final when the time of wait() was over. `state` is the last reply of verify, or None."""


class UnreadableOutcome(OutcomeUnknown, UnreadableAnswer):
    """Status 201 of a write: the rail's answer could not be read. `state` is the reply, which wait() accepts."""

    def __init__(
        self, message: str, call: CallFacts = NO_FACTS, *, reply: Any, state: Any, http_status: int = 200
    ) -> None:
        UnreadableAnswer.__init__(self, message, call, status=201, reply=reply, http_status=http_status)
        self.state = state


STATUS_ERRORS: dict[int, type[Refused]] = {
    101: AuthenticationError,
    102: UnknownAction,
    103: MalformedRequest,
    104: InvalidRequest,
    201: UnreadableAnswer,
    203: NotValidated,
    204: ServiceError,
    301: InsufficientFunds,
}


def _read_errors(reply: Any) -> tuple[FieldError, ...]:
    fields = as_object(reply)
    found = None if fields is None else as_array(fields.get("errors"))
    errors = [as_object(one) for one in found or ()]
    return tuple(_read_error(one) for one in errors if one is not None)


def _read_error(fault: Any) -> FieldError:
    value = fault.get("value")
    field, reason, code = (str(fault.get(name, "")) for name in ("field", "reason", "code"))
    return FieldError(field, reason, code, None if value is None else str(value))
