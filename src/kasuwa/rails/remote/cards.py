"""Messages of the rail protocol about cards that were issued here: `POST /rails/remote/cards`.

The rail signs each message like a call-back, and Kasuwa signs its decision like an answer, bound to the message.
"""

import time
from collections.abc import Callable

import msgspec

from kasuwa.rails.ports.callbacks import CallbackRefused
from kasuwa.rails.remote.messages import CardMessage
from kasuwa.rails.remote.signing import HEADER, RemoteSecret, Signature, SignatureRefused, check_signature, sign

PATH = "/rails/remote/cards"
DECODER = msgspec.json.Decoder(CardMessage)


class UnreadableMessage(Exception):
    """Raised if a signed message has another form than documented. The text says which field is wrong."""


class RemoteCards:
    """Reads messages and signs decisions. `secrets` are the current one and, while it is being rolled, the one
    before."""

    def __init__(self, secrets: tuple[RemoteSecret, ...], clock: Callable[[], float] = time.time) -> None:
        self._secrets = {secret.key_id: secret for secret in secrets}
        self._clock = clock

    def check(self, find_header: Callable[[str], str | None], body: bytes) -> Signature:
        """Returns the signature of a message. Raises CallbackRefused if it is not right."""
        try:
            return check_signature(find_header(HEADER.lower()), self._secrets, self._clock(), "POST", PATH, body)
        except SignatureRefused:
            raise CallbackRefused from None

    def read(self, body: bytes) -> CardMessage:
        """Returns a message whose signature was checked. Raises UnreadableMessage."""
        try:
            message = DECODER.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:  # the second for invalid UTF-8 within a text
            raise UnreadableMessage(str(error)) from None
        fault = find_fault(message)
        if fault:
            raise UnreadableMessage(fault)
        return message

    def sign(self, request: Signature, status: int, body: bytes) -> tuple[str, str]:
        """Returns the header that signs a decision, with the secret of its message."""
        secret = self._secrets[request.key_id]
        return HEADER, str(sign(secret, int(self._clock()), str(status), request.digest, body))


def find_fault(message: CardMessage) -> str:
    """Returns what a message lacks, or "" if it has all that its event needs."""
    is_new = message.event in ("authorize", "purchase")
    if is_new and not (message.card_number and message.currency):
        return "card_number and currency are required"
    if not is_new and not message.original_key:
        return "original_key is required"
    takes_money = message.event in ("purchase", "capture", "refund")
    return "amount must be above zero" if takes_money and not message.amount else ""
