"""The service in live with the rails of vendors, each played by its twin: transfers at Paystack, bills at VTpass, BVNs
at Dojah.

What the twin sold and what the books say are compared one to one, also after every process was killed.
"""

import base64
import contextlib
import http.client
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import psutil
import pytest

from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.server import Twin, TwinThread
from kasuwa.rails.twins.vtpass import VtpassRules
from tests.command_processes import service_processes
from tests.merchant_client import without_codes
from tests.rails.live_merchant import add_merchant, fund
from tests.running import Deployment, Deployments, stop, terminated_with_us
from tests.webhooks.event_log import wait_until

# One deployment serves all of them.
pytestmark = pytest.mark.xdist_group("live rails")

SECRET = base64.b64encode(bytes(range(32))).decode()
PATH_SECRET = "callbacks-of-the-vendor-1234567890"
METER, PENDING_METER = "45012345678", "45012345201"
# Accounts of bank 058, with right check digits. The twin leaves the second pending.
ACCOUNT, PENDING_ACCOUNT = "0123456785", "0123400001"


class Twins:
    """The vendors, and the rules that each plays by."""

    def __init__(self) -> None:
        self.vtpass_rules, self.paystack_rules = VtpassRules(), PaystackRules("sk_live_1")
        self.vtpass_rules.are_twins_held_apart = False
        self.vtpass, self.paystack, self.dojah = Twin(self.vtpass_rules), Twin(self.paystack_rules), Twin(DojahRules())


class LiveHarness:
    """A live deployment, the twins behind it, and a merchant with money."""

    def __init__(self, deployment: Deployment, twins: Twins, settings: dict[str, str]) -> None:
        self.deployment = deployment
        self.vtpass, self.rules = twins.vtpass, twins.vtpass_rules
        self.paystack, self.bank = twins.paystack, twins.paystack_rules
        self._settings = settings
        self.shop, merchant_id = add_merchant(deployment)
        fund(deployment, settings, merchant_id)

    def put(self, method: str, **fields: Any) -> Any:
        return self.shop.put(method, **fields).body

    def pay(self, order_ref: str, paycode: str = "ikeja-electric/prepaid", **fields: Any) -> Any:
        body = {"reference": METER, "amount": "5000.00", "orderRef": order_ref, **fields}
        return self.put("bills", action="pay", paycode=paycode, **body)

    def verify(self, order_ref: str) -> Any:
        return self.put("bills", action="verify", txnRef=order_ref)

    def wait_for(self, order_ref: str, status: str) -> Any:
        def look() -> Any:
            body = self.verify(order_ref)
            return body if body.get("txnStatus") == status else None

        return wait_until(f"{order_ref} is {status}", look)

    def wait_for_transfer(self, order_ref: str, status: str) -> Any:
        def look() -> Any:
            return self.put("disburse", action="verify", txnRef=order_ref)["txnStatus"] == status

        return wait_until(f"{order_ref} is {status}", look)

    def call_back(self, body: Any, secret: str = PATH_SECRET) -> Any:
        with self.deployment.connect() as wire:
            return wire.send("POST", f"/rails/vtpass/{secret}", msgspec.json.encode(body))

    def notices(self) -> list[str]:
        return [row[0] for row in self.deployment.fetch("select message from operator_notice order by notice_id")]

    def compare_books(self) -> None:
        """Compares what the vendor delivered with the successful bills of the books, one to one."""
        sold = sorted((bill.amount * 100) for bill in self.rules.bills.values() if bill.status == "delivered")
        rows = self.deployment.fetch("select amount from transaction where kind = 'bill' and status = 'successful'")
        assert sorted(row[0] for row in rows) == sold
        paid = sorted(paid.amount for paid in self.bank.transfers.values() if paid.status == "success")
        rows = self.deployment.fetch("select amount from transaction where kind = 'transfer' and status = 'successful'")
        assert sorted(row[0] for row in rows) == paid
        assert self.deployment.broken_invariants([self.shop.mid]) == []


