"""The handshake between processes of two hosts: both prove that they know the shared secret, and agree on keys.

    caller                                         listener
      │ hello: magic, random, public key, MAC          │
      │ ─────────────────────────────────────────────> │  a wrong MAC ends the connection without a word
      │         hello: magic, random, public key, MAC  │
      │ <───────────────────────────────────────────── │  the MAC covers the caller's hello too
      │ an empty record                                │
      │ ─────────────────────────────────────────────> │  only now the caller is authenticated: its hello may be old

The keys of the records come from the secret and from an X25519 exchange of keys that are made for one connection. So
what was recorded cannot be decrypted later by somebody who gets the secret. Each direction has a key of its own, and
both depend on all bytes of both hellos: nothing of one connection, and nothing of the other direction, is accepted.
"""

import hmac
import os
from hashlib import sha256
from struct import Struct

import msgspec
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

# The last byte is the version of the handshake and of the records.
MAGIC = b"kasuwa peer\x01"
KEY_BYTES = 32
BODY = Struct(f"!{len(MAGIC)}s{KEY_BYTES}s{KEY_BYTES}s")
HELLO_BYTES = BODY.size + KEY_BYTES


class HandshakeError(Exception):
    """The other side is not one of ours. `reason` is a label of the metrics."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class PeerSecret:
    """The keys that are derived from the secret that all hosts share."""

    def __init__(self, text: str) -> None:
        derived = derive(text.encode(), b"", b"kasuwa peer secret")
        self.hello_key, self.record_key = derived[:KEY_BYTES], derived[KEY_BYTES:]


class SessionKeys(msgspec.Struct, frozen=True):
    """The keys of the records of one connection, one for each direction."""

    to_listener: bytes
    to_caller: bytes


def derive(secret: bytes, salt: bytes, purpose: bytes) -> bytes:
    """Returns two keys, one after the other."""
    return HKDF(algorithm=SHA256(), length=2 * KEY_BYTES, salt=salt, info=purpose).derive(secret)


class Handshake:
    """One side of a handshake. It is used once."""

    def __init__(self, secret: PeerSecret) -> None:
        self._secret = secret
        self._private_key = X25519PrivateKey.generate()
        self._body = BODY.pack(MAGIC, os.urandom(KEY_BYTES), self._private_key.public_key().public_bytes_raw())

    def call(self) -> bytes:
        """Returns the hello of the caller."""
        return self._body + self._sign(b"caller", b"", self._body)

    def answer(self, call: bytes) -> tuple[bytes, SessionKeys]:
        """Returns the hello of the listener, and the keys. Raises HandshakeError if the caller is not one of ours."""
        public_key = self._check(call, b"caller", b"")
        hello = self._body + self._sign(b"listener", call, self._body)
        return hello, self._agree(public_key, call + hello)

    def finish(self, call: bytes, answer: bytes) -> SessionKeys:
        """Returns the keys to the caller. Raises HandshakeError if the listener is not one of ours."""
        return self._agree(self._check(answer, b"listener", call), call + answer)

    def _sign(self, role: bytes, before: bytes, body: bytes) -> bytes:
        return hmac.digest(self._secret.hello_key, role + before + body, "sha256")

    def _check(self, hello: bytes, role: bytes, before: bytes) -> bytes:
        """Returns the public key in the hello of the other side."""
        body, mac = hello[: BODY.size], hello[BODY.size :]
        magic, _, public_key = BODY.unpack(body)
        if magic[:-1] != MAGIC[:-1]:
            raise HandshakeError("not a peer")
        if magic != MAGIC:
            raise HandshakeError("other version")
        if not hmac.compare_digest(mac, self._sign(role, before, body)):
            raise HandshakeError("other secret")
        return bytes(public_key)

    def _agree(self, public_key: bytes, transcript: bytes) -> SessionKeys:
        try:
            shared = self._private_key.exchange(X25519PublicKey.from_public_bytes(public_key))
        except ValueError:  # a key of low order, which would make the result known to everybody
            raise HandshakeError("not a peer") from None
        keys = derive(self._secret.record_key + shared, sha256(transcript).digest(), b"kasuwa peer records")
        return SessionKeys(keys[:KEY_BYTES], keys[KEY_BYTES:])
