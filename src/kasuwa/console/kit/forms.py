"""Form definitions, and the conversion of a submitted form to an API request."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from kasuwa.console.kit.values import remove_separators

# The inputmode of fields with amounts, which may have thousands separators.
AMOUNT_MODE = "decimal"
# Between the elements of a list of names, which may have commas and spaces.
NAME_SEPARATOR = "; "


class FormField(msgspec.Struct, frozen=True):
    """One field of a form."""

    name: str  # request field; dots for fields of nested objects, numbers for those of a list
    label: str
    hint: str = ""
    input_mode: str = ""  # HTML inputmode
    required: bool = False
    options: tuple[str, ...] = ()  # makes it a select element
    value_type: str = "text"  # type in the request: text, whole (number), flag (boolean), words or names (lists)
    # clients, customers or loan-products: the field takes an id of theirs, and suggests the newest by name
    refers_to: str = ""
    group: str = ""  # fields of the same group are shown in one row
    is_folded: bool = False  # shown when its list is opened, or filled in
    input_type: str = "text"  # HTML type; the value of a password field is never shown again


class ActionForm(msgspec.Struct, frozen=True):
    """A form that runs an API action."""

    name: str  # last part of the form's path
    label: str
    action: str
    fields: tuple[FormField, ...] = ()
    allowed_states: tuple[str, ...] = ()  # states of a record in which the form is shown; empty for all
    is_possible: Callable[[Mapping[str, Any]], bool] | None = None  # whether the action would take this record
    fixed_values: tuple[tuple[str, Any], ...] = ()  # request fields that the user does not enter
    copied_fields: tuple[str, ...] = ()  # request fields copied from the record
    file_list: str = ""  # request field that gets the uploaded files, each with its name and its content in base64
    selector: str = ""  # request field that selects the action, if it is not that of the record kind
    consequence: str = ""  # what the change does, if the user is asked before it is made
    has_preview: bool = False  # the user is shown the figures of a dry run and asked before the change is made
    is_prefilled: bool = False  # its fields begin with the values of the record
    preview: str = ""  # what the page can show before the form is sent (records/form_previews.py)
    opens: str = ""  # form that the page of a new record shows open; empty shows the reply
    reply_template: str = ""  # template that shows the reply once; empty returns to the record

    def fits(self, row: Mapping[str, Any], state: str) -> bool:
        """Returns whether the form is shown for a record in a state."""
        if self.allowed_states and state not in self.allowed_states:
            return False
        return self.is_possible is None or self.is_possible(row)

    def default_value(self, row: Mapping[str, Any], name: str) -> str:
        """Returns the value with which a field of the form begins."""
        value: Any = row if self.is_prefilled else {}
        for part in name.split("."):
            value = find_part(value, part)
        if isinstance(value, list):
            is_names = any(field.name == name and field.value_type == "names" for field in self.fields)
            return (NAME_SEPARATOR if is_names else ", ").join(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        return "" if value is None else str(value)


def find_part(value: Any, part: str) -> Any:
    """Returns a field of an object, or a line of a list by its number. None if there is none."""
    if isinstance(value, Mapping):
        return value.get(part)
    is_line = isinstance(value, list) and part.isdecimal() and int(part) < len(value)
    return value[int(part)] if is_line else None


def field_rows(fields: Iterable[FormField]) -> list[list[FormField]]:
    """Returns the fields of a form as rows: those of one group together, all others alone."""
    rows: list[list[FormField]] = []
    for field in fields:
        if field.group and rows and rows[-1][0].group == field.group:
            rows[-1].append(field)
        else:
            rows.append([field])
    return rows


def build_request(fields: Iterable[FormField], read_text: Callable[[str], str]) -> dict[str, Any]:
    """Converts submitted texts to request fields. Empty ones are left out, and dotted names become nested objects.

    Objects whose names are numbers become lists. A line that was left out shifts those after it.
    """
    request: dict[str, Any] = {}
    for field in fields:
        text = read_text(field.name)
        if text:
            set_nested(request, field.name, convert_value(field, text))
    return {name: list_numbered(value) for name, value in request.items()}


def list_numbered(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    parts = {name: list_numbered(part) for name, part in value.items()}
    return list(parts.values()) if all(name.isdecimal() for name in parts) else parts


def convert_value(field: FormField, text: str) -> Any:
    """Converts a text to the field's type. An invalid number stays a text, so that the action reports the error."""
    if field.value_type == "whole" and text.isascii() and text.isdecimal() and len(text) <= 15:
        return int(text)
    if field.value_type == "words":
        return split_words(text)
    if field.value_type == "names":
        return [name.strip() for name in text.split(NAME_SEPARATOR.strip()) if name.strip()]
    if field.input_mode == AMOUNT_MODE:
        return remove_separators(text)
    return text == "yes" if field.value_type == "flag" else text


def split_words(text: str) -> list[str]:
    return text.replace(",", " ").split()


def set_nested(request: dict[str, Any], name: str, value: Any) -> None:
    first, dot, rest = name.partition(".")
    if dot:
        set_nested(request.setdefault(first, {}), rest, value)
    else:
        request[first] = value
