"""The processes of the service. `kasuwa serve` (boot/supervise.py) starts them and stops them.

api      serves the HTTP API and the payers' pages
worker   runs jobs and sends webhooks
console  serves the web console
metrics  serves the metrics of the other processes, if a port is set
"""

import asyncio
import gc
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server as Granian

from kasuwa.api import backlog
from kasuwa.api.forwarding import RequestForwarder
from kasuwa.boot import ports
from kasuwa.boot.api import make_admin_operations, make_callbacks, make_dispatch, make_request_log, make_server
from kasuwa.boot.composition import Services, make_closer
from kasuwa.boot.owners import SharedResources, start_links, start_owner
from kasuwa.boot.rails import start_rail_tasks
from kasuwa.boot.supervisor_watch import make_stop_event
from kasuwa.http.connection import HttpLimits
from kasuwa.http.exchange import HttpApplication
from kasuwa.http.server import BACKLOG, HttpServer, connections_within, open_files_limit
from kasuwa.jobs import presence
from kasuwa.jobs.people_mails import PeopleMails
from kasuwa.jobs.people_notices import PeopleNotices
from kasuwa.jobs.steps import list_lanes
from kasuwa.jobs.worker import Worker
from kasuwa.merchants.key_usage import keep_recording_use
from kasuwa.methods.disburse.search_words import hash_transfer
from kasuwa.methods.disputes.answers_task import DisputeAnswers
from kasuwa.methods.disputes.steps import read_answer
from kasuwa.methods.payment.search_words import hash_payment
from kasuwa.methods.sealed_columns import SEALED_PLACES, make_client_indexer
from kasuwa.methods.searched_records import hash_text, make_searched_tables
from kasuwa.methods.tables import DISPUTE_RULES, RECEIPT_RULES, index_steps, list_methods
from kasuwa.observe import log
from kasuwa.observe.metrics import Metrics
from kasuwa.observe.watchdog import watch_event_loop
from kasuwa.postgres import connections
from kasuwa.postgres.advisory_locks import AdvisoryLock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.connections import wait_for_primary
from kasuwa.postgres.polling import Polling
from kasuwa.privacy.key_rotation import KeyRotation
from kasuwa.projections.daily_totals import DailyTotals
from kasuwa.projections.payment_words import EndedHashers, PaymentWords
from kasuwa.projections.record_words import RecordWords
from kasuwa.projections.settlement_sums import SettlementSums
from kasuwa.rails.catalogue.refresh import CatalogueRefresher
from kasuwa.rails.inbox.listings import RailListings
from kasuwa.rails.inbox.processing import InboxServices, RailInbox, dispute_books
from kasuwa.rails.ports.accounts import AccountRail
from kasuwa.rails.ports.feeds import FeedRail
from kasuwa.sandbox.request_records import FLUSH_SECONDS, RequestRecorder
from kasuwa.settings.database_logins import reader_url
from kasuwa.settings.settings import Settings, console_address, sends_mail
from kasuwa.terms.accounts import SANDBOX_RAIL
from kasuwa.transactions.transactions import WEBHOOK_LANE

# How long the headers of a request may take, and how long a connection may be idle before it. Proxies and clients that
# keep connections open give them up before (deploy/nginx).
HEADER_MILLISECONDS = 5_000
# Memory of a connection before its body is read. The headers of thousands of connections must fit.
CONNECTION_BYTES = 64 * 1024
# Further connections wait until one of these ends.
MAX_CONNECTIONS = 4096


# --- the API process ----------------------------------------------------------------------------------------


async def run_api(settings: Settings, dsn: str, metrics: Metrics, shared: SharedResources) -> None:
    services = await Services.build(settings, dsn, metrics)
    operators = services.use_pool(await connections.open_operator_pool(dsn))
    await services.start()
    await services.catalogue_cache.refresh()
    usage = keep_recording_use(services.merchant_directory.key_usage, operators)
    background = [
        asyncio.create_task(services.catalogue_cache.run()),
        asyncio.create_task(usage),
        *start_rail_tasks(services, operators, "api"),
    ]
    recorder = None if settings.environment == "live" else RequestRecorder(operators, services.vault)
    operations = make_admin_operations(services, operators, recorder)
    dispatch = make_dispatch(services, operations, shared.limits)
    owner = await start_owner(services, dispatch, shared, operators)
    forwarder = None if owner is None else RequestForwarder(dispatch, owner.links, metrics)
    if recorder is not None:
        recording = Polling().repeat(recorder.flush, FLUSH_SECONDS, "the request log could not be written")
        background.append(asyncio.create_task(recording))
    server = make_server(services, dispatch, make_callbacks(services, operators), forwarder, shared.limits, recorder)
    http = await start_http_server(server, settings.host, settings.port)
    await make_stop_event().wait()
    if owner is not None:
        owner.say_goodbye()
    http.stop()
    await asyncio.gather(operations.close(), server.drain(), *([] if owner is None else [owner.drain()]))
    await http.close()
    if owner is not None:
        owner.links.close()
    cancel_all(background)
    await services.close()
    await operators.close()


