"""The services of one process: database, writer, rails, step runner and webhook sender, built from the settings."""

import asyncio
import contextlib

from kasuwa.api_methods import ISSUER_RULES, PURPOSES, methods_of, steps_of
from kasuwa.core.references import Permutation
from kasuwa.core.vault import Vault, derive
from kasuwa.db import connections, migrate
from kasuwa.db.batch import Deployment
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connection_pool import Pool
from kasuwa.db.merchants import MerchantDirectory
from kasuwa.db.primary import connect_to_primary
from kasuwa.db.writer import Writer
from kasuwa.observe.metrics import BATCH_SIZE, COMMIT_SECONDS, Metrics
from kasuwa.rail_choice import RailChoice
from kasuwa.rails.issued_cards import IssuedCardRail
from kasuwa.rails.ports import NOT_CONFIGURED, CatalogueCache, IssuerRail, Rails
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.unconfigured import NoCollection
from kasuwa.readiness import watch_clock, watch_pool
from kasuwa.settings import (
    Settings,
    account_terms_of,
    issuing_of,
    loopback_allowed,
    public_url_of,
    secret_key_of,
)
from kasuwa.work.billers import PolledCatalogueCache
from kasuwa.work.egress import EgressClient
from kasuwa.work.issuer import LedgerIssuer
from kasuwa.work.steps import StepRunner
from kasuwa.work.webhooks import WebhookSender


def rails_of(
    settings: Settings,
    choice: RailChoice,
    catalogue_cache: CatalogueCache = NOT_CONFIGURED,
    issuer: IssuerRail = NOT_CONFIGURED,
) -> Rails:
    issuing = issuing_of(settings)
    if settings.environment == "test":
        return Rails(
            bank=choice.make_bank(),
            card=IssuedCardRail(SandboxCards(), issuer, issuing),
            debit=SandboxDebit(),
            mobile=SandboxMobile(),
            identity=choice.make_identity(),
            biller=choice.make_biller(),
            catalogue_cache=catalogue_cache,
            issuer=issuer,
            accounts=choice.make_accounts(),
        )
    unconfigured = NoCollection()
    return Rails(
        bank=choice.make_bank(),
        card=IssuedCardRail(unconfigured, issuer, issuing),
        debit=unconfigured,
        mobile=unconfigured,
        identity=choice.make_identity(),
        biller=choice.make_biller(),
        catalogue_cache=catalogue_cache,
        issuer=issuer,
        accounts=choice.make_accounts(),
    )


def make_deployment(vault: Vault, settings: Settings) -> Deployment:
    """Returns the constants of the deployment. With a seed, references and entropy are the same in every run."""
    seed = settings.sandbox_seed
    if seed is None:
        key, permutation = None, Permutation(vault.reference_key)
    else:
        key = derive(seed.encode()[:64], "seed")
        vault, permutation = vault.with_replay_secret(key), Permutation(key)
    return Deployment(
        vault, permutation, key, PURPOSES, public_url_of(settings), issuing_of(settings), account_terms_of(settings)
    )


class Services:
    """The services of one process."""

    def __init__(self, settings: Settings, dsn: str, vault: Vault, reader: Pool, metrics: Metrics) -> None:
        methods = methods_of(settings.environment)
        self.metrics = metrics
        self.settings = settings
        self.dsn = dsn
        self.vault = vault
        self.reader = reader
        self.pools: list[Pool] = []
        self._measuring: asyncio.Task[None] | None = None
        self.use_pool(reader)
        self.methods = methods
        self.catalogue_cache = PolledCatalogueCache(reader)
        self.clock = DatabaseClock()
        watch_clock(self.clock, metrics)
        self.merchant_directory = MerchantDirectory(reader, vault, settings.environment, self.clock)
        self.deployment = make_deployment(vault, settings)
        self.writer = Writer(dsn, self.deployment, self._record_commit, self.clock)
        issuer = LedgerIssuer(reader, vault, self.merchant_directory, self.writer, ISSUER_RULES)
        self.rail_choice = RailChoice(settings, metrics, self.clock)
        self.rails = rails_of(settings, self.rail_choice, self.catalogue_cache, issuer)
        self.step_runner = StepRunner(self.writer, self.rails, steps_of(methods), vault, metrics)
        self.egress = EgressClient(environment=settings.environment, loopback_allowed=loopback_allowed(settings))
        self.webhook_sender = WebhookSender(
            dsn, self.egress, vault, settings.environment, settings.hash_header, metrics, self.clock
        )

    @classmethod
    async def build(cls, settings: Settings, dsn: str, metrics: Metrics | None = None) -> "Services":
        connection = await connect_to_primary(dsn)
        try:
            vault = await migrate.open_vault(connection, secret_key_of(settings))
        finally:
            await connection.close()
        return cls(settings, dsn, vault, await connections.open_reader_pool(dsn), metrics or Metrics())

    def use_pool(self, opened: Pool) -> Pool:
        """Registers a pool of this process with /readyz and the metrics."""
        self.pools.append(opened)
        watch_pool(opened, self.metrics)
        return opened

    def _record_commit(self, locked: bool, size: int, seconds: float) -> None:
        self.metrics.observe(BATCH_SIZE, size, "locked" if locked else "on memory")
        self.metrics.observe(COMMIT_SECONDS, seconds)

    async def start(self) -> None:
        """Starts the clock and the writer. Commands start the writer alone: they end before a clock can drift."""
        await self.clock.measure(self.reader)
        self.writer.start()
        self._measuring = asyncio.create_task(self.clock.keep_measuring(self.reader))

    async def close(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
        await self.writer.close()
        await self.egress.close()
        await self.rail_choice.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self.reader.close()
