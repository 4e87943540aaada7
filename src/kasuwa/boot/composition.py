"""The services of one process: database, writer, rails, step runner and webhook sender, built from the settings."""

import asyncio
import contextlib
from functools import partial
from pathlib import Path

import msgspec
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.audit.close_task import CLOSES_DIRECTORY, BookCloser, CloseTerms
from kasuwa.boot.readiness import watch_clock, watch_pool
from kasuwa.cluster.links import OwnerLinks
from kasuwa.core.keyring import derive
from kasuwa.core.references import Permutation
from kasuwa.core.routing import NO_ROUTING, RailChooser
from kasuwa.core.vault import Vault
from kasuwa.engine.batch import Deployment
from kasuwa.engine.reading import DatabaseReaderFactory
from kasuwa.engine.writer import Writer
from kasuwa.engine.writer_lanes import LanedWriter
from kasuwa.jobs.forwarded_jobs import ForwardingStepRunner
from kasuwa.jobs.steps import StepRunner
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.methods.tables import CHECKOUT_SOURCES, ISSUER_RULES, PURPOSES, SHOP_RULES, index_steps, list_methods
from kasuwa.observe.metrics import BATCH_SIZE, COMMIT_SECONDS, Metrics
from kasuwa.outbound.egress import EgressClient
from kasuwa.outbound.mail import MailTransport
from kasuwa.outbound.return_addresses import ReturnAddresses
from kasuwa.postgres import connections
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.layout import Lanes, Layout, find_layout
from kasuwa.privacy import vault_keys
from kasuwa.privacy.vault_keys import KeyRefresher
from kasuwa.rails.catalogue.refresh import PolledCatalogueCache
from kasuwa.rails.choice import RailChoice, list_collection_vendors
from kasuwa.rails.mail_system import MailPace, PacedSms, SmtpMail
from kasuwa.rails.ports.all_rails import NOT_CONFIGURED, Rails
from kasuwa.rails.ports.decider import CardDecider
from kasuwa.rails.ports.issuer import IssuerRail
from kasuwa.rails.ports.mail import MailRail
from kasuwa.rails.ports.orders import CatalogueCache
from kasuwa.rails.ports.shops import ShopRail
from kasuwa.rails.ports.sms import SmsRail
from kasuwa.rails.routing.deciders import DECIDER_LIMITS, HttpDeciders
from kasuwa.rails.routing.issued_cards import IssuedCardRail
from kasuwa.rails.routing.issuer import LedgerIssuer
from kasuwa.rails.routing.shops import LedgerShops
from kasuwa.rails.routing.unconfigured import NoMail, NoSms
from kasuwa.rails.sandbox.mail import SandboxMail, SandboxSms
from kasuwa.rails.watch import vendor_accounts
from kasuwa.settings.close_key import load_close_key
from kasuwa.settings.database_logins import reader_url
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import (
    Settings,
    choose_account_terms,
    get_public_url,
    loopback_allowed,
    parse_bounce_address,
    parse_card_issuing,
    parse_mail_server,
    sends_mail,
    sends_sms,
)
from kasuwa.settings.values import SettingsError
from kasuwa.terms.accounts import AccountTerms
from kasuwa.terms.issuing import CardIssuingSettings
from kasuwa.terms.mail import MailService
from kasuwa.terms.outgoing import OutgoingTerms
from kasuwa.terms.vendors import CollectionVendors
from kasuwa.transactions.checkouts import CheckoutSources
from kasuwa.transactions.purpose import Purposes
from kasuwa.webhooks.sender import WebhookSender

log = structlog.get_logger("kasuwa")


def make_rails(
    settings: Settings,
    choice: RailChoice,
    catalogue_cache: CatalogueCache = NOT_CONFIGURED,
    issuer: IssuerRail = NOT_CONFIGURED,
    decider: CardDecider = NOT_CONFIGURED,
    transport: MailTransport | None = None,
    shops: ShopRail = NOT_CONFIGURED,
) -> Rails:
    collections = choice.make_collections()
    return Rails(
        bank=choice.make_bank(),
        card=IssuedCardRail(collections.card, issuer, parse_card_issuing(settings)),
        debit=collections.debit,
        mobile=collections.mobile,
        identity=choice.make_identity(),
        biller=choice.make_biller(),
        catalogue_cache=catalogue_cache,
        issuer=issuer,
        shops=shops,
        decider=decider,
        vendors=list_collection_vendors(settings),
        accounts=choice.make_accounts(),
        feeds=choice.make_feeds(),
        mail=make_mail_rail(settings, transport),
        sms=make_sms_rail(settings, choice),
    )


