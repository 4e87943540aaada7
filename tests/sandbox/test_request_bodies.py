"""Bodies of the request log: nothing secret in them, everything else as it was sent, and encrypted at rest."""

import msgspec
import pytest

from kasuwa.core.keyring import UnsealError
from kasuwa.core.vault import Vault
from kasuwa.sandbox.request_bodies import MAX_BODY_BYTES, Bodies, clip_body, mask_body, open_bodies, seal_bodies
from kasuwa.wire.masking import SECRET_FIELDS

VAULT = Vault(bytes(32))
CARD = "5123450000000008"
# As long as the token of a link.
TOKEN = "q7Jd-" * 8 + "abc"
REFERENCE = "order-550e8400-e29b-41d4-a716-446655440000"


@pytest.mark.parametrize("name", sorted(SECRET_FIELDS))
def test_the_value_of_a_secret_field_is_hidden_wherever_it_is(name: str) -> None:
    for secret in ("7391", 7391, 73.91, {"inner": "7391"}, ["7391", {"x": 7391}]):
        body = msgspec.json.encode({"data": [{name.upper(): secret}], "amount": "10.00"})
        shown = mask_body(body)
        assert "7391" not in shown
        assert "73.91" not in shown
        assert '"amount":"10.00"' in shown


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (
            b'{"amount":10.50,"n":1e3,"big":123456789012345678901}',
            '{"amount":10.50,"n":1e3,"big":123456789012345678901}',
        ),
        (b'{"narration":"card 5123 4500 0000 0008 !"}', '{"narration":"card 512345******0008 !"}'),
        (b'{"x":5123450000000008,"y":[5123450000000008]}', '{"x":"512345******0008","y":["512345******0008"]}'),
        (b'{"5123450000000008":1}', '{"512345******0008":1}'),
        (b'{"code":"field_invalid"}', '{"code":"field_invalid"}'),
        (b'{"code":"4711abc"}', '{"code":"***"}'),
        (b'{"pin":null,"otp":"","cvv":true}', '{"pin":null,"otp":"","cvv":true}'),
        (b'{"ran":{"webhook":3,"disburse":1}}', '{"ran":{"webhook":3,"disburse":1}}'),
        (b'{"ran":{"webhook":"x","pin":1}}', '{"ran":{"webhook":"***","pin":"***"}}'),
        (b'{"webhook":3}', '{"webhook":"***"}'),
        (b"[1,2]", "[1,2]"),
        (b"", ""),
    ],
)
def test_what_is_no_secret_stays_as_it_was_sent(body: bytes, shown: str) -> None:
    assert mask_body(body) == shown


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"text": f"Follow https://console.example.com/link/{TOKEN} to sign in."}]},
        {"data": [{"html": f'<a href="/link/{TOKEN}">sign in</a>'}]},
        {"narration": TOKEN},
        {"receiptURL": f"https://pay.example.com/receipt/{TOKEN}?x=1"},
        {TOKEN: [TOKEN]},
    ],
)
def test_tokens_are_hidden_in_whatever_field_they_are(body: object) -> None:
    sent = msgspec.json.encode(body)
    assert TOKEN.encode() in sent
    for logged in (sent, sent[:-1]):
        assert TOKEN not in mask_body(logged)


@pytest.mark.parametrize("name", ["orderRef", "txnRef", "customer_txnref", "reference", "loan_id", "id"])
def test_a_reference_as_long_as_a_token_stays_as_it_was_sent(name: str) -> None:
    body = f'{{"{name}":"{REFERENCE}"}}'
    assert mask_body(body.encode()) == body


@pytest.mark.parametrize(
    "body",
    [
        b'{"card_no":"5123450000000008","pin":"7391"',
        b"card_no=5123450000000008&pin=7391",
        b"<pin>x</pin><n>5123450000000008</n> pin: 7391",
        b'{"pin" : 7391, "a": 5123450000000008',
        b'{"pin":"7391","card_no":"5123450000000008","narration":"\xff"}',
    ],
)
def test_what_is_not_json_is_masked_as_text(body: bytes) -> None:
    shown = mask_body(body)
    assert CARD not in shown
    assert "7391" not in shown


def test_of_a_long_or_compressed_body_only_its_length_is_kept() -> None:
    assert clip_body(bytes(MAX_BODY_BYTES)) == bytes(MAX_BODY_BYTES)
    assert mask_body(clip_body(bytes(MAX_BODY_BYTES + 1))) == "[32,769 bytes]"
    assert mask_body(clip_body(b"\x1f\x8b123")) == "[5 bytes]"


def test_bodies_open_for_their_request_and_merchant_alone() -> None:
    bodies = Bodies('{"a":1}', '{"status":200}')
    sealed = seal_bodies(VAULT, "GP1", "r1", bodies)
    assert b"status" not in sealed
    assert open_bodies(VAULT, "GP1", "r1", sealed) == bodies
    for mid, request_id in (("GP2", "r1"), ("GP1", "r2")):
        with pytest.raises(UnsealError):
            open_bodies(VAULT, mid, request_id, sealed)
    assert open_bodies(VAULT, "GP1", "r1", None) == Bodies()
