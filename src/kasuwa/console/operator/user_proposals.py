"""Changes of users that need two people: invitation, reset, change of role and re-enabling.

Those of operators are proposed on the team page. A command proposes them as well, and those of a merchant's people.
"""

from collections.abc import Sequence

import msgspec
from starlette.responses import Response

from kasuwa.authority import approvals
from kasuwa.authority.acts import PERSON, Decider
from kasuwa.authority.approvals import Approval
from kasuwa.authority.audit_trail import OPERATOR_CHAIN_ID
from kasuwa.authority.cooling_off import read_cooling_off
from kasuwa.authority.roles import short_name
from kasuwa.console.kit.visit import Visit
from kasuwa.core.callers import Maker
from kasuwa.core.vault import Vault
from kasuwa.people import users
from kasuwa.people.users import ConsoleUser, EmailTaken, make_maker
from kasuwa.postgres.connection_pool import Connection

USER_PROPOSAL_KIND = PERSON.name
INVITE, RESET, ROLE, ENABLE = "invite", "reset", "role", "enable"
MAX_REASON_LENGTH = 500

USER_CHANGED = "The user no longer exists or has changed since the proposal. Reject it."
EMAIL_TAKEN = "Another user has this address already. Reject the proposal."
NO_OTHER_ADMIN = "Proposed, but no second administrator can approve it: see Authority in docs/operating.md."


class UserChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A proposed change of an operator or of a merchant's user. Stored as JSON in approval.proposal."""

    change: str  # INVITE, RESET, ROLE or ENABLE
    email: str
    role: str  # role after the change
    user_id: int = 0  # 0 for an invitation
    before: str = ""  # role when a change of role was proposed
    mid: str | None = None  # None for an operator

    @property
    def description(self) -> str:
        what = {INVITE: "invite", RESET: "reset", ROLE: "change the role of", ENABLE: "re-enable"}[self.change]
        of_merchant = "" if self.mid is None else f" of {self.mid}"
        return f"{what} {self.email}, {short_name(self.role)}{of_merchant}"


async def propose_change(visit: Visit, change: UserChange) -> Response:
    """Stores a proposal for another administrator. Raises EmailTaken if an operator has the invited address."""
    async with visit.operator_pool.acquire() as connection, connection.transaction():
        if change.change == INVITE and await users.find_user_of_merchant(
            connection, visit.services.vault, change.email, None
        ):
            raise EmailTaken
        reason = visit.form_text("reason")[:MAX_REASON_LENGTH] or change.description
        proposal = msgspec.json.encode(change).decode()
        approval_id = await approvals.propose(
            connection, visit.services.vault, None, USER_PROPOSAL_KIND, proposal, reason, visit.user.user_id
        )
        await visit.record_audit_on(
            connection,
            OPERATOR_CHAIN_ID,
            f"proposed to {change.description}",
            f"approval {approval_id}",
            change.before,
            change.role,
        )
        others = await users.count_admins(connection, visit.services.vault, besides=visit.user.user_id)
    return visit.redirect(
        "/operator/approvals", "Proposed. Another administrator must approve it." if others else NO_OTHER_ADMIN
    )


def make_decider(user: ConsoleUser) -> Decider:
    """Returns an operator as far as it matters for approvals."""
    return Decider(
        user_id=user.user_id,
        email=user.email,
        role=user.role,
        makers=user.makers,
        account_since=user.account_since,
        can_approve_from=user.can_approve_from,
        is_disabled=user.disabled_at is not None,
    )


async def find_decider(connection: Connection, vault: Vault, user_id: int | None) -> Decider | None:
    user = None if user_id is None else await users.get_user(connection, vault, user_id, None)
    return None if user is None else make_decider(user)


async def find_makers(connection: Connection, vault: Vault, approval: Approval) -> list[Maker]:
    """Returns who stands behind an account that a proposal makes or changes: its proposer, or who ran the command."""
    if approval.proposed_by is None:
        return [Maker(approval.proposer_name)]
    proposer = await users.get_user(connection, vault, approval.proposed_by, None)
    return [] if proposer is None else [make_maker(proposer)]


async def apply_change(connection: Connection, vault: Vault, approval: Approval) -> str | tuple[str, str] | None:
    """Applies the change in the approval's transaction.

    Returns a text if it cannot be applied, (email, link token) to be mailed, else None.
    """
    change = msgspec.json.decode(approval.proposal, type=UserChange)
    makers = await find_makers(connection, vault, approval)
    if change.change == INVITE:
        if await users.find_user_of_merchant(connection, vault, change.email, change.mid) is not None:
            return EMAIL_TAKEN
        user_id = await users.add_user(connection, vault, change.email, change.mid, change.role)
        return change.email, await begin_anew(connection, vault, user_id, makers)
    user: ConsoleUser | None = await users.get_user(connection, vault, change.user_id, change.mid)
    if user is None or (change.change == ROLE and user.role != change.before):
        return USER_CHANGED
    if change.change == ROLE:
        await users.set_role(connection, vault, user.user_id, change.role)
        await users.set_makers(connection, vault, user.user_id, makers, await read_cooling_off(connection, vault))
        return None
    await users.reset_credentials(connection, vault, user.user_id)
    return user.email, await begin_anew(connection, vault, user.user_id, makers)


async def begin_anew(connection: Connection, vault: Vault, user_id: int, makers: Sequence[Maker]) -> str:
    """Returns the token of a link for a new or reset account, which approves nothing for the cooling-off time."""
    await users.set_makers(connection, vault, user_id, makers, await read_cooling_off(connection, vault))
    return await users.make_link(connection, vault, user_id, "invitation")
