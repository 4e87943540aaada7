"""A live deployment that opens accounts at Paystack or Monnify, each played by its twin, and a merchant of it."""

import asyncio
import base64
import contextlib
from collections.abc import Iterator
from functools import partial
from typing import Any

from kasuwa.boot.composition import Services
from kasuwa.console.operator import suspense
from kasuwa.console.operator.manual_posting import ProposedPosting, Verdict, decide_verdict, need_verdict
from kasuwa.core.decision import AuditEntry
from kasuwa.engine.rule_submission import submit_rule
from kasuwa.methods.tables import DISPUTE_RULES, RECEIPT_RULES
from kasuwa.postgres import connections
from kasuwa.rails.inbox.inbox_table import InboxEntry
from kasuwa.rails.inbox.processing import InboxServices, RailInbox
from kasuwa.rails.twins.monnify import MonnifyRules
from kasuwa.rails.twins.paystack import PaystackRules
from kasuwa.rails.twins.paystack_collection import PaystackCollectionRules
from kasuwa.rails.twins.server import Twin, TwinThread
from kasuwa.settings.settings import read_settings
from tests.merchant_client import MerchantClient
from tests.running import Deployment, Deployments
from tests.webhooks.event_log import wait_until

SECRET = base64.b64encode(bytes(range(32))).decode()
BVN = "22212345678"


