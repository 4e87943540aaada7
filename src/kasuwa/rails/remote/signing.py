"""Signatures of the rail protocol, in one header for requests, answers and call-backs.

    Kasuwa-Signature: t=1767225600,k=key-1,v1=<64 hexadecimal digits>

`t` is the Unix time, `k` names the secret, and `v1` is the HMAC-SHA-256 of a few lines and the body:

    request, call-back    <t> LF <METHOD> LF <path> LF <body>
    answer                <t> LF <HTTP status> LF <v1 of the request> LF <body>

An answer is bound to its request, so that no answer can be used for another. (docs/rail-protocol.md)
"""

import hmac
import re
from collections.abc import Callable, Mapping
from hashlib import sha256
from urllib.parse import urlsplit

import msgspec

from kasuwa.rails.ports.transport import HttpReply, HttpTransport

HEADER = "Kasuwa-Signature"
SIGNATURE = re.compile(r"t=([0-9]{1,12}),k=([A-Za-z0-9._-]{1,64}),v1=([0-9a-f]{64})", re.ASCII)
# How far the clocks of the two sides may be apart.
WINDOW_SECONDS = 300

UNAUTHORIZED = 401


class RemoteSecret(msgspec.Struct, frozen=True):
    """A secret that both sides know, and its name."""

    key_id: str
    secret: str

    def __repr__(self) -> str:
        return f"RemoteSecret({self.key_id!r}, …)"


class Signature(msgspec.Struct, frozen=True):
    time: int
    key_id: str
    digest: str

    def __str__(self) -> str:
        return f"t={self.time},k={self.key_id},v1={self.digest}"


class SignatureRefused(Exception):
    """Raised if a signature is missing or wrong. The text says why, and quotes nothing."""


def sign(secret: RemoteSecret, time: int, first: str, second: str, body: bytes) -> Signature:
    """Signs two lines and a body: method and path, or status and the digest of the request."""
    text = f"{time}\n{first}\n{second}\n".encode() + body
    return Signature(time, secret.key_id, hmac.new(secret.secret.encode(), text, sha256).hexdigest())


def read_signature(text: str | None) -> Signature:
    match = SIGNATURE.fullmatch(text or "")
    if match is None:
        raise SignatureRefused("there is no signature" if not text else "the signature has another form")
    return Signature(int(match[1]), match[2], match[3])


def check_signature(
    text: str | None, secrets: Mapping[str, RemoteSecret], now: float, first: str, second: str, body: bytes
) -> Signature:
    """Returns the signature of a message. Raises SignatureRefused if it is not right, or too old or too new."""
    signature = read_signature(text)
    secret = secrets.get(signature.key_id)
    if secret is None:
        raise SignatureRefused("the secret that it names is not known")
    expected = sign(secret, signature.time, first, second, body)
    if not hmac.compare_digest(expected.digest, signature.digest):
        raise SignatureRefused("the signature is not that of the message")
    if abs(now - signature.time) > WINDOW_SECONDS:
        raise SignatureRefused("its time is more than five minutes from ours")
    return signature


class SignedTransport:
    """Signs requests with the first secret, and accepts answers signed with any of them.

    An answer without a right signature is not the rail's: it counts as one that broke off. Only a refusal of our own
    signature (HTTP 401) is accepted as it is, because a rail that does not know the secret cannot sign.
    """

    def __init__(
        self, transport: HttpTransport, base_url: str, secrets: tuple[RemoteSecret, ...], clock: Callable[[], float]
    ) -> None:
        self._transport = transport
        self._base_path = urlsplit(base_url).path.rstrip("/")
        self._current = secrets[0]
        self._secrets = {secret.key_id: secret for secret in secrets}
        self._clock = clock

    async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        path = urlsplit(url).path.removeprefix(self._base_path)
        signature = sign(self._current, int(self._clock()), method, path, body)
        reply = await self._transport.send(method, url, body, {**headers, HEADER: str(signature)})
        if reply.status == UNAUTHORIZED:
            return reply
        try:
            check_signature(
                reply.headers.get(HEADER),
                self._secrets,
                self._clock(),
                str(reply.status),
                signature.digest,
                reply.body,
            )
        except SignatureRefused:
            return msgspec.structs.replace(reply, is_complete=False)
        return reply
