"""The events of a call that hooks receive. Secrets are masked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Union


@dataclass(frozen=True)
class RequestSent:
    """An attempt begins."""

    action: str
    attempt: int  # counted from 1
    request_id: str
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True)
class ReplyReceived:
    """An attempt got a complete reply."""

    action: str
    attempt: int
    request_id: str
    http_status: int
    seconds: float
    body: Any  # None if it is not JSON


@dataclass(frozen=True)
class AttemptFailed:
    """An attempt ended without a complete reply."""

    action: str
    attempt: int
    request_id: str
    reason: str
    seconds: float


@dataclass(frozen=True)
class Retrying:
    """The request is sent again after a pause."""

    action: str
    attempt: int  # that failed
    request_id: str
    pause_seconds: float
    error: str


CallEvent = Union[RequestSent, ReplyReceived, AttemptFailed, Retrying]
Hook = Callable[[CallEvent], None]
