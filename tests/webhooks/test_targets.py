"""Secrets of endpoints that are read again while events are being sent."""

import asyncio
from typing import Any

import pytest

from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.observe.metrics import Metrics
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.webhooks import sender
from kasuwa.webhooks.sender import WebhookSender
from kasuwa.webhooks.targets import Target

ENDPOINT = (7, FIRST_ENDPOINT)


def test_an_attempt_signs_with_what_was_known_while_secrets_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> list[list[bytes]]:
        none: Any = None
        sending = WebhookSender("", none, none, "test", "service-hash", Metrics(), DatabaseClock())
        signed = []

        async def read(*_: Any) -> dict[tuple[int, int], Target]:
            if sending._targets:
                signed.append(sending._get_keys(ENDPOINT))
            return {ENDPOINT: Target("https://shop.example", [b"second" if signed else b"first"])}

        monkeypatch.setattr(sender, "read_targets", read)
        for now in (0.0, 1.0):
            await sending._read_targets(none, [ENDPOINT], now)
        return [*signed, sending._get_keys(ENDPOINT)]

    assert asyncio.run(run()) == [[b"first"], [b"second"]]
