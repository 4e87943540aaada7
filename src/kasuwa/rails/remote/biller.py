"""Bills by the rail protocol."""

from collections.abc import Mapping

from kasuwa.core.money import format_minor
from kasuwa.rails.catalogue.catalogue import Biller, CatalogueEdition, Category, Item
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, BillOrder, CustomerAnswer, CustomerQuery, Unavailable
from kasuwa.rails.remote.client import OrderKey, RemoteClient, make_query
from kasuwa.rails.remote.messages import (
    BillItem,
    BillRequest,
    CatalogueAnswer,
    CustomerRequest,
    Empty,
    NameFound,
)

BILL, QUERY_BILL, CATALOGUE, CUSTOMER = "/bills", "/bills/query", "/bills/catalogue", "/bills/customer"


class RemoteBiller:
    def __init__(self, client: RemoteClient) -> None:
        self._client = client

    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        return read_catalogue(await self._client.look_up(CATALOGUE, Empty(), CatalogueAnswer))

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer:
        if not query.is_name_required:
            return CustomerAnswer("")
        request = CustomerRequest(paycode=query.paycode, reference=query.reference)
        answer = await self._client.look_up(CUSTOMER, request, NameFound)
        return CustomerAnswer(answer.name if answer.outcome == "found" else None)

    async def pay(self, order: BillOrder) -> Answer:
        key = make_key(order)
        request = BillRequest(
            phone=order.phone,
            key=key.wire_key,
            amount=order.amount,
            currency=order.currency,
            paycode=order.paycode,
            reference=order.reference,
        )
        return await self._client.send(BILL, request, key, make_query(QUERY_BILL, key))

    async def query(self, order: BillOrder) -> Answer:
        key = make_key(order)
        return await self._client.ask(*make_query(QUERY_BILL, key), key)

    async def reprint(self, order: BillOrder) -> Mapping[str, str]:
        answer = await self.query(order)
        if answer.status != orders.SUCCESSFUL:
            raise Unavailable("the bill is not delivered")
        return answer.facts

    async def balance(self) -> Mapping[str, int]:
        return await self._client.balance()


def make_key(order: BillOrder) -> OrderKey:
    return OrderKey(order.key, order.amount, order.currency)


def read_catalogue(answer: CatalogueAnswer) -> CatalogueEdition:
    """Returns the catalogue as it is sold from. rails/catalogue/catalogue.py checks that its parts fit together."""
    return CatalogueEdition(
        tuple(Category(category.name, category.code) for category in answer.categories),
        tuple(
            Biller(
                biller.id,
                biller.name,
                biller.reference,
                biller.category,
                biller.slug,
                biller.pattern,
                biller.least,
                biller.most,
                biller.amount_step,
            )
            for biller in answer.billers
        ),
        tuple(map(read_item, answer.items)),
    )


def read_item(item: BillItem) -> Item:
    return Item(
        name=item.name,
        bills_id=item.biller,
        amount=format_minor(item.amount) if item.amount else "0",
        discount=item.discount,
        fee=item.fee,
        paycode=item.paycode,
        require_name_query=item.require_name_query,
        fulfilment=item.fulfillment,
    )
