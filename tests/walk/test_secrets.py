"""Marked values (canaries) in every field, header and error path; then logs, metrics and a database dump are searched.

Free text of a merchant, such as a narration, is stored on purpose. These must not be found anywhere: keys in any
readable form, and the values of unknown fields and headers. Logs and metrics must contain nothing that was sent.
"""

import base64
import subprocess
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
import pytest
from msgspec import inspect

from kasuwa.postgres.embedded.programs import find_tool
from kasuwa.wire.decoding import MASKS, is_marked
from kasuwa.wire.documents import Document
from kasuwa.wire.field_errors import field_specs
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import ACTION_ROWS, example_paths, fields_of, value_at, with_fresh_references, with_value
from tests.webhooks.event_log import wait_until

# One process sends and searches for all of these tests.
pytestmark = pytest.mark.xdist_group("secrets")

# Values that people enter into the wrong field: a card, its CVV and PIN, an OTP, a BVN.
CARD = "5399831234567892"
LOOSE = {
    "card_no": CARD,
    "ccv": "739",
    "pin": "8264",
    "otp": "915073",
    "bvn": "22216789054",
    "secret": "canary-extra",
}

TEXT = "canary-5399839876543210-text"
# A card number as typed into a narration.
TYPED_CARD = "5399831234567895"
TYPED = f"typed {TYPED_CARD} here"
WRONG_KEY = "canary-wrong-key"
WRONG_MID = "canary-wrong-mid"
IDEMPOTENCY_KEY = "canary-idempotency-key"
IN_PATH = "canary-in-path"
API_TIME = b'kasuwa_part_cpu_seconds_total{part="api'


class Searched(NamedTuple):
    shop: MerchantClient
    rolled: str
    logs: bytes
    dump: bytes
    metrics: bytes


@pytest.fixture(scope="module")
def searched(deployments: Deployments) -> Searched:
    """Sends every canary once. Each test then searches for one kind."""
    deployment = deployments.for_version(NEWEST)
    shop = deployment.open_shop(name=TEXT)
    with shop.connection:
        send_everywhere(shop)
    rolled = deployment.run_command("merchant", "roll-key", shop.mid).split()[1]
    assert deployment.new_stderr() == ""
    assert deployment.broken_invariants([shop.mid]) == []
    logs = deployment.out.read_bytes() + deployment.err.read_bytes()
    logs += (deployments.cluster(NEWEST).directory / "postgres.log").read_bytes()
    return Searched(shop, rolled, logs, dump_of(deployment), metrics_of(deployment))


def send_everywhere(shop: MerchantClient) -> None:
    for row in ACTION_ROWS:
        extras = {name: value for name, value in LOOSE.items() if name not in row.example}
        fields = with_fresh_references(row, row.example)
        for headers in ({}, {"idempotency-key": IDEMPOTENCY_KEY}, {"key": WRONG_KEY}, {"mid": WRONG_MID}):
            shop.send_fields(row.method, {**fields, **extras, "nested": [extras]}, headers=headers)
        for field in fields_of(row):
            shop.send_fields(row.method, with_value(with_fresh_references(row, row.example), field.path, TEXT))
        for text in free_texts(row.action.request):
            shop.send_fields(row.method, with_value(with_fresh_references(row, row.example), text, TYPED))
        for path in example_paths(row.example, ()):
            if isinstance(value_at(row.example, path), str):
                shop.send(row.method, msgspec.json.encode(with_value(row.example, path, TEXT))[:-1])
    shop.send("disburse", TEXT.encode() + b"\xff")
    shop.send(f"{IN_PATH}?{IN_PATH}", b"{}")
    shop.send(f"disburse?{IN_PATH}", b"{}", headers={"x-sandbox-scenario": IN_PATH, "cookie": IN_PATH})


