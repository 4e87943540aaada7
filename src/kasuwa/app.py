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

from kasuwa.core.action import Method, Step
from kasuwa.core.purpose import Purpose
from kasuwa.core.references import Permutation
from kasuwa.core.secrets import Vault, derive
from kasuwa.db import deliveries, gather, migrate, pool, presence, waiting
from kasuwa.db.batch import World
from kasuwa.db.clock import Clock
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
from kasuwa.observe.watchdog import watching
from kasuwa.pages.till import PaymentTill
from kasuwa.pages.visit import Visits
from kasuwa.parent import stop_signal
from kasuwa.rails.issued import IssuedCards
from kasuwa.rails.ports import NOT_GIVEN, BillerRail, Issuer, Rails, Shelf
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
from kasuwa.web.dispatch import Dispatch, Parts
from kasuwa.web.openapi import describe
from kasuwa.web.server import Server, encode_openapi
from kasuwa.web.table import make_table
from kasuwa.work.billers import Keeper, MemoryShelf
from kasuwa.work.egress import Egress
from kasuwa.work.engine import PlainEngine
from kasuwa.work.issuer import BookIssuer, IssuerRules
from kasuwa.work.sandbox import SandboxEngine
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
# What a connection may hold in memory before its body is asked for: the headers of thousands of them must fit.
CONNECTION_BYTES = 64 * 1024


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
        self.pools: list[Pool] = []
        self._measuring: asyncio.Task[None] | None = None
        self.use_pool(reader)
        self.methods = methods
        self.shelf = MemoryShelf(reader)
        self.clock = Clock()
        watch_clock(self.clock, meter)
        self.directory = Directory(reader, vault, settings.environment, self.clock)
        self.world = world_of(vault, settings)
        self.writer = Writer(dsn, self.world, self._hear_commit, self.clock)
        issuer = BookIssuer(reader, vault, self.directory, self.writer, ISSUER_RULES)
        self.rails = rails_of(settings, self.shelf, issuer)
        self.stepper = Stepper(self.writer, self.rails, steps_of(methods), vault, meter)
        self.egress = Egress(environment=settings.environment, loopback_allowed=loopback_allowed(settings))
        self.courier = Courier(dsn, self.egress, vault, settings.environment, settings.hash_header, meter, self.clock)

    @classmethod
    async def build(cls, settings: Settings, dsn: str, meter: Meter | None = None) -> "House":
        connection = await connect_to_primary(dsn)
        try:
            vault = await migrate.open_vault(connection, secret_key_of(settings))
        finally:
            await connection.close()
        return cls(settings, dsn, vault, await pool.open_readers(dsn), meter or Meter())

    def use_pool(self, opened: Pool) -> Pool:
        """Have a pool of this process looked after: by /readyz and the metrics."""
        self.pools.append(opened)
        watch_pool(opened, self.meter)
        return opened

    def _hear_commit(self, locked: bool, size: int, seconds: float) -> None:
        self.meter.observe(BATCH_SIZE, size, "locked" if locked else "on memory")
        self.meter.observe(COMMIT_SECONDS, seconds)

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


async def run_api(settings: Settings, dsn: str, meter: Meter) -> None:
    house = await House.build(settings, dsn, meter)
    operators = house.use_pool(await pool.open_operators(dsn))
    await house.start()
    await house.shelf.look()
    looking = asyncio.create_task(house.shelf.run())
    engine = make_engine(house, operators)
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
    stopping = stop_signal()
    serving = asyncio.create_task(granian.serve())
    await asyncio.wait([serving, asyncio.create_task(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    granian.signal_handler_interrupt()  # type: ignore[no-untyped-call]
    await serving


def make_engine(house: House, operators: pool.Pool) -> Any:
    if house.settings.environment == "live":
        return PlainEngine(operators, house.clock)
    return SandboxEngine(
        operators,
        house.writer,
        house.stepper,
        house.directory,
        house.vault,
        house.courier,
        seed=house.world.seed,
        loopback_allowed=loopback_allowed(house.settings),
        advance_seconds=house.settings.sandbox_advance_seconds,
    )


def make_request_log(settings: Settings) -> log.RequestLog:
    return log.RequestLog(1 if settings.request_log == "stdout" else None)


def make_server(house: House, engine: Any) -> Server:
    openapi = encode_openapi(describe(house.methods, house.settings.environment))
    request_log = make_request_log(house.settings)
    dispatch = make_dispatch(house, engine)
    till = PaymentTill(house.reader, house.vault, house.directory, dispatch, house.world.public_url)
    visits = Visits(till)
    proxies = trusted_proxies_of(house.settings)
    return Server(
        make_table(house.methods), dispatch, openapi, Readiness(house), request_log, visits, house.meter, proxies
    )


def make_dispatch(house: House, engine: Any) -> Dispatch:
    parts = Parts(
        directory=house.directory,
        writer=house.writer,
        reader=gather.Reading(house.reader, house.vault, house.world.public_url),
        steps=house.stepper,
        rails=house.rails,
        engine=engine,
        vault=house.vault,
        environment=house.settings.environment,
    )
    return Dispatch(parts)


# --- the worker process -------------------------------------------------------------------------------------


async def run_worker(settings: Settings, dsn: str, meter: Meter) -> None:
    house = await House.build(settings, dsn, meter)
    await house.start()
    claims = house.use_pool(await pool.open_claims(dsn))
    worker = Worker(claims, house.stepper, house.directory, house.clock)
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
    operators = house.use_pool(await pool.open_operators(dsn))
    readers = house.use_pool(await pool.open_console_readers(dsn))
    await house.start()
    await house.shelf.look()
    looking = asyncio.create_task(house.shelf.run())
    request_log = make_request_log(settings)
    dispatch = make_dispatch(house, make_engine(house, operators))
    application = make_console(console_parts(house, dispatch, operators, readers), request_log)
    present = asyncio.create_task(presence.show_when_listening(settings.console_host, settings.console_port, dsn))
    await serve_until_stopped(application, Interfaces.ASGI, settings.console_host, settings.console_port)
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
    readers = await pool.open_scrapes(dsn)
    lanes = [deliveries.LANE, *lanes_of(steps_of(methods_of(settings.environment)).values())]

    async def look() -> waiting.Waiting | None:
        try:
            async with asyncio.timeout(3), readers.acquire() as connection:
                return await waiting.look(connection, lanes)
        except Exception:
            return None

    await serve_until_stopped(Scrape(boards, look), Interfaces.RSGI, settings.metrics_host, settings.metrics_port)
    await readers.close()


# --- all of them ------------------------------------------------------------------------------------------------


async def post_and_run(name: str, settings: Settings, meter: Meter, part: Awaitable[None]) -> None:
    log.watch_loop(asyncio.get_running_loop())
    posting = asyncio.create_task(meter.keep_posted())
    with watching(name, meter, settings.longest_step_ms / 1000):
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
        asyncio.run(post_and_run(name, settings, meter, part))
    else:
        uvloop.run(post_and_run(name, settings, meter, part))


PARTS = {"api": run_api, "worker": run_worker, "console": run_console}
