"""Pages of lists, and how to continue after one. Flows, as in _flow.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
        following = replace(following, data=following.data[repeated:])
    return following


def read_page(action: Action[T], arguments: Mapping[str, Any], body: Any) -> PageContents[T]:
    reply: dict[str, Any] = {"data": body} if isinstance(body, list) else body
    lines: list[Any] = reply.get("data", [])
    data = cast("tuple[T, ...]", DECODER.decode(f"[{action.record}]", lines))
    offset = arguments.get("offset") or 0
    # A page that would be too long is cut: it continues after the records that came.
    reached = offset + len(lines)
    total: int | None = None
    following: dict[str, Any] = {**arguments, "offset": reached}
    if action.paging == "feed":
        has_next = bool(reply.get("more"))
        following = {**arguments, "after": reply.get("last")}
    elif action.paging == "cursor":
        # A page can be empty although others follow.
        has_next = reply.get("next_cursor") is not None
        following = {**arguments, "cursor": reply.get("next_cursor")}
    elif action.paging == "array":
        # The reply does not say how many there are. One that was asked for by its id is alone.
        has_next = bool(lines) and not arguments.get("id")
    else:
        total = reply.get("total", reached)
        has_next = bool(lines) and reached < (total or 0)
    return PageContents(action, arguments, data, total, offset, following if has_next else None, body)
