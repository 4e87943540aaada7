"""Encryption and keyed hashing of secrets at rest (AES-256-GCM, BLAKE2b).

The key-encryption key comes from settings and is never stored in the database. It unwraps the root secret, which the
first migration made, and the data keys of later versions; the database stores all of them wrapped. Working keys are
derived, one per merchant and purpose: the key that verifies API keys cannot decrypt. The place of a sealed field
(merchant, table, column, row) is its associated data, so a ciphertext moved elsewhere does not decrypt.

Keys that encrypt, and the key of the hashes that find clients, have versions and can be replaced (keyring.py). The
others are derived from the root for good, because what they made cannot be made again: verifiers of API keys, digests
of requests, hashes of tokens, digits of cards, and the order of references (docs/decisions/0061).
"""

import copy
import hmac
from collections.abc import Callable
from hashlib import blake2b

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kasuwa.core.keyring import (
    FIRST_VERSION,
    HEADER_BYTES,
    INDEX,
    KEY_BYTES,
    SEAL,
    DataKey,
    Digest,
    Keyring,
    UnknownVersion,
    UnsealError,
    derive,
    named_version,
)

NONCE_BYTES = 12
# Decrypts: takes the merchant, the place and the ciphertext (Vault.unseal).
Unsealer = Callable[[int, str, bytes], bytes]

ROOT_PLACE = b"kasuwa root"


def make_test_root(secret_key: bytes) -> bytes:
    """Returns the root secret of a new database of the test environment. It follows from the key-encryption key, so
    that deployments that were set up with the same one can exchange worlds (docs/decisions/0102)."""
    return derive(secret_key, "root of test")


def wrap_root(secret_key: bytes, root: bytes, nonce: bytes) -> bytes:
    return wrap_key(secret_key, root, nonce, ROOT_PLACE)


def unwrap_root(secret_key: bytes, wrapped: bytes) -> bytes:
    return unwrap_key(secret_key, wrapped, ROOT_PLACE)


def wrap_key(secret_key: bytes, plain: bytes, nonce: bytes, place: bytes) -> bytes:
    """Encrypts a key with the key-encryption key. `place` says which key it is."""
    nonce = nonce[:NONCE_BYTES]
    return nonce + AESGCM(secret_key).encrypt(nonce, plain, place)


def unwrap_key(secret_key: bytes, wrapped: bytes, place: bytes) -> bytes:
    """Decrypts a key. Raises UnsealError if the key-encryption key is another one."""
    try:
        return AESGCM(secret_key).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], place)
    except (InvalidTag, ValueError):
        raise UnsealError(place.decode()) from None


def data_key_place(purpose: str, version: int) -> bytes:
    return f"kasuwa data key {purpose} {version}".encode()


def kek_name(secret_key: bytes) -> str:
    """Returns the name of a key-encryption key: a hash that tells two of them apart and reveals neither."""
    return derive(secret_key, "kek name").hex()[:16]


class FixedKeys(msgspec.Struct, frozen=True):
    """The keys that have no versions."""

    verifier: bytes
    digest: bytes
    code: bytes
    reference: bytes

    def __repr__(self) -> str:
        return "FixedKeys(…)"


def derive_fixed_keys(root: bytes) -> FixedKeys:
    return FixedKeys(derive(root, "verify"), derive(root, "digest"), derive(root, "code"), derive(root, "reference"))


def encode_fixed_keys(keys: FixedKeys) -> bytes:
    """Returns the keys as they take the root's place once version 1 was dropped: they do not reveal the root."""
    return b"".join(msgspec.structs.astuple(keys))


def read_root(plain: bytes) -> tuple[FixedKeys, bytes | None]:
    """Returns the fixed keys of an unwrapped root, and the sealing key of version 1 unless it was dropped."""
    if len(plain) == KEY_BYTES:
        return derive_fixed_keys(plain), derive(plain, "seal")
    parts = [plain[start : start + KEY_BYTES] for start in range(0, len(plain), KEY_BYTES)]
    return FixedKeys(*parts), None


def first_keys(fixed: FixedKeys, sealing: bytes | None) -> list[DataKey]:
    """Returns the data keys of version 1, which are derived from the root."""
    index = DataKey(INDEX, FIRST_VERSION, None, fixed.digest)
    return [index] if sealing is None else [DataKey(SEAL, FIRST_VERSION, None, sealing), index]


