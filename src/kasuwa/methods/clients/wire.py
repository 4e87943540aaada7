"""Requests and replies of `PUT /clients`.

Contract: clients#create, clients#update, clients#list, #lists
"""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.wire.documents import Document
from kasuwa.wire.fields import END, AccountNumber, BankCode, Reference, ShortText
from kasuwa.wire.paging import Paged
from kasuwa.wire.people import Bvn, DateText, Email, PersonName, Phone


class AddressFields(msgspec.Struct, kw_only=True):
    """The fields of an address that are checked. Other fields are stored unchecked."""

    line1: ShortText | None = None
    "First line of the address: house and street."
    line2: ShortText | None = None
    "Second line of the address."
    city: ShortText | None = None
    "City or town."
    region: ShortText | None = None
    "State or region."
    postcode: ShortText | int | None = None
    "Postal code."
    country: ShortText | None = None
    "Country, by its code or name. The client's telephone number may be a national number of this country."


class Address(Document):
    known_struct = AddressFields
    most_bytes = 4 * 1024


class BankAccountFields(msgspec.Struct, kw_only=True):
    """The bank account of a client. Other fields are stored unchecked."""

    account_number: AccountNumber
    "Number of the account. Its check digit is verified where the bank uses one."
    bank_code: BankCode
    "Code of the account's bank, as `banks` of `/resources` lists it."
    account_name: ShortText | None = None
    "Name on the account. Default when money is sent to it: the client's first and last name."


class BankAccountChanges(msgspec.Struct, kw_only=True):
    """Changes to a bank account. A field that is left out keeps its stored value."""

    account_number: AccountNumber | None = None
    "New number of the account."
    bank_code: BankCode | None = None
    "New code of the account's bank, as `banks` of `/resources` lists it."
    account_name: ShortText | None = None
    "New name on the account."


class BankAccountDocument(Document):
    known_struct = BankAccountFields
    most_bytes = 4 * 1024


class ChangedBankAccount(Document):
    known_struct = BankAccountChanges
    most_bytes = 4 * 1024


class IdentificationFields(msgspec.Struct, kw_only=True):
    """A document that identifies a client. Other fields are stored unchecked."""

    type: Literal["nin", "passport", "drivers_license", "voters_card"]
    "Kind of the document: `nin` is the National Identification Number."
    number: ShortText
    "Number of the document."


class Identification(Document):
    known_struct = IdentificationFields
    most_bytes = 4 * 1024


PhotoHash = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}" + END, max_length=64, description="a SHA-256 hash of 64 hexadecimal digits")
]
Gender = Literal["male", "female", "other"]
Addresses = Annotated[list[Address], Meta(max_length=20, description="an array of at most 20 addresses")]

ClientStatus = Literal["pending_approval", "inactive", "active", "rejected", "exited", "blacklisted"]


class ClientChanges(msgspec.Struct, kw_only=True):
    """The changed fields of a client. Objects are merged with the stored ones, arrays replace them."""

    firstname: PersonName | None = None
    "First name. A change of names or date of birth ends a BVN verification."
    lastname: PersonName | None = None
    "Last name."
    middlename: PersonName | None = None
    "Middle name."
    email: Email | None = None
    "Email address."
    gender: Gender | None = None
    "Gender of the client."
    dob: DateText | None = None
    "Date of birth, in the past."
    phone: Phone | None = None
    "Telephone number. Without a country code it is one of Nigeria or of the country of an address."
    bvn: Bvn | None = None
    "Bank Verification Number. A new one ends an earlier verification. No two of your clients may have the same."
    addresses: Addresses | None = None
    "Addresses of the client. They replace all stored ones."
    bank_account: ChangedBankAccount | None = field(name="bankAccount", default=None)
    "Bank account that loans and cash-outs are paid to. Merged with the stored one."
    meta: Document | None = None
    "An object of your own. Merged with the stored one."
    identification: Identification | UnsetType = UNSET
    "A document that identifies the client. Merged with the stored one."
    photo: PhotoHash | UnsetType = UNSET
    "SHA-256 of the client's photograph, which you keep."


class ClientFields(msgspec.Struct, kw_only=True):
    """A new client. A phone or an email is required."""

    firstname: PersonName
    "First name."
    lastname: PersonName
    "Last name."
    middlename: PersonName | None = None
    "Middle name."
    email: Email | None = None
    "Email address. Required unless `phone` is sent."
    gender: Gender | None = None
    "Gender of the client."
    dob: DateText | None = None
    "Date of birth, in the past."
    phone: Phone | None = None
    """Telephone number. Required unless `email` is sent. Without a country code it is one of Nigeria or of the country
    of an address."""
    bvn: Bvn | None = None
    "Bank Verification Number. No two of your clients may have the same. Stored encrypted and masked in replies."
    addresses: Addresses | None = None
    "Addresses of the client."
    bank_account: BankAccountDocument | None = field(name="bankAccount", default=None)
    "Bank account that loans and cash-outs are paid to. It may be added later."
    meta: Document | None = None
    "An object of your own, such as the number of an identity card. At most 64 KiB."
    identification: Identification | UnsetType = UNSET
    "A document that identifies the client, which the limits by tier may need."
    photo: PhotoHash | UnsetType = UNSET
    "SHA-256 of the client's photograph, which you keep."


