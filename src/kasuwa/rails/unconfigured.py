"""Rails of a deployment without a provider: every call raises Unavailable, so nothing is done."""

from collections.abc import Mapping

from kasuwa.core.billers import CatalogueEdition
from kasuwa.rails.ports import (
    Answer,
    BillOrder,
    CardSecrets,
    CollectionOrder,
    CustomerAnswer,
    CustomerQuery,
    IdentityQuery,
    NameAnswer,
    NameEnquiry,
    Person,
    TransferOrder,
    Unavailable,
)

NO_BANK = "no bank rail is configured"
NO_COLLECTION = "no rail for collections is configured"
NO_BILLER = "no biller rail is configured"


class NoBank:
    async def transfer(self, order: TransferOrder) -> Answer:
        raise Unavailable(NO_BANK)

    async def query(self, order: TransferOrder) -> Answer:
        raise Unavailable(NO_BANK)

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        raise Unavailable(NO_BANK)


class NoCollection:
    async def begin(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def charge(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def validate(self, order: CollectionOrder, otp: str | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def query(self, order: CollectionOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def refund(self, order: CollectionOrder) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def query_refund(self, order: CollectionOrder) -> Answer:
        raise Unavailable(NO_COLLECTION)


class NoBiller:
    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        raise Unavailable(NO_BILLER)

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer:
        raise Unavailable(NO_BILLER)

    async def pay(self, order: BillOrder) -> Answer:
        raise Unavailable(NO_BILLER)

    async def query(self, order: BillOrder) -> Answer:
        raise Unavailable(NO_BILLER)

    async def reprint(self, order: BillOrder) -> Mapping[str, str]:
        raise Unavailable(NO_BILLER)


class NoIdentity:
    async def find_person(self, enquiry: IdentityQuery) -> Person | None:
        raise Unavailable("no identity register is configured")
