"""Values as pages write them: money, times, dates, states, and values of replies."""

import re
from datetime import UTC, date, datetime
from typing import Any

import msgspec
from markupsafe import Markup

from kasuwa.console.kit.vocabulary import state_style
from kasuwa.core.calendar import LAGOS, utc_text
from kasuwa.core.money import MINOR_PER_MAJOR

TIMESTAMP_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)", re.ASCII)
DATE_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
DAY_FIRST_PATTERN = re.compile(r"([0-9]{2})-([0-9]{2})-([0-9]{4})", re.ASCII)
MONTH_PATTERN = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])", re.ASCII)
IDENTIFIER = re.compile(r"[a-z]+(_[a-z]+)+", re.ASCII)
AMOUNT_PATTERN = re.compile(r"-?[0-9][0-9,]*\.[0-9]{2}", re.ASCII)
GROUPED_PATTERN = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,2})?", re.ASCII)
EMPTY = "–"


def format_minor_units(minor: int) -> str:
    """Formats minor units: 1234567 becomes "12,345.67"."""
    sign = "−" if minor < 0 else ""
    return f"{sign}{abs(minor) // MINOR_PER_MAJOR:,}.{abs(minor) % MINOR_PER_MAJOR:02d}"


def money_html(minor: int, currency: str) -> Markup:
    return amount_html(format_minor_units(minor), currency)


def amount_html(amount: str, currency: str) -> Markup:
    return Markup('<span class="money"><span class="cur">{}</span> {}</span>').format(currency, amount)


def time_html(moment: datetime | str | None) -> Markup:
    """Formats a time as a <time> element. None becomes a dash."""
    if moment is None:
        return Markup(EMPTY)
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    lagos = at.astimezone(LAGOS)
    utc = at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    written = f"{lagos.day} {lagos:%b %Y, %H:%M:%S}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(utc_text(at), utc, written)


def time_text(moment: datetime | str) -> str:
    """Formats a time as plain text, for messages."""
    at = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
    lagos = at.astimezone(LAGOS)
    return f"{lagos.day} {lagos:%b %Y, %H:%M:%S}"


def date_html(value: str | date | None) -> str:
    """Formats a date, or a text such as 2026-01-05, as a <time> element.

    A text that is no date stays as it is. None becomes a dash."""
    if value is None:
        return EMPTY
    try:
        day = date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return str(value)
    return Markup('<time datetime="{}">{} {}</time>').format(day.isoformat(), day.day, day.strftime("%b %Y"))


def short_date(date_: date) -> str:
    return f"{date_.day} {date_:%b}"


def status_html(state: str) -> Markup:
    """Formats a state as a symbol and a word. The symbol is drawn by the style sheet, and is not read aloud."""
    style = state_style(state)
    return Markup('<span class="status tone-{}" data-symbol="{}">{}</span>').format(
        style.tone, style.symbol, state.replace("_", " ")
    )


def pretty_json(value: Any) -> str:
    """Returns a value, or JSON text, as indented JSON."""
    decoded = msgspec.json.decode(value) if isinstance(value, str | bytes) else value
    return msgspec.json.format(msgspec.json.encode(decoded), indent=2).decode()


def group_thousands(text: str) -> str:
    """Adds thousands separators to an amount of a reply: "-12345.67" becomes "−12,345.67"."""
    whole, _, cents = text.removeprefix("-").replace(",", "").partition(".")
    return f"{'−' if text.startswith('-') else ''}{int(whole):,}.{cents}"


def remove_separators(text: str) -> str:
    """Returns a number without thousands separators, as a user may copy it from a page: "1,500.00" is "1500.00". Any
    other text stays as it is, so that whoever reads the number names what is wrong with it."""
    return text.replace(",", "") if GROUPED_PATTERN.fullmatch(text) else text


def format_value(value: Any) -> str:
    """Formats a value of a reply. Empty values become a dash, booleans yes or no, lists are joined by commas."""
    if value is None or value in ("", [], {}):
        return EMPTY
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
        return date_html(text)
    if DAY_FIRST_PATTERN.fullmatch(text):
        return date_html(DAY_FIRST_PATTERN.sub(r"\3-\2-\1", text))
    if MONTH_PATTERN.fullmatch(text):
        return f"{date.fromisoformat(text + '-01'):%b %Y}"
    if IDENTIFIER.fullmatch(text):
        return text.replace("_", " ")
    return group_thousands(text) if AMOUNT_PATTERN.fullmatch(text) else text


def is_numeric(value: Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)) or (
        isinstance(value, str) and bool(AMOUNT_PATTERN.fullmatch(value))
    )
