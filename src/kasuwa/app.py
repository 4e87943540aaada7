"""The composition root: the only file that imports everything, and the four processes it is made into.

`api` serves HTTP; `worker` runs the jobs; `console` is what people look at; `metrics`, where it is wanted, says what
the others count. All are started by `kasuwa serve` (supervise.py), and all go when their parent does.
"""

import asyncio
import contextlib
import gc
import os
import signal
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import msgspec
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server as Granian

from kasuwa.core.action import Method, Step
from kasuwa.core.billers import Unsellable
from kasuwa.core.decision import Merchant
from kasuwa.core.purpose import Purpose
from kasuwa.core.references import Permutation
from kasuwa.core.secrets import Vault, derive
from kasuwa.db import deliveries, gather, merchants, migrate, pool, presence, rates, waiting
from kasuwa.db.batch import World
from kasuwa.db.merchants import Directory
from kasuwa.db.pool import Pool
from kasuwa.db.primary import connect_to_primary
from kasuwa.db.writer import Writer
from kasuwa.methods.bills.actions import BILLS
from kasuwa.methods.cashcode import actions as cashcode
from kasuwa.methods.clients.actions import CLIENTS
from kasuwa.methods.disburse.actions import DISBURSE
from kasuwa.methods.investments.actions import INVESTMENTS
from kasuwa.methods.investments.decide_errands import CASHED_OUT, DEPOSITED
from kasuwa.methods.loans.actions import LOANS
from kasuwa.methods.loans.decide_repay import REPAYING_PURPOSE
from kasuwa.methods.loans.decide_request import DISBURSING_PURPOSE
from kasuwa.methods.payment import actions as payment
from kasuwa.methods.resources.actions import RESOURCES
from kasuwa.methods.sandbox.actions import SANDBOX
from kasuwa.methods.virtualcard import actions as virtualcard
from kasuwa.methods.virtualcard import decide_issuer
from kasuwa.methods.virtualcard.decide import PAN
from kasuwa.observe import log
from kasuwa.observe.metrics import BATCH_SIZE, COMMIT_SECONDS, Board, Meter
from kasuwa.pages.till import PaymentTill
from kasuwa.pages.visit import Visits
from kasuwa.rails.issued import IssuedCards
from kasuwa.rails.ports import NOT_GIVEN, BillerRail, Issuer, NoAnswer, Rails, Shelf, Unavailable
from kasuwa.rails.sandbox.bank import SandboxBank
from kasuwa.rails.sandbox.biller import SandboxBiller
from kasuwa.rails.sandbox.collection import SandboxCards, SandboxDebit, SandboxMobile
from kasuwa.rails.sandbox.identity import SandboxIdentity
from kasuwa.rails.unconfigured import NoBank, NoBiller, NoCollection, NoIdentity
from kasuwa.settings import (
    DEMO_KEY,
    DEMO_NAME,
    Settings,
    issuing_of,
    loopback_allowed,
    public_url_of,
    secret_key_of,
)
from kasuwa.web.dispatch import Dispatch, Parts
from kasuwa.web.openapi import describe
from kasuwa.web.server import Server, encode_openapi
from kasuwa.web.table import make_table
from kasuwa.work.billers import Keeper, MemoryShelf, take_edition
from kasuwa.work.egress import Egress
from kasuwa.work.engine import PlainEngine
from kasuwa.work.issuer import BookIssuer, IssuerRules
from kasuwa.work.sandbox import SandboxEngine, fund_opening
from kasuwa.work.steps import Stepper, lanes_of
from kasuwa.work.webhooks import Courier
from kasuwa.work.worker import Worker

# What a slice adds to a path that is not its own: look-ups about it, and what the test environment can play of it.
ALL_RESOURCES = msgspec.structs.replace(RESOURCES, actions=(*RESOURCES.actions, *payment.RESOURCES))
ALL_SANDBOX = msgspec.structs.replace(
    SANDBOX, actions=(*payment.SANDBOX, *virtualcard.SANDBOX, *cashcode.SANDBOX, *SANDBOX.actions)
)

