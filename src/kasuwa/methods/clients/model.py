"""Clients: rows, statuses, and the functions that loans and savings use.

A client is a person whom a merchant lends to and saves for. The statuses, which the merchant sets:

    pending_approval ⇄ rejected          a rejected application may be submitted again
        ├──> inactive ⇄ active           only an active client may borrow and save
        └──> active
    inactive, active ──> exited          final
    inactive, active ──> blacklisted     final

A client with an open loan or savings account stays active. One whom money can still reach, or who is owed some, cannot
leave or be erased (`refuse_leaving`).

Contract: clients#create, clients#update
"""

from collections.abc import Collection
from datetime import date, datetime
from typing import ClassVar, Protocol

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import FieldError, Refusal, Row
from kasuwa.core.money import format_minor
from kasuwa.core.references import row_key

ID_PREFIX = "CL"

PENDING_APPROVAL = "pending_approval"
INACTIVE = "inactive"
ACTIVE = "active"
REJECTED = "rejected"
EXITED = "exited"
BLACKLISTED = "blacklisted"

# The status changes that a merchant may request. Contract: clients#update
STATUS_TRANSITIONS = {
    PENDING_APPROVAL: frozenset({INACTIVE, ACTIVE, REJECTED}),
    INACTIVE: frozenset({ACTIVE, EXITED, BLACKLISTED}),
    ACTIVE: frozenset({INACTIVE, EXITED, BLACKLISTED}),
    # A rejected application may be submitted again, for instance with other documents.
    REJECTED: frozenset({PENDING_APPROVAL}),
}

# Statuses of clients who have left. They never change.
FINAL_STATUSES = frozenset({EXITED, BLACKLISTED})

UNKNOWN_CLIENT = Refusal(INVALID_REQUEST, "Invalid Client Reference", error_code="client_not_found")
CLIENT_INACTIVE = Refusal(
    INVALID_REQUEST, "The client is {status}; only an active one may borrow and save", error_code="client_inactive"
)
CLIENT_OWED = Refusal(
    INVALID_REQUEST, "The client is owed {owed}, paid beyond a loan; refund it first", error_code="client_owed"
)
NO_BANK_ACCOUNT = Refusal(
    INVALID_REQUEST, "The client has no bankAccount; add one by update", error_code="client_bank_account_missing"
)
ACCOUNTS_OPEN = Refusal(
    INVALID_REQUEST,
    "The client has an open loan or savings and must stay active; close it first",
    (FieldError("status", "a client with an open loan or savings stays active"),),
    error_code="client_accounts_open",
)
PAYMENT_PENDING = Refusal(
    INVALID_REQUEST,
    "A payment for the client's loans or savings is still pending; wait for its end",
    (FieldError("status", "a client whom a pending payment is for does not leave"),),
    error_code="client_payment_pending",
)
CARD_OPEN = Refusal(
    INVALID_REQUEST,
    "The client has a virtual card; terminate it first",
    (FieldError("status", "a client with a card that is not terminated does not leave"),),
    error_code="client_card_open",
)
IN_A_GROUP = Refusal(
    INVALID_REQUEST,
    "The client is a member of a group of borrowers; remove the client from it by update_group first",
    (FieldError("status", "a member of a group does not leave"),),
    error_code="client_in_group",
)


