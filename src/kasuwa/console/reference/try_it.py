"""Fills in the "Try it" form of the API reference: an action's example, with references of the user's own merchant.

References come from the merchant's records, else from the replies that the user got on these pages. What a request
gives to a new object (an orderRef) is new each time the page is shown, so that the request can be sent as it is.
"""

import secrets
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kasuwa.console.kit.visit import Visit
from kasuwa.console.reference.try_it_needs import NEEDS, ExampleCall, Listing, Need
from kasuwa.core.action import Action, Write, make_action_title

# Names of values in replies that later requests refer to. Nothing else of a reply is kept.
KEPT_NAMES = frozenset(name for needs in NEEDS.values() for need in needs for name in need.names.values())
# Nothing that was made before can be used after it.
RESET = "sandbox-reset"
# Users whose last references are kept, in the memory of this process.
MAX_USERS = 500


class FilledExample(msgspec.Struct):
    """A request that is ready to be sent, as far as its references are known."""

    body: dict[str, Any]
    filled: list[str]  # fields with references of the merchant's own
    missing: list[Need]
    can_make: bool  # what it refers to can be made by sending other examples

    @property
    def text(self) -> str:
        return msgspec.json.format(msgspec.json.encode(self.body), indent=2).decode()


def action_slug(action: Action) -> str:
    return make_action_title(action).replace(" ", "-")


def remember_reply(visit: Visit, title: str, action: Action, fields: Mapping[str, Any], reply: Any) -> None:
    """Keeps the references of a reply, for the examples that refer to them. An action that changes something uses up
    what it was sent: an initiated payment can be charged once."""
    calls = visit.services.last_calls
    user_id = visit.user.user_id
    if user_id not in calls and len(calls) >= MAX_USERS:
        del calls[next(iter(calls))]
    if title == RESET:
        calls.pop(user_id, None)
        return
    references_by_call = calls.setdefault(user_id, {})
    if isinstance(action, Write):
        used = {str(value) for value in fields.values()}
        for other in [name for name, references in references_by_call.items() if used & set(references.values())]:
            del references_by_call[other]
    references_by_call[title] = references_in(reply)


def references_in(reply: Any) -> dict[str, str]:
    """Returns the references of a reply. Lists are newest first, so that the first value of a name counts."""
    references: dict[str, str] = {}
    for name, value in leaves(reply):
        if name in KEPT_NAMES and isinstance(value, str) and value:
            references.setdefault(name, value)
    return references


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, name)
    else:
        yield name, value


# --- filling in ---------------------------------------------------------------------------------------------------


async def fill_example(
    visit: Visit, title: str, action: Action, references: Mapping[str, str] | None = None
) -> FilledExample:
    """Returns an action's example with references of the merchant's own. `made` has those of objects that were just
    made for it."""
    body = with_new_references(title, action, dict(action.example))
    needs = NEEDS.get(title, ())
    filled: list[str] = []
    missing: list[Need] = []
    if needs:
        async with visit.snapshot():
            for need in needs:
                values = references if references and has_all(need, references) else await find_references(visit, need)
                if values is None:
                    missing.append(need)
                    continue
                named = {field: values[name] for field, name in need.names.items()}
                body |= {field: value for field, value in named.items() if field in body}
                body = {field: fill_placeholders(value, named) for field, value in body.items()}
                filled += need.names
    can_make = bool(needs) and all(can_make_one(visit, need) for need in needs)
    return FilledExample(body, filled, missing, can_make)


async def find_references(visit: Visit, need: Need) -> Mapping[str, str] | None:
    """Returns the references of the newest suitable object, or None if the merchant has none."""
    if need.listing is not None:
        for record in await list_records(visit, need.listing):
            if has_all(need, record):
                return {name: str(record[name]) for name in need.names.values()}
        return None
    if need.is_always_made:
        return None
    last = visit.services.last_calls.get(visit.user.user_id, {})
    title = f"{need.calls[-1].method}-{need.calls[-1].slug}" if need.calls else ""
    references = last.get(title, {})
    return references if has_all(need, references) else None


