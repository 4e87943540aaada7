"""Accounts that customers pay into, and the money that comes in, by the rail protocol."""

from datetime import UTC, datetime

from kasuwa.core.banks import banks_by_code
from kasuwa.core.references import parse_wire_reference, wire_reference
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import ACCOUNT_NAME, ACCOUNT_NUMBER, BANK_CODE, BANK_NAME, AccountOrder, Receipt
from kasuwa.rails.ports.orders import Answer, UnreadableAnswer
from kasuwa.rails.remote.client import CODES, MESSAGES, RemoteClient
from kasuwa.rails.remote.messages import (
    AccountAnswer,
    AccountRequest,
    CreditAnswer,
    CreditQuery,
    CreditsAnswer,
    CreditsRequest,
    OrderQuery,
)

OPEN, QUERY, CLOSE = "/accounts", "/accounts/query", "/accounts/close"
CREDITS, QUERY_CREDIT = "/accounts/credits", "/accounts/credits/query"
LONGEST_TEXT = 200
MOST_PAGES = 100

STATUSES = {
    "open": orders.SUCCESSFUL,
    "processing": orders.PROCESSING,
    "failed": orders.FAILED,
    "closed": orders.FAILED,
    "not_found": orders.NOT_FOUND,
}


class RemoteAccounts:
    """The account rail."""

    def __init__(self, client: RemoteClient) -> None:
        self._client = client

    async def open(self, order: AccountOrder) -> Answer:
        request = AccountRequest(
            key=wire_reference(order.key), name=order.name[:LONGEST_TEXT], email=order.email, bvn=order.bvn
        )
        account = await self._client.place(OPEN, request, AccountAnswer)
        return await self.query(order) if account is None else read_account(account, order)

    async def query(self, order: AccountOrder) -> Answer:
        request = OrderQuery(key=wire_reference(order.key))
        return read_account(await self._client.look_up(QUERY, request, AccountAnswer, is_throttled=False), order)

    async def close(self, order: AccountOrder) -> Answer:
        account = await self._client.place(CLOSE, OrderQuery(key=wire_reference(order.key)), AccountAnswer)
        if account is not None and account.outcome in ("closed", "not_found"):
            return Answer(orders.SUCCESSFUL, CODES[orders.SUCCESSFUL], "The account is closed")
        words = "" if account is None else account.message
        return Answer(orders.FAILED, CODES[orders.FAILED], words or "The rail did not close the account")

    async def find_receipt(self, reference: str) -> Receipt | None:
        request = CreditQuery(rail_reference=reference)
        answer = await self._client.look_up(QUERY_CREDIT, request, CreditAnswer, is_throttled=False)
        credit = answer.credit
        if answer.outcome == "not_found":
            return None
        if credit is None or credit.rail_reference != reference:
            raise UnreadableAnswer("the answer is not the credit of this reference")
        return Receipt(
            reference=credit.rail_reference,
            amount=credit.amount,
            currency=credit.currency,
            status=orders.SUCCESSFUL,
            account_number=credit.account_number,
            account_key=parse_wire_reference(credit.key) or "",
            sender_name=credit.sender_name,
        )

    async def list_receipts(self, order: AccountOrder, since: datetime) -> list[str]:
        """Returns the references of an account's credits. A page that brings nothing new ends the list."""
        key, first = wire_reference(order.key), since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        listed: dict[str, str] = {}  # the key of each credit by its reference
        after = ""
        for _ in range(MOST_PAGES):
            request = CreditsRequest(since=first, key=key, after=after)
            page = (await self._client.look_up(CREDITS, request, CreditsAnswer, is_throttled=False)).credits
            if all(credit.rail_reference in listed for credit in page):
                break
            listed |= {credit.rail_reference: credit.key for credit in page}
            after = page[-1].rail_reference
        return [reference for reference, owner in listed.items() if owner == key]


def read_account(answer: AccountAnswer, order: AccountOrder) -> Answer:
    """Returns the state of an account. An answer for another one is unreadable."""
    if answer.key != wire_reference(order.key):
        notice = f"the remote rail answered for another account than {wire_reference(order.key)}"
        return Answer(orders.UNREADABLE, None, "The rail answered for another account", notice=notice)
    status = STATUSES[answer.outcome]
    if status != orders.SUCCESSFUL:
        message = answer.message or (
            "The account is closed" if answer.outcome == "closed" else MESSAGES.get(status, "")
        )
        return Answer(status, CODES.get(status), message)
    bank = banks_by_code().get(answer.bank_code)
    facts = {
        ACCOUNT_NUMBER: answer.account_number,
        ACCOUNT_NAME: answer.account_name,
        BANK_CODE: answer.bank_code,
        BANK_NAME: answer.bank_name or ("" if bank is None else bank.name),
    }
    return Answer(status, CODES[status], answer.message or "The account is open", facts)
