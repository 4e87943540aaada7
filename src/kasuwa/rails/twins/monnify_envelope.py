"""The envelope of Monnify's replies, and the pages of its lists."""

from collections.abc import Mapping
from typing import Any, Literal

from aiohttp import web

from kasuwa.rails.twins.facts import ROWS_PER_PAGE
from kasuwa.rails.twins.forms import Problem

# How a list tells its end: by `last`, by the number of its pages or of its rows, or by a page without rows alone.
PageMarker = Literal["last", "totalPages", "totalElements", "none"]


def good(body: Any, code: str | int = "0") -> web.Response:
    return web.json_response(
        {"requestSuccessful": True, "responseMessage": "success", "responseCode": code, "responseBody": body}
    )


def refused(http: int, code: str | int, words: str) -> web.Response:
    body = {"requestSuccessful": False, "responseMessage": words, "responseCode": code}
    return web.json_response(body, status=http)


def refuse_form(problem: Problem) -> web.Response:
    words = {
        "unknown": f"Unrecognized field {problem.name}",
        "missing": f"{problem.name} is required",
        "invalid": f"{problem.name} is not valid",
    }[problem.kind]
    return refused(400, "99", words)


def paged(
    rows: list[dict[str, Any]],
    query: Mapping[str, str],
    marker: PageMarker = "last",
    names: tuple[str, str] = ("page", "size"),
) -> web.Response:
    """Returns one page of a list. `names` are those of its parameters."""
    page, size = int(query.get(names[0], "0")), min(max(int(query.get(names[1], "10")), 1), ROWS_PER_PAGE)
    markers: dict[str, Any] = {
        "last": (page + 1) * size >= len(rows),
        "totalPages": -(-len(rows) // size),
        "totalElements": len(rows),
    }
    shown = {"content": rows[page * size : (page + 1) * size]}
    return good(shown | ({marker: markers[marker]} if marker != "none" else {}))
