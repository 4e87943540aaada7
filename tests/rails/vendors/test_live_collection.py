"""The service in live, collecting cards at Paystack and other payments at Monnify, each played by its twin.

What the twins collected and paid back and what the books say are compared one to one.
"""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.merchant_client import without_codes
from tests.methods.checkout.payer import Payer
from tests.rails.vendors.live_collection import CollectionHarness, collecting, to_minor
from tests.running import Deployments
from tests.webhooks.event_log import wait_until

# One deployment serves all of them.
pytestmark = pytest.mark.xdist_group("live collection")

CARD = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "40", "ccv": "100"}


@pytest.fixture(scope="module")
def harness(deployments: Deployments) -> Iterator[CollectionHarness]:
    with collecting(deployments, "live-collection", "paystack", "monnify") as harness:
        yield harness
        harness.compare_books()


def fields_of(reply: Any) -> list[str]:
    return [error["field"] for error in reply["errors"]]


# --- cards on the vendor's page ------------------------------------------------------------------------------------


def test_card_is_paid_on_the_page_and_a_call_back_ends_it(harness: CollectionHarness) -> None:
    begun = harness.begin_card(
        user={"firstname": "Ada", "email": "ada@example.com"}, redirect_url="https://shop.example"
    )
    assert (begun["status"], begun["authURL"].startswith("https://checkout.paystack.com/pay/")) == (202, True)
    again = harness.put(action="charge", paymentType="card", txnRef=begun["txnRef"])
    assert again["authURL"] == begun["authURL"]
    assert harness.verify(begun["txnRef"])["authURL"] == begun["authURL"]
    event = harness.paystack.pay(harness.wire(begun["txnRef"]))
    with harness.deployment.connect() as connection:
        assert connection.send("POST", "/rails/paystack", event[0] + b" ", event[1]).http == 401
        assert connection.send("POST", "/rails/paystack", event[0]).http == 401
    for _ in range(2):
        harness.call_back("paystack", event)
    paid = harness.wait_for(begun["txnRef"], "successful")
    assert (paid["chargedAmount"], paid["card"]["mask"]) == (1500, "408408******4081")
    assert paid["cardToken"]
    harness.call_back("paystack", event)
    assert harness.notices() == []


def test_card_numbers_are_refused(harness: CollectionHarness) -> None:
    before = len(harness.vendors.paystack.requests)
    refused = harness.begin_card(card=CARD)
    assert refused["status"] == 104
    assert without_codes(refused["errors"]) == [
        {"field": "card", "reason": "left out: the customer enters the card on the page that authURL names"}
    ]
    assert fields_of(harness.begin_card("x", card=CARD)) == ["amount"]
    assert len(harness.vendors.paystack.requests) == before


def test_saved_card_is_charged_by_its_token_with_the_address_it_was_made_with(harness: CollectionHarness) -> None:
    token = harness.pay_card(user={"email": "first@example.com"})["cardToken"]
    charged = harness.put(
        action="charge", paymentType="token", token=token, amount="700.00", user={"email": "second@example.com"}
    )
    assert (charged["txnStatus"], charged["chargedAmount"]) == ("successful", "700.00")
    assert harness.paystack.payments[harness.wire(charged["txnRef"])].email == "first@example.com"
    harness.paystack.token_status = "failed"
    declined = harness.put(action="charge", paymentType="token", token=token, amount="700.00")
    harness.paystack.token_status = "success"
    assert (declined["txnStatus"], declined["bank_message"]) == ("failed", "Insufficient Funds")


def test_fee_is_that_of_the_card_that_paid(harness: CollectionHarness) -> None:
    harness.paystack.card_country = "US"
    before = harness.shop.wallet().balance
    paid = harness.pay_card("10000.00")
    harness.paystack.card_country = "NG"
    local = harness.shop.put("resources", inquire="charges", amount="10000.00", type="card").body["data"]
    [(fee, vat)] = harness.deployment.fetch(
        "select fee, vat from transaction where merchant_id = $1 and txn_ref = $2", harness.merchant_id, paid["txnRef"]
    )
    assert (paid["card"]["country"], fee > to_minor(Decimal(local["fee"]))) == ("US", True)
    assert harness.shop.wallet().balance == before + 10_000_00 - fee - vat


