"""The account rail of the test environment: every account is opened at once, with a number of the preferred bank.

It keeps no state: the number follows from the order. The `pay_account` action of the sandbox pays into accounts, so
the rail itself has no receipts to report. (data/magic_values.md)
"""

from datetime import datetime

from kasuwa.core.banks import banks_by_code
from kasuwa.core.keyring import derive
from kasuwa.core.references import first_rail_key
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.accounts import ACCOUNT_NAME, ACCOUNT_NUMBER, BANK_CODE, BANK_NAME, AccountOrder, Receipt
from kasuwa.rails.ports.orders import Answer
from kasuwa.transactions.inbound_accounts import account_number


class SandboxAccounts:
    async def open(self, order: AccountOrder) -> Answer:
        bank = banks_by_code()[order.bank_code]
        place = f"account {first_rail_key(order.key)} {order.attempt}"
        number = account_number(bank, derive(bytes.fromhex(order.seed), place))
        facts = {
            ACCOUNT_NUMBER: number,
            ACCOUNT_NAME: order.name,
            BANK_NAME: bank.name,
            BANK_CODE: bank.cbn_code or "",
        }
        return Answer(orders.SUCCESSFUL, "00", "The account is open", facts)

    async def query(self, order: AccountOrder) -> Answer:
        return await self.open(order)

    async def close(self, order: AccountOrder) -> Answer:
        return Answer(orders.SUCCESSFUL, "00", "The account is closed")

    async def find_receipt(self, reference: str) -> Receipt | None:
        return None

    async def list_receipts(self, order: AccountOrder, since: datetime) -> list[str]:
        return []
