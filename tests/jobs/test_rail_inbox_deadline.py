"""An entry of the inbox of rails whose rail does not answer holds up the others only until its deadline."""

import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from kasuwa.rails.inbox import processing
from kasuwa.rails.inbox.inbox_table import InboxEntry
from kasuwa.rails.inbox.processing import InboxServices, RailInbox


class SilentFeed:
    async def find_dispute(self, reference: str) -> None:
        await asyncio.Event().wait()


def test_an_entry_whose_rail_never_answers_is_left_to_its_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processing, "ENTRY_SECONDS", 0.1)
    unused: Any = None
    feeds: Any = {"paystack": SilentFeed()}
    services = InboxServices(unused, unused, unused, unused, {}, feeds, unused, unused)

    async def run() -> None:
        async with asyncio.timeout(60):
            await RailInbox(services)._run_entry(InboxEntry("paystack", "dispute", "d1", 1, ""))

    with capture_logs() as logs:
        asyncio.run(run())
    [entry] = logs
    assert (entry["event"], entry["reference"]) == (
        "an entry of the inbox of rails was given up at its deadline",
        "d1",
    )
