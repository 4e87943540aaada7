"""The composition root: the only file that imports everything, and the four processes it is made into.

`api` serves HTTP; `worker` runs the jobs; `console` is what people look at; `metrics`, where it is wanted, says what
the others count. All are started by `kasuwa serve` (supervise.py), and all go when their parent does.
"""

import asyncio
import contextlib
import gc
from collections.abc import Awaitable, Iterable, Sequence
from typing import Any

import msgspec
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server as Granian

from kasuwa.core.action import ApiMethod, Step
from kasuwa.core.purpose import PurposeRules
from kasuwa.core.references import Permutation
from kasuwa.core.vault import Vault, derive
from kasuwa.db import backlog, connections, deliveries, migrate, presence, reading
from kasuwa.db.batch import Deployment
from kasuwa.db.clock import DatabaseClock
from kasuwa.db.connections import Pool
from kasuwa.db.merchants import MerchantDirectory
from kasuwa.db.primary import connect_to_primary
from kasuwa.db.writer import Writer
from kasuwa.methods.bills.actions import BILLS
from kasuwa.methods.cashcode import actions as cashcode
from kasuwa.methods.clients.actions import CLIENTS
from kasuwa.methods.disburse.actions import DISBURSE
from kasuwa.methods.investments.actions import INVESTMENTS
from kasuwa.methods.investments.rules.purposes import CASHOUT_PURPOSE_RULES, DEPOSIT_PURPOSE_RULES
from kasuwa.methods.loans.actions import LOANS
from kasuwa.methods.loans.rules.origination import DISBURSEMENT_PURPOSE_RULES
from kasuwa.methods.loans.rules.repay import REPAYMENT_PURPOSE_RULES
from kasuwa.methods.payment import actions as payment
from kasuwa.methods.resources.actions import RESOURCES
from kasuwa.methods.sandbox.actions import SANDBOX
from kasuwa.methods.virtualcard import actions as virtualcard
from kasuwa.methods.virtualcard.model import PAN_ENTRY
from kasuwa.methods.virtualcard.rules import issuer_port
from kasuwa.observe import log
from kasuwa.observe.metrics import BATCH_SIZE, COMMIT_SECONDS, Metrics, SharedCounters
from kasuwa.observe.watchdog import watch_event_loop
from kasuwa.pages.checkout import CheckoutPayments
from kasuwa.pages.router import CheckoutPages
from kasuwa.rails.issued_cards import IssuedCardRail
from kasuwa.rails.ports import NOT_CONFIGURED, BillerRail, CatalogueCache, IssuerRail, Rails
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.unconfigured import NoBank, NoBiller, NoCollection, NoIdentity
from kasuwa.readiness import Readiness, watch_clock, watch_pool
from kasuwa.settings import (
    Settings,
    issuing_of,
    loopback_allowed,
    public_url_of,
    secret_key_of,
    trusted_proxies_of,
)
from kasuwa.supervisor_watch import make_stop_event
from kasuwa.web.dispatch import Dispatch, DispatchServices
from kasuwa.web.openapi import describe
from kasuwa.web.routes import make_routes
from kasuwa.web.server import Server, encode_openapi
from kasuwa.work.billers import CatalogueRefresher, PolledCatalogueCache
from kasuwa.work.egress import EgressClient
from kasuwa.work.issuer import IssuerRules, LedgerIssuer
from kasuwa.work.operations import CommonOperations
from kasuwa.work.sandbox import SandboxOperations
from kasuwa.work.steps import StepRunner, lanes_of
from kasuwa.work.webhooks import WebhookSender
from kasuwa.work.worker import Worker

# What a slice adds to a path that is not its own: look-ups about it, and what the test environment can play of it.
ALL_RESOURCES = msgspec.structs.replace(RESOURCES, actions=(*RESOURCES.actions, *payment.RESOURCES))
ALL_SANDBOX = msgspec.structs.replace(
    SANDBOX, actions=(*payment.SANDBOX, *virtualcard.SANDBOX, *cashcode.SANDBOX, *SANDBOX.actions)
)

