"""Changes of operators that need two administrators: invite, reset, change of role and re-enabling.

Also holds the check of who may approve a proposal of any kind.
"""

from datetime import UTC, datetime

import msgspec
from starlette.responses import Response

from kasuwa.console.access import ADMIN, short_name
from kasuwa.console.visit import Visit
from kasuwa.db import approvals, console_users
from kasuwa.db.approvals import Approval
from kasuwa.db.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.db.connection_pool import Connection
from kasuwa.db.console_users import ConsoleUser, EmailTaken

USER_PROPOSAL_KIND = "person"
INVITE, RESET, ROLE, ENABLE = "invite", "reset", "role", "enable"
MAX_REASON_LENGTH = 500

OWN_PROPOSAL = "You proposed this, so another operator must decide it. You can withdraw it."
OWN_ACCOUNT = "This is about your own account, so another operator must decide it."
NOT_ADMIN = "Only an administrator can approve changes of operators."
NOT_INDEPENDENT = (
    "You and the proposer are not independent: one of you invited the other. Another operator must decide this."
)
COOLING_OFF = "Your account is new or was changed recently. You can approve from {when} on."
USER_CHANGED = "The operator no longer exists or has changed since the proposal. Reject it."
EMAIL_TAKEN = "Another operator has this address already. Reject the proposal."
NO_OTHER_ADMIN = "Proposed, but there is no second administrator to approve it. Add one with `kasuwa user add`."


class OperatorChange(msgspec.Struct, frozen=True):
    """A proposed change of an operator. Stored as JSON in approval.proposal."""

    change: str  # INVITE, RESET, ROLE or ENABLE
    email: str
    role: str  # role after the change
    user_id: int = 0  # 0 for an invitation
    before: str = ""  # role when a change of role was proposed

    @property
    def description(self) -> str:
        what = {INVITE: "invite", RESET: "reset", ROLE: "change the role of", ENABLE: "re-enable"}[self.change]
        return f"{what} {self.email}, {short_name(self.role)}"


async def propose_change(visit: Visit, change: OperatorChange) -> Response:
    """Stores a proposal for another administrator. Raises EmailTaken if an operator has the invited address."""
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        if change.change == INVITE and await console_users.find_user_of_merchant(connection, change.email, None):
            raise EmailTaken
        reason = visit.form_text("reason")[:MAX_REASON_LENGTH] or change.description
        proposal = msgspec.json.encode(change).decode()
        approval_id = await approvals.propose(
            connection, None, USER_PROPOSAL_KIND, proposal, reason, visit.user.user_id
        )
        await visit.record_audit_on(
            connection,
            OPERATOR_CHAIN_ID,
            f"proposed to {change.description}",
            f"approval {approval_id}",
            change.before,
            change.role,
        )
        others = await console_users.count_admins(connection, besides=visit.user.user_id)
    return visit.redirect(
        "/operator/approvals", "Proposed. Another administrator must approve it." if others else NO_OTHER_ADMIN
    )


async def explain_approval_bar(connection: Connection, visit: Visit, found: Approval) -> str | None:
    """Returns why the user may not approve this, or None. A database trigger checks most of it as well."""
    approver = visit.user
    if found.proposed_by == approver.user_id:
        return OWN_PROPOSAL
    proposer = await console_users.get_user(connection, found.proposed_by, None)
    if approver.proposed_by == found.proposed_by or (proposer is not None and proposer.proposed_by == approver.user_id):
        return NOT_INDEPENDENT
    if approver.can_approve_from is not None and approver.can_approve_from > datetime.now(UTC):
        return COOLING_OFF.format(when=f"{approver.can_approve_from:%Y-%m-%d %H:%M} UTC")
    if found.kind == USER_PROPOSAL_KIND:
        if approver.role != ADMIN:
            return NOT_ADMIN
        if msgspec.json.decode(found.proposal, type=OperatorChange).user_id == approver.user_id:
            return OWN_ACCOUNT
    return None


async def apply_change(connection: Connection, visit: Visit, found: Approval) -> str | tuple[str, str] | None:
    """Applies the change in the approval's transaction.

    Returns a text if it cannot be applied, (email, link token) to be sent after the commit, else None.
    """
    change = msgspec.json.decode(found.proposal, type=OperatorChange)
    approves_from = datetime.now(UTC) + visit.services.cooling_off
    if change.change == INVITE:
        if await console_users.find_user_of_merchant(connection, change.email, None) is not None:
            return EMAIL_TAKEN
        user_id = await console_users.add_user(connection, change.email, None, change.role)
        await console_users.set_proposer(connection, user_id, found.proposed_by, approves_from)
        return change.email, await console_users.make_link(connection, user_id, "invitation")
    operator: ConsoleUser | None = await console_users.get_user(connection, change.user_id, None)
    if operator is None or (change.change == ROLE and operator.role != change.before):
        return USER_CHANGED
    await console_users.set_proposer(connection, operator.user_id, found.proposed_by, approves_from)
    if change.change == ROLE:
        await console_users.set_role(connection, operator.user_id, change.role)
        return None
    await console_users.reset_credentials(connection, operator.user_id)
    return operator.email, await console_users.make_link(connection, operator.user_id, "invitation")
