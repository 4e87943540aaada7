"""Every process of the service is killed at each point of the live flows, with Paystack and VTpass as twins.

All flows are brought to a point together: a transfer, a bill, a card page, a payment by transfer, a refund, and money
that comes into an account. Then the service is killed and started again, and what the twins sold, took and gave back
must be what the books say, one to one.

    stalled    the order is taken, and the vendor has not seen it; the money was announced, and is in the inbox
    sent       the vendor has carried it out, and has not answered; the money is being listed
    away       as `sent`, and no vendor can be asked when the jobs are taken over
    answered   the answer has arrived, and is not recorded: the database is locked
    recorded   the answer is recorded, and the merchant has its reply
"""

import contextlib
import http.client
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from kasuwa.core.references import rail_key, wire_reference
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import FaultKind, Twin, TwinThread
from kasuwa.rails.twins.vtpass import VtpassRules
from tests.merchant_client import MerchantClient
from tests.rails.live_merchant import add_merchant, fund
from tests.rails.vendors.live_collection import EMAIL_DOMAIN, SECRET
from tests.rails.vendors.test_live import kill_service
from tests.running import Deployment, Deployments, stop, terminated_with_us
from tests.webhooks.event_log import wait_until

ACCOUNT, METER, PAYCODE = "0123456785", "45012345678", "ikeja-electric/prepaid"
LEASES = (
    "update scheduled_job set leased_until = now() where leased_until is not null",
    "update rail_inbox set due_at = now() where done_at is null",
    "update account_listing set leased_until = '2000-01-01'",
)
RUN_JOBS = "update scheduled_job set run_at = now() - interval '1 second' where run_at > now()"
LIST_AGAIN = "update account_listing set listed_at = '2000-01-01', leased_until = '2000-01-01'"
IS_LOCKED_OUT = "select 1 from pg_locks where not granted and relation = 'scheduled_job'::regclass"


class Vendors:
    """The twins, and the rules that each plays by."""

    def __init__(self) -> None:
        self.bank, self.vtpass_rules = PaystackRules("sk_live_1"), VtpassRules()
        self.vtpass_rules.are_twins_held_apart = False
        self.collection = PaystackCollectionRules(self.bank)
        self.paystack, self.vtpass = Twin(self.bank, self.collection), Twin(self.vtpass_rules)

    def settings(self) -> dict[str, str]:
        paystack = dict.fromkeys(("BANK", "CARD", "COLLECT", "ACCOUNTS"), "paystack")
        return {f"KASUWA_RAIL_{purpose}": rail for purpose, rail in {**paystack, "BILLS": "vtpass"}.items()} | {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": SECRET,
            "KASUWA_RAIL_LOOPBACK": "on",
            "KASUWA_RAIL_EMAIL_DOMAIN": EMAIL_DOMAIN,
            "KASUWA_PAYSTACK_BASE_URL": self.paystack.url,
            "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1",
            "KASUWA_PAYSTACK_PHONE": "08031234567",
            "KASUWA_VTPASS_BASE_URL": self.vtpass.url,
            "KASUWA_VTPASS_API_KEY": "api-1",
            "KASUWA_VTPASS_PUBLIC_KEY": "PK_1",
            "KASUWA_VTPASS_SECRET_KEY": "SK_1",
            "KASUWA_VTPASS_PHONE": "08039999999",
        }


class Point(msgspec.Struct, frozen=True):
    """A point at which the service dies: what the vendors do to the orders, and how the money is learned of."""

    name: str
    fault: FaultKind | None
    is_listed: bool = False  # the money is found by the daily list; else it is announced
    is_locked: bool = False
    is_vendor_away: bool = False


POINTS = (
    Point("stalled", "stall"),
    Point("sent", "hang", is_listed=True),
    Point("away", "hang", is_listed=True, is_vendor_away=True),
    Point("answered", "hold", is_locked=True),
    Point("recorded", None),
)
# The calls that carry out an order: twin, HTTP method and path.
MONEY_CALLS = (
    ("vtpass", "POST", "/pay$"),
    ("paystack", "POST", "/transfer$"),
    ("paystack", "POST", "/transaction/initialize$"),
    ("paystack", "POST", "/charge$"),
    ("paystack", "POST", "/refund$"),
)

# The calls that ask for an order.
QUERIES = (("paystack", "/transfer/verify/"), ("vtpass", "/requery"))


