"""The file of a world: what `export_world` writes and `import_world` reads. Contract: sandbox#world-files

    KASUWA WORLD, a line break      what kind of file it is
    2 bytes                         version of this form
    4 bytes, a JSON object          length of the header, and the header, in clear: versions, names of keys, lengths
    ciphertexts                     each part of the world, encrypted with a key that is derived from the passphrase
    32 bytes                        code of everything above, by a key of the deployment

The code shows that a deployment with the same keys wrote the file: the rows of a world are written into books as they
are, so a file that anybody could write would let anybody write them. The passphrase protects what they contain.
"""

import hashlib
import os
import struct
from datetime import datetime

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

import kasuwa
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Refusal
from kasuwa.core.vault import NONCE_BYTES, Vault, is_equal_constant_time
from kasuwa.methods.sandbox.world_file import MAX_FILE_BYTES
from kasuwa.postgres.migrate import newest_known_version
from kasuwa.sandbox.worlds.blocks import BadPart, Part, Source, decode_part, encode_part

MAGIC = b"KASUWA WORLD\n"
FORM = 1
VERSION, LENGTH = struct.Struct(">H"), struct.Struct(">I")
SALT_BYTES, CODE_BYTES = 16, 32
MAX_HEADER_BYTES = 64 * 1024
# scrypt with 32 MiB of memory: a passphrase takes some 100 ms to try.
SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024, "dklen": 32}

# These rows stay with the merchant that the world was taken of. An importing merchant keeps its own keys. Verdicts of
# operators have the numbers of approvals, which are those of other proposals in another deployment.
NOT_IN_FILES = frozenset({"merchant_key", "signing_secret", "manual_posting"})

FOREIGN = Refusal(INVALID_REQUEST, "This is not the file of a world", error_code="world_file_foreign")
TRUNCATED = Refusal(
    INVALID_REQUEST,
    "The file is cut off: it has {size} bytes, and should have {expected}. Copy it again",
    error_code="world_file_truncated",
)
DAMAGED = Refusal(
    INVALID_REQUEST, "The file was changed after it was written: {problem}", error_code="world_file_damaged"
)
OF_NEWER_FORM = Refusal(
    INVALID_REQUEST,
    "The file has form {form}: kasuwa {version} reads forms up to {known}, and no newer ones",
    error_code="world_file_of_newer_version",
)
OF_NEWER_VERSION = Refusal(
    INVALID_REQUEST,
    "The file was written by kasuwa {version}, whose database is at migration {made_at}: this version knows {known}, "
    "and takes no newer ones",
    error_code="world_file_of_newer_version",
)
OF_OTHER_KEYS = Refusal(
    INVALID_REQUEST,
    "The file was written by a deployment with other keys: only one that was set up with the same KASUWA_SECRET_KEY "
    "can read it",
    error_code="world_file_of_other_keys",
)
WRONG_PASSPHRASE = Refusal(
    INVALID_REQUEST, "The passphrase is not that of the file", error_code="world_file_wrong_passphrase"
)
TOO_LARGE = Refusal(
    INVALID_REQUEST,
    f"The file of a world has at most {MAX_FILE_BYTES // 1024 // 1024} MiB, and this one would have {{size}} bytes",
    error_code="world_file_too_large",
)


