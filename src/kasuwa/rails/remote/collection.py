"""Payments and refunds by the rail protocol."""

from collections.abc import Mapping
from typing import Literal

from kasuwa.core.references import wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, CardSecrets, CollectionOrder
from kasuwa.rails.remote.client import OrderKey, RemoteClient, make_query
from kasuwa.rails.remote.messages import Card, PaymentQuery, PaymentRequest, RefundRequest, ValidateRequest

LONGEST_TEXT = 200
PAYMENT, QUERY_PAYMENT, REFUND, QUERY_REFUND = "/payments", "/payments/query", "/refunds", "/refunds/query"
STEPS: Mapping[str, Literal["begin", "charge", "validate"]] = {
    orders.BEGIN: "begin",
    orders.CHARGE: "charge",
    orders.VALIDATE: "validate",
}


class RemoteCollection:
    """The rail for cards, direct debit and mobile operators alike: `method` in a request tells which."""

    def __init__(self, client: RemoteClient) -> None:
        self._client = client

    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return await self._step(orders.BEGIN, order, card)

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        return await self._step(orders.CHARGE, order, card)

    async def _step(self, step: str, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        key, saved = make_key(order), order.saved_card
        request = PaymentRequest(
            key=key.wire_key,
            amount=order.amount,
            currency=order.currency,
            method=order.method,
            attempt=order.attempt,
            session=order.session,
            payer=order.payer,
            payer_account=order.payer_account,
            provider=order.provider,
            network=order.network,
            merchant_name=order.merchant_name[:LONGEST_TEXT],
            card=None if card is None else make_card(card),
            token="" if saved is None else saved.token,
            email=order.payer_email if saved is None else saved.email,
            payer_name=order.payer_name[:LONGEST_TEXT],
            return_url=order.return_url,
            expires_at="" if order.expires_at is None else order.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        )
        return await self._client.send(f"{PAYMENT}/{STEPS[step]}", request, key, payment_query(step, order, key))

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        key = make_key(order)
        request = ValidateRequest(key=key.wire_key, session=order.session, otp=otp)
        path = f"{PAYMENT}/{STEPS[orders.VALIDATE]}"
        return await self._client.send(path, request, key, payment_query(orders.VALIDATE, order, key))

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        key = make_key(order)
        return await self._client.ask(*payment_query(order.step, order, key), key)

    async def refund(self, order: CollectionOrder) -> Answer:
        key = make_key(order)
        request = RefundRequest(
            key=key.wire_key,
            payment_key=wire_reference(order.refund_of),
            amount=order.amount,
            currency=order.currency,
            credit=order.rail_facts.get(orders.TRANSACTION_FACT, ""),
        )
        return await self._client.send(REFUND, request, key, make_query(QUERY_REFUND, key))

    async def query_refund(self, order: CollectionOrder) -> Answer:
        key = make_key(order)
        return await self._client.ask(*make_query(QUERY_REFUND, key), key)


def make_key(order: CollectionOrder) -> OrderKey:
    return OrderKey(order.key, order.amount, order.currency)


def payment_query(step: str, order: CollectionOrder, key: OrderKey) -> tuple[str, PaymentQuery]:
    return QUERY_PAYMENT, PaymentQuery(key=key.wire_key, step=STEPS.get(step, "begin"), attempt=order.attempt)


def make_card(card: CardSecrets) -> Card:
    return Card(
        number=card.number,
        expiry_month=card.expiry_month,
        expiry_year=card.expiry_year,
        cvv=card.cvv,
        pin=card.pin,
    )
