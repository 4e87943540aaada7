"""The timelines of the references that a failing test touched, as text for its report."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

MAX_TIMELINES = 20
MAX_LINES = 60
# Columns of a line: the time of the entry without fractions of a second, and the kind of the entry.
TIME_CHARACTERS = 19
KIND_WIDTH = 11


def render_timelines(timelines: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """Returns the timelines by reference. References of the same object (orderRef and txnRef) share one.

    Each reference was explained by a request of its own, between which the timeline may have grown and a hold may have
    ended: a timeline that has all entries of another is of the same object, and is the one that is shown.
    """
    found: list[tuple[list[str], list[Mapping[str, Any]]]] = []
    for reference, given in timelines.items():
        entries = list(given)
        for references, known in found:
            if has_all(known, entries) or has_all(entries, known):
                references.append(reference)
                if len(entries) >= len(known):
                    known[:] = entries
                break
        else:
            found.append(([reference], entries))
    shown = [
        f"{' = '.join(references)}\n{render_lines([render_entry(entry) for entry in entries])}"
        for references, entries in found[:MAX_TIMELINES]
    ]
    if len(found) > MAX_TIMELINES:
        shown.append(f"… and {len(found) - MAX_TIMELINES} more")
    return "\n\n".join(shown)


def has_all(entries: list[Mapping[str, Any]], others: list[Mapping[str, Any]]) -> bool:
    """Whether a timeline has all entries of another that has some, whatever has become of their holds."""
    names = ("at", "what", "said", "debit", "credit", "amount", "number")
    missing = Counter(tuple(str(entry.get(name)) for name in names) for entry in others)
    missing.subtract(Counter(tuple(str(entry.get(name)) for name in names) for entry in entries))
    return bool(others) and all(count <= 0 for count in missing.values())


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
