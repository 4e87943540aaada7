"""The port of rails that open accounts which customers pay into."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

import msgspec

from kasuwa.rails.ports.orders import Answer

# Facts of an account that is open. Further facts are the rail's own identifiers of it, and come back with each order.
ACCOUNT_NUMBER, ACCOUNT_NAME, BANK_NAME, BANK_CODE = "account_number", "account_name", "bank_name", "bank_code"


class AccountOrder(msgspec.Struct, frozen=True):
    """An account to be opened for a customer, or one that was."""

    key: str  # idempotency key, unique over all merchants
    name: str  # of the owner
    email: str
    bank_code: str = ""  # of the bank that is preferred
    bvn: str = ""  # of the owner
    facts: Mapping[str, str] = {}  # those of the account, once it is open
    account: str = ""  # our account with the rail
    # The fields below are used by the sandbox only.
    attempt: int = 0  # counts the numbers that turned out to be taken
    seed: str = ""  # random, for the number

    def __repr__(self) -> str:
        return f"AccountOrder({self.key})"


class Receipt(msgspec.Struct, frozen=True):
    """Money that came into an account. The account is named by its number, or by the key of its order."""

    reference: str  # the rail's own, unique there
    amount: int
    currency: str
    status: str  # SUCCESSFUL, PROCESSING, FAILED or UNREADABLE
    account_number: str = ""
    account_key: str = ""
    sender_name: str = ""
    rail_account: str = ""  # our account with the rail that reported it; set by rails/routing/accounts.py


class AccountRail(Protocol):
    """A rail that opens accounts, and reports the money that comes into them.

    `open` and `query` answer SUCCESSFUL with the account's facts, PROCESSING if it will be opened later, FAILED with
    the reason, or NOT_FOUND. Opening again under the same key returns the same account. `find_receipt` returns None if
    the rail has no such receipt. `list_receipts` returns the references of the receipts of an open account since a
    time, and may return older ones.
    """

    async def open(self, order: AccountOrder) -> Answer: ...

    async def query(self, order: AccountOrder) -> Answer: ...

    async def close(self, order: AccountOrder) -> Answer: ...

    async def find_receipt(self, reference: str) -> Receipt | None: ...

    async def list_receipts(self, order: AccountOrder, since: datetime) -> list[str]: ...
