"""Builds the rails of vendors with the keys of one account at each: those of the settings, or former ones."""

from collections.abc import Callable, Mapping
from hashlib import blake2b

from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.ports.accounts import AccountRail
from kasuwa.rails.ports.callbacks import CallbackSource
from kasuwa.rails.ports.disputes import DisputeRail
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.rails.ports.identities import CONSENT, FIND, MATCH, VerificationMethod
from kasuwa.rails.ports.orders import BankRail, BillerRail, CollectionRail, IdentityRail
from kasuwa.rails.ports.sms import SmsRail
from kasuwa.rails.ports.transport import HttpTransport
from kasuwa.rails.remote import client as remote
from kasuwa.rails.remote.accounts import RemoteAccounts
from kasuwa.rails.remote.bank import RemoteBank
from kasuwa.rails.remote.biller import RemoteBiller
from kasuwa.rails.remote.callbacks import RemoteCallbacks
from kasuwa.rails.remote.cards import RemoteCards
from kasuwa.rails.remote.collection import RemoteCollection
from kasuwa.rails.remote.identity import RemoteIdentity
from kasuwa.rails.remote.signing import RemoteSecret
from kasuwa.rails.routing.vendor_accounts import KnownAccounts
from kasuwa.rails.vendors import dojah, termii
from kasuwa.rails.vendors.client import VendorClient, VendorMonitor
from kasuwa.rails.vendors.monnify import collection as monnify_collection
from kasuwa.rails.vendors.monnify import session
from kasuwa.rails.vendors.monnify import transfers as monnify
from kasuwa.rails.vendors.monnify.accounts import MonnifyAccounts
from kasuwa.rails.vendors.monnify.feeds import MonnifyFeeds
from kasuwa.rails.vendors.monnify.identity import MonnifyIdentity
from kasuwa.rails.vendors.monnify.session import MonnifyKeys, MonnifyTokens
from kasuwa.rails.vendors.paystack import collection as paystack_collection
from kasuwa.rails.vendors.paystack import transfers as paystack
from kasuwa.rails.vendors.paystack.accounts import PaystackAccounts, PaystackAccountTerms
from kasuwa.rails.vendors.paystack.disputes import PaystackDisputes
from kasuwa.rails.vendors.paystack.feeds import PaystackFeeds
from kasuwa.rails.vendors.vtpass import bills
from kasuwa.settings.settings import Settings, list_former_settings

# How a rail that speaks the rail protocol verifies a BVN, by the setting.
VERIFICATION_METHODS: dict[str, VerificationMethod] = {"find": FIND, "match": MATCH, "consent": CONSENT}

BASE_URLS = {
    paystack.NAME: {"live": paystack.LIVE_URL, "test": paystack.TEST_URL},
    session.NAME: {"live": monnify.LIVE_URL, "test": monnify.TEST_URL},
    dojah.NAME: {"live": dojah.LIVE_URL, "test": dojah.TEST_URL},
    bills.NAME: {"live": bills.LIVE_URL, "test": bills.TEST_URL},
    termii.NAME: {"live": termii.BASE_URL, "test": termii.BASE_URL},
}

# The setting that names our account with a vendor, besides its address.
ACCOUNT_KEYS = {
    paystack.NAME: "paystack_secret_key",
    session.NAME: "monnify_api_key",
    bills.NAME: "vtpass_api_key",
    remote.NAME: "remote_base_url",
}


def get_base_url(settings: Settings, vendor: str) -> str:
    """Returns the address of a vendor's API."""
    chosen: str | None = getattr(settings, f"{vendor}_base_url")
    return chosen or BASE_URLS[vendor][settings.environment]


def list_vendor_accounts(settings: Settings) -> dict[str, str]:
    """Returns our account with each vendor whose key is set: a hash that tells nothing of the key."""
    accounts = {}
    for vendor, name in ACCOUNT_KEYS.items():
        key: str | None = getattr(settings, name)
        if key is not None:
            content = f"{get_base_url(settings, vendor)} {key}".encode()
            accounts[vendor] = blake2b(content, digest_size=8, person=b"vendor account").hexdigest()
    return accounts


def list_known_accounts(settings: Settings) -> KnownAccounts:
    """Returns our accounts whose keys are set: the current ones, and the former ones."""
    former = {
        (vendor, list_vendor_accounts(former_settings)[vendor])
        for vendor, former_settings in list_former_settings(settings)
    }
    return KnownAccounts(list_vendor_accounts(settings), former)