METHODS: tuple[Method, ...] = (
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
    pan=PAN,
    order_key=decide_issuer.ORDER_KEY,
    need_authorise=decide_issuer.need_authorise,
    decide_authorise=decide_issuer.decide_authorise,
    need_refund=decide_issuer.need_refund_order,
    decide_refund=decide_issuer.decide_refund_order,
)

# What payments and transfers can be made for, by name: the rules of the slices that own it.
PURPOSES: dict[str, Purpose] = {
    purpose.name: purpose
    for purpose in (*payment.PURPOSES, DISBURSING_PURPOSE, REPAYING_PURPOSE, CASHED_OUT, DEPOSITED)
}

HEADER_MILLISECONDS = 5_000
PARENT_SECONDS = 0.5


def methods_of(environment: str) -> tuple[Method, ...]:
    return (*METHODS, ALL_SANDBOX) if environment == "test" else METHODS


def steps_of(methods: Iterable[Method]) -> dict[str, Step]:
    return {step.kind: step for method in methods for step in method.steps}


def biller_of(settings: Settings) -> BillerRail:
    return SandboxBiller() if settings.environment == "test" else NoBiller()


def rails_of(settings: Settings, shelf: Shelf = NOT_GIVEN, issuer: Issuer = NOT_GIVEN) -> Rails:
    issuing = issuing_of(settings)
    if settings.environment == "test":
        return Rails(
            bank=SandboxBank(),
            card=IssuedCards(SandboxCards(), issuer, issuing),
            debit=SandboxDebit(),
            mobile=SandboxMobile(),
            identity=SandboxIdentity(),
            biller=biller_of(settings),
            shelf=shelf,
            issuer=issuer,
        )
    nobody = NoCollection()
    return Rails(
        bank=NoBank(),
        card=IssuedCards(nobody, issuer, issuing),
        debit=nobody,
        mobile=nobody,
        identity=NoIdentity(),
        biller=biller_of(settings),
        shelf=shelf,
        issuer=issuer,
    )


def world_of(vault: Vault, settings: Settings) -> World:
    """With a seed, references and luck are the same in every run (sandbox.md)."""
    seed, issuing = settings.sandbox_seed, issuing_of(settings)
    if seed is None:
        return World(vault, Permutation(vault.reference_key), None, PURPOSES, public_url_of(settings), issuing)
    key = derive(seed.encode()[:64], "seed")
    return World(vault.replaying(key), Permutation(key), key, PURPOSES, public_url_of(settings), issuing)


# --- before anything runs ---------------------------------------------------------------------------------


async def prepare(settings: Settings, dsn: str) -> list[str]:
    """Migrate, take the first catalogue, and in test make sure that the demo merchant is there and funded. Several
    may race."""
    secret_key = secret_key_of(settings)
    connection = await connect_to_primary(dsn)
    try:
        applied = await migrate.migrate(connection, settings.environment, secret_key)
        vault = await migrate.open_vault(connection, secret_key)
        # The worker will try again, and says what is wrong.
        with contextlib.suppress(Unavailable, NoAnswer, Unsellable):
            await take_edition(connection, biller_of(settings), only_if_due=True)
        if settings.environment == "test":
            await connection.execute("select pg_advisory_lock($1)", migrate.LOCK)
            await rates.ensure_test_rates(connection)
            await ensure_demo(connection, vault, settings, dsn)
        return applied
    finally:
        await connection.close()


async def ensure_demo(connection: Any, vault: Vault, settings: Settings, dsn: str) -> None:
    if not await connection.fetchval("select exists (select 1 from merchant)"):
        await merchants.add_merchant(connection, vault, DEMO_NAME, make_key=lambda _: DEMO_KEY)
    if await connection.fetchval("select exists (select 1 from account where merchant_id = 1)"):
        return
    writer = Writer(dsn, world_of(vault, settings))
    writer.start()
    demo: Merchant = await Directory(connection, vault, settings.environment).by_id(1)
    await fund_opening(writer, demo)
    await writer.close()


# --- what the processes are made of -------------------------------------------------------------------------


