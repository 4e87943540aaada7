"""Call-backs about money, disputes and settlements, and the vendors' lists of them."""

import asyncio
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.rails.ports.hints import Hint
from kasuwa.rails.ports.orders import NoAnswer, Unavailable, UnreadableAnswer
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.vendors.monnify import hints as monnify_hints
from kasuwa.rails.vendors.monnify.accounts import MonnifyAccounts
from kasuwa.rails.vendors.monnify.feeds import MonnifyFeeds, sum_settlement
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.paystack import hints as paystack_hints
from kasuwa.rails.vendors.paystack.feeds import PaystackFeeds, read_dispute, read_settlement, read_time
from kasuwa.rails.vendors.paystack.transfers import PaystackKeys
from tests.rails.vendors.adapters import Observed, twin_of
from tests.rails.vendors.test_monnify_accounts import order

KEY = rail_key(12, movement_reference("PA", 123_456_789, date(2026, 1, 5)))
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
EMAIL = f"{wire_reference(KEY)}@pay.example.com"


@pytest.mark.parametrize(
    ("event", "data", "hint"),
    [
        ("charge.success", {"channel": "dedicated_nuban", "reference": "17000"}, Hint("receipt", "17000")),
        ("charge.success", {"channel": "card", "reference": "17000"}, None),
        ("charge.success", {"channel": "dedicated_nuban", "reference": ""}, None),
        ("charge.success", {"channel": "dedicated_nuban", "reference": "x" * 201}, None),
        ("charge.dispute.create", {"id": 358950}, Hint("dispute", "358950")),
        ("charge.dispute.remind", {"id": 358950}, Hint("dispute", "358950")),
        ("charge.dispute.resolve", {"id": 358950}, Hint("dispute", "358950")),
        ("dedicatedaccount.assign.success", {"customer": {"email": EMAIL}}, Hint("account", KEY)),
        ("customeridentification.failed", {"email": EMAIL}, Hint("account", KEY)),
        ("dedicatedaccount.assign.failed", {"customer": {"email": "somebody@else.com"}}, None),
        ("transfer.success", {"reference": wire_reference(KEY)}, None),
        ("charge.success", {"channel": 5}, None),
    ],
)
def test_hints_of_paystack(event: str, data: dict[str, Any], hint: Hint | None) -> None:
    assert paystack_hints.read_hint(msgspec.json.encode({"event": event, "data": data})) == hint


@pytest.mark.parametrize(
    ("event", "data", "hint"),
    [
        (
            "SUCCESSFUL_TRANSACTION",
            {"product": {"type": "RESERVED_ACCOUNT"}, "transactionReference": "MNFY|1"},
            Hint("receipt", "MNFY|1"),
        ),
        ("SUCCESSFUL_TRANSACTION", {"product": {"type": "WEB_SDK"}, "transactionReference": "MNFY|1"}, None),
        ("SETTLEMENT", {"settlementReference": "STL-1"}, Hint("settlement", "STL-1")),
        ("SUCCESSFUL_DISBURSEMENT", {"reference": wire_reference(KEY)}, None),
        ("SETTLEMENT", {}, None),
    ],
)
def test_hints_of_monnify(event: str, data: dict[str, Any], hint: Hint | None) -> None:
    assert monnify_hints.read_hint(msgspec.json.encode({"eventType": event, "eventData": data})) == hint


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"event":1}', b'{"eventType":1}', b'{"event":"\xff","eventType":"\xff"}']
)
def test_bodies_that_cannot_be_read_are_no_hints(body: bytes) -> None:
    assert paystack_hints.read_hint(body) is None
    assert monnify_hints.read_hint(body) is None


def test_disputes_and_settlements_of_paystack() -> None:
    async def run() -> None:
        rules = PaystackRules()
        async with twin_of(rules) as (twin, transport):
            feeds = PaystackFeeds(transport, twin.url, PaystackKeys("sk_test_1"), Observed())
            assert (await feeds.list_disputes(SINCE), await feeds.find_dispute("5")) == ([], None)
            for _ in range(8):
                rules.accounts.dispute("17000", 90_000)
            listed = await feeds.list_disputes(SINCE)
            assert len({dispute.dispute_id for dispute in listed}) == 8
            found = await feeds.find_dispute(listed[0].dispute_id)
            assert found == listed[0]
            assert found is not None
            assert (found.amount, found.payment_reference, found.is_resolved) == (90_000, "17000", False)
            assert found.due_at is not None
            rules.accounts.resolve(int(found.dispute_id), "declined")
            ended = await feeds.find_dispute(found.dispute_id)
            assert ended is not None
            assert (ended.is_resolved, ended.resolution) == (True, "declined")
            rules.accounts.settle_payments()
            [settlement] = await feeds.list_settlements(SINCE)
            settled_on = date.fromisoformat(rules.accounts.settlements[0]["settlement_date"][:10])
            assert (settlement.amount, settlement.fees, settlement.settled_on) == (-5000, 5000, settled_on)
            twin.add_fault("page", "/dispute")
            with pytest.raises(NoAnswer):
                await feeds.list_disputes(SINCE)
            twin.add_fault("bad_gateway", "/settlement")
            with pytest.raises(Unavailable):
                await feeds.list_settlements(SINCE)

    asyncio.run(run())


def test_settlement_of_monnify_is_the_sum_of_its_payments() -> None:
    keys = MonnifyKeys("MK_TEST_1", "secret-1", "8016472829", "4934121686")

    async def run() -> None:
        rules = MonnifyRules()
        async with twin_of(rules) as (twin, transport):
            accounts = MonnifyAccounts(transport, twin.url, keys, Observed())
            number = (await accounts.open(order())).facts["account_number"]
            for _ in range(8):
                rules.accounts.pay_into(number, Decimal("100.00"))
            rules.accounts.settle_payments("STL-1")
            feeds = MonnifyFeeds(transport, twin.url, keys, Observed())
            found = await feeds.find_settlement("STL-1")
            assert found is not None
            assert (found.gross, found.amount, found.fees, found.payments) == (80_000, 72_000, 8_000, 8)
            assert await feeds.find_settlement("STL-2") is None
            assert (await feeds.list_disputes(SINCE), await feeds.list_settlements(SINCE)) == ([], [])

    asyncio.run(run())


def test_forms_that_nobody_documents_are_not_recorded() -> None:
    assert read_dispute({"id": "x", "status": "pending"}) is None
    assert read_dispute({"id": 1}) is None
    assert read_settlement({"id": 1, "effective_amount": "5"}) is None
    with pytest.raises(UnreadableAnswer):
        sum_settlement("STL-1", [{"amountPaid": "1.00"}])


@pytest.mark.parametrize("text", [None, 5, "", "soon", "05/01/2026 10:30:00 AM"])
def test_time_that_cannot_be_read_is_none(text: Any) -> None:
    assert read_time(text) is None
