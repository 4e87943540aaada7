"""The pages of every kind of record in table.py: list, record, and the forms that create and change one."""

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.responses import Response

from kasuwa.console.histories.added_fields import add_fields, add_page_fields
from kasuwa.console.kit.csv_text import csv_line
from kasuwa.console.kit.exports import csv_response, join_lines
from kasuwa.console.kit.forms import AMOUNT_MODE, ActionForm, build_request, set_nested
from kasuwa.console.kit.lists import filled, read_filters, read_list_view
from kasuwa.console.kit.people import list_suggestions, read_names
from kasuwa.console.kit.values import TIMESTAMP_PATTERN, remove_separators
from kasuwa.console.kit.visit import CONFIRMED, CONFIRMED_FIELD, ActionReply, NotFound, Visit
from kasuwa.console.kit.vocabulary import label
from kasuwa.console.merchant.events import parse_int
from kasuwa.console.records.extras import EXTRAS, EXTRAS_BELOW, LIST_EXTRAS
from kasuwa.console.records.fields import is_table
from kasuwa.console.records.form_previews import PREVIEW_FIELD, PREVIEWS, resolve_references
from kasuwa.console.records.kind import RecordKind
from kasuwa.core.calendar import lagos_text
from kasuwa.core.reading import Reader
from kasuwa.wire.decoding import InvalidRequest

PAGE_SIZE = 50
# Largest limit that the API's list actions accept.
MAX_LIST_LIMIT = 200
# Rows of a table on a record's page.
TABLE_ROWS = 50
# Name of the file input of a form that takes a file.
FILE_FIELD = "file"


