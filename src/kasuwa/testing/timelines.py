"""The timelines of the references that a failing test touched, as text for its report."""

from collections.abc import Iterable, Mapping
from typing import Any

MAX_TIMELINES = 20
MAX_LINES = 60
# Columns of a line: the time of the entry without fractions of a second, and the kind of the entry.
TIME_CHARACTERS = 19
KIND_WIDTH = 11


def render_timelines(timelines: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Returns the timelines by reference. References of the same object (orderRef and txnRef) share one."""
    names: dict[str, list[str]] = {}
    for reference, entries in timelines.items():
        names.setdefault(render_entries(list(entries)), []).append(reference)
    shown = [f"{' = '.join(references)}\n{text}" for text, references in list(names.items())[:MAX_TIMELINES]]
    if len(names) > MAX_TIMELINES:
        shown.append(f"… and {len(names) - MAX_TIMELINES} more")
    return "\n\n".join(shown)


def render_entries(entries: list[Mapping[str, Any]]) -> str:
    lines = [render_entry(entry) for entry in entries]
    if len(lines) > MAX_LINES:
        lines = [f"  … {len(lines) - MAX_LINES} earlier entries", *lines[-MAX_LINES:]]
    return "\n".join(lines)


def render_entry(entry: Mapping[str, Any]) -> str:
    at = str(entry.get("at", ""))[:TIME_CHARACTERS].replace("T", " ")
    text = f"  {at}  {entry.get('what', ''):<{KIND_WIDTH}} {entry.get('said', '')}"
    if "debit" in entry and "credit" in entry:
        text += f": {entry.get('amount')} from {entry['debit']} to {entry['credit']}"
    elif entry.get("what") == "hold":
        text += f" ({entry.get('state')}, taken {entry.get('taken')})"
    elif entry.get("what") == "webhook":
        text += f" (attempt {entry.get('number')}, HTTP {entry.get('http') or 'none'})"
    return text.rstrip()
