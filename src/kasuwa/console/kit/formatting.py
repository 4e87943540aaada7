"""Jinja filters of the console: money, times and values.

Times are shown in Lagos time, with UTC as the tooltip. Times and dates have one format: 5 Jan 2026, 09:30:00.

Contract: #times
"""

import re
from collections.abc import Iterable

import jinja2
import msgspec

from kasuwa.authority.roles import role_side, short_name
from kasuwa.console.kit.forms import field_rows
from kasuwa.console.kit.values import (
    date_html,
    format_minor_units,
    format_value,
    group_thousands,
    is_numeric,
    money_html,
    pretty_json,
    short_date,
    status_html,
    time_html,
)
from kasuwa.console.kit.vocabulary import humanize, label, method_text
from kasuwa.console.records.fields import charges_html, detail_items, field_html, is_lead_field, table_columns
from kasuwa.wire.inline_code import inline_code


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def option_pairs(values: Iterable[str]) -> list[tuple[str, str]]:
    """Returns (value, label) pairs for a select element."""
    return [(value, humanize(value) if value.islower() else value) for value in values]


def detail_texts(detail: str) -> list[tuple[str, str]]:
    """Returns the text fields of a transaction's detail. Numbers are left out, because their units differ."""
    decoded = msgspec.json.decode(detail)
    items = decoded.items() if isinstance(decoded, dict) else ()
    return [(name, value) for name, value in items if isinstance(value, str) and value]


def role_name(role: str) -> str:
    return f"{role_side(role)} {short_name(role)}"


def make_templates() -> jinja2.Environment:
    """Returns the Jinja environment of the console's templates, with the filters of this module."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kasuwa.console"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        format_minor_units,
        money_html,
        time_html,
        short_date,
        slug,
        pretty_json,
        humanize,
        inline_code,
        label,
        method_text,
        status_html,
        field_html,
        charges_html,
        date_html,
        detail_items,
        table_columns,
        group_thousands,
        option_pairs,
        field_rows,
        detail_texts,
        format_value,
        is_numeric,
        role_name,
    )
    environment.tests["lead_field"] = is_lead_field
    environment.filters.update({function.__name__: function for function in filters})
    return environment
