"""Money that comes in by account, in live with the twins: opened, announced, missed, killed, disputed.

The twins keep what strangers paid; the books must have booked exactly that, once.
"""

import asyncio
import base64
import contextlib
import signal
import urllib.request
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kasuwa.api_methods import DISPUTE_RULES, RECEIPT_RULES
from kasuwa.composition import Services
from kasuwa.db import connections
from kasuwa.db.rail_inbox import InboxEntry
from kasuwa.settings import read_settings
from kasuwa.twins.monnify import MonnifyRules
from kasuwa.twins.paystack import PaystackRules
from kasuwa.twins.server import Twin, TwinThread
from kasuwa.work.rail_inbox import InboxServices, RailInbox
from tests.merchant_client import MerchantClient
from tests.rails.live_merchant import fund
from tests.rails.vendors.test_live import kill_service
from tests.running import Deployment, Deployments, stop, terminated_with_us
from tests.work.event_log import wait_until

pytestmark = pytest.mark.xdist_group("live rails")

SECRET = base64.b64encode(bytes(range(32))).decode()
BVN = "22212345678"
# An account of bank 058, whose transfers wait for an OTP at the twin.
OTP_ACCOUNT = "0123400403"


class AccountHarness:
    """A live deployment, the twins behind it, and a merchant with money."""

    def __init__(self, deployment: Deployment, settings: dict[str, str], twins: "AccountTwins") -> None:
        self.deployment, self.settings, self.twins = deployment, settings, twins
        lines = deployment.run_command("merchant", "add", "Ada Stores").splitlines()
        mid, key = (line.split()[1] for line in lines)
        self.shop = MerchantClient(deployment.connect(), mid, key)
        [(self.merchant_id,)] = deployment.fetch("select merchant_id from merchant where mid = $1", mid)

    def request_account(self, reference: str, name: str = "Ada Obi") -> Any:
        fields: dict[str, Any] = {"name": name, "reference": reference, "email": "ada@example.com", "bvn": BVN}
        return self.shop.put("resources", request="personalized-accounts", **fields).body

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
        query = "select sum(amount)::bigint from posting where debit = 'rail:debit:NGN'"
        assert self.deployment.fetch(query)[0][0] == sum(row[0] for row in booked)
        assert self.deployment.broken_invariants([self.shop.mid]) == []


