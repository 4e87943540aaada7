"""Disputes that a vendor announces, in live with its twin: it is asked before one ends, and its late word counts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.rails.vendors.live_accounts import AccountHarness, running
from tests.running import Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("live rails")


@pytest.fixture(scope="module")
def harness(deployments: Deployments) -> Iterator[AccountHarness]:
    with running(deployments, "live-disputes", "paystack") as harness:
        yield harness
        harness.compare_books()


def test_paystack_is_asked_before_an_overdue_dispute_ends_and_its_late_word_counts(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("overdue")
    harness.call_back("paystack", rules.pay_into(number, 95_000))
    harness.wait_for_booking(number, 95_000)
    event = rules.dispute(list(rules.payments)[-1], 95_000)
    at_vendor = list(rules.disputes)[-1]
    rules.disputes[at_vendor].due_at = datetime.now(UTC) + timedelta(seconds=1)
    own = "select sum(posted)::bigint from account where name in ('wallet:main:NGN', 'receivable:disputes:NGN')"

    def net() -> int:
        """Returns what the merchant has, less what it owes for disputes."""
        return int(harness.deployment.fetch(own)[0][0])

    before = net()
    harness.call_back("paystack", event)
    listing: dict[str, Any] = {"action": "disputes", "state": "needs_response"}
    opened = wait_until("the dispute is open", lambda: harness.shop.put("payment", **listing).body["data"])
    dispute_id = opened[0]["dispute_id"]

    def show() -> Any:
        return harness.shop.put("payment", action="dispute", dispute_id=dispute_id).body["data"]

    def run_its_job() -> None:
        harness.deployment.fetch(
            "update scheduled_job set due = now(), run_at = now() where reference = $1 and kind = 'dispute.ask'",
            dispute_id,
        )

    overdue = f"Nothing is taken until dispute {at_vendor} at paystack ends: awaiting-merchant-feedback"
    wait_until("the vendor was asked", lambda: any(overdue in text for text in harness.notices()))
    assert (show()["state"], net()) == ("needs_response", before)
    rules.disputes[at_vendor].status = "awaiting-bank-feedback"
    run_its_job()
    wait_until("it is under review", lambda: show()["state"] == "under_review")
    rules.resolve(at_vendor, "auto-accepted")  # the call-back is lost
    run_its_job()
    wait_until("it is lost", lambda: show()["state"] == "lost")
    harness.call_back("paystack", rules.resolve(at_vendor, "auto-accepted"))
    stored = "select 1 from rail_dispute where status = 'resolved'"
    wait_until("the resolution is stored", lambda: harness.deployment.fetch(stored))
    assert net() == before - 95_000 - 150_000 - 11_250
    harness.call_back("paystack", rules.resolve(at_vendor, "declined"))
    wait_until("it is won", lambda: show()["state"] == "won")
    assert net() == before
    assert [step["step"] for step in show()["timeline"]] == ["opened", "under_review", "lost", "won"]
    assert harness.deployment.broken_invariants([harness.shop.mid]) == []
