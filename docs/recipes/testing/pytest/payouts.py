"""Payouts of a small marketplace: sends money to sellers, and learns from events how it went."""

import sqlite3
from collections.abc import Mapping
from decimal import Decimal

from kasuwa_client import InsufficientFunds, InvalidSignature, Kasuwa, OutcomeUnknown, TransferEvent, verify_event

TABLE = """
    create table payout (
        number integer primary key, seller text not null, amount text not null, status text not null default 'new'
    )
"""


class Payouts:
    """The payouts in a database. The number of a payout is its orderRef, so that it is never sent twice."""

    def __init__(self, client: Kasuwa, database: sqlite3.Connection) -> None:
        self._client = client
        self._database = database
        self._database.execute(TABLE)

    def pay_out(self, seller: str, amount: Decimal, bank: str, account: str) -> int:
        """Records a payout and sends it. Returns its number."""
        made = self._database.execute("insert into payout (seller, amount) values (?, ?)", (seller, f"{amount:.2f}"))
        number = made.lastrowid
        assert number is not None
        self._database.commit()  # before the money leaves: a crash from here on loses no payout
        self._send(number, amount, bank, account)
        return number

    def _send(self, number: int, amount: Decimal, bank: str, account: str) -> None:
        try:
            sent = self._client.disburse.transfer(
                amount=amount, bankcode=bank, accountnumber=account, order_ref=order_ref(number)
            )
        except InsufficientFunds:
            self._set_status(number, "failed")
        except OutcomeUnknown:
            self._set_status(number, "processing")  # the event says later how it ended
        else:
            self._set_status(number, sent.txn_status)

    def receive_event(self, body: bytes, headers: Mapping[str, str], key: str) -> int:
        """Handles a delivery of the webhook. Returns the HTTP status to answer with."""
        try:
            event = verify_event(body, headers, key)
        except InvalidSignature:
            return 400
        if isinstance(event, TransferEvent):
            # A second delivery of the same event changes nothing.
            self._set_status(int(event.order_ref.removeprefix("payout-")), event.txn_status)
        return 200

    def status(self, number: int) -> str:
        [[status]] = self._database.execute("select status from payout where number = ?", (number,))
        return str(status)

    def _set_status(self, number: int, status: str) -> None:
        final = ("successful", "failed")
        self._database.execute(
            "update payout set status = ? where number = ? and status not in (?, ?)", (status, number, *final)
        )
        self._database.commit()


def order_ref(number: int) -> str:
    return f"payout-{number}"
