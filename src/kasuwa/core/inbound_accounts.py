"""Inbound account numbers that customers pay into: one per bank-transfer payment and per personalized account.

They are numbers of the operator's collecting bank, with its check digit. The token index maps them to their owners.
"""

from datetime import datetime
from typing import ClassVar

from kasuwa.core.banks import MAGIC_PREFIX, Bank, nuban_check_digit
from kasuwa.core.decision import Context, LoadedRows, Needs, NeedsMore, Row
from kasuwa.core.references import row_key
from kasuwa.core.token_index import TokenIndexEntry, token_key
from kasuwa.core.vault import derive

# Kind of their entries in the token index, and the first words of the entries' references.
ACCOUNT = "account"
PAYMENT = "payment"
PERSONALIZED = "personalized"

SERIALS = 10**9
# Numbers tried to find a free one. Of a billion numbers, three taken in a row are practically impossible.
CANDIDATES = 3


def account_number(bank: Bank, random_bytes: bytes) -> str:
    """Returns an account number of a bank. It is never one of the sandbox's magic numbers."""
    assert bank.cbn_code is not None, "only a bank with a code of its own makes account numbers"
    serial = f"{int.from_bytes(random_bytes, 'big') % SERIALS:09d}"
    if serial.startswith(MAGIC_PREFIX):
        serial = "1" + serial[1:]
    return f"{serial}{nuban_check_digit(bank.cbn_code, serial)}"


def free_number(bank: Bank, context: Context, seen: LoadedRows) -> str | NeedsMore:
    """Returns an account number that has not been assigned yet, or NeedsMore to look candidates up."""
    keys = []
    for place in range(CANDIDATES):
        number = account_number(bank, derive(context.entropy, f"account {context.merchant.merchant_id} {place}"))
        key = token_key(context.vault, ACCOUNT, number)
        keys.append(key)
        if seen.is_loaded(key) and seen.get(TokenIndexEntry, key) is None:
            return number
    return NeedsMore(Needs(tuple((TokenIndexEntry, key) for key in keys)))


# --- personalized accounts (Contract: resources#personalized-accounts) ---------------------------------------------


class PersonalizedAccountRow(Row):
    """An account number made for a merchant's own reference.

    Its entry in the token index has the reference `personalized <reference>`.
    """

    table: ClassVar[str] = "personalized_account"

    reference: str
    account_number: str
    bank_code: str
    bank_name: str
    account_name: str
    email: str
    bvn_sealed: bytes | None  # the account holder's BVN, if the merchant gave it
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return False


def personalized_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, PersonalizedAccountRow.table, reference)
