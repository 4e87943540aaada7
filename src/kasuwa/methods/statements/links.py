"""Sealed bytes as text in a URL, in base64 without padding."""

from base64 import urlsafe_b64decode, urlsafe_b64encode


def encode_link(sealed: bytes) -> str:
    return urlsafe_b64encode(sealed).decode().rstrip("=")


def decode_link(text: str) -> bytes | None:
    """Returns the sealed bytes of a text, or None if `encode_link` does not make this text of them."""
    try:
        sealed = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return None
    # Decoding ignores other characters and the last bits: several texts would open one link.
    return sealed if encode_link(sealed) == text else None
