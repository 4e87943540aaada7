"""The content of a world: blocks of rows, each of one table, with the values as PostgreSQL writes them as text.

Text is exact for every type, and what is read back is checked by PostgreSQL. Secrets are in clear: a ciphertext is of
one merchant of one database. A world is stored in parts of a thousand rows, each encrypted as a whole.
"""

import zlib
from collections.abc import Iterator
from datetime import datetime

import msgspec

# Rows of a part, and bytes of it before it is compressed.
ROWS_PER_PART, BYTES_PER_PART = 1_000, 4 * 1024 * 1024
# Rows that are read at a time, and those of tables whose rows may have megabytes.
ROWS_PER_READ = 400
ROWS_PER_READ_OF = {"dispute_file": 1}
# A table with at most so many rows is read together with others, by one statement.
FEW_ROWS = 400
# Rows that are worked on before others may have their turn.
ROWS_PER_STEP = 25
# The most bytes that a part may have when it is decompressed: one that claims more is refused.
MAX_PART_BYTES = 256 * 1024 * 1024

Line = list[str | None]


class Block(msgspec.Struct):
    """Rows of a table, in the order in which they are written."""

    table: str
    columns: list[str]
    rows: list[Line]

    def list_values(self, column: str) -> list[str | None]:
        place = self.columns.index(column)
        return [row[place] for row in self.rows]

    def steps(self) -> Iterator[list[Line]]:
        """Yields the rows, few at a time."""
        for start in range(0, len(self.rows), ROWS_PER_STEP):
            yield self.rows[start : start + ROWS_PER_STEP]


class Source(msgspec.Struct, frozen=True):
    """The books that a world is of, as it says itself."""

    books: int  # their number: the keys of the rows are those of this number
    name: str  # of the merchant
    settings: str  # of the merchant, as JSON
    business_at: datetime
    made_at: datetime  # wall time
    is_imported: bool = False  # came by a file: it has no keys, and its numbers may be those of another merchant


class Part(msgspec.Struct):
    """A piece of a world. The first one says what books it is of."""

    blocks: list[Block]
    source: Source | None = None


ENCODER = msgspec.json.Encoder()
PARTS: "msgspec.json.Decoder[Part]" = msgspec.json.Decoder(Part)


def encode_part(part: Part) -> bytes:
    return zlib.compress(ENCODER.encode(part), 1)


def join_blocks(encoded: list[bytes]) -> bytes:
    """Returns the part of blocks that are encoded already. Takes a while, and can run in a thread."""
    return zlib.compress(b'{"blocks":[%b]}' % b",".join(encoded), 1)


def decode_part(compressed: bytes) -> Part:
    """Raises BadPart."""
    return read_part(decompress(compressed))


def read_part(text: bytes) -> Part:
    """Raises BadPart."""
    try:
        return PARTS.decode(text)
    except msgspec.MsgspecError as error:
        raise BadPart(f"cannot be read: {error}") from None


class BadPart(ValueError):
    """A part of a world is damaged. The text says how."""


def decompress(part: bytes) -> bytes:
    """Raises BadPart if the bytes are damaged, or are more than a part can have."""
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(part, MAX_PART_BYTES)
    except zlib.error:
        raise BadPart("cannot be decompressed") from None
    if not inflater.eof or inflater.unused_data:
        raise BadPart("is cut off, or too large")
    return text