def free_texts(kind: type[msgspec.Struct], before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Returns the fields whose card numbers are masked, and one field of every object that is stored as a whole."""
    for plan in field_specs(kind):
        path = (*before, plan.wire_name)
        if any(is_marked(plan, mark) for mark, _ in MASKS):
            yield path
        for option in plan.accepted_types:
            inner = option.type if isinstance(option, inspect.Metadata) else option
            if isinstance(inner, inspect.StructType):
                yield from free_texts(inner.cls, path)
            elif isinstance(inner, inspect.CustomType) and issubclass(inner.cls, Document):
                yield (*path, "note")


def dump_of(deployment: Deployment) -> bytes:
    command = [str(find_tool("pg_dump")), "--dbname", deployment.dsn]
    return subprocess.run(command, capture_output=True, check=True).stdout


def metrics_of(deployment: Deployment) -> bytes:
    """Returns the metrics once they include all requests: the second of two scrapes began after the last one."""

    def scrape() -> bytes:
        with HttpConnection("127.0.0.1", deployment.metrics_port) as wire:
            return wire.send("GET", "/metrics").raw

    def api_time() -> list[bytes]:
        return [line for line in scrape().splitlines() if line.startswith(API_TIME)]

    seen = [api_time()]
    while len(seen) < 3:
        seen.append(wait_until("it is posted again", lambda: [now for now in [api_time()] if now != seen[-1]])[0])
    return scrape()


def spellings(secret: str) -> list[bytes]:
    """Returns the secret as text, as hexadecimal digits (as bytea is dumped) and as base64 at each of its three
    offsets."""
    raw = secret.encode()
    turned = [base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    return [raw, raw.hex().encode(), raw.hex().upper().encode(), *turned]


def hits(secret: str, where: bytes) -> list[bytes]:
    return [spelling for spelling in spellings(secret) if spelling in where]


def test_the_keys_of_a_merchant_are_not_in_the_database(searched: Searched) -> None:
    assert searched.shop.mid.encode() in searched.dump
    for key in (searched.shop.key, searched.rolled):
        assert hits(key, searched.dump) == []


def test_what_nobody_asked_for_is_not_in_the_database(searched: Searched) -> None:
    for canary in (*LOOSE.values(), WRONG_KEY, WRONG_MID, IDEMPOTENCY_KEY, IN_PATH):
        found = hits(canary, searched.dump) if len(canary) > 8 else []
        assert found == [], canary
    # A canary of a few digits would be found by chance in any dump, so these are searched as whole values.
    for canary in (value for value in LOOSE.values() if len(value) <= 8):
        assert f'"{canary}"'.encode() not in searched.dump


def test_a_card_number_typed_into_a_text_is_kept_masked(searched: Searched) -> None:
    assert hits(TYPED_CARD, searched.dump) == []
    assert hits(TYPED_CARD, searched.logs) == []
    assert b"typed 539983******7895 here" in searched.dump


def test_every_kind_of_request_with_texts_is_tried() -> None:
    tried = {row.title for row in ACTION_ROWS if list(free_texts(row.action.request))}
    assert {"disburse-transfer", "payment-refund", "clients-create", "virtualcard-create"} <= tried


def test_nothing_that_was_sent_is_in_the_logs(searched: Searched) -> None:
    assert b'"action":"transfer"' in searched.logs
    assert searched.shop.mid.encode() in searched.logs
    for canary in (searched.shop.key, searched.rolled, TEXT, CARD, WRONG_KEY, WRONG_MID, IDEMPOTENCY_KEY, IN_PATH):
        assert hits(canary, searched.logs) == []
    for canary in LOOSE.values():
        assert f'"{canary}"'.encode() not in searched.logs


def test_nothing_that_was_sent_is_in_the_metrics(searched: Searched) -> None:
    for canary in (searched.shop.key, searched.rolled, searched.shop.mid, TEXT, CARD, WRONG_KEY, WRONG_MID, IN_PATH):
        assert hits(canary, searched.metrics) == []
    for canary in (*LOOSE.values(), IDEMPOTENCY_KEY):
        assert f'"{canary}"'.encode() not in searched.metrics


def test_the_search_finds_what_is_there(searched: Searched) -> None:
    """Control: a narration is stored, and is found."""
    assert hits(TEXT, searched.dump) == [TEXT.encode()]
    assert hits("secret-key", b"c2VjcmV0LWtleQ== 7365637265742d6b6579") != []
