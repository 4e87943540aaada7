"""A check of an integration, what it finds, and what it works with."""

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from kasuwa.integration.application import AppAnswer, Application, Fulfilment, UnreadableFulfilment
from kasuwa.integration.gateway import Gateway, WireExchange
from kasuwa.testing.merchant import SandboxMerchant
from kasuwa.webhooks.signatures import DEFAULT_HASH_HEADER, object_headers, sign

Verdict = Literal["pass", "fail", "not seen"]
PASS: Verdict = "pass"
FAIL: Verdict = "fail"
NOT_SEEN: Verdict = "not seen"

POLL_SECONDS = 0.05
ANSWER_SECONDS = 10.0


class Failed(Exception):
    """The application did what it must not. The text says what."""


class NotSeen(Exception):
    """The situation did not occur, so nothing is said about it. The text says why."""


@dataclass(frozen=True)
class Pace:
    """Waiting times of the checks, in seconds."""

    answer: float = ANSWER_SECONDS  # for the answer to a delivery: the service waits as long
    act: float = 20.0  # for the application to take an order, pay out or fulfill
    settle: float = 2.0  # before something is said not to have happened
    hold: float = 65.0  # that a reply is withheld, to see whether the application gives up; 0 leaves that out
    slow: float = 3.0  # that a slow delivery takes


@dataclass(frozen=True)
class Order:
    """An order that the application took, and the payment that it began for it."""

    txn_ref: str
    customer_ref: str
    account_number: str
    amount: str
    answer: AppAnswer


@dataclass(frozen=True)
class SignedEvent:
    """An event to deliver: its payload as bytes, and what its headers say."""

    body: bytes
    event_id: str
    reference: str
    sequence: int = 1

    @property
    def payload(self) -> dict[str, Any]:
        decoded: dict[str, Any] = msgspec.json.decode(self.body)
        return decoded


