"""Throttling of failed sign-ins, its audit entries, and limits on concurrent requests."""

import itertools
import select
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pyotp
import pytest

from kasuwa.console.kit.body_limits import MAX_BODIES_PER_NETWORK
from kasuwa.core.addresses import find_network
from kasuwa.people.passwords import MAX_WAITING_OF_SOURCE
from kasuwa.people.throttle import FREE_FAILURES, FREE_FAILURES_ALL_SOURCES
from kasuwa.people.users import hash_token
from kasuwa.webhooks.sender import MAX_PINGS
from tests.console.test_signing_in import PASSWORD, accept_invitation, next_code, set_up_codes, sign_in
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

FLOODING = MAX_WAITING_OF_SOURCE + 16


def lock_everywhere(deployment: Deployment, email: str, source: bytes = b"") -> None:
    """Locks an address as if its password had been guessed from many networks."""
    deployment.fetch(
        "insert into sign_in_throttle values ($1, $2, $3, now() + interval '10 minutes', now())",
        hash_token(email.lower()),
        source,
        FREE_FAILURES_ALL_SOURCES + 1,
    )


def lock_network(deployment: Deployment, email: str) -> None:
    for _ in range(FREE_FAILURES):
        assert sign_in(Visitor(deployment), email, "wrong").http == 401
    assert sign_in(Visitor(deployment), email).http == 429


# --- who is slowed down -------------------------------------------------------------------------------------------


def test_a_known_browser_is_not_locked_out_by_others(deployment: Deployment) -> None:
    """Others from the very same network, even: it is counted by itself."""
    known = Visitor(deployment)
    email = accept_invitation(deployment, Visitor(deployment))
    assert sign_in(known, email).http == 303
    lock_network(deployment, email)
    lock_everywhere_as_counted(deployment, email)
    assert sign_in(copy_of(deployment, known), email).http == 303
    for _ in range(FREE_FAILURES):
        assert sign_in(copy_of(deployment, known), email, "wrong").http == 401
    assert sign_in(copy_of(deployment, known), email).http == 429, "its own wrong tries count"


def lock_everywhere_as_counted(deployment: Deployment, email: str) -> None:
    deployment.fetch(
        "update sign_in_throttle set failures = $2, locked_until = now() + interval '10 minutes'"
        " where email_hash = $1 and source = ''",
        hash_token(email.lower()),
        FREE_FAILURES_ALL_SOURCES + 1,
    )


def copy_of(deployment: Deployment, visitor: Visitor) -> Visitor:
    """The same browser, signed out."""
    other = Visitor(deployment)
    other.cookies = {name: value for name, value in visitor.cookies.items() if name != "kasuwa_session"}
    return other


def test_a_browser_is_known_only_for_the_user_who_signed_in_there(deployment: Deployment) -> None:
    mine, theirs = Visitor(deployment), Visitor(deployment)
    my_email = accept_invitation(deployment, Visitor(deployment))
    their_email = accept_invitation(deployment, Visitor(deployment))
    sign_in(mine, my_email)
    sign_in(theirs, their_email)
    lock_network(deployment, my_email)
    assert sign_in(copy_of(deployment, theirs), my_email).http == 429
    assert sign_in(copy_of(deployment, mine), my_email).http == 303


def test_while_passwords_are_guessed_widely_only_a_second_factor_lets_in(deployment: Deployment) -> None:
    with_codes, without = Visitor(deployment), Visitor(deployment)
    email, plain = accept_invitation(deployment, with_codes), accept_invitation(deployment, without)
    secret = set_up_codes(with_codes)
    for address in (email, plain, f"no-{email}"):
        lock_everywhere(deployment, address)
        assert sign_in(Visitor(deployment), address, "wrong").http == 429
    assert sign_in(Visitor(deployment), plain).http == 429
    visitor = Visitor(deployment)
    assert sign_in(visitor, email).place == "/sign-in/code"
    visitor.get("/sign-in/code")
    assert visitor.post("/sign-in/code", code=next_code(secret)).http == 303