class AccountHarness:
    """A live deployment, the twins behind it, and a merchant with money."""

    def __init__(self, deployment: Deployment, settings: dict[str, str], twins: "AccountTwins") -> None:
        self.deployment, self.settings, self.twins = deployment, settings, twins
        lines = deployment.run_command("merchant", "add", "Ada Stores").splitlines()
        mid, key, _ = (line.split()[1] for line in lines)
        self.shop = MerchantClient(deployment.connect(), mid, key)
        [(self.merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1", mid)

    def request_account(self, reference: str, name: str = "Ada Obi") -> Any:
        fields: dict[str, Any] = {"name": name, "reference": reference, "email": "ada@example.com", "bvn": BVN}
        return self.shop.put("resources", request="personalized-accounts", **fields).body

    def close_account(self, reference: str) -> Any:
        return self.shop.put("resources", request="close_personalized_account", reference=reference).body

    def wait_for_account(self, reference: str) -> str:
        def look() -> Any:
            return self.request_account(reference).get("data")

        found = wait_until(f"{reference} is open", look)
        return str(found["accountNumber"])

    def call_back(self, rail: str, event: tuple[bytes, dict[str, str]]) -> int:
        body, headers = event
        with self.deployment.connect() as wire:
            return int(wire.send("POST", f"/rails/{rail}", body, headers).http)

    def booked(self, number: str) -> list[int]:
        """Returns the amounts of the payments that were booked for an account, oldest first."""
        query = """
            select t.amount from inbound_receipt r
            join transaction t on t.merchant_id = r.merchant_id and t.txn_ref = r.txn_ref
            where r.account_number = $1 order by t.amount
        """
        return [row[0] for row in self.deployment.fetch(query, number)]

    def wait_for_booking(self, number: str, *amounts: int) -> None:
        wait_until(f"{amounts} are booked", lambda: self.booked(number) == sorted(amounts))

    def notices(self) -> list[str]:
        return [row[0] for row in self.deployment.fetch("select message from operator_notice order by notice_id")]

    def retry_inbox(self) -> None:
        """Makes what waits in the inbox due now."""
        self.deployment.fetch("update rail_inbox set due_at = now() where done_at is null")

    def list_again(self) -> None:
        """Makes the daily lists due now."""
        self.deployment.fetch("update account_listing set listed_at = '2000-01-01', leased_until = '2000-01-01'")
        self.deployment.fetch("update rail_listing set listed_at = '2000-01-01', leased_until = '2000-01-01'")

    def compare_books(self) -> None:
        """Compares what the twins received with what was booked, one to one."""
        paid = [
            *(payment.amount for payment in self.twins.bank.accounts.payments.values() if payment.status == "success"),
            *(int(payment.amount * 100) for payment in self.twins.reserving.accounts.payments.values()),
        ]
        booked = self.deployment.fetch("select amount from inbound_receipt")
        unclaimed = self.deployment.fetch(
            "select (detail ->> 'amount')::bigint from rail_inbox where outcome = 'unclaimed'"
        )
        assert sorted(row[0] for row in (*booked, *unclaimed)) == sorted(paid)
        query = "select sum(amount)::bigint from posting where debit = 'rail:debit:NGN' and kind <> 'dispute'"
        assert self.deployment.fetch(query)[0][0] == sum(row[0] for row in booked)
        assert self.deployment.broken_invariants([self.shop.mid]) == []


class AccountTwins:
    """Both vendors, and the rules that each plays by."""

    def __init__(self) -> None:
        self.bank, self.reserving = PaystackRules("sk_live_1"), MonnifyRules("MK_PROD_1")
        self.collections = PaystackCollectionRules(self.bank)
        self.paystack, self.monnify = Twin(self.bank, self.collections), Twin(self.reserving)

    def settings(self, accounts: str) -> dict[str, str]:
        return {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_CONSOLE": "off",
            "KASUWA_SECRET_KEY": SECRET,
            "KASUWA_RAIL_LOOPBACK": "on",
            "KASUWA_RAIL_BANK": "paystack",
            "KASUWA_RAIL_ACCOUNTS": accounts,
            "KASUWA_RAIL_IDENTITY": "monnify",
            "KASUWA_PAYSTACK_BASE_URL": self.paystack.url,
            "KASUWA_PAYSTACK_SECRET_KEY": "sk_live_1",
            "KASUWA_PAYSTACK_PHONE": "08031234567",
            "KASUWA_RAIL_EMAIL_DOMAIN": "pay.example.com",
            "KASUWA_MONNIFY_BASE_URL": self.monnify.url,
            "KASUWA_MONNIFY_API_KEY": "MK_PROD_1",
            "KASUWA_MONNIFY_SECRET_KEY": "secret-1",
            "KASUWA_MONNIFY_CONTRACT_CODE": "4934121686",
        }


@contextlib.contextmanager
def running(deployments: Deployments, name: str, accounts: str) -> Iterator[AccountHarness]:
    twins = AccountTwins()
    with TwinThread(twins.paystack), TwinThread(twins.monnify):
        settings = twins.settings(accounts)
        with deployments.fresh(name, **settings) as deployment:
            harness = AccountHarness(deployment, settings, twins)
            with contextlib.closing(harness.shop.connection):
                yield harness


async def approve_return(harness: AccountHarness, reference: str) -> None:
    """Writes the verdict of two operators that money in suspense is returned. The worker then has its rail do it."""
    services = await Services.build(read_settings(harness.settings), harness.deployment.dsn)
    services.writer.start()
    try:
        merchant = await services.merchant_directory.get_by_id(harness.merchant_id)
        read = await suspense.read(services.reader, suspense.RETURN, reference, "")
        assert isinstance(read, ProposedPosting), read
        verdict = Verdict(1_000_000, "approved", 1, read, AuditEntry("operator", "approved", "approval"))
        decide = partial(decide_verdict, verdict)
        await submit_rule(services.writer, merchant, need_verdict(verdict, merchant), decide)
    finally:
        await services.close()


async def book_at_once(
    harness: AccountHarness, entries: list[InboxEntry], *, processes: int, suspense_mid: str | None = None
) -> None:
    """Books the same entries in the services of several processes at once."""
    settings = read_settings(harness.settings)
    built = [await Services.build(settings, harness.deployment.dsn) for _ in range(processes)]
    pool = await connections.open_rail_pool(harness.deployment.dsn)
    inboxes = []
    for services in built:
        services.writer.start()
        used = InboxServices(
            pool=pool,
            writer=services.writer,
            directory=services.merchant_directory,
            vault=services.vault,
            accounts=services.rails.accounts,
            feeds={},
            receipt_rules=RECEIPT_RULES,
            dispute_rules=DISPUTE_RULES,
            suspense_mid=suspense_mid,
        )
        inboxes.append(RailInbox(used))
    try:
        await asyncio.gather(*(inbox._record(entry) for entry in entries for inbox in inboxes))
    finally:
        for services in built:
            await services.close()
        await pool.close()
