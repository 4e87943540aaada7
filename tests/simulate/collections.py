"""Loans that are collected day by day while processes are killed: no due date is collected twice or left out.

Days pass by the sandbox action `advance`, which runs what falls due in the process that answers; the worker takes what
a killed one left. The leases of dead processes are ended in the database, because waiting would change nothing else.
"""

import contextlib
import http.client
import threading
from typing import Any

from kasuwa.engine.batch import JOB_LEASE
from tests.simulate.load import Client, Merchant, new_merchant
from tests.simulate.processes import Service, fault_count, is_fully_running, kill, wait_until

CARD = {"card_no": "4111110000000013", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
PAYMENT = {"paymentType": "card", "amount": "1500.00", "card": CARD, "is_recurring": True}
BANK = {"account_number": "0000000000", "bank_code": "058"}
DAILY = {
    "interestSettings": {"interestRate": "0", "interestFrequency": "every_day"},
    "amount": "3660.00",
    "period": 366,
}
EACH_DAY = 1_000
SOURCES = ("wallet", "savings", "token")

COLLECTED = "select count(*) from loan_collection where state = 'collected'"
BURY = "update scheduled_job set leased_until = now() where leased_until between now() and $1 and lane <> 'webhook'"
# What still moves: charges, and runs whose time has come.
OPEN = """select count(*) from scheduled_job
    where kind in ('payment.charge', 'payment.ask') or (kind = 'loans.collect' and run_at <= now())"""
ATTEMPTS = "select loan_id, due_on, amount, state from loan_collection order by loan_id, n"
REPAID = """select loan_id, count(*) as times, sum(applied) as applied from loan_act
    where kind = 'repayment' group by loan_id"""


def lend(port: int) -> tuple[Merchant, list[str]]:
    """Returns a merchant with a loan for each source, of which 10.00 fall due every day."""
    merchant = new_merchant(port)
    loans = []
    with Client(port, merchant) as client:

        def ask(path: str, **fields: Any) -> Any:
            body = client.put(path, fields).body
            assert body["status"] in (200, 202), body
            return body

        begun = ask("/payment", action="initiate", **PAYMENT)
        paid = ask("/payment", action="charge", **PAYMENT, txnRef=begun["txnRef"], auth_type="PIN")
        for source in SOURCES:
            person = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567", "bankAccount": BANK}
            client_id = ask("/clients", action="create", data=person, status="active")["data"]["client_id"]
            loan_id = ask("/loans", action="request", client_id=client_id, **DAILY)["data"]["loan_id"]
            ask("/loans", action="process", loan_id=loan_id, status="approve")
            terms = {
                "name": "Salary",
                "client_id": client_id,
                "interestSettings": DAILY["interestSettings"],
                "period": 12,
            }
            savings_id = ask("/investments", action="create_savings", **terms)["data"]["savings_id"]
            ask("/investments", action="deposit", savings_id=savings_id, payment_method="wallet", amount="3660.00")
            own = {"savings": {"savings_id": savings_id}, "token": {"token": paid["cardToken"]}}.get(source, {})
            ask("/loans", action="auto_repay", loan_id=loan_id, source=source, **own)
            loans.append(loan_id)
    return merchant, loans


def pass_days(port: int, merchant: Merchant, stopping: threading.Event) -> None:
    """Advances the merchant's time day by day. A reply that is lost says nothing: another day passes."""
    while not stopping.is_set():
        with contextlib.suppress(OSError, http.client.HTTPException), Client(port, merchant) as client:
            client.put("/sandbox", {"action": "advance", "days": 1})


def collect_under_kills(service: Service) -> None:
    merchant, loans = lend(service.port)
    stopping = threading.Event()
    thread = threading.Thread(target=pass_days, args=(service.port, merchant, stopping))
    thread.start()
    try:
        for _ in range(fault_count("kills while loans are collected")):
            kill_all(service)
        before = service.query(COLLECTED)[0][0]
        wait_until("loans are collected after the last kill", lambda: service.query(COLLECTED)[0][0] > before)
    finally:
        stopping.set()
        thread.join()
    wait_until("everything ends", lambda: service.query(OPEN)[0][0] == 0)
    check_collections(service, loans)


def kill_all(service: Service) -> None:
    before = service.query(COLLECTED)[0][0]
    wait_until("a loan is collected", lambda: service.query(COLLECTED)[0][0] > before)
    victims = [*service.child_processes("api"), *service.child_processes("worker")]
    kill(victims)
    last_lease = service.query("select now()")[0][0] + JOB_LEASE
    wait_until("all parts run again", lambda: is_fully_running(service, victims))
    service.query(BURY, last_lease)


def check_collections(service: Service, loans: list[str]) -> None:
    """Asserts that each day of each loan was collected once, and that the loans have that and nothing else."""
    attempts = service.query(ATTEMPTS)
    assert {row["state"] for row in attempts} == {"collected"}
    repaid = {row["loan_id"]: (row["times"], row["applied"]) for row in service.query(REPAID)}
    for loan_id in loans:
        days = [row["due_on"] for row in attempts if row["loan_id"] == loan_id]
        amounts = [row["amount"] for row in attempts if row["loan_id"] == loan_id]
        assert len(set(days)) == len(days) > 0
        # A day that was late was collected with the next one, and then the next one had nothing due.
        assert sum(amounts) == EACH_DAY * ((max(days) - min(days)).days + 1)
        assert repaid[loan_id] == (len(days), sum(amounts))
