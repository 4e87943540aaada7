"""Secrets at rest: sealed with AES-256-GCM, compared by keyed hash in constant time.

The key-encryption key comes from settings and never touches the database. It opens one thing: the root
secret, made at the first migration and kept in the database wrapped. From the root every working key is
derived, one per merchant and purpose, so that what verifies a merchant's key cannot decrypt, what hashes
requests can do neither, and a new key-encryption key means wrapping 32 bytes anew. Where a sealed field lives
(merchant, table, column, row) is bound to it as associated data: a ciphertext moved elsewhere does not open.
"""

import copy
import hmac
from functools import lru_cache
from hashlib import blake2b

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12


class UnsealError(Exception):
    """The sealed bytes do not open here: another key, another place, or damage."""


def derive(secret: bytes, purpose: str) -> bytes:
    return blake2b(purpose.encode(), key=secret, digest_size=KEY_BYTES).digest()


def wrap_root(secret_key: bytes, root: bytes, nonce: bytes) -> bytes:
    nonce = nonce[:NONCE_BYTES]
    return nonce + AESGCM(secret_key).encrypt(nonce, root, b"kasuwa root")


def unwrap_root(secret_key: bytes, wrapped: bytes) -> bytes:
    try:
        return AESGCM(secret_key).decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], b"kasuwa root")
    except (InvalidTag, ValueError):
        raise UnsealError("root") from None


class Vault:
    """What can be done with the root secret, without ever handing it out."""

    def __init__(self, root: bytes) -> None:
        self._seal_key = derive(root, "seal")
        self._verifier_key = derive(root, "verify")
        self._digest_key = derive(root, "digest")
        self._code_key = derive(root, "code")
        self._shown_digest_key = self._digest_key
        self.reference_key = derive(root, "reference")
        self._cipher = lru_cache(maxsize=4096)(self._make_cipher)

    def _make_cipher(self, merchant_id: int) -> AESGCM:
        return AESGCM(derive(self._seal_key, f"merchant {merchant_id}"))

    def seal(self, merchant_id: int, place: str, plain: bytes, nonce: bytes) -> bytes:
        nonce = nonce[:NONCE_BYTES]
        return nonce + self._cipher(merchant_id).encrypt(nonce, plain, place.encode())

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes:
        try:
            return self._cipher(merchant_id).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            raise UnsealError(place) from None

    def hash_api_key(self, key: str) -> bytes:
        """A keyed hash (BLAKE2b is a MAC by itself): what a merchant's key is checked with."""
        return blake2b(key.encode(), key=self._verifier_key, digest_size=KEY_BYTES).digest()

    def digest(self, data: bytes) -> bytes:
        """A keyed hash of a request: tells repeats apart, and tells nothing to who reads the table."""
        return blake2b(data, key=self._digest_key, digest_size=16).digest()

    def fingerprint(self, data: bytes) -> str:
        """A keyed hash that is told to people, such as a card's: `digest`, unless this vault replays."""
        return blake2b(data, key=self._shown_digest_key, digest_size=16).hexdigest()

    def with_replay_secret(self, secret: bytes) -> "Vault":
        """The same vault, but what it shows to people follows from a secret that is the same in every run."""
        other = copy.copy(self)
        other._code_key = derive(secret, "code")
        other._shown_digest_key = derive(secret, "digest")
        return other

    def derive_digits(self, text: str, digits: int) -> str:
        """A few digits that follow from what is said and from nothing that is kept: a card's CVV."""
        made = blake2b(text.encode(), key=self._code_key, digest_size=KEY_BYTES).digest()
        return f"{int.from_bytes(made, 'big') % 10**digits:0{digits}d}"


def is_equal_constant_time(left: bytes, right: bytes) -> bool:
    return hmac.compare_digest(left, right)
