"""Finds the disputes of a person's payments, for exports and erasure. Their evidence has personal data."""

from kasuwa.core.references import row_key
from kasuwa.postgres.connection_pool import Connection

DISPUTES = """
    select d.key, d.dispute_id, d.files, d.evidence_sealed, json_build_object('dispute_id', d.dispute_id,
        'txn_ref', d.txn_ref, 'state', d.state, 'amount', d.amount, 'currency', d.currency, 'reason', d.reason,
        'files', d.files, 'opened_at', d.opened_at, 'ended_at', d.ended_at)::text
    from dispute d where d.merchant_id = $1 and d.txn_ref = any($2) order by d.number, d.key
"""


class DisputeRows:
    """The disputes of some payments: JSON texts to export, keys to erase by kind, and the encrypted evidence."""

    def __init__(self) -> None:
        self.records: list[str] = []
        self.keys: dict[str, list[bytes]] = {"dispute": [], "dispute_file": []}
        self.evidence: list[tuple[str, bytes]] = []  # by dispute_id


async def find_disputes(connection: Connection, merchant_id: int, txn_refs: list[str]) -> DisputeRows:
    """Returns the disputes of payments, oldest first."""
    rows = DisputeRows()
    for key, dispute_id, files, sealed, text in await connection.fetch(DISPUTES, merchant_id, txn_refs):
        rows.keys["dispute"].append(bytes(key))
        rows.keys["dispute_file"] += [
            row_key(merchant_id, "dispute file", f"{dispute_id} {place}") for place in range(files)
        ]
        rows.records.append(text)
        if sealed is not None:
            rows.evidence.append((dispute_id, bytes(sealed)))
    return rows
