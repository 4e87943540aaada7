"""The timelines of the references that a failing test touched, as text for its report."""

from collections.abc import Iterable, Mapping
from typing import Any

MAX_TIMELINES = 20
MAX_LINES = 60
# Columns of a line: the time of the entry without fractions of a second, and the kind of the entry.
TIME_CHARACTERS = 19
KIND_WIDTH = 11
# Fields of a hold that change when it ends.
CHANGING_FIELDS = ("state", "taken")


def render_timelines(timelines: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Returns the timelines by reference. References of the same object (orderRef and txnRef) share one.

    Each reference was explained by a request of its own, between which the timeline may have grown, a hold may have
    ended and a job may be done: a timeline that has all lasting entries of another is of the same object, and is the
    one that is shown.
    """
    groups: list[tuple[list[str], list[Mapping[str, Any]]]] = []
    for reference, timeline in timelines.items():
        entries = list(timeline)
        for references, known in groups:
            if has_all(known, entries) or has_all(entries, known):
                references.append(reference)
                if has_all(entries, known):
                    known[:] = entries
                break
        else:
            groups.append(([reference], entries))
    shown = [
        f"{' = '.join(references)}\n{render_lines([render_entry(entry) for entry in entries])}"
        for references, entries in groups[:MAX_TIMELINES]
    ]
    if len(groups) > MAX_TIMELINES:
        shown.append(f"… and {len(groups) - MAX_TIMELINES} more")
    return "\n\n".join(shown)


def has_all(entries: list[Mapping[str, Any]], others: list[Mapping[str, Any]]) -> bool:
    """Whether a timeline has all lasting entries of another that has some."""
    wanted = lasting_entries(others)
    return bool(wanted) and wanted <= lasting_entries(entries)


def lasting_entries(entries: list[Mapping[str, Any]]) -> set[frozenset[tuple[str, str]]]:
    """Returns the entries that stay as they are. A job is gone once it is done, and a hold changes when it ends."""
    return {
        frozenset((name, str(value)) for name, value in entry.items() if name not in CHANGING_FIELDS)
        for entry in entries
        if entry.get("what") != "job"
    }


def render_lines(lines: list[str]) -> str:
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
