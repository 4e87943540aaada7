"""The pages of every kind of record: a list, one of them, what can be done. record_table.py says which there are."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.events import number
from kasuwa.console.forms import Form, typed
from kasuwa.console.record_table import Records
from kasuwa.console.visit import NotFound, Reply, Visit

PAGE = 50
# The most that a list of the API answers at once.
MOST_LISTED = 200


async def show_list(kind: Records, visit: Visit, status: int = 200, **told: Any) -> Response:
    offset = number(visit.query.get("offset", ""), 0)
    rows: list[dict[str, Any]] = []
    total, served = 0, PAGE
    if kind.lists:
        reply = await visit.act(
            kind.lister or kind.method, **{kind.selector: kind.lists, "offset": offset, "limit": PAGE}
        )
        rows = reply.body.get("data", []) if reply.is_good else []
        total = reply.body.get("total", offset + len(rows) + (len(rows) == PAGE))
        served = reply.body.get("limit", PAGE)
    shared: dict[str, Any] = {
        "kind": kind,
        "rows": rows,
        "older": f"/{kind.name}?offset={offset + served}" if offset + served < total else "",
        "newest": f"/{kind.name}" if offset else "",
        "makes": allowed(visit, kind, kind.makes),
        "said": {},
        "asked": "",
    }
    return visit.show("records.html", status, **{**shared, **told})


def allowed(visit: Visit, kind: Records, forms: tuple[Form, ...]) -> list[Form]:
    """The forms whose actions are there and allowed to the visitor's role."""
    return [form for form in forms if may_use(visit, kind, form)]


def may_use(visit: Visit, kind: Records, form: Form) -> bool:
    fields = {kind.selector: form.action, **dict(form.fixed)}
    action = visit.parts.find_action(kind.method, fields)
    return action is not None and visit.may(action, fields)


async def look_up(kind: Records, visit: Visit) -> Response:
    """A record that is not listed, by its reference."""
    reference = visit.query.get("reference", "").strip()[:200]
    return visit.go(f"/{kind.name}/{quote(reference, safe='')}" if reference else f"/{kind.name}")


# --- one of them --------------------------------------------------------------------------------------------------


async def find(kind: Records, visit: Visit) -> dict[str, Any]:
    reference = visit.path("reference")
    if kind.shows:
        reply = await visit.act(kind.method, **{kind.selector: kind.shows, kind.key: reference})
        if not reply.is_good:
            raise NotFound
        return record_in(reply)
    return await find_listed(kind, visit, reference)


async def find_listed(kind: Records, visit: Visit, reference: str) -> dict[str, Any]:
    """One that the API shows in its list alone, however long that is."""
    offset = 0
    while True:
        asked = {kind.selector: kind.lists, "offset": offset, "limit": MOST_LISTED}
        rows = (await visit.act(kind.lister or kind.method, **asked)).body.get("data", [])
        row = next((row for row in rows if row.get(kind.key) == reference), None)
        if row is not None:
            return dict(row)
        if not rows:
            raise NotFound
        offset += len(rows)


def record_in(reply: Reply) -> dict[str, Any]:
    """Some replies hold their record, others are it."""
    for name in ("data", "card_data"):
        if isinstance(reply.body.get(name), dict):
            return dict(reply.body[name])
    return {name: value for name, value in reply.body.items() if name not in ("status", "message")}


async def show_one(kind: Records, visit: Visit, status: int = 200, **told: Any) -> Response:
    beside = []
    async with visit.snapshot():
        row = await find(kind, visit)
        for title, action in kind.beside:
            if visit.parts.has_action(kind.method, action):
                reply = await visit.act(kind.method, **{kind.selector: action, kind.key: visit.path("reference")})
                beside.append((title, reply.body.get("data", []) if reply.is_good else []))
    state = str(row.get(kind.state, ""))
    forms = [form for form in allowed(visit, kind, kind.forms) if not form.states or state in form.states]
    shared: dict[str, Any] = {"kind": kind, "row": row, "state": state, "beside": beside, "forms": forms}
    shared |= {"said": {}, "asked": "", "reference": visit.path("reference")}
    return visit.show("record.html", status, **{**shared, **told})


# --- doing --------------------------------------------------------------------------------------------------------


async def make(kind: Records, visit: Visit) -> Response:
    form = next((form for form in allowed(visit, kind, kind.makes) if form.name == visit.path("form")), None)
    if form is None:
        raise NotFound
    request = {kind.selector: form.action, **dict(form.fixed), **typed(form.asks, visit.said)}
    reply = await visit.do(kind.method, request, form.label.lower())
    if not reply.is_good:
        return await show_list(kind, visit, 422, faults=reply.faults, said=dict(visit.form), asked=form.name)
    return visit.show("record_made.html", kind=kind, form=form, made=record_in(reply), message=reply.message)


async def change(kind: Records, visit: Visit) -> Response:
    async with visit.snapshot():
        row = await find(kind, visit)
    form = next((form for form in allowed(visit, kind, kind.forms) if form.name == visit.path("form")), None)
    if form is None:
        raise NotFound
    copied = {name: row[name] for name in form.copies}
    request = {kind.selector: form.action, kind.key: visit.path("reference"), **dict(form.fixed), **copied}
    reply = await visit.do(kind.method, {**request, **typed(form.asks, visit.said)}, form.label.lower())
    if not reply.is_good:
        return await show_one(kind, visit, 422, faults=reply.faults, said=dict(visit.form), asked=form.name)
    reference = visit.path("reference")
    return visit.go(f"/{kind.name}/{quote(reference, safe='')}", reply.message or "Done.")


Answer = Callable[[Visit], Awaitable[Response]]


def bound(handler: Callable[..., Awaitable[Response]], kind: Records) -> Answer:
    return partial(handler, kind)
