"""The bodies of a request and its reply as the request log has them: without secrets, and encrypted in the database."""

import os
import re
import zlib
from typing import Any

import msgspec

from kasuwa.core.row_codes import OPERATOR_ID
from kasuwa.core.vault import NONCE_BYTES, Vault
from kasuwa.methods.sealed_columns import request_bodies_aad
from kasuwa.webhooks.response_excerpt import make_excerpt
from kasuwa.wire.masking import HIDDEN, SECRET_FIELDS, SHORTEST, hide_tokens, mask_card_numbers

# Of a longer body only the length is kept.
MAX_BODY_BYTES = 32 * 1024
GZIP_MARK = b"\x1f\x8b"
# The code of an error. Codes that open something have digits or capitals.
ERROR_CODE = re.compile(r"[a-z]+(_[a-z]+)+")
# Fields that name something, which must be found again: a reference may be as long as a token.
REFERENCE_NAME = re.compile(r"(?:.*_)?id|.*ref(?:erence)?", re.IGNORECASE)
# Numbers from here on may be those of cards.
LARGE = 10**12
# A reply of `advance` has in this field the numbers of jobs that ran, by kind. One kind has the name of a secret field.
JOB_COUNTS, SECRET_KIND = "ran", "webhook"


class Bodies(msgspec.Struct, frozen=True):
    """The body of a request and that of its reply, as text."""

    sent: str = ""
    answered: str = ""


def keep_literal(number: str) -> msgspec.Raw:
    """Keeps a number as it was written: 10.50 stays 10.50."""
    return msgspec.Raw(number.encode())


DECODER = msgspec.json.Decoder(float_hook=keep_literal)


def clip_body(body: bytes) -> bytes:
    """Returns a body, or what the log says of one that is too long or compressed."""
    return f"[{len(body):,} bytes]".encode() if len(body) > MAX_BODY_BYTES or body.startswith(GZIP_MARK) else body


def mask_body(body: bytes) -> str:
    """Returns a body without secrets. What is not JSON is cut and masked as text."""
    try:
        return msgspec.json.encode(mask_value(DECODER.decode(body))).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OverflowError):
        return hide_tokens(make_excerpt(body, ()))


def mask_value(value: Any, name: str = "", is_secret: bool = False) -> Any:
    """Returns a value of JSON with everything hidden that is below a secret field, and tokens wherever they are."""
    if isinstance(value, dict):
        return {
            mask_text(key): mask_value(inner, key, is_secret or names_secret(name, key, inner))
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [mask_value(inner, name, is_secret) for inner in value]
    if value is None or isinstance(value, bool) or value == "":
        return value
    if is_secret:
        is_error = name == "code" and isinstance(value, str) and ERROR_CODE.fullmatch(value) is not None
        return value if is_error else HIDDEN
    if isinstance(value, str):
        return mask_card_numbers(value) if REFERENCE_NAME.fullmatch(name) else mask_text(value)
    if isinstance(value, int) and abs(value) >= LARGE:
        masked = mask_card_numbers(str(value))
        return keep_literal(masked) if masked == str(value) else masked
    return value


def names_secret(place: str, key: str, value: Any) -> bool:
    """Returns whether a field of an object has a secret, by its name. `place` is the name of the object."""
    is_count = (place, key) == (JOB_COUNTS, SECRET_KIND) and type(value) is int
    return key.lower() in SECRET_FIELDS and not is_count


def mask_text(text: str) -> str:
    """Returns a text without tokens, such as that of a link that lets its reader in, and with masked card numbers."""
    return text if len(text) < SHORTEST else hide_tokens(mask_card_numbers(text))


def seal_bodies(vault: Vault, mid: str, request_id: str, bodies: Bodies) -> bytes:
    packed = zlib.compress(msgspec.json.encode(bodies), 1)
    return vault.seal(OPERATOR_ID, request_bodies_aad(mid, request_id), packed, os.urandom(NONCE_BYTES))


def open_bodies(vault: Vault, mid: str, request_id: str, sealed: bytes | None) -> Bodies:
    if sealed is None:
        return Bodies()
    packed = vault.unseal(OPERATOR_ID, request_bodies_aad(mid, request_id), sealed)
    return msgspec.json.decode(zlib.decompress(packed), type=Bodies)