METHODS: tuple[ApiMethod, ...] = (
    DISBURSE,
    payment.PAYMENT,
    BILLS,
    CLIENTS,
    LOANS,
    INVESTMENTS,
    virtualcard.VIRTUALCARD,
    cashcode.CASHCODE,
    ALL_RESOURCES,
)

# What a card that was issued here is asked when it pays in a shop of ours.
ISSUER_RULES = IssuerRules(
    pan_kind=PAN_ENTRY,
    order_key_kind=issuer_port.ORDER_KEY,
    authorize_needs=issuer_port.need_authorization,
    decide_authorize=issuer_port.decide_authorization,
    refund_needs=issuer_port.need_refund_order,
    decide_refund=issuer_port.decide_refund_order,
)

# What payments and transfers can be made for, by name: the rules of the slices that own it.
PURPOSES: dict[str, PurposeRules] = {
    purpose.name: purpose
    for purpose in (
        *payment.PURPOSES,
        DISBURSEMENT_PURPOSE_RULES,
        REPAYMENT_PURPOSE_RULES,
        CASHOUT_PURPOSE_RULES,
        DEPOSIT_PURPOSE_RULES,
    )
}

HEADER_MILLISECONDS = 5_000
# What a connection may hold in memory before its body is asked for: the headers of thousands of them must fit.
CONNECTION_BYTES = 64 * 1024


def methods_of(environment: str) -> tuple[ApiMethod, ...]:
    return (*METHODS, ALL_SANDBOX) if environment == "test" else METHODS


def steps_of(methods: Iterable[ApiMethod]) -> dict[str, Step]:
    return {step.kind: step for method in methods for step in method.steps}


def biller_of(settings: Settings) -> BillerRail:
    return SandboxBiller() if settings.environment == "test" else NoBiller()


def rails_of(settings: Settings, shelf: CatalogueCache = NOT_CONFIGURED, issuer: IssuerRail = NOT_CONFIGURED) -> Rails:
    issuing = issuing_of(settings)
    if settings.environment == "test":
        return Rails(
            bank=SandboxBank(),
            card=IssuedCardRail(SandboxCards(), issuer, issuing),
            debit=SandboxDebit(),
            mobile=SandboxMobile(),
            identity=SandboxIdentity(),
            biller=biller_of(settings),
            catalogue_cache=shelf,
            issuer=issuer,
        )
    nobody = NoCollection()
    return Rails(
        bank=NoBank(),
        card=IssuedCardRail(nobody, issuer, issuing),
        debit=nobody,
        mobile=nobody,
        identity=NoIdentity(),
        biller=biller_of(settings),
        catalogue_cache=shelf,
        issuer=issuer,
    )


def make_deployment(vault: Vault, settings: Settings) -> Deployment:
    """With a seed, references and luck are the same in every run (sandbox.md)."""
    seed, issuing = settings.sandbox_seed, issuing_of(settings)
    if seed is None:
        return Deployment(vault, Permutation(vault.reference_key), None, PURPOSES, public_url_of(settings), issuing)
    key = derive(seed.encode()[:64], "seed")
    return Deployment(vault.with_replay_secret(key), Permutation(key), key, PURPOSES, public_url_of(settings), issuing)


# --- what the processes are made of -------------------------------------------------------------------------