def test_saved_card_is_deactivated_at_its_vendor_when_its_payer_is_erased(harness: CollectionHarness) -> None:
    email = "erased@example.com"
    made = harness.shop.put("resources", request="customer", name="Ada Obi", email=email).body["data"]
    token = harness.pay_card(user={"email": email})["cardToken"]
    [code] = [code for code, address in harness.paystack.saved_cards.items() if address == email]
    harness.vendors.paystack.add_fault("lose", "/customer/authorization/deactivate")
    harness.deployment.run_command("customer", "erase", harness.shop.mid, made["customer_id"], "--yes")
    jobs = "select count(*) from scheduled_job where kind = 'payment.forget_card'"
    asked = "/customer/authorization/deactivate"
    wait_until("the vendor is asked", lambda: harness.vendors.paystack.count(asked))
    assert code not in harness.paystack.saved_cards  # it was done, and its answer lost
    harness.run_open_jobs()
    wait_until("the vendor has answered", lambda: harness.deployment.fetch(jobs) == [(0,)])
    refused = harness.put(action="charge", paymentType="token", token=token, amount="700.00")
    assert fields_of(refused) == ["token"]


def test_lost_charge_of_a_saved_card_is_charged_once(harness: CollectionHarness) -> None:
    token = harness.pay_card()["cardToken"]
    before = len(harness.paystack.payments)
    harness.vendors.paystack.add_fault("lose", "/transaction/charge_authorization")
    charged = harness.put(action="charge", paymentType="token", token=token, amount="800.00")
    assert charged["txnStatus"] == "pending"
    harness.run_open_jobs()
    harness.wait_for(charged["txnRef"], "successful")
    assert len(harness.paystack.payments) == before + 1


def test_page_whose_address_was_lost_fails_and_a_new_payment_begins(harness: CollectionHarness) -> None:
    harness.vendors.paystack.add_fault("lose", "/transaction/initialize")
    begun = harness.begin_card("1600.00")
    assert begun["txnStatus"] == "pending"
    harness.run_open_jobs()
    lost = harness.wait_for(begun["txnRef"], "failed")
    assert "page could not be opened" in lost["message"]
    assert harness.pay_card("1600.00")["txnStatus"] == "successful"


def test_payer_comes_back_to_a_page_of_ours_that_leads_to_the_merchant(harness: CollectionHarness) -> None:
    begun = harness.begin_card(redirect_url="https://shop.example/done")
    callback = harness.paystack.payments[harness.wire(begun["txnRef"])].callback_url
    path = "/pay/" + callback.partition("/pay/")[2]
    with harness.deployment.connect() as connection:
        waiting = connection.send("GET", f"{path}?trxref=1&reference=1")
        assert waiting.http == 200
        assert b"Your payment is being confirmed" in waiting.raw
        harness.call_back("paystack", harness.paystack.pay(harness.wire(begun["txnRef"])))
        harness.wait_for(begun["txnRef"], "successful")
        done = connection.send("GET", path)
    assert done.http == 303
    assert done.headers["location"] == f"https://shop.example/done?txnRef={begun['txnRef']}&txnStatus=successful"


