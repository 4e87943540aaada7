"""What all lists share: filters in the query, saved filters, chosen columns, and their forms.

A filter is the query of a list's address, so that it can be sent to somebody. Saved filters and chosen columns are a
user's own.
"""

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode

import msgspec
from starlette.datastructures import FormData
from starlette.responses import Response

from kasuwa.console.kit import saved_lists
from kasuwa.console.kit.saved_lists import COLUMNS_NAME, MAX_SAVED
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.core.reading import Reader

MAX_FILTER_LENGTH = 100
MAX_NAME_LENGTH = 40
MAX_QUERY_LENGTH = 1_000
MAX_COLUMNS = 30


class SavedFilter(msgspec.Struct, frozen=True):
    """A saved filter as a link."""

    name: str
    url: str
    is_current: bool  # the page shows it


class ListView(msgspec.Struct, frozen=True):
    """A list as its user wants it."""

    name: str  # path without its slash
    filters: dict[str, str]  # all parameters of the list, empty if not given
    columns: list[str]  # in the order of `available`
    available: list[str]
    saved: list[SavedFilter]

    @property
    def query(self) -> str:
        return urlencode({name: value for name, value in self.filters.items() if value})

    @property
    def is_filtered(self) -> bool:
        return any(self.filters.values())

    def url(self, suffix: str = "", **changed: str) -> str:
        """Returns the address of the list with its filters, and further parameters."""
        filled = {name: value for name, value in {**self.filters, **changed}.items() if value}
        return f"/{self.name}{suffix}?{urlencode(filled)}" if filled else f"/{self.name}{suffix}"


def read_filters(visit: Visit, names: Iterable[str]) -> dict[str, str]:
    """Returns the named parameters of the query, shortened, empty if absent."""
    return {name: visit.query.get(name, "").strip()[:MAX_FILTER_LENGTH] for name in names}


async def read_list_view(
    visit: Visit, reader: Reader, name: str, filters: dict[str, str], default: Sequence[str], available: Sequence[str]
) -> ListView:
    """Returns the list with the user's saved filters and columns."""
    stored = await saved_lists.read_saved(reader, visit.user.user_id, name)
    chosen = set(stored.pop(COLUMNS_NAME, "").split(","))
    columns = [column for column in available if column in chosen] or list(default)
    query = urlencode({field: value for field, value in filters.items() if value})
    saved = [SavedFilter(title, f"/{name}?{text}", text == query) for title, text in stored.items()]
    return ListView(name, filters, columns, list(available), saved)


# --- forms --------------------------------------------------------------------------------------------------------


def known_list(visit: Visit, names: Iterable[str]) -> str:
    """Returns the list that the path names. Raises NotFound if there is none."""
    name = visit.path_parameter("list_name")
    if name not in names:
        raise NotFound
    return name


async def save_filter(visit: Visit, names: Iterable[str]) -> Response:
    """Saves the filter of a list under a name."""
    list_name, name = known_list(visit, names), visit.form_text("name")[:MAX_NAME_LENGTH]
    query = visit.form_text("query")[:MAX_QUERY_LENGTH]
    back = f"/{list_name}?{query}" if query else f"/{list_name}"
    if not name or not name.isprintable():
        return visit.redirect(back, "Enter a name for the filter.")
    if not is_query(query):
        return visit.redirect(f"/{list_name}", "Choose a filter first.")
    async with visit.operator_pool.acquire() as connection:
        is_saved = await saved_lists.save(connection, visit.user.user_id, list_name, name, query)
    full = f"You have {MAX_SAVED} saved filters, which is the limit. Delete one first."
    return visit.redirect(back, f"Filter saved: {name}." if is_saved else full)


def is_query(text: str) -> bool:
    """Returns whether a text is a query with at least one parameter, written as this module writes it."""
    return bool(text) and urlencode(parse_qsl(text)) == text


async def delete_filter(visit: Visit, names: Iterable[str]) -> Response:
    list_name = known_list(visit, names)
    async with visit.operator_pool.acquire() as connection:
        await saved_lists.delete(connection, visit.user.user_id, list_name, visit.form_text("name") or "-")
    return visit.redirect(f"/{list_name}", "Filter deleted.")


async def choose_columns(visit: Visit, names: Iterable[str]) -> Response:
    """Stores the columns that a user chose. None restores those of the list."""
    list_name = known_list(visit, names)
    values = visit.form.getlist("columns") if isinstance(visit.form, FormData) else []
    chosen = [value for value in values if isinstance(value, str) and value.isidentifier()][:MAX_COLUMNS]
    async with visit.operator_pool.acquire() as connection:
        if chosen:
            query = ",".join(chosen)[:MAX_QUERY_LENGTH]
            await saved_lists.save(connection, visit.user.user_id, list_name, COLUMNS_NAME, query)
        else:
            await saved_lists.delete(connection, visit.user.user_id, list_name, COLUMNS_NAME)
    return visit.redirect(visit.next_path or f"/{list_name}")


def filled(values: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value}
