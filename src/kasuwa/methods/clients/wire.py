"""Requests and replies of `PUT /clients`.

Contract: clients#create, clients#update, clients#list, #lists
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.documents import Document
from kasuwa.core.fields import AccountNumber, BankCode, Reference, ShortText
from kasuwa.core.paging import Paged
from kasuwa.core.people import Bvn, DateText, Email, PersonName, Phone


class AddressFields(msgspec.Struct, kw_only=True):
    """The fields of an address that are checked. Other fields are stored unchecked."""

    line1: ShortText | None = None
    line2: ShortText | None = None
    city: ShortText | None = None
    region: ShortText | None = None
    postcode: ShortText | int | None = None
    country: ShortText | None = None


class Address(Document):
    known_struct = AddressFields
    most_bytes = 4 * 1024


class BankAccountFields(msgspec.Struct, kw_only=True):
    account_number: AccountNumber
    bank_code: BankCode
    account_name: ShortText | None = None


class BankAccountChanges(msgspec.Struct, kw_only=True):
    """Changes to a bank account. A field that is left out keeps its stored value."""

    account_number: AccountNumber | None = None
    bank_code: BankCode | None = None
    account_name: ShortText | None = None


class BankAccountDocument(Document):
    known_struct = BankAccountFields
    most_bytes = 4 * 1024


class ChangedBankAccount(Document):
    known_struct = BankAccountChanges
    most_bytes = 4 * 1024


Gender = Literal["male", "female", "other"]
Addresses = Annotated[list[Address], Meta(max_length=20, description="an array of at most 20 addresses")]

ClientStatus = Literal["pending_approval", "inactive", "active", "rejected", "exited", "blacklisted"]


class ClientChanges(msgspec.Struct, kw_only=True):
    """The changed fields of a client. Objects are merged with the stored ones, arrays replace them."""

    firstname: PersonName | None = None
    lastname: PersonName | None = None
    middlename: PersonName | None = None
    email: Email | None = None
    gender: Gender | None = None
    dob: DateText | None = None
    phone: Phone | None = None
    bvn: Bvn | None = None
    addresses: Addresses | None = None
    bank_account: ChangedBankAccount | None = field(name="bankAccount", default=None)
    meta: Document | None = None


class ClientFields(msgspec.Struct, kw_only=True):
    """A new client. A phone or an email is required."""

    firstname: PersonName
    lastname: PersonName
    middlename: PersonName | None = None
    email: Email | None = None
    gender: Gender | None = None
    dob: DateText | None = None
    phone: Phone | None = None
    bvn: Bvn | None = None
    addresses: Addresses | None = None
    bank_account: BankAccountDocument | None = field(name="bankAccount", default=None)
    meta: Document | None = None


class CreateRequest(msgspec.Struct, kw_only=True):
    data: ClientFields
    verify_bvn: bool | None = None
    status: Literal["pending_approval", "inactive", "active"] | None = None


class UpdateRequest(msgspec.Struct, kw_only=True):
    """`verify_bvn` compares the updated client with the BVN register, by the new BVN or else the stored one."""

    client_id: Reference
    data: ClientChanges | None = None
    verify_bvn: bool | None = None
    status: ClientStatus | None = None


class ListRequest(Paged, kw_only=True):
    """Lists clients, newest first. A client must match every filter exactly, apart from the spelling of a telephone
    number and the case of an email address."""

    phone: Phone | None = None
    email: Email | None = None
    bvn: Bvn | None = None
    status: ClientStatus | None = None


class ViewRequest(msgspec.Struct, kw_only=True):
    client_id: Reference


class ClientRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A client with a masked BVN. An erased one has only its id, status and dates."""

    client_id: str
    status: ClientStatus
    bvn_verified: bool
    firstname: str | UnsetType = UNSET
    lastname: str | UnsetType = UNSET
    middlename: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    gender: str | UnsetType = UNSET
    dob: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET
    bvn: str | UnsetType = UNSET
    addresses: list[dict[str, Any]] | UnsetType = UNSET
    bank_account: dict[str, Any] | UnsetType = field(name="bankAccount", default=UNSET)
    meta: dict[str, Any] | UnsetType = UNSET
    date_created: str = field(name="dateCreated")
    date_erased: str | UnsetType = field(name="dateErased", default=UNSET)


class ClientReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    message: str
    data: ClientRecord


class ListReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    data: list[ClientRecord]
    total: int
    offset: int
    limit: int