def test_checkout_in_live_takes_no_card_number_and_is_paid_once(harness: CollectionHarness) -> None:
    """The payer goes to the vendor's page, changes to a transfer, and pays both: the first is returned."""
    checkout = harness.put(action="checkout", amount="1900.00", user={"email": "ada@example.com"})
    payer = Payer(harness.shop, checkout["checkoutURL"], harness.deployment.port)
    payer.open()
    assert "secure page of our payment provider" in payer.html
    assert 'id="number"' not in payer.html
    # Inside a shop's page the payer stays on the page, which has a link to the vendor's for a window of its own.
    stays = payer.post({**payer.hidden("pay"), "framed": "yes"})
    assert stays.headers["location"] == payer.path
    payer.open()
    assert re.search(r'<a class="button" data-outside href="https://checkout\.paystack\.com/pay/', payer.html)
    payer.send("abandon")
    payer.open()
    assert payer.send("pay").headers["location"].startswith("https://checkout.paystack.com/pay/")
    first = harness.verify(checkout["txnRef"])["checkout"]["attemptRef"]
    payer.open()
    payer.send("abandon")
    assert harness.verify(first)["txnStatus"] == "failed"
    payer.open("/bank_transfer")
    payer.send("pay")
    second = harness.verify(checkout["txnRef"])["checkout"]["attemptRef"]
    assert harness.monnify.payments[harness.wire(second)].account_number in payer.html
    harness.call_back("paystack", harness.paystack.pay(harness.wire(first)))
    wait_until("it is sent back", lambda: harness.paystack.payments[harness.wire(first)].refunded == 1900_00)
    harness.call_back("monnify", harness.monnify.pay(harness.wire(second)))
    paid = harness.wait_for(checkout["txnRef"], "successful")
    assert (paid["checkout"]["paymentRef"], paid["checkout"]["attempts"]) == (second, 3)
    [refund] = [refund for refund in harness.paystack.refunds if refund.reference == harness.wire(first)]
    harness.call_back("paystack", harness.paystack.end_refund(refund.id))
    wait_until("it is returned", lambda: harness.balance("unapplied:main:NGN") == 0)
    payer.close()


# --- other payments ------------------------------------------------------------------------------------------------


def test_one_time_account_is_paid(harness: CollectionHarness) -> None:
    shown = harness.put(action="charge", paymentType="bank_transfer", amount="2500.00")
    account = harness.monnify.payments[harness.wire(shown["txnRef"])].account_number
    assert (shown["accountNumber"], shown["bankName"], shown["amount"]) == (account, "Wema bank", "2500.00")
    rejected = harness.monnify.pay(harness.wire(shown["txnRef"]), Decimal("2499.00"))
    for _ in range(2):
        harness.call_back("monnify", rejected)
    verified = harness.verify(shown["txnRef"])
    assert (verified["accountNumber"], verified["txnStatus"]) == (account, "pending")
    [line] = verified["rejections"]
    assert (line["amount"], line["reason"]) == ("2499.00", "UNDER_PAYMENT")
    found = [event["payload"] for event in harness.shop.put("resources", inquire="events").body["data"]]
    [event] = [payload for payload in found if payload.get("paymentRef") == shown["txnRef"]]
    assert (event["kind"], event["expectedAmount"], event["rejectedAmount"]) == (
        "payment_rejected",
        "2500.00",
        "2499.00",
    )
    event = harness.monnify.pay(harness.wire(shown["txnRef"]))
    for _ in range(2):
        harness.call_back("monnify", event)
    harness.wait_for(shown["txnRef"], "successful")


def test_lost_answers_of_a_one_time_account_lead_to_one_account(harness: CollectionHarness) -> None:
    harness.vendors.monnify.add_fault("lose", "/api/v1/merchant/bank-transfer/init-payment")
    begun = harness.put(action="charge", paymentType="bank_transfer", amount="2600.00")
    assert begun["txnStatus"] == "pending"
    harness.run_open_jobs()
    shown = wait_until("the account is shown", lambda: harness.verify(begun["txnRef"]).get("accountNumber"))
    assert shown == harness.monnify.payments[harness.wire(begun["txnRef"])].account_number
    harness.call_back("monnify", harness.monnify.pay(harness.wire(begun["txnRef"])))
    harness.wait_for(begun["txnRef"], "successful")


def test_too_much_is_booked_and_returned(harness: CollectionHarness) -> None:
    shown = harness.put(action="charge", paymentType="bank_transfer", amount="3000.00")
    before = len(harness.monnify.refunds)
    harness.call_back("monnify", harness.monnify.pay(harness.wire(shown["txnRef"]), Decimal("3250.00")))
    harness.wait_for(shown["txnRef"], "successful")
    wait_until("the excess is sent back", lambda: len(harness.monnify.refunds) > before)
    reference, refund = list(harness.monnify.refunds.items())[-1]
    assert refund.amount == Decimal("250.00")
    assert harness.balance("unapplied:main:NGN") == 250_00
    harness.call_back("monnify", harness.monnify.end_refund(reference))
    wait_until("the excess is returned", lambda: harness.balance("unapplied:main:NGN") == 0)
    [line] = harness.verify(shown["txnRef"])["refunds"]
    assert (line["txnStatus"], line["amount"], line["comment"]) == (
        "successful",
        "250.00",
        "Paid more than was asked for",
    )