class FileRefused(Exception):
    """A file cannot be taken, or a world not be written to one."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class FileHeader(msgspec.Struct, frozen=True):
    """The part of a file that is in clear."""

    kasuwa: str  # its release when the file was made
    schema_version: int  # newest migration of the database that the world was made from
    keys: str  # name of the keys of hashes of that deployment (Vault.name_hash_keys)
    salt: bytes  # of the passphrase
    rows: int
    lengths: list[int]  # of the encrypted parts, in bytes
    books: int  # number of the books that the world is of
    business_at: datetime
    made_at: datetime


class OpenedFile(msgspec.Struct, frozen=True):
    """A file that was checked: its header, the books that it is of, and its further parts, compressed."""

    header: FileHeader
    source: Source
    parts: list[bytes]


def write_file(vault: Vault, source: Source, schema_version: int, parts: list[bytes], passphrase: str) -> bytes:
    """Returns the file of a world with these parts, compressed, of which the first has the source. Raises BadPart and
    FileRefused. Takes a while: run it in a thread."""
    rows, encoded_parts = 0, [encode_part(Part([], source))]
    for compressed in parts[1:]:
        part = decode_part(compressed)
        blocks = [block for block in part.blocks if block.table not in NOT_IN_FILES]
        rows += sum(len(block.rows) for block in blocks)
        if blocks:
            encoded_parts.append(compressed if len(blocks) == len(part.blocks) else encode_part(Part(blocks)))
    salt = os.urandom(SALT_BYTES)
    cipher = AESGCM(derive_key(passphrase, salt))
    sealed = [cipher.encrypt(nonce(number), part, MAGIC) for number, part in enumerate(encoded_parts)]
    header = FileHeader(
        kasuwa=kasuwa.__version__,
        schema_version=schema_version,
        keys=vault.name_hash_keys()[0],
        salt=salt,
        rows=rows,
        lengths=[len(part) for part in sealed],
        books=source.books,
        business_at=source.business_at,
        made_at=source.made_at,
    )
    encoded = msgspec.json.encode(header)
    content = b"".join([MAGIC, VERSION.pack(FORM), LENGTH.pack(len(encoded)), encoded, *sealed])
    size = len(content) + CODE_BYTES
    if size > MAX_FILE_BYTES:
        raise FileRefused(TOO_LARGE.fill(size=f"{size:,}"))
    return content + vault.make_file_code(content)


def read_file(vault: Vault, content: bytes, passphrase: str) -> OpenedFile:
    """Checks and decrypts a file. Raises FileRefused. Takes a while: run it in a thread."""
    header, start = read_header(content)
    expected = start + sum(header.lengths) + CODE_BYTES
    if len(content) < expected:
        raise FileRefused(TRUNCATED.fill(size=f"{len(content):,}", expected=f"{expected:,}"))
    if len(content) > expected:
        raise FileRefused(DAMAGED.fill(problem=f"{len(content) - expected:,} bytes follow its end"))
    if header.keys not in vault.name_hash_keys():
        raise FileRefused(OF_OTHER_KEYS)
    body, code = content[:-CODE_BYTES], content[-CODE_BYTES:]
    if not is_equal_constant_time(vault.make_file_code(body), code):
        raise FileRefused(DAMAGED.fill(problem="its code does not fit"))
    parts = decrypt_parts(header, content, start, passphrase)
    source, rows = None, 0
    try:
        for part in map(decode_part, parts):
            source = source or part.source
            rows += sum(len(block.rows) for block in part.blocks)
    except BadPart as error:
        raise FileRefused(DAMAGED.fill(problem=f"a part {error}")) from None
    if source is None or rows != header.rows:
        raise FileRefused(DAMAGED.fill(problem=f"it has {rows:,} of its {header.rows:,} rows"))
    return OpenedFile(header, msgspec.structs.replace(source, is_imported=True), parts[1:])


def read_header(content: bytes) -> tuple[FileHeader, int]:
    """Returns the header of a file, and where its parts begin. Raises FileRefused."""
    if not content.startswith(MAGIC):
        raise FileRefused(FOREIGN)
    place = len(MAGIC)
    start = place + VERSION.size + LENGTH.size
    if len(content) < start:
        raise FileRefused(TRUNCATED.fill(size=len(content), expected=f"more than {start}"))
    [form] = VERSION.unpack_from(content, place)
    if form > FORM:
        raise FileRefused(OF_NEWER_FORM.fill(form=form, version=kasuwa.__version__, known=FORM))
    [length] = LENGTH.unpack_from(content, place + VERSION.size)
    if length > MAX_HEADER_BYTES:
        raise FileRefused(DAMAGED.fill(problem="its header is too long"))
    if len(content) < start + length:
        raise FileRefused(TRUNCATED.fill(size=len(content), expected=f"more than {start + length}"))
    try:
        header = msgspec.json.decode(content[start : start + length], type=FileHeader)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise FileRefused(DAMAGED.fill(problem="its header cannot be read")) from None
    known = newest_known_version()
    if header.schema_version > known:
        refusal = OF_NEWER_VERSION.fill(version=header.kasuwa, made_at=header.schema_version, known=known)
        raise FileRefused(refusal)
    if any(part < 0 for part in header.lengths):
        raise FileRefused(DAMAGED.fill(problem="its header cannot be read"))
    return header, start + length


def decrypt_parts(header: FileHeader, content: bytes, start: int, passphrase: str) -> list[bytes]:
    """Returns the compressed parts of a file whose code fits. Raises FileRefused if the passphrase is another one."""
    cipher = AESGCM(derive_key(passphrase, header.salt))
    parts = []
    for number, length in enumerate(header.lengths):
        try:
            parts.append(cipher.decrypt(nonce(number), content[start : start + length], MAGIC))
        except InvalidTag:
            raise FileRefused(WRONG_PASSPHRASE) from None
        start += length
    return parts


def derive_key(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(passphrase.encode(), salt=salt, **SCRYPT)


def nonce(number: int) -> bytes:
    """Returns the nonce of a part. Each file has a key of its own, so a number is enough."""
    return number.to_bytes(NONCE_BYTES, "big")
