"""The description of an action, and the request that a call of it sends. Has no I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar

from kasuwa_client._notation import FieldTable, encode_fields
from kasuwa_client.errors import CallFacts

T = TypeVar("T")

# How an action may be sent again whose reply did not arrive.
READ, ORDER_REF, IDEMPOTENCY_KEY, NEVER = "read", "order_ref", "idempotency_key", "never"


@dataclass(frozen=True)
class Action(Generic[T]):
    """One action of the API. T is the type of its result, or of the records of a list."""

    name: str  # disburse.transfer
    path: str
    selectors: Mapping[str, str]  # body fields that select the action
    fields: FieldTable
    reply: str  # notation of the reply
    repeat: str = READ
    accepts_idempotency_key: bool = False
    writes: bool = False
    record: str = ""  # of a list: notation of its records
    paging: str = "none"
    newest_first: bool = False


@dataclass(frozen=True)
class PreparedRequest:
    """A request as it is sent, once or several times."""

    action: Action[Any]
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    content: bytes
    facts: CallFacts

    @property
    def can_be_repeated(self) -> bool:
        """Whether the request may be sent again although an earlier attempt may have been executed."""
        if self.action.repeat == READ:
            return True
        return self.facts.order_ref is not None or self.facts.idempotency_key is not None


def prepare(
    action: Action[Any],
    arguments: Mapping[str, Any],
    types: Mapping[str, FieldTable],
    *,
    idempotency_key: str | None = None,
    headers: Mapping[str, str],
    make_reference: Callable[[], str] | None,
) -> PreparedRequest:
    """Returns the request of a call. `make_reference` makes the orderRef or Idempotency-Key that the caller left out;
    if it is None, none is made. Raises TypeError that names every argument of a wrong type."""
    body: dict[str, Any] = {**action.selectors, **encode_fields(action.fields, arguments, types)}
    order_ref = body.get("orderRef") if action.repeat == ORDER_REF else None
    if idempotency_key is not None and not _is_idempotency_key(idempotency_key):
        raise ValueError("idempotency_key: must be 1 to 255 ASCII characters without control characters")
    if make_reference is not None:
        if action.repeat == ORDER_REF and order_ref is None:
            order_ref = body["orderRef"] = make_reference()
        if action.repeat == IDEMPOTENCY_KEY and idempotency_key is None:
            idempotency_key = make_reference()
        if action.name == "disburse.transfer_bulk" and "data" in body:
            orders: list[dict[str, Any]] = body["data"]
            body["data"] = [{"orderRef": make_reference(), **order} for order in orders]
    sent_headers = dict(headers)
    if idempotency_key is not None:
        sent_headers["idempotency-key"] = idempotency_key
    content = json.dumps(body, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_encode_value)
    request_id = sent_headers.get("x-request-id", "")
    facts = CallFacts(action.name, request_id, order_ref, idempotency_key, body.get("customer_txnref"))
    return PreparedRequest(action, f"/{action.path}", sent_headers, body, content.encode(), facts)


def _encode_value(value: object) -> str:
    """Returns a value in an object of the merchant's own that JSON has no form for."""
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    raise TypeError(f"a value of type {type(value).__name__} cannot be sent as JSON")


def _is_idempotency_key(key: object) -> bool:
    return isinstance(key, str) and 1 <= len(key) <= 255 and key.isascii() and key.isprintable() and key == key.strip()
