"""The service in live with the example rail behind it: orders, look-ups, lost answers, call-backs, a crash.

What the rail paid and what the books say are compared one to one at the end.
"""

import asyncio
import base64
import contextlib
import http.client
import json
import signal
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kasuwa.rails.remote.cards import PATH as CARDS_PATH
from kasuwa.rails.remote.signing import HEADER, check_signature, sign
from tests.methods.virtualcard.card_client import CardClient
from tests.rails.live_merchant import add_merchant, fund
from tests.rails.remote.example_rails import SECRET, ExampleRail
from tests.rails.vendors.test_live import kill_service
from tests.running import Deployment, Deployments, stop, terminated_with_us
from tests.webhooks.event_log import wait_until

# One deployment serves all of them.
pytestmark = pytest.mark.xdist_group("live remote rail")

PAYS, STAYS_OPEN, METER = "0123456785", "0123400001", "45012345678"
# The rail carries out these transfers, and their answer is lost or never comes.
LOST, HANGS = "lose the answer", "never answer"
FAULTS = {
    "        reply, moment = json.dumps(answer)": (
        f'        if b"{LOST}" in body:\n            self.close_connection = True\n            return\n'
        f'        if b"{HANGS}" in body:\n            time.sleep(30)\n'
        "        reply, moment = json.dumps(answer)"
    )
}


def rail_settings(rail: ExampleRail) -> dict[str, str]:
    return {
        "KASUWA_ENVIRONMENT": "live",
        "KASUWA_CONSOLE": "off",
        "KASUWA_SECRET_KEY": base64.b64encode(bytes(range(32))).decode(),
        "KASUWA_RAIL_LOOPBACK": "on",
        "KASUWA_RAIL_BANK": "remote",
        "KASUWA_RAIL_BILLS": "remote",
        "KASUWA_RAIL_IDENTITY": "remote",
        "KASUWA_REMOTE_BASE_URL": rail.url,
        "KASUWA_REMOTE_KEY_ID": SECRET.key_id,
        "KASUWA_REMOTE_SECRET_FILE": str(rail.directory / "secret"),
        "KASUWA_REMOTE_CARDS": "on",
    }


class RemoteHarness:
    """A live deployment, the rail behind it, and a merchant with money."""

    def __init__(self, deployment: Deployment, rail: ExampleRail, settings: dict[str, str]) -> None:
        self.deployment = deployment
        self.rail = rail
        self._settings = settings
        self.shop, merchant_id = add_merchant(deployment)
        fund(deployment, settings, merchant_id)

    def put(self, method: str, **fields: Any) -> Any:
        return self.shop.put(method, **fields).body

    def send(self, order_ref: str, account: str = PAYS, **fields: Any) -> Any:
        return self.shop.transfer(bankcode="058", accountnumber=account, orderRef=order_ref, **fields)

    def wait_for_transfer(self, order_ref: str, status: str) -> None:
        def look() -> bool:
            return bool(self.put("disburse", action="verify", txnRef=order_ref)["txnStatus"] == status)

        wait_until(f"{order_ref} is {status}", look)

    def paid(self, kind: str) -> list[int]:
        """Returns the amounts that left the rail's balance."""
        with contextlib.closing(sqlite3.connect(self.rail.directory / "rail.db")) as books:
            return sorted(row[0] for row in books.execute("select spent from entry where kind = ? and spent", (kind,)))

    def notices(self) -> list[str]:
        return [row[0] for row in self.deployment.fetch("select message from operator_notice order by notice_id")]

    def compare_books(self) -> None:
        for kind, orders in (("transfer", "transfers"), ("bill", "bills")):
            query = "select amount from transaction where kind = $1 and status = 'successful'"
            assert sorted(row[0] for row in self.deployment.fetch(query, kind)) == self.paid(orders)
        assert self.deployment.broken_invariants([self.shop.mid]) == []