def make_transport(settings: Settings, vault: Vault) -> MailTransport | None:
    """Returns what hands mails to the mail server, or None if there is none."""
    configured, bounces = parse_mail_server(settings), parse_bounce_address(settings)
    returns = None if bounces is None else ReturnAddresses(vault, bounces)
    return None if configured is None else MailTransport(*configured, returns=returns)


def make_mail_rail(settings: Settings, transport: MailTransport | None) -> MailRail:
    """Returns the mail system of the merchants. In test it is their outbox, whatever server is configured."""
    if settings.environment == "test":
        return SandboxMail()
    return NoMail() if transport is None else SmtpMail(transport, MailPace(settings.mail_rate))


def make_sms_rail(settings: Settings, choice: RailChoice) -> SmsRail:
    """Returns what sends text messages. In test they stay in the merchants' outboxes, whatever vendor is configured."""
    if settings.environment == "test":
        return SandboxSms()
    rail = choice.make_sms()
    return NoSms() if rail is None else PacedSms(rail, MailPace(settings.sms_rate))


def make_deployment(vault: Vault, settings: Settings, rail_chooser: RailChooser = NO_ROUTING) -> Deployment:
    """Returns the constants of the deployment. With a seed, references and entropy are the same in every run."""
    key = None if settings.sandbox_seed is None else derive(settings.sandbox_seed.encode()[:64], "seed")
    return Deployment(
        vault=vault if key is None else vault.with_replay_secret(key),
        number_permutation=Permutation(vault.reference_key if key is None else key),
        seed=key,
        public_url=get_public_url(settings),
        rail_chooser=rail_chooser,
        terms={
            CardIssuingSettings: parse_card_issuing(settings),
            CollectionVendors: list_collection_vendors(settings),
            AccountTerms: choose_account_terms(settings),
            OutgoingTerms: OutgoingTerms(loopback_allowed(settings)),
            MailService: MailService(sends_mail(settings), sends_sms(settings)),
            Purposes: PURPOSES,
            CheckoutSources: CHECKOUT_SOURCES,
        },
    )


def get_closes_directory(settings: Settings) -> Path:
    return settings.data / CLOSES_DIRECTORY


def make_close_terms(settings: Settings, key: Ed25519PrivateKey) -> CloseTerms:
    """Returns what closes are signed with, and where they are published."""
    return CloseTerms(
        key=key,
        directory=get_closes_directory(settings),
        copy_directory=None if settings.close_copy is None else Path(settings.close_copy),
        command=settings.close_command,
    )


def make_closer(settings: Settings, dsn: str, clock: DatabaseClock) -> BookCloser:
    """Returns the closer of the books. Without a key it makes no closes: live has none unless it is given, and in test
    it cannot be kept in a data directory that cannot be written."""
    try:
        key = load_close_key(settings)
    except SettingsError:
        log.warning("the books are not closed: there is no key, and the data directory cannot be written")
        key = None
    return BookCloser(dsn, None if key is None else make_close_terms(settings, key), clock)


# Of the connection that reads what a process needs to start.
START_SETTINGS = {"application_name": "kasuwa start"}


class DatabaseAccess(msgspec.Struct, frozen=True):
    """The address and the pools with which the services of a process reach the database."""

    dsn: str
    reader: Pool
    lists: Pool  # with the reader's login
    layout: Layout
    lanes: Lanes | None  # None if one writer is for all merchants