class Services:
    """The parts, put together once per process."""

    def __init__(self, settings: Settings, dsn: str, vault: Vault, reader: Pool, meter: Metrics) -> None:
        methods = methods_of(settings.environment)
        self.metrics = meter
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
        watch_clock(self.clock, meter)
        self.merchant_directory = MerchantDirectory(reader, vault, settings.environment, self.clock)
        self.deployment = make_deployment(vault, settings)
        self.writer = Writer(dsn, self.deployment, self._record_commit, self.clock)
        issuer = LedgerIssuer(reader, vault, self.merchant_directory, self.writer, ISSUER_RULES)
        self.rails = rails_of(settings, self.catalogue_cache, issuer)
        self.stepper = StepRunner(self.writer, self.rails, steps_of(methods), vault, meter)
        self.egress = EgressClient(environment=settings.environment, loopback_allowed=loopback_allowed(settings))
        self.courier = WebhookSender(
            dsn, self.egress, vault, settings.environment, settings.hash_header, meter, self.clock
        )

    @classmethod
    async def build(cls, settings: Settings, dsn: str, meter: Metrics | None = None) -> "Services":
        connection = await connect_to_primary(dsn)
        try:
            vault = await migrate.open_vault(connection, secret_key_of(settings))
        finally:
            await connection.close()
        return cls(settings, dsn, vault, await connections.open_reader_pool(dsn), meter or Metrics())

    def use_pool(self, opened: Pool) -> Pool:
        """Have a pool of this process looked after: by /readyz and the metrics."""
        self.pools.append(opened)
        watch_pool(opened, self.metrics)
        return opened

    def _record_commit(self, locked: bool, size: int, seconds: float) -> None:
        self.metrics.observe(BATCH_SIZE, size, "locked" if locked else "on memory")
        self.metrics.observe(COMMIT_SECONDS, seconds)

    async def start(self) -> None:
        """For a process that serves: commands start the writer alone, and are over before a clock can go wrong."""
        await self.clock.measure(self.reader)
        self.writer.start()
        self._measuring = asyncio.create_task(self.clock.keep_measuring(self.reader))

    async def close(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
        await self.writer.close()
        await self.egress.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self.reader.close()


# --- the API process ----------------------------------------------------------------------------------------


async def run_api(settings: Settings, dsn: str, meter: Metrics) -> None:
    house = await Services.build(settings, dsn, meter)
    operators = house.use_pool(await connections.open_operator_pool(dsn))
    await house.start()
    await house.catalogue_cache.refresh()
    looking = asyncio.create_task(house.catalogue_cache.run())
    engine = make_admin_operations(house, operators)
    server = make_server(house, engine)
    await serve_until_stopped(server, Interfaces.RSGI, settings.host, settings.port)
    await asyncio.gather(engine.close(), server.drain())
    looking.cancel()
    await house.close()
    await operators.close()


async def serve_until_stopped(application: Any, interface: Interfaces, host: str, port: int) -> None:
    granian = Granian(
        application,
        address=host,
        port=port,
        interface=interface,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS, max_buffer_size=CONNECTION_BYTES),
        websockets=False,
        runtime_threads=2,  # one reads requests while the other is at a large reply
        backlog=2048,
        backpressure=4096,
        log_enabled=False,
    )
    stopping = make_stop_event()
    serving = asyncio.create_task(granian.serve())
    await asyncio.wait([serving, asyncio.create_task(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    granian.signal_handler_interrupt()  # type: ignore[no-untyped-call]
    await serving


def make_admin_operations(house: Services, operators: connections.Pool) -> Any:
    if house.settings.environment == "live":
        return CommonOperations(operators, house.clock)
    return SandboxOperations(
        operators,
        house.writer,
        house.stepper,
        house.merchant_directory,
        house.vault,
        house.courier,
        seed=house.deployment.seed,
        loopback_allowed=loopback_allowed(house.settings),
        advance_seconds=house.settings.sandbox_advance_seconds,
    )


def make_request_log(settings: Settings) -> log.RequestLog:
    return log.RequestLog(1 if settings.request_log == "stdout" else None)


def make_server(house: Services, engine: Any) -> Server:
    openapi = encode_openapi(describe(house.methods, house.settings.environment))
    request_log = make_request_log(house.settings)
    dispatch = make_dispatch(house, engine)
    till = CheckoutPayments(house.reader, house.vault, house.merchant_directory, dispatch, house.deployment.public_url)
    visits = CheckoutPages(till)
    proxies = trusted_proxies_of(house.settings)
    return Server(
        make_routes(house.methods), dispatch, openapi, Readiness(house), request_log, visits, house.metrics, proxies
    )


def make_dispatch(house: Services, engine: Any) -> Dispatch:
    parts = DispatchServices(
        directory=house.merchant_directory,
        writer=house.writer,
        reader=reading.DatabaseReaderFactory(house.reader, house.vault, house.deployment.public_url),
        steps=house.stepper,
        rails=house.rails,
        admin_operations=engine,
        vault=house.vault,
        environment=house.settings.environment,
    )
    return Dispatch(parts)


# --- the worker process -------------------------------------------------------------------------------------


async def run_worker(settings: Settings, dsn: str, meter: Metrics) -> None:
    house = await Services.build(settings, dsn, meter)
    await house.start()
    claims = house.use_pool(await connections.open_claim_pool(dsn))
    worker = Worker(claims, house.stepper, house.merchant_directory, house.clock)
    stopping = make_stop_event()
    present = asyncio.create_task(presence.announce(dsn, presence.WORKER_LOCK_ID))
    keeper = CatalogueRefresher(dsn, house.rails.biller)
    duties = (worker.run(house.stepper.lanes), house.courier.run(), keeper.run())
    running = [asyncio.create_task(duty) for duty in duties]
    await stopping.wait()
    worker.stop()
    house.courier.stop()
    keeper.stop()
    await asyncio.gather(*running)
    present.cancel()
    await claims.close()
    await house.close()


# --- the console process --------------------------------------------------------------------------------------


async def run_console(settings: Settings, dsn: str, meter: Metrics) -> None:
    # What the console is made of takes half a second to import: the other processes and the commands do without.
    from kasuwa.app_console import make_console_services
    from kasuwa.console.server import make_console

    house = await Services.build(settings, dsn, meter)
    operators = house.use_pool(await connections.open_operator_pool(dsn))
    readers = house.use_pool(await connections.open_console_pool(dsn))
    await house.start()
    await house.catalogue_cache.refresh()
    looking = asyncio.create_task(house.catalogue_cache.run())
    request_log = make_request_log(settings)
    dispatch = make_dispatch(house, make_admin_operations(house, operators))
    application = make_console(make_console_services(house, dispatch, operators, readers), request_log)
    present = asyncio.create_task(presence.announce_when_listening(settings.console_host, settings.console_port, dsn))
    await serve_until_stopped(application, Interfaces.ASGI, settings.console_host, settings.console_port)
    request_log.flush()
    present.cancel()
    looking.cancel()
    await house.close()
    await readers.close()
    await operators.close()


# --- the metrics process --------------------------------------------------------------------------------------


async def run_metrics(settings: Settings, dsn: str, boards: Sequence[SharedCounters]) -> None:
    from kasuwa.web.scrape import MetricsEndpoint

    assert settings.metrics_port is not None, "there is such a part only where there is a port for it"
    readers = await connections.open_metrics_pool(dsn)
    lanes = [deliveries.WEBHOOK_LANE, *lanes_of(steps_of(methods_of(settings.environment)).values())]

    async def look() -> backlog.Backlog | None:
        try:
            async with asyncio.timeout(3), readers.acquire() as connection:
                return await backlog.read_backlog(connection, lanes)
        except Exception:
            return None

    await serve_until_stopped(
        MetricsEndpoint(boards, look), Interfaces.RSGI, settings.metrics_host, settings.metrics_port
    )
    await readers.close()


# --- all of them ------------------------------------------------------------------------------------------------


async def run_with_metrics(name: str, settings: Settings, meter: Metrics, part: Awaitable[None]) -> None:
    log.log_unhandled_errors(asyncio.get_running_loop())
    posting = asyncio.create_task(meter.publish_periodically())
    with watch_event_loop(name, meter, settings.longest_step_ms / 1000):
        await part
    posting.cancel()
    meter.publish()


def run_process(name: str, settings: Settings, dsn: str, meter: Metrics, boards: Sequence[SharedCounters]) -> None:
    """Be a part until it is told to stop."""
    # What is here now stays for good, and requests leave next to no cycles behind: look for them seldom.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    part = run_metrics(settings, dsn, boards) if name == "metrics" else PROCESS_MAINS[name](settings, dsn, meter)
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        asyncio.run(run_with_metrics(name, settings, meter, part))
    else:
        uvloop.run(run_with_metrics(name, settings, meter, part))


PROCESS_MAINS = {"api": run_api, "worker": run_worker, "console": run_console}
