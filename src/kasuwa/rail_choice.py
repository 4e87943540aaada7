"""Chooses the rails of a deployment by its settings, and builds those of vendors with one HTTP client."""

from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from typing import TypeVar

import msgspec

from kasuwa.core.collection_vendors import CARD, COLLECT, CollectionVendor, CollectionVendors
from kasuwa.core.rail_needs import RAIL_VENDORS
from kasuwa.db.clock import DatabaseClock
from kasuwa.observe.metrics import RAIL_CALLS, RAIL_SECONDS, Metrics
from kasuwa.rail_settings import configured_rails
from kasuwa.rails.account_port import AccountRail
from kasuwa.rails.callbacks import CallbackSource
from kasuwa.rails.collection_routing import RoutedCollection
from kasuwa.rails.dispute_port import DisputeRail
from kasuwa.rails.feeds import FeedRail
from kasuwa.rails.hints import ReadHint
from kasuwa.rails.identity_port import CONSENT, FIND, MATCH, Way
from kasuwa.rails.identity_routing import RoutedIdentity
from kasuwa.rails.item_lists import ItemList
from kasuwa.rails.ports import BankRail, BillerRail, CollectionRail, FundedRail, IdentityRail
from kasuwa.rails.remote import client as remote
from kasuwa.rails.remote.accounts import RemoteAccounts
from kasuwa.rails.remote.bank import RemoteBank
from kasuwa.rails.remote.biller import RemoteBiller
from kasuwa.rails.remote.callbacks import RemoteCallbacks
from kasuwa.rails.remote.callbacks import read_hint as read_remote_hint
from kasuwa.rails.remote.collection import RemoteCollection
from kasuwa.rails.remote.identity import RemoteIdentity
from kasuwa.rails.remote.signing import RemoteSecret
from kasuwa.rails.routing import (
    KnownBalances,
    NameComparison,
    RailSet,
    RoutedBank,
    RoutedBiller,
    Router,
)
from kasuwa.rails.sandbox.accounts import SandboxAccounts
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.unconfigured import NoCollection
from kasuwa.rails.vendor_accounts import KnownAccounts
from kasuwa.rails.vendors import (
    dojah,
    monnify,
    monnify_collection,
    monnify_hints,
    paystack,
    paystack_collection,
    paystack_hints,
    vtpass,
)
from kasuwa.rails.vendors.client import VendorClient, VendorLimits, VendorMonitor
from kasuwa.rails.vendors.monnify_accounts import MonnifyAccounts
from kasuwa.rails.vendors.monnify_feeds import MonnifyFeeds
from kasuwa.rails.vendors.monnify_identity import MonnifyIdentity
from kasuwa.rails.vendors.paystack_accounts import PaystackAccounts, PaystackAccountTerms
from kasuwa.rails.vendors.paystack_disputes import PaystackDisputes
from kasuwa.rails.vendors.paystack_feeds import PaystackFeeds
from kasuwa.settings import (
    Settings,
    is_configured,
    list_of,
    rail_loopback_allowed,
    rails_of_purpose,
    shadow_of,
)
from kasuwa.work.egress import EgressClient
from kasuwa.work.rail_transport import EgressTransport, make_rail_limits

RailT = TypeVar("RailT")

# How a rail that speaks the rail protocol verifies a BVN, by the setting.
WAYS: dict[str, Way] = {"find": FIND, "match": MATCH, "consent": CONSENT}


