"""Operators who are let in, reset, given another role or let in again: proposed by one administrator, approved by
another; and who may approve a proposal at all.
"""

from datetime import UTC, datetime

import msgspec
from starlette.responses import Response

from kasuwa.console.access import ADMIN, short_name
from kasuwa.console.visit import Visit
from kasuwa.db import approvals, console_users
from kasuwa.db.approvals import Approval
from kasuwa.db.audit_trail import OPERATORS_CHAIN
from kasuwa.db.console_users import EmailTaken, User
from kasuwa.db.pool import Connection

KIND = "person"
INVITE, RESET, ROLE, ENABLE = "invite", "reset", "role", "enable"
MOST_REASON = 500

OWN = "You proposed this: somebody else must decide it. You may withdraw it."
ABOUT_YOU = "This is about your own account: somebody else must decide it."
NOT_ADMIN = "Only an administrator decides about operators."
LET_IN = (
    "You and the person who proposed this are not independent: one of you let the other in. Somebody else must decide."
)
TOO_NEW = "Your account was let in or changed a short while ago: you may approve from {when} on."
GONE = "This person is not there any more, or was changed since it was proposed. Reject it."
TAKEN = "Somebody of the operators has this address already. Reject it."
NOBODY_ELSE = "Proposed, but there is no second administrator who could approve it: add one with `kasuwa user add`."


class PersonChange(msgspec.Struct, frozen=True):
    """What is to become of an operator. `before` is their role when it was proposed."""

    change: str
    email: str
    role: str
    user_id: int = 0
    before: str = ""

    @property
    def words(self) -> str:
        what = {INVITE: "invite", RESET: "reset", ROLE: "change the role of", ENABLE: "let in again"}[self.change]
        return f"{what} {self.email}, {short_name(self.role)}"


async def propose_change(visit: Visit, change: PersonChange) -> Response:
    """Raises EmailTaken where one of the operators has the address of somebody to be invited."""
    async with visit.operators.acquire() as connection, connection.transaction():
        if change.change == INVITE and await console_users.find_member(connection, change.email, None):
            raise EmailTaken
        reason = visit.said("reason")[:MOST_REASON] or change.words
        proposal = msgspec.json.encode(change).decode()
        number = await approvals.propose(connection, None, KIND, proposal, reason, visit.user.user_id)
        await visit.record_on(
            connection, OPERATORS_CHAIN, f"proposed to {change.words}", f"approval {number}", change.before, change.role
        )
        others = await console_users.count_admins(connection, besides=visit.user.user_id)
    return visit.go(
        "/operator/approvals", "Proposed. Another administrator must approve it." if others else NOBODY_ELSE
    )


async def why_not_approve(connection: Connection, visit: Visit, found: Approval) -> str | None:
    """Why the visitor may not approve this, or None. The database refuses most of it too."""
    me = visit.user
    if found.proposed_by == me.user_id:
        return OWN
    proposer = await console_users.user_of(connection, found.proposed_by, None)
    if me.made_by == found.proposed_by or (proposer is not None and proposer.made_by == me.user_id):
        return LET_IN
    if me.approves_from is not None and me.approves_from > datetime.now(UTC):
        return TOO_NEW.format(when=f"{me.approves_from:%Y-%m-%d %H:%M} UTC")
    if found.kind == KIND:
        if me.role != ADMIN:
            return NOT_ADMIN
        if msgspec.json.decode(found.proposal, type=PersonChange).user_id == me.user_id:
            return ABOUT_YOU
    return None


async def carry_out_change(connection: Connection, visit: Visit, found: Approval) -> str | tuple[str, str] | None:
    """Does what was proposed, within the approval's transaction. Answers why not; or the address and the token of a
    link that is to be handed over after the commit; or None."""
    change = msgspec.json.decode(found.proposal, type=PersonChange)
    approves_from = datetime.now(UTC) + visit.parts.cooling_off
    if change.change == INVITE:
        if await console_users.find_member(connection, change.email, None) is not None:
            return TAKEN
        user_id = await console_users.add_user(connection, change.email, None, change.role)
        await console_users.vouch(connection, user_id, found.proposed_by, approves_from)
        return change.email, await console_users.make_link(connection, user_id, "invitation")
    person: User | None = await console_users.user_of(connection, change.user_id, None)
    if person is None or (change.change == ROLE and person.role != change.before):
        return GONE
    await console_users.vouch(connection, person.user_id, found.proposed_by, approves_from)
    if change.change == ROLE:
        await console_users.set_role(connection, person.user_id, change.role)
        return None
    await console_users.begin_anew(connection, person.user_id)
    return person.email, await console_users.make_link(connection, person.user_id, "invitation")
