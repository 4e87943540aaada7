"""Opens a statement: finds its format and its reader, and hashes its content."""

from hashlib import sha256
from typing import BinaryIO

import msgspec

from kasuwa.reconciliation.camt_statements import CamtStatement
from kasuwa.reconciliation.csv_mapping import CsvMapping, suggest_mapping
from kasuwa.reconciliation.csv_statements import CsvStatement
from kasuwa.reconciliation.model import ReconciledAccount, StatementError, StatementReader
from kasuwa.reconciliation.mt940_statements import START_TAG, Mt940Statement

BEGINNING_BYTES = 64 * 1024
PIECE_BYTES = 1024 * 1024
FORMATS = ("csv", "mt940", "camt.053")


def detect_format(beginning: bytes) -> str:
    """Returns the format of a file that begins so. Everything that is neither XML nor MT940 is CSV."""
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"<", b"\xff\xfe<", b"\xfe\xff\x00<")):
        return "camt.053"
    if text.startswith((START_TAG, b"{1:", b"{4:")) or b"\n" + START_TAG in text:
        return "mt940"
    return "csv"


def hash_content(file: BinaryIO) -> bytes:
    """Returns the hash of a file, which is then at its beginning again. Raises StatementError for an empty file."""
    digest, size = sha256(), 0
    while piece := file.read(PIECE_BYTES):
        digest.update(piece)
        size += len(piece)
    if size == 0:
        raise StatementError("the file is empty")
    file.seek(0)
    return digest.digest()


def open_statement(
    file: BinaryIO, account: ReconciledAccount, mapping: CsvMapping | None, format_name: str = ""
) -> StatementReader:
    """Returns the reader of a file. Raises StatementError for a CSV file without a mapping, with one that may fit."""
    beginning = file.read(BEGINNING_BYTES)
    file.seek(0)
    file_format = format_name or detect_format(beginning)
    if file_format == "camt.053":
        return CamtStatement(file, account.currency)
    if file_format == "mt940":
        return Mt940Statement(file, account.currency)
    if mapping is None:
        raise StatementError(explain_missing_mapping(beginning, account))
    return CsvStatement(file, mapping, account.currency)


def explain_missing_mapping(beginning: bytes, account: ReconciledAccount) -> str:
    suggested = suggest_mapping(beginning)
    if suggested is None:
        return f"{account.name} has no mapping for CSV, and the file has no header with a date and an amount"
    text = msgspec.json.encode(suggested).decode()
    return f"{account.name} has no mapping for CSV. This one may fit; give it as the mapping after a look:\n{text}"
