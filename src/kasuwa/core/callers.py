"""Callers: who makes a request in the name of a merchant, and the scopes of its API keys. Contract: keys#scopes"""

import ipaddress
from functools import lru_cache
from typing import Literal, get_args

import msgspec

from kasuwa.core.addresses import Network, is_trusted, read_address

# What a key may be used for. `read`: every action that only shows; `all`: everything.
KeyScope = Literal["collect", "payout", "issue", "lend", "read", "approve", "all"]
KEY_SCOPES: tuple[KeyScope, ...] = get_args(KeyScope)
SCOPE_DESCRIPTIONS: dict[KeyScope, str] = {
    "collect": "collect payments, and manage customers, payment plans and personalized accounts",
    "payout": "send transfers, pay bills, refund payments and make cashcodes",
    "issue": "issue virtual cards, fund them and take money back",
    "lend": "clients, loans and savings, with their disbursements and cash-outs",
    "read": "everything that only shows, with personal data masked",
    "approve": "approve and reject transfers and write-offs that wait for approval",
    "all": "everything",
}
# A key with one of these can approve. Contract: keys#two-persons
APPROVING_SCOPES: frozenset[KeyScope] = frozenset({"approve", "all"})
# The scope of an action: that of the keys which may request it, or "any" for reference data that every key may read.
ActionScope = KeyScope | Literal["any"]

# How the names of those begin who ran a command: nothing proves who they are.
UNPROVEN = "command:"

MAX_KEY_NAME_LENGTH = 60
MAX_ADDRESS_RANGES = 50


class Caller(msgspec.Struct, frozen=True, array_like=True):
    """An API key of the merchant, or a person who is signed in to the console."""

    name: str = ""  # of the key, or the person's email address
    key_id: int = 0  # 0 if it is no key
    scopes: tuple[KeyScope, ...] = ("all",)
    lineage: int = 0  # the first of the keys that were rolled into this one: they count as one key
    person: str = ""  # email address of the person, or of the one who made the key; "" if an operator or nobody did
    addresses: tuple[str, ...] = ()  # ranges that the key may be used from; empty for all
    is_use_due: bool = False  # the last recorded use of the key is a while ago
    # People who made or rolled the key, so that they know it.
    holders: tuple[str, ...] = ()
    # The holders or the person, whoever invited, promoted or reset these, those who did so with these, and so on.
    behind: tuple[str, ...] = ()
    is_cooling_off: bool = False  # the key or the account is too new to approve

    @property
    def label(self) -> str:
        """Returns how the caller is shown to people."""
        return f"key {self.key_id} ({self.name})" if self.key_id else self.person

    def has_scope(self, scope: ActionScope, *, only_shows: bool) -> bool:
        """Returns whether it may request an action of this scope. `only_shows`: the action changes nothing, and shows
        nothing that needs a permission of its own."""
        scopes = self.scopes
        return scope == "any" or "all" in scopes or scope in scopes or (only_shows and "read" in scopes)

    def may_come_from(self, address: str) -> bool:
        """Returns whether requests of this caller are accepted from a client's address."""
        if not self.addresses:
            return True
        client = read_address(address)
        return client is not None and is_trusted(client, parse_ranges(self.addresses))


class Maker(msgspec.Struct, frozen=True):
    """A person who makes, promotes or resets an account, or makes a key."""

    name: str  # email address, or command:root for somebody whom nothing proved
    user_id: int | None = None
    makers: tuple[str, ...] = ()  # of their own account

    @property
    def behind(self) -> tuple[str, ...]:
        """Returns everybody who stands behind what they make."""
        return tuple(dict.fromkeys((self.name, *self.makers)))

    def as_caller(self, *, is_cooling_off: bool) -> Caller:
        """Returns this person as the caller of an action."""
        return Caller(self.name, person=self.name, behind=self.behind, is_cooling_off=is_cooling_off)


# Requests that no key and no person makes: jobs, and payers on their pages.
NO_CALLER = Caller()


@lru_cache(maxsize=4096)
def parse_ranges(ranges: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(text) for text in ranges)


def is_same_party(maker: Caller, approver: Caller) -> bool:
    """Returns whether two callers count as one for the approval of money out. Contract: keys#two-persons

    Keys rolled one from another are one key. A person, the keys that this person made or rolled, and whoever they
    invited, promoted or reset are one person. Somebody whom nothing proved, who ran a command, is nobody.
    """
    if maker.key_id and maker.lineage == approver.lineage:
        return True
    approvers = {approver.person, *approver.holders}
    senders = {maker.person, *maker.holders, *maker.behind}
    return any(name and not name.startswith(UNPROVEN) for name in approvers & senders)


def read_scopes(names: list[str]) -> tuple[KeyScope, ...]:
    """Returns the scopes of a key in their usual order. Raises ValueError that names every unknown one."""
    unknown = [name for name in names if name not in KEY_SCOPES]
    if unknown or not names:
        wrong = f"; there is no {', '.join(unknown)}" if unknown else ""
        raise ValueError(f"one or more of {', '.join(KEY_SCOPES)}{wrong}")
    return ("all",) if "all" in names else tuple(scope for scope in KEY_SCOPES if scope in names)


def read_ranges(texts: list[str]) -> tuple[str, ...]:
    """Returns addresses and CIDR ranges in their canonical form. Raises ValueError that names every invalid one."""
    wrong, ranges = [], []
    for text in texts:
        try:
            ranges.append(str(ipaddress.ip_network(text.strip())))
        except ValueError:
            wrong.append(text.strip())
    if wrong:
        raise ValueError(f"addresses or CIDR ranges such as 203.0.113.0/24; not {', '.join(wrong)}")
    if len(ranges) > MAX_ADDRESS_RANGES:
        raise ValueError(f"at most {MAX_ADDRESS_RANGES} ranges")
    return tuple(dict.fromkeys(ranges))


def check_key_name(name: str) -> str | None:
    """Returns what is wrong with the name of a key, or None."""
    if 1 <= len(name) <= MAX_KEY_NAME_LENGTH and name.isprintable() and name == name.strip():
        return None
    return f"1 to {MAX_KEY_NAME_LENGTH} printable characters"
