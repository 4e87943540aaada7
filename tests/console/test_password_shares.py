"""Hashing of passwords: one source that floods it does not keep others waiting."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import argon2
import pytest

from kasuwa.people.passwords import (
    HASH_THREADS,
    HASHER,
    MAX_WAITING_OF_SOURCE,
    UNMATCHED_HASH,
    HashPool,
    HashPoolFull,
    HashTurn,
    make_unmatched_hash,
)
from kasuwa.people.throttle import AttemptSource, network_source

FLOOD = network_source("192.0.2.1")
KNOWN = AttemptSource(b"browser", is_known_device=True)


class Flooded:
    """A pool all of whose threads are busy until `release`, with the order in which passwords are hashed then."""

    def __init__(self) -> None:
        self.pool = HashPool()
        self.order: list[str] = []
        self._release = threading.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def fill(self) -> None:
        for _ in range(HASH_THREADS):
            await self.submit(FLOOD, "busy", self._release.wait)

    async def submit(self, source: AttemptSource, account: str, work: Callable[[], object] = lambda: None) -> None:
        async def run() -> None:
            await self.pool.run(HashTurn(source, account), work)
            self.order.append(account)

        self._tasks.append(asyncio.create_task(run()))
        await asyncio.sleep(0)

    async def finish(self) -> list[str]:
        self._release.set()
        await asyncio.gather(*self._tasks)
        return [account for account in self.order if account != "busy"]


def run(work: Callable[[Flooded], Awaitable[None]]) -> None:
    async def flooded() -> None:
        pool = Flooded()
        await pool.fill()
        try:
            await work(pool)
        finally:
            await pool.finish()

    asyncio.run(flooded())


def test_another_network_has_its_turn_among_the_first() -> None:
    async def work(flooded: Flooded) -> None:
        for n in range(MAX_WAITING_OF_SOURCE):
            await flooded.submit(FLOOD, f"guess{n}")
        with pytest.raises(HashPoolFull):
            flooded.pool.check_room(FLOOD)
        with pytest.raises(HashPoolFull):
            await flooded.pool.run(HashTurn(FLOOD, "one more"), print)
        await flooded.submit(network_source("192.0.2.2"), "ada")
        order = await flooded.finish()
        assert order.index("ada") <= HASH_THREADS
        assert len(order) == MAX_WAITING_OF_SOURCE + 1

    run(work)


def test_a_known_browser_has_its_turn_however_many_networks_flood() -> None:
    async def work(flooded: Flooded) -> None:
        for n in range(100):
            await flooded.submit(network_source(f"198.51.100.{n}"), f"guess{n}")
        await flooded.submit(KNOWN, "ada")
        assert (await flooded.finish()).index("ada") <= HASH_THREADS

    run(work)


def test_accounts_of_one_network_take_turns() -> None:
    async def work(flooded: Flooded) -> None:
        for _ in range(MAX_WAITING_OF_SOURCE - 1):
            await flooded.submit(FLOOD, "guessed")
        await flooded.submit(FLOOD, "ada")
        assert (await flooded.finish()).index("ada") <= HASH_THREADS

    run(work)


def test_all_addresses_of_an_ipv6_network_share_one_queue() -> None:
    assert network_source("2001:db8:1:2::5") == network_source("2001:db8:1:2:ffff::1")
    assert network_source("2001:db8:1:2::5") != network_source("2001:db8:1:3::5")


def test_one_who_gives_up_waiting_does_not_take_a_thread_along() -> None:
    async def work(flooded: Flooded) -> None:
        await flooded.submit(FLOOD, "leaves")
        await flooded.submit(FLOOD, "stays")
        flooded._tasks[HASH_THREADS].cancel()
        await asyncio.sleep(0)
        del flooded._tasks[HASH_THREADS]
        assert await flooded.finish() == ["stays"]
        assert await flooded.pool.run(HashTurn(FLOOD, "later"), lambda: "done") == "done"

    run(work)


def test_an_unknown_user_costs_one_verification_that_fails() -> None:
    assert argon2.extract_parameters(UNMATCHED_HASH) == argon2.extract_parameters(HASHER.hash("correct horse"))
    with pytest.raises(argon2.exceptions.VerifyMismatchError):
        HASHER.verify(UNMATCHED_HASH, "correct horse")
    assert make_unmatched_hash() != UNMATCHED_HASH