def rail_settings(twins: Twins) -> dict[str, str]:
    return {
        "KASUWA_ENVIRONMENT": "live",
        "KASUWA_CONSOLE": "off",
        "KASUWA_SECRET_KEY": SECRET,
        "KASUWA_RAIL_LOOPBACK": "on",
        "KASUWA_RAIL_BANK": "paystack",
        "KASUWA_PAYSTACK_BASE_URL": twins.paystack.url,
        "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1",
        "KASUWA_PAYSTACK_CALLBACK_ADDRESSES": "52.31.139.75,127.0.0.0/8",
        "KASUWA_TRUSTED_PROXIES": "127.0.0.1",
        "KASUWA_RAIL_BILLS": "vtpass",
        "KASUWA_VTPASS_BASE_URL": twins.vtpass.url,
        "KASUWA_VTPASS_API_KEY": "api-1",
        "KASUWA_VTPASS_PUBLIC_KEY": "PK_1",
        "KASUWA_VTPASS_SECRET_KEY": "SK_1",
        "KASUWA_VTPASS_PHONE": "08039999999",
        "KASUWA_VTPASS_CALLBACK_SECRET": PATH_SECRET,
        "KASUWA_RAIL_IDENTITY": "dojah",
        "KASUWA_DOJAH_BASE_URL": twins.dojah.url,
        "KASUWA_DOJAH_APP_ID": "app-1",
        "KASUWA_DOJAH_SECRET_KEY": "test_sk_1",
    }


@contextlib.contextmanager
def running_twins() -> Iterator[Twins]:
    twins = Twins()
    with TwinThread(twins.vtpass), TwinThread(twins.paystack), TwinThread(twins.dojah):
        yield twins


@pytest.fixture(scope="module")
def harness(deployments: Deployments) -> Iterator[LiveHarness]:
    with running_twins() as twins:
        settings = rail_settings(twins)
        with deployments.fresh("live-rails", **settings) as deployment:
            harness = LiveHarness(deployment, twins, settings)
            wait_until("the catalogue is fetched", lambda: harness.put("bills", action="pull")["data"]["items"])
            yield harness
            harness.compare_books()
            harness.shop.connection.close()


def test_bill_is_delivered_with_its_token(harness: LiveHarness) -> None:
    resolved = harness.put("bills", action="resolve", paycode="ikeja-electric/prepaid", reference=METER)
    assert resolved["custName"] == "TESTMETER1"
    paid = harness.pay("first", phonenumber="0803 123 4567")
    assert (paid["txnStatus"], len(paid["token"])) == ("successful", 20)
    assert harness.verify("first")["token"] == paid["token"]
    assert harness.pay("first") == paid
    [phone] = [request.body["phone"] for request in harness.vtpass.requests if request.path == "/pay"]
    assert phone == "08031234567"
    assert sum(bill.customer == METER for bill in harness.rules.bills.values()) == 1


def test_part_of_a_naira_is_refused_before_anything_is_sent(harness: LiveHarness) -> None:
    before = harness.vtpass.count("/pay")
    refused = harness.pay("kobo", amount="5000.50")
    assert without_codes(refused["errors"]) == [
        {"field": "amount", "reason": "a multiple of 1.00: Ikeja Electric Payment - IKEDC takes no smaller part"}
    ]
    assert harness.vtpass.count("/pay") == before


def test_lost_answer_is_asked_after_and_nothing_is_sold_twice(harness: LiveHarness) -> None:
    before = len(harness.rules.bills)
    harness.vtpass.add_fault("lose", "/pay")
    assert harness.pay("lost", reference="45012345111")["txnStatus"] == "pending"
    assert len(harness.wait_for("lost", "successful")["token"]) == 20
    assert len(harness.rules.bills) == before + 1


def test_call_back_makes_the_service_ask_at_once(harness: LiveHarness) -> None:
    paid = harness.pay("staff", reference=PENDING_METER)
    assert paid["txnStatus"] == "pending"
    [request_id] = [bill.request_id for bill in harness.rules.bills.values() if bill.customer == PENDING_METER]
    event = harness.rules.settle(request_id, "delivered")
    assert harness.call_back(event, "another-secret-of-enough-length").http == 401
    for _ in range(2):
        reply = harness.call_back(event)
        assert (reply.http, reply.raw) == (200, b'{"response":"success"}')
    harness.wait_for("staff", "successful")
    assert harness.call_back(event).http == 200
    assert harness.call_back({"type": "transaction-update", "data": {"requestId": "202601012330nobody"}}).http == 200
    assert harness.notices() == []