class Client(Row):
    """One person."""

    table: ClassVar[str] = "client"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "status",
        "bvn_verified",
        "open_accounts",
        "bvn_hash",
        "bvn_mask",
        "bvn_sealed",
        "changed_at",
        "erased_at",
        "detail_sealed",
        "phone_hash",
        "email_hash",
        "bvn_check_sealed",
        "pending_payments",
        "credit",
        "savings",
        "spent_on",
        "spent",
        "held",
        "cards",
        "groups",
    )
    coded_columns: ClassVar[tuple[str, ...]] = ("client_id", "status", "bvn_verified")

    client_id: str
    number: int  # serial number: lists are sorted by it
    status: str
    bvn_verified: bool
    open_accounts: int  # loans and savings that are not closed
    bvn_hash: bytes | None  # keyed hash, to find a client by
    bvn_mask: str | None  # to be shown
    bvn_sealed: bytes | None  # encrypted
    created_at: datetime
    changed_at: datetime
    erased_at: datetime | None
    detail_sealed: bytes | None = None  # all personal data except the BVN: an encrypted JSON object
    phone_hash: bytes | None = None  # keyed hashes, to find a client by
    email_hash: bytes | None = None
    bvn_check_sealed: bytes | None = None  # how the BVN was verified, or the consent that is awaited: encrypted
    pending_payments: int = 0  # payments for the client's loans and savings that have not ended
    credit: int = 0  # what the client paid beyond loans and was not refunded, in kobo
    savings: str = ""  # open savings accounts, separated by commas: the limits by tier add up their balances
    spent_on: date | None = None  # day in Lagos that `spent` is of
    spent: int = 0  # what was paid out to the client on that day under the limits by tier, in kobo
    cards: str = ""  # virtual cards that are not terminated, by their short ids, separated by commas
    held: str = ""  # payments whose money is held above the limits, by txnRef, separated by commas
    groups: int = 0  # groups that the client is a member of
    row_code: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False

    @property
    def savings_ids(self) -> list[str]:
        return self.savings.split(",") if self.savings else []

    @property
    def card_ids(self) -> list[str]:
        return self.cards.split(",") if self.cards else []

    @property
    def held_refs(self) -> list[str]:
        return self.held.split(",") if self.held else []


def client_key(merchant_id: int, client_id: str) -> bytes:
    return row_key(merchant_id, "client", client_id)


def held_key(merchant_id: int, txn_ref: str) -> bytes:
    """Returns the key of a held deposit (methods/investments/held_model.py)."""
    return row_key(merchant_id, "held_deposit", txn_ref)


class BvnGuard(Row):
    """The client that has a BVN: no two clients of a merchant may have the same.

    Keyed by the hash of the BVN. `client_id` is None once its client got another BVN or was erased.
    """

    table: ClassVar[str] = "client_bvn"
    mutable_columns: ClassVar[tuple[str, ...]] = ("client_id",)

    client_id: str | None

    @property
    def is_open(self) -> bool:
        return False


def bvn_guard_key(merchant_id: int, bvn_hash: bytes) -> bytes:
    return row_key(merchant_id, "client_bvn", bvn_hash.hex())


class Unsealer(Protocol):
    """Decrypts a value that was sealed for a merchant and a place. `Vault.unseal` is one."""

    def __call__(self, merchant_id: int, place: str, sealed: bytes) -> bytes: ...


def detail_aad(client_id: str) -> str:
    return f"client.detail_sealed {client_id}"


def unseal_detail(client: Client, unseal: Unsealer) -> str:
    """Returns the personal data of a client, as the text of a JSON object: an empty one if they were erased."""
    if client.detail_sealed is None:
        return "{}"
    return unseal(client.merchant_id, detail_aad(client.client_id), client.detail_sealed).decode()


# --- for loans and savings ----------------------------------------------------------------------------------


class BankAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """The bank account of a client. `account_name` is empty if the merchant gave none."""

    bank_code: str
    account_number: str
    account_name: str = ""


class PayeeDetail(msgspec.Struct, frozen=True, rename={"bank_account": "bankAccount"}):
    """The part of a client's detail that is needed to send money."""

    firstname: str = ""
    lastname: str = ""
    bank_account: BankAccount | None = None


PAYEE_DETAIL_DECODER: "msgspec.json.Decoder[PayeeDetail]" = msgspec.json.Decoder(PayeeDetail)


def format_full_name(detail: PayeeDetail) -> str:
    return f"{detail.firstname} {detail.lastname}".strip()


