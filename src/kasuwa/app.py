"""The processes of the service. `kasuwa serve` (supervise.py) starts them and stops them.

api      serves the HTTP API and the payers' pages
worker   runs jobs and sends webhooks
console  serves the web console
metrics  serves the metrics of the other processes, if a port is set
"""

import asyncio
import gc
from collections.abc import Awaitable, Sequence
from functools import partial
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server as Granian

from kasuwa import __version__
from kasuwa.api_methods import QUERY_ENDED, methods_of, steps_of
from kasuwa.composition import Services
from kasuwa.db import backlog, connections, deliveries, presence, reading
from kasuwa.db.connection_pool import Pool
from kasuwa.db.migrate import newest_known_version
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics, SharedCounters
from kasuwa.observe.watchdog import watch_event_loop
from kasuwa.pages.checkout import CheckoutPayments
from kasuwa.pages.router import CheckoutPages
from kasuwa.pages.statements import StatementPages
from kasuwa.readiness import Readiness
from kasuwa.settings import (
    Settings,
    loopback_allowed,
    trusted_proxies_of,
)
from kasuwa.supervisor_watch import make_stop_event
from kasuwa.web.dispatch import Dispatch, DispatchServices
from kasuwa.web.openapi_documents import BuiltOnce, build_documents
from kasuwa.web.routes import make_routes
from kasuwa.web.server import Server, ServerServices
from kasuwa.work.billers import CatalogueRefresher
from kasuwa.work.operations import CommonOperations
from kasuwa.work.rail_callbacks import CallbackServices, RailCallbacks
from kasuwa.work.sandbox import SandboxOperations, SandboxServices
from kasuwa.work.steps import lanes_of, rail_kinds_of
from kasuwa.work.worker import Worker

HEADER_MILLISECONDS = 5_000
# Memory of a connection before its body is read. The headers of thousands of connections must fit.
CONNECTION_BYTES = 64 * 1024


# --- the API process ----------------------------------------------------------------------------------------


async def run_api(settings: Settings, dsn: str, metrics: Metrics) -> None:
    services = await Services.build(settings, dsn, metrics)
    operators = services.use_pool(await connections.open_operator_pool(dsn))
    await services.start()
    await services.catalogue_cache.refresh()
    refreshing = asyncio.create_task(services.catalogue_cache.run())
    operations = make_admin_operations(services, operators)
    server = make_server(services, operations, make_callbacks(services, operators))
    await serve_until_stopped(server, Interfaces.RSGI, settings.host, settings.port)
    await asyncio.gather(operations.close(), server.drain())
    refreshing.cancel()
    await services.close()
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


def make_admin_operations(services: Services, operators: Pool) -> Any:
    if services.settings.environment == "live":
        return CommonOperations(operators, services.clock)
    return SandboxOperations(
        operators,
        SandboxServices(
            writer=services.writer,
            stepper=services.step_runner,
            directory=services.merchant_directory,
            vault=services.vault,
            webhook_sender=services.webhook_sender,
        ),
        seed=services.deployment.seed,
        loopback_allowed=loopback_allowed(services.settings),
        advance_seconds=services.settings.sandbox_advance_seconds,
    )


def make_request_log(settings: Settings) -> log.RequestLog:
    return log.RequestLog(1 if settings.request_log == "stdout" else None)


def make_callbacks(services: Services, operators: Pool) -> RailCallbacks:
    used = CallbackServices(
        operators=operators,
        writer=services.writer,
        directory=services.merchant_directory,
        rails=services.rails,
        rail_job_kinds=rail_kinds_of(steps_of(services.methods).values()),
        query_ended=QUERY_ENDED,
    )
    return RailCallbacks(used, services.rail_choice.callback_sources())


def make_server(services: Services, operations: Any, callbacks: RailCallbacks) -> Server:
    request_log = make_request_log(services.settings)
    dispatch = make_dispatch(services, operations)
    checkout = CheckoutPayments(
        services.reader, services.vault, services.merchant_directory, dispatch, services.deployment.public_url
    )
    pages = CheckoutPages(checkout)
    proxies = trusted_proxies_of(services.settings)
    parts = ServerServices(
        routes=make_routes(services.methods),
        dispatch=dispatch,
        documents=BuiltOnce(partial(build_documents, services.methods, services.settings.environment)),
        check_readiness=Readiness(services),
        request_log=request_log,
        pages=pages,
        files=StatementPages(services.reader, services.vault, services.merchant_directory),
        callbacks=callbacks,
        metrics=services.metrics,
        proxies=proxies,
        details=describe_deployment(services.settings),
    )
    return Server(parts)


