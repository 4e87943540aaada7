"""The tasks of a process about its vendors: health, balances, lists of banks and shadow mode.

A deployment without vendors has none of them.
"""

import asyncio
import os
import socket
from collections.abc import Coroutine, Mapping
from functools import partial
from typing import Any

import structlog

from kasuwa.boot.composition import Services
from kasuwa.observe.log import describe_error
from kasuwa.observe.metrics import RAIL_BALANCE, RAIL_HELD_SECONDS, RAIL_IN_FLIGHT, RAIL_PAUSED, Metrics
from kasuwa.postgres import connections
from kasuwa.postgres.connection_pool import Pool
from kasuwa.rails.choice import RailChoice
from kasuwa.rails.ports.orders import NoAnswer, Unavailable
from kasuwa.rails.routing.orders import BankLister, NameComparison
from kasuwa.rails.watch import records
from kasuwa.rails.watch.call_timings import CallTimings
from kasuwa.rails.watch.records import RailError, RailHealth
from kasuwa.rails.watch.shadow import ShadowComparer
from kasuwa.rails.watch.watch import BalanceReader, RailWatch
from kasuwa.settings.settings import get_shadow

# How often the lists of banks are looked at. A vendor's list is read once a day, and again after a failure.
LIST_SECONDS = 60.0

log = structlog.get_logger("kasuwa.rails")


def start_rail_tasks(services: Services, pool: Pool, part: str) -> list["asyncio.Task[None]"]:
    """Starts the tasks of the process `part`: api, worker or console. `pool` may write. Cancel them at the end."""
    choice, settings = services.rail_choice, services.settings
    if not choice.monitors:
        return []
    watch_calls(choice, services.metrics)
    process = f"{socket.gethostname()} {part} {os.getpid()}"
    use = partial(use_balances, choice, services.metrics if part == "worker" else None)
    timings = partial(list_timings, choice)
    watch = RailWatch(pool, partial(describe_health, choice, process), use, choice.accounts, timings)
    loops: list[Coroutine[Any, Any, None]] = [watch.run()]
    if part != "console":
        loops += [keep_bank_lists(choice), keep_item_lists(choice)]
    shadow = start_shadow(services, pool)
    if shadow is not None:
        loops.append(shadow.run())
    if part == "worker":
        on_read = shadow.add_balance if shadow is not None else lambda *_: None
        seconds = settings.rail_balance_seconds
        reader = BalanceReader(services.dsn, choice.funded_rails(), settings.rail_float_least, seconds, on_read)
        loops += [reader.run(), report_stranded(choice, pool)]
    return [asyncio.create_task(loop) for loop in loops]


def watch_calls(choice: RailChoice, metrics: Metrics) -> None:
    """Registers the gauges of calls in progress, pauses and holds."""

    def collect() -> None:
        for rail, monitor in choice.monitors.items():
            metrics.gauge(RAIL_IN_FLIGHT, monitor.in_flight, metrics.process_name, rail)
            metrics.gauge(RAIL_PAUSED, int(monitor.is_paused), metrics.process_name, rail)
            metrics.gauge(RAIL_HELD_SECONDS, monitor.held_seconds, metrics.process_name, rail)

    metrics.add_collector(collect)


def use_balances(choice: RailChoice, metrics: Metrics | None, balances: Mapping[tuple[str, str], int]) -> None:
    """Has orders chosen by the balances that were read last. The worker also publishes them."""
    choice.balances.update(balances)
    if metrics is not None:
        for (rail, currency), amount in balances.items():
            metrics.gauge(RAIL_BALANCE, amount, rail, currency)


def list_timings(choice: RailChoice) -> list[CallTimings]:
    return [monitor.timings for monitor in choice.monitors.values()]


def describe_health(choice: RailChoice, process: str) -> list[RailHealth]:
    unmapped = {
        name: rail.known_unmapped_banks()
        for _, name, rail in choice.router.list_rails()
        if isinstance(rail, BankLister)
    }
    return [
        RailHealth(
            process=process,
            rail=name,
            in_flight=monitor.in_flight,
            held_seconds=monitor.held_seconds,
            is_paused=monitor.is_paused,
            unmapped_banks=unmapped.get(name),
            errors=[RailError(error.at, error.call, error.outcome) for error in monitor.errors],
        )
        for name, monitor in choice.monitors.items()
    ]


async def keep_bank_lists(choice: RailChoice) -> None:
    """Keeps the vendors' lists of banks in memory, so that an order is not given to a vendor that cannot pay it."""
    while True:
        for _, name, rail in choice.router.list_rails():
            if isinstance(rail, BankLister):
                try:
                    await rail.list_unmapped_banks()
                except (Unavailable, NoAnswer) as error:
                    log.warning("a list of banks could not be read", rail=name, trouble=type(error).__name__)
        await asyncio.sleep(LIST_SECONDS)


async def keep_item_lists(choice: RailChoice) -> None:
    """Keeps in memory what further billers sell, so that they take over only what they sell too."""
    lists = choice.other_item_lists()
    while lists:
        for name, items in lists.items():
            if items.is_due():
                try:
                    await items.read()
                except (Unavailable, NoAnswer) as error:
                    log.warning("a list of bills could not be read", rail=name, trouble=type(error).__name__)
        await asyncio.sleep(LIST_SECONDS)


def start_shadow(services: Services, pool: Pool) -> ShadowComparer | None:
    """Returns the comparer of the rail in shadow mode, which receives every name enquiry from now on, or None."""
    choice, name = services.rail_choice, get_shadow(services.settings, "bank")
    if not name:
        return None
    comparer = ShadowComparer(pool, "bank", name, choice.banks.rails[name].find_account_name)

    def compare(answered: NameComparison) -> None:
        comparer.add_name(answered.rail, answered.enquiry, answered.answer, answered.seconds)

    choice.on_name = compare
    return comparer


async def report_stranded(choice: RailChoice, pool: Pool) -> None:
    """Logs open orders of rails that are not configured. They wait, and are sent nowhere else."""
    known = {name for _, name, _ in choice.router.list_rails()}
    try:
        async with pool.acquire() as connection:
            orders = await records.count_open_orders(connection)
    except Exception as error:
        if not connections.is_connection_error(error):
            log.error("open orders not counted", **describe_error(error))
        return
    for row in orders:
        where = {"rail": row.rail, "lane": row.lane, "orders": row.count}
        if row.rail not in known and (row.rail, row.rail_account) not in choice.accounts.former:
            log.error("orders wait for a rail that is not configured", **where)
        elif choice.accounts.find(row.rail, row.rail_account) is None:
            log.warning("orders were sent with keys that are not set", account=row.rail_account, **where)