async def show_list(kind: RecordKind, visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        shared = await read_list(kind, visit, reader)
    return visit.render("records.html", status, **{**shared, **values})


async def read_list(kind: RecordKind, visit: Visit, reader: Reader) -> dict[str, Any]:
    """Returns what the page of a list shows. Must be called while the page's snapshot is open."""
    offset = parse_int(visit.query.get("offset", ""), 0)
    filters = read_filters(visit, [field.name for field in kind.filters])
    page, names = ListPage([], 0, PAGE_SIZE, {}), dict[str, str]()
    create_forms = allowed_forms(visit, kind, kind.create_forms)
    if kind.list_action:
        page = await read_page(kind, visit, reader, filters, offset, PAGE_SIZE)
        page.rows = await add_fields(kind.name, visit, reader, page.rows)
        names = await read_names(visit, reader, page.rows)
    suggestions = await list_suggestions(visit, [*kind.filters, *(field for f in create_forms for field in f.fields)])
    available = list_columns(kind, page.rows)
    view = await read_list_view(visit, reader, kind.name, filters, kind.columns, available)
    extra = await LIST_EXTRAS[kind.name](visit) if kind.name in LIST_EXTRAS else {}
    following = offset + page.limit
    return {
        "kind": kind,
        "rows": [kind.present(row) for row in page.rows],
        "names": names,
        "list": view,
        "submitted_filters": filters,
        "filter_faults": page.faults,
        "next_url": view.url(offset=str(following)) if following < page.total else "",
        "first_url": view.url() if offset else "",
        "export_url": view.url(".csv"),
        "create_forms": create_forms,
        "suggestions": suggestions,
        # A link to a form may fill in its fields.
        "submitted": read_filters(visit, [field.name for form in create_forms for field in form.fields]),
        "open_form": visit.query.get("form", ""),
        "has_extra": kind.name in LIST_EXTRAS,
        **extra,
    }


class ListPage(msgspec.Struct):
    """One page of a list action."""

    rows: list[dict[str, Any]]
    total: int
    limit: int
    faults: dict[str, str]  # of the filters


async def read_page(
    kind: RecordKind,
    visit: Visit,
    reader: Reader,
    filters: Mapping[str, str],
    offset: int,
    limit: int = MAX_LIST_LIMIT,
) -> ListPage:
    request = list_request(kind, filters, offset, limit)
    unknown = await resolve_references(visit, reader, kind.filters, request, is_filter=True)
    if unknown:
        return ListPage([], 0, limit, unknown)
    reply = await visit.run_action(kind.list_method or kind.method, request)
    if not reply.is_success:
        return ListPage([], 0, limit, reply.faults)
    rows = reply.body.get("data", [])
    total = reply.body.get("total", offset + len(rows) + (len(rows) == limit))
    return ListPage(rows, total, reply.body.get("limit", limit), {})


def list_request(kind: RecordKind, filters: Mapping[str, str], offset: int, limit: int) -> dict[str, Any]:
    amounts = {field.name for field in kind.filters if field.input_mode == AMOUNT_MODE}
    chosen = {n: remove_separators(value) if n in amounts else value for n, value in filled(filters).items()}
    return {kind.selector: kind.list_action, "offset": offset, "limit": limit, **chosen}


def list_columns(kind: RecordKind, rows: list[dict[str, Any]]) -> list[str]:
    """Returns the columns that a list can show: those of its kind, and the other single values of its records."""
    others = [name for name, value in rows[0].items() if not isinstance(value, dict | list)] if rows else []
    return [*kind.columns, *(name for name in others if name not in kind.columns)]


async def export_list(kind: RecordKind, visit: Visit) -> Response:
    """Returns all records that match the filter as CSV. They are read page by page while the file is sent. If the
    filter is invalid, the page of the list is shown, which says why."""
    filters = read_filters(visit, [field.name for field in kind.filters])
    request = list_request(kind, filters, 0, MAX_LIST_LIMIT)
    unknown = await resolve_references(visit, visit.export_reader, kind.filters, request, is_filter=True)
    selected = await visit.services.read_request(visit.merchant, kind.list_method or kind.method, request)
    if unknown or selected is None or isinstance(selected[1], InvalidRequest):
        return await show_list(kind, visit, 422)
    # A name means whom it means now: somebody of the same name may be added while the file is sent.
    resolved = {name: request.get(name, value) for name, value in filters.items()}
    return csv_response(visit, kind.name, stream_list(kind, visit, resolved))


async def stream_list(kind: RecordKind, visit: Visit, filters: Mapping[str, str]) -> AsyncIterator[str]:
    reader, offset, columns = visit.export_reader, 0, []
    while True:
        page = await read_page(kind, visit, reader, filters, offset)
        names = await read_names(visit, reader, page.rows)
        page.rows = await add_fields(kind.name, visit, reader, page.rows)
        if not offset:
            columns = list_columns(kind, page.rows)
            people = [name for name in columns if name in ("client_id", "customer_id")]
            yield csv_line([*columns, *(name.removesuffix("_id") for name in people)])
        yield await join_lines(
            [
                *(csv_text(plain_value(kind, row, name)) for name in columns),
                *(names.get(row.get(name, ""), "") for name in people),
            ]
            for row in page.rows
        )
        offset += len(page.rows)
        if not page.rows or offset >= page.total:
            return


def plain_value(kind: RecordKind, row: dict[str, Any], name: str) -> Any:
    """Returns a value of a record, or of an object what pages show of it."""
    value = row.get(name)
    return kind.present(row)[name] if isinstance(value, dict) else value


def csv_text(value: Any) -> str:
    """Returns a value of a reply as the text of a cell. Times are in Lagos, as on pages."""
    if isinstance(value, str) and TIMESTAMP_PATTERN.fullmatch(value):
        return lagos_text(datetime.fromisoformat(value))
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def allowed_forms(visit: Visit, kind: RecordKind, forms: tuple[ActionForm, ...]) -> list[ActionForm]:
    """Returns the forms whose actions are deployed and allowed for the user's role."""
    return [form for form in forms if is_form_allowed(visit, kind, form)]


def is_form_allowed(visit: Visit, kind: RecordKind, form: ActionForm) -> bool:
    fields = {form.selector or kind.action_selector: form.action, **dict(form.fixed_values)}
    action = visit.services.find_action(kind.method, fields)
    return action is not None and visit.is_allowed(kind.method, action)


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
    if isinstance(reply.body.get("card_data"), dict):
        return {**reply.body["card_data"], "limits": reply.body.get("limits", {})}
    if isinstance(reply.body.get("data"), dict):
        return dict(reply.body["data"])
    return {name: value for name, value in reply.body.items() if name not in ("status", "message")}


async def show_record(kind: RecordKind, visit: Visit, status: int = 200, **values: Any) -> Response:
    async with visit.snapshot() as reader:
        row = await find_record(kind, visit)
        shown = await add_page_fields(kind.name, visit, reader, kind.present(row))
        tables = [(name, label(name), rows) for name, rows in shown.items() if is_table(rows)]
        for related in kind.related_lists:
            if visit.services.has_action(kind.method, related.action):
                rows = await read_related(kind, visit, related.action)
                tables.append((related.action, related.title, related.select(rows)))
        extra = await EXTRAS[kind.name](visit, row) if kind.name in EXTRAS else {}
        names = await read_names(visit, reader, [row, extra, [rows for _, _, rows in tables]])
        state = str(row.get(kind.state_field, ""))
        forms = [form for form in allowed_forms(visit, kind, kind.update_forms) if form.fits(row, state)]
        suggestions = await list_suggestions(visit, [field for form in forms for field in form.fields])
    shared: dict[str, Any] = {
        "kind": kind,
        "row": row,
        "shown": shown,
        "title": kind.make_title(row),
        "state": state,
        "tables": [make_table(visit, name, title, rows) for name, title, rows in tables],
        "has_extra": kind.name in EXTRAS,
        "is_extra_below": kind.name in EXTRAS_BELOW,
        "names": names,
        "forms": forms,
        "suggestions": suggestions,
        "submitted": {},
        "open_form": visit.query.get("form", ""),
        "reference": visit.path_parameter("reference"),
    }
    return visit.render("record.html", status, **{**shared, **extra, **values})


async def read_related(kind: RecordKind, visit: Visit, action: str) -> list[dict[str, Any]]:
    request = {kind.selector: action, kind.key_field: visit.path_parameter("reference")}
    reply = await visit.run_action(kind.method, request)
    return reply.body.get("data", []) if reply.is_success else []


class RecordTable(msgspec.Struct, frozen=True):
    """A part of a list of a record, which its page shows as a table."""

    title: str
    rows: list[dict[str, Any]]
    first: int  # number of the first row, counted from 1
    total: int
    next_url: str  # empty on the last part
    first_url: str  # empty on the first part


def make_table(visit: Visit, name: str, title: str, rows: list[dict[str, Any]]) -> RecordTable:
    """Returns the part of a list that the query names. A long list would make the page slow on a telephone."""
    parameter = f"{name}_from"
    offset = min(parse_int(visit.query.get(parameter, ""), 0), max(len(rows) - 1, 0))
    path, following = visit.request.url.path, offset + TABLE_ROWS
    return RecordTable(
        title=title,
        rows=rows[offset:following],
        first=offset + 1,
        total=len(rows),
        next_url=f"{path}?{parameter}={following}" if following < len(rows) else "",
        first_url=path if offset else "",
    )


# --- forms --------------------------------------------------------------------------------------------------------


async def create_record(kind: RecordKind, visit: Visit) -> Response:
    form = next(
        (form for form in allowed_forms(visit, kind, kind.create_forms) if form.name == visit.path_parameter("form")),
        None,
    )
    if form is None:
        raise NotFound
    selected = {form.selector or kind.action_selector: form.action}
    texts = read_texts(form, visit)
    fixed = {**selected, **dict(form.fixed_values)}
    shown: dict[str, Any] = {"submitted": dict(visit.form), "open_form": form.name}
    if form.preview and visit.form_text(PREVIEW_FIELD):
        request = {**fixed, **build_request(form.fields, texts.__getitem__)}
        preview = await PREVIEWS[form.preview](visit, kind.method, request)
        return await show_list(kind, visit, preview=preview, **shown)
    unknown = await resolve_references(visit, visit.reader, form.fields, texts)
    if unknown:
        return await show_list(kind, visit, 422, faults=unknown, **shown)
    request = {**fixed, **build_request(form.fields, texts.__getitem__)}
    reply = await visit.run_action(kind.method, request, form.label.lower())
    if not reply.is_success:
        faults = shown_faults(form, reply)
        return await show_list(kind, visit, 422, faults=faults, **shown)
    row = kind.present(extract_record(kind, reply))
    if form.opens and row.get(kind.key_field):
        place = f"/{kind.name}/{quote(str(row[kind.key_field]), safe='')}?form={form.opens}#form-{form.opens}"
        return visit.redirect(place, reply.message)
    return visit.render("record_created.html", kind=kind, form=form, row=row, message=reply.message, names={})


def read_texts(form: ActionForm, visit: Visit) -> dict[str, str]:
    return {field.name: visit.form_text(field.name) for field in form.fields}


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
    if form.consequence and not form.has_preview:
        consequence = f"{kind.singular} {kind.make_title(row)}: {form.consequence}"
        back = f"/{kind.name}/{quote(visit.path_parameter('reference'), safe='')}"
        visit.ask_first(f"{form.label}?", consequence, form.label, back)
    copied = {name: row[name] for name in form.copied_fields}
    request = {
        form.selector or kind.action_selector: form.action,
        kind.key_field: visit.path_parameter("reference"),
        **dict(form.fixed_values),
        **copied,
    }
    texts = read_texts(form, visit)
    shown: dict[str, Any] = {"submitted": dict(visit.form), "open_form": form.name}
    unknown = await resolve_references(visit, visit.reader, form.fields, texts)
    if unknown:
        return await show_record(kind, visit, 422, faults=unknown, **shown)
    request |= build_request(form.fields, texts.__getitem__)
    if form.preview and visit.form_text(PREVIEW_FIELD):
        preview = await PREVIEWS[form.preview](visit, kind.method, request)
        return await show_record(kind, visit, preview=preview, **shown)
    files = await visit.uploads(FILE_FIELD) if form.file_list else []
    if files:
        contents = [{"name": name, "content": b64encode(content).decode()} for name, content in files]
        set_nested(request, form.file_list, contents)
    if form.has_preview and visit.form_text(CONFIRMED_FIELD) != CONFIRMED:
        reply = await visit.preview_action(kind.method, request)
        if reply.is_success:
            consequence = f"{kind.singular} {kind.make_title(row)}: {form.consequence}"
            back = f"/{kind.name}/{quote(visit.path_parameter('reference'), safe='')}"
            figures = reply.body.get("explained", ())
            visit.ask_first(f"{form.label}?", consequence, form.label, back, figures=figures)
    else:
        reply = await visit.run_action(kind.method, request, form.label.lower())
    if not reply.is_success:
        faults = shown_faults(form, reply)
        return await show_record(kind, visit, 422, faults=faults, **shown)
    reference = visit.path_parameter("reference")
    if form.reply_template:
        return visit.render(form.reply_template, kind=kind, row=extract_record(kind, reply), reference=reference)
    return visit.redirect(f"/{kind.name}/{quote(reference, safe='')}", reply.message or "Done.")


View = Callable[[Visit], Awaitable[Response]]


def bind_kind(handler: Callable[..., Awaitable[Response]], kind: RecordKind) -> View:
    """Returns the handler of a route: one of the functions above with its kind filled in."""
    return partial(handler, kind)
