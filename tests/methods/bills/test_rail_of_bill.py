"""The rail of a bill: written with it, asked for its outcome and its goods, and changed only before it was sent."""

import asyncio
from collections.abc import Mapping

import msgspec
import pytest

from kasuwa.core.decision import Decision, Job, LoadedRows, Row
from kasuwa.core.routing import RailDemand
from kasuwa.methods.bills.model import QUERY, SEND, voucher_key
from kasuwa.methods.bills.rules.on_biller_answer import decide_answer
from kasuwa.methods.bills.steps import call_biller, fetch_delivery, query_ended
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.ports.orders import RAIL_UNAVAILABLE, Answer, BillOrder
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.transactions.transactions import Transaction
from tests.methods.bills.payments import PREPAID, decided, item_of, listed, payment
from tests.rule_context import NOW, context

NOT_SENT = msgspec.structs.replace(RAIL_UNAVAILABLE, is_unsent=True)
DELIVERED = Answer(orders.SUCCESSFUL, "00", "Delivered")


class TwoRails:
    def __init__(self) -> None:
        self.demands: list[RailDemand] = []

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        self.demands.append(demand)
        return "two" if avoided else "one"

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        return 2

    def find_account(self, rail: str, kept: str = "") -> str:
        return kept or f"account with {rail}"


class Recorder(SandboxBiller):
    """A biller that keeps the rails of the orders it is asked about."""

    def __init__(self) -> None:
        self.rails: list[str] = []

    async def pay(self, order: BillOrder) -> Answer:
        self.rails.append(order.rail)
        return await super().pay(order)

    async def query(self, order: BillOrder) -> Answer:
        self.rails.append(order.rail)
        return await super().query(order)

    async def reprint(self, order: BillOrder) -> Mapping[str, str]:
        self.rails.append(order.rail)
        return await super().reprint(order)


def take(chooser: TwoRails) -> tuple[Transaction, Job]:
    given = context()
    given.rail_chooser = chooser
    decision = decided(payment(), listed(PREPAID), given)
    row, job = decision.rows[0], decision.jobs[0]
    assert isinstance(row, Transaction)
    job.claims = 1
    return row, job


def test_rail_is_written_with_the_bill_and_its_job() -> None:
    chooser = TwoRails()
    row, job = take(chooser)
    assert (row.rail, job.rail) == ("one", "one")
    assert chooser.demands == [RailDemand("bills", 500_000, "NGN", item_of(PREPAID).paycode)]


@pytest.mark.parametrize(
    ("answer", "claims", "rail", "kind"),
    [
        (NOT_SENT, 1, "two", SEND),
        (NOT_SENT, 2, "one", SEND),
        (RAIL_UNAVAILABLE, 1, "one", SEND),
        (orders.RAIL_SILENT, 1, "one", QUERY),
    ],
)
def test_bill_moves_only_if_certainly_nothing_has_left(answer: Answer, claims: int, rail: str, kind: str) -> None:
    row, job = take(TwoRails())
    job.claims = claims
    voucher = voucher_key(job.merchant_id, job.subject)
    rows: dict[bytes, Row | None] = {row.key: row, job.key: job, voucher: None}
    given = context()
    given.rail_chooser = TwoRails()
    decision = decide_answer(job, answer, given, LoadedRows(rows))
    assert isinstance(decision, Decision)
    [changed], [again] = decision.rows, decision.jobs
    assert isinstance(changed, Transaction)
    assert (changed.rail, again.rail, again.kind) == (rail, rail, kind)


def test_outcome_and_goods_are_asked_for_at_the_rail_of_the_bill() -> None:
    row, job = take(TwoRails())
    biller = Recorder()
    rails = Rails(bank=NOT_CONFIGURED, biller=biller)

    async def ask() -> None:
        await call_biller(rails, job, NOW, None)
        await call_biller(rails, msgspec.structs.replace(job, kind=QUERY), NOW, None)
        await fetch_delivery(rails, job, DELIVERED)
        await query_ended(rails, row)

    asyncio.run(ask())
    assert biller.rails == ["one"] * 4
