"""Chooses the rails of a deployment by its settings, and builds those of vendors with one HTTP client."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial

from kasuwa.db.clock import DatabaseClock
from kasuwa.observe.metrics import RAIL_CALLS, RAIL_SECONDS, Metrics
from kasuwa.rails.callbacks import CallbackSource
from kasuwa.rails.ports import BankRail, BillerRail, IdentityRail
from kasuwa.rails.remote import client as remote
from kasuwa.rails.remote.bank import RemoteBank, RemoteIdentity
from kasuwa.rails.remote.biller import RemoteBiller
from kasuwa.rails.remote.callbacks import RemoteCallbacks
from kasuwa.rails.remote.signing import RemoteSecret
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.unconfigured import NoBank, NoBiller, NoIdentity
from kasuwa.rails.vendors import dojah, monnify, paystack, vtpass
from kasuwa.settings import RAIL_VENDORS, Settings, rail_loopback_allowed, rail_of_purpose
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
        self._remote: remote.RemoteClient | None = None

    def make_bank(self) -> BankRail:
        match rail_of_purpose(self._settings, "bank"):
            case "sandbox":
                return SandboxBank()
            case paystack.NAME:
                return self.make_paystack()
            case monnify.NAME:
                return self.make_monnify()
            case remote.NAME:
                return RemoteBank(self.make_remote())
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
            settings.monnify_api_key or "", settings.monnify_secret_key or "", settings.monnify_wallet_account or ""
        )

    def make_identity(self) -> IdentityRail:
        match rail_of_purpose(self._settings, "identity"):
            case "sandbox":
                return SandboxIdentity()
            case dojah.NAME:
                return self.make_dojah()
            case remote.NAME:
                return RemoteIdentity(self.make_remote())
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
            case remote.NAME:
                return RemoteBiller(self.make_remote())
        return NoBiller()

    def make_vtpass(self) -> vtpass.VtpassBiller:
        settings = self._settings
        keys = vtpass.VtpassKeys(
            settings.vtpass_api_key or "", settings.vtpass_public_key or "", settings.vtpass_secret_key or ""
        )
        base_url, phone = self._base_url(vtpass.NAME), settings.vtpass_phone or ""
        return vtpass.VtpassBiller(self._transport, base_url, keys, phone, self._observe, self._clock.now)

    def make_remote(self) -> remote.RemoteClient:
        """Returns the client of the rail that speaks the rail protocol. All purposes share it, and its limits."""
        if self._remote is None:
            base_url = self._settings.remote_base_url or ""
            self._remote = remote.RemoteClient(self._transport, base_url, self._remote_secrets(), self._observe)
        return self._remote

    def _remote_secrets(self) -> tuple[RemoteSecret, ...]:
        settings = self._settings
        current = RemoteSecret(settings.remote_key_id or "", settings.remote_secret or "")
        if settings.remote_old_key_id is None:
            return (current,)
        return current, RemoteSecret(settings.remote_old_key_id, settings.remote_old_secret or "")

    def _uses_remote(self) -> bool:
        return any(rail_of_purpose(self._settings, purpose) == remote.NAME for purpose in RAIL_VENDORS)

    def access_checks(self) -> Iterator[tuple[str, Callable[[], Awaitable[str]]]]:
        """Yields the vendors in use, each with a call that returns our balance there."""
        if rail_of_purpose(self._settings, "bank") == paystack.NAME:
            yield paystack.NAME, self.make_paystack().check_access
        if rail_of_purpose(self._settings, "bank") == monnify.NAME:
            yield monnify.NAME, self.make_monnify().check_access
        if rail_of_purpose(self._settings, "bills") == vtpass.NAME:
            yield vtpass.NAME, self.make_vtpass().check_access
        if rail_of_purpose(self._settings, "identity") == dojah.NAME:
            yield dojah.NAME, self.make_dojah().check_access
        if self._uses_remote():
            yield remote.NAME, partial(self.make_remote().check_access, self._settings.environment)

    def callback_sources(self) -> dict[str, CallbackSource]:
        """Returns the rails whose call-backs are received, by the name in their path."""
        settings = self._settings
        sources: dict[str, CallbackSource] = {}
        if rail_of_purpose(settings, "bank") == paystack.NAME:
            sources[paystack.NAME] = paystack.make_callbacks(self._paystack_keys())
        if rail_of_purpose(settings, "bank") == monnify.NAME:
            sources[monnify.NAME] = monnify.make_callbacks(self._monnify_keys())
        if rail_of_purpose(settings, "bills") == vtpass.NAME and settings.vtpass_callback_secret is not None:
            sources[vtpass.NAME] = vtpass.VtpassCallbacks(settings.vtpass_callback_secret)
        if self._uses_remote():
            sources[remote.NAME] = RemoteCallbacks(self._remote_secrets())
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
