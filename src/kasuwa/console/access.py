"""Who may do what: the roles, and the groups of them that the table of routes is written in."""

import msgspec

from kasuwa.core.action import COLLECT, INTEGRATE, MANAGE, PAY, VIEW, Permission

ADMIN, OPERATOR_FINANCE, SUPPORT, OPERATOR_READER = OPERATOR_ROLES = (
    "operator:admin",
    "operator:finance",
    "operator:support",
    "operator:read-only",
)
OWNER, DEVELOPER, MERCHANT_FINANCE, MERCHANT_READER = MERCHANT_ROLES = (
    "merchant:owner",
    "merchant:developer",
    "merchant:finance",
    "merchant:read-only",
)
ROLES = (*OPERATOR_ROLES, *MERCHANT_ROLES)

MEANINGS = {
    ADMIN: "everything, people and merchants included",
    OPERATOR_FINANCE: "books, approvals, tariffs",
    SUPPORT: "merchants, jobs, events; no money",
    OPERATOR_READER: "looks, changes nothing",
    OWNER: "everything, people and keys included",
    DEVELOPER: "keys, events, sandbox, documents",
    MERCHANT_FINANCE: "sends money, refunds, approves loans",
    MERCHANT_READER: "looks, changes nothing",
}

# Groups that routes name.
EVERY_OPERATOR = frozenset(OPERATOR_ROLES)
EVERY_MERCHANT = frozenset(MERCHANT_ROLES)
SIGNED_IN = frozenset(ROLES)
MOVES_MONEY = frozenset({OWNER, MERCHANT_FINANCE})
INTEGRATES = frozenset({OWNER, DEVELOPER})
RUNS = frozenset({ADMIN})
KEEPS_BOOKS = frozenset({ADMIN, OPERATOR_FINANCE})
HELPS = frozenset({ADMIN, SUPPORT})
MANAGES_PEOPLE = frozenset({OWNER, ADMIN})

# Which roles of a merchant have what an action needs (core/action.py): asked by every page that acts for a person.
ROLES_WITH: dict[Permission, frozenset[str]] = {
    VIEW: EVERY_MERCHANT,
    COLLECT: MOVES_MONEY,
    PAY: MOVES_MONEY,
    MANAGE: MOVES_MONEY,
    INTEGRATE: INTEGRATES,
}


class Door(msgspec.Struct, frozen=True):
    """A door that asks for less than a whole session."""

    asks: str


# Anybody, and who has given a password but not yet the code.
ANYBODY = Door("nothing")
HALF_SIGNED_IN = Door("half a session")
Roles = frozenset[str] | Door


def side_of(role: str) -> str:
    return role.partition(":")[0]


def short_name(role: str) -> str:
    return role.partition(":")[2]


def roles_beside(mid: str | None) -> tuple[str, ...]:
    """The roles that people of a merchant, or of the operator, can have."""
    return OPERATOR_ROLES if mid is None else MERCHANT_ROLES


MOST_EMAIL = 200


def email_fault(email: str) -> str | None:
    name, at, domain = email.partition("@")
    fits = bool(name and at and domain) and email.isprintable() and " " not in email and len(email) <= MOST_EMAIL
    return None if fits else f"an address such as ada@example.com, of at most {MOST_EMAIL} characters"
