"""Rails that are not there: everything asked of them is refused before anything is done."""

from kasuwa.rails.ports import (
    Answer,
    CardSecrets,
    CollectOrder,
    IdentityEnquiry,
    NameAnswer,
    NameEnquiry,
    Person,
    TransferOrder,
    Unavailable,
)

NO_BANK = "no bank rail is configured"
NO_COLLECTION = "no rail for collections is configured"


class NoBank:
    async def transfer(self, order: TransferOrder) -> Answer:
        raise Unavailable(NO_BANK)

    async def query(self, order: TransferOrder) -> Answer:
        raise Unavailable(NO_BANK)

    async def account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        raise Unavailable(NO_BANK)


class NoCollection:
    async def begin(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def charge(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def validate(self, order: CollectOrder, otp: str | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def query(self, order: CollectOrder, card: CardSecrets | None) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def refund(self, order: CollectOrder) -> Answer:
        raise Unavailable(NO_COLLECTION)

    async def query_refund(self, order: CollectOrder) -> Answer:
        raise Unavailable(NO_COLLECTION)


class NoIdentity:
    async def find_person(self, enquiry: IdentityEnquiry) -> Person | None:
        raise Unavailable("no identity register is configured")
