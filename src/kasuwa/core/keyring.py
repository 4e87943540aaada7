"""The versions of the data keys that a process knows: which one encrypts, which ones decrypt.

Every ciphertext begins with a header that names the version of its key. A version may belong to all merchants or to
one. It is known to every process before it becomes active, and it decrypts until it is retired, when no ciphertext is
left that needs it (docs/decisions/0061).

A process reads the versions again every few seconds (privacy/vault_keys.py). One that could not do so for too long must
not encrypt: it might use a version that the others have replaced.
"""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
INDEX_BYTES = 16
CODE_BYTES = 16

SEAL = "seal"
INDEX = "index"
FIRST_VERSION = 1

# The first bytes of a ciphertext. The version of its key follows in four bytes.
HEADER_MARK = b"\x8bKV\x01"
HEADER_BYTES = len(HEADER_MARK) + 4

MAX_CIPHERS = 4096

Digest = Callable[[bytes], bytes]


class UnsealError(Exception):
    """Raised if sealed bytes do not decrypt: another key, another place, or damage."""


class UnknownVersion(UnsealError):
    """Raised if the version of a ciphertext's key is retired, or not known yet."""


class KeysOutdated(Exception):
    """Raised if something is to be encrypted and the versions were not read for too long."""


def derive(secret: bytes, purpose: str) -> bytes:
    return blake2b(purpose.encode(), key=secret, digest_size=KEY_BYTES).digest()


def index_digest(key: bytes, data: bytes) -> bytes:
    """Returns a keyed hash that finds a value which is stored encrypted."""
    return blake2b(data, key=key, digest_size=INDEX_BYTES).digest()


def make_header(version: int) -> bytes:
    return HEADER_MARK + version.to_bytes(4, "big")


def named_version(sealed: bytes) -> int | None:
    """Returns the version that a ciphertext names, or None if it names none. Its first bytes are enough."""
    if len(sealed) < HEADER_BYTES or not sealed.startswith(HEADER_MARK):
        return None
    return int.from_bytes(sealed[len(HEADER_MARK) : HEADER_BYTES], "big")


class DataKey(msgspec.Struct, frozen=True):
    """A version of the data keys that is not retired."""

    purpose: str  # SEAL or INDEX
    version: int
    merchant_id: int | None  # None: of all merchants
    secret: bytes  # the key that those of merchants are derived from, for SEAL; the key of the hash, for INDEX
    is_active: bool = True

    def __repr__(self) -> str:
        return f"DataKey({self.purpose} {self.version})"


# Returns the authentication code of a row's content.
Coder = Callable[[bytes], bytes]


def make_coder(key: DataKey, merchant_id: int) -> Coder:
    """Returns what makes the codes of a merchant's rows. Its key is another one than the key that encrypts. Keyed
    BLAKE2b is a MAC; copying its initial state takes half the time of making it."""
    initial = blake2b(key=derive(key.secret, f"rows of {merchant_id}"), digest_size=CODE_BYTES)

    def code(content: bytes) -> bytes:
        state = initial.copy()
        state.update(content)
        return state.digest()

    return code


