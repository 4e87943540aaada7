"""Reads the evidence of a dispute, still encrypted, for operators who hand it in."""

import msgspec

from kasuwa.postgres.connection_pool import Connection

TEXTS = "select evidence_sealed from dispute where merchant_id = $1 and dispute_id = $2"
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


async def read_evidence(connection: Connection, merchant_id: int, dispute_id: str) -> SealedEvidence | None:
    """Returns None if there is no such dispute, or it has no evidence."""
    texts = await connection.fetchval(TEXTS, merchant_id, dispute_id)
    if texts is None:
        return None
    rows = await connection.fetch(FILES, merchant_id, dispute_id)
    return SealedEvidence(bytes(texts), [SealedFile(place, kind, bytes(content)) for place, kind, content in rows])