def cancel_all(tasks: Iterable["asyncio.Task[None]"]) -> None:
    for task in tasks:
        task.cancel()


async def start_http_server(application: HttpApplication, host: str, port: int) -> HttpServer:
    limits = HttpLimits(
        header_seconds=HEADER_MILLISECONDS / 1000,
        header_bytes=CONNECTION_BYTES,
        connections=connections_within(open_files_limit(), MAX_CONNECTIONS),
    )
    server = HttpServer(application, ports.open_listener(host, port), limits)
    await server.start()
    return server


# --- the worker process -------------------------------------------------------------------------------------


async def run_worker(settings: Settings, dsn: str, metrics: Metrics, shared: SharedResources) -> None:
    services = await Services.build(settings, dsn, metrics)
    claims = services.use_pool(await connections.open_claim_pool(dsn))
    owners = start_links(services, shared, claims)
    if owners is not None:
        services.forward_jobs(owners.links)
    await services.start()
    worker = Worker(claims, services.step_runner, services.merchant_directory, services.clock)
    stopping = make_stop_event()
    announcing = asyncio.create_task(presence.announce(dsn, AdvisoryLock.WORKER))
    background = start_rail_tasks(services, claims, "worker")
    refresher = CatalogueRefresher(dsn, services.rails.biller)
    accounts = {name: rail for name, rail in services.rails.accounts.items() if name != SANDBOX_RAIL}
    feeds = services.rail_choice.make_feeds()
    records = services.use_pool(await connections.open_rail_pool(dsn))
    inbox_services = make_inbox_services(services, records, accounts, feeds)
    inbox = RailInbox(inbox_services)
    listings = RailListings(records, accounts, feeds, dispute_books(inbox_services))
    closer = make_closer(settings, dsn, services.clock)
    loops = (worker.run(services.step_runner.lanes), services.webhook_sender.run(), refresher.run())
    answers = DisputeAnswers(records, services.rail_choice.make_dispute_rails(), partial(read_answer, services.vault))
    rotation = KeyRotation(dsn, claims, services.vault, SEALED_PLACES, make_client_indexer(services.vault))
    hashers = EndedHashers(partial(hash_payment, services.vault), partial(hash_transfer, services.vault))
    record_words = RecordWords(dsn, make_searched_tables(services.vault), partial(hash_text, services.vault))
    sums = (DailyTotals(dsn), SettlementSums(dsn), PaymentWords(dsn, hashers), record_words)
    is_test = settings.environment == "test"
    rail = services.rails.mail if sends_mail(settings) else None
    mails = PeopleMails(records, rail, services.vault, services.clock, keeps_content=is_test)
    notices = PeopleNotices(records, services.vault, console_address(settings), sends_mail=sends_mail(settings))
    parts = (inbox, listings, answers, closer, rotation, mails, notices, *sums)
    running = [asyncio.create_task(loop) for loop in (*loops, *(part.run() for part in parts))]
    await stopping.wait()
    for part in (worker, services.webhook_sender, refresher, *parts):
        part.stop()
    await asyncio.gather(*running)
    if owners is not None:
        await owners.close()
    cancel_all((announcing, *background))
    await claims.close()
    await records.close()
    await services.close()


def make_inbox_services(
    services: Services, records: Pool, accounts: Mapping[str, AccountRail], feeds: Mapping[str, FeedRail]
) -> InboxServices:
    return InboxServices(
        pool=records,
        writer=services.writer,
        directory=services.merchant_directory,
        vault=services.vault,
        accounts=accounts,
        feeds=feeds,
        receipt_rules=RECEIPT_RULES,
        dispute_rules=DISPUTE_RULES,
        suspense_mid=services.settings.suspense_mid,
    )


# --- the console process --------------------------------------------------------------------------------------


