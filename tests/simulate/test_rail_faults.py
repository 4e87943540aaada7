"""A rail that loses, refuses, delays, repeats or contradicts: a transfer stays open until its outcome is known, ends
once, and its money moves once or is released once.

Every merchant here has a fixed clock, so nothing ends before the test calls `advance`.

Each protection was removed once to see these tests fail (in brackets: what happened then):
    a lost answer is queried, and the order never sent again       (sent again)
    "not found" is not a failure before 24 hours                   (failed at the first re-query)
    an order that the rail refused is sent again                   (only queried)
    a final state is final, and a contradiction is recorded        (the last answer wins; not recorded)
"""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.running import Deployment, Deployments
from tests.simulate.load import Client, Merchant, new_merchant
from tests.simulate.processes import broken_invariants, fault_count

pytestmark = [pytest.mark.chaos, pytest.mark.xdist_group("rail faults")]

NOON = "2026-03-02T12:00:00+01:00"
OPENING = 1_000_000_000
# Fee 10.00 and VAT 0.75 on a transfer of 100.00.
COST = 11_075
OPEN = ("pending", "processing")

EVENTS = """
    select payload::json ->> 'txnStatus' as status from event e join merchant m using (merchant_id)
    where m.mid = $1 and e.reference = $2
"""
NOTICES = (
    "select message from operator_notice n join merchant m using (merchant_id) where m.mid = $1 and n.reference = $2"
)
JOBS = "select kind from scheduled_job j join merchant m using (merchant_id) where m.mid = $1 and j.reference = $2"
HELD = "select held from transaction t join merchant m using (merchant_id) where m.mid = $1 and t.txn_ref = $2"
TAKEN = """
    select coalesce(sum(amount), 0)::bigint from posting p join merchant m using (merchant_id)
    where m.mid = $1 and p.reference = $2 and p.debit = 'wallet:main:NGN'
"""


@pytest.fixture(scope="module")
def service(deployments: Deployments) -> Iterator[Deployment]:
    """The database is asked some thousand times, on the one connection of a deployment."""
    with deployments.fresh("rail_faults", KASUWA_WORKERS="2", KASUWA_CONSOLE="off") as running:
        yield running
        assert running.new_stderr() == ""
        assert broken_invariants(running.dsn) == []


class World:
    """One merchant with a clock of its own."""

    def __init__(self, service: Deployment, now: str | None = NOON) -> None:
        self.service = service
        self.merchant: Merchant = new_merchant(service.port, **({} if now is None else {"now": now}))
        self.client = Client(service.port, self.merchant)

    def __enter__(self) -> "World":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.__exit__()

    def transfer(self, order_ref: str, scenario: str = "", account: str = "0000000000") -> Any:
        headers = {"x-sandbox-scenario": scenario} if scenario else None
        return self.client.transfer(headers, orderRef=order_ref, accountnumber=account).body

    def status(self, order_ref: str) -> str:
        return str(self.client.verify(order_ref)["txnStatus"])

    def settle(self, order_ref: str, outcome: str) -> Any:
        return self.client.sandbox("settle", orderRef=order_ref, outcome=outcome)

    def advance(self, **stretch: int) -> None:
        self.client.sandbox("advance", **stretch)

    def money(self) -> tuple[int, int]:
        """Returns the wallet's balance and its holds, in kobo."""
        wallet = self.client.wallet()
        return int(wallet["balance"].replace(".", "")), int(wallet["held"].replace(".", ""))

    def about(self, query: str, txn_ref: str) -> list[Any]:
        return [tuple(row) for row in self.service.fetch(query, self.merchant.mid, txn_ref)]


def check_open(world: World, order_ref: str, txn_ref: str) -> None:
    assert world.status(order_ref) in OPEN
    assert world.about(EVENTS, txn_ref) == []
    assert (world.about(HELD, txn_ref), world.about(TAKEN, txn_ref)) == ([(COST,)], [(0,)])


def check_ended(world: World, order_ref: str, txn_ref: str, status: str) -> None:
    """Asserts that the transfer ended once as expected: one event, what was held taken or released, and no invariant
    broken."""
    assert world.status(order_ref) == status
    assert world.about(EVENTS, txn_ref) == [(status,)]
    assert world.about(TAKEN, txn_ref) == [(COST if status == "successful" else 0,)]
    assert world.service.broken_invariants() == []


