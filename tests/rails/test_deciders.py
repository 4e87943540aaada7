"""The deciders of merchants over real connections: every way in which one can fail, and that it holds up nobody else.

A fault of a decider is an answer of the port, never an exception: what was set for that case counts.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from kasuwa.concurrency.breaker import MAX_OPERATIONS, CircuitBreaker
from kasuwa.core.endpoints import FIRST_ENDPOINT
from kasuwa.core.scenario import NO_SCENARIO, Scenario
from kasuwa.outbound.egress import EgressClient
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.rails.ports.decider import DeciderAnswer, DeciderQuestion
from kasuwa.rails.routing import deciders
from kasuwa.rails.routing.deciders import (
    DECIDER_LIMITS,
    FAILURES_UNTIL_PAUSE,
    MAX_BODY_BYTES,
    PAUSE_SECONDS,
    HttpDeciders,
)
from kasuwa.webhooks.signatures import standard_signature
from kasuwa.webhooks.targets import Target
from tests.outbound.receivers import ServeConnection, answering, flooding, keep_silent, on_both_loops, receiving, reset
from tests.rule_context import MERCHANT, VAULT
from tests.walk.bounds import DECIDER_BODY, DECIDER_PAUSE, DECIDER_PLACES, DECIDER_REASON

NEW, OLD = b"the new secret", b"the old secret"
# Longer than any answer takes on a busy machine, for deciders that answer.
PATIENT = 60.0
# As short as can be, for deciders that never answer.
HASTY = 0.1
QUESTION = DeciderQuestion(
    url="",
    on_timeout="decline",
    operation="purchase",
    card="KSW|GVC|1|A",
    amount=750,
    currency="USD",
    shop_amount=10_000,
    shop_currency="NGN",
    merchant_name="Book Shop",
    merchant_id=None,
    category="5411",
    country="NG",
    channel="online",
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[bytes]]:
    """The secrets of the merchant, which are read from the database for each question."""
    known = {"keys": [NEW, OLD]}

    async def read(connection: Any, vault: Any, wanted: Sequence[Any]) -> dict[Any, Target]:
        assert [endpoint for _, endpoint in wanted] == [FIRST_ENDPOINT]
        return {wanted[0]: Target("", known["keys"])} if known["keys"] else {}

    monkeypatch.setattr(deciders, "read_targets", read)
    return known


@asynccontextmanager
async def asking(
    *, wait_seconds: float = PATIENT, loopback_allowed: bool = True, clock: Clock | None = None
) -> AsyncIterator[HttpDeciders]:
    egress = EgressClient(
        environment="test",
        loopback_allowed=loopback_allowed,
        limits=msgspec.structs.replace(
            DECIDER_LIMITS,
            **dict.fromkeys(("queue_seconds", "connect_seconds", "response_seconds", "total_seconds"), PATIENT),
        ),
    )
    reader: Any = None
    more = {} if clock is None else {"monotonic": clock}
    try:
        yield HttpDeciders(egress, reader, VAULT, "service-hash", DatabaseClock(), wait_seconds, **more)
    finally:
        await egress.close()


async def ask(deciders: HttpDeciders, url: str, scenario: Scenario = NO_SCENARIO, **changes: Any) -> DeciderAnswer:
    question = msgspec.structs.replace(QUESTION, url=url, **changes)
    answer = await deciders.ask(question, MERCHANT, scenario)
    assert answer.question == question
    assert answer.id.startswith("dec_")
    assert answer.ms >= 0
    return answer


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    head = "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers])
    return head.encode() + b"\r\n\r\n" + body


# --- answers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "approves", "reason"),
    [
        (b'{"approve":true}', True, ""),
        (b'{"approve":false,"reason":"Over the budget of Ada\\n of March"}', False, "Over the budget of Ada of March"),
        (b'{"approve":true,"reason":null,"more":[1]}', True, ""),
        (b'{"approve":false,"reason":"' + b"a" * 300 + b'"}', False, "a" * 200),
        (b'{"approve":false,"reason":"4000000000000002 and the new secret"}', False, "[masked] and [masked]"),
    ],
    ids=["approved", "declined", "further fields", "long", "secrets"],
)
@on_both_loops
async def test_an_answer_counts_with_its_reason(body: bytes, approves: bool, reason: str) -> None:
    async with receiving(answering(http(body))) as seen, asking() as deciders:
        answer = await ask(deciders, seen.url)
    assert (answer.approves, answer.reason, answer.fault) == (approves, reason, None)


@on_both_loops
async def test_a_question_is_signed_with_the_secrets_of_the_moment() -> None:
    async with receiving(answering(http(b'{"approve":true}'))) as seen, asking() as deciders:
        answer = await ask(deciders, seen.url)
    [(head, body)] = seen.requests
    lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line)
    headers = {name.lower(): value for name, value in lines.items()}
    assert headers["webhook-id"] == answer.id
    at = int(headers["webhook-timestamp"])
    signed = [standard_signature(answer.id, at, body, key) for key in (NEW, OLD)]
    assert headers["webhook-signature"].split() == signed
    asked = msgspec.json.decode(body)
    assert (asked.pop("id"), asked.pop("asked_at")[-1]) == (answer.id, "Z")
    assert asked == {
        "kind": "card_decision",
        "endpoint": "test",
        "operation": "purchase",
        "reference": "KSW|GVC|1|A",
        "amount": "7.50",
        "currency": "USD",
        "shop_amount": "100.00",
        "shop_currency": "NGN",
        "merchant_name": "Book Shop",
        "category": "5411",
        "country": "NG",
        "channel": "online",
    }


@on_both_loops
async def test_a_rolled_secret_signs_the_next_question(secrets: dict[str, list[bytes]]) -> None:
    async with receiving(answering(http(b'{"approve":true}'))) as seen, asking() as deciders:
        secrets["keys"] = [OLD]
        await ask(deciders, seen.url)
        secrets["keys"] = [NEW, OLD]
        await ask(deciders, seen.url)
        secrets["keys"] = []
        unsigned = await ask(deciders, seen.url)
    counts = [head.count(b"v1,") for head, _ in seen.requests]
    assert counts == [1, 2]
    assert (unsigned.fault, unsigned.approves) == ("unsigned", False)


# --- no answer ------------------------------------------------------------------------------------------------------


LIES: dict[str, bytes] = {
    "no JSON": http(b"yes"),
    "empty": http(b""),
    "a text for approve": http(b'{"approve":"true"}'),
    "a number for approve": http(b'{"approve":1}'),
    "null for approve": http(b'{"approve":null}'),
    "no approve": http(b'{"approved":true}'),
    "a list": http(b'[{"approve":true}]'),
    "a number as reason": http(b'{"approve":true,"reason":5}'),
    "not UTF-8": http(b'{"approve":true,"reason":"\xff"}'),
    "deep": http(b'{"approve":true,"more":' + b"[" * 2_000),
    "HTTP 500": http(b'{"approve":true}', "500 Internal Server Error"),
    "HTTP 401": http(b'{"approve":true}', "401 Unauthorized"),
    "a redirect": http(b'{"approve":true}', "302 Found", "Location: http://127.0.0.1:1/"),
    "a huge body": http(b'{"approve":true,"reason":"' + b"a" * MAX_BODY_BYTES + b'"}'),
    "part of a body": b'HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n{"approve":true}',
}


def hang_up_after(answer: bytes) -> ServeConnection:
    async def talk(seen: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await seen.read_request(reader)
        writer.write(answer)
        await writer.drain()

    return talk


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("on_timeout", ["approve", "decline"])
def test_what_is_no_answer_leaves_the_decision_to_what_was_set(lie: bytes, on_timeout: str) -> None:
    async def run() -> None:
        async with receiving(hang_up_after(lie)) as seen, asking() as deciders:
            answer = await ask(deciders, seen.url, on_timeout=on_timeout)
        assert (answer.fault, answer.approves, answer.reason) == ("unreadable", on_timeout == "approve", "")
        assert len(seen.requests) == 1  # neither repeated nor redirected

    asyncio.run(run())


@on_both_loops
async def test_an_endless_body_is_cut_off() -> None:
    first = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with receiving(flooding(first, b"400\r\n" + b" " * 1024 + b"\r\n")) as seen, asking() as deciders:
        answer = await ask(deciders, seen.url)
        await seen.gone.wait()
    assert answer.fault == "unreadable"


@on_both_loops
async def test_a_decider_that_is_not_there_or_hangs_up_is_unreachable() -> None:
    async with receiving(reset) as seen, asking() as deciders:
        assert (await ask(deciders, seen.url)).fault == "unreachable"
        assert (await ask(deciders, "http://127.0.0.1:1/")).fault == "unreachable"


@on_both_loops
async def test_a_silent_decider_is_given_up_and_its_late_answer_is_not_read() -> None:
    async with receiving(keep_silent) as seen, asking(wait_seconds=HASTY) as deciders:
        answer = await ask(deciders, seen.url)
        await seen.gone.wait()  # the connection was closed: a late answer has no reader
    assert (answer.fault, answer.approves) == ("timeout", False)
    assert answer.ms >= HASTY * 1000


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/", "http://10.1.2.3/", "http://169.254.169.254/latest", "ftp://shop.example/", "no URL"]
)
def test_an_url_that_points_inward_is_not_asked(url: str) -> None:
    async def run() -> DeciderAnswer:
        async with asking(loopback_allowed=False) as deciders:
            return await ask(deciders, url)

    assert asyncio.run(run()).fault == "refused"


@pytest.mark.parametrize(
    ("scenario", "approves", "fault"),
    [
        (Scenario(http="timeout"), False, "timeout"),
        (Scenario(http="reset"), False, "unreachable"),
        (Scenario(http="unavailable"), False, "unreachable"),
        (Scenario(rr="05"), False, None),
    ],
)
def test_a_fault_answers_in_place_of_the_decider(scenario: Scenario, approves: bool, fault: str | None) -> None:
    async def run() -> None:
        async with receiving(answering(http(b'{"approve":true}'))) as seen, asking() as deciders:
            for _ in range(FAILURES_UNTIL_PAUSE):
                answer = await ask(deciders, seen.url, scenario)
                assert (answer.approves, answer.fault) == (approves, fault)
            assert not seen.requests
            assert (await ask(deciders, seen.url)).approves  # an injected fault says nothing of the decider

    asyncio.run(run())


# --- others ---------------------------------------------------------------------------------------------------------


@on_both_loops
async def test_a_dead_decider_is_left_alone_for_a_while() -> None:
    broken, fine = answering(http(b"", "500 Internal Server Error")), answering(http(b'{"approve":true}'))
    async with receiving(broken) as dead, receiving(fine) as other:
        for failures, is_asked in DECIDER_PAUSE.sides:
            clock = Clock()
            async with asking(clock=clock) as deciders:
                faults = {(await ask(deciders, dead.url)).fault for _ in range(failures)}
                assert faults == {"unreadable"}
                assert ((await ask(deciders, dead.url)).fault == "unreadable") == is_asked, failures
                assert (await ask(deciders, dead.url)).fault == "paused"
                assert (await ask(deciders, other.url)).approves  # another decider goes on
                clock.now += PAUSE_SECONDS
                assert (await ask(deciders, dead.url)).fault == "unreadable"
                assert (await ask(deciders, dead.url)).fault == "paused"


@on_both_loops
async def test_a_slow_decider_keeps_its_share_and_no_more() -> None:
    fine = answering(http(b'{"approve":true}'))
    for count, has_place in DECIDER_PLACES.sides:
        async with receiving(keep_silent) as slow, receiving(fine) as quick, asking() as asked:
            waiting = [asyncio.create_task(ask(asked, slow.url)) for _ in range(count)]
            while slow.connections < count:
                await asyncio.sleep(0)
            asked._wait_seconds = PATIENT if has_place else HASTY
            assert (await ask(asked, quick.url)).fault == (None if has_place else "busy"), count
            asked._wait_seconds = PATIENT
            other = msgspec.structs.replace(MERCHANT, merchant_id=8)
            question = msgspec.structs.replace(QUESTION, url=quick.url)
            assert (await asked.ask(question, other, NO_SCENARIO)).approves
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            assert (await ask(asked, quick.url)).approves  # those that were given up have left their places


@on_both_loops
async def test_a_reason_has_at_most_200_characters() -> None:
    for size, is_within in DECIDER_REASON.sides:
        body = msgspec.json.encode({"approve": True, "reason": "a" * size})
        async with receiving(answering(http(body))) as seen, asking() as deciders:
            assert ((await ask(deciders, seen.url)).reason == "a" * size) == is_within, size


@on_both_loops
async def test_an_answer_is_at_most_4_kib() -> None:
    for size, is_within in DECIDER_BODY.sides:
        body = b'{"approve":true}'.ljust(size)
        async with receiving(answering(http(body))) as seen, asking() as deciders:
            assert ((await ask(deciders, seen.url)).fault is None) == is_within, size


# --- the breaker ----------------------------------------------------------------------------------------------------


def test_a_breaker_forgets_what_succeeds_and_is_bounded() -> None:
    clock = Clock()
    breaker: CircuitBreaker[int] = CircuitBreaker(2, 10.0, clock)
    breaker.record_failure(1)
    breaker.record_success(1)
    breaker.record_failure(1)
    assert breaker.find_pause(1) == 0
    breaker.record_failure(1)
    assert (breaker.find_pause(1), breaker.longest_pause, breaker.find_pause(2)) == (10.0, 10.0, 0.0)
    breaker.record_success(1)  # it was sent before the pause
    assert breaker.find_pause(1) == 10.0
    clock.now = 10.0
    assert breaker.longest_pause == 0
    for operation in range(2, MAX_OPERATIONS + 3):
        breaker.record_failure(operation)
    assert len(breaker._failures) <= MAX_OPERATIONS
