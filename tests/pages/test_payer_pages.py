"""Payers' pages over the wire: found by their token or not at all, bounded, and absent from the log."""

import time
from collections.abc import Iterable

import msgspec
import pytest

from tests.merchant_client import ANSWER_SECONDS
from tests.running import POLL_SECONDS, Deployment

STRANGE = "/pay/Zz00Zz00Zz00Zz00Zz00Zz"


def test_a_token_that_nobody_was_given_is_a_page_that_says_so(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        for path in (STRANGE, f"{STRANGE}/qr.svg", f"{STRANGE}/state", "/pay/", "/pay/x"):
            reply = wire.send("GET", path)
            assert reply.http == 404
            assert reply.headers["content-type"] == "text/html; charset=utf-8"
            assert "default-src 'none'" in reply.headers["content-security-policy"]
            assert reply.headers["x-request-id"]
            assert b"Payment not found" in reply.raw


def test_a_form_for_nobody_changes_nothing(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        assert wire.send("POST", STRANGE, b"otp=123456&decision=approve").http == 404


@pytest.mark.parametrize("body", [b"x" * 5_000, [b"x" * 1_000] * 5], ids=["announced", "in pieces"])
def test_a_form_has_a_bound(deployment: Deployment, body: bytes | Iterable[bytes]) -> None:
    with deployment.connect() as wire:
        reply = wire.send("POST", STRANGE, body)
        assert (reply.http, reply.headers["connection"]) == (413, "close")


def test_what_only_looks_like_a_page_is_no_path(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        for path in ("/pay", "/payments/", "/Pay/x"):
            reply = wire.send("GET", path)
            assert (reply.http, reply.body["status"]) == (404, 102)


def test_the_log_does_not_know_a_pages_address(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        marked = wire.send("GET", STRANGE, headers={"x-request-id": "a-page-was-asked-for"})
    assert marked.headers["x-request-id"] == "a-page-was-asked-for"
    lines: list[str] = []
    until = time.monotonic() + ANSWER_SECONDS
    while not lines and time.monotonic() < until:
        lines = [line for line in deployment.out.read_text().splitlines() if "a-page-was-asked-for" in line]
        time.sleep(POLL_SECONDS)
    assert msgspec.json.decode(lines[0])["path"] == "/pay/"
    assert STRANGE not in deployment.out.read_text()
