"""Kill -9 while recurrent charges fall due, cards are charged with a PIN and loans are collected: no due date is
charged twice or missed.

The protection was removed once to see this test fail (in brackets: what happened then):
    a plan that is being charged has no job until its charge has ended  (job and charge side by side: never at rest)

To let a day pass, the wall time of a plan's next job is set to now in the database; waiting would change nothing else.
The leases of killed processes are ended in the same way.
"""

import contextlib
import http.client
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kasuwa.engine.batch import JOB_LEASE
from tests.simulate.collections import collect_under_kills
from tests.simulate.load import Client, Merchant, new_merchant
from tests.simulate.processes import Service, fault_count, is_fully_running, kill, running_service, wait_until

pytestmark = pytest.mark.chaos

PLANS = 8
CARD = {"card_no": "4111110000000013", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
DAILY = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}
AMOUNT = {"paymentType": "card", "amount": "1500.00", "card": CARD}

HURRY = """update scheduled_job set run_at = now() - interval '1 second'
    where kind = 'recurrent.charge' and leased_until is null and run_at > now()"""
# Cards are charged by the request that has their secrets, plans by the worker. These are the leases of dead processes.
BURY = """update scheduled_job set leased_until = now() where leased_until between now() and $2
    and (kind = 'recurrent.charge' or work ->> 'token' is not null) = any($1)"""
HELD_BY = {"api": [False], "worker": [True], "all": [False, True]}
CHARGED = """select count(*) from payment p join transaction t using (merchant_id, txn_ref)
    where p.method = 'token' and t.status = 'successful'"""
# A session whose reply was lost waits for its expiry, and a plan for its next day. Everything else must end, and the
# last day that was brought forward must begin first.
OPEN = """select (select count(*) from payment_plan where charging) + (select count(*) from scheduled_job
    where kind = 'payment.charge' or (kind = 'payment.ask' and work ->> 'session' is not null)
        or (kind = 'recurrent.charge' and run_at <= now()))"""
PLAN_STATES = "select plan_id, state, cycle, cycle_due, created_at, paid from payment_plan"
PLAN_CHARGES = """select p.detail -> 'purpose' ->> 'reference' as plan_id, t.status, count(*) as times
    from payment p join transaction t using (merchant_id, txn_ref)
    where p.detail -> 'purpose' ->> 'purpose' = 'recurrent' group by 1, 2"""
PAID_ORDERS = "select order_ref from transaction where order_ref like 'basket-%' and status = 'successful'"


# --- the customers --------------------------------------------------------------------------------------------------


class Counter:
    """Customers who pay by card and PIN one after the other, during all kills. Records the replies."""

    def __init__(self, port: int, merchant: Merchant, name: str) -> None:
        self.port = port
        self.merchant = merchant
        self.name = name
        self.replied: dict[str, str] = {}

    def run(self, stopping: threading.Event) -> None:
        number = 0
        while not stopping.is_set():
            number += 1
            order: dict[str, Any] = {**AMOUNT, "customer_txnref": f"basket-{self.name}-{number}"}
            begun = self.ask({"action": "initiate", **order})
            if begun is None:
                continue
            charge = {"action": "charge", **order, "txnRef": begun["txnRef"], "auth_type": "PIN"}
            # A lost request is sent again unchanged, which must be safe.
            while (done := self.ask(charge)) is None:
                if stopping.is_set():
                    return
            self.replied[order["customer_txnref"]] = done["txnStatus"]

    def ask(self, body: dict[str, Any]) -> Any:
        """Returns the reply, or None if it was lost or the service was away."""
        with contextlib.suppress(OSError, http.client.HTTPException), Client(self.port, self.merchant) as client:
            reply = client.put("/payment", body)
            return reply.body if reply.http == 200 and reply.body["status"] in (200, 202) else None
        return None


def enrol(port: int) -> None:
    """Returns a merchant with a daily plan whose first charge is done."""
    with Client(port, new_merchant(port)) as client:
        begun = client.put("/payment", {"action": "initiate", **AMOUNT, **DAILY}).body
        paid = {"action": "charge", **AMOUNT, **DAILY, "txnRef": begun["txnRef"], "auth_type": "PIN"}
        assert client.put("/payment", paid).body["txnStatus"] == "successful"


@contextlib.contextmanager
def running(*workers: Callable[[threading.Event], None]) -> Iterator[None]:
    stopping = threading.Event()
    threads = [threading.Thread(target=work, args=(stopping,)) for work in workers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopping.set()
        for thread in threads:
            thread.join()


def days_pass(service: Service) -> Callable[[threading.Event], None]:
    def run(stopping: threading.Event) -> None:
        while not stopping.wait(0.02):
            service.query(HURRY)

    return run


# --- the kills ------------------------------------------------------------------------------------------------------


def kill_plan() -> list[str]:
    return [("worker", "all", "api")[n % 3] for n in range(fault_count("kills while plans fall due"))]


def kill_once(service: Service, what: str) -> None:
    before = service.query(CHARGED)[0][0]
    wait_until("a plan is charged", lambda: service.query(CHARGED)[0][0] > before)
    api, worker = service.child_processes("api"), service.child_processes("worker")
    victims = {"api": api, "worker": worker, "all": [*api, *worker]}[what]
    kill(victims)
    last_lease = service.query("select now()")[0][0] + JOB_LEASE
    wait_until("all parts run again", lambda: is_fully_running(service, victims))
    service.query(BURY, HELD_BY[what], last_lease)


def test_kills_while_plans_fall_due_charge_every_due_date_once(tmp_path: Path) -> None:
    with running_service(tmp_path / "data") as service:
        for _ in range(PLANS):
            enrol(service.port)
        counters = [Counter(service.port, new_merchant(service.port), f"{n}") for n in range(2)]
        with running(days_pass(service), *(counter.run for counter in counters)):
            for what in kill_plan():
                kill_once(service, what)
        wait_until("everything ends", lambda: service.query(OPEN)[0][0] == 0)
        check_plans(service)
        check_cards(service, counters)
        collect_under_kills(service)
        assert service.broken_invariants() == []


def check_plans(service: Service) -> None:
    charges = {(row["plan_id"], row["status"]): row["times"] for row in service.query(PLAN_CHARGES)}
    plans = service.query(PLAN_STATES)
    assert len(plans) == PLANS
    assert sum(charges.values()) > 2 * PLANS
    for plan in plans:
        days = plan["cycle"] - 1
        # One charge for each day, and one day for each charge.
        assert (plan["state"], charges.get((plan["plan_id"], "successful"), 0)) == ("active", days)
        assert plan["paid"] == 150_000 * (1 + days)
        assert timedelta(0) < plan["cycle_due"] - plan["created_at"] - timedelta(days=days) <= timedelta(days=1)
    assert {status for _, status in charges} == {"successful"}


def check_cards(service: Service, counters: list[Counter]) -> None:
    """Asserts that every reply to a customer is true and that no order was paid twice."""
    paid = [row[0] for row in service.query(PAID_ORDERS)]
    replied = {order: status for counter in counters for order, status in counter.replied.items()}
    assert len(replied) > 5
    assert set(replied.values()) <= {"successful", "pending"}
    assert replied.keys() <= set(paid)
    assert len(set(paid)) == len(paid)
