"""Chooses the rails of a deployment by its settings, and builds those of vendors with one HTTP client."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

import msgspec

from kasuwa.observe.metrics import RAIL_CALLS, RAIL_SECONDS, Metrics
from kasuwa.outbound.egress import EgressClient
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.ports.accounts import AccountRail
from kasuwa.rails.ports.callbacks import AnyAccountCallbacks, CallbackSource
from kasuwa.rails.ports.disputes import DisputeRail
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.rails.ports.hints import ReadHint
from kasuwa.rails.ports.orders import BankRail, BillerRail, CollectionRail, FundedRail, IdentityRail
from kasuwa.rails.remote import client as remote
from kasuwa.rails.remote.callbacks import read_hint as read_remote_hint
from kasuwa.rails.remote.cards import RemoteCards
from kasuwa.rails.routing.accounts import RoutedAccounts, RoutedDisputes, RoutedFeeds
from kasuwa.rails.routing.collections import RoutedCollection
from kasuwa.rails.routing.identities import RoutedIdentity
from kasuwa.rails.routing.item_lists import ItemList
from kasuwa.rails.routing.orders import KnownBalances, NameComparison, RailSet, RoutedBank, RoutedBiller, Router
from kasuwa.rails.routing.unconfigured import NoCollection
from kasuwa.rails.routing.vendor_accounts import AccountRails
from kasuwa.rails.sandbox.accounts import SandboxAccounts
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.vendor_rails import VendorRails, list_known_accounts, list_vendor_accounts
from kasuwa.rails.vendors.client import VendorLimits, VendorMonitor
from kasuwa.rails.vendors.monnify import collection as monnify_collection
from kasuwa.rails.vendors.monnify import hints as monnify_hints
from kasuwa.rails.vendors.monnify import session
from kasuwa.rails.vendors.paystack import collection as paystack_collection
from kasuwa.rails.vendors.paystack import hints as paystack_hints
from kasuwa.rails.vendors.paystack import transfers
from kasuwa.rails.vendors.termii import TermiiSms
from kasuwa.rails.vendors.vtpass import bills
from kasuwa.rails.watch.transport import EgressTransport, make_rail_limits
from kasuwa.settings.available_rails import configured_rails
from kasuwa.settings.rail_needs import RAIL_VENDORS
from kasuwa.settings.settings import (
    Settings,
    get_shadow,
    is_configured,
    list_former_settings,
    rail_loopback_allowed,
    rails_of_purpose,
    split_list,
)
from kasuwa.terms.vendors import CARD, COLLECT, CollectionVendor, CollectionVendors

RailT = TypeVar("RailT")
# The makers of the rails of a purpose, by vendor, with the keys of one account at each.
Makers = Callable[[VendorRails], Mapping[str, Callable[[], RailT]]]


class RailChoice:
    """The rails that the settings choose. Close it after use.

    Each purpose is a `RailSet` of `add_purpose`: all rails whose settings are there, and the order of those that take
    new orders. Rails with former accounts take no new orders: they have the orders that were sent with them."""

    def __init__(self, settings: Settings, metrics: Metrics, clock: DatabaseClock) -> None:
        # The settings allow http on loopback addresses alone; the client of the test environment accepts it there.
        loopback = rail_loopback_allowed(settings)
        self._egress = EgressClient(
            environment="test" if loopback else "live",
            loopback_allowed=loopback,
            limits=make_rail_limits(settings.rail_timeout),
        )
        self._settings = settings
        self._metrics = metrics
        self.monitors: dict[str, VendorMonitor] = {}
        transport = EgressTransport(self._egress)
        self._vendors = VendorRails(settings, transport, clock, self._monitor)
        self._former = self._read_former(transport, clock)
        self.accounts = list_known_accounts(settings)
        self.router = Router()
        self.router.accounts = self.accounts
        self.balances = KnownBalances()
        self.on_name: Callable[[NameComparison], None] | None = None
        self.banks: RailSet[BankRail] = self.add_purpose("bank", SandboxBank, VendorRails.banks)
        self._billers: RailSet[BillerRail] = self.add_purpose("bills", SandboxBiller, VendorRails.billers)
        self._billers.items = {name: ItemList(rail) for name, rail in self._billers.rails.items()}
        self._identities: RailSet[IdentityRail] = self.add_purpose("identity", SandboxIdentity, VendorRails.identities)
        collectors = {
            name: make() for name, make in self._vendors.collections().items() if is_configured(settings, COLLECT, name)
        }
        self._collectors = AccountRails(collectors, self._make_former(VendorRails.collections), self.accounts)
        shared = {name: partial(collectors.__getitem__, name) for name in collectors}
        self._cards: RailSet[CollectionRail] = self.add_purpose(CARD, SandboxCards, lambda _: shared)
        self._collections: RailSet[CollectionRail] = self.add_purpose(COLLECT, SandboxDebit, lambda _: shared)
        self._accounts: RailSet[AccountRail] = self.add_purpose("accounts", SandboxAccounts, VendorRails.accounts)

    def add_purpose(self, purpose: str, sandbox: Callable[[], RailT], makers_of: Makers[RailT]) -> RailSet[RailT]:
        """Builds the configured rails of a purpose, and has its orders routed among them."""
        makers = {**makers_of(self._vendors), "sandbox": sandbox}
        rails: RailSet[RailT] = RailSet(
            purpose,
            {name: makers[name]() for name in configured_rails(self._settings, purpose)},
            rails_of_purpose(self._settings, purpose),
            monitors=self.monitors,
            balances=self.balances,
            unpaid=get_shadow(self._settings, purpose),
        )
        rails.place({} if purpose in (CARD, COLLECT) else self._make_former(makers_of), self.accounts)
        self.router.sets[purpose] = rails  # type: ignore[assignment]
        return rails

    def _read_former(self, transport: EgressTransport, clock: DatabaseClock) -> dict[tuple[str, str], VendorRails]:
        """Returns what makes the rails with former accounts, by vendor and account. Each has limits of its own: one
        whose keys were revoked must not have the vendor paused."""
        own, former = list_vendor_accounts(self._settings), {}
        for vendor, settings in list_former_settings(self._settings):
            account = list_vendor_accounts(settings)[vendor]
            if own.get(vendor) != account:
                monitor = self._make_monitor()
                former[vendor, account] = VendorRails(settings, transport, clock, partial(use_monitor, monitor))
        return former

    def _make_former(self, makers_of: Makers[RailT]) -> dict[tuple[str, str], RailT]:
        """Returns the rails of a purpose with former accounts."""
        makers = {place: makers_of(vendors).get(place[0]) for place, vendors in self._former.items()}
        return {place: make() for place, make in makers.items() if make is not None}

    def make_bank(self) -> BankRail:
        return RoutedBank(self.banks, lambda answered: self.on_name(answered) if self.on_name else None)

    def make_identity(self) -> RoutedIdentity:
        return RoutedIdentity(self._identities)

    def make_biller(self) -> BillerRail:
        return RoutedBiller(self._billers)

    def other_item_lists(self) -> dict[str, ItemList]:
        """Returns the lists of the billers whose catalogue is not the one that is offered."""
        return {name: items for name, items in self._billers.items.items() if name not in self._billers.order[:1]}

    def make_remote(self) -> remote.RemoteClient:
        return self._vendors.make_remote()

    def make_collections(self) -> "CollectionRails":
        """Returns the rails of payments. All vendors whose keys are set take part: a payment stays with its own."""
        has_sandbox = self._settings.environment == "test"
        vendors = self._collectors
        return CollectionRails(
            card=RoutedCollection(SandboxCards() if has_sandbox else NoCollection(), vendors),
            debit=RoutedCollection(SandboxDebit() if has_sandbox else NoCollection(), vendors),
            mobile=RoutedCollection(SandboxMobile() if has_sandbox else NoCollection(), vendors),
        )

    def make_sms(self) -> TermiiSms | None:
        """Returns the vendor of text messages, or None if its key is not set."""
        return None if self._settings.termii_api_key is None else self._vendors.make_termii()

    # --- accounts and feeds --------------------------------------------------------------------------------------

    def make_accounts(self) -> dict[str, AccountRail]:
        """Returns every rail that may have opened accounts: the sandbox in test, and the vendors whose keys are set."""
        placed = self._accounts.placed
        names = dict.fromkeys([*placed.current, *(name for name, _ in placed.former)])
        return {name: RoutedAccounts(name, placed) for name in names}

    def make_feeds(self) -> dict[str, FeedRail]:
        """Returns the vendors in use that report disputes and settlements."""
        placed = self._place_used(VendorRails.feeds)
        names = dict.fromkeys([*placed.current, *(name for name, _ in placed.former)])
        return {name: RoutedFeeds(name, placed) for name in names}

    def make_dispute_rails(self) -> dict[str, DisputeRail]:
        """Returns the vendors in use that take the answers of merchants to disputes."""
        placed = self._place_used(VendorRails.disputes)
        names = dict.fromkeys([*placed.current, *(name for name, _ in placed.former)])
        return {name: RoutedDisputes(name, placed) for name in names}

    def _place_used(self, makers_of: Makers[RailT]) -> AccountRails[RailT]:
        """Returns the rails that the vendors in use have, with each of our accounts."""
        used = {name: make() for name, make in makers_of(self._vendors).items() if self._is_used(name)}
        return AccountRails(used, self._make_former(makers_of), self.accounts)

    def _is_used(self, vendor: str) -> bool:
        """Whether a vendor serves a purpose, or may have orders and accounts from earlier settings."""
        return any(
            vendor in vendors and is_configured(self._settings, purpose, vendor)
            for purpose, vendors in RAIL_VENDORS.items()
        )

    # --- call-backs ------------------------------------------------------------------------------------------------

    def callback_hints(self) -> dict[str, ReadHint]:
        """Returns what reads hints from call-backs, by the name of the rail in their path."""
        readers: dict[str, ReadHint] = {
            transfers.NAME: paystack_hints.read_hint,
            session.NAME: monnify_hints.read_hint,
            remote.NAME: read_remote_hint,
        }
        former = {vendor for vendor, _ in self._former}
        return {name: read for name, read in readers.items() if self._is_used(name) or name in former}

    def callback_sources(self) -> dict[str, CallbackSource]:
        """Returns the rails whose call-backs are received, by the name in their path. Each of our accounts with a
        vendor signs with a key of its own."""
        has_path = self._settings.vtpass_callback_secret is not None
        sources: dict[str, CallbackSource] = {}
        for name in VendorRails.callbacks(self._vendors):
            if name == bills.NAME and not has_path:
                continue
            makers = [self._vendors.callbacks()[name]] if self._is_used(name) else []
            makers += [vendors.callbacks()[name] for (vendor, _), vendors in self._former.items() if vendor == name]
            vendor_sources = [make() for make in makers]
            if vendor_sources:
                sources[name] = (
                    vendor_sources[0]
                    if len(vendor_sources) == 1 or name == bills.NAME
                    else AnyAccountCallbacks(vendor_sources)
                )
        return sources

    def card_messages(self) -> RemoteCards | None:
        """Returns what reads the messages of the rail that announces purchases with cards issued here, if one does."""
        return self._vendors.make_card_messages() if self._settings.remote_cards else None

    # --- what all share --------------------------------------------------------------------------------------------

    def funded_rails(self) -> dict[str, FundedRail]:
        """Returns the configured rails that are paid from a balance of ours, by their vendor's name."""
        return {name: rail for _, name, rail in self.router.list_rails() if isinstance(rail, FundedRail)}

    def former_funded(self) -> dict[tuple[str, str], FundedRail]:
        """Returns the rails with former accounts that have a balance, by vendor and account."""
        placed = {**self._billers.placed.former, **self.banks.placed.former}
        return {place: rail for place, rail in placed.items() if isinstance(rail, FundedRail)}

    async def close(self) -> None:
        await self._egress.close()

    def _monitor(self, vendor: str) -> VendorMonitor:
        """Returns the monitor of a vendor, which all of its adapters share."""
        if vendor not in self.monitors:
            self.monitors[vendor] = self._make_monitor()
        return self.monitors[vendor]

    def _make_monitor(self) -> VendorMonitor:
        return VendorMonitor(self._observe, VendorLimits(in_flight=self._settings.rail_in_flight))

    def _observe(self, rail: str, outcome: str, seconds: float) -> None:
        self._metrics.count(RAIL_CALLS, rail, outcome)
        self._metrics.observe(RAIL_SECONDS, seconds, rail)


def use_monitor(monitor: VendorMonitor, vendor: str) -> VendorMonitor:
    """Returns one monitor for every vendor. Bound to the monitor of a former account."""
    return monitor


class CollectionRails(msgspec.Struct, frozen=True):
    """The rails of payments, by the part of the books that they use."""

    card: CollectionRail
    debit: CollectionRail
    mobile: CollectionRail


def list_collection_vendors(settings: Settings) -> CollectionVendors:
    """Returns the vendors that new payments are sent to, with what they serve."""
    of_remote = CollectionVendor(
        remote.NAME, frozenset(split_list(settings.remote_methods)), frozenset(split_list(settings.remote_currencies))
    )
    served = {vendor.name: vendor for vendor in (paystack_collection.SERVED, monnify_collection.SERVED, of_remote)}
    return CollectionVendors(
        card=tuple(served[name] for name in rails_of_purpose(settings, CARD) if name in served),
        collect=tuple(served[name] for name in rails_of_purpose(settings, COLLECT) if name in served),
        configured={name: vendor for name, vendor in served.items() if is_configured(settings, COLLECT, name)},
        takes_card_numbers=settings.environment == "test" or settings.checkout_cards,
    )
