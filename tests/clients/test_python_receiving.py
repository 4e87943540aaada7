"""What an application needs to receive events in Python: EventApp, is_paid, and a client from the environment."""

import asyncio
import io
import json
import logging
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any
from wsgiref.simple_server import make_server
from wsgiref.validate import validator

import pytest

import kasuwa_client
from kasuwa.webhooks.signatures import sign
from kasuwa_client import AsyncKasuwa, Event, EventApp, InvalidSignature, Kasuwa, TransferEvent
from kasuwa_client.events import EventBase
from kasuwa_client.wsgi import MAX_BODY_BYTES, QuietHandler
from tests.merchant_client import MerchantClient
from tests.methods.investments.savers import enroll
from tests.webhooks.inbox import running_inbox

BODY = json.dumps({"txnStatus": "successful", "txnRef": "GP|FD|1", "kind": "transfer", "orderRef": "a"}).encode()


@pytest.fixture
def offline() -> Iterator[Kasuwa]:
    """A client that is not connected: verifying needs no connection."""
    with Kasuwa(mid="GP0000001", key="merchant-key") as client:
        yield client


def signed(body: bytes = BODY, key: str = "merchant-key") -> dict[str, str]:
    return sign(body, [key.encode()], "evt_1", int(time.time()), "service-hash", has_bad_signature=False)


def post(app: Any, body: bytes, headers: dict[str, str], **changed: Any) -> tuple[str, str]:
    """Calls an application as a WSGI server does. Returns the status line and the text."""
    environ = {
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in headers.items()},
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/events",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.input": io.BytesIO(body),
        **changed,
    }
    started: list[str] = []
    content = b"".join(app(environ, lambda status, headers: started.append(status)))
    return started[0], content.decode()


def test_a_genuine_event_is_passed_on_and_its_result_is_the_answer(offline: Kasuwa) -> None:
    seen: list[Event] = []

    def receive(event: Event) -> str:
        seen.append(event)
        return f"thanks for {event.txn_ref}"

    lines: list[str] = []
    app = EventApp(offline, receive, log=lines.append)
    assert post(app, BODY, signed()) == ("200 OK", "thanks for GP|FD|1\n")
    assert isinstance(seen[0], TransferEvent)
    assert lines == ["POST /events: 200 thanks for GP|FD|1"]
    assert post(EventApp(offline, lambda event: None), BODY, signed()) == ("200 OK", "")
    assert app.handle(BODY, signed()) == "thanks for GP|FD|1"


def test_what_is_not_genuine_never_reaches_the_function(offline: Kasuwa) -> None:
    app = EventApp(offline, lambda event: pytest.fail("called"))
    assert post(app, BODY + b" ", signed())[0] == "400 Bad Request"
    assert post(app, BODY, signed(key="another"))[0] == "400 Bad Request"
    status, text = post(app, BODY, {})
    assert (status, text) == ("400 Bad Request", "rejected: The delivery has no webhook-signature header\n")
    with pytest.raises(InvalidSignature):
        app.handle(BODY, {})


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"PATH_INFO": "/elsewhere"}, "404 Not Found"),
        ({"REQUEST_METHOD": "GET"}, "405 Method Not Allowed"),
        ({"CONTENT_LENGTH": ""}, "411 Length Required"),
        ({"CONTENT_LENGTH": "-1"}, "411 Length Required"),
        ({"CONTENT_LENGTH": str(MAX_BODY_BYTES + 1)}, "413 Content Too Large"),
    ],
)
def test_other_requests_are_refused_unread(offline: Kasuwa, changed: dict[str, str], status: str) -> None:
    app = EventApp(offline, lambda event: pytest.fail("called"))
    assert post(app, BODY, signed(), **changed)[0] == status


def test_a_function_that_fails_is_answered_with_500_and_logged(
    offline: Kasuwa, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: object) -> None:
        raise ZeroDivisionError("the details")

    app = EventApp(offline, fail, path="/hooks", routes={"/orders": fail})
    with caplog.at_level(logging.ERROR, logger="kasuwa_client"):
        assert post(app, BODY, signed(), PATH_INFO="/hooks") == ("500 Internal Server Error", "failed\n")
        assert post(app, b"book", {}, PATH_INFO="/orders") == ("500 Internal Server Error", "failed\n")
    assert [record.getMessage() for record in caplog.records] == ["POST /hooks failed", "POST /orders failed"]
    assert "the details" in caplog.text
    assert "merchant-key" not in caplog.text


def test_routes_take_and_return_text(offline: Kasuwa) -> None:
    app = EventApp(offline, lambda event: None, routes={"/orders": lambda item: f"one {item}"})
    assert post(app, "é".encode(), {}, PATH_INFO="/orders") == ("200 OK", "one é\n")
    assert post(app, b"\xff", {}, PATH_INFO="/orders")[0] == "400 Bad Request"


