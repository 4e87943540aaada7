"""Reads the evidence of a dispute, still encrypted, for operators who hand it in."""

import msgspec

from kasuwa.postgres.connection_pool import Connection

TEXTS = """
    select evidence_sealed, false from dispute
        where merchant_id = $1 and dispute_id = $2 and evidence_sealed is not null
    union all select evidence_sealed, true from virtual_card_dispute
        where merchant_id = $1 and dispute_id = $2 and evidence_sealed is not null
"""
FILES = """
    select place, media_type, content_sealed from dispute_file
    where merchant_id = $1 and dispute_id = $2 and length(content_sealed) > 0 order by place, key
"""


class SealedFile(msgspec.Struct, frozen=True):
    place: int
    media_type: str
    content: bytes


class SealedEvidence(msgspec.Struct, frozen=True):
    """The evidence of a dispute under encryption."""

    texts: bytes
    files: list[SealedFile]
    is_of_cardholder: bool  # of a dispute of a card purchase


async def read_evidence(connection: Connection, merchant_id: int, dispute_id: str) -> SealedEvidence | None:
    """Returns None if there is no such dispute, or it has no evidence."""
    record = await connection.fetchrow(TEXTS, merchant_id, dispute_id)
    if record is None:
        return None
    rows = await connection.fetch(FILES, merchant_id, dispute_id)
    files = [SealedFile(place, kind, bytes(content)) for place, kind, content in rows]
    return SealedEvidence(bytes(record[0]), files, record[1])
