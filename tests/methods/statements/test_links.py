"""Sealed bytes as text in a URL: each link has one text."""

import pytest

from kasuwa.methods.statements.links import decode_link, encode_link


@pytest.mark.parametrize("length", range(1, 7))
def test_only_the_text_that_was_made_is_read(length: int) -> None:
    sealed = bytes(range(200, 200 + length))
    text = encode_link(sealed)
    assert decode_link(text) == sealed
    others = [f"{text[:-1]}{sign}" for sign in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"]
    assert [other for other in others if decode_link(other) == sealed] == [text]
    for other in (f"{text}=", f"{text} ", f"{text}!", f"!{text}", f"{text}\n"):
        assert decode_link(other) is None