def describe_deployment(settings: Settings) -> dict[str, str | int]:
    """Returns what /readyz tells anybody about the deployment. In live that is nothing."""
    if settings.environment == "live":
        return {}
    return {"environment": settings.environment, "version": __version__, "schema": newest_known_version()}


def make_dispatch(services: Services, operations: Any) -> Dispatch:
    parts = DispatchServices(
        directory=services.merchant_directory,
        writer=services.writer,
        reader=reading.DatabaseReaderFactory(services.reader, services.vault, services.deployment.public_url),
        steps=services.step_runner,
        rails=services.rails,
        admin_operations=operations,
        vault=services.vault,
        environment=services.settings.environment,
    )
    return Dispatch(parts)


# --- the worker process -------------------------------------------------------------------------------------


async def run_worker(settings: Settings, dsn: str, metrics: Metrics) -> None:
    services = await Services.build(settings, dsn, metrics)
    await services.start()
    claims = services.use_pool(await connections.open_claim_pool(dsn))
    worker = Worker(claims, services.step_runner, services.merchant_directory, services.clock)
    stopping = make_stop_event()
    announcing = asyncio.create_task(presence.announce(dsn, presence.WORKER_LOCK_ID))
    refresher = CatalogueRefresher(dsn, services.rails.biller)
    loops = (worker.run(services.step_runner.lanes), services.webhook_sender.run(), refresher.run())
    running = [asyncio.create_task(loop) for loop in loops]
    await stopping.wait()
    worker.stop()
    services.webhook_sender.stop()
    refresher.stop()
    await asyncio.gather(*running)
    announcing.cancel()
    await claims.close()
    await services.close()


# --- the console process --------------------------------------------------------------------------------------


async def run_console(settings: Settings, dsn: str, metrics: Metrics) -> None:
    # The console takes half a second to import, so other processes and commands do not import it.
    from kasuwa.app_console import make_console_services
    from kasuwa.console.server import make_console

    services = await Services.build(settings, dsn, metrics)
    operators = services.use_pool(await connections.open_operator_pool(dsn))
    readers = services.use_pool(await connections.open_console_pool(dsn))
    await services.start()
    await services.catalogue_cache.refresh()
    refreshing = asyncio.create_task(services.catalogue_cache.run())
    request_log = make_request_log(settings)
    dispatch = make_dispatch(services, make_admin_operations(services, operators))
    application = make_console(make_console_services(services, dispatch, operators, readers), request_log)
    announcing = asyncio.create_task(
        presence.announce_when_listening(settings.console_host, settings.console_port, dsn)
    )
    await serve_until_stopped(application, Interfaces.ASGI, settings.console_host, settings.console_port)
    request_log.flush()
    announcing.cancel()
    refreshing.cancel()
    await services.close()
    await readers.close()
    await operators.close()


# --- the metrics process --------------------------------------------------------------------------------------


async def run_metrics(settings: Settings, dsn: str, counters: Sequence[SharedCounters]) -> None:
    from kasuwa.web.scrape import MetricsEndpoint

    assert settings.metrics_port is not None, "the metrics process runs only if a port is set"
    readers = await connections.open_metrics_pool(dsn)
    lanes = [deliveries.WEBHOOK_LANE, *lanes_of(steps_of(methods_of(settings.environment)).values())]

    async def read_backlog() -> backlog.Backlog | None:
        try:
            async with asyncio.timeout(3), readers.acquire() as connection:
                return await backlog.read_backlog(connection, lanes)
        except Exception:
            return None

    await serve_until_stopped(
        MetricsEndpoint(counters, read_backlog), Interfaces.RSGI, settings.metrics_host, settings.metrics_port
    )
    await readers.close()


# --- all processes ------------------------------------------------------------------------------------------------


async def run_with_metrics(name: str, settings: Settings, metrics: Metrics, process: Awaitable[None]) -> None:
    log.log_unhandled_errors(asyncio.get_running_loop())
    publishing = asyncio.create_task(metrics.publish_periodically())
    with watch_event_loop(name, metrics, settings.longest_step_ms / 1000):
        await process
    publishing.cancel()
    metrics.publish()


def run_process(name: str, settings: Settings, dsn: str, metrics: Metrics, counters: Sequence[SharedCounters]) -> None:
    """Runs a process until it is told to stop."""
    # Objects that exist now live as long as the process, and requests leave few cycles: collect garbage rarely.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    process = run_metrics(settings, dsn, counters) if name == "metrics" else PROCESS_MAINS[name](settings, dsn, metrics)
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        asyncio.run(run_with_metrics(name, settings, metrics, process))
    else:
        uvloop.run(run_with_metrics(name, settings, metrics, process))


PROCESS_MAINS = {"api": run_api, "worker": run_worker, "console": run_console}
