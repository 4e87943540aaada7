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
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.db.connections import Connection
from kasuwa.db.console_users import ConsoleUser, EmailTaken

USER_PROPOSAL_KIND = "person"
INVITE, RESET, ROLE, ENABLE = "invite", "reset", "role", "enable"
MAX_REASON_LENGTH = 500

OWN_PROPOSAL = "You proposed this: somebody else must decide it. You may withdraw it."
OWN_ACCOUNT = "This is about your own account: somebody else must decide it."
NOT_ADMIN = "Only an administrator decides about operators."
NOT_INDEPENDENT = (
    "You and the person who proposed this are not independent: one of you let the other in. Somebody else must decide."
)
COOLING_OFF = "Your account was let in or changed a short while ago: you may approve from {when} on."
USER_CHANGED = "This person is not there any more, or was changed since it was proposed. Reject it."
EMAIL_TAKEN = "Somebody of the operators has this address already. Reject it."
NO_OTHER_ADMIN = "Proposed, but there is no second administrator who could approve it: add one with `kasuwa user add`."


class OperatorChange(msgspec.Struct, frozen=True):
    """What is to become of an operator. `before` is their role when it was proposed."""

    change: str
    email: str
    role: str
    user_id: int = 0
    before: str = ""

    @property
    def description(self) -> str:
        what = {INVITE: "invite", RESET: "reset", ROLE: "change the role of", ENABLE: "let in again"}[self.change]
        return f"{what} {self.email}, {short_name(self.role)}"


async def propose_change(visit: Visit, change: OperatorChange) -> Response:
    """Raises EmailTaken where one of the operators has the address of somebody to be invited."""
    async with visit.operators.acquire() as connection, connection.transaction():
        if change.change == INVITE and await console_users.find_user_of_merchant(connection, change.email, None):
            raise EmailTaken
        reason = visit.form_text("reason")[:MAX_REASON_LENGTH] or change.description
        proposal = msgspec.json.encode(change).decode()
        number = await approvals.propose(connection, None, USER_PROPOSAL_KIND, proposal, reason, visit.user.user_id)
        await visit.record_audit_on(
            connection,
            OPERATOR_CHAIN_ID,
            f"proposed to {change.description}",
            f"approval {number}",
            change.before,
            change.role,
        )
        others = await console_users.count_admins(connection, besides=visit.user.user_id)
    return visit.redirect(
        "/operator/approvals", "Proposed. Another administrator must approve it." if others else NO_OTHER_ADMIN
    )


async def explain_approval_bar(connection: Connection, visit: Visit, found: Approval) -> str | None:
    """Why the visitor may not approve this, or None. The database refuses most of it too."""
    me = visit.user
    if found.proposed_by == me.user_id:
        return OWN_PROPOSAL
    proposer = await console_users.get_user(connection, found.proposed_by, None)
    if me.proposed_by == found.proposed_by or (proposer is not None and proposer.proposed_by == me.user_id):
        return NOT_INDEPENDENT
    if me.can_approve_from is not None and me.can_approve_from > datetime.now(UTC):
        return COOLING_OFF.format(when=f"{me.can_approve_from:%Y-%m-%d %H:%M} UTC")
    if found.kind == USER_PROPOSAL_KIND:
        if me.role != ADMIN:
            return NOT_ADMIN
        if msgspec.json.decode(found.proposal, type=OperatorChange).user_id == me.user_id:
            return OWN_ACCOUNT
    return None


async def apply_change(connection: Connection, visit: Visit, found: Approval) -> str | tuple[str, str] | None:
    """Does what was proposed, within the approval's transaction. Answers why not; or the address and the token of a
    link that is to be handed over after the commit; or None."""
    change = msgspec.json.decode(found.proposal, type=OperatorChange)
    approves_from = datetime.now(UTC) + visit.services.cooling_off
    if change.change == INVITE:
        if await console_users.find_user_of_merchant(connection, change.email, None) is not None:
            return EMAIL_TAKEN
        user_id = await console_users.add_user(connection, change.email, None, change.role)
        await console_users.set_proposer(connection, user_id, found.proposed_by, approves_from)
        return change.email, await console_users.make_link(connection, user_id, "invitation")
    person: ConsoleUser | None = await console_users.get_user(connection, change.user_id, None)
    if person is None or (change.change == ROLE and person.role != change.before):
        return USER_CHANGED
    await console_users.set_proposer(connection, person.user_id, found.proposed_by, approves_from)
    if change.change == ROLE:
        await console_users.set_role(connection, person.user_id, change.role)
        return None
    await console_users.reset_credentials(connection, person.user_id)
    return person.email, await console_users.make_link(connection, person.user_id, "invitation")