class Session:
    """Shared by the checks of one run. The merchant and the gateway are those of `--run`, else None."""

    def __init__(
        self,
        application: Application,
        secret: str,
        pace: Pace,
        *,
        other_secret: str = "",
        merchant: SandboxMerchant | None = None,
        gateway: Gateway | None = None,
        logged: Iterable[WireExchange] = (),
    ) -> None:
        self.application = application
        self.secret = secret
        self.pace = pace
        # That of another merchant; made up if there is none.
        self.other_secret = other_secret or secrets.token_hex(16)
        self._merchant = merchant
        self._gateway = gateway
        self._logged = list(logged)

    # --- traffic ----------------------------------------------------------------------------------------------------

    @property
    def merchant(self) -> SandboxMerchant:
        if self._merchant is None:
            raise NotSeen("the application was not started with --run")
        return self._merchant

    @property
    def gateway(self) -> Gateway:
        if self._gateway is None:
            raise NotSeen("the application was not started with --run")
        return self._gateway

    @property
    def traffic(self) -> list[WireExchange]:
        """Returns what the application sent to the service: as it was on the wire, or from the request log, which has
        no headers and no query. Raises NotSeen if there is none."""
        exchanges = self._logged if self._gateway is None else self._gateway.exchanges
        if not exchanges:
            raise NotSeen("the application sent no request to the service")
        return exchanges

    @property
    def is_on_wire(self) -> bool:
        return self._gateway is not None

    # --- deliveries -------------------------------------------------------------------------------------------------

    def headers(self, event: SignedEvent, *secrets: str, timestamp: int | None = None) -> dict[str, str]:
        """Signs an event now with the merchant's secret, or with other ones, the newest first."""
        keys = [secret.encode() for secret in secrets or (self.secret,)]
        moment = int(time.time()) if timestamp is None else timestamp
        signed = sign(event.body, keys, event.event_id, moment, DEFAULT_HASH_HEADER, has_bad_signature=False)
        return signed | object_headers(event.reference, event.sequence)

    def deliver(self, event: SignedEvent) -> AppAnswer:
        """Delivers an event as the service does."""
        return self.application.deliver(event.body, self.headers(event), timeout=self.pace.answer)

    def must_accept(self, event: SignedEvent, what: str) -> AppAnswer:
        answer = self.deliver(event)
        if not answer.is_accepted:
            raise Failed(f"{what}: {answer}")
        return answer

    # --- orders -----------------------------------------------------------------------------------------------------

    def place_order(self) -> Order:
        """Has the application take an order. Raises NotSeen if it begins no payment by bank transfer."""
        merchant_gateway = self.gateway
        if self.application.order_url is None:
            raise NotSeen("no --order says where the application takes orders")
        known = len(merchant_gateway.exchanges)
        answer = self.application.place_order(self.pace.act)
        charge = self.wait_for(lambda: begun_payment(merchant_gateway.exchanges[known:]), self.pace.settle)
        if charge is None:
            raise NotSeen(f"the order began no payment by bank transfer; the application answered {answer}")
        request, reply = charge.request, charge.reply
        references = str(reply["txnRef"]), str(request.get("customer_txnref") or "")
        return Order(*references, str(reply["accountNumber"]), str(reply.get("amount", "")), answer)

    def pay(self, order: Order, amount: str | None = None) -> SignedEvent:
        """Pays an order as the payer's bank does, and returns the event that the service sent of it."""
        self.merchant.pay_account(account_number=order.account_number, amount=amount or order.amount)
        return self.find_event(order.txn_ref, "payment")

    def find_event(self, reference: str, kind: str) -> SignedEvent:
        """Returns the newest event of a kind that is about a reference. Raises NotSeen if the service sent none."""
        self.merchant.events.flush()
        for delivery in reversed(self.merchant.events.deliveries):
            payload = delivery.event.raw
            if payload.get("kind") == kind and reference in (payload.get("txnRef"), payload.get("refundOf")):
                headers = delivery.headers
                sequence = int(headers["webhook-sequence"])
                return SignedEvent(delivery.body, headers["webhook-id"], headers["webhook-object"], sequence)
        raise NotSeen(f"the service sent no {kind} event of {reference}")

    # --- fulfilment -------------------------------------------------------------------------------------------------

    def fulfilment(self, order: Order) -> Fulfilment:
        if self.application.fulfilled_url is None:
            raise NotSeen("no --fulfilled says where the application tells what it has fulfilled")
        try:
            return self.application.ask_fulfilled(order.txn_ref, order.customer_ref, self.pace.answer)
        except UnreadableFulfilment as error:
            raise NotSeen(f"--fulfilled cannot be read: {error}") from None

    def wait_fulfilled(self, order: Order) -> Fulfilment:
        """Waits until the order is fulfilled, and returns the last answer."""
        self.wait_for(lambda: self.fulfilment(order).times or None, self.pace.act)
        return self.fulfilment(order)

    def must_not_fulfill(self, order: Order, why: str) -> None:
        """Gives the application time, and raises Failed if it fulfilled the order."""
        self.fulfilment(order)  # without an answer there is nothing to wait for
        if self.wait_for(lambda: self.fulfilment(order).times or None, self.pace.settle) is not None:
            raise Failed(f"the order was fulfilled {why}")

    def wait_for(self, look: Callable[[], Any], seconds: float) -> Any:
        """Returns what `look` finds within so many seconds, else None."""
        until = time.monotonic() + seconds
        while (result := look()) is None and time.monotonic() < until:
            time.sleep(POLL_SECONDS)
        return result


def begun_payment(exchanges: Iterable[WireExchange]) -> WireExchange | None:
    for exchange in exchanges:
        reply = exchange.reply
        if exchange.action.startswith("payment.") and "accountNumber" in reply and "txnRef" in reply:
            return exchange
    return None


@dataclass(frozen=True)
class Check:
    """One check. `run` returns what it saw in a sentence, or raises Failed or NotSeen."""

    id: str
    title: str  # what a good application does
    why: str
    fix: str
    doc: str  # page and anchor below the documentation's address
    run: Callable[[Session], str] = field(compare=False)


@dataclass(frozen=True)
class Finding:
    check: Check
    verdict: Verdict
    sentence: str
    seconds: float


def run_check(check: Check, session: Session) -> Finding:
    """Runs a check. An error of the service or of the check itself is "not seen": nothing is known of the
    application."""
    started = time.monotonic()
    try:
        verdict, sentence = PASS, check.run(session)
    except Failed as error:
        verdict, sentence = FAIL, str(error)
    except NotSeen as error:
        verdict, sentence = NOT_SEEN, str(error)
    except Exception as error:
        verdict, sentence = NOT_SEEN, f"the check could not be made: {type(error).__name__}: {error}"
    return Finding(check, verdict, sentence, time.monotonic() - started)