@pytest.fixture(scope="module")
def harness(deployments: Deployments, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteHarness]:
    options = {"environment": "live", "open-seconds": "1"}
    with ExampleRail(tmp_path_factory.mktemp("rail"), FAULTS, **options) as rail:
        settings = rail_settings(rail)
        with deployments.fresh("live-remote", **settings) as deployment:
            rail.options["callback"] = f"http://127.0.0.1:{deployment.port}/rails/remote"
            asyncio.run(rail.restart())
            harness = RemoteHarness(deployment, rail, settings)
            wait_until("the catalogue is fetched", lambda: harness.put("bills", action="pull")["data"]["items"])
            yield harness
            harness.compare_books()
            harness.shop.connection.close()


def test_transfers_names_and_people(harness: RemoteHarness) -> None:
    named = harness.put("resources", inquire="accountname", bankcode="058", accountnumber=PAYS)
    assert named["data"]["account_name"] == "ADA OBI"
    assert harness.send("rent")["txnStatus"] == "successful"
    assert harness.send("rent")["txnStatus"] == "successful"
    assert harness.paid("transfers").count(150_000) == 1
    assert harness.put("resources", inquire="bvn", bvn="22212345678")["data"]["firstname"] == "ADA"


def test_a_bill_delivers_its_token(harness: RemoteHarness) -> None:
    body = {"paycode": "power", "reference": METER, "amount": "5000.00", "orderRef": "units"}
    paid = harness.put("bills", action="pay", **body)
    assert (paid["txnStatus"], len(paid["token"])) == ("successful", 20)


def test_a_lost_answer_is_asked_after_and_paid_once(harness: RemoteHarness) -> None:
    assert harness.send("lost", narration=LOST, amount="1500.01")["txnStatus"] == "processing"
    harness.wait_for_transfer("lost", "successful")
    assert harness.paid("transfers").count(150_001) == 1


def test_a_call_back_ends_a_transfer_before_it_would_be_asked_for(harness: RemoteHarness) -> None:
    assert harness.send("slow", STAYS_OPEN, amount="1500.02")["txnStatus"] in ("processing", "pending")
    # Without the call-back it would be asked for after five seconds, then thirty.
    harness.wait_for_transfer("slow", "successful")
    with harness.deployment.connect() as wire:
        body = json.dumps({"event": "order", "key": "kz1-nobody"}).encode()
        right = {HEADER: str(sign(SECRET, int(time.time()), "POST", "/rails/remote", body))}
        assert wire.send("POST", "/rails/remote", body, right).http == 200
        assert wire.send("POST", "/rails/remote", body + b" ", right).http == 401
        assert wire.send("POST", "/rails/remote", body).http == 401
    assert harness.notices() == []


def announce(harness: RemoteHarness, **fields: Any) -> Any:
    """Sends a message of the card network as the rail does. Returns the decision, whose signature is right."""
    return announce_body(harness, json.dumps(fields).encode())


def announce_body(harness: RemoteHarness, body: bytes) -> Any:
    asked = sign(SECRET, int(time.time()), "POST", CARDS_PATH, body)
    with harness.deployment.connect() as wire:
        reply = wire.send("POST", CARDS_PATH, body, {HEADER: str(asked)})
    answered = reply.headers[HEADER.lower()]
    secrets = {SECRET.key_id: SECRET}
    check_signature(answered, secrets, time.time(), str(reply.http), asked.digest, reply.raw)
    return reply.body


