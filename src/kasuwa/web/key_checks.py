"""Refuses what the caller's key may not be used for, or not from where."""

from kasuwa.core.action import Action, ApiMethod, only_shows, scope_of, title_of
from kasuwa.core.callers import Caller
from kasuwa.core.codes import AUTHENTICATION_FAILED
from kasuwa.core.decision import Refusal


def refuse_scope(method: ApiMethod, action: Action, caller: Caller) -> Refusal | None:
    """Returns the refusal if the scopes of the caller's key do not include the action, else None.

    Contract: keys#scopes"""
    if "all" in caller.scopes:
        return None
    scope = scope_of(method, action)
    if caller.has_scope(scope, only_shows=only_shows(action)):
        return None
    wanted = f"{scope} or read" if only_shows(action) and scope != "read" else scope
    name, held = f"{method.name} {title_of(action)}", ", ".join(caller.scopes)
    return Refusal(AUTHENTICATION_FAILED, f"{name} needs a key of scope {wanted}; {caller.label} has {held}")


def refuse_address(caller: Caller, address: str) -> Refusal:
    return Refusal(
        AUTHENTICATION_FAILED,
        f"{caller.label} may not be used from {address or 'this address'}, only from {', '.join(caller.addresses)}",
    )