def test_five_wrong_codes_end_the_unfinished_session(deployment: Deployment) -> None:
    first, visitor = Visitor(deployment), Visitor(deployment)
    email = accept_invitation(deployment, first)
    set_up_codes(first)
    sign_in(visitor, email)
    visitor.get("/sign-in/code")
    assert [visitor.post("/sign-in/code", code="000000").http for _ in range(FREE_FAILURES)] == [401] * FREE_FAILURES
    assert visitor.get("/sign-in/code").place.startswith("/sign-in?")


def test_codes_guessed_from_many_networks_are_throttled(deployment: Deployment) -> None:
    first, visitor = Visitor(deployment), Visitor(deployment)
    email = accept_invitation(deployment, first)
    secret = set_up_codes(first)
    lock_everywhere(deployment, email, b"code")
    sign_in(visitor, email)
    visitor.get("/sign-in/code")
    assert visitor.post("/sign-in/code", code=pyotp.TOTP(secret).now()).http == 429


def test_old_failure_counts_are_deleted(deployment: Deployment) -> None:
    deployment.fetch(
        "insert into sign_in_throttle select sha256(n::text::bytea), '', 9, null, now() - interval '25 hours'"
        " from generate_series(1, 30) n"
    )
    old = "select count(*) from sign_in_throttle where last_at < now() - interval '24 hours'"
    for _ in range(2):
        sign_in(Visitor(deployment), "nobody-at-all@example.com", "wrong")
    assert deployment.fetch(old)[0][0] == 0


