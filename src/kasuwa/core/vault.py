"""Encryption and keyed hashing of secrets at rest (AES-256-GCM, BLAKE2b).

The key-encryption key comes from settings and is never stored in the database. It unwraps the root secret, which the
first migration made and the database stores wrapped. Every working key is derived from the root, one per merchant and
purpose: the key that verifies API keys cannot decrypt. Rotating the key-encryption key rewraps 32 bytes. The place of a
sealed field (merchant, table, column, row) is its associated data, so a ciphertext moved elsewhere does not decrypt.
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
    """Raised if sealed bytes do not decrypt: another key, another place, or damage."""


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
    """The operations with keys derived from the root secret. Never exposes the secret itself."""

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
        """Encrypts bytes for a merchant and place. `nonce` must be random."""
        nonce = nonce[:NONCE_BYTES]
        return nonce + self._cipher(merchant_id).encrypt(nonce, plain, place.encode())

    def unseal(self, merchant_id: int, place: str, sealed: bytes) -> bytes:
        """Decrypts bytes sealed for a merchant and place. Raises UnsealError."""
        try:
            return self._cipher(merchant_id).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError):
            raise UnsealError(place) from None

    def hash_api_key(self, key: str) -> bytes:
        """Returns the keyed hash that a merchant's API key is verified with. Keyed BLAKE2b is a MAC."""
        return blake2b(key.encode(), key=self._verifier_key, digest_size=KEY_BYTES).digest()

    def digest(self, data: bytes) -> bytes:
        """Returns a keyed hash, for comparing and finding data whose plain value the database must not reveal."""
        return blake2b(data, key=self._digest_key, digest_size=16).digest()

    def fingerprint(self, data: bytes) -> str:
        """Returns a keyed hash that is shown to people, such as a card's fingerprint. Equals `digest` in hexadecimal,
        except in a vault made by `with_replay_secret`."""
        return blake2b(data, key=self._shown_digest_key, digest_size=16).hexdigest()

    def with_replay_secret(self, secret: bytes) -> "Vault":
        """Returns a vault whose fingerprints and digits derive from a given secret, the same in every run."""
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