def test_phone_payment_is_paid_on_the_vendors_page(harness: CollectionHarness) -> None:
    begun = harness.put(action="charge", paymentType="phone", amount="1900.00", phonenumber="08031234567")
    assert (begun["status"], begun["authURL"].startswith("http")) == (202, True)
    harness.call_back("monnify", harness.monnify.pay(harness.wire(begun["txnRef"])))
    harness.wait_for(begun["txnRef"], "successful")


def test_methods_and_amounts_that_the_vendor_does_not_serve_are_refused(harness: CollectionHarness) -> None:
    before = len(harness.vendors.monnify.requests)
    refused = harness.put(action="charge", paymentType="qrpay", amount="1000.00")
    assert without_codes(refused["errors"]) == [
        {"field": "paymentType", "reason": "another one: qrpay is not served here"}
    ]
    account = {"accountnumber": "0123456785", "bankcode": "058"}
    refused = harness.put(action="charge", paymentType="account", amount="1000.00", account=account)
    assert fields_of(refused) == ["paymentType"]
    refused = harness.put(action="charge", paymentType="ussd", amount="10.00", bank="gtb")
    assert fields_of(refused)[0] == "amount"
    assert len(harness.vendors.monnify.requests) == before


# --- refunds -------------------------------------------------------------------------------------------------------


def test_refunds_in_part_and_whole_are_paid_once_each(harness: CollectionHarness) -> None:
    paid = harness.pay_card("2000.00")
    first = harness.refund(paid["txnRef"], "500.00")
    assert first["txnStatus"] == "pending"
    harness.vendors.paystack.add_fault("lose", "/refund", method="POST")
    second = harness.refund(paid["txnRef"], "1500.00")
    assert second["txnStatus"] == "pending"
    refunds = {refund.note: refund for refund in harness.paystack.refunds}
    for reply in (first, second):
        refund = refunds[harness.wire(reply["refundRef"])]
        harness.call_back("paystack", harness.paystack.end_refund(refund.id))
        wait_for_refund(harness, reply["refundRef"])
    assert harness.paystack.payments[harness.wire(paid["txnRef"])].refunded == 2000_00
    # The vendor repeats the payment's call-back, and now calls the payment reversed.
    notices = harness.notices()
    event = harness.paystack.access.sign(
        {
            "event": "charge.success",
            "data": harness.paystack.describe(harness.paystack.payments[harness.wire(paid["txnRef"])]),
        }
    )
    for _ in range(2):
        harness.call_back("paystack", event)
    assert harness.notices() == notices
    assert harness.refund(paid["txnRef"], "1.00")["status"] == 104


def wait_for_refund(harness: CollectionHarness, refund_ref: str) -> None:
    wait_until("it is refunded", lambda: refund_status(harness, refund_ref) == "successful")


def refund_status(harness: CollectionHarness, refund_ref: str) -> str:
    return str(harness.put(action="verify", refundRef=refund_ref)["txnStatus"])


def test_refund_that_the_vendor_fails_gives_the_wallet_its_money_back(harness: CollectionHarness) -> None:
    shown = harness.put(action="charge", paymentType="bank_transfer", amount="2700.00")
    harness.call_back("monnify", harness.monnify.pay(harness.wire(shown["txnRef"])))
    harness.wait_for(shown["txnRef"], "successful")
    before = harness.shop.wallet().available
    refund = harness.refund(shown["txnRef"], "2700.00")
    assert harness.shop.wallet().available == before - 2700_00
    harness.call_back("monnify", harness.monnify.end_refund(harness.wire(refund["refundRef"]), "FAILED"))
    wait_until("it has failed", lambda: refund_status(harness, refund["refundRef"]) == "failed")
    assert harness.shop.wallet().available == before


# --- money that comes late -----------------------------------------------------------------------------------------


