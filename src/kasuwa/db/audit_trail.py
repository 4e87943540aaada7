"""Who did what, when, from where, before and after: a line of the audit trail, written beside the writer.

A rule gives its deeds with its decision; this is for operators, the console and the command. Either way the table
itself links each line to the one before (migration 0005), and `kasuwa audit` follows the chain.
"""

from datetime import datetime

import msgspec

from kasuwa.core.decision import AuditEntry
from kasuwa.db.connections import Connection

# What no merchant owns, such as a rate, is in the operator's own chain.
OPERATOR_CHAIN_ID = 0
MAX_TEXT_CHARS = 10_000

INSERT = """
    insert into audit_entry (merchant_id, actor, address, action, subject, before, after) values ($1, $2, $3, $4, $5, $6, $7)
"""


class AuditRecord(msgspec.Struct):
    """A line of the trail, as it is read; `mid` is told where lines of several merchants are."""

    merchant_id: int
    seq: int
    at: datetime
    actor: str
    address: str
    action: str
    subject: str
    before: str
    after: str
    mid: str | None = None


async def append_entry(connection: Connection, merchant_id: int, deed: AuditEntry) -> None:
    before, after = deed.before[:MAX_TEXT_CHARS], deed.after[:MAX_TEXT_CHARS]
    await connection.execute(INSERT, merchant_id, deed.actor, deed.address, deed.action, deed.subject, before, after)
