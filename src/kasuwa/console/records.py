"""The pages of every kind of record in record_table.py: list, record, and the forms that create and change one."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.events import parse_int
from kasuwa.console.forms import ActionForm, build_request, set_nested
from kasuwa.console.record_kind import RecordKind
from kasuwa.console.visit import ActionReply, NotFound, Visit

PAGE_SIZE = 50
# Largest limit that the API's list actions accept.
MAX_LIST_LIMIT = 200
# Name of the file input of a form that takes a file.
FILE_FIELD = "file"


async def show_list(kind: RecordKind, visit: Visit, status: int = 200, **values: Any) -> Response:
    offset = parse_int(visit.query.get("offset", ""), 0)
    rows: list[dict[str, Any]] = []
    total, limit = 0, PAGE_SIZE
    if kind.list_action:
        reply = await visit.call_action(
            kind.list_method or kind.method, **{kind.selector: kind.list_action, "offset": offset, "limit": PAGE_SIZE}
        )
        rows = reply.body.get("data", []) if reply.is_success else []
        total = reply.body.get("total", offset + len(rows) + (len(rows) == PAGE_SIZE))
        limit = reply.body.get("limit", PAGE_SIZE)
    shared: dict[str, Any] = {
        "kind": kind,
        "rows": rows,
        "next_url": f"/{kind.name}?offset={offset + limit}" if offset + limit < total else "",
        "first_url": f"/{kind.name}" if offset else "",
        "create_forms": allowed_forms(visit, kind, kind.create_forms),
        "submitted": {},
        "open_form": "",
    }
    return visit.render("records.html", status, **{**shared, **values})


def allowed_forms(visit: Visit, kind: RecordKind, forms: tuple[ActionForm, ...]) -> list[ActionForm]:
    """Returns the forms whose actions are deployed and allowed for the user's role."""
    return [form for form in forms if is_form_allowed(visit, kind, form)]


def is_form_allowed(visit: Visit, kind: RecordKind, form: ActionForm) -> bool:
    fields = {form.selector or kind.action_selector: form.action, **dict(form.fixed_values)}
    action = visit.services.find_action(kind.method, fields)
    return action is not None and visit.is_allowed(action, fields)


async def redirect_to_record(kind: RecordKind, visit: Visit) -> Response:
    """Redirects from the search form to the record with the given reference."""
    reference = visit.query.get("reference", "").strip()[:200]
    return visit.redirect(f"/{kind.name}/{quote(reference, safe='')}" if reference else f"/{kind.name}")


# --- one record ---------------------------------------------------------------------------------------------------


async def find_record(kind: RecordKind, visit: Visit) -> dict[str, Any]:
    """Returns the record that the path names. Raises NotFound."""
    reference = visit.path_parameter("reference")
    if kind.view_action:
        reply = await visit.call_action(kind.method, **{kind.selector: kind.view_action, kind.key_field: reference})
        if not reply.is_success:
            raise NotFound
        return extract_record(kind, reply)
    return await find_in_list(kind, visit, reference)


async def find_in_list(kind: RecordKind, visit: Visit, reference: str) -> dict[str, Any]:
    """Returns a record of a kind that has no view action, by reading its whole list. Raises NotFound."""
    offset = 0
    while True:
        request = {kind.selector: kind.list_action, "offset": offset, "limit": MAX_LIST_LIMIT}
        rows = (await visit.call_action(kind.list_method or kind.method, **request)).body.get("data", [])
        row = next((row for row in rows if row.get(kind.key_field) == reference), None)
        if row is not None:
            return dict(row)
        if not rows:
            raise NotFound
        offset += len(rows)


def extract_record(kind: RecordKind, reply: ActionReply) -> dict[str, Any]:
    """Returns the record in a reply: its `data` or `card_data` if there is one, else the reply itself."""
    if kind.record_field and kind.record_field in reply.body:
        return {**reply.body[kind.record_field], kind.name: reply.body["data"]}
    for name in ("data", "card_data"):
        if isinstance(reply.body.get(name), dict):
            return dict(reply.body[name])
    return {name: value for name, value in reply.body.items() if name not in ("status", "message")}


