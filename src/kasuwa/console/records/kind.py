"""The form of a row of the table of record kinds (table.py)."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kasuwa.console.kit.forms import ActionForm, FormField

YES_NO = ("no", "yes")


class RelatedList(msgspec.Struct, frozen=True):
    """A list of another action on a record's page."""

    title: str
    action: str
    columns: tuple[str, ...] = ()  # reply fields that it shows; empty for all

    def select(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Returns the rows with the fields that are shown."""
        return [{name: row.get(name) for name in self.columns} for row in rows] if self.columns else rows


class RecordKind(msgspec.Struct, frozen=True):
    """One kind of record."""

    name: str  # first part of the pages' paths
    label: str  # heading and navigation label
    singular: str
    method: str  # API method of its actions
    key_field: str  # reply field that identifies a record
    columns: tuple[str, ...]  # reply fields that the list shows
    selector: str = "action"  # request field that selects the action
    form_selector: str = ""  # the same for the actions of forms, if it is another one
    list_action: str = ""  # empty if records are only found by their reference
    list_method: str = ""  # API method of list_action, if it is another one
    view_action: str = ""  # empty if a record is shown as its list row
    record_field: str = ""  # reply field of view_action with the record, if `data` is a list that belongs to it
    state_field: str = "state"  # reply field with the record's state
    create_forms: tuple[ActionForm, ...] = ()
    update_forms: tuple[ActionForm, ...] = ()
    related_lists: tuple[RelatedList, ...] = ()
    empty_title: str = "None yet"  # of a list without a filter in which nothing is
    empty_text: str = ""
    title_fields: tuple[str, ...] = ()  # reply fields that name a record; its key is shown beside them
    filters: tuple[FormField, ...] = ()  # request fields of list_action by which the list can be filtered
    hidden_fields: tuple[str, ...] = ()  # reply fields that its page shows elsewhere, or not at all
    # Returns the fields of a record whose values pages write in words, such as an amount of zero that means none.
    describe: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None

    def present(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Returns a record as pages show it. Forms and exports have the values of the API."""
        return {**row, **(self.describe(row) if self.describe else {})}

    def make_title(self, row: Mapping[str, Any]) -> str:
        """Returns the name of a record, or its key if it has none."""
        named = " ".join(str(row[name]) for name in self.title_fields if row.get(name))
        return named or str(row.get(self.key_field, ""))

    @property
    def action_selector(self) -> str:
        """Returns the request field that selects the action of a form."""
        return self.form_selector or self.selector

    @property
    def required_action(self) -> tuple[str, str]:
        """Returns (method, action) without which the pages of this kind do not exist."""
        return self.method, self.view_action or self.list_action
