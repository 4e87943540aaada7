"""Requests and replies about API keys. Contract: resources#keys, sandbox#actions"""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from kasuwa.core.callers import MAX_KEY_NAME_LENGTH, KeyScope
from kasuwa.wire.fields import FREE_TEXT, AmountOrZero, Timestamp

KeyName = Annotated[
    str,
    Meta(
        max_length=MAX_KEY_NAME_LENGTH,
        description=f"1 to {MAX_KEY_NAME_LENGTH} printable characters",
        extra=FREE_TEXT,
    ),
]


class KeysRequest(msgspec.Struct):
    """Has no fields."""


class KeyLine(msgspec.Struct, kw_only=True):
    """A valid API key. The key itself was shown once, when it was made."""

    key_id: int
    "Number of the key, from 1. It never changes."
    name: str
    "Name of the key, chosen by whoever made it."
    scopes: list[KeyScope]
    "What the key may be used for."
    addresses: list[str]
    "Addresses and CIDR ranges that it may be used from. Empty: from everywhere."
    made_by: str
    "Email address of the person who made it in the console. Empty if the operator made it."
    made_at: str
    "When it was made, in UTC."
    expires_at: str | None
    "When it stops working, in UTC. Null if it does not expire."
    replaced_by: int | None
    "The key that replaced it when it was rolled. Null for a key that was not rolled."
    last_used_at: str | None
    "When it was last used, in UTC, to the minute. Null if it was never used."
    last_used_from: str | None
    "Address that it was last used from. Null if it was never used."
    refused_at: str | None
    "When it was last refused because of its address, in UTC. Null if it never was."
    refused_from: str | None
    "Address that it was refused from. Null if it never was."
    signs_events: bool
    "Whether events are signed with it: the signing secret was never rolled."
    is_this: bool
    "Whether the request was made with this key."


class KeysReply(msgspec.Struct, kw_only=True):
    """The valid keys of the merchant, the newest first."""

    status: Literal[200] = 200
    "200."
    data: list[KeyLine]
    "The keys."


ScopeName = Annotated[str, Meta(max_length=20, description="a scope")]
RangeText = Annotated[str, Meta(max_length=50, description="an address or CIDR range")]


class NewKeyRequest(msgspec.Struct, kw_only=True):
    """A key beside those that the merchant has."""

    name: KeyName | None = None
    "Name of the key. Default `sandbox`."
    scopes: Annotated[list[ScopeName], Meta(max_length=20, description="a list of scopes")] | None = None
    "What the key may be used for: `collect`, `payout`, `issue`, `lend`, `read`, `approve` or `all`. Default `all`."
    addresses: Annotated[list[RangeText], Meta(max_length=50, description="a list of at most 50 ranges")] | None = None
    "Addresses and CIDR ranges that it may be used from, such as `203.0.113.0/24`. Default: from everywhere."
    expires_at: Timestamp | None = None
    "When it stops working, by the wall clock and not by the merchant's. Default: never."


class NewKeyReply(msgspec.Struct, kw_only=True):
    """A new key."""

    status: Literal[200] = 200
    "200."
    key_id: int
    "Number of the key."
    key: str
    "The key, for the header `key`. It is shown this once."
    scopes: list[KeyScope]
    "What the key may be used for."


# --- the policy for money out ---------------------------------------------------------------------------------------

TransferCount = Annotated[int, Meta(ge=0, le=1_000_000_000, description="a whole number, not negative")]


class LimitFields(msgspec.Struct, kw_only=True):
    """The most that may be sent in one hour and in one day of Lagos. What is left out has no limit."""

    hourly_count: TransferCount | None = None
    "Number of transfers in an hour."
    hourly_amount: AmountOrZero | None = None
    "Sum of the transfers in an hour, in naira."
    daily_count: TransferCount | None = None
    "Number of transfers in a day."
    daily_amount: AmountOrZero | None = None
    "Sum of the transfers in a day, in naira."


class TierFields(msgspec.Struct, kw_only=True):
    """Limits by the KYC tier of clients."""

    tier_1: LimitFields | None = None
    "Clients without a verified BVN."
    tier_2: LimitFields | None = None
    "Clients with a verified BVN."


class PolicyRequest(msgspec.Struct, kw_only=True):
    """The whole policy for money out: what is left out is not restricted. Without any field there is no policy."""

    approve_above: AmountOrZero | None = None
    "Transfers of more than this amount wait for approval, in naira."
    approve_daily_above: AmountOrZero | None = None
    "Transfers wait that bring the day's total above this amount, in naira."
    approve_new_beneficiary: bool | None = None
    "Whether transfers wait whose beneficiary was never paid before."
    approve_bulk: bool | None = None
    "Whether all orders of a bulk wait."
    limits: LimitFields | None = None
    "Limits of all transfers together."
    beneficiary_limits: LimitFields | None = None
    "Limits of the transfers to each beneficiary."
    tier_limits: TierFields | None = None
    "Limits of what each client is sent for loans and from savings, by the client's KYC tier."
    on_limit: Literal["refuse", "approve"] | None = None
    "What becomes of a transfer beyond a limit: it is refused (the default), or waits for approval."
    approve_write_off_above: AmountOrZero | None = None
    "Write-offs wait that bring what is written off of a loan above this amount, in naira."


class PolicyReply(msgspec.Struct, kw_only=True):
    """The confirmation of a policy."""

    status: Literal[200] = 200
    "200: the policy is in force."
    message: str
    "The outcome in words."