class KillHarness:
    """A live deployment, the twins behind it, and a merchant with money and a payment to refund."""

    def __init__(self, deployment: Deployment, vendors: Vendors, settings: dict[str, str]) -> None:
        self.deployment, self.vendors = deployment, vendors
        self.shop, self.merchant_id = add_merchant(deployment)
        fund(deployment, settings, self.merchant_id)
        wait_until("the catalogue is fetched", lambda: self.put("bills", action="pull")["data"]["items"])
        self.paid = self.put("payment", action="charge", paymentType="bank_transfer", amount="50000.00")["txnRef"]
        self.pay(self.paid)
        account = {"name": "Ada Obi", "reference": "customer", "email": "ada@example.com"}
        opened = self.put("resources", request="personalized-accounts", **account)
        self.number = opened["data"]["accountNumber"]

    def put(self, method: str, **fields: Any) -> Any:
        return self.shop.put(method, **fields).body

    def wire(self, txn_ref: str) -> str:
        return wire_reference(rail_key(self.merchant_id, txn_ref))

    def call_back(self, event: tuple[bytes, dict[str, str]]) -> None:
        with self.deployment.connect() as wire:
            assert wire.send("POST", "/rails/paystack", *event).http == 200

    def pay(self, txn_ref: str) -> None:
        """Has the payer pay, and waits for the end."""
        self.call_back(self.vendors.collection.pay(self.wire(txn_ref)))
        self.wait_for("payment", txn_ref)

    def wait_for(self, method: str, reference: str) -> None:
        def look() -> bool:
            self.deployment.fetch(RUN_JOBS)
            return bool(self.put(method, action="verify", txnRef=reference)["txnStatus"] == "successful")

        wait_until(f"{reference} is successful", look)

    # --- the flows -----------------------------------------------------------------------------------------------

    def list_orders(self, point: str, number: int) -> list[Callable[[MerchantClient], Any]]:
        """Returns the requests of all flows. Each amount is used once, so that amounts identify orders."""
        kobo = f".{number:02d}"
        bill = {"action": "pay", "paycode": PAYCODE, "reference": METER, "orderRef": point}
        page = {"action": "initiate", "paymentType": "card", "customer_txnref": f"card-{point}"}
        shown = {"action": "charge", "paymentType": "bank_transfer", "customer_txnref": f"shown-{point}"}
        return [
            lambda shop: shop.transfer(bankcode="058", accountnumber=ACCOUNT, orderRef=point, amount=f"1000{kobo}"),
            lambda shop: shop.put("bills", amount=f"{2000 + number}.00", **bill).body,
            lambda shop: shop.put("payment", amount=f"3000{kobo}", **page).body,
            lambda shop: shop.put("payment", amount=f"4000{kobo}", **shown).body,
            lambda shop: shop.put("payment", action="refund", txnRef=self.paid, amount=f"500{kobo}").body,
        ]

    def break_calls(self, point: Point) -> None:
        if point.fault is None:
            return
        for twin, method, path in MONEY_CALLS:
            getattr(self.vendors, twin).add_fault(point.fault, path, method=method)
        receipts = "/transaction$" if point.is_listed else "/transaction/verify/"
        self.vendors.paystack.add_fault(point.fault, receipts, method="GET")

    def bring_money(self, point: Point, amount: int) -> None:
        event = self.vendors.bank.accounts.pay_into(self.number, amount)
        if point.is_listed:
            self.deployment.fetch(LIST_AGAIN)
        else:
            self.call_back(event)

    def are_calls_broken(self) -> bool:
        return not self.vendors.paystack.has_faults and not self.vendors.vtpass.has_faults

    # --- afterwards ----------------------------------------------------------------------------------------------

    def finish(self, point: Point, number: int, amount: int) -> None:
        self.wait_for("disburse", point.name)
        self.wait_for("bills", point.name)
        self.finish_page(point)
        found = wait_until("the account is shown", lambda: self.find_shown(f"shown-{point.name}", "accountNumber"))
        self.pay(found["txnRef"])
        self.finish_refund(point, 50_000 + number)
        booked = "select 1 from inbound_receipt where amount = $1"
        wait_until("the money is booked", lambda: self.deployment.fetch(booked, amount))

    def find_shown(self, customer_txnref: str, field: str) -> Any:
        self.deployment.fetch(RUN_JOBS)
        found = self.put("payment", action="verify", customer_txnref=customer_txnref)
        return found if field in found or found["txnStatus"] == "failed" else None

    def finish_page(self, point: Point) -> None:
        """A page whose address was lost fails the payment. Nobody was shown it, so nobody has paid there."""
        reference = f"card-{point.name}"
        [(txn_ref,)] = self.deployment.fetch("select txn_ref from transaction where order_ref = $1", reference)
        stage = "select stage from payment where txn_ref = $1 and stage in ('awaiting_payer', 'done')"

        def look() -> Any:
            self.deployment.fetch(RUN_JOBS)
            return self.deployment.fetch(stage, txn_ref)

        is_lost = wait_until("the page is known or lost", look)[0][0] == "done"
        assert is_lost == (point.name in ("sent", "away", "answered"))
        if not is_lost:
            self.pay(txn_ref)

    def finish_refund(self, point: Point, amount: int) -> None:
        """The vendor knows no keys of refunds: one that it has not listed after a crash is never sent again."""
        refunds = [refund for refund in self.vendors.collection.refunds if refund.amount == amount]
        query = "select txn_ref from transaction where kind = 'refund' and amount = $1"
        [(refund_ref,)] = self.deployment.fetch(query, amount)
        if point.name == "stalled":
            assert refunds == []
            return
        [refund] = refunds
        assert refund.note == self.wire(refund_ref)
        self.vendors.collection.end_refund(refund.id)

        def look() -> bool:
            self.deployment.fetch(RUN_JOBS)
            return bool(self.put("payment", action="verify", refundRef=refund_ref)["txnStatus"] == "successful")

        wait_until("it is refunded", look)

    def count_sent(self) -> list[int]:
        """Returns how often transfers and bills were sent to a vendor that looked at them."""
        return [self.vendors.paystack.count("/transfer"), self.vendors.vtpass.count("/pay")]

    def compare_books(self) -> None:
        """Compares the twins with the books, order by order."""
        vendors = self.vendors
        sold = [bill.amount * 100 for bill in vendors.vtpass_rules.bills.values() if bill.status == "delivered"]
        sent = [paid.amount for paid in vendors.bank.transfers.values() if paid.status == "success"]
        assert self.successful("bill") == sorted(sold)
        assert self.successful("transfer") == sorted(sent)
        gone = [refund.amount for refund in vendors.collection.refunds if refund.status == "processed"]
        assert self.successful("refund") == sorted(gone)
        took = [paid.paid for paid in vendors.collection.payments.values() if paid.paid]
        came = [paid.amount for paid in vendors.bank.accounts.payments.values()]
        assert self.successful("payment") == sorted([*took, *came])
        assert self.deployment.broken_invariants([self.shop.mid]) == []

    def successful(self, kind: str) -> list[int]:
        query = "select amount from transaction where kind = $1 and status = 'successful' order by amount"
        return [row[0] for row in self.deployment.fetch(query, kind)]


