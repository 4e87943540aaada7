"""Transfers and names on accounts by the rail protocol."""

from collections.abc import Mapping

from kasuwa.core.banks import Bank
from kasuwa.rails.ports.orders import Answer, NameAnswer, NameEnquiry, TransferOrder, UnreadableAnswer
from kasuwa.rails.remote.client import OrderKey, RemoteClient, make_query
from kasuwa.rails.remote.messages import NameFound, NameRequest, TransferRequest

TRANSFER, QUERY_TRANSFER, NAME_ENQUIRY = "/transfers", "/transfers/query", "/names"
LONGEST_TEXT = 200


class RemoteBank:
    def __init__(self, client: RemoteClient) -> None:
        self._client = client

    async def check_environment(self, environment: str) -> None:
        await self._client.check_environment(environment)

    async def transfer(self, order: TransferOrder) -> Answer:
        key = make_key(order)
        request = TransferRequest(
            key=key.wire_key,
            amount=order.amount,
            currency=order.currency,
            bank_code=get_code(order.bank),
            cbn_code=order.bank.cbn_code,
            account_number=order.account_number,
            sender_name=order.sender_name[:LONGEST_TEXT],
            narration=order.narration[:LONGEST_TEXT],
        )
        return await self._client.send(TRANSFER, request, key, make_query(QUERY_TRANSFER, key))

    async def query(self, order: TransferOrder) -> Answer:
        key = make_key(order)
        return await self._client.ask(*make_query(QUERY_TRANSFER, key), key)

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        bank = enquiry.bank
        request = NameRequest(bank_code=get_code(bank), cbn_code=bank.cbn_code, account_number=enquiry.account_number)
        answer = await self._client.look_up(NAME_ENQUIRY, request, NameFound)
        if answer.outcome == "not_found":
            return NameAnswer(None, answer.message)
        if not answer.name.strip():
            raise UnreadableAnswer("there is no name in the answer")
        return NameAnswer(answer.name.strip())

    async def balance(self) -> Mapping[str, int]:
        return await self._client.balance()


def make_key(order: TransferOrder) -> OrderKey:
    return OrderKey(order.key, order.amount, order.currency)


def get_code(bank: Bank) -> str:
    """Returns the code of a bank by NIP, or by the CBN if it has no other."""
    return bank.nip_code or bank.cbn_code or ""
