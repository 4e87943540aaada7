"""Orders of a small shop: a customer pays into an account number, and the event of the payment ships the order."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from kasuwa_client import Kasuwa, PaymentEvent, verify_event
from kasuwa_client.types import Payer

CUSTOMER: Payer = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}


@dataclass
class Order:
    number: str
    amount: Decimal
    account_number: str
    state: str = "open"


class Orders:
    """The orders, by number. The number is sent as customer_txnref and comes back in the event."""

    def __init__(self, client: Kasuwa, key: str) -> None:
        self._client = client
        self._key = key
        self._orders: dict[str, Order] = {}

    def place(self, number: str, amount: Decimal) -> Order:
        """Returns a new order, with the account number to pay into."""
        payment = self._client.payment.charge_bank_transfer(amount=amount, user=CUSTOMER, customer_txnref=number)
        order = Order(number, amount, str(payment.raw["accountNumber"]))
        self._orders[number] = order
        return order

    def receive_event(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Handles a delivery of the webhook. Raises InvalidSignature."""
        event = verify_event(body, headers, self._key)
        if isinstance(event, PaymentEvent):
            order = self._orders.get(event.customer_txnref or "")
            if order is not None and order.state == "open":
                order.state = "shipped" if self._is_paid(event, order) else "refused"

    def _is_paid(self, event: PaymentEvent, order: Order) -> bool:
        """Compares with what was ordered: the payer may have sent less."""
        return event.txn_status == "successful" and event.currency == "NGN" and event.charged_amount == order.amount
