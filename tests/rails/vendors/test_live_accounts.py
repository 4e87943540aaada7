"""Money that comes in by account, in live with the twins: opened, announced, missed, killed, disputed.

The twins keep what strangers paid; the books must have booked exactly that, once.
"""

import asyncio
import base64
import signal
import urllib.request
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from kasuwa.rails.inbox.inbox_table import InboxEntry
from tests.rails.live_merchant import fund
from tests.rails.vendors.live_accounts import BVN, AccountHarness, approve_return, book_at_once, running
from tests.rails.vendors.test_live import kill_service
from tests.running import Deployments, stop, terminated_with_us
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("live rails")

# An account of bank 058, whose transfers wait for an OTP at the twin.
OTP_ACCOUNT = "0123400403"


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


def test_repeat_under_one_idempotency_key_answers_the_account_once_it_is_open(harness: AccountHarness) -> None:
    rules = harness.twins.bank.accounts
    fields: dict[str, Any] = {"request": "personalized-accounts", "name": "Ada Obi", "reference": "repeated"}
    fields |= {"email": "ada@example.com", "bvn": BVN}

    def ask(**changes: str) -> Any:
        return harness.shop.put("resources", headers={"idempotency-key": "account-1"}, **{**fields, **changes}).body

    rules.holds_assignments = True
    assert [ask()["status"] for _ in range(2)] == [202, 202]
    assert "another request" in ask(reference="other")["message"]
    rules.holds_assignments = False
    assert harness.call_back("paystack", rules.assign(list(rules.customers)[-1])) == 200
    opened = wait_until("it is open", lambda: read_closed(ask()))
    assert (opened["data"]["reference"], ask()) == ("repeated", opened)


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
    with urllib.request.urlopen(request, timeout=120) as answer:
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
    [[sender]] = harness.deployment.fetch(
        "select detail ->> 'sender_name' from rail_inbox where detail ->> 'account_number' = '9900000009'"
    )
    assert sender == "", "nobody needs it before the money is booked"


def test_account_is_closed_at_its_bank_and_money_that_still_comes_is_in_suspense(harness: AccountHarness) -> None:
    number, rules = harness.wait_for_account("closed"), harness.twins.bank.accounts
    [account] = [customer.account for customer in rules.customers.values() if number_of(customer) == number]
    assert account is not None
    harness.twins.paystack.add_fault("lose", "/dedicated_account/", method="DELETE")
    pending = harness.close_account("closed")
    assert (pending["status"], pending["data"]["state"]) == (202, "closing")
    assert (harness.close_account("closed")["status"], account.is_active) == (202, False)
    harness.deployment.fetch("update scheduled_job set run_at = now() where kind = 'account.close'")
    closed = wait_until("it is closed", lambda: read_closed(harness.close_account("closed")))
    assert harness.close_account("closed") == closed
    assert harness.request_account("closed")["errors"][0]["field"] == "reference"
    events = [found["payload"] for found in harness.shop.put("resources", inquire="events").body["data"]]
    assert [found["account"] for found in events if found["kind"] == "account_closed"] == [number]
    harness.call_back("paystack", harness.twins.bank.accounts.pay_into(number, 12_300))
    query = "select posted from account where name = 'suspense:inbound:NGN'"
    wait_until("the money is in suspense", lambda: harness.deployment.fetch(query))
    assert harness.deployment.fetch(query)[0][0] == 12_300
    assert any("it is in suspense:inbound" in message for message in harness.notices())


def test_account_that_the_bank_does_not_close_stays_open(harness: AccountHarness) -> None:
    number = harness.wait_for_account("kept")
    harness.twins.bank.accounts.keeps_accounts = True
    refused = harness.close_account("kept")
    harness.twins.bank.accounts.keeps_accounts = False
    assert (refused["status"], "stays open" in refused["message"]) == (204, True)
    assert any(f"does not close account {number}" in message for message in harness.notices())
    harness.call_back("paystack", harness.twins.bank.accounts.pay_into(number, 1_700))
    harness.wait_for_booking(number, 1_700)
    assert harness.close_account("kept")["status"] == 200


