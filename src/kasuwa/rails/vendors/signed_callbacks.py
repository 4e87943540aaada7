"""Call-backs that a vendor signs: HMAC-SHA-512 of the raw body with our secret key, in hexadecimal."""

import hmac
from collections.abc import Callable
from hashlib import sha512

import msgspec

from kasuwa.rails.callbacks import CallbackRefused


class SignedCallbacks:
    """The call-backs of one vendor. `read` returns the rail key that a body names, and may raise DecodeError."""

    accepted_body = b"{}"

    def __init__(self, secret_key: str, header: str, read: Callable[[bytes], str | None]) -> None:
        self._secret_key = secret_key.encode()
        self._header = header
        self._read = read

    def find_order(self, path: str, find_header: Callable[[str], str | None], body: bytes) -> str | None:
        expected = hmac.new(self._secret_key, body, sha512).hexdigest()
        if path or not hmac.compare_digest(expected.encode(), (find_header(self._header) or "").encode()):
            raise CallbackRefused
        try:
            return self._read(body)
        except msgspec.DecodeError:
            return None
