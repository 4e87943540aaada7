"""Finds references of ours in the texts of a statement line."""

import re
from typing import NamedTuple

from kasuwa.core.references import is_reference, parse_compact_reference, parse_wire_reference, read_rail_key

# A reference with its merchant as it is sent to rails (with dashes, or compact), or as a merchant sees it. Banks change
# the case, and some replace the bars and dashes by blanks or slashes.
WIRE = re.compile(r"kz[1-9][0-9]{0,17}[- /]gp(?:[0-9]{17}[a-z]|[- /][a-z]{2}[- /][0-9]{9}[- /][0-9]{8}[a-z])", re.ASCII)
COMPACT = re.compile(r"\b[1-9][0-9]{0,17}gp(?:[a-z]{2})?[0-9]{17}[a-z]\b", re.ASCII)
PLAIN = re.compile(r"\bgp(?:[0-9]{17}[a-z]|[-| /][a-z]{2}[-| /][0-9]{9}[-| /][0-9]{8}[a-z])\b", re.ASCII)


class OurReference(NamedTuple):
    """A reference that the service gave. `merchant_id` is None if the text does not tell whose it is."""

    merchant_id: int | None = None
    reference: str = ""


NO_REFERENCE = OurReference()

# Length of the reference in a line of MT940. Of a longer one, the rest is taken for the beginning of the text.
MT940_REFERENCE_LENGTH = 16


def find_line_reference(bank_reference: str, description: str) -> OurReference:
    """Returns the first valid reference in the reference and text of a line. NO_REFERENCE if none."""
    ours = find_reference(f"{bank_reference} {description}")
    if ours is NO_REFERENCE and len(bank_reference) == MT940_REFERENCE_LENGTH:
        return find_reference(bank_reference + description)
    return ours


def find_reference(text: str) -> OurReference:
    """Returns the first valid reference in a text, with its merchant if one of them has it. NO_REFERENCE if none."""
    lowered = text.lower()
    if "gp" not in lowered:
        return NO_REFERENCE
    for pattern, parse in ((WIRE, parse_spaced_wire), (COMPACT, parse_compact_reference)):
        for match in pattern.finditer(lowered):
            key = parse(match[0])
            if key is not None:
                return OurReference(*read_rail_key(key))
    for match in PLAIN.finditer(lowered):
        reference = re.sub("[- /]", "|", match[0]).upper()
        if is_reference(reference):
            return OurReference(None, reference)
    return NO_REFERENCE


def parse_spaced_wire(text: str) -> str | None:
    return parse_wire_reference(re.sub("[ /]", "-", text))
