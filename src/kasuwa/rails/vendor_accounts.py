"""Tells whether a vendor's word that it does not know an order can be believed.

An order that was sent with another account at the vendor is not found with the keys of this one. Such an answer must
not count as a failure, and the order must not be sent again: it may have been paid.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from kasuwa.rails import ports
from kasuwa.rails.ports import Answer, Unavailable

# Processes write the accounts that they use every few seconds. One that has died may have used its account for so long
# after it wrote that.
MARGIN = timedelta(minutes=2)

NOTICE = (
    "{rail} does not know an order that may have been sent with another account there: set the keys of that account "
    "again until its orders have ended, or run `kasuwa rail accounts --same {rail}` if only the key is another"
)


class UsedAccount(Protocol):
    """A time during which processes used an account with a vendor. Implemented by db/vendor_accounts.py."""

    @property
    def rail(self) -> str: ...

    @property
    def account(self) -> str: ...

    @property
    def began_at(self) -> datetime: ...

    @property
    def last_used_at(self) -> datetime: ...


class KnownAccounts:
    """The accounts with vendors that are used by this process (`own`, by rail), and when others were used."""

    def __init__(self, own: Mapping[str, str] | None = None) -> None:
        self.own = dict(own or {})
        self._others: list[UsedAccount] = []

    def update(self, uses: Sequence[UsedAccount]) -> None:
        """Takes over the uses that all processes have written."""
        self._others = [use for use in uses if use.rail in self.own and use.account != self.own[use.rail]]

    def may_be_of_another(self, rail: str, sent_at: datetime | None) -> bool:
        """Whether an order may have been sent with another account than the one of this process."""
        return any(
            use.rail == rail and (sent_at is None or use.began_at - MARGIN <= sent_at <= use.last_used_at + MARGIN)
            for use in self._others
        )

    def confirm(self, rail: str, sent_at: datetime | None, answer: Answer) -> Answer:
        """Returns the answer to a query. Raises Unavailable if the order is not found and may be another account's."""
        if answer.status == ports.NOT_FOUND and self.may_be_of_another(rail, sent_at):
            raise Unavailable(f"{rail} does not know the order", notice=NOTICE.format(rail=rail))
        return answer