def check_alone(world: World, order_ref: str, txn_ref: str, status: str) -> None:
    """Checks the only transfer of its merchant: the wallet shows one movement, or none."""
    check_ended(world, order_ref, txn_ref, status)
    assert world.money() == (OPENING - COST if status == "successful" else OPENING, 0)
    world.advance(days=2)
    check_ended(world, order_ref, txn_ref, status)
    assert world.money() == (OPENING - COST if status == "successful" else OPENING, 0)


# --- one fault at a time ------------------------------------------------------------------------------------


def check_lost_answer(world: World, reply: Any) -> None:
    """Asserts that the transfer is open at first and found by the first re-query, after five seconds."""
    assert reply["txnStatus"] in OPEN
    assert world.about(JOBS, reply["txnRef"]) == [("disburse.ask",)]
    world.advance(seconds=4)
    check_open(world, "one", reply["txnRef"])
    world.advance(seconds=2)
    check_alone(world, "one", reply["txnRef"], "successful")


def test_an_answer_that_was_lost_is_found_by_the_first_requery(service: Deployment) -> None:
    with World(service) as world:
        world.client.sandbox("fault", rail="bank", kind="timeout", times=1)
        check_lost_answer(world, world.transfer("one"))


def test_an_answer_of_500_is_no_answer(service: Deployment) -> None:
    with World(service) as world:
        check_lost_answer(world, world.transfer("one", "http=500"))


def test_an_answer_that_timed_out_by_header_is_no_answer(service: Deployment) -> None:
    with World(service) as world:
        check_lost_answer(world, world.transfer("one", "http=timeout"))


@pytest.mark.parametrize("now", [NOON, "2026-03-02T12:00:00.123457+01:00", "2026-07-31T23:59:59.999+01:00"])
def test_a_request_that_was_lost_fails_after_a_day_and_not_before(service: Deployment, now: str) -> None:
    with World(service, now) as world:
        world.client.sandbox("fault", rail="bank", kind="reset", times=1)
        reply = world.transfer("one")
        assert reply["txnStatus"] in OPEN
        for stretch in ({"seconds": 30}, {"hours": 1}, {"hours": 22}, {"minutes": 59}):
            world.advance(**stretch)
            check_open(world, "one", reply["txnRef"])
        world.advance(minutes=1)
        check_alone(world, "one", reply["txnRef"], "failed")


@pytest.mark.parametrize("how", ["fault", "header"])
def test_a_refused_request_is_tried_again_under_its_key(service: Deployment, how: str) -> None:
    with World(service) as world:
        if how == "fault":
            world.client.sandbox("fault", rail="bank", kind="unavailable", times=1)
        reply = world.transfer("one", "http=unavailable" if how == "header" else "")
        assert reply["txnStatus"] in OPEN
        check_open(world, "one", reply["txnRef"])
        assert world.about(JOBS, reply["txnRef"]) == [("disburse.send",)]
        world.advance(seconds=6)
        check_alone(world, "one", reply["txnRef"], "successful")


def test_a_late_answer_is_known_at_the_first_query_after_it(service: Deployment) -> None:
    with World(service) as world:
        reply = world.transfer("one", "delay=90")
        assert reply["txnStatus"] in OPEN
        for seconds in (6, 25, 88):  # past the rungs of 5 s and 30 s, and one second before that of 2 min
            world.advance(seconds=seconds)
            check_open(world, "one", reply["txnRef"])
        world.advance(seconds=2)
        check_alone(world, "one", reply["txnRef"], "successful")


@pytest.mark.parametrize(("account", "status"), [("0000000900", "successful"), ("0000009100", "failed")])
def test_an_answer_that_comes_at_the_first_requery_ends_it(service: Deployment, account: str, status: str) -> None:
    with World(service) as world:
        reply = world.transfer("one", account=account)
        check_open(world, "one", reply["txnRef"])
        world.advance(seconds=6)
        check_alone(world, "one", reply["txnRef"], status)


# --- answered twice, or both ways ---------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", ["successful", "failed"])
def test_a_call_back_that_comes_twice_counts_once(service: Deployment, outcome: str) -> None:
    with World(service) as world:
        reply = world.transfer("one", account="0000000020")
        assert reply["txnStatus"] in OPEN
        assert [world.settle("one", outcome)["txnStatus"] for _ in range(3)] == [outcome] * 3
        assert world.about(NOTICES, reply["txnRef"]) == []
        check_alone(world, "one", reply["txnRef"], outcome)