class RailChoice:
    """The rails that the settings choose. Close it after use.

    Each purpose is a `RailSet` of `add_purpose`: all rails whose settings are there, and the order of those that take
    new orders."""

    def __init__(self, settings: Settings, metrics: Metrics, clock: DatabaseClock) -> None:
        # The settings allow http on loopback addresses alone; the client of the test environment accepts it there.
        loopback = rail_loopback_allowed(settings)
        self._egress = EgressClient(
            environment="test" if loopback else "live",
            loopback_allowed=loopback,
            limits=make_rail_limits(settings.rail_timeout),
        )
        self._transport = EgressTransport(self._egress)
        self._settings = settings
        self._metrics = metrics
        self._clock = clock
        self._remote: remote.RemoteClient | None = None
        self.router = Router()
        self.balances = KnownBalances()
        self.accounts = KnownAccounts(vendor_accounts_of(settings))
        self.monitors: dict[str, VendorMonitor] = {}
        self.on_name: Callable[[NameComparison], None] | None = None
        self.banks: RailSet[BankRail] = self.add_purpose(
            "bank",
            {
                "sandbox": SandboxBank,
                paystack.NAME: self.make_paystack,
                monnify.NAME: self.make_monnify,
                remote.NAME: lambda: RemoteBank(self.make_remote()),
            },
        )
        self._billers: RailSet[BillerRail] = self.add_purpose(
            "bills",
            {
                "sandbox": SandboxBiller,
                vtpass.NAME: self.make_vtpass,
                remote.NAME: lambda: RemoteBiller(self.make_remote()),
            },
        )
        self._billers.items = {name: ItemList(rail) for name, rail in self._billers.rails.items()}
        self._identities: RailSet[IdentityRail] = self.add_purpose(
            "identity",
            {
                "sandbox": SandboxIdentity,
                dojah.NAME: self.make_dojah,
                monnify.NAME: self.make_monnify_identity,
                remote.NAME: lambda: RemoteIdentity(self.make_remote(), WAYS[settings.remote_identity]),
            },
        )
        self._collectors = self._make_collection_vendors()
        collectors = {name: partial(self._collectors.__getitem__, name) for name in self._collectors}
        self._cards: RailSet[CollectionRail] = self.add_purpose(CARD, {"sandbox": SandboxCards, **collectors})
        self._collections: RailSet[CollectionRail] = self.add_purpose(COLLECT, {"sandbox": SandboxDebit, **collectors})
        self._accounts: RailSet[AccountRail] = self.add_purpose(
            "accounts",
            {
                "sandbox": SandboxAccounts,
                paystack.NAME: self._make_paystack_accounts,
                monnify.NAME: self._make_monnify_accounts,
                remote.NAME: lambda: RemoteAccounts(self.make_remote()),
            },
        )

    def add_purpose(self, purpose: str, makers: Mapping[str, Callable[[], RailT]]) -> RailSet[RailT]:
        """Builds the configured rails of a purpose, and has its orders routed among them."""
        rails = RailSet(
            purpose,
            {name: makers[name]() for name in configured_rails(self._settings, purpose)},
            rails_of_purpose(self._settings, purpose),
            monitors=self.monitors,
            balances=self.balances,
            unpaid=shadow_of(self._settings, purpose),
        )
        rails.accounts = self.accounts
        self.router.sets[purpose] = rails  # type: ignore[assignment]
        return rails

    def make_bank(self) -> BankRail:
        return RoutedBank(self.banks, lambda answered: self.on_name(answered) if self.on_name else None)

    def make_paystack(self) -> paystack.PaystackBank:
        base_url, domain = self._base_url(paystack.NAME), self._settings.environment
        monitor = self._monitor(paystack.NAME)
        return paystack.PaystackBank(self._transport, base_url, self._paystack_keys(), domain, monitor)

    def _paystack_keys(self) -> paystack.PaystackKeys:
        return paystack.PaystackKeys(self._settings.paystack_secret_key or "")

    def make_monnify(self) -> monnify.MonnifyBank:
        base_url, monitor = self._base_url(monnify.NAME), self._monitor(monnify.NAME)
        return monnify.MonnifyBank(self._transport, base_url, self._monnify_keys(), monitor)

    def _monnify_keys(self) -> monnify.MonnifyKeys:
        settings = self._settings
        return monnify.MonnifyKeys(
            settings.monnify_api_key or "",
            settings.monnify_secret_key or "",
            settings.monnify_wallet_account or "",
            settings.monnify_contract_code or "",
        )

    def make_identity(self) -> RoutedIdentity:
        return RoutedIdentity(self._identities)

    def make_dojah(self) -> dojah.DojahIdentity:
        keys = dojah.DojahKeys(self._settings.dojah_app_id or "", self._settings.dojah_secret_key or "")
        make = dojah.DojahMatching if self._settings.dojah_lookup == "match" else dojah.DojahIdentity
        return make(self._transport, self._base_url(dojah.NAME), keys, self._monitor(dojah.NAME))

    def make_monnify_identity(self) -> MonnifyIdentity:
        base_url, monitor = self._base_url(monnify.NAME), self._monitor(monnify.NAME)
        return MonnifyIdentity(self._transport, base_url, self._monnify_keys(), monitor)

    def make_biller(self) -> BillerRail:
        return RoutedBiller(self._billers)

    def other_item_lists(self) -> dict[str, ItemList]:
        """Returns the lists of the billers whose catalogue is not the one that is offered."""
        return {name: items for name, items in self._billers.items.items() if name not in self._billers.order[:1]}

    def make_vtpass(self) -> vtpass.VtpassBiller:
        settings = self._settings
        keys = vtpass.VtpassKeys(
            settings.vtpass_api_key or "", settings.vtpass_public_key or "", settings.vtpass_secret_key or ""
        )
        base_url, phone = self._base_url(vtpass.NAME), settings.vtpass_phone or ""
        monitor = self._monitor(vtpass.NAME)
        return vtpass.VtpassBiller(self._transport, base_url, keys, phone, monitor, self._clock.now)

    def make_remote(self) -> remote.RemoteClient:
        """Returns the client of the rail that speaks the rail protocol. All purposes share it, and its limits."""
        if self._remote is None:
            base_url = self._settings.remote_base_url or ""
            self._remote = remote.RemoteClient(
                self._transport, base_url, self._remote_secrets(), self._monitor(remote.NAME)
            )
        return self._remote

    def _remote_secrets(self) -> tuple[RemoteSecret, ...]:
        settings = self._settings
        current = RemoteSecret(settings.remote_key_id or "", settings.remote_secret or "")
        if settings.remote_old_key_id is None:
            return (current,)
        return current, RemoteSecret(settings.remote_old_key_id, settings.remote_old_secret or "")

    # --- collections ---------------------------------------------------------------------------------------------

    def make_collections(self) -> "CollectionRails":
        """Returns the rails of payments. All vendors whose keys are set take part: a payment stays with its own."""
        has_sandbox = self._settings.environment == "test"
        vendors = self._collectors
        return CollectionRails(
            card=RoutedCollection(SandboxCards() if has_sandbox else NoCollection(), vendors, self.accounts),
            debit=RoutedCollection(SandboxDebit() if has_sandbox else NoCollection(), vendors, self.accounts),
            mobile=RoutedCollection(SandboxMobile() if has_sandbox else NoCollection(), vendors, self.accounts),
        )

    def _make_collection_vendors(self) -> dict[str, CollectionRail]:
        vendors: dict[str, CollectionRail] = {}
        if is_configured(self._settings, "collect", paystack.NAME):
            vendors[paystack.NAME] = self._make_paystack_collection()
        if is_configured(self._settings, "collect", monnify.NAME):
            vendors[monnify.NAME] = self._make_monnify_collection()
        if is_configured(self._settings, "collect", remote.NAME):
            vendors[remote.NAME] = RemoteCollection(self.make_remote())
        return vendors

    def _make_paystack_collection(self) -> paystack_collection.PaystackCollection:
        settings = self._settings
        client = VendorClient(
            paystack.NAME,
            self._base_url(paystack.NAME),
            self._transport,
            paystack.is_envelope,
            self._monitor(paystack.NAME),
        )
        return paystack_collection.PaystackCollection(
            client,
            self._paystack_keys().secret_key,
            settings.environment,
            settings.rail_email_domain or "",
            self.make_paystack().find_bank_code,
        )

    def _make_monnify_collection(self) -> monnify_collection.MonnifyCollection:
        base_url, domain = self._base_url(monnify.NAME), self._settings.rail_email_domain or ""
        monitor = self._monitor(monnify.NAME)
        return monnify_collection.MonnifyCollection(self._transport, base_url, self._monnify_keys(), monitor, domain)

    # --- accounts and feeds --------------------------------------------------------------------------------------

    def make_accounts(self) -> dict[str, AccountRail]:
        """Returns every rail that may have opened accounts: the sandbox in test, and the vendors whose keys are set."""
        return dict(self._accounts.rails)

    def _make_paystack_accounts(self) -> PaystackAccounts:
        settings = self._settings
        base_url, domain = self._base_url(paystack.NAME), settings.environment
        bank = settings.paystack_account_bank or ("wema-bank" if domain == "live" else "test-bank")
        terms = PaystackAccountTerms(settings.paystack_phone or "", settings.rail_email_domain or "", bank)
        monitor = self._monitor(paystack.NAME)
        return PaystackAccounts(self._transport, base_url, self._paystack_keys(), domain, terms, monitor)

    def _make_monnify_accounts(self) -> MonnifyAccounts:
        base_url, monitor = self._base_url(monnify.NAME), self._monitor(monnify.NAME)
        return MonnifyAccounts(self._transport, base_url, self._monnify_keys(), monitor)

    def make_feeds(self) -> dict[str, FeedRail]:
        """Returns the vendors in use that tell of disputes and settlements."""
        feeds: dict[str, FeedRail] = {}
        if self._is_used(paystack.NAME):
            base_url = self._base_url(paystack.NAME)
            feeds[paystack.NAME] = PaystackFeeds(
                self._transport, base_url, self._paystack_keys(), self._monitor(paystack.NAME)
            )
        if self._is_used(monnify.NAME):
            base_url = self._base_url(monnify.NAME)
            feeds[monnify.NAME] = MonnifyFeeds(
                self._transport, base_url, self._monnify_keys(), self._monitor(monnify.NAME)
            )
        return feeds

    def make_dispute_rails(self) -> dict[str, DisputeRail]:
        """Returns the vendors in use that take the answers of merchants to disputes."""
        if not self._is_used(paystack.NAME):
            return {}
        base_url, monitor = self._base_url(paystack.NAME), self._monitor(paystack.NAME)
        return {paystack.NAME: PaystackDisputes(self._transport, base_url, self._paystack_keys(), monitor)}

    def _is_used(self, vendor: str) -> bool:
        """Whether a vendor serves a purpose, or may have orders and accounts from earlier settings."""
        return any(
            vendor in vendors and is_configured(self._settings, purpose, vendor)
            for purpose, vendors in RAIL_VENDORS.items()
        )

    def callback_hints(self) -> dict[str, ReadHint]:
        """Returns what reads hints from call-backs, by the name of the rail in their path."""
        readers: dict[str, ReadHint] = {
            paystack.NAME: paystack_hints.read_hint,
            monnify.NAME: monnify_hints.read_hint,
            remote.NAME: read_remote_hint,
        }
        return {name: read for name, read in readers.items() if self._is_used(name)}

    # --- what all share --------------------------------------------------------------------------------------------

    def funded_rails(self) -> dict[str, FundedRail]:
        """Returns the configured rails that are paid from a balance of ours, by their vendor's name."""
        return {name: rail for _, name, rail in self.router.list_rails() if isinstance(rail, FundedRail)}

    def callback_sources(self) -> dict[str, CallbackSource]:
        """Returns the rails whose call-backs are received, by the name in their path."""
        settings = self._settings
        sources: dict[str, CallbackSource] = {}
        if self._is_used(paystack.NAME):
            sources[paystack.NAME] = paystack.make_callbacks(self._paystack_keys())
        if self._is_used(monnify.NAME):
            sources[monnify.NAME] = monnify.make_callbacks(
                self._monnify_keys(), is_optional=settings.monnify_unsigned == "on"
            )
        if vtpass.NAME in self._billers.rails and settings.vtpass_callback_secret is not None:
            sources[vtpass.NAME] = vtpass.VtpassCallbacks(settings.vtpass_callback_secret)
        if self._is_used(remote.NAME):
            sources[remote.NAME] = RemoteCallbacks(self._remote_secrets())
        return sources

    async def close(self) -> None:
        await self._egress.close()

    def _base_url(self, vendor: str) -> str:
        return base_url_of(self._settings, vendor)

    def _monitor(self, vendor: str) -> VendorMonitor:
        """Returns the monitor of a vendor, which all of its adapters share."""
        if vendor not in self.monitors:
            limits = VendorLimits(in_flight=self._settings.rail_in_flight)
            self.monitors[vendor] = VendorMonitor(self._observe, limits)
        return self.monitors[vendor]

    def _observe(self, rail: str, outcome: str, seconds: float) -> None:
        self._metrics.count(RAIL_CALLS, rail, outcome)
        self._metrics.observe(RAIL_SECONDS, seconds, rail)


