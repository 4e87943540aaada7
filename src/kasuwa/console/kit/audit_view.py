"""Audit entries as people read them: fields by their names, before and after side by side, money in major units."""

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import msgspec

from kasuwa.authority.audit_trail import AuditRecord
from kasuwa.console.kit.values import AMOUNT_PATTERN, format_minor_units, group_thousands
from kasuwa.console.kit.vocabulary import humanize
from kasuwa.core.calendar import EARLIEST, NEVER, is_in_range, lagos_moment
from kasuwa.core.money import CURRENCIES
from kasuwa.terms.conversion import HOME

# Fields of stored values that are amounts in minor units. Amounts of API requests are texts in major units.
MINOR_FIELDS = frozenset({"amount", "buy", "sell", "max_amount", "min_amount", "threshold", "daily_limit"})
MAX_FIELDS = 40
MAX_FILTER_LENGTH = 100
MAX_VALUE_LENGTH = 300
NOTHING = "–"


class TrailFilter(msgspec.Struct, frozen=True):
    """The conditions on entries of an audit trail. Empty texts and None let all pass."""

    actor: str = ""  # a part of who acted
    words: str = ""  # a part of what was done, to what, or of the values
    first: date | None = None
    last: date | None = None

    @property
    def parameters(self) -> tuple[str, str, datetime, datetime]:
        """The parameters of TRAIL_CONDITION: texts in lower case, and the times between which entries lie."""
        since = EARLIEST if self.first is None else lagos_moment(self.first, 0)
        until = NEVER if self.last is None else lagos_moment(self.last + timedelta(days=1), 0)
        return self.actor.lower(), self.words.lower(), since, until

    @property
    def query(self) -> dict[str, str]:
        days = {name: day.isoformat() for name, day in (("from", self.first), ("to", self.last)) if day is not None}
        return {**{name: text for name, text in (("actor", self.actor), ("q", self.words)) if text}, **days}


EVERYTHING = TrailFilter()
FILTER_NAMES = ("actor", "q", "from", "to")


def make_trail_condition(first: int) -> str:
    """Returns the SQL condition whose parameters, from number `first` on, are `TrailFilter.parameters`."""
    actor, words, since, until = (f"${number}" for number in range(first, first + 4))
    return f"""
        (strpos(lower(actor), {actor}) > 0 or {actor} = '')
        and (strpos(lower(concat_ws(' ', action, subject, before, after)), {words}) > 0 or {words} = '')
        and at >= {since} and at < {until}
    """


def read_trail_filter(query: Mapping[str, str]) -> tuple[TrailFilter, dict[str, str]]:
    """Returns the filter of a page's query, and what is wrong with its dates."""
    texts = {name: query.get(name, "").strip()[:MAX_FILTER_LENGTH] for name in FILTER_NAMES}
    faults, days = dict[str, str](), dict[str, date | None]()
    for name in ("from", "to"):
        days[name] = parse_day(texts[name])
        if texts[name] and days[name] is None:
            faults[name] = "must be a date such as 2026-01-05"
    return TrailFilter(texts["actor"], texts["q"], days["from"], days["to"]), faults


def parse_day(text: str) -> date | None:
    """Parses a date. Returns None for an empty text, and for one that is no date to compute with."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if is_in_range(day) else None


class FieldChange(msgspec.Struct, frozen=True):
    """One field of an entry. `before` is empty if the entry records no earlier value."""

    name: str
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


class AuditLine(msgspec.Struct, frozen=True):
    """An audit entry with its values taken apart."""

    entry: AuditRecord
    merchant_name: str  # "" for the operator's entries, and on the merchant's own page
    fields: list[FieldChange]
    has_before: bool
    text: str  # the recorded value, if it is a plain text


def make_lines(entries: Iterable[AuditRecord], names: Mapping[str, str] = {}) -> list[AuditLine]:
    """Returns the lines of entries. `names` has the merchants' names by their mids."""
    return [make_line(entry, names.get(entry.mid or "", "")) for entry in entries]


def make_line(entry: AuditRecord, merchant_name: str) -> AuditLine:
    before, after = decode_fields(entry.before), decode_fields(entry.after)
    if before is None and after is None:
        fields = [FieldChange("Value", entry.before, entry.after)] if entry.before else []
        return AuditLine(entry, merchant_name, fields, bool(entry.before), "" if entry.before else entry.after)
    old, new = flatten(before or {}), flatten(after or {})
    names = list(dict.fromkeys((*old, *new)))[:MAX_FIELDS]
    fields = [FieldChange(name, old.get(name, ""), new.get(name, "")) for name in names]
    return AuditLine(entry, merchant_name, fields, bool(old), "")


def decode_fields(text: str) -> dict[str, Any] | None:
    """Returns the fields of a recorded value, or None if it is no JSON object."""
    try:
        decoded = msgspec.json.decode(text) if text.startswith("{") else None
    except msgspec.DecodeError:  # it was cut because it was too long
        return None
    return decoded if isinstance(decoded, dict) else None


def flatten(fields: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Returns the fields of a value as text by readable name. Those of inner objects follow the outer's name."""
    texts: dict[str, str] = {}
    currency = find_currency(fields)
    for name, value in fields.items():
        label = f"{prefix}{name if name in CURRENCIES else humanize(name)}"
        if isinstance(value, dict):
            texts |= flatten(value, f"{label}, ") if value else {label: NOTHING}
        else:
            texts[label] = format_audit_value(name, value, currency)[:MAX_VALUE_LENGTH]
    return texts


def find_currency(fields: Mapping[str, Any]) -> str:
    """Returns the currency of the amounts beside it: that of a posting's accounts, else of the request.

    Exchange rates are in the home currency.
    """
    if "buy" in fields and "sell" in fields:
        return HOME
    account = fields.get("debit") or fields.get("account")
    if isinstance(account, str) and account.rpartition(":")[2] in CURRENCIES:
        return account.rpartition(":")[2]
    return str(fields.get("currency") or HOME)


def format_audit_value(name: str, value: Any, currency: str) -> str:
    if value is None or value == "" or value == []:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name in MINOR_FIELDS:
        return f"{currency} {format_minor_units(value)}"
    if isinstance(value, list):
        return ", ".join(format_audit_value("", item, currency) for item in value)
    text = str(value) if not isinstance(value, dict) else msgspec.json.encode(value).decode()
    if AMOUNT_PATTERN.fullmatch(text):
        return f"{currency} {group_thousands(text)}" if name in MINOR_FIELDS else group_thousands(text)
    return text