class House:
    """The parts, put together once per process."""

    def __init__(self, settings: Settings, dsn: str, vault: Vault, reader: Pool, meter: Meter) -> None:
        methods = methods_of(settings.environment)
        self.meter = meter
        self.settings = settings
        self.dsn = dsn
        self.vault = vault
        self.reader = reader
        self.methods = methods
        self.shelf = MemoryShelf(reader)
        self.directory = Directory(reader, vault, settings.environment)
        self.world = world_of(vault, settings)
        self.writer = Writer(dsn, self.world, self._hear_commit)
        issuer = BookIssuer(reader, vault, self.directory, self.writer, ISSUER_RULES)
        self.rails = rails_of(settings, self.shelf, issuer)
        self.stepper = Stepper(self.writer, self.rails, steps_of(methods), vault, meter)
        self.egress = Egress(environment=settings.environment, loopback_allowed=loopback_allowed(settings))
        self.courier = Courier(dsn, self.egress, vault, settings.environment, settings.hash_header, meter)

    @classmethod
    async def build(cls, settings: Settings, dsn: str, meter: Meter | None = None) -> "House":
        connection = await connect_to_primary(dsn)
        try:
            vault = await migrate.open_vault(connection, secret_key_of(settings))
        finally:
            await connection.close()
        return cls(settings, dsn, vault, await pool.open_readers(dsn), meter or Meter())

    def _hear_commit(self, locked: bool, size: int, seconds: float) -> None:
        self.meter.observe(BATCH_SIZE, size, "locked" if locked else "on memory")
        self.meter.observe(COMMIT_SECONDS, seconds)

    async def close(self) -> None:
        await self.writer.close()
        await self.egress.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2):
                await self.reader.close()


# --- the API process ----------------------------------------------------------------------------------------