def test_reversal_after_success_becomes_one_notice(harness: LiveHarness) -> None:
    harness.pay("taken-back", reference="45012345222")
    [request_id] = [bill.request_id for bill in harness.rules.bills.values() if bill.customer == "45012345222"]
    event = harness.rules.settle(request_id, "reversed")
    for _ in range(2):
        assert harness.call_back(event).http == 200
    assert harness.notices() == ["the bill is successful, but its rail now says failed"]
    assert harness.verify("taken-back")["txnStatus"] == "successful"
    harness.rules.settle(request_id, "delivered")


def test_rail_without_money_keeps_the_bill_open_and_tells_the_operator_alone(harness: LiveHarness) -> None:
    harness.rules.balance, kept = 0, harness.rules.balance
    paid = harness.pay("short", reference="45012345333")
    assert paid["txnStatus"] == "pending"
    assert "balance" not in str(paid)
    assert "our balance with vtpass does not cover the bill: fund it" in harness.notices()
    harness.rules.balance = kept
    harness.wait_for("short", "successful")


# --- transfers -------------------------------------------------------------------------------------------------


def test_transfer_is_paid_and_ends_by_a_query(harness: LiveHarness) -> None:
    named = harness.put("resources", inquire="accountname", bankcode="058", accountnumber=ACCOUNT)
    assert named["data"]["account_name"] == "ADA OBI"
    sent = harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, orderRef="rent")
    assert sent["txnStatus"] == "processing"
    harness.wait_for_transfer("rent", "successful")


def test_signed_call_back_ends_a_transfer(harness: LiveHarness) -> None:
    harness.shop.transfer(bankcode="058", accountnumber=PENDING_ACCOUNT, orderRef="slow")
    [reference] = [paid.reference for paid in harness.bank.transfers.values() if paid.account_number == PENDING_ACCOUNT]
    body, headers = harness.bank.settle(reference, "success")
    with harness.deployment.connect() as wire:
        assert wire.send("POST", "/rails/paystack", body + b" ", headers).http == 401
        assert wire.send("POST", "/rails/paystack", body, headers).http == 200
    harness.wait_for_transfer("slow", "successful")


def test_call_back_before_the_answer_of_the_send_ends_it_once(harness: LiveHarness) -> None:
    """The vendor announces the end while its answer to the sending is still on its way, and once more after the end."""
    shop = harness.deployment.connect()
    before = len(harness.bank.transfers)
    harness.paystack.add_fault("hold", "/transfer$")
    fields = {"action": "transfer", "amount": "61.00", "bankcode": "058", "accountnumber": ACCOUNT, "orderRef": "early"}
    with contextlib.closing(shop), ThreadPoolExecutor(max_workers=1) as threads:
        sending = threads.submit(harness.put, "disburse", **fields)
        try:
            wait_until("the vendor has the order", lambda: len(harness.bank.transfers) > before)
            body, headers = harness.bank.settle(list(harness.bank.transfers)[-1], "success")
            for _ in range(2):
                assert shop.send("POST", "/rails/paystack", body, headers).http == 200
        finally:
            harness.paystack.release()
        assert sending.result()["txnStatus"] in ("processing", "successful")
    harness.wait_for_transfer("early", "successful")
    with harness.deployment.connect() as wire:
        assert wire.send("POST", "/rails/paystack", body, headers).http == 200
    assert len(harness.bank.transfers) == before + 1
    [(count,)] = harness.deployment.fetch(
        "select count(*) from event e join transaction t on t.txn_ref = e.reference where t.order_ref = 'early'"
    )
    assert count == 1


def test_reversed_transfer_becomes_a_notice(harness: LiveHarness) -> None:
    harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, orderRef="back")
    harness.wait_for_transfer("back", "successful")
    reference = list(harness.bank.transfers)[-1]
    body, headers = harness.bank.settle(reference, "reversed")
    with harness.deployment.connect() as wire:
        assert wire.send("POST", "/rails/paystack", body, headers).http == 200
    assert "the transfer is successful, but its rail now says failed" in harness.notices()
    harness.bank.settle(reference, "success")


def test_lost_transfer_is_asked_after_and_paid_once(harness: LiveHarness) -> None:
    before = len(harness.bank.transfers)
    harness.paystack.add_fault("lose", "/transfer")
    assert harness.shop.transfer(bankcode="058", accountnumber=ACCOUNT, orderRef="gone")["txnStatus"] == "processing"
    harness.wait_for_transfer("gone", "successful")
    assert len(harness.bank.transfers) == before + 1


