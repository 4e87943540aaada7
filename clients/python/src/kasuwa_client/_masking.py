"""Masks secrets in what hooks see: card numbers, security codes, PINs, OTPs, tokens and keys. Has no I/O."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kasuwa_client._json import as_mapping, as_sequence
from kasuwa_client._tables import SECRET_FIELDS

MASK = "***"
# Identifiers of the service and of this client. They are no secrets, although the digits of some have the check digit
# of a card number: references of payments, ids of events, and references that the client makes.
REFERENCE = r"GP[0-9]{17}[A-Z](?![0-9A-Za-z])|\bevt_[0-9]{8,18}[0-9a-f]{12}\b|\bkc-[0-9a-f]{32}\b"
# Runs of digits that may be a card number, also with spaces or hyphens between them.
CARD_LIKE = r"(?<![0-9])[0-9](?:[ -]?[0-9]){11,18}(?![0-9])"
REFERENCE_OR_CARD = re.compile(f"(?P<reference>{REFERENCE})|{CARD_LIKE}")
SECRET_HEADERS = frozenset({"key", "authorization", "proxy-authorization", "cookie"})


def mask(value: Any) -> Any:
    """Returns a copy without secrets."""
    fields, items = as_mapping(value), as_sequence(value)
    if fields is not None:
        return {name: MASK if name in SECRET_FIELDS else mask(part) for name, part in fields.items()}
    if items is not None:
        return [mask(part) for part in items]
    if isinstance(value, str):
        return REFERENCE_OR_CARD.sub(_mask_card_number, value)
    if isinstance(value, int) and not isinstance(value, bool) and _is_card_number(str(value)):
        return MASK
    return value


def mask_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: MASK if name.lower() in SECRET_HEADERS else value for name, value in headers.items()}


def _mask_card_number(found: re.Match[str]) -> str:
    if found["reference"]:
        return found[0]
    digits = re.sub("[ -]", "", found[0])
    return MASK if _is_card_number(digits) else found[0]


def _is_card_number(digits: str) -> bool:
    """Returns whether digits have the length and the check digit of a card number."""
    if not (digits.isdigit() and 12 <= len(digits) <= 19):
        return False
    doubled = [int(digit) * (1 + n % 2) for n, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0