class Vault:
    """The operations with the keys of a deployment. Never exposes a key that decrypts."""

    def __init__(
        self, root: bytes, monotonic: Callable[[], float] | None = None, keyring: Keyring | None = None
    ) -> None:
        """`root` is a root secret, or the fixed keys that took its place. Without a keyring only version 1 is known."""
        self.fixed, sealing = read_root(root)
        self.keyring = keyring or Keyring(first_keys(self.fixed, sealing), monotonic)
        self._code_key = self.fixed.code
        self._shown_digest_key = self.fixed.digest
        self._pseudonym_key = derive(self.fixed.digest, "pseudonyms")
        self.reference_key = self.fixed.reference

    @property
    def index_digests(self) -> tuple[Digest, ...]:
        """The keyed hashes that personal data are found by. The first one is stored; a look-up tries all of them,
        because rows that were stored earlier may have another one while a key is replaced."""
        return self.keyring.index_digests

    def seal(self, merchant_id: int, place: str, plain: bytes, nonce: bytes) -> bytes:
        """Encrypts bytes for a merchant and place. `nonce` must be random. Raises KeysOutdated."""
        nonce = nonce[:NONCE_BYTES]
        header, cipher = self.keyring.sealing_cipher(merchant_id)
        return header + nonce + cipher.encrypt(nonce, plain, place.encode())

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes:
        """Decrypts bytes sealed for a merchant and place. Raises UnsealError."""
        version = named_version(sealed)
        if version is None:
            raise UnsealError(place)
        cipher, sealed = self.keyring.opening_cipher(version, merchant_id), sealed[HEADER_BYTES:]
        if cipher is None:
            raise UnknownVersion(f"{place}: version {version} of the data key is retired or unknown")
        try:
            return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            raise UnsealError(place) from None

    def make_code(self, merchant_id: int, content: bytes) -> bytes:
        """Returns the authentication code of a row of a merchant. It names the version of its key. Raises
        KeysOutdated."""
        header, code = self.keyring.find_coder(merchant_id)
        return header + code(content)

    def is_code(self, merchant_id: int, content: bytes, code: bytes) -> bool:
        """Returns whether `make_code` made a code for this content, by a key that is not retired."""
        version = named_version(code)
        coder = None if version is None else self.keyring.find_checker(version, merchant_id)
        return coder is not None and is_equal_constant_time(coder(content), code[HEADER_BYTES:])

    def hash_api_key(self, key: str) -> bytes:
        """Returns the keyed hash that a merchant's API key is verified with. Keyed BLAKE2b is a MAC."""
        return blake2b(key.encode(), key=self.fixed.verifier, digest_size=KEY_BYTES).digest()

    def digest(self, data: bytes) -> bytes:
        """Returns a keyed hash for comparing requests and finding tokens. Its key has no versions."""
        return blake2b(data, key=self.fixed.digest, digest_size=16).digest()

    def make_file_code(self, content: bytes) -> bytes:
        """Returns the authentication code of a file that a deployment with the same fixed keys reads again."""
        return blake2b(content, key=derive(self.fixed.code, "file"), digest_size=KEY_BYTES).digest()

    def hash_person(self, plain: str) -> bytes:
        """Returns the keyed hash that pseudonyms are made of (wire/pseudonyms.py). Its key has no versions, so that a
        person keeps their pseudonym when keys are replaced."""
        return blake2b(plain.encode(), key=self._pseudonym_key, digest_size=KEY_BYTES).digest()

    def name_hash_keys(self) -> list[str]:
        """Returns the names of the keys of hashes, the one in use first: deployments whose names are the same find
        each other's tokens, clients and requests. A name does not reveal its key."""
        fixed = self.digest(b"kasuwa hash keys")
        return [
            blake2b(fixed + digest(b"kasuwa hash keys"), digest_size=8).hexdigest() for digest in self.index_digests
        ]

    def fingerprint(self, data: bytes) -> str:
        """Returns a keyed hash that is shown to people, such as a card's fingerprint. Equals `digest` in hexadecimal,
        except in a vault made by `with_replay_secret`."""
        return blake2b(data, key=self._shown_digest_key, digest_size=16).hexdigest()

    def with_replay_secret(self, secret: bytes) -> "Vault":
        """Returns a vault whose fingerprints and digits derive from a given secret, the same in every run. Both share
        the versions of the data keys."""
        other = copy.copy(self)
        other._code_key = derive(secret, "code")
        other._shown_digest_key = derive(secret, "digest")
        return other

    def derive_digits(self, text: str, digits: int) -> str:
        """Returns digits derived from a text and never stored, such as a card's CVV."""
        digest = blake2b(text.encode(), key=self._code_key, digest_size=KEY_BYTES).digest()
        return f"{int.from_bytes(digest, 'big') % 10**digits:0{digits}d}"


def is_equal_constant_time(left: bytes, right: bytes) -> bool:
    return hmac.compare_digest(left, right)