def restart(deployment: Deployment, stack: contextlib.ExitStack) -> None:
    # The leases of the dead processes end: half a minute later, were it not for this.
    for statement in LEASES:
        deployment.fetch(statement)
    process = deployment.start()
    stack.callback(stop, process)
    stack.enter_context(terminated_with_us(process.pid, signal.SIGTERM))
    deployment.wait_ready(process)


def reach_and_kill(harness: KillHarness, point: Point, number: int, amount: int) -> None:
    """Brings every flow to a point, then kills the service."""
    deployment, vendors = harness.deployment, harness.vendors
    harness.break_calls(point)
    orders = harness.list_orders(point.name, number)
    with ThreadPoolExecutor(max_workers=len(orders)) as threads, contextlib.ExitStack() as connections:
        calls = []
        for order in orders:
            connection = connections.enter_context(contextlib.closing(deployment.connect()))
            calls.append(threads.submit(order, MerchantClient(connection, harness.shop.mid, harness.shop.key)))
        harness.bring_money(point, amount)
        if point.fault is None:
            assert all(call.result() for call in calls)
        else:
            wait_until("every vendor has its call", harness.are_calls_broken)
        if point.is_locked:
            deployment.fetch("begin")
            deployment.fetch("lock table scheduled_job in exclusive mode")
            vendors.paystack.release()
            vendors.vtpass.release()
            wait_until("the answers wait for the database", lambda: deployment.fetch(IS_LOCKED_OUT))
        kill_service(deployment)
        if point.is_locked:
            deployment.fetch("rollback")
        for call in calls:
            with contextlib.suppress(OSError, http.client.HTTPException):
                call.result()


def test_kill_at_every_point_of_every_flow(deployments: Deployments) -> None:
    vendors = Vendors()
    with contextlib.ExitStack() as stack:
        stack.enter_context(TwinThread(vendors.paystack))
        stack.enter_context(TwinThread(vendors.vtpass))
        settings = vendors.settings()
        deployment = stack.enter_context(deployments.fresh("live-kill-points", **settings))
        harness = KillHarness(deployment, vendors, settings)
        stack.enter_context(contextlib.closing(harness.shop.connection))
        for number, point in enumerate(POINTS, 1):
            amount = 600_000 + number
            reach_and_kill(harness, point, number, amount)
            if point.is_vendor_away:
                for twin, path in QUERIES:
                    getattr(vendors, twin).add_fault("drop", path, count=1_000)
            sent = harness.count_sent()
            restart(deployment, stack)
            if point.is_vendor_away:
                wait_for_take_over(harness)
            harness.finish(point, number, amount)
            harness.compare_books()
            assert harness.count_sent() == [count + (point.fault == "stall") for count in sent], "sent again"


def wait_for_take_over(harness: KillHarness) -> None:
    """Has the jobs taken over while no vendor can be asked."""
    deployment, vendors = harness.deployment, harness.vendors
    waiting = "select 1 from scheduled_job where kind = 'disburse.send' and is_queried_first and attempt > 0"
    wait_until("the transfer was taken over", lambda: deployment.fetch(waiting))
    vendors.paystack.clear_faults()
    vendors.vtpass.clear_faults()
