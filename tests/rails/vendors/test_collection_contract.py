"""The collection rails of vendors against the contract that every adapter must pass."""

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, payment_reference, rail_key, wire_reference
from kasuwa.outbound.egress import EgressClient
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder, CollectionRail, VendorToken
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.monnify_collection import MonnifyCollectionRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import Twin, TwinThread
from kasuwa.rails.vendors.client import VendorClient
from kasuwa.rails.vendors.monnify.collection import MonnifyCollection
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.paystack import transfers
from kasuwa.rails.vendors.paystack.collection import PaystackCollection
from kasuwa.rails.watch.transport import RAIL_LIMITS, EgressTransport
from tests.rails.collection_contract import (
    Payer,
    check_lost_begin,
    check_lost_page,
    check_lost_refund,
    check_lost_saved_card,
    check_nothing_proved,
)
from tests.rails.vendors.adapters import Observed
from tests.rails.vendors.collections import DAY, DOMAIN, order


class LosingRail:
    """A rail whose answers to orders that are marked are lost after the vendor has taken them."""

    def __init__(self, rail: CollectionRail, twin: Twin) -> None:
        self._rail = rail
        self._twin = twin
        self.marked: set[str] = set()

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return await self._send(order, self._rail.begin(order, card))

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return await self._send(order, self._rail.charge(order, card))

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        return await self._send(order, self._rail.validate(order, otp))

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return await self._rail.query(order, card)

    async def refund(self, order: CollectionOrder) -> Answer:
        return await self._send(order, self._rail.refund(order))

    async def query_refund(self, order: CollectionOrder) -> Answer:
        return await self._rail.query_refund(order)

    async def _send(self, order: CollectionOrder, call: Coroutine[Any, Any, Answer]) -> Answer:
        if order.key in self.marked:
            self._twin.add_fault("lose", method="POST")
        return await call


class VendorHarness:
    """A vendor's rail and its twin. A vendor takes a key once, so that a lost order has a key of its own."""

    right_otp = "123456"
    wrong_otp = "000000"

    def __init__(self, name: str, rail: LosingRail, loop: asyncio.AbstractEventLoop, rules: Any) -> None:
        self.name = name
        self.rail: CollectionRail = rail
        self.marked = rail.marked  # keys of orders whose answers are lost
        self.rules = rules
        self._loop = loop
        self._count = 0
        self._token: VendorToken | None = None

    def order(self, payer: Payer) -> CollectionOrder:
        self._count += 1
        key = rail_key(7, payment_reference(self._count, DAY))
        made = order(payer.method, key=key, payer=payer.account, provider=payer.provider, vendor=self.name)
        return msgspec.structs.replace(made, saved_card=self._token) if payer.method == "token" else made

    def run(self, call: Coroutine[Any, Any, Answer]) -> Answer:
        return self._loop.run_until_complete(call)

    def losing(self, order: CollectionOrder) -> CollectionOrder:
        number = int(order.key.split(" GP")[1][:9]) + 500
        key = rail_key(7, payment_reference(number, DAY))
        self.marked.add(key)
        return msgspec.structs.replace(order, key=key)

    def asked(
        self, order: CollectionOrder, step: str, card: CardSecrets | None, otp: str | None = ""
    ) -> CollectionOrder:
        return msgspec.structs.replace(order, step=step, age_seconds=60)

    def pay_card(self) -> CollectionOrder:
        """Has a payer pay by card, and keeps the card. Returns the payment."""
        paid = self.order(Payer())
        begun = self.run(self.rail.begin(paid, None))
        self.rules.pay(wire_reference(paid.key))
        known = msgspec.structs.replace(paid, session=begun.facts["session"])
        answer = self.run(self.rail.query(known, None))
        assert answer.card is not None
        self._token = answer.card.token
        return msgspec.structs.replace(known, rail_facts=dict(answer.facts))


def make_paystack(twin: Twin, transport: EgressTransport) -> CollectionRail:
    async def find_bank_code(code: str) -> str | None:
        return code

    client = VendorClient("paystack", twin.url, transport, transfers.is_envelope, Observed())
    return PaystackCollection(client, "sk_test_1", "test", DOMAIN, find_bank_code)


@pytest.fixture(scope="module", params=["paystack", "monnify"])
def harness(request: pytest.FixtureRequest) -> Iterator[VendorHarness]:
    loop = asyncio.new_event_loop()
    with contextlib.ExitStack() as stack:
        stack.callback(loop.close)
        egress = EgressClient(environment="test", loopback_allowed=True, limits=RAIL_LIMITS)
        stack.callback(lambda: loop.run_until_complete(egress.close()))
        transport = EgressTransport(egress)
        if request.param == "paystack":
            paystack_rules = PaystackRules()
            rules: Any = PaystackCollectionRules(paystack_rules)
            twin = stack.enter_context(TwinThread(Twin(paystack_rules, rules)))
            rail = make_paystack(twin, transport)
        else:
            monnify_rules = MonnifyRules()
            rules = MonnifyCollectionRules(monnify_rules)
            twin = stack.enter_context(TwinThread(Twin(monnify_rules, rules)))
            keys = MonnifyKeys("MK_TEST_1", "secret-1", "8016472829", rules.contract_code)
            rail = MonnifyCollection(transport, twin.url, keys, Observed(), DOMAIN)
        yield VendorHarness(request.param, LosingRail(rail, twin), loop, rules)


def test_a_lost_begin_is_found_with_what_the_payer_must_do(harness: VendorHarness) -> None:
    found = check_lost_begin(harness, Payer("bank_transfer"))
    assert (found.status, found.facts["auth"]) == (orders.CHALLENGE, "device")
    assert found.facts["account_number"]


@pytest.mark.parametrize("harness", ["paystack"], indirect=True)
@pytest.mark.parametrize(
    ("payer", "auth"),
    [
        (Payer("account", account="0123456701", provider="058"), "OTP"),
        (Payer("account", account="0123456703", provider="058"), "redirect"),
        (Payer("ussd", provider="gtb"), "ussd"),
    ],
)
def test_lost_charges_of_paystack_are_found(harness: VendorHarness, payer: Payer, auth: str) -> None:
    assert check_lost_begin(harness, payer).facts["auth"] == auth


def test_a_lost_page_fails(harness: VendorHarness) -> None:
    assert check_lost_page(harness, Payer("card")).status == orders.FAILED


def test_a_lost_charge_of_a_saved_card_is_found(harness: VendorHarness) -> None:
    harness.pay_card()
    assert check_lost_saved_card(harness, Payer("token")).status == orders.SUCCESSFUL


def test_a_page_that_nobody_has_paid_on_is_never_successful(harness: VendorHarness) -> None:
    check_nothing_proved(harness, Payer("card"), orders.BEGIN)


def test_a_lost_refund_is_found(harness: VendorHarness) -> None:
    paid = harness.pay_card()
    key = rail_key(7, movement_reference("RF", 1, DAY))
    harness.marked.add(key)
    refund = msgspec.structs.replace(paid, key=key, refund_of=paid.key, amount=50_000, step="", age_seconds=0)
    check_lost_refund(harness, Payer("card"), refund)
