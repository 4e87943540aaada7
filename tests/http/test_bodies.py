"""Bodies: complete or refused, not read for strangers, bounded in memory, and bad ones explained in bounded work."""

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from kasuwa.http.bodies import BodyMemory
from tests.merchant_client import MerchantClient, new_reference
from tests.running import Deployment
from tests.walk.bounds import FIELD_ERRORS

KIB = 1024
CHUNKED = "transfer-encoding: chunked"


@contextmanager
def connected(deployment: Deployment) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", deployment.port), timeout=120) as door:
        yield door


def head(path: str, headers: dict[str, str], *more: str, verb: str = "PUT") -> bytes:
    lines = [f"{verb} {path} HTTP/1.1", "host: x", *(f"{name}: {value}" for name, value in headers.items()), *more]
    return "\r\n".join([*lines, "", ""]).encode()


def read_reply(door: socket.socket) -> tuple[int, Any]:
    """HTTP status and JSON of the one reply on a connection that ends."""
    received = b""
    while chunk := door.recv(65536):
        received += chunk
        top, _, body = received.partition(b"\r\n\r\n")
        lengths = [line for line in top.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        if lengths and len(body) >= int(lengths[0].split(b":")[1]):
            return int(received.split()[1]), msgspec.json.decode(body)
    raise AssertionError(f"the connection ended without a reply: {received!r}")


def transfer_body(order_ref: str) -> bytes:
    order = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000", "orderRef": order_ref}
    return msgspec.json.encode({"action": "transfer", **order})


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


# --- a body counts only when it is complete --------------------------------------------------------------------------

ENDINGS = ("closed", "closed in the last chunk", "malformed chunk", "malformed size", "short of its length", "trailers")


def broken_request(shop: MerchantClient, ending: str, body: bytes) -> bytes:
    """A request whose body is complete JSON so far, and which then ends as it says."""
    if ending == "short of its length":
        return head("/disburse", shop.headers, f"content-length: {len(body) + 10}") + body
    after = {
        "closed": b"",
        "closed in the last chunk": b"0\r\n",
        "malformed chunk": b"5\r\nxx",
        "malformed size": b"zz\r\n",
        "trailers": b"0\r\nx-signature: y\r\n\r\n",
    }
    return head("/disburse", shop.headers, CHUNKED) + chunk(body) + after[ending]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_body_that_breaks_off_is_refused_and_nothing_is_done(
    shop: MerchantClient, deployment: Deployment, ending: str
) -> None:
    order_ref, before = new_reference("broken"), shop.wallet()
    with connected(deployment) as door:
        door.sendall(broken_request(shop, ending, transfer_body(order_ref)))
        if ending != "trailers":
            door.shutdown(socket.SHUT_WR)
        http, reply = read_reply(door)
    assert (http, reply["status"]) == (400, 103)
    assert "broke off" in reply["message"]
    assert shop.verify(order_ref)["status"] == 104
    assert shop.wallet() == before


@pytest.mark.parametrize("ending", ["closed", "short of its length"])
def test_a_sender_who_resets_the_connection_has_ordered_nothing(
    shop: MerchantClient, deployment: Deployment, ending: str
) -> None:
    order_ref = new_reference("reset")
    door = socket.create_connection(("127.0.0.1", deployment.port), timeout=120)
    door.sendall(broken_request(shop, ending, transfer_body(order_ref)))
    door.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    door.close()
    # Requests that came after it have been answered: had it been taken, it would be known by now.
    for _ in range(5):
        assert shop.transfer()["txnStatus"] == "successful"
    assert shop.verify(order_ref)["status"] == 104


def test_a_complete_chunked_body_is_taken(shop: MerchantClient, deployment: Deployment) -> None:
    order_ref = new_reference("pieces")
    body = transfer_body(order_ref)
    with connected(deployment) as door:
        pieces = b"".join(chunk(body[at : at + 7]) for at in range(0, len(body), 7))
        door.sendall(head("/disburse", shop.headers, CHUNKED) + pieces + b"0\r\n\r\n")
        http, reply = read_reply(door)
    assert (http, reply["txnStatus"]) == (200, "successful")
    assert shop.status_of(order_ref) == "successful"


@pytest.mark.parametrize("more", [CHUNKED, "content-length: 100"])
def test_a_payers_form_that_breaks_off_is_refused(deployment: Deployment, more: str) -> None:
    form = b"otp=123456&decision=approve"
    with connected(deployment) as door:
        sent = chunk(form) if more == CHUNKED else form
        door.sendall(head("/pay/Zz00Zz00Zz00Zz00Zz00Zz", {}, more, verb="POST") + sent)
        door.shutdown(socket.SHUT_WR)
        http, reply = read_reply(door)
    assert (http, reply["status"]) == (400, 103)


def test_a_form_of_the_console_that_breaks_off_is_refused(deployment: Deployment) -> None:
    """The `deployment` fixture looks that it was no error of the service either."""
    form = b"csrf=x&email=ada@example.com&password=x"
    kind = "content-type: application/x-www-form-urlencoded"
    with socket.create_connection(("127.0.0.1", deployment.console_port), timeout=120) as door:
        door.sendall(head("/sign-in", {}, kind, "content-length: 100", verb="POST") + form)
        door.shutdown(socket.SHUT_WR)
        assert door.recv(12) == b"HTTP/1.1 400"


# --- strangers -------------------------------------------------------------------------------------------------------


def test_a_stranger_is_refused_before_the_body_comes(deployment: Deployment) -> None:
    with connected(deployment) as door:
        door.sendall(
            head("/disburse", {"mid": "GP0000001", "key": "wrong"}, "content-length: 900000", "expect: 100-continue")
        )
        http, reply = read_reply(door)
    assert (http, reply["status"]) == (401, 101)


def test_a_stranger_whose_large_body_goes_on_is_hung_up_on(deployment: Deployment) -> None:
    with deployment.connect() as wire:
        answered = wire.send("PUT", "/disburse", b"x" * 900_000, {"mid": "GP0000001", "key": "wrong"})
    assert (answered.http, answered.headers["connection"]) == (401, "close")


def test_a_stranger_with_a_small_body_keeps_the_connection(deployment: Deployment) -> None:
    with connected(deployment) as door:
        for _ in range(3):
            door.sendall(head("/disburse", {"mid": "GP0000001", "key": "wrong"}, "content-length: 2") + b"{}")
            http, reply = read_reply(door)
            assert (http, reply["status"]) == (401, 101)


# --- memory ----------------------------------------------------------------------------------------------------------


def run(work: Any) -> Any:
    async def within_time() -> Any:
        async with asyncio.timeout(30):
            return await work()

    return asyncio.run(within_time())


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_merchant_waits_for_its_own_bodies_and_others_do_not() -> None:
    async def work() -> None:
        memory = BodyMemory(total=100, share=50)
        await memory.acquire(1, 50)
        more = asyncio.create_task(memory.acquire(1, 10))
        await settled()
        assert not more.done()
        await memory.acquire(2, 50)
        memory.release(1, 50)
        await more

    run(work)


def test_merchants_that_wait_take_turns() -> None:
    async def work() -> list[int]:
        memory = BodyMemory(total=10, share=10)
        await memory.acquire(9, 10)
        order: list[int] = []

        async def want(owner: int) -> None:
            await memory.acquire(owner, 10)
            order.append(owner)
            memory.release(owner, 10)

        tasks = [asyncio.create_task(want(owner)) for owner in (1, 1, 1, 2, 3)]
        await settled()
        memory.release(9, 10)
        await asyncio.gather(*tasks)
        return order

    assert run(work) == [1, 2, 3, 1, 1]


def test_who_gives_up_waiting_leaves_no_trace() -> None:
    async def work() -> None:
        memory = BodyMemory(total=10, share=10)
        await memory.acquire(1, 10)
        waiting = [asyncio.create_task(memory.acquire(owner, 8)) for owner in (2, 3)]
        await settled()
        waiting[0].cancel()
        await settled()
        memory.release(1, 10)
        await waiting[1]
        memory.release(3, 8)
        await memory.acquire(2, 10)
        assert (memory._free, memory._taken, memory._waiting) == (0, {2: 10}, {})

    run(work)


def test_memory_that_becomes_free_as_somebody_gives_up_goes_to_the_next() -> None:
    """A task that is cancelled runs a moment later: until then its place in the line is still there."""

    async def work() -> None:
        memory = BodyMemory(total=10, share=10)
        await memory.acquire(1, 10)
        given_up = asyncio.create_task(memory.acquire(2, 10))
        next_ones = [asyncio.create_task(memory.acquire(owner, 5)) for owner in (2, 3)]
        await settled()
        given_up.cancel()
        memory.release(1, 10)
        await asyncio.gather(*next_ones)
        assert given_up.cancelled()
        assert (memory._free, memory._taken, memory._waiting) == (0, {2: 5, 3: 5}, {})

    run(work)


def test_large_bodies_of_one_merchant_leave_others_alone(shop: MerchantClient, deployment: Deployment) -> None:
    """More senders than the merchant's share has room for hold their bodies back; everybody else is answered, the
    merchant's own small requests too."""
    doors = [socket.create_connection(("127.0.0.1", deployment.port), timeout=60) for _ in range(24)]
    body = b'{"action":"verify","txnRef":"x","z":"' + b"x" * (1000 * KIB) + b'"}'
    try:
        for door in doors:
            door.sendall(head("/disburse", shop.headers, f"content-length: {len(body)}") + body[:10])
        assert shop.transfer()["txnStatus"] == "successful"
        other = deployment.open_shop()
        with other.connection:
            large = b'{"action":"verify","txnRef":"x","z":"' + b"x" * (900 * KIB) + b'"}'
            assert other.send("disburse", large).body["status"] == 104
        for door in doors[:16]:
            door.sendall(body[10:])
        for door in doors[:16]:
            assert read_reply(door)[1]["status"] == 104
        for door in doors[16:]:
            door.sendall(body[10:])
            assert read_reply(door)[1]["status"] == 104
    finally:
        for door in doors:
            door.close()


# --- bounded work ----------------------------------------------------------------------------------------------------


def charge(**fields: Any) -> dict[str, Any]:
    return {"action": "charge", "paymentType": "qrpay", "amount": "100", **fields}


HEAVY: dict[str, tuple[str, bytes]] = {
    "empty objects": ("payment", msgspec.json.encode(charge(split=[{}] * 60_000))),
    "objects up to the bound of a body": ("payment", msgspec.json.encode(charge(split=[{}] * 19_000))),
    "empty texts": ("payment", msgspec.json.encode(charge(split=[""] * 60_000))),
    "numbers": ("payment", msgspec.json.encode(charge(split=[1.5] * 50_000))),
    "addresses": ("clients", msgspec.json.encode({"action": "create", "data": {"addresses": [{}] * 19_000}})),
    "a large note": ("clients", msgspec.json.encode({"action": "create", "data": {"meta": {"n": [1.5] * 50_000}}})),
    "an amount": ("disburse", b'{"action":"transfer","amount":[' + b"0," * 500_000 + b"0]}"),
    "endless numbers": (
        "payment",
        b'{"action":"charge","paymentType":"qrpay","split":[' + b"1," * 60_000 + b"9" * 5_000 + b"]}",
    ),
    "nul characters": ("payment", b'{"action":"verify","txnRef":"x","z":[' + b'"\\u0000",' * 25_000 + b'""]}'),
    "unknown names": ("disburse", msgspec.json.encode({"action": "verify", **{f"txnRe{n}": 0 for n in range(15_000)}})),
    "brackets": ("disburse", b'{"action":"transfer","z":[' + (b"[" * 20 + b"]" * 20 + b",") * 900 + b"0]}"),
    "dates": (
        "payment",
        msgspec.json.encode(
            {
                "action": "initiate",
                "paymentType": "card",
                "installment": {"payment_schedule": {f"{n}": "x" for n in range(18_000)}},
            }
        ),
    ),
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_bad_body_is_explained_in_bounded_work(shop: MerchantClient, deployment: Deployment, name: str) -> None:
    """Nothing holds the event loop: the watchdog would have complained (tests/running.py)."""
    method, body = HEAVY[name]
    reply = shop.send(method, body)
    assert reply.body["status"] in (103, 104), reply.raw[:500]
    assert len(reply.raw) < 16 * KIB
    assert len(reply.body.get("errors", ())) <= 50
    assert deployment.new_stderr() == ""


def test_at_most_fifty_faults_are_listed_and_the_rest_is_counted(shop: MerchantClient) -> None:
    reply = shop.send_fields("payment", charge(split=[{"ref_code": 1, "share": "x"}] * 50)).body
    assert len(reply["errors"]) == 50
    assert reply["message"].endswith("; and 97 more")
    for count, shown in FIELD_ERRORS.sides:
        parts = [{"ref_code": 1, "share": "x"}] * (count // 2) + [{"ref_code": "A", "share": "x"}] * (count % 2)
        reply = shop.send_fields("payment", charge(split=parts)).body
        assert (len(reply["errors"]), reply["message"].endswith(f"; and {count - 3} more")) == (shown, True), count
