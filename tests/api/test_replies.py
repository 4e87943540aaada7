"""How much is read, and what every reply carries whatever it answers. (Contract: #paths, #replies, #http)"""

import re
from typing import Any

import pytest

import kasuwa
from kasuwa.postgres.migrate import newest_known_version
from tests.merchant_client import HttpConnection, MerchantClient, RawReply
from tests.running import Deployment
from tests.walk.bounds import BODY

WALLET = b'{"inquire":"wallet"}'
KIB = 1024


# --- how much: 413 ------------------------------------------------------------------------------------------


def wallet_body(size: int) -> bytes:
    return b'{"inquire":"wallet","z":"' + b"x" * (size - 27) + b'"}'


def in_pieces(body: bytes) -> Any:
    return (body[at : at + 16 * KIB] for at in range(0, len(body), 16 * KIB))


@pytest.mark.parametrize("size", [1024 * KIB, 8 * 1024 * KIB])
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_a_body_over_its_bound_is_413(shop: MerchantClient, size: int, chunked: bool) -> None:
    body = wallet_body(size)
    reply = shop.send("resources", in_pieces(body) if chunked else body)
    assert (reply.http, reply.body["status"]) == (413, 103)
    assert reply.body["message"]


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_a_body_up_to_its_bound_is_read(shop: MerchantClient, chunked: bool) -> None:
    for size, is_within in BODY.sides:
        body = wallet_body(size)
        assert len(body) == size
        reply = shop.send("resources", in_pieces(body) if chunked else body)
        assert (reply.http, reply.body["status"]) == ((200, 200) if is_within else (413, 103)), size


# --- what every reply carries -------------------------------------------------------------------------------

OURS = re.compile(r"[A-Za-z0-9._-]{8,64}")


def replies(wire: HttpConnection, shop: MerchantClient, headers: dict[str, str]) -> list[RawReply]:
    """One of each kind: answered, refused, unknown, plain."""
    return [
        wire.send("PUT", "/resources", WALLET, shop.headers | headers),
        wire.send("PUT", "/resources", b"garbage", shop.headers | headers),
        wire.send("PUT", "/resources", WALLET, headers),
        wire.send("PUT", "/nothing", WALLET, headers),
        wire.send("GET", "/resources", headers=headers),
        wire.send("GET", "/healthz", headers=headers),
        wire.send("GET", "/readyz", headers=headers),
        wire.send("GET", "/openapi.json", headers=headers),
    ]


def test_every_reply_is_json_with_a_version_and_a_request_id_of_its_own(shop: MerchantClient) -> None:
    received = replies(shop.connection, shop, {})
    assert {reply.headers["content-type"] for reply in received} == {"application/json"}
    assert {reply.headers["x-api-version"] for reply in received} == {"1"}
    ids = [reply.headers["x-request-id"] for reply in received]
    assert all(OURS.fullmatch(value) for value in ids)
    assert len(set(ids)) == len(ids)


def test_a_request_id_is_handed_back(shop: MerchantClient) -> None:
    received = replies(shop.connection, shop, {"x-request-id": "mine_1.2-3"})
    assert {reply.headers["x-request-id"] for reply in received} == {"mine_1.2-3"}


@pytest.mark.parametrize("text", ["", "a b", "x" * 65, "<script>", "é", "a\tb", '"'])
def test_a_request_id_that_is_none_is_replaced(shop: MerchantClient, text: str) -> None:
    given = shop.send("resources", WALLET, headers={"x-request-id": text}).headers["x-request-id"]
    assert OURS.fullmatch(given)


def test_health_and_readiness_need_no_key(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        for path in ("/healthz", "/readyz"):
            reply = wire.send("GET", path)
            assert (reply.http, reply.body["status"]) == (200, 200)
            assert wire.send("HEAD", path).http == 200


def test_readiness_names_the_environment_version_and_schema_in_test(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        body = wire.send("GET", "/readyz").body
    assert body == {
        "status": 200,
        "message": "ready",
        "environment": "test",
        "version": kasuwa.__version__,
        "schema": newest_known_version(),
    }
