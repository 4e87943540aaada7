"""What a vendor's answer, or its absence, says about a call: for calls that move money, and for look-ups."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kasuwa.rails.ports.orders import NoAnswer, NothingSent, Unavailable, UnreadableAnswer
from kasuwa.rails.ports.transport import AnswerLost, HttpReply, NotSent
from kasuwa.rails.vendors.client import RefusedCredentials, VendorClient, VendorLimits, VendorMonitor
from tests.rails.vendors.adapters import Observed


class ScriptedTransport:
    """Answers with the next reply of a script, or raises it."""

    def __init__(self, *script: HttpReply | Exception) -> None:
        self.script = list(script)
        self.sent: list[tuple[str, str, bytes, Mapping[str, str]]] = []

    async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
        self.sent.append((method, url, body, headers))
        following = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(following, Exception):
            raise following
        return following


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_client(
    *script: HttpReply | Exception, limits: VendorLimits | None = None, clock: Clock | None = None
) -> tuple[VendorClient, ScriptedTransport, Observed]:
    transport, observed = ScriptedTransport(*script), Observed()
    client = VendorClient(
        "vendor",
        "https://vendor.example/",
        transport,
        lambda body: "status" in body,
        observed,
        limits or VendorLimits(),
        clock or Clock(),
    )
    return client, transport, observed


async def call(client: VendorClient, *, moves_money: bool = True, path: str = "/pay", **given: Any) -> Any:
    return await client.call("POST", path, moves_money=moves_money, headers={"key": "k"}, **given)


def outcome_of(reply: HttpReply | Exception, *, moves_money: bool) -> tuple[type[Exception] | int, str]:
    client, _, observed = make_client(reply)
    try:
        answered = asyncio.run(call(client, moves_money=moves_money))
    except (Unavailable, NoAnswer) as error:
        return type(error), observed.outcomes[0]
    return answered.status, observed.outcomes[0]


ENVELOPE = b'{"status":true}'
PAGE = b"<html>Bad gateway</html>"

Meaning = type[Exception] | int
# What arrived; what it means for a call that moves money, and for a look-up; and the word of the metric.
OUTCOMES: dict[str, tuple[HttpReply | Exception, Meaning, Meaning, str]] = {
    "no address": (NotSent("no address"), NothingSent, Unavailable, "not sent"),
    "lost": (AnswerLost("reset"), NoAnswer, NoAnswer, "lost"),
    "500": (HttpReply(500, ENVELOPE), NoAnswer, Unavailable, "5xx"),
    "502 page": (HttpReply(502, PAGE), NoAnswer, Unavailable, "5xx"),
    "429": (HttpReply(429, ENVELOPE, retry_after=7), Unavailable, Unavailable, "4xx"),
    "401": (HttpReply(401, ENVELOPE), RefusedCredentials, RefusedCredentials, "4xx"),
    "401 page": (HttpReply(401, PAGE), NoAnswer, Unavailable, "4xx"),
    "403": (HttpReply(403, ENVELOPE), RefusedCredentials, RefusedCredentials, "4xx"),
    "200 page": (HttpReply(200, PAGE), NoAnswer, UnreadableAnswer, "2xx"),
    "200 empty": (HttpReply(200, b""), NoAnswer, UnreadableAnswer, "2xx"),
    "200 other JSON": (HttpReply(200, b'{"hello":1}'), NoAnswer, UnreadableAnswer, "2xx"),
    "200 list": (HttpReply(200, b"[]"), NoAnswer, UnreadableAnswer, "2xx"),
    "200 broken off": (HttpReply(200, ENVELOPE, is_complete=False), NoAnswer, UnreadableAnswer, "2xx"),
    "404 page": (HttpReply(404, PAGE), NoAnswer, Unavailable, "4xx"),
    "302": (HttpReply(302, b""), NoAnswer, Unavailable, "3xx"),
    "200": (HttpReply(200, ENVELOPE), 200, 200, "2xx"),
    "400": (HttpReply(400, ENVELOPE), 400, 400, "4xx"),
    "404": (HttpReply(404, ENVELOPE), 404, 404, "4xx"),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_outcomes(name: str) -> None:
    reply, of_payment, of_lookup, word = OUTCOMES[name]
    assert outcome_of(reply, moves_money=True) == (of_payment, word)
    assert outcome_of(reply, moves_money=False) == (of_lookup, word)


def test_refused_credentials_tell_the_operator() -> None:
    client, _, _ = make_client(HttpReply(401, ENVELOPE))
    with pytest.raises(Unavailable) as caught:
        asyncio.run(call(client))
    assert caught.value.notice == "vendor refuses our credentials (HTTP 401): check the keys"


def test_request_is_sent_once_with_its_query_and_body() -> None:
    client, transport, _ = make_client(HttpReply(200, b'{"status":1,"amount":1234567890123456.78}'))
    reply = asyncio.run(call(client, query={"q": "a b&c"}, body={"amount": 5}))
    assert str(reply.body["amount"]) == "1234567890123456.78"
    [(method, url, body, headers)] = transport.sent
    assert (method, url, body) == ("POST", "https://vendor.example/pay?q=a+b%26c", b'{"amount":5}')
    assert headers["key"] == "k"
    assert headers["Content-Type"] == "application/json"


def test_all_calls_are_held_for_as_long_as_the_vendor_asks() -> None:
    clock = Clock()
    client, transport, _ = make_client(HttpReply(429, ENVELOPE, retry_after=7), HttpReply(200, ENVELOPE), clock=clock)
    with pytest.raises(Unavailable) as caught:
        asyncio.run(call(client))
    assert caught.value.retry_after == 7
    clock.now += 5
    with pytest.raises(Unavailable) as caught:
        asyncio.run(call(client, moves_money=False))
    assert caught.value.retry_after == pytest.approx(2)
    assert len(transport.sent) == 1
    clock.now += 2
    assert asyncio.run(call(client)).status == 200


def test_pause_after_failures_in_a_row() -> None:
    clock = Clock()
    failing = [AnswerLost("reset")] * 3
    limits = VendorLimits(failures_until_pause=3, pause_seconds=15)
    client, transport, _ = make_client(
        *failing, AnswerLost("reset"), HttpReply(200, ENVELOPE), limits=limits, clock=clock
    )
    for _ in failing:
        with pytest.raises(NoAnswer):
            asyncio.run(call(client))
    with pytest.raises(Unavailable):
        asyncio.run(call(client))
    assert len(transport.sent) == 3
    clock.now += 15
    with pytest.raises(NoAnswer):  # one call tries again, and its failure begins the next pause
        asyncio.run(call(client))
    with pytest.raises(Unavailable):
        asyncio.run(call(client))
    clock.now += 15
    assert [asyncio.run(call(client)).status for _ in range(4)] == [200] * 4


def test_lookups_that_succeed_do_not_keep_a_failing_money_call_going() -> None:
    clock, good = Clock(), HttpReply(200, ENVELOPE)
    failures: list[HttpReply | Exception] = [AnswerLost("reset"), good] * 3
    limits = VendorLimits(failures_until_pause=3, pause_seconds=15)
    client, transport, _ = make_client(*failures, good, limits=limits, clock=clock)
    for _ in range(3):
        with pytest.raises(NoAnswer):
            asyncio.run(call(client, path="/transfer"))
        assert asyncio.run(call(client, path="/bank/resolve", moves_money=False)).status == 200
    assert client.is_paused
    with pytest.raises(NothingSent):
        asyncio.run(call(client, path="/transfer"))
    assert len(transport.sent) == 6
    assert asyncio.run(call(client, path="/transfer/verify/kz12", moves_money=False)).status == 200, "it can be asked"
    clock.now += 15
    assert asyncio.run(call(client, path="/transfer")).status == 200


def test_answers_end_a_row_of_failures() -> None:
    limits = VendorLimits(failures_until_pause=2)
    client, transport, _ = make_client(
        AnswerLost("reset"), HttpReply(400, ENVELOPE), AnswerLost("reset"), limits=limits
    )
    for expected in (NoAnswer, None, NoAnswer):
        try:
            asyncio.run(call(client))
        except NoAnswer:
            assert expected is NoAnswer
        else:
            assert expected is None
    assert len(transport.sent) == 3


def test_lookups_beyond_the_rate_wait_or_are_refused() -> None:
    limits = VendorLimits(lookups_per_second=2, queue_seconds=0.5)
    client, transport, _ = make_client(HttpReply(200, ENVELOPE), limits=limits, clock=Clock())
    for _ in range(2):
        asyncio.run(call(client, moves_money=False))
    with pytest.raises(Unavailable):
        asyncio.run(call(client, moves_money=False))
    assert asyncio.run(call(client)).status == 200  # payments have no such limit
    assert len(transport.sent) == 3


def test_calls_in_flight_are_limited() -> None:
    class Stuck:
        def __init__(self) -> None:
            self.running = 0
            self.most = 0

        async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0.05)
            self.running -= 1
            return HttpReply(200, ENVELOPE)

    async def run() -> int:
        stuck = Stuck()
        limits = VendorLimits(in_flight=3, queue_seconds=30)
        client = VendorClient("vendor", "https://vendor.example", stuck, lambda body: True, Observed(), limits)
        await asyncio.gather(*(call(client) for _ in range(9)))
        return stuck.most

    assert asyncio.run(run()) == 3


def test_purposes_of_one_vendor_share_its_calls_in_flight() -> None:
    class Never:
        async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
            await asyncio.sleep(60)
            raise AssertionError

    async def run() -> int:
        monitor = VendorMonitor(Observed(), VendorLimits(in_flight=1, queue_seconds=0.05))
        transfers, payments = (
            VendorClient("vendor", "https://vendor.example", Never(), lambda body: True, monitor) for _ in range(2)
        )
        first = asyncio.create_task(call(transfers))
        await asyncio.sleep(0)
        with pytest.raises(NothingSent, match="in progress"):
            await call(payments)
        in_flight = monitor.in_flight
        first.cancel()
        return in_flight

    assert asyncio.run(run()) == 1


def test_call_without_a_turn_is_not_sent() -> None:
    class Never:
        async def send(self, method: str, url: str, body: bytes, headers: Mapping[str, str]) -> HttpReply:
            await asyncio.sleep(60)
            raise AssertionError

    async def run() -> Unavailable:
        limits = VendorLimits(in_flight=1, queue_seconds=0.05)
        client = VendorClient("vendor", "https://vendor.example", Never(), lambda body: True, Observed(), limits)
        first = asyncio.create_task(call(client))
        await asyncio.sleep(0)
        with pytest.raises(Unavailable) as caught:
            await call(client)
        first.cancel()
        return caught.value

    assert "in progress" in str(asyncio.run(run()))
