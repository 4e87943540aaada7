"""A client's row: a person whom a merchant lends to and saves for. What is done to it is in decide_client.py.
Contract: clients#create

Loans and savings borrow from here: `Client` and its key, `bank_account_of` (where money is sent), `refuse_inactive`
(who may borrow and save) and `count_account` (an open account keeps its client active).
"""

from datetime import datetime
from typing import ClassVar, Protocol

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal, Row
from kasuwa.core.references import row_key

PENDING_APPROVAL = "pending_approval"
INACTIVE = "inactive"
ACTIVE = "active"
REJECTED = "rejected"
EXITED = "exited"
BLACKLISTED = "blacklisted"

UNKNOWN_CLIENT = Refusal(INVALID_REQUEST, "Invalid Client Reference")
NO_BANK_ACCOUNT = Refusal(INVALID_REQUEST, "The client has no bankAccount; add one by update")


class Client(Row):
    """One person. What the merchant told of them is a JSON object, encrypted in `detail_sealed`; the BVN is kept apart.

    `detail` holds that object in clear only in rows of an earlier version that `seal_clients` (db/subject_access.py) has not
    reached yet; otherwise it is `{}`. `phone_hash` and `email_hash` are keyed hashes that clients are found by.
    """

    table: ClassVar[str] = "client"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        *("status", "bvn_verified", "open_accounts", "bvn_hash", "bvn_mask", "bvn_sealed"),
        *("detail", "changed_at", "erased_at", "detail_sealed", "phone_hash", "email_hash"),
    )

    client_id: str
    number: int
    status: str
    bvn_verified: bool
    open_accounts: int
    bvn_hash: bytes | None
    bvn_mask: str | None
    bvn_sealed: bytes | None
    detail: str
    created_at: datetime
    changed_at: datetime
    erased_at: datetime | None
    detail_sealed: bytes | None = None
    phone_hash: bytes | None = None
    email_hash: bytes | None = None

    @property
    def is_open(self) -> bool:
        return False


def client_key(merchant_id: int, client_id: str) -> bytes:
    return row_key(merchant_id, "client", client_id)


class Unsealer(Protocol):
    """Decrypts what was sealed for a place of a merchant; `Vault.open` is one."""

    def __call__(self, merchant_id: int, place: str, sealed: bytes) -> bytes: ...


def detail_aad(client_id: str) -> str:
    return f"client.detail_sealed {client_id}"


def unseal_detail(client: Client, unseal: Unsealer) -> str:
    """Returns what the merchant told of the person, as the text of a JSON object."""
    if client.detail_sealed is None:
        return client.detail
    return unseal(client.merchant_id, detail_aad(client.client_id), client.detail_sealed).decode()


# --- what loans and savings borrow --------------------------------------------------------------------------


class BankAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a client's money is sent. `account_name` is the merchant's word for it, where it said one."""

    bank_code: str
    account_number: str
    account_name: str = ""


class PayeeDetail(msgspec.Struct, frozen=True, rename={"bank_account": "bankAccount"}):
    """Of a client's detail, what sending money takes."""

    firstname: str = ""
    lastname: str = ""
    bank_account: BankAccount | None = None


PAYEE_DETAIL_DECODER: "msgspec.json.Decoder[PayeeDetail]" = msgspec.json.Decoder(PayeeDetail)


def full_name_of(told: PayeeDetail) -> str:
    return f"{told.firstname} {told.lastname}".strip()


def bank_account_of(client: Client, unseal: Unsealer) -> BankAccount | None:
    """Returns the account that loans are paid out to and savings cashed out to, under the client's name where no other
    was given; None if the client has no account."""
    told = PAYEE_DETAIL_DECODER.decode(unseal_detail(client, unseal))
    if told.bank_account is None or told.bank_account.account_name:
        return told.bank_account
    return msgspec.structs.replace(told.bank_account, account_name=full_name_of(told))


def refuse_inactive(client: Client) -> Refusal | None:
    """Only active clients may borrow and save."""
    if client.status == ACTIVE:
        return None
    return Refusal(INVALID_REQUEST, f"The client is {client.status}; only an active one may borrow and save")


def adjust_open_accounts(client: Client, by: int) -> Client:
    """The client with a loan or savings more (1) or less (-1) that is not closed: goes into the same decision."""
    return msgspec.structs.replace(client, open_accounts=client.open_accounts + by)