def test_it_keeps_the_rules_of_wsgi_and_receives_real_deliveries(shop: MerchantClient, client: Kasuwa) -> None:
    seen: list[Event] = []
    app = EventApp(client, seen.append)
    checked: Callable[..., Any] = validator(app)  # raises AssertionError if a rule is broken
    with make_server("127.0.0.1", 0, checked, handler_class=QuietHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            url = f"http://127.0.0.1:{server.server_port}/events"
            with running_inbox() as inbox:
                client.sandbox.webhook(url=inbox.url)
                sent = client.disburse.transfer(amount="10.00", bankcode="058", accountnumber="0000000000")
                [letter] = inbox.wait_for(1)
                client.sandbox.webhook(url="")
            request = urllib.request.Request(url, letter.body, dict(letter.headers), method="POST")
            with urllib.request.urlopen(request) as reply:
                assert reply.status == 200
            forged = urllib.request.Request(
                url, letter.body.replace(b"10.00", b"90.00"), dict(letter.headers), method="POST"
            )
            with pytest.raises(urllib.error.HTTPError, match="400"):
                urllib.request.urlopen(forged)
        finally:
            server.shutdown()
            thread.join()
    assert [event.txn_ref for event in seen] == [sent.txn_ref]


# --- is_paid ------------------------------------------------------------------------------------------------------


def test_a_payment_is_paid_if_it_covers_the_price_in_its_currency(client: Kasuwa) -> None:
    payment = client.payment.charge_bank_transfer(amount="200.00")
    assert payment.account_number is not None
    is_paid = client.payment.is_paid
    assert not is_paid(payment.txn_ref, amount="200.00")
    client.sandbox.pay_account(account_number=payment.account_number, amount="200.00")
    assert is_paid(payment.txn_ref, amount="200.00")
    assert is_paid(payment.txn_ref, amount=Decimal("199.99"))
    assert is_paid(payment.txn_ref, amount=200, currency="NGN")
    assert not is_paid(payment.txn_ref, amount="200.01")
    assert not is_paid(payment.txn_ref, amount="200.00", currency="USD")
    client.payment.refund(txn_ref=payment.txn_ref, amount="50.00")
    assert not is_paid(payment.txn_ref, amount="200.00")
    assert is_paid(payment.txn_ref, amount="150.00")
    wrong: Any
    for wrong in (200.0, "a lot", "NaN", 0, "-1", None):
        with pytest.raises(ValueError, match="amount: must be"):
            is_paid(payment.txn_ref, amount=wrong)


def test_what_is_no_payment_is_not_paid(client: Kasuwa, shop: MerchantClient) -> None:
    transfer = client.disburse.transfer(amount="200.00", bankcode="058", accountnumber="0000000000")
    payment = client.payment.charge_bank_transfer(amount="200.00")
    client.sandbox.pay_account(account_number=payment.account_number or "", amount="200.00")
    refund = client.payment.refund(txn_ref=payment.txn_ref, amount="120.00")
    saver = enroll(shop)
    settings: Any = {"interestRate": "12", "interestFrequency": "annualized"}
    savings = client.investments.create_savings(
        name="School fees", client_id=saver, period=12, interest_settings=settings
    )
    deposit = client.investments.deposit(
        savings_id=str(savings.data.savings_id), amount="300.00", payment_method="wallet"
    )
    for reference in (transfer.txn_ref, refund.refund_ref, deposit.txn_ref, "GP00000000020260101A", "nothing"):
        assert not client.payment.is_paid(str(reference), amount="1.00"), reference
        with pytest.raises(ValueError, match="above zero"):
            client.payment.is_paid(str(reference), amount=0)
    assert client.payment.is_paid(payment.txn_ref, amount="1.00")


def test_the_async_client_has_the_same(shop: MerchantClient, client: Kasuwa) -> None:
    payment = client.payment.charge_bank_transfer(amount="200.00")

    async def ask() -> None:
        async with AsyncKasuwa(mid=shop.mid, key=shop.key, base_url=client.base_url) as same:
            assert not await same.payment.is_paid(payment.txn_ref, amount="200.00")
            assert not await same.payment.is_paid("GP|FD|1", amount="200.00")
            assert same.verify_event(BODY, signed(key=shop.key)).txn_ref == "GP|FD|1"

    asyncio.run(ask())


def test_every_class_of_event_is_public() -> None:
    assert {kind.__name__ for kind in EventBase.__subclasses__()} <= set(kasuwa_client.__all__)


# --- the environment ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Kasuwa, AsyncKasuwa])
def test_a_client_is_made_from_the_environment(
    kind: type[Kasuwa] | type[AsyncKasuwa], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KASUWA_MID", "KASUWA_KEY", "KASUWA_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="not set in the environment: KASUWA_MID, KASUWA_KEY, KASUWA_URL"):
        kind.from_environment()
    monkeypatch.setenv("KASUWA_MID", "GP0000007")
    monkeypatch.setenv("KASUWA_KEY", "merchant-key")
    with pytest.raises(ValueError, match="not set in the environment: KASUWA_URL"):
        kind.from_environment()
    monkeypatch.setenv("KASUWA_URL", "http://127.0.0.1:1/")
    client = kind.from_environment()
    assert (client.mid, client.base_url) == ("GP0000007", "http://127.0.0.1:1")
    assert client.verify_event(BODY, signed()).txn_ref == "GP|FD|1"
