"""Jinja filters of the console: money, times, field names and values.

Times are shown in Lagos time, with UTC as the tooltip.

Contract: #times
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup

from kasuwa.console.access import role_side, short_name
from kasuwa.core.calendar import LAGOS, utc_text
from kasuwa.core.money import MINOR_PER_MAJOR

TIMESTAMP_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)", re.ASCII)
DATE_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
IDENTIFIER = re.compile(r"[a-z]+(_[a-z]+)+", re.ASCII)
ACRONYMS = frozenset({"atm", "bvn", "cvv", "id", "otp", "pin", "pos", "url", "vat"})
AMOUNT_PATTERN = re.compile(r"-?[0-9]+\.[0-9]{2}", re.ASCII)


def format_minor_units(minor: int) -> str:
    """Formats minor units: 1234567 becomes "12,345.67"."""
    sign = "−" if minor < 0 else ""
    return f"{sign}{abs(minor) // MINOR_PER_MAJOR:,}.{abs(minor) % MINOR_PER_MAJOR:02d}"


def money_html(minor: int, currency: str) -> Markup:
    return Markup('<span class="money"><span class="cur">{}</span> {}</span>').format(
        currency, format_minor_units(minor)
    )


def time_html(moment: datetime | str | None) -> Markup:
    """Formats a time as a <time> element. None becomes a dash."""
    if moment is None:
        return Markup("–")
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    lagos = at.astimezone(LAGOS)
    utc = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    written = f"{lagos.day} {lagos:%b %Y, %H:%M:%S}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(utc_text(at), utc, written)


def short_date(date_: date) -> str:
    return f"{date_.day} {date_:%b}"


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def pretty_json(value: Any) -> str:
    """Returns a value, or JSON text, as indented JSON."""
    decoded = msgspec.json.decode(value) if isinstance(value, str | bytes) else value
    return msgspec.json.format(msgspec.json.encode(decoded), indent=2).decode()


def humanize(name: str) -> str:
    """Converts a name to words: `bank_code` and `bankCode` become "Bank code", and acronyms get capitals."""
    words = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name).replace("_", " ").strip()
    text = " ".join(word.upper() if word.lower() in ACRONYMS else word for word in words.split(" "))
    return text[:1].upper() + text[1:]


def group_thousands(text: str) -> str:
    """Adds thousands separators to an amount of a reply: "12345.67" becomes "12,345.67"."""
    whole, _, cents = text.partition(".")
    return f"{int(whole):,}.{cents}"


def option_pairs(values: Iterable[str]) -> list[tuple[str, str]]:
    """Returns (value, label) pairs for a select element."""
    return [(value, humanize(value) if value.islower() else value) for value in values]


def detail_texts(detail: str) -> list[tuple[str, str]]:
    """Returns the text fields of a transaction's detail. Numbers are left out, because their units differ."""
    decoded = msgspec.json.decode(detail)
    items = decoded.items() if isinstance(decoded, dict) else ()
    return [(name, value) for name, value in items if isinstance(value, str) and value]


def extra_fields(step: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a timeline entry besides its time and texts."""
    return {name: value for name, value in step.items() if name not in ("at", "what", "said")}


def format_value(value: Any) -> str:
    """Formats a value of a reply. Empty values become a dash, booleans yes or no, lists are joined by commas."""
    if value is None or value == "" or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(format_value(item) for item in value)
    if isinstance(value, float):
        return f"{value:,.2f}"
    return pretty_json(value) if isinstance(value, dict) else format_text(str(value))


def format_text(text: str) -> str:
    if TIMESTAMP_PATTERN.fullmatch(text):
        return time_html(text)
    if DATE_PATTERN.fullmatch(text):
        return Markup('<span class="num">{}</span>').format(text)
    if IDENTIFIER.fullmatch(text):
        return text.replace("_", " ")
    return group_thousands(text) if AMOUNT_PATTERN.fullmatch(text) else text


# Record fields that are amounts of money. Other numbers are rates, units or counts.
MONEY_FIELDS = frozenset(
    {
        "accrued_interest",
        "amount",
        "balance",
        "contributed",
        "fee",
        "interest",
        "owed",
        "paid",
        "payoff",
        "penalty",
        "principal",
        "received",
        "tax",
        "total",
        "vat",
    }
)


def format_field(value: Any, name: str, currency: str) -> str:
    """Formats a field of a record. Amounts of money are shown with their currency."""
    is_text = isinstance(value, str) and bool(AMOUNT_PATTERN.fullmatch(value))
    if name in MONEY_FIELDS and (is_text or isinstance(value, float)):
        amount = value if is_text else f"{value:.2f}"
        return Markup('<span class="money"><span class="cur">{}</span> {}</span>').format(
            currency, group_thousands(amount)
        )
    return format_value(value)


def is_numeric(value: Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)) or (
        isinstance(value, str) and bool(AMOUNT_PATTERN.fullmatch(value))
    )


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
        group_thousands,
        option_pairs,
        detail_texts,
        extra_fields,
        format_value,
        format_field,
        is_numeric,
        role_name,
    )
    environment.filters.update({function.__name__: function for function in filters})
    return environment
