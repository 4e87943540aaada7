"""Hosts that find each other through the table of live API processes, on a real database and over real TCP."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from functools import lru_cache
from pathlib import Path

import msgspec
import pytest

from kasuwa import __version__
from kasuwa.cluster import api_processes
from kasuwa.cluster.api_processes import ApiProcess
from kasuwa.cluster.certificates import CertificateFiles, PeerCertificates
from kasuwa.cluster.frames import REQUEST
from kasuwa.cluster.links import LinkState, OwnerLinks
from kasuwa.cluster.listener import Inquiry, OwnerListener
from kasuwa.cluster.peer_listener import PeerListener
from kasuwa.cluster.peer_registry import OwnProcess, PeerRegistry
from kasuwa.cluster.peers import Peer, PeerHost, make_protocol
from kasuwa.doctor.peers import examine_certificates, examine_peers
from kasuwa.observe.metrics import PEER_FORWARDED, PEER_LIVE, PEER_REFUSED, Metrics
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.connections import open_operator_pool
from kasuwa.settings.peer_terms import PeerTerms
from kasuwa.settings.settings import Settings
from tests.certificates import Authority
from tests.cluster.test_links import run, wait_until
from tests.running import NEWEST, Deployment, Deployments, free_port

HOST = "127.0.0.1"
EXPIRE = "update api_process set lease_until = now() - interval '1 second' where address = $1"
AGE = "update api_process set lease_until = now() - interval '1 hour' where address = $1"
ADDRESSES = "select address from api_process"


@pytest.fixture
def deployment(deployments: Deployments) -> Deployment:
    return deployments.for_version(NEWEST)


@lru_cache
def made_authority(directory: Path) -> Authority:
    """Returns the CA of the hosts of a test."""
    return Authority(directory / "certificates")


class InProcessHost:
    """A host of one API process, which runs in the process of the test."""

    def __init__(self, pool: Pool, directory: Path, host_id: str, *, port: int = 0, protocol: str = "") -> None:
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.metrics = Metrics()
        self.kept: list[Inquiry] = []
        self.host = PeerHost(
            host_id=host_id,
            machine=f"machine of {host_id}",
            protocol=protocol or make_protocol(__version__),
            addresses=(self.address,),
            listen=("127.0.0.1", self.port),
            certificates=PeerCertificates(made_authority(directory).issue(host_id, HOST)),
        )
        self.row = ApiProcess(
            address=self.address,
            host_id=host_id,
            machine=self.host.machine,
            number=0,
            protocol=self.host.protocol,
            version=__version__,
            clock_skew_ms=0,
        )
        path = directory / f"{host_id}.sock"
        greeting = self.host.make_greeting(self.address)
        peers = PeerListener(self.host.listen, self.host.certificates, greeting, self.metrics)
        self.listener = OwnerListener(path, {REQUEST: self.answer}, peers)
        self.links = OwnerLinks([path], 0, self.metrics, self.host)
        own = OwnProcess(self.row, self.listener)
        self.registry = PeerRegistry(pool, self.links, self.host, own, DatabaseClock())

    def answer(self, payload: bytes, inquiry: Inquiry) -> None:
        if payload == b"slow":
            self.kept.append(inquiry)
            return
        inquiry.answer(self.host.host_id.encode() + b" answers " + payload)

    def merchant_of(self, other: "InProcessHost") -> int:
        """Returns a merchant that the other host owns, when both are live."""
        return next(number for number in range(10_000) if not self.links.is_first_choice(number))

    def reaches(self, other: "InProcessHost") -> bool:
        self.links._collect()
        return self.metrics.series.get((PEER_LIVE.name, ("", other.address))) == [1.0]

    def refusals(self, peer: str, why: str) -> float:
        return self.metrics.series.get((PEER_REFUSED.name, (peer, why)), [0.0])[0]


@contextlib.asynccontextmanager
async def started(host: InProcessHost, *, is_announced: bool = True) -> AsyncIterator[InProcessHost]:
    await host.listener.start()
    host.links.start()
    if is_announced:
        await host.registry.refresh()
    try:
        yield host
    finally:
        host.links.close()
        await host.registry.close()
        host.listener.say_goodbye()
        await host.listener.drain()


@contextlib.asynccontextmanager
async def database(deployment: Deployment) -> AsyncIterator[Pool]:
    pool = await open_operator_pool(deployment.dsn)
    try:
        yield pool
    finally:
        await pool.close()


@contextlib.asynccontextmanager
async def two_hosts(
    deployment: Deployment, directory: Path
) -> AsyncIterator[tuple[Pool, InProcessHost, InProcessHost]]:
    """Yields two hosts of which the first reaches the second, with a pool of their database."""
    async with (
        database(deployment) as pool,
        started(InProcessHost(pool, directory, "one")) as one,
        started(InProcessHost(pool, directory, "two")) as two,
    ):
        await one.registry.refresh()
        await wait_until(lambda: one.reaches(two))
        yield pool, one, two


def test_hosts_find_each_other_and_ask_the_owner_of_a_merchant(deployment: Deployment, tmp_path: Path) -> None:
    async def meet() -> None:
        async with database(deployment) as pool, started(InProcessHost(pool, tmp_path, "one")) as one:
            assert all(one.links.is_first_choice(number) for number in range(100))
            async with started(InProcessHost(pool, tmp_path, "two")) as two:
                await one.registry.refresh()
                await wait_until(lambda: one.reaches(two) and two.reaches(one))
                merchant = one.merchant_of(two)
                link = one.links.find(merchant)
                assert link is not None
                assert (link.peer, two.links.find(merchant)) == (two.address, None)
                assert await link.ask(REQUEST, b"a card") == b"two answers a card"
                assert one.metrics.series[PEER_FORWARDED.name, (two.address, "answered")] == [1.0]
                # Both see the same owners.
                mine = [number for number in range(1024) if one.links.is_first_choice(number)]
                assert mine == [number for number in range(1024) if not two.links.is_first_choice(number)]
                assert 350 < len(mine) < 674
            assert await pool.fetch(ADDRESSES) == [(one.address,)]
            await one.registry.refresh()
            assert not one.reaches(two)
            assert one.links.find(merchant) is None

    run(meet())


def test_a_host_whose_lease_has_ended_is_ignored_and_its_row_deleted(deployment: Deployment, tmp_path: Path) -> None:
    async def expire() -> None:
        async with database(deployment) as pool, started(InProcessHost(pool, tmp_path, "one")) as one:
            dead = InProcessHost(pool, tmp_path, "dead")
            assert await api_processes.renew(pool, dead.row)
            await one.registry.refresh()
            assert dead.address in one.links._peers
            await pool.execute(EXPIRE, dead.address)
            await one.registry.refresh()
            assert dead.address not in one.links._peers
            assert len(await pool.fetch(ADDRESSES)) == 2
            await pool.execute(AGE, dead.address)
            await one.registry.refresh()
            assert await pool.fetch(ADDRESSES) == [(one.address,)]

    run(expire())


def test_a_live_host_that_is_late_to_renew_its_lease_is_kept(deployment: Deployment, tmp_path: Path) -> None:
    async def be_late() -> None:
        async with two_hosts(deployment, tmp_path) as (pool, one, two):
            await pool.execute(EXPIRE, two.address)
            await one.registry.refresh()
            assert one.reaches(two)
            assert one.links.find(one.merchant_of(two)) is not None

    run(be_late())


def test_a_host_that_stops_answers_what_it_was_sent_after_its_lease(deployment: Deployment, tmp_path: Path) -> None:
    async def stop() -> None:
        async with two_hosts(deployment, tmp_path) as (_, one, two):
            link = one.links.find(one.merchant_of(two))
            assert link is not None
            asking = asyncio.create_task(link.ask(REQUEST, b"slow"))
            await wait_until(lambda: two.kept != [])
            two.listener.say_goodbye()
            await two.registry.close()
            await wait_until(lambda: one.links.find(one.merchant_of(two)) is None)
            await one.registry.refresh()
            two.kept[0].answer(b"done")
            assert await asking == b"done"
            await wait_until(lambda: link.state is LinkState.AWAY)
            await one.registry.refresh()
            assert one.links._peers == {}

    run(stop())


def test_a_host_of_another_protocol_is_sent_nothing(deployment: Deployment, tmp_path: Path) -> None:
    async def upgrade() -> None:
        async with (
            database(deployment) as pool,
            started(InProcessHost(pool, tmp_path, "one")) as one,
            started(InProcessHost(pool, tmp_path, "later", protocol="2/99.0")) as later,
        ):
            await one.registry.refresh()
            await later.registry.refresh()
            assert (one.links._peers, later.links._peers) == ({}, {})
            assert all(one.links.find(number) is None for number in range(100))

    run(upgrade())


def test_a_process_that_is_not_the_one_of_the_table_is_not_asked(deployment: Deployment, tmp_path: Path) -> None:
    async def mistake() -> None:
        async with (
            database(deployment) as pool,
            started(InProcessHost(pool, tmp_path, "one")) as one,
            started(InProcessHost(pool, tmp_path, "stranger"), is_announced=False) as stranger,
        ):
            # The table says that another start of a host has this address.
            expected = msgspec.structs.replace(stranger.row, host_id="expected")
            assert await api_processes.renew(pool, expected)
            assert stranger.listener.peers is not None
            stranger.listener.peers.set_hosts([HOST])
            await one.registry.refresh()
            await wait_until(lambda: one.refusals(stranger.address, "other process") > 0)
            assert not one.reaches(stranger)
            await api_processes.end(pool, expected)

    run(mistake())


def test_the_address_of_a_live_host_is_not_taken_over_before_its_lease_ends(
    deployment: Deployment, tmp_path: Path
) -> None:
    async def take() -> None:
        async with database(deployment) as pool:
            first = InProcessHost(pool, tmp_path, "first").row
            second = msgspec.structs.replace(first, host_id="second")
            assert await api_processes.renew(pool, first)
            assert not await api_processes.renew(pool, second)
            assert await api_processes.renew(pool, first)
            await pool.execute(EXPIRE, first.address)
            assert await api_processes.renew(pool, second)
            assert not await api_processes.renew(pool, first)
            [live] = await api_processes.list_live(pool)
            assert live.host_id == "second"
            await api_processes.end(pool, first)  # not its row any more
            assert len(await api_processes.list_live(pool)) == 1
            await api_processes.end(pool, second)
            assert await api_processes.list_live(pool) == []

    run(take())


# --- doctor -------------------------------------------------------------------------------------------------


async def find_problems(pool: Pool, host: InProcessHost, files: CertificateFiles | None = None) -> list[str]:
    files = files or host.host.certificates.files
    settings = Settings(
        database_url="postgresql://db/kasuwa",
        peer_listen=host.address,
        peer_certificate=str(files.certificate),
        peer_key=str(files.key),
        peer_ca=str(files.ca),
        workers=1,
    )
    async with pool.acquire() as connection:
        found = await examine_peers(settings, connection)
    assert all(finding.remedy for finding in found if finding.is_problem or finding.is_warning)
    return [finding.what for finding in found if finding.is_problem or finding.is_warning]


def test_doctor_says_what_is_wrong_between_hosts(deployment: Deployment, tmp_path: Path) -> None:
    async def examine() -> None:
        async with database(deployment) as pool:
            absent = InProcessHost(pool, tmp_path, "absent")
            assert await find_problems(pool, absent) == [f"no API process of this host is live as {absent.address}"]
            async with started(InProcessHost(pool, tmp_path, "one")) as one:
                where = f"{one.address} on machine of one"
                assert await find_problems(pool, one) == []
                stranger = Authority(tmp_path / "other").issue(HOST)
                assert await find_problems(pool, one, stranger) == [f"{where} shows a certificate of another CA"]
                ours = one.host.certificates.files
                mixed = CertificateFiles(stranger.certificate, stranger.key, ours.ca)
                assert await find_problems(pool, one, mixed) == [
                    f"{stranger.certificate} does not lead to the CA: other CA",
                    f"{where} does not accept the certificate of this host",
                ]
                for changed, message in {
                    ("clock_skew_ms", 9000): f"the clock of {where} is 9 s ahead of the database's",
                    ("clock_skew_ms", -60_000): f"the clock of {where} is 60 s behind the database's",
                    ("protocol", "2/99.0"): f"{where} runs version {__version__}, this one",
                    ("host_id", "two"): f"{where} is another process",
                }.items():
                    await pool.execute("delete from api_process")
                    await api_processes.renew(pool, msgspec.structs.replace(one.row, **dict([changed])))
                    [problem] = await find_problems(pool, one)
                    assert problem.startswith(message)
                await pool.execute("delete from api_process")
                assert await api_processes.renew(pool, absent.row)
                assert f"{absent.address} on machine of absent cannot be reached" in await find_problems(pool, one)
                async with pool.acquire() as connection:
                    [alone] = await examine_peers(Settings(), connection)
                assert "KASUWA_PEER_LISTEN is not set here" in alone.what
                assert not alone.is_problem
                await api_processes.end(pool, absent.row)

    run(examine())


def test_doctor_says_what_is_wrong_with_the_certificate_of_this_host(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    def examine(files: CertificateFiles) -> list[str]:
        found = examine_certificates(PeerCertificates(files), HOST)
        return [finding.what for finding in found if finding.remedy]

    files = authority.issue(HOST)
    assert examine(files) == []
    assert examine(authority.issue(HOST, days=20)) == [f"{files.certificate} expires in 19 days"]
    [expired] = examine(authority.issue(HOST, days=-1))
    assert expired.startswith(f"{files.certificate} has expired on 20")
    assert examine(authority.issue(HOST, "10.0.0.9")) == [f"{files.certificate} is not a certificate of {HOST}"]
    [unfit] = examine(authority.issue(HOST, is_client=False))
    assert unfit == f"{files.certificate} does not lead to the CA: other CA"
    files = authority.issue(HOST)
    for mode, is_open in {0o600: False, 0o400: False, 0o640: True, 0o604: True, 0o660: True}.items():
        files.key.chmod(mode)
        assert examine(files) == ([f"{files.key} can be read by others than the service"] if is_open else [])


def test_doctor_names_the_files_that_are_not_there(deployment: Deployment, tmp_path: Path) -> None:
    async def examine() -> None:
        async with database(deployment) as pool:
            missing = CertificateFiles(tmp_path / "a.pem", tmp_path / "a.key", tmp_path / "ca.pem")
            [problem] = await find_problems(pool, InProcessHost(pool, tmp_path, "one"), missing)
            assert all(f"{path} cannot be read" in problem for path in (missing.certificate, missing.key, missing.ca))

    run(examine())


def test_renewed_files_are_taken_up_and_what_was_asked_is_answered(deployment: Deployment, tmp_path: Path) -> None:
    async def renew() -> None:
        async with two_hosts(deployment, tmp_path) as (_, one, two):
            link = one.links.find(one.merchant_of(two))
            assert link is not None
            before = link._connection
            asking = asyncio.create_task(link.ask(REQUEST, b"slow"))
            await wait_until(lambda: two.kept != [])
            made_authority(tmp_path).issue("two", HOST)
            await two.registry.refresh()
            await wait_until(lambda: link.state is LinkState.LEAVING)
            two.kept[0].answer(b"done")
            assert await asking == b"done"
            await wait_until(lambda: one.reaches(two))
            assert link._connection is not before
            # The caller connects again too when its own files have changed.
            before = link._connection
            made_authority(tmp_path).issue("one", HOST)
            await one.registry.refresh()
            await wait_until(lambda: link._connection is not before and one.reaches(two))
            # A broken file changes nothing.
            before = link._connection
            one.host.certificates.files.key.write_text("half a ke")
            await one.registry.refresh()
            assert (link._connection, one.reaches(two)) == (before, True)

    run(renew())


def test_an_address_of_ipv6_is_taken_apart() -> None:
    terms = PeerTerms("::", 7400, "[fd00::1]", 7400)
    assert terms.make_address(1) == "[fd00::1]:7401"
    assert Peer(terms.make_address(1), b"").endpoint == ("fd00::1", 7401)


def test_a_database_that_does_not_answer_leaves_the_connections_as_they_are(
    deployment: Deployment, tmp_path: Path
) -> None:
    async def lose() -> None:
        async with two_hosts(deployment, tmp_path) as (_, one, two):
            broken = PeerRegistry(Unreachable(), one.links, one.host, None, DatabaseClock())
            broken.start()
            await asyncio.sleep(0.05)
            assert one.reaches(two)
            await broken.close()

    run(lose())


class Unreachable:
    """A database that refuses connections."""

    async def fetch(self, query: str, *args: object) -> list[object]:
        raise ConnectionRefusedError

    async def fetchrow(self, query: str, *args: object) -> object:
        raise ConnectionRefusedError

    async def fetchval(self, query: str, *args: object) -> object:
        raise ConnectionRefusedError

    async def execute(self, query: str, *args: object) -> object:
        raise ConnectionRefusedError
