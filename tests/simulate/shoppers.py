"""Customers who pay, are paid and are refunded while the database comes and goes, and the check that no reply denies
what is in the books.

Each attempt that changes the books leaves a trace of its own: a reference, a comment, or a step of a payment that no
other attempt takes. So each reply that says that nothing was changed can be checked against the books.
"""

import contextlib
import http.client
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.methods.payment.payment_client import AUTH, OTP, VISA_OK
from tests.simulate.load import Client, Merchant, Reply, transfer_body

PAUSE_SECONDS = 0.02


class Trace(NamedTuple):
    """The trace of an attempt in the books: a transaction whose reference or detail contains `mark`, or, if `step` is
    given, that step in the trail of the payment `mark`."""

    mark: str
    step: str = ""


class Attempt(NamedTuple):
    what: str
    trace: Trace
    http: int
    body: Any

    @property
    def is_denial(self) -> bool:
        return "nothing was" in str(self.body.get("message", "")).lower()

    @property
    def is_open(self) -> bool:
        return self.body.get("txnStatus") in ("pending", "processing") or "not known" in self.body.get("message", "")


TRANSACTIONS = "select txn_ref, order_ref, detail::text, trail::text from transaction"


def find_false_denials(attempts: list[Attempt], rows: list[Any]) -> list[str]:
    """Returns the denials that the books contradict."""
    trails = {row[0]: row[3] for row in rows}
    marked = "\n".join(f"{row[1]} {row[2]}" for row in rows)

    def is_there(trace: Trace) -> bool:
        return f'"{trace.step}"' in trails[trace.mark] if trace.step else trace.mark in marked

    return [
        f"{attempt.what} {attempt.trace}: {attempt.body}"
        for attempt in attempts
        if attempt.is_denial and is_there(attempt.trace)
    ]


class Shopper:
    """One customer's connection. A lost reply is not counted as a denial."""

    def __init__(self, port: int, merchant: Merchant, token: str, number: int) -> None:
        self._port = port
        self._merchant = merchant
        self._token = token
        self._number = number
        self._marks = (f"shop-{number}-{n}-end" for n in itertools.count())
        self.attempts: list[Attempt] = []

    def run(self, stopping: threading.Event) -> None:
        # Each begins with another action. Otherwise all would be at their first commit, or all at their second, at one
        # time.
        flows = itertools.islice(itertools.cycle(self.flows()), self._number, None)
        while not stopping.wait(PAUSE_SECONDS):
            with contextlib.suppress(OSError, http.client.HTTPException), Client(self._port, self._merchant) as client:
                next(flows)(client)

    def flows(self) -> list[Callable[[Client], Any]]:
        return [
            self.transfer,
            self.charge_token,
            self.charge_card,
            self.validate,
            self.refund,
            self.bulk,
            self.transfer_with_key,
        ]

    def ask(self, what: str, trace: Trace, client: Client, path: str, body: Any, headers: Any = None) -> Reply:
        reply = client.put(path, body, headers)
        self.attempts.append(Attempt(what, trace, reply.http, reply.body))
        return reply

    def transfer(self, client: Client) -> None:
        mark = next(self._marks)
        self.ask("transfer", Trace(mark), client, "/disburse", transfer_body(orderRef=mark))

    def transfer_with_key(self, client: Client) -> None:
        mark = next(self._marks)
        body, headers = transfer_body(narration=mark), {"idempotency-key": mark}
        self.ask("transfer under a key", Trace(mark), client, "/disburse", body, headers)

    def bulk(self, client: Client) -> None:
        mark = next(self._marks)
        orders = [transfer_body(orderRef=f"{mark}-{n}") for n in range(3)]
        self.ask("bulk", Trace(mark), client, "/disburse", {"action": "transfer", "type": "bulk", "data": orders})

    def charge_token(self, client: Client) -> Any:
        mark = next(self._marks)
        body = {"action": "charge", "paymentType": "token", "token": self._token, "amount": "1500.00"}
        return self.ask("token", Trace(mark), client, "/payment", {**body, "customer_txnref": mark}).body

    def charge_card(self, client: Client) -> None:
        begun, body = self.initiate(client, "PIN")
        if begun.get("apply_auth") == "PIN":
            fields = {**body, "action": "charge", "txnRef": begun["txnRef"], "auth_type": "PIN"}
            self.ask("card", Trace(begun["txnRef"], "charged"), client, "/payment", fields)

    def validate(self, client: Client) -> None:
        begun, _ = self.initiate(client, "OTP")
        if begun.get("apply_auth") == "OTP":
            fields = {"action": "validate", "txnRef": begun["txnRef"], "otp": OTP}
            self.ask("validate", Trace(begun["txnRef"], "validated"), client, "/payment", fields)

    def initiate(self, client: Client, auth: str) -> tuple[Any, Any]:
        mark, body = next(self._marks), card_body(auth)
        fields = {**body, "action": "initiate", "customer_txnref": mark}
        return self.ask("initiate", Trace(mark), client, "/payment", fields).body, body

    def refund(self, client: Client) -> None:
        paid = self.charge_token(client)
        if paid.get("txnStatus") == "successful":
            mark = next(self._marks)
            fields = {"action": "refund", "txnRef": paid["txnRef"], "amount": "10.00", "comment": mark}
            self.ask("refund", Trace(mark), client, "/payment", fields)


def card_body(auth: str) -> dict[str, Any]:
    card = {"card_no": VISA_OK, "expiry_month": "12", "expiry_year": "39", "ccv": AUTH[auth], "pin": "1234"}
    return {"paymentType": "card", "card": card, "amount": "1500.00"}


def card_token(port: int, merchant: Merchant) -> str:
    """Returns the token of a card that has paid once."""
    with Client(port, merchant) as client:
        body = card_body("PIN")
        begun = client.put("/payment", {**body, "action": "initiate"}).body
        fields = {**body, "action": "charge", "txnRef": begun["txnRef"], "auth_type": "PIN"}
        return str(client.put("/payment", fields).body["cardToken"])


@contextlib.contextmanager
def running_shoppers(port: int, merchants: list[Merchant], count: int) -> Iterator[list[Shopper]]:
    """Runs this many shoppers until the block ends. Their attempts are complete then."""
    tokens = [card_token(port, merchant) for merchant in merchants]
    places = [n % len(merchants) for n in range(count)]
    shoppers = [Shopper(port, merchants[place], tokens[place], n) for n, place in enumerate(places)]
    stopping = threading.Event()
    threads = [threading.Thread(target=shopper.run, args=(stopping,)) for shopper in shoppers]
    for thread in threads:
        thread.start()
    try:
        yield shoppers
    finally:
        stopping.set()
        for thread in threads:
            thread.join()