def read_bank_account(client: Client, unseal: Unsealer) -> BankAccount | None:
    """Returns the account that loans and cash-outs are paid to, or None if the client has none.

    Its name is the client's own if the merchant gave no other.
    """
    detail = PAYEE_DETAIL_DECODER.decode(unseal_detail(client, unseal))
    if detail.bank_account is None or detail.bank_account.account_name:
        return detail.bank_account
    return msgspec.structs.replace(detail.bank_account, account_name=format_full_name(detail))


def kyc_tier(client: Client) -> str:
    """Returns the KYC tier of a client: 2 with a verified BVN, else 1. Contract: keys#velocity"""
    return "2" if client.bvn_verified else "1"


def refuse_inactive(client: Client) -> Refusal | None:
    """Returns a refusal unless the client is active."""
    if client.status == ACTIVE:
        return None
    return CLIENT_INACTIVE.fill(status=client.status)


def adjust_open_accounts(client: Client, by: int) -> Client:
    """Returns the client with one open account more (1) or less (-1).

    Put it into the decision that opens or closes the account.
    """
    return msgspec.structs.replace(client, open_accounts=client.open_accounts + by)


def add_savings(client: Client, savings_id: str) -> Client:
    """Returns the client with one savings account more. Put it into the decision that opens the account."""
    return adjust_open_accounts(msgspec.structs.replace(client, savings=",".join((*client.savings_ids, savings_id))), 1)


def remove_savings(client: Client, closed: Collection[str]) -> Client:
    """Returns the client without savings that are closed."""
    staying = [savings_id for savings_id in client.savings_ids if savings_id not in closed]
    return adjust_open_accounts(msgspec.structs.replace(client, savings=",".join(staying)), -len(closed))


def add_card(client: Client, short_id: str) -> Client:
    """Returns the client with one virtual card more. Put it into the decision that makes the card."""
    return msgspec.structs.replace(client, cards=",".join((*client.card_ids, short_id)))


def remove_card(client: Client, short_id: str) -> Client:
    """Returns the client without a card that is terminated."""
    return msgspec.structs.replace(client, cards=",".join(card for card in client.card_ids if card != short_id))


def adjust_groups(client: Client, by: int) -> Client:
    """Returns the client as a member of one group more (1) or less (-1)."""
    return msgspec.structs.replace(client, groups=client.groups + by)


def adjust_pending_payments(client: Client, by: int) -> Client:
    """Returns the client with one pending payment more (1) or less (-1).

    Put it into the decision that begins or ends a payment for a loan or savings account of the client.
    """
    return msgspec.structs.replace(client, pending_payments=client.pending_payments + by)


def spent_today(client: Client, today: date) -> int:
    """Returns what was paid out to the client on a day."""
    return client.spent if client.spent_on == today else 0


def count_spent(client: Client, amount: int, today: date) -> Client:
    """Returns the client with more, or less, paid out today."""
    if not amount:
        return client
    return msgspec.structs.replace(client, spent_on=today, spent=max(0, spent_today(client, today) + amount))


def adjust_credit(client: Client, by: int) -> Client:
    """Returns the client with more or less of a credit. Put it into the decision that posts the credit."""
    return msgspec.structs.replace(client, credit=max(0, client.credit + by))


def refuse_leaving(client: Client) -> Refusal | None:
    """Returns why a client cannot leave or be erased yet, or None: all that can still move money to or from them.

    Savings stay open while they hold money, also for a cash-out in progress, are in a thrift plan, owe or are owed
    thrift debts, or await a deposit (`SavingsChanges.kept_open_by`). Loans stay open while they are owed or paid out.
    Contract: clients#leaving
    """
    if client.open_accounts > 0:
        return ACCOUNTS_OPEN
    if client.pending_payments > 0 or client.held:
        return PAYMENT_PENDING
    if client.credit > 0:
        owed = format_minor(client.credit)
        fault = FieldError("status", f"a client who is owed {owed} does not leave")
        return msgspec.structs.replace(CLIENT_OWED.fill(owed=owed), field_errors=(fault,))
    if client.card_ids:
        return CARD_OPEN
    return IN_A_GROUP if client.groups > 0 else None