class CollectionRails(msgspec.Struct, frozen=True):
    """The rails of payments, by the part of the books that they use."""

    card: CollectionRail
    debit: CollectionRail
    mobile: CollectionRail


def collection_vendors_of(settings: Settings) -> CollectionVendors:
    """Returns the vendors that new payments are sent to, with what they serve."""
    of_remote = CollectionVendor(
        remote.NAME, frozenset(list_of(settings.remote_methods)), frozenset(list_of(settings.remote_currencies))
    )
    served = {vendor.name: vendor for vendor in (paystack_collection.SERVED, monnify_collection.SERVED, of_remote)}
    return CollectionVendors(
        card=tuple(served[name] for name in rails_of_purpose(settings, CARD) if name in served),
        collect=tuple(served[name] for name in rails_of_purpose(settings, COLLECT) if name in served),
        configured={name: vendor for name, vendor in served.items() if is_configured(settings, COLLECT, name)},
        takes_card_numbers=settings.environment == "test" or settings.checkout_cards == "on",
    )


BASE_URLS = {
    paystack.NAME: {"live": paystack.LIVE_URL, "test": paystack.TEST_URL},
    monnify.NAME: {"live": monnify.LIVE_URL, "test": monnify.TEST_URL},
    dojah.NAME: {"live": dojah.LIVE_URL, "test": dojah.TEST_URL},
    vtpass.NAME: {"live": vtpass.LIVE_URL, "test": vtpass.TEST_URL},
}

# The setting that names our account with a vendor, besides its address.
ACCOUNT_KEYS = {
    paystack.NAME: "paystack_secret_key",
    monnify.NAME: "monnify_api_key",
    vtpass.NAME: "vtpass_api_key",
    remote.NAME: "remote_base_url",
}


def base_url_of(settings: Settings, vendor: str) -> str:
    """Returns the address of a vendor's API."""
    chosen: str | None = getattr(settings, f"{vendor}_base_url")
    return chosen or BASE_URLS[vendor][settings.environment]


def vendor_accounts_of(settings: Settings) -> dict[str, str]:
    """Returns our account with each vendor whose key is set: a hash that tells nothing of the key."""
    accounts = {}
    for vendor, name in ACCOUNT_KEYS.items():
        key: str | None = getattr(settings, name)
        if key is not None:
            content = f"{base_url_of(settings, vendor)} {key}".encode()
            accounts[vendor] = blake2b(content, digest_size=8, person=b"vendor account").hexdigest()
    return accounts