async def list_records(visit: Visit, listing: Listing) -> list[dict[str, Any]]:
    """Returns the suitable records of a listing. One that is inside another object is of the newest such object."""
    fields = dict(listing.fields)
    if listing.inside is not None:
        outer = await list_records(visit, listing.inside)
        if not outer:
            return []
        fields = {name: fill_placeholders(value, outer[0]) for name, value in fields.items()}
    reply = await visit.run_action(listing.method, fields)
    records = reply.body.get("data", [])
    return [
        record
        for record in (records if isinstance(records, list) else ())
        if all(record.get(name) == value for name, value in listing.where.items())
    ]


def has_all(need: Need, values: Mapping[str, Any]) -> bool:
    return all(values.get(name) for name in need.names.values())


def with_new_references(title: str, action: Action, body: dict[str, Any]) -> dict[str, Any]:
    """Returns a request with new references for what it creates. A bill also has a new customer: paying the same one
    twice would be refused as a likely duplicate."""
    if not isinstance(action, Write) or not action.accepts_idempotency_key or title in NEEDS:
        return body
    number = secrets.token_hex(4)
    new: dict[str, Any] = {}
    if "orderRef" in body:
        new["orderRef"] = f"try-{number}"
    if "data" in body and isinstance(body["data"], list):
        new["data"] = [{**order, "orderRef": f"try-{number}-{n}"} for n, order in enumerate(body["data"], start=1)]
    if title.startswith("resources-personalized"):
        new["reference"] = f"try-{number}"
    if title == "loans-create_product":
        new["code"] = f"TRY-{number}"
    if title == "resources-customer":
        new["email"] = f"try-{number}@example.com"
    if title == "bills-pay":
        new["reference"] = f"45{secrets.randbelow(10**9):09}"
    return body | new


# --- making what is missing ---------------------------------------------------------------------------------------


def can_make_one(visit: Visit, need: Need) -> bool:
    """Returns whether the user may make an object with examples: in the test environment alone, as money moves."""
    if visit.services.is_live or not need.calls:
        return False
    return all(visit.may_try(call.method, find_example(visit, call)) for call in need.calls)


def find_example(visit: Visit, call: ExampleCall) -> Action:
    method = next(method for method in visit.services.methods if method.name == call.method)
    return next(action for action in method.actions if action_slug(action) == call.slug)


async def make_needed(visit: Visit, needs: Sequence[Need]) -> tuple[dict[str, str], str]:
    """Sends the examples that make what is missing. Returns the references of their replies, and what went wrong, or
    an empty text."""
    references: dict[str, str] = {}
    for need in needs:
        for call in need.calls:
            action, title = find_example(visit, call), f"{call.method}-{call.slug}"
            body = {**with_new_references(title, action, dict(action.example)), **call.changes}
            fields = {name: fill_placeholders(value, references) for name, value in body.items() if value is not None}
            reply = await visit.run_action(call.method, fields, f"tried {call.method} {call.slug}")
            if not reply.is_success:
                return references, f"{call.method} {call.slug} was refused: {reply.body.get('message', '')}"
            remember_reply(visit, title, action, fields, reply.body)
            references |= {call.renamed.get(name, name): value for name, value in references_in(reply.body).items()}
    return references, ""


def fill_placeholders(value: Any, known: Mapping[str, str]) -> Any:
    """Returns a value with what placeholders in it, such as `<client_id>`, stand for, as far as it is known."""
    if isinstance(value, Mapping):
        return {name: fill_placeholders(one, known) for name, one in value.items()}
    if isinstance(value, list):
        return [fill_placeholders(one, known) for one in value]
    is_placeholder = isinstance(value, str) and value.startswith("<") and value.endswith(">")
    return known.get(value[1:-1], value) if is_placeholder else value
