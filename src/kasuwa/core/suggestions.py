"""Hints at what a misspelled text was probably meant to be. Bounded: the text may be anything that was sent."""

import difflib
from collections.abc import Iterable
from itertools import islice

# Bounds of a search: texts compared, and characters of each.
MAX_TEXTS = 100
LONGEST_TEXT = 40
# Similarity (difflib) at which a text is suggested.
NEAR = 0.75
# In short texts one letter of three may differ: public clients send cvv for ccv.
SHORT_TEXT = 3
NEAR_SHORT = 0.66


def find_nearest(wanted: str, texts: Iterable[str]) -> str | None:
    """Returns the text that is most similar, whatever the case of its letters, or None if none is similar."""
    if len(wanted) > LONGEST_TEXT:
        return None
    short = {text.lower(): text for text in islice(texts, MAX_TEXTS) if len(text) <= LONGEST_TEXT}
    cutoff = NEAR if len(wanted) > SHORT_TEXT else NEAR_SHORT
    near = difflib.get_close_matches(wanted.strip().lower(), short, n=1, cutoff=cutoff)
    return short[near[0]] if near else None


def suggest(wanted: str, texts: Iterable[str]) -> str:
    """Returns a hint such as ` (did you mean visa?)`, or an empty text."""
    nearest = find_nearest(wanted, texts)
    return f" (did you mean {nearest}?)" if nearest is not None else ""
