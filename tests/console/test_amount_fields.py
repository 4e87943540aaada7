"""Every field of a form and every filter that the API reads as an amount takes thousands separators."""

from collections.abc import Iterator
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from kasuwa.api.routes import find_action, make_routes
from kasuwa.console.kit.forms import AMOUNT_MODE, FormField, convert_value
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.merchant.sandbox import SANDBOX_FORMS
from kasuwa.console.records.table import RECORD_KINDS
from kasuwa.methods.tables import list_methods
from kasuwa.wire.fields import Amount


class PlacedField(NamedTuple):
    """A field of a form or a filter, and the type of the request's field."""

    place: str
    field: FormField
    read_as: Any


def list_fields() -> Iterator[PlacedField]:
    routes = make_routes((*list_methods("test"), CONSOLE))
    for kind in RECORD_KINDS:
        for form in (*kind.create_forms, *kind.update_forms):
            selected = {form.selector or kind.action_selector: form.action, **dict(form.fixed_values)}
            yield from place_fields(routes, kind.method, selected, form.fields, f"{kind.name} {form.name}")
        if kind.list_action:
            selected = {kind.selector: kind.list_action}
            yield from place_fields(routes, kind.list_method or kind.method, selected, kind.filters, kind.name)
    for action, _, _, fields in SANDBOX_FORMS:
        yield from place_fields(routes, "sandbox", {"action": action}, fields, f"sandbox {action}")


def place_fields(
    routes: Any, method: str, selected: dict[str, Any], fields: tuple[FormField, ...], place: str
) -> Iterator[PlacedField]:
    action = find_action(routes[f"/{method}"], selected)
    if action is not None:
        for field in fields:
            yield PlacedField(f"{place} {field.name}", field, find_type(action.request, field.name.split(".")))


def find_type(type_: Any, names: list[str]) -> Any:
    """Returns the type of a field at a path of a struct; dotted names go through nested structs and lists."""
    for name in names:
        structs = [one for one in parts_of(type_) if isinstance(one, type) and issubclass(one, msgspec.Struct)]
        found = [f.type for one in structs for f in msgspec.structs.fields(one) if f.encode_name == name]
        type_ = found[0] if found else type_ if name.isdecimal() else None
    return type_


def parts_of(type_: Any) -> list[Any]:
    """Returns a type with all that it is made of: the members of a union, the type of a list's elements."""
    return [type_, *(part for one in get_args(type_) for part in parts_of(one))] if get_origin(type_) else [type_]


def is_amount(type_: Any) -> bool:
    members = [*parts_of(type_), *get_args(type_)]
    return any(isinstance(one, type) and issubclass(one, Amount) for one in members)


def test_every_amount_of_a_form_or_filter_takes_thousands_separators() -> None:
    placed = [one for one in list_fields() if is_amount(one.read_as)]
    assert {one.place for one in placed if one.field.input_mode != AMOUNT_MODE} == set()
    assert {convert_value(one.field, "1,234,500.50") for one in placed} == {"1234500.50"}
    places = {one.place for one in placed}
    assert {
        "links create amount",
        "cards limits limits.per_day",
        "cards limits limits.velocity.0.amount",
    } - places == set()
    assert {place.split()[0] for place in places} >= {"links", "cards", "cashcodes", "bills", "savings", "sandbox"}


def test_a_text_that_is_no_number_is_left_to_the_action() -> None:
    amount = FormField("amount", "Amount", input_mode=AMOUNT_MODE)
    assert [convert_value(amount, text) for text in ("1,50", "1,5000", "abc", "12")] == ["1,50", "1,5000", "abc", "12"]
