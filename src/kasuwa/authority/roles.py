"""Roles of people in the console: those of operators and those of a merchant, and the permissions that each has."""

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
    ADMIN: "everything, including users and merchants",
    OPERATOR_FINANCE: "books, approvals and tariffs",
    SUPPORT: "merchants, jobs and events, but no money movements",
    OPERATOR_READER: "views everything, changes nothing",
    OWNER: "everything, including users and keys",
    DEVELOPER: "keys that only read, events, sandbox and API reference",
    MERCHANT_FINANCE: "transfers, refunds and loan approvals",
    MERCHANT_READER: "views everything, changes nothing",
}

ALL_OPERATOR_ROLES = frozenset(OPERATOR_ROLES)
ALL_MERCHANT_ROLES = frozenset(MERCHANT_ROLES)
ALL_ROLES = frozenset(ROLES)
CAN_MOVE_MONEY = frozenset({OWNER, MERCHANT_FINANCE})
CAN_INTEGRATE = frozenset({OWNER, DEVELOPER})
IS_OWNER = frozenset({OWNER})
CAN_ADMINISTER = frozenset({ADMIN})
CAN_KEEP_BOOKS = frozenset({ADMIN, OPERATOR_FINANCE})
CAN_SUPPORT = frozenset({ADMIN, SUPPORT})
CAN_MANAGE_USERS = frozenset({OWNER, ADMIN})

# Merchant roles that have each permission of core/action.py. Checked for every action that a page runs.
ROLES_BY_PERMISSION: dict[Permission, frozenset[str]] = {
    VIEW: ALL_MERCHANT_ROLES,
    COLLECT: CAN_MOVE_MONEY,
    PAY: CAN_MOVE_MONEY,
    MANAGE: CAN_MOVE_MONEY,
    INTEGRATE: CAN_INTEGRATE,
}


def list_permissions(role: str) -> frozenset[Permission]:
    return frozenset(permission for permission, roles in ROLES_BY_PERMISSION.items() if role in roles)


def role_side(role: str) -> str:
    return role.partition(":")[0]


def short_name(role: str) -> str:
    return role.partition(":")[2]


def assignable_roles(mid: str | None) -> tuple[str, ...]:
    """Returns the roles that users of a merchant, or of the operator (None), can have."""
    return OPERATOR_ROLES if mid is None else MERCHANT_ROLES