def test_payer_who_pays_after_a_decline_gets_the_money_back(harness: CollectionHarness) -> None:
    begun = harness.begin_card("1700.00")
    reference = harness.wire(begun["txnRef"])
    harness.paystack.decline(reference)
    harness.run_open_jobs()
    failed = harness.wait_for(begun["txnRef"], "failed")
    assert "Insufficient Funds" in failed["message"]
    event = harness.paystack.pay(reference)
    for _ in range(2):
        harness.call_back("paystack", event)
    wait_until("it is sent back", lambda: harness.paystack.payments[reference].refunded == 1700_00)
    assert harness.balance("unapplied:main:NGN") == 1700_00
    [refund] = [refund for refund in harness.paystack.refunds if refund.reference == reference]
    harness.call_back("paystack", harness.paystack.end_refund(refund.id))
    wait_until("it is returned", lambda: harness.balance("unapplied:main:NGN") == 0)
    assert harness.verify(begun["txnRef"])["txnStatus"] == "failed"
    [line] = harness.verify(begun["txnRef"])["refunds"]
    assert (line["txnStatus"], line["comment"]) == ("successful", "Paid after the payment had failed")
    assert "its payer paid after it had failed; it is returned" in harness.notices()


def test_payment_that_expires_while_its_payer_pays_is_returned(harness: CollectionHarness) -> None:
    shown = harness.put(action="charge", paymentType="bank_transfer", amount="1800.00")
    reference = harness.wire(shown["txnRef"])
    expire(harness, shown["txnRef"])
    failed = harness.wait_for(shown["txnRef"], "failed")
    assert "did not complete the payment in time" in failed["message"]
    harness.monnify.pay(reference)  # and its call-back is lost
    watch = "select count(*) from scheduled_job where kind = 'payment.watch' and reference = $1"
    assert harness.deployment.fetch(watch, shown["txnRef"]) == [(1,)]
    harness.deployment.fetch(
        "update scheduled_job set run_at = now() where kind = 'payment.watch' and reference = $1", shown["txnRef"]
    )
    wait_until("it is sent back", lambda: harness.monnify.payments[reference].refunded == Decimal("1800.00"))
    [refund] = [ref for ref, refund in harness.monnify.refunds.items() if refund.amount == Decimal("1800.00")]
    harness.monnify.end_refund(refund)
    harness.run_open_jobs()
    wait_until("it is returned", lambda: harness.balance("unapplied:main:NGN") == 0)


def expire(harness: CollectionHarness, txn_ref: str) -> None:
    """Ends the payer's time: ten minutes later, were it not for this."""
    harness.deployment.fetch(
        "update payment set expires_at = now() where merchant_id = $1 and txn_ref = $2", harness.merchant_id, txn_ref
    )
    # Whoever has the row in memory reads it again.
    harness.deployment.fetch(
        "update merchant_state set version = version + 1 where merchant_id = $1", harness.merchant_id
    )
    harness.deployment.fetch("update scheduled_job set run_at = now() where reference = $1", txn_ref)


# --- the operator --------------------------------------------------------------------------------------------------


def test_doctor_speaks_to_the_vendors(harness: CollectionHarness) -> None:
    output = harness.deployment._run(("doctor",)).stdout
    assert "paystack answers" in output
    assert "monnify answers" in output


def test_no_secret_is_logged_or_stored_in_clear(harness: CollectionHarness) -> None:
    harness.pay_card()
    token = list(harness.paystack.saved_cards)[-1]
    text = harness.deployment.out.read_text() + harness.deployment.err.read_text()
    for secret in ("sk_live_1", "MK_PROD_1", "monnify-secret-1", token):
        assert secret not in text
    for table in ("payment", "saved_card", "transaction", "scheduled_job", "event"):
        found = harness.deployment.fetch(f"select count(*) from {table} r where r::text like '%' || $1 || '%'", token)
        assert found == [(0,)], table


def test_rail_that_is_away_answers_at_once_and_nothing_is_kept(harness: CollectionHarness) -> None:
    # The last test: the vendor is left alone for the seconds that it asks for.
    harness.vendors.paystack.add_fault("too_many", "/transaction/initialize")
    refused = harness.begin_card()
    assert (refused["status"], "nothing was charged" in refused["message"]) == (204, True)
