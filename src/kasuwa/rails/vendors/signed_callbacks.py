"""Call-backs that a vendor signs: HMAC-SHA-512 of the raw body with our secret key, in hexadecimal."""

import hmac
from collections.abc import Callable
from hashlib import sha512

import msgspec

from kasuwa.rails.ports.callbacks import CallbackRefused


class SignedCallbacks:
    """The call-backs of one vendor. `read` returns the rail key that a body names, and may raise DecodeError. With
    `is_optional` one without a signature is accepted."""

    accepted_body = b"{}"

    def __init__(
        self, secret_key: str, header: str, read: Callable[[bytes], str | None], *, is_optional: bool = False
    ) -> None:
        self._secret_key = secret_key.encode()
        self._header = header
        self._read = read
        self._is_optional = is_optional

    def find_order(self, path: str, find_header: Callable[[str], str | None], body: bytes) -> str | None:
        expected, signature = hmac.new(self._secret_key, body, sha512).hexdigest(), find_header(self._header)
        is_signed = hmac.compare_digest(expected.encode(), (signature or "").encode())
        if path or not (is_signed or (self._is_optional and signature is None)):
            raise CallbackRefused
        try:
            return self._read(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