@pytest.mark.parametrize(
    ("address", "network"),
    [("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("testclient", "testclient")],
)
def test_an_ipv6_network_counts_as_one(address: str, network: str) -> None:
    assert find_network(address) == network


# --- the trail ----------------------------------------------------------------------------------------------------


def test_refused_sign_ins_are_recorded_a_bounded_number_of_times(deployment: Deployment, shop: MerchantClient) -> None:
    visitor = Visitor(deployment)
    email, unknown = accept_invitation(deployment, visitor), f"nobody.{shop.mid}@example.com"
    for address in (email, unknown):
        for _ in range(FREE_FAILURES + 3):
            sign_in(Visitor(deployment), address, "wrong")
    entries = "select after from audit_entry where action = 'was refused to sign in' and subject in ($1, $2)"
    wait_until("both are there", lambda: len(deployment.fetch(entries, email, "an unknown address")) >= 3)
    mine = sorted(row["after"] for row in deployment.fetch(entries, email, email))
    assert mine == ["wrong tries in a row: 1", f"wrong tries in a row: {FREE_FAILURES}"]
    [[leaked]] = deployment.fetch("select count(*) from audit_entry where strpos(audit_entry::text, $1) > 0", unknown)
    assert leaked == 0


# --- a busy console -----------------------------------------------------------------------------------------------


def test_too_many_sign_ins_at_once_are_refused_and_pages_still_open(
    deployment: Deployment, shop: MerchantClient
) -> None:
    """Beyond a short queue nobody waits for a password to be checked, and no page waits for a connection."""
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    visitors = [Visitor(deployment) for _ in range(60)]
    for visitor in visitors:
        visitor.get("/sign-in")
    opened: list[int] = []
    done = threading.Event()

    def open_pages() -> None:
        while not done.is_set():
            opened.append(owner.get("/team").http)

    with ThreadPoolExecutor(61) as threads:
        looking = threads.submit(open_pages)
        answers = [
            threads.submit(visitor.post, "/sign-in", email=f"crowd{n}@example.com", password=PASSWORD)
            for n, visitor in enumerate(visitors)
        ]
        codes = [answer.result().http for answer in answers]
        done.set()
        looking.result()
    assert set(codes) == {401, 503}
    assert set(opened) == {200}


def test_a_flood_from_one_address_keeps_nobody_else_from_signing_in(deployments: Deployments) -> None:
    """More sign-ins at once than may wait for one network, each with another email address."""
    flooding, honest = {"x-forwarded-for": "198.51.100.1"}, {"x-forwarded-for": "198.51.100.2"}
    with deployments.fresh("sign_in_flood", KASUWA_TRUSTED_PROXIES="127.0.0.1") as running:
        email = accept_invitation(running, Visitor(running))
        codes: list[int] = []
        done = threading.Event()

        def flood(number: int) -> None:
            visitor, tries = Visitor(running), itertools.count()
            visitor.get("/sign-in")
            while not done.is_set():
                fields = {"email": f"flood{number}.{next(tries)}@example.com", "password": PASSWORD}
                codes.append(visitor.post("/sign-in", flooding, **fields).http)

        with ThreadPoolExecutor(FLOODING) as threads:
            floods = [threads.submit(flood, number) for number in range(FLOODING)]
            try:
                wait_until("its share is full", lambda: 503 in codes)
                for _ in range(3):
                    visitor = Visitor(running)
                    visitor.get("/sign-in")
                    assert visitor.post("/sign-in", honest, email=email, password=PASSWORD).http == 303
            finally:
                done.set()
        for one in floods:
            one.result()
        assert set(codes) == {401, 503}
        assert running.new_stderr() == ""


def test_stalled_bodies_are_cut_off_and_others_are_served(deployment: Deployment) -> None:
    head = b"POST /sign-in HTTP/1.1\r\nhost: console\r\ncontent-length: 100\r\n"
    head += b"content-type: application/x-www-form-urlencoded\r\n\r\nemail="
    stalled = [
        socket.create_connection(("127.0.0.1", deployment.console_port), 60) for _ in range(MAX_BODIES_PER_NETWORK + 20)
    ]
    try:
        for connection in stalled:
            connection.sendall(head)
        turned_away = wait_for_answers(stalled, 20)
        assert all(read_status(connection) == 503 for connection in turned_away)
        assert Visitor(deployment).get("/sign-in").http == 200
        waiting = [connection for connection in stalled if connection not in turned_away]
        assert {read_status(connection) for connection in waiting} == {408}
        visitor = Visitor(deployment)
        visitor.get("/sign-in")
        assert visitor.post("/sign-in", email="somebody@example.com", password="wrong").http == 401
    finally:
        for connection in stalled:
            connection.close()


def wait_for_answers(connections: list[socket.socket], count: int) -> list[socket.socket]:
    """Returns the connections on which an answer came first, so many of them."""
    answered: list[socket.socket] = []

    def look() -> bool:
        answered[:] = select.select(connections, [], [], 0)[0]
        return len(answered) >= count

    wait_until(f"{count} are answered", look)
    assert len(answered) == count
    return answered


def read_status(connection: socket.socket) -> int:
    received = b""
    while b"\r\n" not in received:
        piece = connection.recv(4096)
        assert piece, "it was hung up on without an answer"
        received += piece
    return int(received.split()[1])


def test_a_hanging_endpoint_blocks_only_the_user_who_tests_it(deployment: Deployment) -> None:
    """A listener that takes connections and never answers, and more merchants than may try at once."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        shops = [deployment.open_shop() for _ in range(MAX_PINGS + 4)]
        owners = [sign_in_as(deployment, "merchant:owner", shop.mid) for shop in shops]
        for owner in owners:
            assert owner.post("/settings/webhook", url=url).http == 303
        with ThreadPoolExecutor(len(owners)) as threads:
            trying = {threads.submit(owner.post, "/settings/webhook/test"): owner for owner in owners}
            wait_until("four are turned away", lambda: sum(answer.done() for answer in trying) >= 4)
            assert sign_in_as(deployment, "merchant:owner", shops[0].mid).get("/team").http == 200
            assert not all(answer.done() for answer in trying), "the others still wait for their endpoint"
        reply = [owner.get(answer.result().place).words for answer, owner in trying.items()]
        assert sum("another test is still under way" in words for words in reply) == 4
        assert sum("no answer in time" in words for words in reply) == MAX_PINGS
