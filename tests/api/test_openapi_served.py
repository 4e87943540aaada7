"""The OpenAPI documents over HTTP: both are served, compressed and cached, and name what the contract names."""

import asyncio
import gzip
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kasuwa.api.openapi.documents import BuiltOnce
from kasuwa.core.codes import ERROR_MEANINGS, STRICT_HTTP
from kasuwa.webhooks.signatures import service_hash
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.walk.openapi_documents import actions_document, json_of, paths_document
from tests.webhooks.event_log import send_events_to
from tests.webhooks.inbox import WAIT_TIMEOUT_SECONDS, Inbox, running_inbox

CONTRACT = Path(__file__).parents[2] / "docs" / "contract" / "README.md"
STATUS_ROW = re.compile(r"^\| (\d{3}) \| (.*) \|$", re.MULTILINE)
SERVED = {"/openapi.json": paths_document, "/openapi-actions.json": actions_document}


@pytest.mark.parametrize("path", SERVED)
def test_the_document_is_served_as_it_is_built(deployment: Deployment, path: str) -> None:
    with deployment.connect() as wire:
        received = wire.send("GET", path)
    assert received.http == 200
    assert received.headers["content-type"] == "application/json"
    assert received.body == SERVED[path]()


@pytest.mark.parametrize("path", SERVED)
def test_the_document_is_compressed_for_clients_that_accept_gzip(deployment: Deployment, path: str) -> None:
    with deployment.connect() as wire:
        plain = wire.send("GET", path)
        small = wire.send("GET", path, headers={"accept-encoding": "gzip"})
    assert small.headers["content-encoding"] == "gzip"
    assert gzip.decompress(small.raw) == plain.raw
    assert len(small.raw) * 4 < len(plain.raw)
    assert small.headers["vary"] == "accept-encoding"


@pytest.mark.parametrize("path", SERVED)
def test_a_client_that_has_the_document_gets_304(deployment: Deployment, path: str) -> None:
    with deployment.connect() as wire:
        etag = wire.send("GET", path).headers["etag"]
        for known in (etag, f'"other", {etag}', "*"):
            again = wire.send("GET", path, headers={"if-none-match": known})
            assert (again.http, again.raw, again.headers["etag"]) == (304, b"", etag)
        assert wire.send("GET", path, headers={"if-none-match": '"other"'}).http == 200


def test_the_two_documents_have_different_etags(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        assert len({wire.send("GET", path).headers["etag"] for path in SERVED}) == len(SERVED)


def test_a_document_is_read_with_get_alone(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        assert wire.send("PUT", "/openapi-actions.json", b"{}").body["status"] == 102
        assert wire.send("HEAD", "/openapi-actions.json").http == 200


def test_readers_share_one_build_that_does_not_hold_the_event_loop() -> None:
    """The build ends only after the loop has run on: on the loop, it would wait for nothing."""
    loop_ran, builds = threading.Event(), []

    def build() -> str:
        builds.append(loop_ran.wait(timeout=WAIT_TIMEOUT_SECONDS))
        return "document"

    async def read_thrice() -> list[str]:
        built = BuiltOnce(build)
        readers = [asyncio.create_task(built.read()) for _ in range(3)]
        await asyncio.sleep(0)
        readers[0].cancel()
        loop_ran.set()
        return [await readers[1], await readers[2], await built.read()]

    assert asyncio.run(read_thrice()) == ["document"] * 3
    assert builds == [True]


# --- the same as in the contract --------------------------------------------------------------------------------


def test_every_status_of_an_error_is_described_as_in_the_contract() -> None:
    rows = {int(status): meaning for status, meaning in STATUS_ROW.findall(CONTRACT.read_text())}
    assert {code: rows[code] for code in ERROR_MEANINGS} == ERROR_MEANINGS
    status = actions_document()["components"]["schemas"]["ErrorBody"]["properties"]["status"]
    assert status["enum"] == list(ERROR_MEANINGS)
    for code, meaning in ERROR_MEANINGS.items():
        assert f"{code}: {meaning}." in status["description"]


def test_every_http_status_of_the_contract_is_described() -> None:
    for item in actions_document()["paths"].values():
        if "put" in item:
            assert {*map(str, STRICT_HTTP.values()), "200", "429", "503"} <= set(item["put"]["responses"])


def test_replies_have_the_headers_that_are_described(shop: MerchantClient) -> None:
    responses = actions_document()["paths"]["/disburse#transfer"]["put"]["responses"]
    received = shop.send_fields("disburse", {"action": "verify", "txnRef": "unknown"})
    assert set(responses["200"]["headers"]) <= set(received.headers)


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def test_an_event_arrives_with_the_headers_and_fields_that_are_described(shop: MerchantClient, inbox: Inbox) -> None:
    document = actions_document()
    webhook = document["webhooks"]["transfer"]["post"]
    send_events_to(shop, inbox.url)
    shop.transfer()
    [letter] = inbox.wait_for(1)
    parameters = [
        document["components"]["parameters"][part["$ref"].rpartition("/")[2]] for part in webhook["parameters"]
    ]
    for header in parameters:
        assert re.search(header["schema"].get("pattern", "."), letter.headers[header["name"]])
    assert letter.headers["service-hash"] == service_hash(letter.body, shop.key.encode())
    reference = json_of(webhook["requestBody"])["schema"]["$ref"].rpartition("/")[2]
    described = document["components"]["schemas"][reference]
    assert set(described["required"]) <= set(letter.payload) <= set(described["properties"])
