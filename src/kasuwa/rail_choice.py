"""Chooses the rails of a deployment by its settings, and builds those of vendors with one HTTP client."""

from kasuwa.observe.metrics import RAIL_CALLS, RAIL_SECONDS, Metrics
from kasuwa.rails.ports import BillerRail, IdentityRail
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.unconfigured import NoBiller, NoIdentity
from kasuwa.rails.vendors import dojah
from kasuwa.settings import Settings, rail_loopback_allowed, rail_of_purpose
from kasuwa.work.egress import EgressClient
from kasuwa.work.rail_transport import RAIL_LIMITS, EgressTransport


class RailChoice:
    """The rails that the settings choose. Close it after use."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        # Only on loopback, and where the settings allow it, is a rail called without TLS: as webhooks are in test.
        loopback = rail_loopback_allowed(settings)
        self._egress = EgressClient(
            environment="test" if loopback else "live", loopback_allowed=loopback, limits=RAIL_LIMITS
        )
        self._transport = EgressTransport(self._egress)
        self._settings = settings
        self._metrics = metrics

    def make_identity(self) -> IdentityRail:
        match rail_of_purpose(self._settings, "identity"):
            case "sandbox":
                return SandboxIdentity()
            case dojah.NAME:
                keys = dojah.DojahKeys(self._settings.dojah_app_id or "", self._settings.dojah_secret_key or "")
                return dojah.DojahIdentity(self._transport, self._base_url(dojah.NAME), keys, self._observe)
        return NoIdentity()

    def make_biller(self) -> BillerRail:
        match rail_of_purpose(self._settings, "bills"):
            case "sandbox":
                return SandboxBiller()
        return NoBiller()

    async def close(self) -> None:
        await self._egress.close()

    def _base_url(self, vendor: str) -> str:
        chosen: str | None = getattr(self._settings, f"{vendor}_base_url")
        return chosen or BASE_URLS[vendor][self._settings.environment]

    def _observe(self, rail: str, outcome: str, seconds: float) -> None:
        self._metrics.count(RAIL_CALLS, rail, outcome)
        self._metrics.observe(RAIL_SECONDS, seconds, rail)


BASE_URLS = {dojah.NAME: {"live": dojah.LIVE_URL, "test": dojah.TEST_URL}}
