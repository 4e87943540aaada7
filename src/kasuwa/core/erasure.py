"""Erasure of a person's data from rows of other slices.

Slices do not import each other, so the erasing slice is given a list of rows, each with the owning slice's function
that erases it. What the books need stays: amounts, references, postings and events.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal, Row

TRANSACTION_IN_PROGRESS = Refusal(
    INVALID_REQUEST, "A payment or transfer of the client is still under way; wait for its end"
)


class RowErasure(msgspec.Struct, frozen=True):
    """A row with personal data, and the owning slice's function that erases it."""

    kind: type[Row]
    key: bytes
    erase: Callable[[Any], Row | Refusal]  # returns the row without personal data, or why it cannot be erased yet