class VendorRails:
    """Makes the rails of vendors. `monitor_of` returns the monitor of a vendor, which all of its adapters share."""

    def __init__(
        self,
        settings: Settings,
        transport: HttpTransport,
        clock: DatabaseClock,
        monitor_of: Callable[[str], VendorMonitor],
    ) -> None:
        self.settings = settings
        self._transport = transport
        self._clock = clock
        self._monitor_of = monitor_of
        self._remote: remote.RemoteClient | None = None
        self._monnify_tokens = MonnifyTokens()

    # --- makers by purpose -----------------------------------------------------------------------------------------

    def banks(self) -> Mapping[str, Callable[[], BankRail]]:
        return {
            paystack.NAME: self.make_paystack,
            session.NAME: self.make_monnify,
            remote.NAME: lambda: RemoteBank(self.make_remote()),
        }

    def billers(self) -> Mapping[str, Callable[[], BillerRail]]:
        return {bills.NAME: self._make_vtpass, remote.NAME: lambda: RemoteBiller(self.make_remote())}

    def identities(self) -> Mapping[str, Callable[[], IdentityRail]]:
        return {
            dojah.NAME: self._make_dojah,
            session.NAME: self._make_monnify_identity,
            remote.NAME: lambda: RemoteIdentity(
                self.make_remote(), VERIFICATION_METHODS[self.settings.remote_identity]
            ),
        }

    def collections(self) -> Mapping[str, Callable[[], CollectionRail]]:
        return {
            paystack.NAME: self._make_paystack_collection,
            session.NAME: self._make_monnify_collection,
            remote.NAME: lambda: RemoteCollection(self.make_remote()),
        }

    def accounts(self) -> Mapping[str, Callable[[], AccountRail]]:
        return {
            paystack.NAME: self._make_paystack_accounts,
            session.NAME: self._make_monnify_accounts,
            remote.NAME: lambda: RemoteAccounts(self.make_remote()),
        }

    def feeds(self) -> Mapping[str, Callable[[], FeedRail]]:
        return {paystack.NAME: self._make_paystack_feeds, session.NAME: self._make_monnify_feeds}

    def disputes(self) -> Mapping[str, Callable[[], DisputeRail]]:
        """Returns the vendors that take the answers of merchants to disputes."""
        return {paystack.NAME: self._make_paystack_disputes}

    def sms(self) -> Mapping[str, Callable[[], SmsRail]]:
        return {termii.NAME: self.make_termii}

    def callbacks(self) -> Mapping[str, Callable[[], CallbackSource]]:
        return {
            paystack.NAME: lambda: paystack.make_callbacks(self._paystack_keys()),
            session.NAME: lambda: monnify.make_callbacks(
                self._monnify_keys(), is_optional=self.settings.monnify_unsigned
            ),
            bills.NAME: lambda: bills.VtpassCallbacks(self.settings.vtpass_callback_secret or ""),
            remote.NAME: lambda: RemoteCallbacks(self._remote_secrets()),
        }

    # --- paystack --------------------------------------------------------------------------------------------------

    def make_paystack(self) -> paystack.PaystackBank:
        base_url, domain = self._base_url(paystack.NAME), self.settings.environment
        monitor = self._monitor_of(paystack.NAME)
        return paystack.PaystackBank(self._transport, base_url, self._paystack_keys(), domain, monitor)

    def _paystack_keys(self) -> paystack.PaystackKeys:
        return paystack.PaystackKeys(self.settings.paystack_secret_key or "")

    def _make_paystack_collection(self) -> paystack_collection.PaystackCollection:
        settings = self.settings
        client = VendorClient(
            paystack.NAME,
            self._base_url(paystack.NAME),
            self._transport,
            paystack.is_envelope,
            self._monitor_of(paystack.NAME),
        )
        return paystack_collection.PaystackCollection(
            client,
            self._paystack_keys().secret_key,
            settings.environment,
            settings.rail_email_domain or "",
            self.make_paystack().find_bank_code,
        )

    def _make_paystack_accounts(self) -> PaystackAccounts:
        settings = self.settings
        base_url, domain = self._base_url(paystack.NAME), settings.environment
        bank = settings.paystack_account_bank or ("wema-bank" if domain == "live" else "test-bank")
        terms = PaystackAccountTerms(settings.paystack_phone or "", settings.rail_email_domain or "", bank)
        monitor = self._monitor_of(paystack.NAME)
        return PaystackAccounts(self._transport, base_url, self._paystack_keys(), domain, terms, monitor)

    def _make_paystack_feeds(self) -> PaystackFeeds:
        base_url, monitor = self._base_url(paystack.NAME), self._monitor_of(paystack.NAME)
        return PaystackFeeds(self._transport, base_url, self._paystack_keys(), monitor)

    def _make_paystack_disputes(self) -> PaystackDisputes:
        base_url, monitor = self._base_url(paystack.NAME), self._monitor_of(paystack.NAME)
        return PaystackDisputes(self._transport, base_url, self._paystack_keys(), monitor)

    # --- monnify ---------------------------------------------------------------------------------------------------

    def make_monnify(self) -> monnify.MonnifyBank:
        base_url, monitor = self._base_url(session.NAME), self._monitor_of(session.NAME)
        return monnify.MonnifyBank(
            self._transport, base_url, self._monnify_keys(), monitor, tokens=self._monnify_tokens
        )

    def _monnify_keys(self) -> MonnifyKeys:
        settings = self.settings
        return MonnifyKeys(
            settings.monnify_api_key or "",
            settings.monnify_secret_key or "",
            settings.monnify_wallet_account or "",
            settings.monnify_contract_code or "",
        )

    def _make_monnify_identity(self) -> MonnifyIdentity:
        base_url, monitor = self._base_url(session.NAME), self._monitor_of(session.NAME)
        return MonnifyIdentity(self._transport, base_url, self._monnify_keys(), monitor, self._monnify_tokens)

    def _make_monnify_collection(self) -> monnify_collection.MonnifyCollection:
        base_url, domain = self._base_url(session.NAME), self.settings.rail_email_domain or ""
        monitor = self._monitor_of(session.NAME)
        return monnify_collection.MonnifyCollection(
            self._transport, base_url, self._monnify_keys(), monitor, domain, self._monnify_tokens
        )

    def _make_monnify_accounts(self) -> MonnifyAccounts:
        base_url, monitor = self._base_url(session.NAME), self._monitor_of(session.NAME)
        return MonnifyAccounts(self._transport, base_url, self._monnify_keys(), monitor, self._monnify_tokens)

    def _make_monnify_feeds(self) -> MonnifyFeeds:
        base_url, monitor = self._base_url(session.NAME), self._monitor_of(session.NAME)
        return MonnifyFeeds(self._transport, base_url, self._monnify_keys(), monitor, self._monnify_tokens)

    # --- others ----------------------------------------------------------------------------------------------------

    def _make_dojah(self) -> dojah.DojahIdentity:
        keys = dojah.DojahKeys(self.settings.dojah_app_id or "", self.settings.dojah_secret_key or "")
        make = dojah.DojahMatching if self.settings.dojah_lookup == "match" else dojah.DojahIdentity
        return make(self._transport, self._base_url(dojah.NAME), keys, self._monitor_of(dojah.NAME))

    def make_termii(self) -> termii.TermiiSms:
        settings = self.settings
        terms = termii.TermiiTerms(settings.termii_api_key or "", settings.sms_from or "", settings.termii_channel)
        return termii.TermiiSms(self._transport, self._base_url(termii.NAME), terms, self._monitor_of(termii.NAME))

    def _make_vtpass(self) -> bills.VtpassBiller:
        settings = self.settings
        keys = bills.VtpassKeys(
            settings.vtpass_api_key or "", settings.vtpass_public_key or "", settings.vtpass_secret_key or ""
        )
        base_url, phone = self._base_url(bills.NAME), settings.vtpass_phone or ""
        monitor = self._monitor_of(bills.NAME)
        return bills.VtpassBiller(self._transport, base_url, keys, phone, monitor, self._clock.now)

    def make_remote(self) -> remote.RemoteClient:
        """Returns the client of the rail that speaks the rail protocol. All purposes share it, and its limits."""
        if self._remote is None:
            base_url = self.settings.remote_base_url or ""
            self._remote = remote.RemoteClient(
                self._transport, base_url, self._remote_secrets(), self._monitor_of(remote.NAME)
            )
        return self._remote

    def make_card_messages(self) -> RemoteCards:
        """Returns what reads the messages of the rail about cards that were issued here."""
        return RemoteCards(self._remote_secrets())

    def _remote_secrets(self) -> tuple[RemoteSecret, ...]:
        settings = self.settings
        current = RemoteSecret(settings.remote_key_id or "", settings.remote_secret or "")
        if settings.remote_old_key_id is None:
            return (current,)
        return current, RemoteSecret(settings.remote_old_key_id, settings.remote_old_secret or "")

    def _base_url(self, vendor: str) -> str:
        return get_base_url(self.settings, vendor)
