"""An order whose answer was lost, and each way in which its query can end: it is sent once, whatever the query says."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pytest

from kasuwa.core.references import movement_reference, rail_key, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, BillOrder, NoAnswer, TransferOrder
from kasuwa.rails.remote.bank import RemoteBank
from kasuwa.rails.remote.client import RemoteClient
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import Twin
from kasuwa.rails.twins.vtpass import VtpassRules
from kasuwa.rails.vendors.monnify.session import MonnifyKeys
from kasuwa.rails.vendors.monnify.transfers import MonnifyBank
from kasuwa.rails.vendors.paystack.transfers import PaystackBank, PaystackKeys, Recipient
from kasuwa.rails.vendors.vtpass.bills import VtpassBiller, VtpassKeys
from tests.rails.banks import GTBANK
from tests.rails.remote.example_rails import SECRET
from tests.rails.remote.test_remote_adapters import ScriptedRail
from tests.rails.vendors import collections
from tests.rails.vendors.adapters import Observed, twin_of

SENT_AT = datetime(2026, 1, 5, 9, tzinfo=UTC)
TRANSFER = TransferOrder(
    rail_key(12, movement_reference("FD", 123_456_789, date(2026, 1, 5))),
    150_000,
    "NGN",
    GTBANK,
    "0123456784",
    "Ada Stores",
    "Invoice 1042",
)
BILL = BillOrder(
    rail_key(12, movement_reference("BP", 123_456_789, SENT_AT.date())),
    "ikeja-electric",
    "ikeja-electric/prepaid",
    "electricity_token",
    "45012345678",
    500_000,
    "NGN",
    SENT_AT,
)


class LostOrder(msgspec.Struct):
    """An order at a vendor: how it is sent and asked after, where the vendor keeps it, and its path."""

    twin: Twin
    send: Callable[[], Awaitable[Answer]]
    query: Callable[[], Awaitable[Answer]]
    kept: dict[str, Any]  # the vendor's orders, by reference
    path: str
    success: str = "success"
    failure: str = "failed"


async def transfer_at_paystack(work: Callable[[LostOrder], Awaitable[None]]) -> None:
    rules = PaystackRules()
    async with twin_of(rules) as (twin, transport):
        rail = PaystackBank(transport, twin.url, PaystackKeys("sk_test_1"), "test", Observed())
        rail._recipients["058", "0123456784"] = Recipient("RCP_0580123456784", "ADA OBI")
        rules.recipients["RCP_0580123456784"] = ("058", "0123456784")
        await work(
            LostOrder(
                twin, lambda: rail.transfer(TRANSFER), lambda: rail.query(TRANSFER), rules.transfers, "/transfer$"
            )
        )


async def transfer_at_monnify(work: Callable[[LostOrder], Awaitable[None]]) -> None:
    rules = MonnifyRules()
    async with twin_of(rules) as (twin, transport):
        rail = MonnifyBank(transport, twin.url, MonnifyKeys("MK_TEST_1", "secret-1", "8016472829"), Observed())
        send, query = (lambda: rail.transfer(TRANSFER)), (lambda: rail.query(TRANSFER))
        path = "/api/v2/disbursements/single$"
        await work(LostOrder(twin, send, query, rules.transfers, path, "SUCCESS", "FAILED"))


async def bill_at_vtpass(work: Callable[[LostOrder], Awaitable[None]]) -> None:
    rules = VtpassRules(now=lambda: SENT_AT)
    async with twin_of(rules) as (twin, transport):
        keys = VtpassKeys("api-1", "PK_1", "SK_1")
        rail = VtpassBiller(transport, twin.url, keys, "08039999999", Observed(), rules.now)
        await work(LostOrder(twin, lambda: rail.pay(BILL), lambda: rail.query(BILL), rules.bills, "/pay$", "delivered"))


async def transfer_at_remote(work: Callable[[LostOrder], Awaitable[None]]) -> None:
    known = {"key": wire_reference(TRANSFER.key), "amount": 150_000, "currency": "NGN"}
    order = StoredOrder("successful")
    kept: dict[str, Any] = {known["key"]: order}  # type: ignore[dict-item]

    class Rail(ScriptedRail):
        async def answer(self, request: Any) -> Any:
            self.body = {"outcome": order.status, **known} if kept else {"outcome": "not_found", "key": known["key"]}
            return await super().answer(request)

    async with twin_of(Rail({})) as (twin, transport):
        rail = RemoteBank(RemoteClient(transport, twin.url, (SECRET,), Observed()))
        send, query = (lambda: rail.transfer(TRANSFER)), (lambda: rail.query(TRANSFER))
        await work(LostOrder(twin, send, query, kept, "/v1/transfers$", "successful"))


class StoredOrder(msgspec.Struct):
    status: str


ORDERS = {
    "paystack transfers": transfer_at_paystack,
    "monnify transfers": transfer_at_monnify,
    "vtpass bills": bill_at_vtpass,
    "remote transfers": transfer_at_remote,
}
# What the vendor knows when it is asked, in turn, and what the queries answer.
ENDS: dict[str, tuple[tuple[str, str], ...]] = {
    "success": (("success", orders.SUCCESSFUL),),
    "failure": (("failure", orders.FAILED),),
    "not found": (("hidden", orders.NOT_FOUND), ("hidden", orders.NOT_FOUND)),
    "not found, then success": (("hidden", orders.NOT_FOUND), ("success", orders.SUCCESSFUL)),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("adapter", ORDERS)
def test_lost_order_is_sent_once_whatever_its_query_says(adapter: str, end: str) -> None:
    async def work(lost: LostOrder) -> None:
        lost.twin.add_fault("lose", lost.path)
        with pytest.raises(NoAnswer):
            await lost.send()
        [(reference, stored)] = lost.kept.items()
        for state, expected in ENDS[end]:
            lost.kept.clear()
            if state != "hidden":
                stored.status = getattr(lost, state)
                lost.kept[reference] = stored
            assert (await lost.query()).status == expected
        sent = [found for found in lost.twin.requests if found.path == lost.path.removesuffix("$")]
        assert len(sent) == 1

    asyncio.run(ORDERS[adapter](work))


# --- payments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ENDS)
def test_lost_payment_at_paystack_is_sent_once_whatever_its_query_says(end: str) -> None:
    async def work(harness: collections.PaystackHarness) -> None:
        harness.twin.add_fault("lose", "/transaction/initialize")
        ordered = collections.order()
        with pytest.raises(NoAnswer):
            await harness.rail.begin(ordered, None)
        watched = msgspec.structs.replace(ordered, step="")
        await check_ends(harness, end, "success", lambda: harness.rail.query(watched, None))
        assert harness.twin.count("/transaction/initialize") == 1

    collections.at_paystack(work)


@pytest.mark.parametrize("end", ENDS)
def test_lost_payment_at_monnify_is_sent_once_whatever_its_query_says(end: str) -> None:
    async def work(harness: collections.MonnifyHarness) -> None:
        path = "/api/v1/merchant/transactions/init-transaction"
        harness.twin.add_fault("lose", path)
        ordered = collections.order()
        with pytest.raises(NoAnswer):
            await harness.rail.begin(ordered, None)
        watched = msgspec.structs.replace(ordered, step="")
        await check_ends(harness, end, "PAID", lambda: harness.rail.query(watched, None))
        assert harness.twin.count(path) == 1

    collections.at_monnify(work)


async def check_ends(harness: Any, end: str, success: str, query: Callable[[], Awaitable[Answer]]) -> None:
    [(reference, stored)] = harness.rules.payments.items()
    for state, expected in ENDS[end]:
        harness.rules.payments.clear()
        if state != "hidden":
            harness.rules.payments[reference] = stored
        if state == "success":
            harness.rules.pay(reference)
        if state == "failure":
            stored.status = "failed" if success == "success" else "FAILED"
        assert (await query()).status == expected