class CreateRequest(msgspec.Struct, kw_only=True):
    """A new client, who may borrow and save once active."""

    data: ClientFields
    "The person."
    verify_bvn: bool | None = None
    """If true, names and date of birth are compared with the BVN register, and the client is refused if they differ. It
    requires `data.bvn`, and `data.dob` and `data.phone` where the register compares them. Default false."""
    status: Literal["pending_approval", "inactive", "active"] | None = None
    "Status of the new client. Default `pending_approval`. Only an `active` client may borrow and save."
    dry_run: bool | None = None
    """If true, the reply shows the client as it would be, and nothing is stored. With `verify_bvn` the register is
    asked."""


class UpdateRequest(msgspec.Struct, kw_only=True):
    """Changes of a client: of the person, of the status, or both."""

    client_id: Reference
    "The client to change."
    data: ClientChanges | None = None
    "The fields to change. Fields that are left out keep their values."
    verify_bvn: bool | None = None
    """If true, the updated client is compared with the BVN register, by the new BVN or else the stored one, and the
    update is refused if they differ. Default false."""
    status: ClientStatus | None = None
    """New status: from `pending_approval` to `inactive`, `active` or `rejected`; from `rejected` to `pending_approval`;
    between `inactive` and `active`, and from both to `exited` or `blacklisted`, which are final."""
    dry_run: bool | None = None
    """If true, the reply shows the client as it would be, and nothing is stored. With `verify_bvn` the register is
    asked."""


class ListRequest(Paged, kw_only=True):
    """Lists clients, newest first. A client must match every filter exactly, apart from the spelling of a telephone
    number and the case of an email address."""

    phone: Phone | None = None
    "Lists clients with this telephone number, however it is spelled."
    email: Email | None = None
    "Lists clients with this email address, in any case."
    bvn: Bvn | None = None
    "Lists clients with this Bank Verification Number."
    status: ClientStatus | None = None
    "Lists clients with this status."


class ViewRequest(msgspec.Struct, kw_only=True):
    """Names the client to view."""

    client_id: Reference
    "The client to view."