def number_of(customer: Any) -> str:
    return "" if customer.account is None else str(customer.account.number)


def read_closed(reply: Any) -> Any:
    return reply if reply["status"] == 200 else None


def test_money_that_came_into_an_account_is_refunded_to_its_sender(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("refunded")
    harness.call_back("paystack", rules.pay_into(number, 640_000))
    harness.wait_for_booking(number, 640_000)
    [(txn_ref,)] = harness.deployment.fetch("select txn_ref from inbound_receipt where account_number = $1", number)
    asked: dict[str, Any] = {"action": "refund", "txnRef": txn_ref, "amount": "6000.00"}
    harness.twins.paystack.add_fault("lose", "/refund", method="POST")
    begun = harness.shop.put("payment", **asked).body
    assert begun.get("txnStatus") == "pending", begun
    collections = harness.twins.collections
    [refund] = [found for found in collections.refunds if found.reference == list(rules.payments)[-1]]
    assert refund.amount == 600_000
    harness.call_back("paystack", collections.end_refund(refund.id))
    harness.deployment.fetch("update scheduled_job set run_at = now() where reference = $1", begun["refundRef"])

    def look() -> bool:
        verified = harness.shop.put("payment", action="verify", txnRef=txn_ref).body
        return bool(verified["refunds"][0]["txnStatus"] == "successful")

    wait_until("it is refunded", look)
    assert len([found for found in collections.refunds if found.reference == refund.reference]) == 1


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


def test_money_in_suspense_is_returned_to_its_sender_by_its_rail(harness: AccountHarness) -> None:
    """The rail refunds it once, although its first answer is lost."""
    harness.twins.bank.accounts.pay_into("9900000011", 44_400)
    reference = list(harness.twins.bank.accounts.payments)[-1]
    entry = InboxEntry("paystack", "receipt", reference, 3, "")
    asyncio.run(book_at_once(harness, [entry], processes=1, suspense_mid=harness.shop.mid))
    harness.twins.paystack.add_fault("lose", "/refund", method="POST")
    asyncio.run(approve_return(harness, reference))
    state = "select state from suspense_decision where rail_reference = $1"
    refunds = harness.twins.collections.refunds
    wait_until("the rail has it", lambda: [refund for refund in refunds if refund.reference == reference])
    harness.twins.collections.end_refund(refunds[-1].id)

    def is_returned() -> bool:
        harness.deployment.fetch("update scheduled_job set run_at = now() where kind like 'payment.%return%'")
        return harness.deployment.fetch(state, reference) == [("returned",)]

    wait_until("it is returned", is_returned)
    assert [refund.amount for refund in refunds if refund.reference == reference] == [44_400]
    assert harness.deployment.broken_invariants([harness.shop.mid]) == []


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


def open_dispute(harness: AccountHarness, reference: str, amount: int) -> tuple[int, str]:
    """Has a payer dispute a payment. Returns the number of the dispute at the vendor, and ours."""
    rules, number = harness.twins.bank.accounts, harness.wait_for_account(reference)
    harness.call_back("paystack", rules.pay_into(number, amount))
    harness.wait_for_booking(number, amount)
    harness.call_back("paystack", rules.dispute(list(rules.payments)[-1], amount))
    opened = wait_until(
        "the dispute is open",
        lambda: harness.shop.put("payment", action="disputes", state="needs_response").body["data"],
    )
    return list(rules.disputes)[-1], str(opened[0]["dispute_id"])


def test_answers_of_the_merchant_are_handed_in_at_the_vendor(harness: AccountHarness) -> None:
    """Evidence with a file, after an answer of the vendor was lost; a dispute that is accepted; and evidence without a
    file, which the vendor does not take."""
    vendor = harness.twins.bank.accounts.dispute_answers
    number, dispute_id = open_dispute(harness, "evidence", 91_000)
    harness.twins.paystack.add_fault("lose", f"/dispute/{number}/resolve")
    content = base64.b64encode(b"%PDF-1.4 receipt").decode()
    evidence = {
        "explanation": "It was delivered.",
        "customer_name": "Ada Obi",
        "customer_email": "ada@example.com",
        "customer_phone": "+2348031234567",
        "files": [{"name": "receipt.pdf", "content": content}],
    }
    answered = harness.shop.put("payment", action="dispute_respond", dispute_id=dispute_id, evidence=evidence).body
    assert answered["data"]["state"] == "under_review"
    outcomes = "select outcome from dispute_hand_in where dispute_id = $1 and done_at is not null"
    wait_until("the vendor has it", lambda: len(vendor.answers) == 1)
    harness.deployment.fetch("update dispute_hand_in set due_at = now()")
    wait_until("it is known to have it", lambda: harness.deployment.fetch(outcomes, dispute_id))
    assert (len(vendor.answers), vendor.files[f"{number}-1.pdf"]) == (1, b"%PDF-1.4 receipt")
    harness.call_back("paystack", harness.twins.bank.accounts.resolve(number, "declined"))
    wait_until(
        "the dispute is won",
        lambda: harness.shop.put("payment", action="dispute", dispute_id=dispute_id).body["data"]["state"] == "won",
    )
    number, accepted = open_dispute(harness, "accepted", 92_000)
    harness.shop.put("payment", action="dispute_respond", dispute_id=accepted, accept=True)
    wait_until("the vendor has it", lambda: len(vendor.answers) == 2)
    assert (vendor.answers[1]["resolution"], vendor.answers[1]["refund_amount"]) == ("merchant-accepted", 92_000)
    number, by_hand = open_dispute(harness, "by-hand", 93_000)
    harness.shop.put("payment", action="dispute_respond", dispute_id=by_hand, evidence={"explanation": "x"})
    message = f"dispute {number} at paystack was not answered there (paystack takes no evidence without a file)"
    wait_until("the operator has a notice", lambda: any(message in text for text in harness.notices()))
    assert not any("hand it in for" in text or "accept it there" in text for text in harness.notices())
    assert len(vendor.answers) == 2


def test_a_dispute_that_is_announced_when_it_is_lost_is_opened_and_lost(harness: AccountHarness) -> None:
    rules, number = harness.twins.bank.accounts, harness.wait_for_account("dispute-lost")
    harness.call_back("paystack", rules.pay_into(number, 70_000))
    harness.wait_for_booking(number, 70_000)
    rules.dispute(list(rules.payments)[-1], 70_000)
    dispute_id = list(rules.disputes)[-1]
    before = harness.shop.put("payment", action="disputes").body["total"]
    for _ in range(2):
        harness.call_back("paystack", rules.resolve(dispute_id, "auto-accepted"))

    def lost() -> list[str]:
        found = harness.shop.put("payment", action="disputes", state="lost").body["data"]
        return [dispute["amount"] for dispute in found]

    wait_until("the dispute is lost", lambda: lost()[:1] == ["700.00"])
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


def test_client_is_verified_by_a_register_that_only_compares(harness: AccountHarness) -> None:
    person = {"firstname": "Adaeze", "lastname": "Okafor", "middlename": "Chioma", "bvn": BVN}
    refused = harness.shop.put("clients", action="create", verify_bvn=True, data={**person, "email": "a@b.co"}).body
    assert [error["field"] for error in refused["errors"]] == ["data.dob", "data.phone"]
    person |= {"dob": "1990-06-28", "phone": "08031234567"}
    made = harness.shop.put("clients", action="create", verify_bvn=True, data=person).body["data"]
    assert (made["bvn_verified"], made["bvn_verification"]["score"]) == (True, 100)
    looked_up = harness.shop.put("resources", inquire="bvn", bvn=BVN).body
    assert (looked_up["status"], "tells nothing" in looked_up["message"]) == (204, True)


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
