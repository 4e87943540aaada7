"""The envelope of Paystack's replies, and the pages of its lists."""

from collections.abc import Mapping
from typing import Any, Literal

from aiohttp import web

from kasuwa.rails.twins.facts import ROWS_PER_PAGE
from kasuwa.rails.twins.forms import Problem

# How a list tells its end: by the number of its pages, by that of its rows, or by a page without rows alone.
PageMarker = Literal["pageCount", "total", "none"]


def good(words: str, data: Any, http: int = 200) -> web.Response:
    return web.json_response({"status": True, "message": words, "data": data}, status=http)


def refused(http: int, words: str, **more: str) -> web.Response:
    return web.json_response({"status": False, "message": words, **more}, status=http)


def refuse_form(problem: Problem) -> web.Response:
    words = {
        "unknown": f'"{problem.name}" is not allowed',
        "missing": f"{problem.name} is required",
        "invalid": f"{problem.name} is invalid",
    }[problem.kind]
    code = "missing_params" if problem.kind == "missing" else "invalid_params"
    return refused(400, words, type="validation_error", code=code)


def paged(
    words: str,
    rows: list[dict[str, Any]],
    query: Mapping[str, str],
    size_name: str = "perPage",
    marker: PageMarker = "pageCount",
) -> web.Response:
    """Returns one page of a list. Another name of the page size than `size_name` is not looked at."""
    page, size = max(int(query.get("page", "1")), 1), min(max(int(query.get(size_name, "50")), 1), ROWS_PER_PAGE)
    meta: dict[str, Any] = {"skipped": (page - 1) * size, "page": page, "perPage": size}
    if marker != "none":
        meta["total"] = len(rows)
    if marker == "pageCount":
        meta["pageCount"] = -(-len(rows) // size)
    shown = rows[(page - 1) * size : page * size]
    return web.json_response({"status": True, "message": words, "data": shown, "meta": meta})