def test_person_of_a_bvn(harness: LiveHarness) -> None:
    found = harness.put("resources", inquire="bvn", bvn="22212345678")
    assert found["data"]["firstname"] == "ADAEZE"
    assert "image" not in str(found)
    assert harness.put("resources", inquire="bvn", bvn="33312345678")["status"] != 200


def test_call_backs_from_other_addresses_are_refused(harness: LiveHarness) -> None:
    body, headers = harness.bank.sign({"event": "transfer.success", "data": {"reference": "nobody's"}})
    sent = []
    with harness.deployment.connect() as wire:
        for forwarded in ({}, {"X-Forwarded-For": "52.31.139.75"}, {"X-Forwarded-For": "203.0.113.9"}):
            sent.append(wire.send("POST", "/rails/paystack", body, {**headers, **forwarded}).http)
    assert sent == [200, 200, 401]


def test_call_backs_of_other_rails_and_methods_are_refused(harness: LiveHarness) -> None:
    with harness.deployment.connect() as wire:
        assert wire.send("POST", "/rails/monnify", b"{}").http == 404
        assert wire.send("GET", f"/rails/vtpass/{PATH_SECRET}").body["message"] == "Invalid method call: use POST"
        assert wire.send("POST", f"/rails/vtpass/{PATH_SECRET}", b"x" * (256 * 1024 + 1)).http == 413


def test_a_call_back_may_have_256_kib(harness: LiveHarness) -> None:
    """Vendors send the whole transaction with all that belongs to it."""
    event = {"event": "transfer.success", "data": {"reference": "nobody's", "metadata": {"note": ""}}}
    room = 256 * 1024 - len(harness.bank.sign(event)[0])
    event["data"]["metadata"]["note"] = "x" * room  # type: ignore[index]
    body, headers = harness.bank.sign(event)
    assert len(body) == 256 * 1024
    with harness.deployment.connect() as wire:
        assert wire.send("POST", "/rails/paystack", body, headers).http == 200


def test_no_secret_is_logged(harness: LiveHarness) -> None:
    harness.put("resources", inquire="bvn", bvn="22212345678")
    harness.pay("logged", reference="45012345444")
    assert harness.call_back({}, PATH_SECRET).http == 200
    text = harness.deployment.out.read_text() + harness.deployment.err.read_text()
    for secret in ("SK_1", "PK_1", "api-1", "test_sk_1", "sk_live_1", PATH_SECRET, "22212345678"):
        assert secret not in text


def test_doctor_speaks_to_the_rails(harness: LiveHarness) -> None:
    output = harness.deployment._run(("doctor",)).stdout
    assert "vtpass answers; our balance there is" in output
    assert "paystack answers; our balance there is" in output
    assert "dojah answers; our balance there is 5000.5" in output


# --- every process dies ----------------------------------------------------------------------------------------


def test_kill_between_the_vendor_and_our_books(deployments: Deployments) -> None:
    """The vendor has the bill, and every process dies before its answer is recorded."""
    with running_twins() as twins:
        settings = rail_settings(twins)
        with deployments.fresh("live-kill", **settings) as deployment:
            harness = LiveHarness(deployment, twins, settings)
            wait_until("the catalogue is fetched", lambda: harness.put("bills", action="pull")["data"]["items"])
            twins.vtpass.add_fault("hang", "/pay")
            with ThreadPoolExecutor(max_workers=1) as threads, contextlib.closing(harness.shop.connection):
                paying = threads.submit(harness.pay, "killed")
                wait_until("the vendor has the bill", lambda: harness.rules.bills)
                kill_service(deployment)
                with pytest.raises((OSError, http.client.HTTPException)):
                    paying.result()
                # The lease of the dead process ends: half a minute later, were it not for this.
                deployment.fetch("update scheduled_job set leased_until = now() where leased_until is not null")
                process = deployment.start()
                try:
                    with terminated_with_us(process.pid, signal.SIGTERM):
                        deployment.wait_ready(process)
                        assert len(harness.wait_for("killed", "successful")["token"]) == 20
                        assert len(harness.rules.bills) == 1
                        harness.compare_books()
                finally:
                    stop(process)


def kill_service(deployment: Deployment) -> None:
    """Kills the supervisor and all its processes at once."""
    for process in service_processes(deployment.directory):
        with contextlib.suppress(psutil.Error):
            process.kill()
