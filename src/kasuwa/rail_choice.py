"""Chooses the rails of a deployment by its settings, and builds those of vendors with one HTTP client."""

from collections.abc import Awaitable, Callable, Iterator

from kasuwa.db.clock import DatabaseClock
from kasuwa.observe.metrics import RAIL_CALLS, RAIL_SECONDS, Metrics
from kasuwa.rails.callbacks import CallbackSource
from kasuwa.rails.feeds import FeedRail
from kasuwa.rails.hints import ReadHint
from kasuwa.rails.ports import AccountRail, BankRail, BillerRail, FundedRail, IdentityRail
from kasuwa.rails.sandbox.accounts import SandboxAccounts
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.unconfigured import NoBank, NoBiller, NoIdentity
from kasuwa.rails.vendors import dojah, monnify, monnify_hints, paystack, paystack_hints, vtpass
from kasuwa.rails.vendors.monnify_accounts import MonnifyAccounts
from kasuwa.rails.vendors.monnify_feeds import MonnifyFeeds
from kasuwa.rails.vendors.paystack_accounts import PaystackAccounts, PaystackAccountTerms
from kasuwa.rails.vendors.paystack_feeds import PaystackFeeds
from kasuwa.settings import RAIL_VENDORS, Settings, is_configured, rail_loopback_allowed, rail_of_purpose
from kasuwa.work.egress import EgressClient
from kasuwa.work.rail_transport import RAIL_LIMITS, EgressTransport


