"""Routes orders and look-ups to the rails of a deployment.

A `RailSet` has the rails of one purpose. An order goes to the rail that was written with it (core/routing.py), also if
the settings have changed since: if that rail is no longer configured, the order waits. New orders, and orders that were
certainly not sent, are given the first rail of the settings that

    serves the bank or item          by the vendor's list, as far as this process has read it
    is not held                      by a Retry-After, or by our pause after several failures
    has enough of our money          by the balance that was read last

Look-ups change nothing. They go to the next rail if one cannot be reached.
"""

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar, runtime_checkable

import msgspec
import structlog

from kasuwa.core.routing import RailDemand
from kasuwa.rails.catalogue.catalogue import CatalogueEdition
from kasuwa.rails.ports import orders
from kasuwa.rails.ports.orders import (
    Answer,
    BankRail,
    BillerRail,
    BillOrder,
    CustomerAnswer,
    CustomerQuery,
    FloatShort,
    LookupDeclined,
    NameAnswer,
    NameEnquiry,
    NoAnswer,
    NothingSent,
    TransferOrder,
    Unavailable,
)
from kasuwa.rails.routing.item_lists import ItemList
from kasuwa.rails.routing.vendor_accounts import AccountRails, KnownAccounts

log = structlog.get_logger("kasuwa.rails")

# A balance that was read longer ago says nothing: the worker that reads it is away.
BALANCE_SECONDS = 600.0

RailT = TypeVar("RailT")
AnswerT = TypeVar("AnswerT")


class RailMonitor(Protocol):
    """The state of a rail in this process. Implemented by rails/vendors/client.py."""

    @property
    def held_seconds(self) -> float: ...


@runtime_checkable
class SelectiveRail(Protocol):
    """A rail that does not serve every bank. `serves` returns None while it does not know."""

    def serves(self, target: str) -> bool | None: ...


@runtime_checkable
class BankLister(Protocol):
    """A rail whose vendor has a list of banks. Those of ours that are not in it cannot be paid there."""

    def known_unmapped_banks(self) -> list[str] | None:
        """Returns the names of banks that cannot be paid, by the list read last. None before the first one."""
        ...

    async def list_unmapped_banks(self) -> list[str]:
        """Returns the same by the current list, and reads it if necessary. Raises Unavailable or NoAnswer."""
        ...