class BvnVerification(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The verification of a client's BVN, or the consent that is awaited."""

    method: Literal["register", "match", "consent"]
    """`register`: the register told the person, who was compared. `match`: the register compared the client and told
    nothing of the person. `consent`: the person consents to the look-up on a page first."""
    state: Literal["awaiting_consent", "verified"]
    "`awaiting_consent`: the person has not agreed yet. `verified`: names and date of birth agreed."
    consent_url: str | UnsetType = UNSET
    "Page on which the person consents: send the client there. Absent unless it is awaited."
    score: int | UnsetType = UNSET
    "How far the names agree by the register's own comparison, 0 to 100. Absent if it gave none."
    at: str
    "Time of the verification, or of the newest answer that the consent is awaited, in UTC."


class ClientRecord(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A client with a masked BVN. An erased one has only its id, status and dates."""

    client_id: str | None
    "Identifier of the client, made by the service. Loans and savings take it. Null in a dry run of `create`."
    status: ClientStatus
    """`pending_approval`: not decided yet. `active`: may borrow and save. `inactive`: may not at present. `rejected`:
    may be submitted again. `exited` and `blacklisted` are final."""
    bvn_verified: bool
    "Whether names and date of birth agreed with the BVN register, and have not changed since."
    bvn_verification: BvnVerification | UnsetType = UNSET
    "How the BVN was verified, or the consent that is awaited. Absent if it was not to be verified."
    firstname: str | UnsetType = UNSET
    "First name."
    lastname: str | UnsetType = UNSET
    "Last name."
    middlename: str | UnsetType = UNSET
    "Middle name. Absent if unknown."
    email: str | UnsetType = UNSET
    "Email address. Absent if unknown."
    gender: str | UnsetType = UNSET
    "Gender. Absent if unknown."
    dob: str | UnsetType = UNSET
    "Date of birth, as YYYY-MM-DD. Absent if unknown."
    phone: str | UnsetType = UNSET
    "Telephone number as it was sent. Absent if unknown."
    bvn: str | UnsetType = UNSET
    "Bank Verification Number, masked but for its first three and last two digits. Absent if unknown."
    addresses: list[dict[str, Any]] | UnsetType = UNSET
    "Addresses, with all fields that were sent. Absent if there are none."
    bank_account: dict[str, Any] | UnsetType = field(name="bankAccount", default=UNSET)
    "Bank account that loans and cash-outs are paid to, with all fields that were sent. Absent if there is none."
    meta: dict[str, Any] | UnsetType = UNSET
    "Your own object. Absent if there is none."
    identification: dict[str, Any] | UnsetType = UNSET
    "Document that identifies the client, with all fields that were sent. Absent if there is none."
    photo: str | UnsetType = UNSET
    "SHA-256 of the client's photograph. Absent if unknown."
    date_created: str = field(name="dateCreated")
    "Time at which the client was created, in UTC."
    date_erased: str | UnsetType = field(name="dateErased", default=UNSET)
    "Time at which the personal data were erased, in UTC. Absent if they were not."


class TierLimitsShown(msgspec.Struct, kw_only=True):
    """The limits of a tier, in naira. Null for no limit."""

    single_deposit: str | None
    "Most that one deposit may bring."
    balance: str | None
    "Most that the client may hold in all savings and cards together."
    daily: str | None
    "Most that the client may be paid out and spend in a day of Lagos."


class TierUse(msgspec.Struct, kw_only=True):
    """The use of the limits, in naira."""

    balance: str
    "What the client holds in all savings and cards together, with what cash-outs in progress hold."
    today: str
    "What was paid out to the client today."
    held: list[str]
    "Payments whose money is held because it is above a limit, by `txnRef`: the newest 100."


TierNeed = Literal["phone", "dob", "photo", "bvn_or_nin", "bvn_verified", "addresses", "identification"]


class NextTier(msgspec.Struct, kw_only=True):
    """The tier above the client's."""

    tier: int
    "The tier."
    missing: list[TierNeed]
    """What the client lacks for it. `bvn_or_nin`: a BVN, or an identification of the type `nin`. `bvn_verified`: by
    `verify_bvn`. `addresses`: one with `line1` and `city`."""
    limits: TierLimitsShown
    "Its limits."


class ClientTier(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The tier of a client and its limits."""

    tier: int
    "The tier: 0 to 3. Tier 0 lacks something of tier 1."
    limits: TierLimitsShown
    "The limits of the tier."
    used: TierUse
    "What of them is used."
    next: NextTier | UnsetType = UNSET
    "What the next tier needs. Absent in tier 3."


class ClientReply(msgspec.Struct, kw_only=True):
    """One client, after a change if the request had one."""

    status: Literal[200, 202] = 200
    """200. 202: the person must consent to the look-up of the BVN, on the page that `bvn_verification` names; then send
    `update` with `verify_bvn`."""
    message: str
    "The outcome in words."
    data: ClientRecord
    "The client."
    dry_run: Literal[True] | UnsetType = UNSET
    "True in a dry run: nothing was stored. Else absent."
    tier: ClientTier | UnsetType = UNSET
    "The client's tier and limits, in the reply to `view`. Absent if the limits by tier do not apply to your clients."
    held: list[str] | UnsetType = UNSET
    """Payments whose money is still held although the limits do not apply any more, by `txnRef`: the newest 100, in the
    reply to `view`. Else absent: `tier` has them."""


FigureText = Annotated[
    str,
    Meta(
        pattern=r"^([0-9]{1,12}(\.[0-9]{1,2})?|unlimited)" + END,
        max_length=15,
        description="an amount in naira such as 50000.00, or unlimited",
    ),
]


class OwnFigures(msgspec.Struct, kw_only=True):
    """Figures of a tier that replace those of the regulator. What is left out keeps them."""

    tier: Annotated[int, Meta(ge=0, le=3, description="0 to 3")]
    "The tier."
    single_deposit: FigureText | None = None
    "Most that one deposit may bring."
    balance: FigureText | None = None
    "Most that a client may hold in all savings and cards together."
    daily: FigureText | None = None
    "Most that a client may be paid out in a day of Lagos."


class TiersRequest(msgspec.Struct, kw_only=True):
    """The whole setting: figures that are left out are the regulator's."""

    is_on: bool
    "Whether the limits apply."
    held_days: Annotated[int, Meta(ge=1, le=90, description="1 to 90")] | None = None
    "Days for which money above a limit is held before it goes back. Default 7."
    tiers: Annotated[list[OwnFigures], Meta(max_length=4, description="an array of at most 4 tiers")] | None = None
    "Figures of this merchant."


class TiersReply(msgspec.Struct, kw_only=True):
    """The confirmation of the setting."""

    status: Literal[200] = 200
    "200."
    message: str
    "The outcome in words."


class ListReply(msgspec.Struct, kw_only=True):
    """One page of clients, newest first."""

    status: Literal[200] = 200
    "200."
    data: list[ClientRecord]
    "The clients."
    total: int
    "Number of matching clients on all pages."
    offset: int
    "Number of clients that were skipped."
    limit: int
    "Largest number of clients on this page. The next page begins at `offset` + `limit`."