class RailChoice:
    """The rails that the settings choose. Close it after use."""

    def __init__(self, settings: Settings, metrics: Metrics, clock: DatabaseClock) -> None:
        # The settings allow http on loopback addresses alone; the client of the test environment accepts it there.
        loopback = rail_loopback_allowed(settings)
        self._egress = EgressClient(
            environment="test" if loopback else "live", loopback_allowed=loopback, limits=RAIL_LIMITS
        )
        self._transport = EgressTransport(self._egress)
        self._settings = settings
        self._metrics = metrics
        self._clock = clock

    def make_bank(self) -> BankRail:
        match rail_of_purpose(self._settings, "bank"):
            case "sandbox":
                return SandboxBank()
            case paystack.NAME:
                return self.make_paystack()
            case monnify.NAME:
                return self.make_monnify()
        return NoBank()

    def make_paystack(self) -> paystack.PaystackBank:
        base_url, domain = self._base_url(paystack.NAME), self._settings.environment
        return paystack.PaystackBank(self._transport, base_url, self._paystack_keys(), domain, self._observe)

    def _paystack_keys(self) -> paystack.PaystackKeys:
        return paystack.PaystackKeys(self._settings.paystack_secret_key or "")

    def make_monnify(self) -> monnify.MonnifyBank:
        return monnify.MonnifyBank(self._transport, self._base_url(monnify.NAME), self._monnify_keys(), self._observe)

    def _monnify_keys(self) -> monnify.MonnifyKeys:
        settings = self._settings
        return monnify.MonnifyKeys(
            settings.monnify_api_key or "",
            settings.monnify_secret_key or "",
            settings.monnify_wallet_account or "",
            settings.monnify_contract_code or "",
        )

    def make_identity(self) -> IdentityRail:
        match rail_of_purpose(self._settings, "identity"):
            case "sandbox":
                return SandboxIdentity()
            case dojah.NAME:
                return self.make_dojah()
        return NoIdentity()

    def make_dojah(self) -> dojah.DojahIdentity:
        keys = dojah.DojahKeys(self._settings.dojah_app_id or "", self._settings.dojah_secret_key or "")
        return dojah.DojahIdentity(self._transport, self._base_url(dojah.NAME), keys, self._observe)

    def make_biller(self) -> BillerRail:
        match rail_of_purpose(self._settings, "bills"):
            case "sandbox":
                return SandboxBiller()
            case vtpass.NAME:
                return self.make_vtpass()
        return NoBiller()

    def make_vtpass(self) -> vtpass.VtpassBiller:
        settings = self._settings
        keys = vtpass.VtpassKeys(
            settings.vtpass_api_key or "", settings.vtpass_public_key or "", settings.vtpass_secret_key or ""
        )
        base_url, phone = self._base_url(vtpass.NAME), settings.vtpass_phone or ""
        return vtpass.VtpassBiller(self._transport, base_url, keys, phone, self._observe, self._clock.now)

    def make_accounts(self) -> dict[str, AccountRail]:
        """Returns every rail that may have opened accounts: the sandbox in test, and the vendors whose keys are set."""
        sandbox: dict[str, AccountRail] = {"sandbox": SandboxAccounts()} if self._settings.environment == "test" else {}
        return {**sandbox, **self.make_vendor_accounts()}

    def make_vendor_accounts(self) -> dict[str, AccountRail]:
        settings, rails = self._settings, dict[str, AccountRail]()
        if is_configured(settings, "accounts", paystack.NAME):
            base_url, domain = self._base_url(paystack.NAME), settings.environment
            bank = settings.paystack_account_bank or ("wema-bank" if domain == "live" else "test-bank")
            terms = PaystackAccountTerms(settings.paystack_phone or "", settings.rail_email_domain or "", bank)
            keys = self._paystack_keys()
            rails[paystack.NAME] = PaystackAccounts(self._transport, base_url, keys, domain, terms, self._observe)
        if is_configured(settings, "accounts", monnify.NAME):
            rails[monnify.NAME] = self._make_monnify_accounts()
        return rails

    def _make_monnify_accounts(self) -> MonnifyAccounts:
        return MonnifyAccounts(self._transport, self._base_url(monnify.NAME), self._monnify_keys(), self._observe)

    def make_feeds(self) -> dict[str, FeedRail]:
        """Returns the vendors in use that tell of disputes and settlements."""
        feeds: dict[str, FeedRail] = {}
        if self._is_used(paystack.NAME):
            base_url = self._base_url(paystack.NAME)
            feeds[paystack.NAME] = PaystackFeeds(self._transport, base_url, self._paystack_keys(), self._observe)
        if self._is_used(monnify.NAME):
            base_url = self._base_url(monnify.NAME)
            feeds[monnify.NAME] = MonnifyFeeds(self._transport, base_url, self._monnify_keys(), self._observe)
        return feeds

    def _is_used(self, vendor: str) -> bool:
        """Tells whether a vendor serves a purpose, or may have opened accounts before."""
        is_chosen = any(rail_of_purpose(self._settings, purpose) == vendor for purpose in RAIL_VENDORS)
        return is_chosen or (vendor in RAIL_VENDORS["accounts"] and is_configured(self._settings, "accounts", vendor))

    def callback_hints(self) -> dict[str, ReadHint]:
        """Returns what reads hints from call-backs, by the name of the rail in their path."""
        readers: dict[str, ReadHint] = {paystack.NAME: paystack_hints.read_hint, monnify.NAME: monnify_hints.read_hint}
        return {name: read for name, read in readers.items() if self._is_used(name)}

    def access_checks(self) -> Iterator[tuple[str, Callable[[], Awaitable[str]]]]:
        """Yields the vendors in use, each with a call that returns our balance there."""
        if self._is_used(paystack.NAME):
            yield paystack.NAME, self.make_paystack().check_access
        if rail_of_purpose(self._settings, "bank") == monnify.NAME:
            yield monnify.NAME, self.make_monnify().check_access
        elif is_configured(self._settings, "accounts", monnify.NAME):
            yield monnify.NAME, self._make_monnify_accounts().check_access
        if rail_of_purpose(self._settings, "bills") == vtpass.NAME:
            yield vtpass.NAME, self.make_vtpass().check_access
        if rail_of_purpose(self._settings, "identity") == dojah.NAME:
            yield dojah.NAME, self.make_dojah().check_access

    def funded_rails(self) -> dict[str, FundedRail]:
        """Returns the rails in use that are paid from a balance of ours, by their vendor's name."""
        rails: dict[str, FundedRail] = {}
        if rail_of_purpose(self._settings, "bank") == paystack.NAME:
            rails[paystack.NAME] = self.make_paystack()
        if rail_of_purpose(self._settings, "bank") == monnify.NAME:
            rails[monnify.NAME] = self.make_monnify()
        if rail_of_purpose(self._settings, "bills") == vtpass.NAME:
            rails[vtpass.NAME] = self.make_vtpass()
        if rail_of_purpose(self._settings, "identity") == dojah.NAME:
            rails[dojah.NAME] = self.make_dojah()
        return rails

    def callback_sources(self) -> dict[str, CallbackSource]:
        """Returns the rails whose call-backs are received, by the name in their path."""
        settings = self._settings
        sources: dict[str, CallbackSource] = {}
        if self._is_used(paystack.NAME):
            sources[paystack.NAME] = paystack.make_callbacks(self._paystack_keys())
        if self._is_used(monnify.NAME):
            sources[monnify.NAME] = monnify.make_callbacks(self._monnify_keys())
        if rail_of_purpose(settings, "bills") == vtpass.NAME and settings.vtpass_callback_secret is not None:
            sources[vtpass.NAME] = vtpass.VtpassCallbacks(settings.vtpass_callback_secret)
        return sources

    async def close(self) -> None:
        await self._egress.close()

    def _base_url(self, vendor: str) -> str:
        chosen: str | None = getattr(self._settings, f"{vendor}_base_url")
        return chosen or BASE_URLS[vendor][self._settings.environment]

    def _observe(self, rail: str, outcome: str, seconds: float) -> None:
        self._metrics.count(RAIL_CALLS, rail, outcome)
        self._metrics.observe(RAIL_SECONDS, seconds, rail)


BASE_URLS = {
    paystack.NAME: {"live": paystack.LIVE_URL, "test": paystack.TEST_URL},
    monnify.NAME: {"live": monnify.LIVE_URL, "test": monnify.TEST_URL},
    dojah.NAME: {"live": dojah.LIVE_URL, "test": dojah.TEST_URL},
    vtpass.NAME: {"live": vtpass.LIVE_URL, "test": vtpass.TEST_URL},
}
