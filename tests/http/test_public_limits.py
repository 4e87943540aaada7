"""Paths that need no key: limits of networks, and nobody loses a link that works because of a neighbor."""

import asyncio

import pytest

from kasuwa.concurrency.exhaustion import PoolExhausted
from kasuwa.http import public_limits
from kasuwa.http.page import Page
from kasuwa.http.public_limits import FAILED_LINKS, REQUESTS_AT_ONCE, PublicLimits
from kasuwa.http.shared_buckets import SharedBuckets
from tests.running import Deployments

TOO_MANY = Page(429, b"", ())
NETWORK, OTHER = "192.0.2.1", "192.0.2.2"


def make_limits() -> PublicLimits:
    return PublicLimits(SharedBuckets(), TOO_MANY)


def test_a_network_that_opens_unknown_links_is_refused_after_a_number_of_them() -> None:
    limits = make_limits()
    for n in range(FAILED_LINKS):
        assert limits.may_open(NETWORK, f"/pay/{n}")
        limits.record_found(NETWORK, f"/pay/{n}", False)
    assert not limits.may_open(NETWORK, "/pay/next")
    assert limits.may_open(OTHER, "/pay/next")


def test_a_link_that_was_opened_before_works_while_its_network_is_refused() -> None:
    limits = make_limits()
    limits.record_found(NETWORK, "/pay/0", False)
    limits.record_found(NETWORK, "/pay/mine", True)
    for n in range(FAILED_LINKS):
        limits.record_found(NETWORK, f"/pay/{n}", False)
    assert limits.may_open(NETWORK, "/pay/mine")
    assert not limits.may_open(NETWORK, "/pay/yours")


def test_a_network_has_a_limited_number_of_requests_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_limits, "WAIT_SECONDS", 0.0)
    limits = make_limits()

    async def hold_all() -> None:
        async def hold(done: asyncio.Event, began: list[None]) -> None:
            async with limits.request("page", NETWORK):
                began.append(None)
                await done.wait()

        done, began = asyncio.Event(), list[None]()
        holding = [asyncio.create_task(hold(done, began)) for _ in range(REQUESTS_AT_ONCE)]
        while len(began) < REQUESTS_AT_ONCE:
            await asyncio.sleep(0)
        with pytest.raises(PoolExhausted):
            async with limits.request("page", NETWORK):
                pass
        for kind, network in (("page", OTHER), ("callback", NETWORK)):
            async with limits.request(kind, network):
                pass
        done.set()
        await asyncio.gather(*holding)
        async with limits.request("page", NETWORK):
            pass

    asyncio.run(hold_all())


def test_failed_links_are_refused_over_http(deployments: Deployments) -> None:
    with (
        deployments.fresh("guesses", KASUWA_CONSOLE="off", KASUWA_TRUSTED_PROXIES="127.0.0.1") as deployment,
        deployment.connect() as wire,
    ):

        def guess(path: str, address: str) -> tuple[int, str | None]:
            reply = wire.send("GET", path, headers={"x-forwarded-for": address})
            return reply.http, reply.headers.get("retry-after")

        # On a slow machine some tokens come back meanwhile.
        codes: list[int] = []
        while 429 not in codes and len(codes) < 10 * FAILED_LINKS:
            codes.append(guess(f"/pay/checkout/{len(codes):048x}", f"2001:db8:1:2::{len(codes):x}")[0])
        assert set(codes[:FAILED_LINKS]) == {404}
        assert codes[-1] == 429
        assert guess("/pay/link/shop", "2001:db8:1:3::1") == (404, None)