async def show_record(kind: RecordKind, visit: Visit, status: int = 200, **values: Any) -> Response:
    related_lists = []
    async with visit.snapshot():
        row = await find_record(kind, visit)
        for title, action in kind.related_lists:
            if visit.services.has_action(kind.method, action):
                reply = await visit.call_action(
                    kind.method, **{kind.selector: action, kind.key_field: visit.path_parameter("reference")}
                )
                related_lists.append((title, reply.body.get("data", []) if reply.is_success else []))
    state = str(row.get(kind.state_field, ""))
    forms = [
        form
        for form in allowed_forms(visit, kind, kind.update_forms)
        if not form.allowed_states or state in form.allowed_states
    ]
    shared: dict[str, Any] = {"kind": kind, "row": row, "state": state, "related_lists": related_lists}
    shared |= {"forms": forms, "submitted": {}, "open_form": "", "reference": visit.path_parameter("reference")}
    return visit.render("record.html", status, **{**shared, **values})


# --- forms --------------------------------------------------------------------------------------------------------


async def create_record(kind: RecordKind, visit: Visit) -> Response:
    form = next(
        (form for form in allowed_forms(visit, kind, kind.create_forms) if form.name == visit.path_parameter("form")),
        None,
    )
    if form is None:
        raise NotFound
    selected = {form.selector or kind.action_selector: form.action}
    request = {**selected, **dict(form.fixed_values), **build_request(form.fields, visit.form_text)}
    reply = await visit.run_action(kind.method, request, form.label.lower())
    if not reply.is_success:
        faults = shown_faults(form, reply)
        return await show_list(kind, visit, 422, faults=faults, submitted=dict(visit.form), open_form=form.name)
    return visit.render(
        "record_created.html", kind=kind, form=form, row=extract_record(kind, reply), message=reply.message
    )


def shown_faults(form: ActionForm, reply: ActionReply) -> dict[str, str]:
    """Returns error texts by field. Those of fields that the form does not show are under the empty name."""
    names = {field.name for field in form.fields}
    hidden = [f"{name}: {reason}" if name else reason for name, reason in reply.faults.items() if name not in names]
    shown = {name: reason for name, reason in reply.faults.items() if name in names}
    return {**shown, "": "; ".join(hidden)} if hidden else shown


async def update_record(kind: RecordKind, visit: Visit) -> Response:
    async with visit.snapshot():
        row = await find_record(kind, visit)
    form = next(
        (form for form in allowed_forms(visit, kind, kind.update_forms) if form.name == visit.path_parameter("form")),
        None,
    )
    if form is None:
        raise NotFound
    copied = {name: row[name] for name in form.copied_fields}
    request = {
        form.selector or kind.action_selector: form.action,
        kind.key_field: visit.path_parameter("reference"),
        **dict(form.fixed_values),
        **copied,
    }
    request |= build_request(form.fields, visit.form_text)
    files = await visit.uploads(FILE_FIELD) if form.file_list else []
    if files:
        contents = [{"name": name, "content": b64encode(content).decode()} for name, content in files]
        set_nested(request, form.file_list, contents)
    reply = await visit.run_action(kind.method, request, form.label.lower())
    if not reply.is_success:
        faults = shown_faults(form, reply)
        return await show_record(kind, visit, 422, faults=faults, submitted=dict(visit.form), open_form=form.name)
    reference = visit.path_parameter("reference")
    return visit.redirect(f"/{kind.name}/{quote(reference, safe='')}", reply.message or "Done.")


View = Callable[[Visit], Awaitable[Response]]


def bind_kind(handler: Callable[..., Awaitable[Response]], kind: RecordKind) -> View:
    """Returns the handler of a route: one of the functions above with its kind filled in."""
    return partial(handler, kind)
