"""Audit entries as people read them: fields by their names, before and after side by side, money in major units."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kasuwa.authority.audit_trail import AuditRecord
from kasuwa.console.kit.values import AMOUNT_PATTERN, format_minor_units, group_thousands
from kasuwa.console.kit.vocabulary import humanize
from kasuwa.core.money import CURRENCIES
from kasuwa.terms.conversion import HOME

# Fields of stored values that are amounts in minor units. Amounts of API requests are texts in major units.
MINOR_FIELDS = frozenset({"amount", "buy", "sell", "max_amount", "min_amount", "threshold", "daily_limit"})
MAX_FIELDS = 40
MAX_VALUE_LENGTH = 300
NOTHING = "–"


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
