"""The list of transactions: its order, its filters, and the index that each combination of filters is read by."""

import contextlib
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import NamedTuple

import msgspec

from kasuwa.core.calendar import EARLIEST, NEVER, lagos_moment
from kasuwa.core.references import KEY_BYTES
from kasuwa.methods.transactions.wire import TransactionsRequest

# The smallest amount in minor units that has an index of its own (0001_baseline.sql).
LARGE_AMOUNT = 100_000_000
HOME_CURRENCY = "NGN"
OPEN_STATUSES = frozenset({"pending", "processing"})

# Transactions that one statement looks at, and the statements of one request. A page of a filter that fewer than one in
# 200 transactions pass may be short, and continues where it stopped. Contract: resources#transactions
WINDOW = 1_000
MAX_WINDOWS = 10


# Time and key. Version 1.0.0 wrote the number of the insertion between them.
CURSOR = re.compile(rb"([^ ]+) (?:[0-9]{1,19} )?(.{%d})" % KEY_BYTES, re.DOTALL)


class Place(NamedTuple):
    """A place in the list: the next page continues after it. The order is total and descending."""

    at: datetime
    seq: int
    key: bytes


FIRST_PLACE = Place(NEVER, 0, b"")
# Above the number of every insertion: the largest bigint of PostgreSQL.
ABOVE_ALL = 2**63 - 1


class Cursor(NamedTuple):
    """A place in the list as a merchant has it: by the transaction that it follows. The number of its insertion is not
    in it: that counts the transactions of all merchants, and is another one in a copy of the books."""

    at: datetime
    key: bytes  # of the transaction in the first books

    def encode(self) -> str:
        text = f"{self.at.astimezone(UTC).isoformat()} ".encode() + self.key
        return urlsafe_b64encode(text).decode().rstrip("=")


def decode_cursor(text: str) -> Cursor | None:
    """Returns the cursor of a text, or None if it is not one."""
    with contextlib.suppress(ValueError):
        match = CURSOR.fullmatch(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        moment = None if match is None else datetime.fromisoformat(match[1].decode())
        if match is not None and moment is not None and moment.tzinfo is not None and EARLIEST <= moment <= NEVER:
            return Cursor(moment, match[2])
    return None


class Stream(Enum):
    """An index or table that holds transactions in the order of the list."""

    ALL = "all"  # the index of each kind, merged
    KIND = "kind"
    FAILED = "failed"
    OPEN = "open"  # the jobs of open transactions, which are few
    FOREIGN = "foreign"  # of one currency other than NGN
    LARGE = "large"  # of at least LARGE_AMOUNT
    METHOD = "method"
    CUSTOMER = "customer"
    KEYS = "keys"  # known one by one


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    """The filters of a request. None does not filter."""

    kind: str | None = None
    status: str | None = None
    currency: str | None = None
    min_amount: int | None = None
    max_amount: int | None = None
    customer: str | None = None  # hash_customer in hexadecimal (transactions/payers.py)
    method: str | None = None
    part: str | None = None  # of a reference, in lower case
    keys: str | None = None  # of the transactions that have a whole reference, in hexadecimal, with commas between them
    since: datetime = EARLIEST
    until: datetime = NEVER  # exclusive

    @property
    def stream(self) -> Stream:
        """The stream with the fewest transactions among those that hold all matching ones."""
        if self.keys is not None:
            return Stream.KEYS
        if self.customer is not None:
            return Stream.CUSTOMER
        if self.status in OPEN_STATUSES:
            return Stream.OPEN
        if self.min_amount is not None and self.min_amount >= LARGE_AMOUNT:
            return Stream.LARGE
        if self.currency is not None and self.currency != HOME_CURRENCY:
            return Stream.FOREIGN
        if self.status == "failed":
            return Stream.FAILED
        if self.method is not None:
            return Stream.METHOD
        return Stream.ALL if self.kind is None else Stream.KIND

    @property
    def conditions(self) -> tuple[object, ...]:
        """The parameters $7 to $15 of the statements in store.py."""
        return (
            self.kind,
            self.status,
            self.currency,
            self.min_amount,
            self.max_amount,
            self.customer,
            self.method,
            self.part,
            self.keys,
        )


def make_filters(request: TransactionsRequest, customer: str | None, keys: str | None) -> Filters:
    """Returns the filters of a request. `keys` are those of a whole reference; None takes it as a part of one."""
    first, last = request.first_day, request.last_day
    return Filters(
        kind=request.kind,
        status=request.status,
        currency=None if request.currency is None else str(request.currency),
        min_amount=None if request.min_amount is None else int(request.min_amount),
        max_amount=None if request.max_amount is None else int(request.max_amount),
        customer=customer,
        method=request.method,
        part=request.reference.lower() if request.reference is not None and keys is None else None,
        keys=keys,
        since=EARLIEST if first is None else lagos_moment(first.plain(), 0),
        until=NEVER if last is None else lagos_moment(last.plain() + timedelta(days=1), 0),
    )