class Keyring:
    """The versions that a process knows. `update` replaces them."""

    def __init__(self, keys: Sequence[DataKey], monotonic: Callable[[], float] | None = None) -> None:
        """Versions never count as outdated if there is no clock."""
        self._monotonic = monotonic
        self._keys: tuple[DataKey, ...] = ()
        self._valid_until = 0.0
        self._sealing: dict[int, tuple[bytes, AESGCM]] = {}
        self._opening: dict[tuple[int, int], AESGCM] = {}
        self._coding: dict[int, tuple[bytes, Coder]] = {}
        self._checking: dict[tuple[int, int], Coder] = {}
        self.index_digests: tuple[Digest, ...] = ()
        self.update(keys, valid_until=0.0)

    def update(self, keys: Sequence[DataKey], *, valid_until: float) -> None:
        """Replaces the versions. After `valid_until`, a time of the monotonic clock, nothing is encrypted."""
        self._valid_until = valid_until
        if tuple(keys) == self._keys:
            return
        self._keys = tuple(keys)
        self._sealing.clear()
        self._opening.clear()
        self._coding.clear()
        self._checking.clear()
        # The active one is the first: it hashes what is written. The others only find.
        indexes = sorted(self._list_keys(INDEX), key=lambda key: (key.is_active, key.version), reverse=True)
        self.index_digests = tuple(partial(index_digest, key.secret) for key in indexes)

    @property
    def versions(self) -> tuple[DataKey, ...]:
        return self._keys

    def _list_keys(self, purpose: str) -> list[DataKey]:
        return [key for key in self._keys if key.purpose == purpose]

    def active_version(self, merchant_id: int) -> int:
        """Returns the version that encrypts for a merchant: the newest active one of all merchants or of this one."""
        return self._find_active(merchant_id).version

    def _find_active(self, merchant_id: int) -> DataKey:
        own = [key for key in self._list_keys(SEAL) if key.is_active and key.merchant_id in (None, merchant_id)]
        return max(own, key=lambda key: key.version)

    def is_current(self, merchant_id: int, sealed: bytes) -> bool:
        """Returns whether a ciphertext, or its first bytes, names the active version of its merchant."""
        return named_version(sealed) == self.active_version(merchant_id)

    def sealing_cipher(self, merchant_id: int) -> tuple[bytes, AESGCM]:
        """Returns the header and the cipher that encrypt for a merchant. Raises KeysOutdated."""
        self._refuse_outdated()
        entry = self._sealing.get(merchant_id)
        if entry is None:
            key = self._find_active(merchant_id)
            entry = make_header(key.version), self._cipher(key, merchant_id)
            if len(self._sealing) >= MAX_CIPHERS:
                self._sealing.clear()
            self._sealing[merchant_id] = entry
        return entry

    def _refuse_outdated(self) -> None:
        if self._monotonic is not None and self._monotonic() > self._valid_until:
            raise KeysOutdated("the versions of the data keys could not be read: nothing is encrypted meanwhile")

    def find_coder(self, merchant_id: int) -> tuple[bytes, Coder]:
        """Returns the header of the codes of a merchant's rows, and what makes them. Raises KeysOutdated."""
        self._refuse_outdated()
        entry = self._coding.get(merchant_id)
        if entry is None:
            key = self._find_active(merchant_id)
            entry = make_header(key.version), make_coder(key, merchant_id)
            if len(self._coding) >= MAX_CIPHERS:
                self._coding.clear()
            self._coding[merchant_id] = entry
        return entry

    def find_checker(self, version: int, merchant_id: int) -> Coder | None:
        """Returns what made the codes of a version, or None if the version is retired or unknown."""
        coder = self._checking.get((version, merchant_id))
        if coder is None:
            key = self._find_sealing_key(version, merchant_id)
            if key is None:
                return None
            coder = make_coder(key, merchant_id)
            if len(self._checking) >= MAX_CIPHERS:
                self._checking.clear()
            self._checking[version, merchant_id] = coder
        return coder

    def opening_cipher(self, version: int, merchant_id: int) -> AESGCM | None:
        """Returns the cipher of a version for a merchant, or None if the version is retired or unknown."""
        cipher = self._opening.get((version, merchant_id))
        if cipher is None:
            key = self._find_sealing_key(version, merchant_id)
            if key is None:
                return None
            cipher = self._cipher(key, merchant_id)
            if len(self._opening) >= MAX_CIPHERS:
                self._opening.clear()
            self._opening[version, merchant_id] = cipher
        return cipher

    def _find_sealing_key(self, version: int, merchant_id: int) -> DataKey | None:
        """Returns the key of a version for a merchant, or None if the version is retired or unknown."""
        keys = (key for key in self._list_keys(SEAL) if key.version == version)
        return next((key for key in keys if key.merchant_id in (None, merchant_id)), None)

    def _cipher(self, key: DataKey, merchant_id: int) -> AESGCM:
        return AESGCM(derive(key.secret, f"merchant {merchant_id}"))
