"""A rail that is not there: everything asked of it is refused before anything is done."""

from kasuwa.rails.ports import Answer, NameAnswer, NameEnquiry, TransferOrder, Unavailable

MESSAGE = "no bank rail is configured"


class NoBank:
    async def transfer(self, order: TransferOrder) -> Answer:
        raise Unavailable(MESSAGE)

    async def query(self, order: TransferOrder) -> Answer:
        raise Unavailable(MESSAGE)

    async def account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        raise Unavailable(MESSAGE)