class KnownBalances:
    """Our balances with vendors as they were read last, less what this process has sent since."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[tuple[str, str], tuple[int, float]] = {}  # amount, and when it was learned

    def update(self, amounts: Mapping[tuple[str, str], int]) -> None:
        """Takes over balances that were just read, by rail and currency."""
        self._known.update({key: (amount, self._clock()) for key, amount in amounts.items()})

    def covers(self, rail: str, currency: str, amount: int) -> bool:
        """Tells whether a rail has enough of our money. An unknown balance is enough."""
        known, learned_at = self._known.get((rail, currency), (amount, 0.0))
        return known >= amount or self._clock() - learned_at > BALANCE_SECONDS

    def spend(self, rail: str, currency: str, amount: int) -> None:
        if (rail, currency) in self._known:
            known, learned_at = self._known[rail, currency]
            self._known[rail, currency] = (known - amount, learned_at)

    def mark_short(self, rail: str, currency: str, amount: int) -> None:
        """Records that a rail refused an amount for want of our money."""
        known, _ = self._known.get((rail, currency), (amount, 0.0))
        self._known[rail, currency] = (min(known, amount - 1), self._clock())


class RailSet(Generic[RailT]):
    """The rails of one purpose.

    `rails` are all that are configured. `order` are those for new orders, the first choice first. `unpaid` is one that
    is never given an order, because it runs in shadow mode. `items` are what billers sell: a biller other than the
    first of the settings, whose catalogue is offered, takes an order only if it is known to sell the item. `placed`
    has the rails by our accounts with their vendors: `place` sets the former accounts."""

    def __init__(
        self,
        purpose: str,
        rails: Mapping[str, RailT],
        order: tuple[str, ...],
        *,
        monitors: Mapping[str, RailMonitor],
        balances: KnownBalances,
        unpaid: str = "",
        items: Mapping[str, ItemList] = {},
    ) -> None:
        self.purpose = purpose
        self.rails = rails
        self.order = order
        self.monitors = monitors
        self.balances = balances
        self.unpaid = unpaid
        self.items = items
        self.placed: AccountRails[RailT] = AccountRails(rails)
        # Found once: the check of a protocol takes as long as the rest of a choice.
        self._selective: dict[str, SelectiveRail] = {}
        for name, rail in rails.items():
            if isinstance(rail, SelectiveRail):
                self._selective[name] = rail
        self._reported: set[str] = set()

    def place(self, former: Mapping[tuple[str, str], RailT], accounts: KnownAccounts) -> None:
        """Adds the rails with former accounts, by name and account."""
        self.placed = AccountRails(self.rails, former, accounts)

    # --- choosing ------------------------------------------------------------------------------------------------

    def choose(self, demand: RailDemand, preferred: tuple[str, ...], avoided: str) -> str:
        names = self.candidates(preferred)
        if len(names) == 1 and not avoided:
            return names[0]
        able = [name for name in list_others(names, avoided) if self._is_able(name, demand)]
        if able:
            return able[0]
        if avoided or not names:
            return avoided
        # None can take it now. It waits at the first one that serves it at all.
        return next((name for name in names if self._serves(name, demand.target, demand.amount)), names[0])

    def candidates(self, preferred: tuple[str, ...]) -> tuple[str, ...]:
        """Returns the rails for a merchant. Rails of its own that are no longer configured are left out."""
        return tuple(name for name in preferred if name in self.rails and name != self.unpaid) or self.order

    def _is_able(self, name: str, demand: RailDemand) -> bool:
        return (
            self._serves(name, demand.target, demand.amount)
            and not self.is_held(name)
            and self.balances.covers(name, demand.currency, demand.amount)
        )

    def _serves(self, name: str, target: str, amount: int = 0) -> bool:
        """Whether a rail serves a bank, or an item at an amount, as far as this process knows."""
        if name in self.items:
            known = self.items[name].sells(target, amount)
            return name in self.order[:1] if known is None else known
        rail = self._selective.get(name)
        return rail is None or rail.serves(target) is not False

    def is_held(self, name: str) -> bool:
        return name in self.monitors and self.monitors[name].held_seconds > 0

    # --- calling -------------------------------------------------------------------------------------------------

    def get(self, name: str, account: str = "") -> RailT:
        """Returns the rail of an order. Raises NothingSent if the order has none yet, and Unavailable if it is not
        configured: the order is sent nowhere else."""
        if not name:
            raise NothingSent(f"the order has no rail for {self.purpose} yet")
        rail = self.placed.find(name, account)
        if rail is not None:
            return rail
        if name not in self._reported:
            self._reported.add(name)
            log.error("orders wait for a rail that is not configured", purpose=self.purpose, rail=name)
        notice = f"an order waits for {name}, which is no longer configured: set its keys until its orders have ended"
        raise Unavailable(f"{name} is not configured", notice=notice)

    def get_first(self) -> RailT:
        """Returns the first choice of the settings. Raises Unavailable if there is none."""
        if not self.order:
            raise Unavailable(f"no rail for {self.purpose} is configured")
        return self.get(self.order[0])

    def get_for_sending(self, name: str, account: str = "") -> RailT:
        """Returns the rail that is written with an order. Raises NothingSent if none is, and if the keys of its account
        are not set: rail and account are chosen first."""
        rail = self.get(name, account)
        self.placed.require_known(name, account)
        return rail

    def confirm(self, order: TransferOrder | BillOrder, answer: Answer) -> Answer:
        """Returns the answer to the query of an order. Raises Unavailable if another account may have it."""
        return self.placed.accounts.confirm(order.rail, order.account, answer)

    async def ask_in_turn(
        self, preferred: tuple[str, ...], target: str, ask: Callable[[RailT], Awaitable[AnswerT]]
    ) -> tuple[str, AnswerT]:
        """Asks the rails until one answers, those that are held or do not serve the target last. Returns its name too.

        Raises the error of the first one if none can be reached."""
        names = self.candidates(preferred)
        if not names:
            raise Unavailable(f"no rail for {self.purpose} is configured")
        trouble: Unavailable | None = None
        for name in sorted(names, key=lambda name: (not self._serves(name, target), self.is_held(name))):
            try:
                return name, await ask(self.rails[name])
            except Unavailable as error:
                if isinstance(error, LookupDeclined) and self._serves(name, target):
                    raise
                trouble = trouble or error
        assert trouble is not None, "there is at least one rail"
        raise trouble

    def record_float(self, name: str, order: TransferOrder | BillOrder, answer: Answer | FloatShort | NoAnswer) -> None:
        """Keeps the known balance up to date with what an order has used, or could not use."""
        if isinstance(answer, FloatShort):
            self.balances.mark_short(name, order.currency, order.amount)
        elif isinstance(answer, NoAnswer) or answer.status != orders.FAILED:
            self.balances.spend(name, order.currency, order.amount)


def list_others(names: tuple[str, ...], avoided: str) -> tuple[str, ...]:
    """Returns the rails but the avoided one: those after it first, then those before it."""
    if avoided not in names:
        return names
    place = names.index(avoided)
    return (*names[place + 1 :], *names[:place])


class Router:
    """Chooses the rails of orders (core.routing.RailChooser): a table of rail sets by purpose."""

    def __init__(self) -> None:
        self.sets: dict[str, RailSet[object]] = {}
        self.accounts = KnownAccounts()

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        rails = self.sets.get(demand.purpose)
        return avoided if rails is None else rails.choose(demand, preferred, avoided)

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        rails = self.sets.get(purpose)
        return 0 if rails is None else len(rails.candidates(preferred))

    def find_account(self, rail: str, account: str = "") -> str:
        own = self.accounts.own.get(rail, "")
        return (self.accounts.find(rail, account) or own) if account else own

    def list_rails(self) -> Iterator[tuple[str, str, object]]:
        """Yields every configured rail with its purpose and name."""
        for purpose, rails in self.sets.items():
            for name, rail in rails.rails.items():
                yield purpose, name, rail


class NameComparison(msgspec.Struct, frozen=True):
    """A name enquiry that a rail has answered, to be compared with another rail in shadow mode."""

    rail: str
    enquiry: NameEnquiry
    answer: NameAnswer
    seconds: float


class RoutedBank:
    """The bank rail of a deployment. `on_name` is called with every answered name enquiry; it must return at once."""

    def __init__(self, rails: RailSet[BankRail], on_name: Callable[[NameComparison], None] | None = None) -> None:
        self._rails = rails
        self._on_name = on_name

    async def transfer(self, order: TransferOrder) -> Answer:
        rail = self._rails.get_for_sending(order.rail, order.account)
        try:
            answer = await rail.transfer(order)
        except (FloatShort, NoAnswer) as error:
            self._rails.record_float(order.rail, order, error)
            raise
        self._rails.record_float(order.rail, order, answer)
        return answer

    async def query(self, order: TransferOrder) -> Answer:
        answer = await self._rails.get(order.rail, order.account).query(order)
        return self._rails.confirm(order, answer)

    async def find_account_name(self, enquiry: NameEnquiry) -> NameAnswer:
        began = time.monotonic()
        name, answer = await self._rails.ask_in_turn(
            enquiry.rails,
            enquiry.bank.nip_code or enquiry.bank.cbn_code or "",
            lambda rail: rail.find_account_name(enquiry),
        )
        if self._on_name is not None:
            self._on_name(NameComparison(name, enquiry, answer, time.monotonic() - began))
        return answer


class RoutedBiller:
    """The biller rail of a deployment. The catalogue is that of the first rail."""

    def __init__(self, rails: RailSet[BillerRail]) -> None:
        self._rails = rails

    async def fetch_catalogue(self, edition: int) -> CatalogueEdition:
        return await self._rails.get_first().fetch_catalogue(edition)

    async def find_customer(self, query: CustomerQuery) -> CustomerAnswer:
        _, answer = await self._rails.ask_in_turn(query.rails, query.paycode, lambda rail: rail.find_customer(query))
        return answer

    async def pay(self, order: BillOrder) -> Answer:
        rail = self._rails.get_for_sending(order.rail, order.account)
        try:
            answer = await rail.pay(order)
        except (FloatShort, NoAnswer) as error:
            self._rails.record_float(order.rail, order, error)
            raise
        self._rails.record_float(order.rail, order, answer)
        return answer

    async def query(self, order: BillOrder) -> Answer:
        answer = await self._rails.get(order.rail, order.account).query(order)
        return self._rails.confirm(order, answer)

    async def reprint(self, order: BillOrder) -> Mapping[str, str]:
        return await self._rails.get(order.rail, order.account).reprint(order)
