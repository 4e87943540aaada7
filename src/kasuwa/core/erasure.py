"""What a person leaves in rows of other slices than the one that knows them, and how each is made to forget them.

Slices do not import each other: who erases a person hands over the traces, each with its own slice's rule. What the
books need stays: amounts, references, postings, events.
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
    """One row, and `forget(row)`: the row without the person, or why it cannot be yet."""

    kind: type[Row]
    key: bytes
    erase: Callable[[Any], Row | Refusal]
