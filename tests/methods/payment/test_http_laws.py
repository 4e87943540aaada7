"""The laws of payments see what is planted: each is broken once, in a transaction that is rolled back."""

import asyncio
from typing import Any

import asyncpg
import pytest

from kasuwa.ledger.audit import audit
from tests.methods.payment.till import VISA_OK, Till
from tests.running import Deployment
from tests.shop import Shop

NOW = "2026-01-30T08:00:00+01:00"
DAILY: dict[str, Any] = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}

PLANTS = {
    "a card that was kept": (
        "update payment set sealed_card = '\\x00' where merchant_id = $1",
        "keeps no card",
    ),
    "a final payment that is not done": (
        "update payment set stage = 'asking' where merchant_id = $1",
        "is done when it is final",
    ),
    "a charge that was posted twice": (
        "insert into posting select merchant_id, -seq, group_seq, reference, debit, credit, amount, debit_after,"
        " credit_after, kind, at from posting where merchant_id = $1 and kind = 'payment'",
        "posted what was charged",
    ),
    "a fee that was not posted": (
        "delete from posting where merchant_id = $1 and kind = 'collection fee'",
        "posted what was charged",
    ),
    "a part that went to somebody else": (
        "update posting set credit = 'beneficiary:RSother:NGN' where merchant_id = $1 and kind = 'split'",
        "each part of a successful split",
    ),
    "a part of another amount": (
        "update posting set amount = amount - 1 where merchant_id = $1 and kind = 'split'",
        "each part of a successful split",
    ),
    "a refund that was not counted": (
        "update payment set refunded = 0 where merchant_id = $1",
        "sum of its successful refunds",
    ),
    "a refund that is counted twice": (
        "update payment set refunding = refunded where merchant_id = $1",
        "sum of its successful refunds",
    ),
    "a settlement of another amount": (
        "update gathering set amount = amount + 1 where merchant_id = $1 and kind = 'settlement'",
        "what is gathered for a day",
    ),
    "a payout that is forgotten": (
        "update gathering set state = 'done' where merchant_id = $1 and kind = 'payout'",
        "what is gathered for a day",
    ),
    "a payout without a job": (
        "delete from job where merchant_id = $1 and kind = 'payout.send'",
        "what is gathered for a day",
    ),
    "a plan without a job": (
        "delete from job where merchant_id = $1 and kind = 'recurrent.charge'",
        "an active plan has one job",
    ),
    "a stopped plan with a job": (
        "update plan set state = 'stopped' where merchant_id = $1",
        "an active plan has one job",
    ),
    "a plan that says it charges": (
        "update plan set charging = true where merchant_id = $1",
        "an active plan has one job",
    ),
    "a plan that was paid more than its charges": (
        "update plan set paid = paid + 1 where merchant_id = $1",
        "an active plan has one job",
    ),
}


def make_history(till: Till) -> None:
    """One of everything: a split, a refund, a settlement to come, a plan with a charge behind it."""
    made = till.shop.put("sandbox", action="beneficiary", name="B", bankcode="058", accountnumber="0000000000").body
    paid = till.paid(split=[{"ref_code": made["ref_code"], "percentage": "33.33"}])
    assert till.refund(paid["txnRef"], "100.00")["txnStatus"] == "successful"
    assert till.paid(VISA_OK, **DAILY)["txnStatus"] == "successful"
    till.shop.advance(hours=3)


async def look(dsn: str, mid: str, plant: str | None) -> list[str]:
    connection = await asyncpg.connect(dsn)
    try:
        number = await connection.fetchval("select merchant_id from merchant where mid = $1 and current", mid)
        transaction = connection.transaction(isolation="repeatable_read")
        await transaction.start()
        try:
            if plant is not None:
                await connection.execute("set local session_replication_role = replica")
                await connection.execute(plant, number)
            return await audit(Within(connection), [number])
        finally:
            await transaction.rollback()
    finally:
        await connection.close()


class Within:
    """A connection that is in a transaction already: the audit's own is part of it."""

    def __init__(self, connection: Any) -> None:
        self.fetch = connection.fetch
        self._connection = connection

    def transaction(self, **options: Any) -> Any:
        return self._connection.transaction()


@pytest.fixture
def shop(open_shop: Any, deployment: Deployment) -> Shop:
    made: Shop = open_shop(now=NOW)
    deployment.command("merchant", "set", made.mid, "--settlement-days", "1")
    return made


def test_every_law_of_payments_finds_what_breaks_it(shop: Shop, deployment: Deployment) -> None:
    make_history(Till(shop))
    assert asyncio.run(look(deployment.dsn, shop.mid, None)) == []
    for what, (plant, law) in PLANTS.items():
        broken = asyncio.run(look(deployment.dsn, shop.mid, plant))
        assert any(law in line for line in broken), (what, broken)
