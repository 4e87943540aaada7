"""An encrypted connection between processes of two hosts, below the frames.

A SecureChannel is the protocol of a TCP connection and the transport of a FrameConnection, which knows nothing of it.
It makes the handshake (handshake.py), then carries bytes in records: the length, and the ciphertext by AES-256-GCM. The
nonce is the number of the record in its direction, so a record that is repeated, left out or moved does not decrypt.
What does not decrypt ends the connection.

Before the other side is authenticated, no more than a hello and an empty record are read, within HANDSHAKE_SECONDS.
"""

import asyncio
from collections.abc import Callable
from struct import Struct
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from kasuwa.owners.handshake import HELLO_BYTES, Handshake, HandshakeError, PeerSecret, SessionKeys

LENGTH = Struct("!I")
TAG_BYTES = 16
NONCE_BYTES = 12
# Long frames are divided into records of this size.
MAX_PLAIN_BYTES = 256 * 1024
HANDSHAKE_SECONDS = 5.0
# The reason for which a connection is refused that did not finish its handshake in time.
NO_HANDSHAKE = "no handshake"


class RecordCipher:
    """Encrypts or decrypts the records of one direction, in their order."""

    def __init__(self, key: bytes) -> None:
        self._cipher = AESGCM(key)
        self._number = 0

    def _next_nonce(self) -> bytes:
        self._number += 1
        return self._number.to_bytes(NONCE_BYTES, "big")

    def encrypt(self, plain: bytes) -> bytes:
        """Returns the record: its length, which is authenticated too, and the ciphertext."""
        length = LENGTH.pack(len(plain) + TAG_BYTES)
        return length + self._cipher.encrypt(self._next_nonce(), plain, length)

    def decrypt(self, length: bytes, encrypted: bytes) -> bytes:
        """Raises InvalidTag if this is not the next record of the other side."""
        return self._cipher.decrypt(self._next_nonce(), encrypted, length)


class SecureChannel(asyncio.Protocol):
    """One end of an encrypted connection. `inner` is connected when the other side is authenticated; its
    `connection_lost` is called also if it never was. `on_refused(reason)` is called if the other side is not one of
    ours."""

    def __init__(
        self, inner: asyncio.Protocol, secret: PeerSecret, *, is_caller: bool, on_refused: Callable[[str], None]
    ) -> None:
        self._inner = inner
        self._secret = secret
        self._is_caller = is_caller
        self._on_refused = on_refused
        self._transport: Any = None
        self._handshake: Handshake | None = None
        self._call = b""
        self._sending: RecordCipher | None = None
        self._receiving: RecordCipher | None = None
        self._received = bytearray()
        self._deadline: asyncio.TimerHandle | None = None
        self.is_open = False  # the other side is authenticated

    # --- the protocol of the TCP connection ----------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._deadline = asyncio.get_running_loop().call_later(HANDSHAKE_SECONDS, self._refuse, NO_HANDSHAKE)
        if self._is_caller:
            self._handshake = Handshake(self._secret)
            self._call = self._handshake.call()
            self._transport.write(self._call)

    def connection_lost(self, error: Exception | None) -> None:
        self._forget_deadline()
        self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        self._received += data
        try:
            if self._receiving is None and not self._receive_hello():
                return
            self._receive_records()
        except HandshakeError as error:
            self._refuse(error.reason)
        except InvalidTag:
            self._refuse("other record")

    def _receive_hello(self) -> bool:
        """Reads the hello of the other side. Returns whether it is complete."""
        if len(self._received) < HELLO_BYTES:
            return False
        hello = bytes(self._received[:HELLO_BYTES])
        del self._received[:HELLO_BYTES]
        if self._handshake is not None:
            self._use(self._handshake.finish(self._call, hello))
            # The first record proves to the listener that this hello is not an old one.
            self.write(b"")
            self._open()
        else:
            answer, keys = Handshake(self._secret).answer(hello)
            self._transport.write(answer)
            self._use(keys)
        return True

    def _use(self, keys: SessionKeys) -> None:
        own, other = keys.to_listener, keys.to_caller
        if not self._is_caller:
            own, other = other, own
        self._sending, self._receiving = RecordCipher(own), RecordCipher(other)

    def _open(self) -> None:
        self.is_open = True
        self._forget_deadline()
        self.on_authenticated()
        self._inner.connection_made(self)  # type: ignore[arg-type]

    def on_authenticated(self) -> None:
        """Called when the other side has proved that it knows the secret."""

    def _receive_records(self) -> None:
        start = 0
        while len(self._received) - start >= LENGTH.size and not self._transport.is_closing():
            head = bytes(self._received[start : start + LENGTH.size])
            (length,) = LENGTH.unpack(head)
            if length > TAG_BYTES + (MAX_PLAIN_BYTES if self.is_open else 0):
                raise HandshakeError("other record")
            end = start + LENGTH.size + length
            if len(self._received) < end:
                break
            encrypted = bytes(self._received[start + LENGTH.size : end])
            start = end
            assert self._receiving is not None, "set by the handshake"
            plain = self._receiving.decrypt(head, encrypted)
            if not self.is_open:
                self._open()
            elif plain:
                self._inner.data_received(plain)
        del self._received[:start]

    def _refuse(self, reason: str) -> None:
        self._received.clear()
        if not self._transport.is_closing():
            self._on_refused(reason)
            self._transport.abort()

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()

    # --- the transport of the frames -----------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        assert self._sending is not None, "set by the handshake"
        parts = range(0, max(len(data), 1), MAX_PLAIN_BYTES)
        self._transport.write(b"".join(self._sending.encrypt(data[n : n + MAX_PLAIN_BYTES]) for n in parts))

    def is_closing(self) -> bool:
        return bool(self._transport.is_closing())

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()