async def serve_console_until_stopped(application: Any, host: str, port: int) -> None:
    granian = Granian(
        application,
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_MILLISECONDS, max_buffer_size=CONNECTION_BYTES),
        websockets=False,
        runtime_threads=2,  # one reads requests while the other is at a large reply
        backlog=BACKLOG,
        backpressure=MAX_CONNECTIONS,
        log_enabled=False,
    )
    stopping = make_stop_event()
    serving = asyncio.create_task(granian.serve())
    await asyncio.wait([serving, asyncio.create_task(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    granian.signal_handler_interrupt()  # type: ignore[no-untyped-call]
    await serving


async def run_console(settings: Settings, dsn: str, metrics: Metrics, shared: SharedResources) -> None:
    from kasuwa.boot.console import make_console_services
    from kasuwa.console.server import make_console

    services = await Services.build(settings, dsn, metrics)
    operators = services.use_pool(await connections.open_operator_pool(dsn))
    readers = services.use_pool(await connections.open_console_pool(reader_url(settings, dsn)))
    await services.start()
    await services.catalogue_cache.refresh()
    background = [
        asyncio.create_task(services.catalogue_cache.run()),
        *start_rail_tasks(services, operators, "console"),
    ]
    request_log = make_request_log(settings)
    dispatch = make_dispatch(services, make_admin_operations(services, operators, is_api=False))
    owners = start_links(services, shared, operators)
    forwarder = None if owners is None else RequestForwarder(dispatch, owners.links, metrics)
    console_services = make_console_services(services, dispatch, operators, readers, forwarder)
    application = make_console(console_services, request_log)
    announcing = asyncio.create_task(
        presence.announce_when_listening(settings.console_host, settings.console_port, dsn)
    )
    await serve_console_until_stopped(application, settings.console_host, settings.console_port)
    request_log.flush()
    if owners is not None:
        await owners.close()
    cancel_all((announcing, *background))
    await services.close()
    await readers.close()
    await operators.close()


# --- the metrics process --------------------------------------------------------------------------------------


async def run_metrics(settings: Settings, dsn: str, metrics: Metrics, shared: SharedResources) -> None:
    from kasuwa.api.scrape import MetricsEndpoint

    assert settings.metrics_port is not None, "the metrics process runs only if a port is set"
    readers = await connections.open_metrics_pool(dsn)
    lanes = [WEBHOOK_LANE, *list_lanes(index_steps(list_methods(settings.environment)).values())]

    async def read_backlog() -> backlog.Backlog | None:
        try:
            async with asyncio.timeout(3), readers.acquire() as connection:
                return await backlog.read_backlog(connection, lanes)
        except Exception:
            return None

    endpoint = MetricsEndpoint(shared.counters, read_backlog)
    http = await start_http_server(endpoint, settings.metrics_host, settings.metrics_port)
    await make_stop_event().wait()
    http.stop()
    await http.close()
    await readers.close()


# --- all processes ------------------------------------------------------------------------------------------------


async def run_with_metrics(name: str, settings: Settings, dsn: str, metrics: Metrics, shared: SharedResources) -> None:
    log.log_unhandled_errors(asyncio.get_running_loop())
    publishing = asyncio.create_task(metrics.publish_periodically())
    with watch_event_loop(name, metrics, settings.longest_step_ms / 1000):
        if name in NEED_DATABASE:
            await wait_for_primary(dsn)
        await PROCESS_MAINS[name](settings, dsn, metrics, shared)
    publishing.cancel()
    metrics.publish()


def import_code(name: str) -> None:
    """Imports what only this process runs. The console takes a quarter of a second, so no other imports it."""
    if name == "console":
        import anyio

        import kasuwa.boot.console
        import kasuwa.console.server  # noqa: F401

        anyio.run(anyio.sleep, 0)  # it imports its other half at its first use, which is not to be a request


def run_process(name: str, settings: Settings, dsn: str, metrics: Metrics, shared: SharedResources) -> None:
    """Runs a process until it is told to stop."""
    # Objects that exist now live as long as the process, and requests leave few cycles: collect garbage rarely.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    process = run_with_metrics(name, settings, dsn, metrics, shared)
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        asyncio.run(process)
    else:
        uvloop.run(process)


PROCESS_MAINS = {"api": run_api, "worker": run_worker, "console": run_console, "metrics": run_metrics}
# The metrics are served while the database is away.
NEED_DATABASE = ("api", "worker", "console")
