"""The Python client against a real server that drops, delays and breaks replies; and money that moves once anyway."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kasuwa_client import (
    AsyncKasuwa,
    Kasuwa,
    OutcomeUnknown,
    RateLimited,
    RetryPolicy,
    ServiceError,
    ServiceUnreachable,
    StillPending,
    UnexpectedReply,
)
from tests.clients.faulty_server import (
    FaultyServer,
    Step,
    closed_port,
    delay,
    drip,
    drop,
    faulty_server,
    forward,
    half_of,
    reply,
)
from tests.merchant_client import MerchantClient
from tests.running import Deployment

QUICK = RetryPolicy(max_retries=2, initial_seconds=0.01, deadline_seconds=20)
DONE = {"status": 200, "txnStatus": "successful", "txnRef": "GP|FD|1", "orderRef": "a", "message": "ok"}
WALLET: dict[str, Any] = {"status": 200, "data": []}
STOPPING = {"status": 204, "message": "The service is stopping; try again"}
UNKNOWN = {"status": 204, "message": "The outcome is not known; verify by your reference before you send it again"}
BROKEN = {"status": 204, "message": "An error has occurred; nothing was changed"}


class Caller:
    """Calls the sync or the async client with the same words."""

    def __init__(self, is_async: bool) -> None:
        self._is_async = is_async

    def call(self, url: str, path: str, method: str, arguments: dict[str, Any], **options: Any) -> Any:
        chosen = {"mid": "GP1", "key": "secret-key", "retry": QUICK, "base_url": url, **options}
        if not self._is_async:
            with Kasuwa(**chosen) as shop:
                return getattr(getattr(shop, path), method)(**arguments)

        async def run() -> Any:
            async with AsyncKasuwa(**chosen) as shop:
                return await getattr(getattr(shop, path), method)(**arguments)

        return asyncio.run(run())

    def transfer(self, url: str, **options: Any) -> Any:
        order = {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000"}
        return self.call(url, "disburse", "transfer", order, **options)

    def wallet(self, url: str, **options: Any) -> Any:
        return self.call(url, "resources", "wallet", {}, **options)

    def resend(self, url: str, **options: Any) -> Any:
        """A write that no reference makes safe to repeat."""
        return self.call(url, "resources", "resend", {"first": 1, "last": 2}, **options)


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def caller(request: pytest.FixtureRequest) -> Caller:
    return Caller(request.param)


def order_refs(server: FaultyServer) -> set[str]:
    return {received.fields["orderRef"] for received in server.received}


# --- what is repeated -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        drop,
        half_of(200, DONE),
        reply(503, STOPPING),
        reply(500, UNKNOWN),
        reply(502, b"<html>bad gateway</html>"),
        reply(200, b"not json"),
        reply(429, {"status": 204, "message": "Too many requests"}, retry_after="0"),
    ],
    ids=["drop", "half", "503", "unknown", "502", "garbage", "429"],
)
def test_a_write_is_repeated_with_the_same_order_ref(caller: Caller, fault: Step) -> None:
    with faulty_server(fault, reply(200, DONE)) as server:
        assert caller.transfer(server.url).txn_ref == "GP|FD|1"
        assert len(server.received) == 2
        assert len(order_refs(server)) == 1
        assert server.received[0].body == server.received[1].body
        assert len({received.headers["x-request-id"] for received in server.received}) == 1


def test_a_write_without_order_ref_is_repeated_with_the_same_key(caller: Caller) -> None:
    with faulty_server(drop, reply(200, {"status": 200, "message": "ok"})) as server:
        caller.call(server.url, "virtualcard", "block", {"reference": "card"})
        keys = [received.headers["idempotency-key"] for received in server.received]
        assert len(keys) == 2
        assert len(set(keys)) == 1


def test_references_of_the_caller_are_kept(caller: Caller) -> None:
    with faulty_server(drop, reply(200, DONE)) as server:
        order = {"amount": 10, "bankcode": "058", "accountnumber": "0000000000", "order_ref": "mine"}
        caller.call(server.url, "disburse", "transfer", {**order, "idempotency_key": "key-1"})
        assert order_refs(server) == {"mine"}
        assert {received.headers["idempotency-key"] for received in server.received} == {"key-1"}


def test_every_order_of_a_bulk_gets_an_order_ref(caller: Caller) -> None:
    order = {"amount": "10.00", "bankcode": "058", "accountnumber": "0000000000"}
    replied = {"status": 202, "batchRef": "b", "message": "ok", "data": []}
    with faulty_server(drop, reply(200, replied)) as server:
        caller.call(server.url, "disburse", "transfer_bulk", {"data": [order, {**order, "order_ref": "mine"}]})
        first, second = (received.fields["data"] for received in server.received)
        assert first == second
        assert first[1]["orderRef"] == "mine"
        assert first[0]["orderRef"].startswith("kc-")


@pytest.mark.parametrize("fault", [drop, half_of(200, WALLET), reply(503, b""), reply(500, b"x")])
def test_a_read_is_repeated(caller: Caller, fault: Step) -> None:
    with faulty_server(fault, reply(200, WALLET)) as server:
        assert caller.wallet(server.url).data == ()
        assert len(server.received) == 2


# --- what is not repeated ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [drop, half_of(200, DONE), reply(500, UNKNOWN), reply(502, b""), reply(503, b"x")])
def test_a_write_without_a_reference_is_never_repeated(caller: Caller, fault: Step) -> None:
    with faulty_server(fault, reply(200, DONE)) as server:
        with pytest.raises(OutcomeUnknown):
            caller.resend(server.url)
        assert len(server.received) == 1


def test_no_reference_is_made_if_the_option_says_so(caller: Caller) -> None:
    with faulty_server(drop, reply(200, DONE)) as server:
        with pytest.raises(OutcomeUnknown) as raised:
            caller.transfer(server.url, make_references=False)
        assert raised.value.order_ref is None
        assert "orderRef" not in server.received[0].fields
        assert len(server.received) == 1


def test_a_definite_error_of_the_service_is_not_repeated(caller: Caller) -> None:
    with faulty_server(reply(500, BROKEN), reply(200, DONE)) as server:
        with pytest.raises(ServiceError, match="nothing was changed"):
            caller.transfer(server.url)
        assert len(server.received) == 1


def test_a_refusal_of_a_proxy_is_not_an_unknown_outcome(caller: Caller) -> None:
    with faulty_server(reply(407, b"<html>log in first</html>")) as server:
        with pytest.raises(UnexpectedReply) as raised:
            caller.resend(server.url)
        assert raised.value.http_status == 407
        assert len(server.received) == 1


def test_redirects_are_not_followed(caller: Caller) -> None:
    with faulty_server(reply(307, b"", location="http://127.0.0.1:9/")) as server, pytest.raises(UnexpectedReply):
        caller.transfer(server.url)


# --- how it ends ------------------------------------------------------------------------------------------------


def test_a_refused_connection_is_not_an_unknown_outcome(caller: Caller) -> None:
    with pytest.raises(ServiceUnreachable) as raised:
        caller.resend(url := closed_port())
    assert not isinstance(raised.value, OutcomeUnknown)
    assert f"Connection refused (ConnectError at {url})" in str(raised.value)


def test_a_lost_attempt_stays_unknown_when_later_ones_are_refused(caller: Caller) -> None:
    too_many = reply(429, {"status": 204, "message": "Too many requests"}, retry_after="0")
    with faulty_server(drop, reply(503, STOPPING), too_many) as server:
        with pytest.raises(OutcomeUnknown) as raised:
            caller.transfer(server.url)
        assert len(server.received) == 3
        assert raised.value.order_ref in order_refs(server)
        assert raised.value.request_id == server.received[0].headers["x-request-id"]


def test_a_timeout_after_sending_is_an_unknown_outcome(caller: Caller) -> None:
    with (
        faulty_server(delay(1.0, reply(200, DONE))) as server,
        pytest.raises(OutcomeUnknown, match="ReadTimeout"),
    ):
        caller.resend(server.url, timeout=0.2)


def test_a_reply_that_never_ends_is_given_up_at_the_deadline(caller: Caller) -> None:
    short = RetryPolicy(max_retries=0, deadline_seconds=0.5)
    with faulty_server(drip(0.05, {"status": 200, "message": "x" * 2000})) as server, pytest.raises(OutcomeUnknown):
        caller.resend(server.url, retry=short)


def test_retry_after_beyond_the_deadline_ends_the_call(caller: Caller) -> None:
    too_many = {"status": 204, "message": "Too many requests; wait as retry-after says"}
    with faulty_server(reply(429, too_many, retry_after="3600")) as server:
        with pytest.raises(RateLimited) as raised:
            caller.transfer(server.url)
        assert raised.value.retry_after == 3600
        assert len(server.received) == 1


def test_wait_goes_on_while_the_service_is_away(caller: Caller) -> None:
    state = {"status": 200, "txnRef": "r", "orderRef": "a", "message": ""}
    pending, final = {**state, "txnStatus": "processing"}, {**state, "txnStatus": "successful"}
    with faulty_server(reply(200, pending), drop, reply(200, final)) as server:
        found = caller.call(server.url, "disburse", "wait", {"thing": "a", "seconds": 20.0})
        assert found.txn_status == "successful"
    with faulty_server(reply(200, pending)) as server:
        with pytest.raises(StillPending) as raised:
            caller.call(server.url, "disburse", "wait", {"thing": "a", "seconds": 0.5})
        assert raised.value.state.txn_status == "processing"
        assert isinstance(raised.value, OutcomeUnknown)


# --- with the real service --------------------------------------------------------------------------------------


def test_a_transfer_whose_reply_is_lost_moves_money_once(
    caller: Caller, shop: MerchantClient, deployment: Deployment
) -> None:
    before = shop.wallet().balance
    script = [forward(deployment.port, lose_reply=True), forward(deployment.port, lose_reply=True)]
    with faulty_server(*script, forward(deployment.port)) as server:
        made = caller.transfer(server.url, mid=shop.mid, key=shop.key)
        assert made.txn_status == "successful"
        assert len(server.received) == 3
    # The amount, the fee and its VAT, each once.
    assert before - shop.wallet().balance == 10_00 + 10_00 + 75


def test_an_issued_card_whose_reply_is_lost_is_issued_once(
    caller: Caller, shop: MerchantClient, deployment: Deployment
) -> None:
    billing = {"address": "1 Road", "name": "Ada Obi", "city": "Lagos", "state": "Lagos", "postal_code": "101241"}
    before = shop.wallet("USD").balance
    with faulty_server(forward(deployment.port, lose_reply=True), forward(deployment.port)) as server:
        arguments = {"billing": billing, "amount": "10.00", "currency": "USD"}
        made = caller.call(server.url, "virtualcard", "create", arguments, mid=shop.mid, key=shop.key)
    spent = before - shop.wallet("USD").balance
    assert made.card_data.balance == 10
    # A second card would cost as much again.
    again = Kasuwa(mid=shop.mid, key=shop.key, base_url=f"http://127.0.0.1:{deployment.port}")
    with again:
        again.virtualcard.create(billing=billing, amount="10.00", currency="USD")  # type: ignore[arg-type]
    assert before - shop.wallet("USD").balance == 2 * spent


def test_a_lost_transfer_can_be_waited_for(
    shop: MerchantClient, deployment: Deployment, connect: Callable[..., Kasuwa]
) -> None:
    never = RetryPolicy(max_retries=0)
    with faulty_server(forward(deployment.port, lose_reply=True)) as server:
        lossy = connect(base_url=server.url, retry=never)
        with pytest.raises(OutcomeUnknown) as raised:
            lossy.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000")
    final = connect().disburse.wait(raised.value, seconds=30)
    assert (final.txn_status, final.order_ref) == ("successful", raised.value.order_ref)
