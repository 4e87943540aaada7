"""Call-backs of the rail protocol: `POST /rails/remote`, signed like requests."""

import time
from collections.abc import Callable

import msgspec

from kasuwa.core.references import parse_wire_reference
from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.ports.hints import Hint, make_hint
from kasuwa.rails.remote.messages import Callback
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, SignatureRefused, check_signature

PATH = "/rails/remote"
DECODER = msgspec.json.Decoder(Callback)


class RemoteCallbacks:
    """The call-backs of a rail. A call-back for an order makes the service ask for it, one for a credit is a hint."""

    accepted_body = b"{}"

    def __init__(self, secrets: tuple[RemoteSecret, ...], clock: Callable[[], float] = time.time) -> None:
        self._secrets = {secret.key_id: secret for secret in secrets}
        self._clock = clock

    def find_order(self, path: str, find_header: Callable[[str], str | None], body: bytes) -> str | None:
        signature = find_header(HEADER.lower())
        try:
            check_signature(signature, self._secrets, self._clock(), "POST", PATH, body)
        except SignatureRefused:
            raise CallbackRefused from None
        if path:
            raise CallbackRefused
        try:
            callback = DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return parse_wire_reference(callback.key) if callback.event == "order" else None


def read_hint(body: bytes) -> Hint | None:
    """Returns the credit that a call-back names, or None. Its signature was checked before."""
    try:
        callback = DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return make_hint("receipt", callback.rail_reference) if callback.event == "credit" else None
