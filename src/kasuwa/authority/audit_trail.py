"""Audit entries written outside the writer: by operators, the console and the command line.

Rules return their audit entries with the decision. In both cases the table's trigger links each entry to the one before
by a hash, and `kasuwa audit` verifies the chain.
"""

from datetime import datetime

import msgspec

from kasuwa.core.decision import AuditEntry
from kasuwa.postgres.connection_pool import Connection

# Merchant number of entries that belong to no merchant, such as exchange rates.
OPERATOR_CHAIN_ID = 0
MAX_TEXT_CHARS = 10_000

INSERT = """
    insert into audit_entry (merchant_id, actor, address, action, subject, before, after)
        values ($1, $2, $3, $4, $5, $6, $7)
"""


class AuditRecord(msgspec.Struct):
    """An audit entry as it is read from the table."""

    merchant_id: int
    seq: int
    at: datetime
    actor: str
    address: str
    action: str
    subject: str
    before: str
    after: str
    mid: str | None = None  # set in lists that span merchants


async def append_entry(connection: Connection, merchant_id: int, entry: AuditEntry) -> None:
    before, after = entry.before[:MAX_TEXT_CHARS], entry.after[:MAX_TEXT_CHARS]
    await connection.execute(
        INSERT, merchant_id, entry.actor, entry.address, entry.action, entry.subject, before, after
    )
