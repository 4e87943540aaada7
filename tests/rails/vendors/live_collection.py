"""A live deployment that collects payments, with the vendors' twins behind it and a merchant with money."""

import base64
import contextlib
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from kasuwa.core.references import rail_key, wire_reference
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.monnify_collection import MonnifyCollectionRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import Twin, TwinThread
from tests.merchant_client import RawReply
from tests.rails.live_merchant import add_merchant, fund
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

SECRET = base64.b64encode(bytes(range(32))).decode()
EMAIL_DOMAIN = "payers.example.com"
SignedEvent = tuple[bytes, dict[str, str]]


class Vendors:
    """The twins, and the rules that each plays by."""

    def __init__(self) -> None:
        paystack, monnify = PaystackRules("sk_live_1"), MonnifyRules("MK_PROD_1", "monnify-secret-1")
        self.paystack_rules, self.monnify_rules = PaystackCollectionRules(paystack), MonnifyCollectionRules(monnify)
        self.paystack = Twin(paystack, self.paystack_rules)
        self.monnify = Twin(monnify, self.monnify_rules)

    def settings(self, card: str, collect: str) -> dict[str, str]:
        return {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": SECRET,
            "KASUWA_RAIL_LOOPBACK": "on",
            "KASUWA_RAIL_CARD": card,
            "KASUWA_RAIL_COLLECT": collect,
            "KASUWA_RAIL_EMAIL_DOMAIN": EMAIL_DOMAIN,
            "KASUWA_PAYSTACK_BASE_URL": self.paystack.url,
            "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1",
            "KASUWA_MONNIFY_BASE_URL": self.monnify.url,
            "KASUWA_MONNIFY_API_KEY": "MK_PROD_1",
            "KASUWA_MONNIFY_SECRET_KEY": "monnify-secret-1",
            "KASUWA_MONNIFY_WALLET_ACCOUNT": "8016472829",
            "KASUWA_MONNIFY_CONTRACT_CODE": self.monnify_rules.contract_code,
        }


class CollectionHarness:
    """The deployment as its merchant, its payers and its operator see it."""

    def __init__(self, deployment: Deployment, vendors: Vendors, settings: dict[str, str]) -> None:
        self.deployment = deployment
        self.vendors = vendors
        self.paystack, self.monnify = vendors.paystack_rules, vendors.monnify_rules
        self.shop, self.merchant_id = add_merchant(deployment)
        fund(deployment, settings, self.merchant_id)

    # --- the merchant --------------------------------------------------------------------------------------------

    def put(self, **fields: Any) -> Any:
        return self.shop.put("payment", **fields).body

    def begin_card(self, amount: str = "1500.00", **fields: Any) -> Any:
        return self.put(action="initiate", paymentType="card", amount=amount, **fields)

    def verify(self, txn_ref: str) -> Any:
        return self.put(action="verify", txnRef=txn_ref)

    def wait_for(self, txn_ref: str, status: str) -> Any:
        def look() -> Any:
            body = self.verify(txn_ref)
            return body if body.get("txnStatus") == status else None

        return wait_until(f"{txn_ref} is {status}", look)

    def refund(self, txn_ref: str, amount: str) -> Any:
        return self.put(action="refund", txnRef=txn_ref, amount=amount)

    def pay_card(self, amount: str = "1500.00", **fields: Any) -> Any:
        """Begins a payment, has its payer pay on the page, and returns its verification."""
        begun = self.begin_card(amount, **fields)
        self.call_back("paystack", self.paystack.pay(self.wire(begun["txnRef"])))
        return self.wait_for(begun["txnRef"], "successful")

    # --- the vendors ---------------------------------------------------------------------------------------------

    def wire(self, txn_ref: str) -> str:
        return wire_reference(rail_key(self.merchant_id, txn_ref))

    def call_back(self, vendor: str, event: SignedEvent) -> RawReply:
        body, headers = event
        with self.deployment.connect() as connection:
            reply = connection.send("POST", f"/rails/{vendor}", body, headers)
        assert reply.http == 200
        return reply

    def run_open_jobs(self) -> None:
        """Makes all jobs due, as if their time had come."""
        self.deployment.fetch("update scheduled_job set run_at = now() - interval '1 second' where run_at > now()")

    # --- the operator --------------------------------------------------------------------------------------------

    def notices(self) -> list[str]:
        return [row[0] for row in self.deployment.fetch("select message from operator_notice order by notice_id")]

    def balance(self, account: str) -> int:
        found = self.deployment.fetch(
            "select posted from account where merchant_id = $1 and name = $2", self.merchant_id, account
        )
        return int(found[0][0]) if found else 0

    def compare_books(self) -> None:
        """Compares what the vendors collected and paid back with the books, one to one."""
        took = {paid.reference: paid.paid for paid in self.paystack.payments.values() if paid.paid}
        took |= {paid.reference: to_minor(paid.paid) for paid in self.monnify.payments.values() if paid.paid}
        rows = self.deployment.fetch(
            """select p.reference, sum(p.amount)::bigint from posting p
               where p.merchant_id = $1 and p.debit like 'rail:%' group by 1""",
            self.merchant_id,
        )
        assert {self.wire(reference): amount for reference, amount in rows} == took
        gone = {refund.note: refund.amount for refund in self.paystack.refunds if refund.status == "processed"}
        assert len(gone) == sum(refund.status == "processed" for refund in self.paystack.refunds)
        gone |= {
            refund.reference: to_minor(refund.amount)
            for refund in self.monnify.refunds.values()
            if refund.status == "COMPLETED"
        }
        rows = self.deployment.fetch(
            """select p.reference, sum(p.amount)::bigint from posting p
               where p.merchant_id = $1 and p.credit like 'rail:%' group by 1""",
            self.merchant_id,
        )
        assert {self.wire(reference): amount for reference, amount in rows} == gone
        assert self.deployment.broken_invariants([self.shop.mid]) == []


def to_minor(amount: Decimal) -> int:
    return int(amount * 100)


@contextlib.contextmanager
def running_vendors() -> Iterator[Vendors]:
    vendors = Vendors()
    with TwinThread(vendors.paystack), TwinThread(vendors.monnify):
        yield vendors


@contextlib.contextmanager
def collecting(deployments: Deployments, name: str, card: str, collect: str) -> Iterator[CollectionHarness]:
    with running_vendors() as vendors:
        settings = vendors.settings(card, collect)
        with deployments.fresh(name, **settings) as deployment:
            harness = CollectionHarness(deployment, vendors, settings)
            with contextlib.closing(harness.shop.connection):
                yield harness
