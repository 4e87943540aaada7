"""Rails of orders: which rail an order goes to, and when it may still change it.

The rail of an order is chosen before the order is first sent, and written with it. From then on its queries, call-backs
and refunds go to that rail. An order may change its rail only while it is certain that nothing of it has left:

    the answer says that nothing was sent     the rail could not be reached, is held, or does not serve the bank
    the same holds for every earlier answer   otherwise `Job.is_rail_fixed` is set
    no process died with the order            a job that was claimed twice may have been sent by the first process

Our account with the rail (`rail_account`) is chosen and written with it, and stays for as long: an order is queried,
refunded and reconciled with the account that it was sent with, also after the keys in the settings have changed.

The database keeps the last two as well: a trigger of `scheduled_job` sets `is_rail_fixed` at the second claim, and
refuses another rail from then on (docs/decisions/0040). Another one sets `is_queried_first`: the order is sent again
only after its rail was queried, however often the job is rescheduled meanwhile (rails.ports.orders.send_or_query).
"""

from typing import Protocol

import msgspec


class RailDemand(msgspec.Struct, frozen=True):
    """The properties of an order that its rail is chosen by."""

    purpose: str  # bank, bills, ...: the setting KASUWA_RAIL_<PURPOSE> lists its rails
    amount: int = 0
    currency: str = "NGN"
    target: str = ""  # the code of the bank, or the paycode of the bill


class AccountAlias(msgspec.Struct, frozen=True):
    """Two keys of one account with a vendor: hashes, as orders have them."""

    rail: str
    account: str
    same_as: str


class RailPurpose(msgspec.Struct, frozen=True):
    """The rails of a purpose, as the settings choose them."""

    name: str
    order: tuple[str, ...]  # for new orders, the first choice first
    configured: tuple[str, ...]  # all whose keys are there
    shadow: str = ""  # the one that is asked to compare, and never paid by


class RailChooser(Protocol):
    """Chooses rails by the settings, and by what this process knows of each rail. Implemented by
    rails/routing/orders.py."""

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        """Returns the rail for an order: of those in `preferred` if a merchant has rails of its own, else of the
        settings. With `avoided` it returns another rail only if that one can take the order now: the next one in their
        order, so that each is tried before one is tried again. "" without rails."""
        ...

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        """Returns how many rails `choose` chooses from."""
        ...

    def find_account(self, rail: str, account: str = "") -> str:
        """Returns our account with a rail, a hash: `kept` if its keys are set, else the one that the settings have for
        new orders. "" if the rail has no accounts."""
        ...


class NoRouting:
    """Chooses no rail: orders go to the only one there is. For tests of rules."""

    def choose(self, demand: RailDemand, preferred: tuple[str, ...] = (), avoided: str = "") -> str:
        return avoided

    def count_rails(self, purpose: str, preferred: tuple[str, ...] = ()) -> int:
        return 1

    def find_account(self, rail: str, account: str = "") -> str:
        return account


NO_ROUTING = NoRouting()
