"""Our accounts with vendors: which of them has an order, and whether a vendor's word about it can be believed.

The account is written with an order before it is first sent (core/routing.py). An order is not found with the keys of
another account. Such an answer must not count as a failure, and the order must not be sent again: it may have been
paid. So each order is sent and asked after with the keys of its own account, which are the current ones of the
settings or those of KASUWA_RAIL_FORMER_ACCOUNTS.

An account is named by a hash of address and key, so that a key which was replaced looks like another account. It is
the same one if an order of the one key is found with the other, or if an operator says so.
"""

from collections.abc import Collection, Mapping
from typing import Generic, TypeVar

from kasuwa.core.routing import AccountAlias
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import Answer, NothingSent, Unavailable

RailT = TypeVar("RailT")

# Answers that only an account which has the order gives.
FOUND = frozenset({orders.SUCCESSFUL, orders.FAILED, orders.PROCESSING, orders.CHALLENGE})

NOTICE = (
    "{rail} does not know an order that may have been sent with another account there: add the keys of that account to "
    "KASUWA_RAIL_FORMER_ACCOUNTS until its orders have ended, or run `kasuwa rail accounts --same {rail}` if only the "
    "key is another"
)
WAITING_NOTICE = (
    "an order waits for account {account} with {rail}, whose keys are not set: add them to "
    "KASUWA_RAIL_FORMER_ACCOUNTS until its orders have ended, or run `kasuwa rail accounts --same {rail}` if only the "
    "key is another"
)


class KnownAccounts:
    """Our accounts with vendors: the ones of the settings (`own`, by rail), the former ones whose keys are set too,
    and which others are the same."""

    def __init__(self, own: Mapping[str, str] | None = None, former: Collection[tuple[str, str]] = ()) -> None:
        self.own = dict(own or {})
        self.former = frozenset(former)
        self._aliases: set[AccountAlias] = set()
        self._learned: set[AccountAlias] = set()  # by this process, and not yet written

    def update(self, aliases: Collection[AccountAlias]) -> None:
        """Takes over what all processes have written."""
        self._aliases = {*aliases, *self._learned}

    def take_learned(self) -> list[AccountAlias]:
        """Returns the aliases that this process has found out, to be written once."""
        learned, self._learned = list(self._learned), set()
        return learned

    def find(self, rail: str, account: str) -> str | None:
        """Returns the account whose keys are set and that an order's account is the same as. None if there is none.

        An order at a rail without accounts, such as the sandbox, has none: ""."""
        if not account:
            return ""
        same_accounts, waiting = {account}, [account]
        while waiting:
            current = waiting.pop()
            if current == self.own.get(rail) or (rail, current) in self.former:
                return current
            for alias in self._aliases:
                pair = {alias.account, alias.same_as}
                if alias.rail == rail and current in pair:
                    waiting += pair - same_accounts
                    same_accounts |= pair
        return None

    def learn(self, rail: str, account: str) -> None:
        """Records that an order of an account was found with the account of the settings: only the key is another."""
        alias = AccountAlias(rail, account, self.own[rail])
        self._aliases.add(alias)
        self._learned.add(alias)

    def confirm(self, rail: str, account: str, answer: Answer) -> Answer:
        """Returns the answer to a query. Raises Unavailable if the order is not found and may be another account's."""
        if self.find(rail, account) is not None:
            return answer
        if answer.status in FOUND and rail in self.own:
            self.learn(rail, account)
        elif answer.status == orders.NOT_FOUND:
            raise Unavailable(f"{rail} does not know the order", notice=NOTICE.format(rail=rail))
        return answer


class AccountRails(Generic[RailT]):
    """The rails of a purpose with each of our accounts: `current` by name, `former` by name and account."""

    def __init__(
        self,
        current: Mapping[str, RailT],
        former: Mapping[tuple[str, str], RailT] | None = None,
        accounts: KnownAccounts | None = None,
    ) -> None:
        self.current = current
        self.former = former or {}
        self.accounts = accounts or KnownAccounts()

    def find(self, rail: str, account: str) -> RailT | None:
        """Returns the rail to ask after an order. With an account whose keys are not set it is the one of the settings,
        whose answer `KnownAccounts.confirm` judges. None if the rail is not configured at all."""
        known = self.accounts.find(rail, account)
        return self.former.get((rail, known or "")) or self.current.get(rail)

    def is_known(self, rail: str, account: str) -> bool:
        """Whether the keys of an order's account are set."""
        return self.accounts.find(rail, account) is not None

    def require_known(self, rail: str, account: str) -> None:
        """Raises NothingSent if an order cannot be sent because the keys of its account are not set."""
        if not self.is_known(rail, account):
            notice = WAITING_NOTICE.format(rail=rail, account=account)
            raise NothingSent(f"the account of the order with {rail} is not configured", notice=notice)

    def list_all(self, rail: str) -> list[RailT]:
        """Returns the rail with every account whose keys are set, the current one first."""
        former = [former_rail for (name, _), former_rail in self.former.items() if name == rail]
        return [*([self.current[rail]] if rail in self.current else []), *former]
