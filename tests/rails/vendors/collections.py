"""The collection rails of vendors against their twins, and orders to try them with."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import msgspec

from kasuwa.core.references import movement_reference, payment_reference, rail_key, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import CollectionOrder, VendorToken
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.monnify_collection import MonnifyCollectionRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import Twin
from kasuwa.rails.vendors.client import VendorClient
from kasuwa.rails.vendors.monnify.collection import MonnifyCollection
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.paystack import transfers
from kasuwa.rails.vendors.paystack.collection import PaystackCollection
from tests.rails.vendors.adapters import Observed, twin_of

DAY = date(2026, 1, 5)
KEY = rail_key(12, payment_reference(123_456_789, DAY))
REFERENCE = wire_reference(KEY)
REFUND_KEY = rail_key(12, movement_reference("RF", 987_654_321, DAY))
REFUND_REFERENCE = wire_reference(REFUND_KEY)
DOMAIN = "payers.example.com"
EMAIL = "ada@example.com"


def order(method: str = "card", **changes: Any) -> CollectionOrder:
    """An order that begins a payment."""
    begun = CollectionOrder(
        key=KEY,
        method=method,
        amount=150_000,
        currency="NGN",
        step=orders.BEGIN,
        vendor="vendor",
        merchant_name="Ada Stores",
        expires_at=datetime.now(UTC) + timedelta(minutes=10),
        sent_at=datetime.now(UTC),
        age_seconds=60,
    )
    return msgspec.structs.replace(begun, **changes)


def token_order(vendor: str, token: str, email: str, number: int = 7, **changes: Any) -> CollectionOrder:
    """An order that charges a saved card."""
    key = rail_key(12, payment_reference(number, DAY))
    return order("token", key=key, step=orders.CHARGE, saved_card=VendorToken(vendor, token, email), **changes)


def refund_order(amount: int = 150_000, **changes: Any) -> CollectionOrder:
    return order(key=REFUND_KEY, refund_of=KEY, step="", amount=amount, age_seconds=0, **changes)


class PaystackHarness:
    """The adapter and its vendor."""

    def __init__(self, twin: Twin, rules: PaystackCollectionRules, rail: PaystackCollection) -> None:
        self.twin, self.rules, self.rail = twin, rules, rail

    async def pay_card(self, **changes: Any) -> orders.Answer:
        """Has a payer pay by card on the page."""
        begun = await self.rail.begin(order(**changes), None)
        self.rules.pay(REFERENCE)
        return await self.rail.query(order(session=begun.facts["session"], **changes), None)


class MonnifyHarness:
    """The adapter and its vendor."""

    def __init__(self, twin: Twin, rules: MonnifyCollectionRules, rail: MonnifyCollection, bank: MonnifyRules) -> None:
        self.twin, self.rules, self.rail, self.bank = twin, rules, rail, bank

    async def pay_card(self) -> orders.Answer:
        """Has a payer pay by card on the page."""
        begun = await self.rail.begin(order(), None)
        self.rules.pay(REFERENCE)
        return await self.rail.query(order(session=begun.facts["session"]), None)


def at_paystack(work: Callable[[PaystackHarness], Awaitable[Any]], secret_key: str = "sk_test_1") -> Any:
    async def find_bank_code(code: str) -> str | None:
        return {"058": "058", "044": "044"}.get(code)

    async def run() -> Any:
        rules = PaystackRules()
        collection = PaystackCollectionRules(rules)
        async with twin_of(rules, collection) as (twin, transport):
            client = VendorClient("paystack", twin.url, transport, transfers.is_envelope, Observed())
            rail = PaystackCollection(client, secret_key, "test", DOMAIN, find_bank_code)
            return await work(PaystackHarness(twin, collection, rail))

    return asyncio.run(run())


def at_monnify(work: Callable[[MonnifyHarness], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        rules = MonnifyRules()
        collection = MonnifyCollectionRules(rules)
        keys = MonnifyKeys(rules.api_key, rules.secret_key, rules.wallet_account, collection.contract_code)
        async with twin_of(rules, collection) as (twin, transport):
            rail = MonnifyCollection(transport, twin.url, keys, Observed(), DOMAIN)
            return await work(MonnifyHarness(twin, collection, rail, rules))

    return asyncio.run(run())
