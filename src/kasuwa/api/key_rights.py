"""Rights of API keys: the actions and addresses that a key is accepted for, and what it does not see."""

import asyncio

from kasuwa.api.replies import HttpReply
from kasuwa.core.action import Action, ApiMethod, get_scope, make_action_title, only_shows
from kasuwa.core.callers import Caller
from kasuwa.core.codes import AUTHENTICATION_FAILED
from kasuwa.core.decision import Refusal
from kasuwa.privacy.personal_fields import is_masked, mask_reply

SCOPE_MISSING = Refusal(
    AUTHENTICATION_FAILED, "{name} needs a key of scope {wanted}; {label} has {held}", error_code="scope_missing"
)
ADDRESS_REFUSED = Refusal(
    AUTHENTICATION_FAILED,
    "{label} may not be used from {address}, only from {addresses}",
    error_code="address_not_allowed",
)

# Longer replies are masked in a thread, so that other requests go on meanwhile.
MASKED_IN_THREAD_BYTES = 64 * 1024


def refuse_scope(method: ApiMethod, action: Action, caller: Caller) -> Refusal | None:
    """Returns the refusal if the scopes of the caller's key do not include the action, else None.

    Contract: keys#scopes"""
    if "all" in caller.scopes:
        return None
    scope = get_scope(method, action)
    if caller.has_scope(scope, only_shows=only_shows(action)):
        return None
    wanted = f"{scope} or read" if only_shows(action) and scope != "read" else scope
    name, held = f"{method.name} {make_action_title(action)}", ", ".join(caller.scopes)
    return SCOPE_MISSING.fill(name=name, wanted=wanted, label=caller.label, held=held)


async def mask_for_reader(answered: HttpReply, method: ApiMethod, action: Action, caller: Caller) -> None:
    """Masks the personal data of a reply if the key may see it only because it may read. Contract: keys#scopes"""
    title = f"{method.name} {make_action_title(action)}"
    if not is_masked(caller, get_scope(method, action), title):
        return
    if len(answered.body) > MASKED_IN_THREAD_BYTES:
        answered.body = await asyncio.to_thread(mask_reply, answered.body, title)
    else:
        answered.body = mask_reply(answered.body, title)


def refuse_address(caller: Caller, address: str) -> Refusal:
    addresses = ", ".join(caller.addresses)
    return ADDRESS_REFUSED.fill(label=caller.label, address=address or "this address", addresses=addresses)