def test_the_rail_announces_purchases_with_a_card(harness: RemoteHarness) -> None:
    card = CardClient(harness.shop, currency="NGN", amount="2000")
    shop = {"currency": "NGN", "merchant_name": "Hotel", "country": "NG", "card_number": card.data["cardpan"]}
    held = {"event": "authorize", "key": "net-1", "amount": 50_000, "cvv": card.data["cvv"], **shop}
    first = announce(harness, **held)
    assert (first["outcome"], first["key"], first["code"]) == ("approved", "net-1", "00")
    assert announce(harness, **held) == first
    assert (card.balance, card.get()["held"]) == (150_000, "500.00")
    captured = {"event": "capture", "key": "net-2", "original_key": "net-1", "amount": 60_000}
    assert announce(harness, **captured)["outcome"] == "approved"
    assert announce(harness, **captured)["outcome"] == "approved"
    assert card.balance == 140_000
    assert announce(harness, event="refund", key="net-3", original_key="net-2", amount=10_000)["outcome"] == "approved"
    assert announce(harness, event="purchase", key="net-4", amount=20_000, **shop)["outcome"] == "approved"
    assert announce(harness, event="authorize", key="net-5", amount=1_000, **shop)["outcome"] == "approved"
    assert announce(harness, event="reverse", key="net-6", original_key="net-5")["outcome"] == "approved"
    assert card.balance == 130_000
    assert announce(harness, event="authorize", key="net-7", amount=130_001, **shop)["code"] == "51"
    unknown = {**shop, "card_number": "4000000000000002"}
    assert announce(harness, event="authorize", key="net-8", amount=100, **unknown)["code"] == "14"
    assert announce(harness, event="capture", key="net-9", original_key="nobody", amount=1)["outcome"] == "declined"
    card.ask("terminate")


def test_a_capture_or_refund_of_an_unknown_order_is_one_notice(harness: RemoteHarness) -> None:
    before = harness.notices()
    for event, key in (("capture", "net-10"), ("capture", "net-10"), ("refund", "net-11"), ("reverse", "net-12")):
        answer = announce(harness, event=event, key=key, original_key="nobody", amount=1)
        assert (answer["outcome"], answer["code"]) == ("declined", "25")
    written = harness.deployment.fetch("select reference from operator_notice where reference like 'remote net-1_'")
    assert sorted(row[0] for row in written) == ["remote net-10", "remote net-11"]
    assert len(harness.notices()) == len(before) + 2


def test_a_card_message_that_is_wrong_is_not_decided(harness: RemoteHarness) -> None:
    assert announce(harness, event="capture", key="net-20", amount=1)["error"] == "invalid_request"
    assert announce(harness, event="authorize", key="net-21", amount=1)["error"] == "invalid_request"
    wrong_text = b'{"event": "reverse", "key": "net-23", "original_key": "net-1", "merchant_name": "\xff"}'
    assert announce_body(harness, wrong_text)["error"] == "invalid_request"
    body = b'{"event": "reverse", "key": "net-22", "original_key": "net-1"}'
    as_callback = {HEADER: str(sign(SECRET, int(time.time()), "POST", "/rails/remote", body))}
    with harness.deployment.connect() as wire:
        for headers in ({}, as_callback):
            assert wire.send("POST", CARDS_PATH, body, headers).http == 401


def test_doctor_speaks_to_the_rail_and_no_secret_is_logged(harness: RemoteHarness) -> None:
    output = harness.deployment._run(("doctor",)).stdout
    assert "remote answers; our balance there is" in output
    text = harness.deployment.out.read_text() + harness.deployment.err.read_text() + output
    assert SECRET.secret not in text
    assert "22212345678" not in text


def test_kill_between_the_rail_and_our_books(harness: RemoteHarness) -> None:
    """The rail has paid, and every process dies before its answer is recorded. The last test of the deployment."""
    deployment = harness.deployment
    with ThreadPoolExecutor(max_workers=1) as threads:
        sending = threads.submit(harness.send, "killed", narration=HANGS, amount="1500.03")
        wait_until("the rail has the transfer", lambda: 150_003 in harness.paid("transfers"))
        kill_service(deployment)
        with pytest.raises((OSError, http.client.HTTPException)):
            sending.result()
    # The lease of the dead process ends: half a minute later, were it not for this.
    deployment.fetch("update scheduled_job set leased_until = now() where leased_until is not null")
    process = deployment.start()
    try:
        with terminated_with_us(process.pid, signal.SIGTERM):
            deployment.wait_ready(process)
            harness.wait_for_transfer("killed", "successful")
            assert harness.paid("transfers").count(150_003) == 1
            harness.compare_books()
    finally:
        stop(process)