class Services:
    """The services of one process."""

    def __init__(self, settings: Settings, database: DatabaseAccess, vault: Vault, metrics: Metrics) -> None:
        dsn, reader, lists = database.dsn, database.reader, database.lists
        methods = list_methods(settings.environment)
        self.metrics = metrics
        self.settings = settings
        self.dsn = dsn
        self.vault = vault
        self.reader = reader
        self.lists = lists
        self.pools: list[Pool] = []
        self._measuring: asyncio.Task[None] | None = None
        self._reading_keys: asyncio.Task[None] | None = None
        self.use_pool(reader)
        self.use_pool(lists)
        self.methods = methods
        self.catalogue_cache = PolledCatalogueCache(reader)
        self.clock = DatabaseClock()
        watch_clock(self.clock, metrics)
        self.merchant_directory = MerchantDirectory(reader, vault, settings.environment, self.clock)
        self.rail_choice = RailChoice(settings, metrics, self.clock)
        self.deployment = make_deployment(vault, settings, self.rail_choice.router)
        self.writer = (
            Writer(dsn, self.deployment, self._record_commit, self.clock, layout=database.layout)
            if database.lanes is None
            else LanedWriter(dsn, self.deployment, self._record_commit, self.clock, database.layout, database.lanes)
        )
        loopback = loopback_allowed(settings)
        # Deciders have connections of their own: neither webhooks nor rails wait for them.
        self.decider_egress = EgressClient(
            environment=settings.environment, loopback_allowed=loopback, limits=DECIDER_LIMITS
        )
        decider = HttpDeciders(self.decider_egress, reader, vault, settings.hash_header, self.clock)
        issuer = LedgerIssuer(reader, vault, self.merchant_directory, self.writer, ISSUER_RULES, decider)
        self.mail_transport = make_transport(settings, vault)
        shops = LedgerShops(self.merchant_directory, self.writer, SHOP_RULES)
        self.rails = make_rails(
            settings, self.rail_choice, self.catalogue_cache, issuer, decider, self.mail_transport, shops
        )
        self.readers = DatabaseReaderFactory(reader, lists, vault, self.deployment.public_url)
        self.step_runner: StepRunner = StepRunner(
            self.writer, self.rails, index_steps(methods), vault, metrics, self.readers
        )
        self.egress = EgressClient(environment=settings.environment, loopback_allowed=loopback)
        self.webhook_sender = WebhookSender(
            dsn, self.egress, vault, settings.environment, settings.hash_header, metrics, self.clock
        )

    @classmethod
    async def build(cls, settings: Settings, dsn: str, metrics: Metrics | None = None) -> "Services":
        secret_key = load_secret_key(settings)
        connection = await connections.connect_as_owner(dsn, START_SETTINGS)
        try:
            layout = find_layout(connection)
            await layout.prepare_application(connection)
            vault = await vault_keys.open_vault(connection, secret_key)
            lanes = await layout.read_lanes(connection)
        finally:
            await connection.close()
        reader = await connections.open_reader_pool(dsn, max_size=4)
        lists = await connections.open_list_pool(reader_url(settings, dsn))
        services = cls(settings, DatabaseAccess(dsn, reader, lists, layout, lanes), vault, metrics or Metrics())
        refresher = KeyRefresher(services.reader, vault, secret_key, partial(load_secret_key, settings))
        services._reading_keys = asyncio.create_task(refresher.run())
        return services

    def use_pool(self, opened: Pool) -> Pool:
        """Registers a pool of this process with /readyz and the metrics."""
        self.pools.append(opened)
        watch_pool(opened, self.metrics)
        return opened

    def _record_commit(self, locked: bool, size: int, seconds: float) -> None:
        self.metrics.observe(BATCH_SIZE, size, "locked" if locked else "on memory")
        self.metrics.observe(COMMIT_SECONDS, seconds)

    def forward_jobs(self, links: OwnerLinks) -> None:
        """Makes the step runner record results through the merchants' owners. For a process that owns none."""
        self.step_runner = ForwardingStepRunner(
            self.writer, self.rails, index_steps(self.methods), self.vault, self.metrics, self.readers, links
        )

    async def start(self) -> None:
        """Starts the clock and the writer. Commands start the writer alone: they end before a clock can drift."""
        await self.clock.measure(self.reader)
        if self.rail_choice.accounts.own or self.rail_choice.accounts.former:
            self.rail_choice.accounts.update(await vendor_accounts.list_aliases(self.reader))
        self.writer.start()
        self._measuring = asyncio.create_task(self.clock.keep_measuring(self.reader))

    async def close(self) -> None:
        for task in (self._measuring, self._reading_keys):
            if task is not None:
                task.cancel()
        await self.writer.close()
        await self.egress.close()
        await self.decider_egress.close()
        await self.rail_choice.close()
        if self.mail_transport is not None:
            self.mail_transport.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self.reader.close()
                await self.lists.close()
