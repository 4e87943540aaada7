"""`kasuwa listen` and `kasuwa trigger` in a terminal, against a running server."""

import contextlib
import hashlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from standardwebhooks import Webhook

from kasuwa.webhooks.signatures import standard_secret
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments, free_port, stop
from tests.webhooks.event_log import event_of, send_events_to, wait_for_state
from tests.webhooks.inbox import BROKEN, WAIT_TIMEOUT_SECONDS, Answer, Inbox, ReceivedRequest, running_inbox

# Nobody listens there.
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with running_inbox() as opened:
        yield opened


def address(deployment: Deployment) -> str:
    return f"http://127.0.0.1:{deployment.port}"


def account(deployment: Deployment, shop: MerchantClient) -> tuple[str, ...]:
    return "--server", address(deployment), "--mid", shop.mid, "--key", shop.key


class Terminal:
    """A command that goes on, and the lines it has said."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _read(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._lines.put(line.rstrip("\n"))

    def line(self) -> str:
        return self._lines.get(timeout=WAIT_TIMEOUT_SECONDS)


@contextlib.contextmanager
def listening(*words: str, command: str = "listen") -> Iterator[Terminal]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KASUWA_")}
    line = [sys.executable, "-m", "kasuwa", command, *words]
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            yield Terminal(process)
        finally:
            stop(process)  # type: ignore[arg-type]


def assert_signed(letter: ReceivedRequest, key: str) -> None:
    assert letter.headers["service-hash"] == hashlib.sha512(letter.body + key.encode()).hexdigest()
    assert Webhook(standard_secret(key)).verify(letter.body, letter.headers) == letter.payload


# --- listen -------------------------------------------------------------------------------------------------


def test_listen_prints_events_as_they_happen_and_forwards_them_signed(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    shop.transfer()  # before anybody listened: not shown
    with listening("--forward-to", inbox.url, *account(deployment, shop)) as terminal:
        hello = terminal.line()
        assert hello == f"Listening to {address(deployment)} as {shop.mid}, after event 1. Ctrl-C stops."
        sent = shop.transfer(amount="1500.50")
        failed = shop.transfer(accountnumber="0000000500")
        first, second = terminal.line().split(), terminal.line().split()
    assert first == ["2", "transfer", "successful", "1500.50", sent["txnRef"], "→", "HTTP", "200"]
    assert second == ["3", "transfer", "failed", "0.00", failed["txnRef"], "→", "HTTP", "200"]
    assert [letter.id for letter in inbox.requests] == [
        event_of(shop, txn_ref)["event_id"] for txn_ref in (sent["txnRef"], failed["txnRef"])
    ]
    for letter in inbox.requests:
        assert_signed(letter, shop.key)


def test_what_is_forwarded_is_byte_for_byte_what_is_delivered(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    with running_inbox() as endpoint, listening("--forward-to", inbox.url, *account(deployment, shop)) as terminal:
        send_events_to(shop, endpoint.url)
        terminal.line()
        shop.transfer(orderRef="Ọ̀ṣun “1042” \\ é")
        terminal.line()
        [delivered], [forwarded] = endpoint.wait_for(1), inbox.wait_for(1)
    assert (forwarded.id, forwarded.body) == (delivered.id, delivered.body)
    assert forwarded.headers["service-hash"] == delivered.headers["service-hash"]
    assert own_headers(forwarded) == own_headers(delivered)


def own_headers(letter: ReceivedRequest) -> dict[str, str]:
    """Returns the headers of a delivery without those of the connection, of the HTTP client and of the moment."""
    others = {"webhook-timestamp", "webhook-signature", "host", "connection", "user-agent", "accept", "accept-encoding"}
    return {name: value for name, value in letter.headers.items() if name not in others}


def test_the_event_of_a_refund_is_forwarded_with_its_payment_as_object(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    with running_inbox() as endpoint, listening("--forward-to", inbox.url, *account(deployment, shop)) as terminal:
        send_events_to(shop, endpoint.url)
        terminal.line()
        asked = shop.put("payment", action="charge", paymentType="bank_transfer", amount="200.00").body
        shop.put("sandbox", action="pay_account", accountNumber=asked["accountNumber"], amount="200.00")
        shop.put("payment", action="refund", txnRef=asked["txnRef"], amount="50.00")
        delivered, forwarded = endpoint.wait_for(2), inbox.wait_for(2)
    # Deliveries are made side by side, so that the second may arrive first; the stream keeps the order.
    delivered = sorted(delivered, key=lambda letter: letter.headers["webhook-sequence"])
    for letters in (delivered, forwarded):
        found = [(one.headers["webhook-object"], one.headers["webhook-sequence"]) for one in letters]
        assert found == [(asked["txnRef"], "1"), (asked["txnRef"], "2")]
    assert [own_headers(letter) for letter in forwarded] == [own_headers(letter) for letter in delivered]


def test_listen_says_what_the_application_answered_and_follows_no_redirect(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    inbox.answers(BROKEN, Answer(302, (("location", inbox.url.replace("/events", "/elsewhere")),)))
    with listening("--forward-to", inbox.url, *account(deployment, shop)) as terminal:
        terminal.line()
        shop.transfer()
        assert terminal.line().endswith("→ HTTP 500")
        shop.transfer()
        assert terminal.line().endswith("→ HTTP 302")
    assert [letter.path for letter in inbox.requests] == ["/events", "/events"]


def test_listen_goes_on_when_the_application_is_away(deployment: Deployment, shop: MerchantClient) -> None:
    with listening("--forward-to", NOWHERE, *account(deployment, shop)) as terminal:
        terminal.line()
        for _ in range(2):
            txn_ref = shop.transfer()["txnRef"]
            output = terminal.line()
            assert txn_ref in output
            assert "→ not reached: " in output


def test_listen_goes_on_when_the_server_is_back(deployments: Deployments) -> None:
    with deployments.fresh("listen_away") as deployment, contextlib.ExitStack() as stack:
        shop = deployment.open_shop()
        terminal = stack.enter_context(listening(*account(deployment, shop)))
        terminal.line()
        shop.connection.close()
        still = stack.pop_all()
    with still:
        assert terminal.line().startswith(f"{address(deployment)} cannot be reached: ")
        process = deployment.start()
        try:
            deployment.wait_ready(process)
            with deployment.connect() as wire:
                txn_ref = MerchantClient(wire, shop.mid, shop.key).transfer()["txnRef"]
            assert txn_ref in terminal.line()
        finally:
            stop(process)


def test_listen_with_a_wrong_key_says_so_in_one_line(deployment: Deployment, shop: MerchantClient) -> None:
    output = deployment.run_refused_command("listen", *account(deployment, shop)[:-1], "wrong")
    assert output == f"kasuwa: {address(deployment)} does not know this mid and key\n"


def test_listen_where_there_is_no_server_says_so_in_one_line(deployment: Deployment) -> None:
    output = deployment.run_refused_command("listen", "--server", NOWHERE)
    assert output.startswith(f"kasuwa: {NOWHERE} cannot be reached: ")
    assert output.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "text"), [("--server", "127.0.0.1:8080"), ("--server", "http://[::1"), ("--forward-to", "nonsense")]
)
def test_an_address_that_is_none_is_one_clear_line(deployment: Deployment, option: str, text: str) -> None:
    received = deployment.run_refused_command("listen", option, text)
    assert received == f"kasuwa: {text} is not an address such as http://127.0.0.1:8080\n"


# --- trigger ------------------------------------------------------------------------------------------------


def test_trigger_sends_an_event_again_to_the_endpoint(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = shop.transfer()["txnRef"]
    send_events_to(shop, inbox.url)
    output = deployment.run_command("trigger", txn_ref, *account(deployment, shop))
    assert output.split()[:5] == ["1", "transfer", "successful", "1500.00", txn_ref]
    assert output.endswith("→ sent again to the endpoint\n")
    wait_for_state(shop, txn_ref, "delivered")
    [letter] = inbox.requests
    assert_signed(letter, shop.key)


def test_trigger_forwards_to_an_application_on_this_machine(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = shop.transfer()["txnRef"]
    output = deployment.run_command("trigger", txn_ref, "--forward-to", inbox.url, *account(deployment, shop))
    assert output.endswith("→ HTTP 200\n")
    [letter] = inbox.requests
    assert letter.id == event_of(shop, txn_ref)["event_id"]
    assert_signed(letter, shop.key)
    assert event_of(shop, txn_ref)["attempts"] == []


def test_trigger_fails_if_the_application_does_not_accept_the_event(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    txn_ref = shop.transfer()["txnRef"]
    inbox.answers(Answer(500))
    for url, result in ((inbox.url, "HTTP 500"), (f"http://127.0.0.1:{free_port()}", "not reached: ")):
        words = ("trigger", txn_ref, "--forward-to", url, *account(deployment, shop))
        assert f"{txn_ref}  → {result}" in deployment.run_refused_command(*words)


def test_trigger_of_an_unknown_reference_says_so_in_one_line(deployment: Deployment, shop: MerchantClient) -> None:
    output = deployment.run_refused_command("trigger", "GP|FD|000000000|20260105A", *account(deployment, shop))
    assert output == (
        "kasuwa: there is no event of GP|FD|000000000|20260105A: it is not final, or not this merchant's\n"
    )


def test_trigger_without_an_endpoint_says_what_to_do(deployment: Deployment, shop: MerchantClient) -> None:
    txn_ref = shop.transfer()["txnRef"]
    output = deployment.run_refused_command("trigger", txn_ref, *account(deployment, shop))
    assert output == "kasuwa: No webhook URL is set; set one first\n"


# --- log ----------------------------------------------------------------------------------------------------


def test_log_shows_past_requests_and_follows_new_ones(deployment: Deployment, shop: MerchantClient) -> None:
    shop.transfer(orderRef="past")
    with listening("--follow", "--bodies", *account(deployment, shop), command="log") as terminal:
        assert "/disburse transfer" in terminal.line()
        assert '"orderRef":"past"' in terminal.line()
        assert terminal.line().startswith("  < {")
        shop.put("disburse", action="transfer", amount="x")
        assert " 104  /disburse transfer" in terminal.line()
        assert '"amount":"x"' in terminal.line()


# --- making events happen -------------------------------------------------------------------------------------------


def test_trigger_makes_an_event_happen_and_forwards_it(
    deployment: Deployment, shop: MerchantClient, inbox: Inbox
) -> None:
    words = ("transfer.successful", "amount=900.00", "--forward-to", inbox.url, *account(deployment, shop))
    output = deployment.run_command("trigger", *words)
    assert output.split()[1:4] == ["transfer", "successful", "900.00"]
    assert output.rstrip().endswith("→ HTTP 200")
    [letter] = inbox.requests
    assert_signed(letter, shop.key)
    assert letter.payload["chargedAmount"] == "900.00"


def test_a_field_of_an_event_may_be_a_list(deployment: Deployment, shop: MerchantClient) -> None:
    items = '[{"description":"Hemming","amount":"700.00"}]'
    deployment.run_command("trigger", "invoice", f"items={items}", *account(deployment, shop))
    [event] = shop.put("resources", inquire="events", limit=1).body["data"]
    invoice_id = event["payload"]["invoice_id"]
    invoice = shop.put("resources", inquire="invoice", invoice_id=invoice_id).body["data"]
    assert (invoice["items"][0]["description"], invoice["total"]) == ("Hemming", "700.00")


def test_trigger_names_what_is_wrong_with_an_event_or_its_fields(deployment: Deployment, shop: MerchantClient) -> None:
    for words, reason in (
        (("dispute.open",), "event: no event is called dispute.open: did you mean dispute.opened?"),
        (("transfer.failed", "amount"), "amount is not a field and its value, such as amount=900.00"),
        (("transfer.failed", "amount=much"), "transfer.failed: disburse refused a request: amount: "),
    ):
        output = deployment.run_refused_command("trigger", *words, *account(deployment, shop))
        assert output.startswith(f"kasuwa: {reason}")
