"""The beginning of an endpoint's answer as the event log shows it: text, bounded, with secrets masked.

Endpoints answer with anything: pages of errors, a dump of their settings, or the request that they were sent.
"""

import re
from collections.abc import Iterable

MAX_CHARS = 1_000
MARGIN_CHARS = 500
MASK = "[masked]"

# Values of fields, headers and settings with such names, as JSON, form data or lines of a page.
SECRET_FIELDS = re.compile(
    r"""(?ix) ( (?: secret | passw(?:or)?d | token | api[_-]?key | \bkey | authorization | signature | cvv | \bpin\b
        | \botp\b ) [\w-]{0,30} ["']? \s{0,5} [:=] \s{0,5} (?: ["'] | (?:bearer|basic)\s )? ) [^\s"'<>&,;}]+""",
)
BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}")
SECRETS = re.compile(r"\b(?:whsec_|sk_|pk_live_|eyJ)[\w.+/=-]{8,}")
CARD_NUMBERS = re.compile(r"(?<![\d.])(?:\d[ -]?){12,18}\d(?![\d.])")
UNPRINTABLE = re.compile(r"[^\t\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0001fffd]")


def make_excerpt(body: bytes, secrets: Iterable[bytes]) -> str:
    """Returns the beginning of a body. `secrets` are values that must not appear, such as the merchant's keys."""
    # More than is shown is masked: a secret that is cut in two would not be recognized.
    text = body[: MAX_CHARS + MARGIN_CHARS].decode(errors="replace")
    for secret in secrets:
        text = text.replace(secret.decode(errors="replace"), MASK)
    text = SECRETS.sub(MASK, text)
    text = BEARER.sub(rf"\1 {MASK}", text)
    text = SECRET_FIELDS.sub(rf"\1{MASK}", text)
    text = CARD_NUMBERS.sub(MASK, text)
    text = UNPRINTABLE.sub("\ufffd", text.replace("\r\n", "\n"))
    is_read_whole = len(body) <= MAX_CHARS + MARGIN_CHARS
    if is_read_whole and len(text) <= MAX_CHARS:
        return text
    shown = len(text) if is_read_whole else max(len(text) - MARGIN_CHARS, 1)
    return text[: min(MAX_CHARS, shown) - 1] + "…"
