"""Inbound account numbers that customers pay into: one per bank-transfer payment and per personalized account.

A rail opens them. Only the sandbox invents numbers: of the bank that is asked for, with its check digit. The token
index maps numbers to their owners.
"""

from datetime import datetime
from typing import ClassVar

import msgspec

from kasuwa.core.banks import MAGIC_PREFIX, Bank, nuban_check_digit
from kasuwa.core.codes import INSUFFICIENT_FUNDS, INVALID_REQUEST
from kasuwa.core.decision import Context, LoadedRows, Needs, NeedsMore, Refusal, Row
from kasuwa.core.keyring import derive
from kasuwa.core.references import first_number, row_key
from kasuwa.core.token_index import TokenIndexEntry, own_token_key
from kasuwa.core.vault import Unsealer

# Kind of their entries in the token index, and the first words of the entries' references.
ACCOUNT = "account"
PAYMENT = "payment"
PERSONALIZED = "personalized"

# States of an account.
OPENING, OPEN, FAILED, CLOSING, CLOSED = "opening", "open", "failed", "closing", "closed"
# States in which money that comes in is a payment. The bank takes it until it has closed the account.
PAYABLE = (OPEN, CLOSING)

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


def free_number(bank: Bank, context: Context, rows: LoadedRows) -> str | NeedsMore:
    """Returns an account number that has not been assigned yet, or NeedsMore to look candidates up."""
    keys = []
    for place in range(CANDIDATES):
        drawn = derive(context.entropy, f"account {first_number(context.merchant.merchant_id)} {place}")
        number = account_number(bank, drawn)
        key = own_token_key(context, ACCOUNT, number)
        keys.append(key)
        if rows.is_loaded(key) and rows.get(TokenIndexEntry, key) is None:
            return number
    return NeedsMore(Needs(tuple((TokenIndexEntry, key) for key in keys)))


# --- personalized accounts (Contract: resources#personalized-accounts) ---------------------------------------------


class PersonalizedAccountRow(Row):
    """An account that a rail opens for a merchant's own reference.

    Its entry in the token index has the reference `personalized <reference>`.
    """

    table: ClassVar[str] = "personalized_account"
    coded_columns: ClassVar[tuple[str, ...]] = (
        "reference",
        "account_number",
        "bank_code",
        "state",
        "rail",
        "rail_reference",
        "rail_account",
    )
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "account_number",
        "bank_code",
        "bank_name",
        "bvn_sealed",
        "state",
        "rail",
        "rail_reference",
        "facts",
        "message",
        "closed_at",
        "rail_account",
        "person_sealed",
        "row_code",
    )

    reference: str
    account_number: str  # empty until the account is open, as are the code and name of its bank
    bank_code: str
    bank_name: str
    bvn_sealed: bytes | None  # the account holder's BVN, if the merchant gave it
    created_at: datetime
    state: str
    rail: str  # that opened the account
    rail_reference: str  # ours, by which the rail knows the account
    facts: str = "{}"  # the rail's identifiers of the account, as JSON; its name is not among them
    message: str = ""  # the rail's words, if it did not open or close the account
    closed_at: datetime | None = None
    rail_account: str = ""  # our account with the rail
    person_sealed: bytes | None = None  # an encrypted AccountOwner
    client_id: str = ""  # whose limits by tier apply to what comes in; "" if it is nobody's
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return self.state in (OPENING, CLOSING)


class AccountOwner(msgspec.Struct, frozen=True, omit_defaults=True):
    """The personal data of an account."""

    name: str = ""  # as its bank has it, which payers are shown
    email: str = ""

    def __repr__(self) -> str:
        return "AccountOwner(…)"


OWNER_DECODER: "msgspec.json.Decoder[AccountOwner]" = msgspec.json.Decoder(AccountOwner)


def person_aad(key: bytes) -> str:
    return f"personalized_account.person_sealed {key.hex()}"


def open_owner(merchant_id: int, key: bytes, sealed: bytes, unseal: Unsealer) -> AccountOwner:
    return OWNER_DECODER.decode(unseal(merchant_id, person_aad(key), sealed))


def read_owner(row: PersonalizedAccountRow, unseal: Unsealer) -> AccountOwner:
    """Returns the personal data of an account: none once they were erased."""
    sealed = row.person_sealed
    return AccountOwner() if sealed is None else open_owner(row.merchant_id, row.key, sealed, unseal)


class ArrivedReceipt(msgspec.Struct, frozen=True):
    """Money that a rail received, as the rail answered a query."""

    rail: str
    rail_reference: str
    account_number: str
    account_reference: str  # the merchant's, of the personalized account; empty if there is none
    amount: int
    currency: str
    sender_name: str = ""
    rail_account: str = ""  # our account with the rail that reported it


class InboundReceipt(Row):
    """Money that a rail received on an account, booked once by the rail's own reference."""

    table: ClassVar[str] = "inbound_receipt"

    rail: str
    rail_reference: str
    account_number: str
    amount: int
    currency: str
    txn_ref: str  # of the payment; empty if the money is in suspense
    booked_at: datetime
    rail_account: str  # our account with the rail that reported it

    @property
    def is_open(self) -> bool:
        return False


def receipt_key(merchant_id: int, rail: str, rail_reference: str) -> bytes:
    return row_key(merchant_id, InboundReceipt.table, f"{rail} {rail_reference}")


def personalized_key(merchant_id: int, reference: str) -> bytes:
    return row_key(merchant_id, PersonalizedAccountRow.table, reference)


# --- money in suspense: refusals that operators read, and never a merchant ------------------------------------------

NOT_IN_SUSPENSE = Refusal(
    INVALID_REQUEST, "This money is not in suspense. Reject the proposal.", error_code="not_in_suspense"
)
MOVED_ON = Refusal(
    INSUFFICIENT_FUNDS,
    "This money is not in suspense any more: a manual posting has moved it. Reject the proposal.",
    error_code="suspense_moved_on",
)
ALREADY_DECIDED = Refusal(
    INVALID_REQUEST, "This money was assigned or returned already. Reject the proposal.", error_code="suspense_decided"
)
