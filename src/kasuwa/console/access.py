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

ROLE_DESCRIPTIONS = {
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
ALL_OPERATOR_ROLES = frozenset(OPERATOR_ROLES)
ALL_MERCHANT_ROLES = frozenset(MERCHANT_ROLES)
ALL_ROLES = frozenset(ROLES)
CAN_MOVE_MONEY = frozenset({OWNER, MERCHANT_FINANCE})
CAN_INTEGRATE = frozenset({OWNER, DEVELOPER})
CAN_ADMINISTER = frozenset({ADMIN})
CAN_KEEP_BOOKS = frozenset({ADMIN, OPERATOR_FINANCE})
CAN_SUPPORT = frozenset({ADMIN, SUPPORT})
CAN_MANAGE_USERS = frozenset({OWNER, ADMIN})

# Which roles of a merchant have what an action needs (core/action.py): asked by every page that acts for a person.
ROLES_BY_PERMISSION: dict[Permission, frozenset[str]] = {
    VIEW: ALL_MERCHANT_ROLES,
    COLLECT: CAN_MOVE_MONEY,
    PAY: CAN_MOVE_MONEY,
    MANAGE: CAN_MOVE_MONEY,
    INTEGRATE: CAN_INTEGRATE,
}


class SessionRequirement(msgspec.Struct, frozen=True):
    """A door that asks for less than a whole session."""

    description: str


# Anybody, and who has given a password but not yet the code.
NO_SESSION = SessionRequirement("nothing")
PASSWORD_ONLY = SessionRequirement("half a session")
AccessRule = frozenset[str] | SessionRequirement


def role_side(role: str) -> str:
    return role.partition(":")[0]


def short_name(role: str) -> str:
    return role.partition(":")[2]


def assignable_roles(mid: str | None) -> tuple[str, ...]:
    """The roles that people of a merchant, or of the operator, can have."""
    return OPERATOR_ROLES if mid is None else MERCHANT_ROLES


MAX_EMAIL_LENGTH = 200


def email_fault(email: str) -> str | None:
    name, at, domain = email.partition("@")
    fits = bool(name and at and domain) and email.isprintable() and " " not in email and len(email) <= MAX_EMAIL_LENGTH
    return None if fits else f"an address such as ada@example.com, of at most {MAX_EMAIL_LENGTH} characters"