@pytest.mark.parametrize(("first", "second"), [("successful", "failed"), ("failed", "successful")])
def test_a_call_back_that_contradicts_the_first_is_written_down(service: Deployment, first: str, second: str) -> None:
    with World(service) as world:
        reply = world.transfer("one", account="0000000020")
        world.settle("one", first)
        assert world.settle("one", second)["txnStatus"] == first
        check_alone(world, "one", reply["txnRef"], first)
        assert len(world.about(NOTICES, reply["txnRef"])) == 1


def test_a_failure_called_back_after_success_is_written_down(service: Deployment) -> None:
    with World(service) as world:
        reply = world.transfer("one")
        assert reply["txnStatus"] == "successful"
        assert world.settle("one", "failed")["txnStatus"] == "successful"
        check_alone(world, "one", reply["txnRef"], "successful")
        assert len(world.about(NOTICES, reply["txnRef"])) == 1


def test_a_call_back_that_races_the_answer_leaves_one_truth(service: Deployment) -> None:
    """The bank answers "successful" while its callback says "failed". The first one counts, the other is recorded, and
    the reply shows the state that counts."""
    with World(service) as world, ThreadPoolExecutor(1) as pool:
        for n in range(fault_count("call-backs racing an answer")):
            order_ref = f"race-{n}"
            settled = pool.submit(settle_as_soon_as_known, service, world.merchant, order_ref)
            reply = world.transfer(order_ref)
            stands = settled.result()["txnStatus"]
            assert reply["txnStatus"] == stands
            check_ended(world, order_ref, reply["txnRef"], stands)
            assert len(world.about(NOTICES, reply["txnRef"])) == 1


def settle_as_soon_as_known(service: Deployment, merchant: Merchant, order_ref: str) -> Any:
    with Client(service.port, merchant) as client:
        while True:
            asked = {"action": "settle", "orderRef": order_ref, "outcome": "failed"}
            reply = client.put("/sandbox", asked).body
            if reply["status"] == 200:
                return reply
            assert reply["status"] == 104, reply


# --- everything at once -------------------------------------------------------------------------------------


def random_transfer(world: World, generator: random.Random, order_ref: str) -> tuple[str, bool]:
    """Sends a transfer with some fault. Returns whether it must succeed in the end."""
    kind = generator.choice(("timeout", "reset", "unavailable", "decline", "500", "late", "magic", "plain"))
    if kind in ("timeout", "reset", "unavailable", "decline"):
        world.client.sandbox("fault", rail="bank", kind=kind, times=1)
    scenario = {"500": "http=500", "late": f"delay={generator.randrange(1, 80_000)}"}.get(kind, "")
    account = (
        generator.choice(("0000000900", "0000000910", "0000009100", "0000005100")) if kind == "magic" else "0000000000"
    )
    reply = world.transfer(order_ref, scenario, account)
    assert reply["status"] == 200, reply
    ends_well = kind not in ("reset", "decline") and account not in ("0000009100", "0000005100")
    if reply["txnStatus"] not in OPEN:
        assert (reply["txnStatus"] == "successful") == ends_well
    return reply["txnRef"], ends_well


@pytest.mark.parametrize("seed", range(fault_count("seeds of rail faults")))
def test_forty_transfers_with_random_faults_are_all_known_after_a_day(service: Deployment, seed: int) -> None:
    """Every other seed has a running clock, so that the worker runs jobs beside `advance`."""
    generator = random.Random(seed)
    with World(service, NOON if seed % 2 == 0 else None) as world:
        orders = {f"order-{n}": random_transfer(world, generator, f"order-{n}") for n in range(40)}
        for hours in (1, 2, 5, 17):
            world.advance(hours=hours)
            assert service.broken_invariants() == []
        for order_ref, (txn_ref, ends_well) in orders.items():
            check_event(world, order_ref, txn_ref, "successful" if ends_well else "failed")
        paid = sum(ends_well for _, ends_well in orders.values())
        assert world.money() == (OPENING - COST * paid, 0)
        assert service.broken_invariants() == []


def check_event(world: World, order_ref: str, txn_ref: str, status: str) -> None:
    assert world.status(order_ref) == status, order_ref
    assert world.about(EVENTS, txn_ref) == [(status,)]
    assert world.about(NOTICES, txn_ref) == []
