"""Pages of lists, and how to continue after one. Flows, as in _flow.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from kasuwa_client._action import Action
from kasuwa_client._flow import DECODER, Flow, Settings, exchange, prepare_call

T = TypeVar("T")


@dataclass(frozen=True)
class PageContents(Generic[T]):
    """The records of one page, and how the list continues."""

    action: Action[T]
    arguments: Mapping[str, Any]  # of the request that returned this page
    data: tuple[T, ...]
    total: int | None  # records of the whole list; None if the reply does not say it
    offset: int
    next_arguments: Mapping[str, Any] | None  # None: this was the last page
    raw: Any


def fetch_page(settings: Settings, action: Action[T], arguments: Mapping[str, Any]) -> Flow[PageContents[T]]:
    """Returns the page that a list request returns."""
    body = yield from exchange(settings, prepare_call(settings, action, arguments))
    return read_page(action, arguments, body)


def fetch_next(settings: Settings, page: PageContents[T]) -> Flow[PageContents[T] | None]:
    """Returns the page after this one, or None.

    New records come first in a list that is newest first, and move the others to later places. As many records as the
    list has grown by are then repeated at the beginning of the next page, and are dropped.
    """
    if page.next_arguments is None:
        return None
    following = yield from fetch_page(settings, page.action, page.next_arguments)
    if page.action.newest_first and page.total is not None and following.total is not None:
        repeated = max(0, following.total - page.total)
        following = PageContents(**{**vars(following), "data": following.data[repeated:]})
    return following


def read_page(action: Action[T], arguments: Mapping[str, Any], body: Any) -> PageContents[T]:
    lines = body if isinstance(body, list) else body.get("data", [])
    data = cast("tuple[T, ...]", DECODER.decode(f"[{action.record}]", lines))
    offset = arguments.get("offset") or 0
    following: dict[str, Any] | None
    if action.paging == "feed":
        following = {**arguments, "after": body.get("last")} if body.get("more") else None
        return PageContents(action, arguments, data, None, offset, following, body)
    # A page that would be too long is cut: it continues after the records that came.
    reached = offset + len(lines)
    if action.paging == "array":
        following = {**arguments, "offset": reached} if lines and not arguments.get("id") else None
        return PageContents(action, arguments, data, None, offset, following, body)
    total = body.get("total", reached)
    following = {**arguments, "offset": reached} if lines and reached < total else None
    return PageContents(action, arguments, data, total, offset, following, body)