async def run_api(settings: Settings, dsn: str, meter: Meter) -> None:
    house = await House.build(settings, dsn, meter)
    operators = await pool.open_operators(dsn)
    house.writer.start()
    await house.shelf.look()
    looking = asyncio.create_task(house.shelf.run())
    server = make_server(house, make_engine(house, operators))
    await serve_until_stopped(server, Interfaces.RSGI, settings.host, settings.port)
    await server.drain()
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
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS, max_buffer_size=1024 * 1024),
        websockets=False,
        runtime_threads=2,  # one reads requests while the other is at a large reply
        backlog=2048,
        backpressure=4096,
        log_enabled=False,
    )
    stopping = stop_signal()
    serving = asyncio.create_task(granian.serve())
    await asyncio.wait([serving, asyncio.create_task(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    granian.signal_handler_interrupt()  # type: ignore[no-untyped-call]
    await serving


def make_engine(house: House, operators: pool.Pool) -> Any:
    if house.settings.environment == "live":
        return PlainEngine(operators)
    return SandboxEngine(
        operators,
        house.writer,
        house.stepper,
        house.directory,
        house.vault,
        house.courier,
        seed=house.world.seed,
        loopback_allowed=loopback_allowed(house.settings),
    )


def make_request_log(settings: Settings) -> log.RequestLog:
    return log.RequestLog(1 if settings.request_log == "stdout" else None)


def make_server(house: House, engine: Any) -> Server:
    openapi = encode_openapi(describe(house.methods, house.settings.environment))
    request_log = make_request_log(house.settings)
    dispatch = make_dispatch(house, engine)
    till = PaymentTill(house.reader, house.vault, house.directory, dispatch, house.world.public_url)
    visits = Visits(till)
    return Server(make_table(house.methods), dispatch, openapi, readiness(house), request_log, visits, house.meter)


def make_dispatch(house: House, engine: Any) -> Dispatch:
    parts = Parts(
        directory=house.directory,
        writer=house.writer,
        reader=gather.Reading(house.reader, house.vault),
        steps=house.stepper,
        rails=house.rails,
        engine=engine,
        vault=house.vault,
        environment=house.settings.environment,
    )
    return Dispatch(parts)


def readiness(house: House) -> Callable[[], Awaitable[str | None]]:
    """What keeps this deployment from serving, or None: the database, its schema, the parts beside."""
    wanted = {presence.WORKER: "no job worker is running"}
    if house.settings.console == "on":
        wanted[presence.CONSOLE] = "the console is not listening"

    async def trouble() -> str | None:
        try:
            async with asyncio.timeout(3), house.reader.acquire() as connection:
                version = await migrate.schema_version(connection)
                present = await presence.who_is_there(connection)
        except Exception as error:
            return f"the database does not answer ({type(error).__name__})"
        # A newer one is fine: whoever upgrades migrates first, and we serve until we are replaced.
        if version < migrate.newest_known():
            return f"the schema is at migration {version}, this version needs {migrate.newest_known()}"
        return next((trouble for lock, trouble in wanted.items() if lock not in present), None)

    return trouble


# --- the worker process -------------------------------------------------------------------------------------


async def run_worker(settings: Settings, dsn: str, meter: Meter) -> None:
    house = await House.build(settings, dsn, meter)
    house.writer.start()
    claims = await pool.open_claims(dsn)
    worker = Worker(claims, house.stepper, house.directory)
    stopping = stop_signal()
    present = asyncio.create_task(presence.show(dsn, presence.WORKER))
    keeper = Keeper(dsn, house.rails.biller)
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


async def run_console(settings: Settings, dsn: str, meter: Meter) -> None:
    # What the console is made of takes half a second to import: the other processes and the commands do without.
    from kasuwa.app_console import console_parts
    from kasuwa.console.server import make_console

    house = await House.build(settings, dsn, meter)
    operators, readers = await pool.open_operators(dsn), await pool.open_console_readers(dsn)
    house.writer.start()
    await house.shelf.look()
    looking = asyncio.create_task(house.shelf.run())
    request_log = make_request_log(settings)
    dispatch = make_dispatch(house, make_engine(house, operators))
    application = make_console(console_parts(house, dispatch, operators, readers), request_log)
    present = asyncio.create_task(presence.show_when_listening(settings.host, settings.console_port, dsn))
    await serve_until_stopped(application, Interfaces.ASGI, settings.host, settings.console_port)
    request_log.flush()
    present.cancel()
    looking.cancel()
    await house.close()
    await readers.close()
    await operators.close()


# --- the metrics process --------------------------------------------------------------------------------------


async def run_metrics(settings: Settings, dsn: str, boards: Sequence[Board]) -> None:
    from kasuwa.web.scrape import Scrape

    assert settings.metrics_port is not None, "there is such a part only where there is a port for it"
    readers = await pool.open_on_use(dsn, "kasuwa metrics", most=1)
    lanes = [deliveries.LANE, *lanes_of(steps_of(methods_of(settings.environment)).values())]

    async def look() -> waiting.Waiting | None:
        try:
            async with asyncio.timeout(3), readers.acquire() as connection:
                return await waiting.look(connection, lanes)
        except Exception:
            return None

    await serve_until_stopped(Scrape(boards, look), Interfaces.RSGI, settings.host, settings.metrics_port)
    await readers.close()


# --- all of them ------------------------------------------------------------------------------------------------


def stop_signal() -> asyncio.Event:
    """Set by SIGTERM, SIGINT, or the death of the parent: an orphan must not go on serving."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopping.set)
    parent = os.getppid()

    def look() -> None:
        if os.getppid() != parent:
            stopping.set()
        else:
            loop.call_later(PARENT_SECONDS, look)

    look()
    return stopping


async def post_and_run(meter: Meter, part: Awaitable[None]) -> None:
    posting = asyncio.create_task(meter.keep_posted())
    await part
    posting.cancel()
    meter.post()


def run(name: str, settings: Settings, dsn: str, meter: Meter, boards: Sequence[Board]) -> None:
    """Be a part until it is told to stop."""
    # What is here now stays for good, and requests leave next to no cycles behind: look for them seldom.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    part = run_metrics(settings, dsn, boards) if name == "metrics" else PARTS[name](settings, dsn, meter)
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        asyncio.run(post_and_run(meter, part))
    else:
        uvloop.run(post_and_run(meter, part))


PARTS = {"api": run_api, "worker": run_worker, "console": run_console}
