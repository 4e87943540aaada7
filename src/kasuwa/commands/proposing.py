"""Proposals of commands: in live they propose what two people decide by the table of authority (authority/acts.py).
Nothing proves who runs a command, so two operators approve what it proposes, on the page Approvals.
"""

import socket
from typing import Any

import msgspec

from kasuwa.authority import approvals
from kasuwa.authority.acts import Act, is_proposed_by_command
from kasuwa.authority.cooling_off import read_environment
from kasuwa.commands.database import record_audit_entry, system_user
from kasuwa.console.operator.approvals import MAX_REASON_LENGTH, find_audit_chain, title_with_article
from kasuwa.core.callers import UNPROVEN, Maker
from kasuwa.core.vault import Vault


def unproven_name(named: str = "") -> str:
    """Returns the name of whoever runs this command. `named` is the person whom they say they are."""
    ran_by = f"{UNPROVEN}{system_user()} on {socket.gethostname()}"
    return f"{ran_by}, as {named}" if named else ran_by


def unproven_maker() -> Maker:
    return Maker(unproven_name())


async def must_propose(connection: Any, *acts: Act) -> bool:
    """Returns whether a command may only propose these acts. The environment is that of the database."""
    return is_proposed_by_command(acts, await read_environment(connection))


async def propose(
    connection: Any, vault: Vault, kind: str, mid: str | None, proposal: Any, reason: str, named: str = ""
) -> str:
    """Stores a proposal with its audit entry. Returns the line that the command prints."""
    text = msgspec.json.encode(proposal).decode()
    async with connection.transaction():
        chain = await find_audit_chain(connection, mid)
        by = unproven_name(named)
        number = await approvals.propose(connection, vault, mid, kind, text, reason[:MAX_REASON_LENGTH], by)
        subject = f"approval {number}, as {named}" if named else f"approval {number}"
        await record_audit_entry(connection, chain, f"proposed {title_with_article(kind)}", subject, after=text)
    return f"approval {number} is proposed: two operators approve it on the page Approvals"