class AccountTwins:
    """Both vendors, and the rules that each plays by."""

    def __init__(self) -> None:
        self.bank, self.reserving = PaystackRules("sk_live_1"), MonnifyRules("MK_PROD_1")
        self.paystack, self.monnify = Twin(self.bank), Twin(self.reserving)

    def settings(self, accounts: str) -> dict[str, str]:
        return {
            "KASUWA_ENVIRONMENT": "live",
            "KASUWA_SECRET_KEY": SECRET,
            "KASUWA_RAIL_LOOPBACK": "on",
            "KASUWA_RAIL_BANK": "paystack",
            "KASUWA_RAIL_ACCOUNTS": accounts,
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


@pytest.fixture(scope="module")
def harness(deployments: Deployments) -> Iterator[AccountHarness]:
    with running(deployments, "live-accounts", "paystack") as harness:
        yield harness
        harness.compare_books()


# --- accounts --------------------------------------------------------------------------------------------------


def test_account_is_opened_by_the_rail_once_per_reference(harness: AccountHarness) -> None:
    first = harness.request_account("at-once")
    assert (first["status"], first["data"]["bankName"]) == (200, "Wema Bank")
    assert harness.request_account("at-once") == first
    numbers = [
        customer.account.number for customer in harness.twins.bank.accounts.customers.values() if customer.account
    ]
    assert numbers.count(first["data"]["accountNumber"]) == 1


def test_account_that_is_assigned_later_says_so_and_opens_by_its_call_back(harness: AccountHarness) -> None:
    rules = harness.twins.bank.accounts
    rules.holds_assignments = True
    pending = harness.request_account("later")
    rules.holds_assignments = False
    assert (pending["status"], "data" in pending) == (202, False)
    email = list(rules.customers)[-1]
    assert harness.call_back("paystack", rules.assign(email)) == 200
    number = harness.wait_for_account("later")
    account = rules.customers[email].account
    assert account is not None
    assert account.number == number


def test_lost_answer_to_the_opening_is_asked_after_and_one_account_is_opened(harness: AccountHarness) -> None:
    def count_opened() -> int:
        seen = [(request.method, request.path) for request in harness.twins.paystack.requests]
        return seen.count(("POST", "/dedicated_account"))

    before = count_opened()
    harness.twins.paystack.add_fault("lose", "/dedicated_account", method="POST")
    assert harness.request_account("lost")["status"] == 202
    number = harness.wait_for_account("lost")
    assert count_opened() == before + 1
    harness.call_back("paystack", harness.twins.bank.accounts.pay_into(number, 700))
    harness.wait_for_booking(number, 700)


def test_refused_account_is_answered_with_the_banks_words(harness: AccountHarness) -> None:
    refused = harness.request_account("refused", "Ada Refused")
    assert refused["status"] == 204
    assert "must be identified" in refused["message"]
    assert any("wants a customer's identity" in message for message in harness.notices())
    assert harness.request_account("refused")["status"] == 200


def test_bank_transfers_without_a_rail_invent_no_number(harness: AccountHarness) -> None:
    reply = harness.shop.put("payment", action="charge", paymentType="bank_transfer", amount="1000.00").body
    assert (reply["status"], "opens no accounts" in reply["message"]) == (204, True)


# --- money -----------------------------------------------------------------------------------------------------


def test_two_payments_are_booked_once_each_whatever_repeats(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("paid")
    wallet = harness.shop.wallet().balance
    first, second = rules.pay_into(number, 150_000), rules.pay_into(number, 1)
    body, headers = first
    assert harness.call_back("paystack", (body + b" ", headers)) == 401
    assert harness.call_back("paystack", (body, {"x-paystack-signature": "0" * 128})) == 401
    for event in (second, first, second, first):
        assert harness.call_back("paystack", event) == 200
    harness.wait_for_booking(number, 1, 150_000)
    for event in (first, second):
        assert harness.call_back("paystack", event) == 200
    harness.list_again()
    wait_until("the account is listed", lambda: is_listed(harness))
    assert harness.booked(number) == [1, 150_000]
    assert harness.shop.wallet().balance > wallet
    [event] = [
        found["payload"]
        for found in harness.shop.put("resources", inquire="events").body["data"]
        if found["payload"].get("account") == number and found["payload"]["chargedAmount"] == "1500.00"
    ]
    assert (event["txnStatus"], event["accountReference"]) == ("successful", "paid")


def is_listed(harness: AccountHarness) -> bool:
    query = "select count(*) from account_listing where listed_at is null or listed_at < now() - interval '1 hour'"
    return bool(harness.deployment.fetch(query)[0][0] == 0)


def test_payment_that_was_never_announced_is_found_by_the_daily_list(harness: AccountHarness) -> None:
    number = harness.wait_for_account("silent")
    harness.twins.bank.accounts.pay_into(number, 320_000)
    harness.list_again()
    harness.wait_for_booking(number, 320_000)
    harness.list_again()
    wait_until("the account is listed", lambda: is_listed(harness))
    assert harness.booked(number) == [320_000]


def test_person_who_tries_the_twin_can_pay_into_an_account(harness: AccountHarness) -> None:
    number = harness.wait_for_account("tried")
    url = f"http://127.0.0.1:{harness.deployment.port}/rails/paystack"
    asked = {"account_number": number, "amount": 2_222, "callback_url": url}
    request = urllib.request.Request(
        f"{harness.twins.paystack.url}/_twin/pay_into", msgspec.json.encode(asked), method="POST"
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert msgspec.json.decode(answer.read())["answer"] == 200
    harness.wait_for_booking(number, 2_222)


def test_the_rails_word_is_booked_and_not_the_call_backs(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("differs")
    rules.pay_into(number, 5_000)
    reference = list(rules.payments)[-1]
    lie = {"reference": reference, "channel": "dedicated_nuban", "amount": 999_900, "status": "success"}
    assert harness.call_back("paystack", rules.sign({"event": "charge.success", "data": lie})) == 200
    harness.wait_for_booking(number, 5_000)


def test_payment_that_is_still_pending_is_asked_after_until_it_ends(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("pending")
    event = rules.pay_into(number, 8_000)
    rules.payments[list(rules.payments)[-1]].status = "pending"
    harness.call_back("paystack", event)
    outcome = "select 1 from rail_inbox where outcome = 'in progress at the rail' and done_at is null"
    wait_until("the payment is asked after", lambda: harness.deployment.fetch(outcome))
    assert harness.booked(number) == []
    rules.payments[list(rules.payments)[-1]].status = "success"
    harness.retry_inbox()
    harness.wait_for_booking(number, 8_000)


def test_money_for_an_unknown_account_is_shown_and_booked_nowhere(harness: AccountHarness) -> None:
    harness.call_back("paystack", harness.twins.bank.accounts.pay_into("9900000009", 44_400))

    def look() -> Any:
        harness.retry_inbox()
        return harness.deployment.fetch("select 1 from rail_inbox where outcome = 'unclaimed'")

    wait_until("the money is unclaimed", look)
    assert any("NGN 444.00 came into account 9900000009" in message for message in harness.notices())
    assert "444.00  account 9900000009" in harness.deployment.run_command("reconcile", "unclaimed")
    assert harness.booked("9900000009") == []


def test_money_for_a_closed_account_is_in_suspense(harness: AccountHarness) -> None:
    number = harness.wait_for_account("closed")
    harness.deployment.fetch("update personalized_account set state = 'closed' where reference = 'closed'")
    harness.call_back("paystack", harness.twins.bank.accounts.pay_into(number, 12_300))
    query = "select posted from account where name = 'suspense:inbound:NGN'"
    wait_until("the money is in suspense", lambda: harness.deployment.fetch(query))
    assert harness.deployment.fetch(query)[0][0] == 12_300
    assert any("it is in suspense:inbound" in message for message in harness.notices())


def test_two_processes_book_the_same_receipts_once(harness: AccountHarness) -> None:
    number = harness.wait_for_account("raced")
    rules = harness.twins.bank.accounts
    for amount in range(1_000, 1_005):
        rules.pay_into(number, amount)
    entries = [InboxEntry("paystack", "receipt", reference, 1, "") for reference in list(rules.payments)[-5:]]
    asyncio.run(book_at_once(harness, entries, processes=2))
    assert harness.booked(number) == list(range(1_000, 1_005))


def test_money_for_nobody_known_goes_to_the_suspense_of_the_operators_merchant(harness: AccountHarness) -> None:
    harness.twins.bank.accounts.pay_into("9900000010", 33_300)
    entry = InboxEntry("paystack", "receipt", list(harness.twins.bank.accounts.payments)[-1], 3, "")
    query = "select coalesce(sum(posted), 0)::bigint from account where name = 'suspense:inbound:NGN'"
    before = harness.deployment.fetch(query)[0][0]
    for _ in range(2):
        asyncio.run(book_at_once(harness, [entry], processes=1, suspense_mid=harness.shop.mid))
    assert harness.deployment.fetch(query)[0][0] == before + 33_300
    assert any("NGN 333.00 came into account 9900000010" in message for message in harness.notices())


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


# --- disputes, settlements, transfers that wait --------------------------------------------------------------------


def test_dispute_is_a_notice_at_once_and_again_when_it_is_resolved(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("disputed")
    harness.call_back("paystack", rules.pay_into(number, 90_000))
    harness.wait_for_booking(number, 90_000)
    payment = list(rules.payments)[-1]
    event = rules.dispute(payment, 90_000)
    dispute_id = list(rules.disputes)[-1]
    for _ in range(2):
        assert harness.call_back("paystack", event) == 200

    def notices_of_dispute(text: str) -> list[str]:
        return [
            message
            for message in harness.notices()
            if f"dispute {dispute_id} of NGN 900.00" in message and text in message
        ]

    wait_until("the dispute has its notice", lambda: notices_of_dispute("answer it there by"))
    shown = harness.deployment.run_command("reconcile", "disputes")
    assert f"paystack {dispute_id}" in shown
    assert harness.shop.mid in shown
    [opened] = harness.shop.put("payment", action="disputes").body["data"]
    assert (opened["state"], opened["amount"]) == ("needs_response", "900.00")
    harness.call_back("paystack", rules.resolve(dispute_id, "merchant-accepted"))
    wait_until("its end has its notice", lambda: notices_of_dispute("merchant-accepted"))
    [ended] = harness.shop.put("payment", action="disputes").body["data"]
    assert (ended["dispute_id"], ended["state"]) == (opened["dispute_id"], "lost")
    harness.list_again()
    wait_until("the account is listed", lambda: is_listed(harness))
    assert (len(notices_of_dispute("answer it there by")), len(notices_of_dispute("merchant-accepted"))) == (1, 1)


def test_a_dispute_that_is_announced_when_it_is_lost_is_opened_and_lost(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("lost")
    harness.call_back("paystack", rules.pay_into(number, 70_000))
    harness.wait_for_booking(number, 70_000)
    rules.dispute(list(rules.payments)[-1], 70_000)
    dispute_id = list(rules.disputes)[-1]
    before = harness.shop.put("payment", action="disputes").body["total"]
    for _ in range(2):
        harness.call_back("paystack", rules.resolve(dispute_id, "auto-accepted"))
    wait_until(
        "the dispute is lost",
        lambda: harness.shop.put("payment", action="disputes", state="lost").body["data"][0]["amount"] == "700.00",
    )
    assert harness.shop.put("payment", action="disputes").body["total"] == before + 1
    assert harness.deployment.broken_invariants([harness.shop.mid]) == []


def test_disputes_and_settlements_that_nobody_announced_are_listed(harness: AccountHarness) -> None:
    rules = harness.twins.bank.accounts
    rules.dispute("somebody-elses", 100)
    rules.settle_payments()
    for _ in range(2):
        harness.list_again()
        wait_until("the settlement is listed", lambda: harness.deployment.fetch("select 1 from rail_settlement"))
    assert "paystack 3090024" in harness.deployment.run_command("reconcile", "settlements")
    dispute_id = list(rules.disputes)[-1]
    name = f"dispute {dispute_id} of"
    wait_until("the dispute has its notice", lambda: any(name in text for text in harness.notices()))
    assert len(harness.deployment.fetch("select 1 from rail_settlement")) == 1


def test_transfer_that_waits_for_an_otp_is_a_notice_at_once_and_stays_open(harness: AccountHarness) -> None:
    fund(harness.deployment, harness.settings, harness.merchant_id)
    order = "waits-for-an-otp"
    sent = harness.shop.transfer(bankcode="058", accountnumber=OTP_ACCOUNT, orderRef=order)
    assert sent["txnStatus"] in ("pending", "processing")
    waiting = [message for message in harness.notices() if "paystack wants an OTP" in message]
    assert len(waiting) == 1
    assert "finish the transfer there" in waiting[0]
    harness.deployment.fetch("update scheduled_job set run_at = now() where kind = 'disburse.ask'")
    [paid] = [paid for paid in harness.twins.bank.transfers.values() if paid.account_number == OTP_ACCOUNT]
    wait_until("the vendor is asked", lambda: paid.queries)
    assert harness.shop.put("disburse", action="verify", txnRef=order).body["txnStatus"] in ("pending", "processing")
    assert len([message for message in harness.notices() if "paystack wants an OTP" in message]) == 1
    body, headers = harness.twins.bank.settle(paid.reference, "success")
    assert harness.call_back("paystack", (body, headers)) == 200
    wait_until(
        "the transfer ends",
        lambda: harness.shop.put("disburse", action="verify", txnRef=order).body["txnStatus"] == "successful",
    )


def test_no_secret_or_bvn_is_logged(harness: AccountHarness) -> None:
    harness.request_account("logged")
    text = harness.deployment.out.read_text() + harness.deployment.err.read_text()
    for secret in ("sk_live_1", "secret-1", BVN):
        assert secret not in text


# --- every process dies ----------------------------------------------------------------------------------------


def test_kill_between_the_fetch_and_the_booking(deployments: Deployments) -> None:
    """The vendor tells of the payment, and every process dies before it is booked."""
    with running(deployments, "live-accounts-kill", "monnify") as harness:
        rules, number = harness.twins.reserving.accounts, harness.wait_for_account("killed")
        event = rules.pay_into(number, Decimal("2500.50"))
        harness.twins.monnify.add_fault("hang", "/api/v2/transactions")
        assert harness.call_back("monnify", event) == 200
        path = "/api/v2/transactions/" + next(iter(rules.payments))
        wait_until("the vendor is asked", lambda: harness.twins.monnify.count(path))
        kill_service(harness.deployment)
        assert harness.booked(number) == []
        harness.retry_inbox()
        process = harness.deployment.start()
        try:
            with terminated_with_us(process.pid, signal.SIGTERM):
                harness.deployment.wait_ready(process)
                harness.wait_for_booking(number, 250_050)
                assert harness.call_back("monnify", event) == 200
                assert harness.call_back("monnify", rules.settle_payments("STL-1")) == 200
                query = "select amount, fees from rail_settlement where settlement_id = 'STL-1'"
                wait_until("the settlement is recorded", lambda: harness.deployment.fetch(query))
                assert [tuple(row) for row in harness.deployment.fetch(query)] == [(249_050, 1_000)]
                harness.compare_books()
        finally:
            stop(process)
