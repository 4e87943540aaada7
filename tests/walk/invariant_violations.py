"""Violations of each invariant of the books: the words that an invariant begins with, and statements that break it for
a merchant with the history of `make_history`. `$1` is the merchant.
"""

from typing import Any

from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN
from tests.methods.investments import savers
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import VISA_OK, PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.running import Deployment

NOW = "2026-01-30T08:00:00+01:00"
DAILY: dict[str, Any] = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}
METER: dict[str, Any] = {"paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678", "amount": "5000.00"}
ADA = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}

VIOLATIONS: dict[str, tuple[str, ...]] = {
    # --- the journal
    "a posting moves money between two accounts": (
        "update posting set credit = debit where merchant_id = $1 and seq = 1",
        "update posting set credit = 'wallet:main:USD' where merchant_id = $1 and credit = 'wallet:main:NGN'",
    ),
    "all balances of a merchant sum to zero": (
        "update account set posted = posted + 1 where merchant_id = $1 and name = 'wallet:main:NGN'",
    ),
    "an account's balance is the sum of its postings": (
        "update account set posted = posted + 1 where merchant_id = $1 and name = 'wallet:main:NGN'",
        "delete from account where merchant_id = $1 and name = 'wallet:main:NGN'",
        "delete from posting where merchant_id = $1 and seq = 1",
    ),
    "every posting shows the balances that it left": (
        "update posting set debit_after = debit_after + 1 where merchant_id = $1 and seq = 2",
        "update posting set credit_after = credit_after + 1 where merchant_id = $1 and seq = 2",
    ),
    "postings and events are numbered without a gap": (
        "update merchant_state set last_posting_seq = last_posting_seq + 1 where merchant_id = $1",
        "delete from event where merchant_id = $1 and seq = 1",
    ),
    "no account is below its floor": (
        "alter table account drop constraint account_floor;"
        " update account set held = posted + 1 where merchant_id = $1 and name = 'wallet:main:NGN'",
    ),
    # --- holds, jobs, events
    "what an account holds is the sum of its pending holds": (
        "update account set held = held + 1 where merchant_id = $1 and name = 'wallet:main:NGN'",
        "update hold set state = 'voided' where merchant_id = $1 and state = 'pending'",
    ),
    "no hold is pending without a live job": (
        "delete from scheduled_job where merchant_id = $1 and lane <> 'webhook'",
    ),
    "a final transaction has no pending hold": (
        "update transaction set status = 'pending' where merchant_id = $1 and status = 'successful'",
        "update transaction set status = 'failed' where merchant_id = $1 and status = 'pending'",
    ),
    "every final transaction has exactly one event": (
        "delete from event where merchant_id = $1 and seq = 1",
        "update transaction set status = 'successful' where merchant_id = $1 and status = 'pending'",
    ),
    "what a hold gave was posted under its reference": (
        "update hold set taken = taken - 1 where merchant_id = $1 and taken > 0",
        "update posting set reference = 'GP|other' where merchant_id = $1 and debit = 'wallet:main:NGN'",
    ),
    # --- checkouts
    "a checkout is paid by one successful payment or not at all": (
        "update checkout set state = 'paid', payment_ref = 'GP0', ended_at = now() where merchant_id = $1",
        "delete from scheduled_job where merchant_id = $1 and kind = 'checkout.expire'",
    ),
    # --- transfers and bills
    "a successful transfer or bill took its amount": (
        "update transaction set fee = fee + 1 where merchant_id = $1 and kind = 'transfer'",
        "update transaction set status = 'failed' where merchant_id = $1 and kind = 'bill'",
    ),
    "every order of a bulk that was not in conflict": (
        "delete from transaction where merchant_id = $1 and order_ref = 'refused in bulk'",
        "update transaction set kind = 'bill' where merchant_id = $1 and order_ref = 'sent in bulk'",
    ),
    "a successful bill gave its commission back": (
        "update transaction set status = 'failed' where merchant_id = $1 and kind = 'bill'",
        "delete from posting where merchant_id = $1 and credit like 'wallet:%'",
    ),
    "what a bill brought is kept": (
        "delete from bill_voucher where merchant_id = $1",
        "update transaction set status = 'failed' where merchant_id = $1 and kind = 'bill'",
    ),
    # --- clients, account numbers, cashcodes
    "whoever guards a BVN has one": (
        "update client set bvn_hash = null where merchant_id = $1",
        "update client set bvn_hash = (select bvn_hash from client where merchant_id = $1 and bvn_hash is not null)"
        " where merchant_id = $1",
        "delete from client where merchant_id = $1 and bvn_hash is not null",
    ),
    "of an erased client nothing tells who it was": (
        "update client set erased_at = now() where merchant_id = $1 and erased_at is null",
        "update client set bvn_mask = '222******78' where merchant_id = $1 and erased_at is not null",
    ),
    "whoever has an open loan or savings is active": ("update client set status = 'inactive' where merchant_id = $1",),
    "a personalized account that was opened is in the directory": (
        "delete from token_index where merchant_id = $1 and kind = 'account'",
    ),
    "a cashcode stands as its transaction does": (
        "update cashcode set tries = 3 where merchant_id = $1 and state = 'active'",
        "update cashcode set state = 'expired' where merchant_id = $1 and state = 'redeemed'",
        "delete from transaction where merchant_id = $1 and kind = 'cashcode'",
    ),
    "a redeemed cashcode took what was drawn": (
        "update cashcode set paid = paid - 1 where merchant_id = $1 and state = 'redeemed'",
        "update cashcode set state = 'active', paid = 0 where merchant_id = $1 and state = 'redeemed'",
        "delete from posting where merchant_id = $1 and credit = 'income:cashcode:NGN'",
    ),
    "cash that a cashcode drew came from the account": (
        "update cashcode set source = 'savings:other:NGN' where merchant_id = $1 and state = 'redeemed'",
    ),
    "every cashcode is found by the directory, once": (
        "delete from token_index where merchant_id = $1 and kind = 'cashcode'",
    ),
    # --- payments
    "a payment is done when it is final": (
        "update payment set sealed_card = '\\x00' where merchant_id = $1",
        "update payment set stage = 'asking' where merchant_id = $1",
    ),
    "a successful payment posted what was charged": (
        "insert into posting select merchant_id, -seq, group_seq, reference, debit, credit, amount, debit_after,"
        " credit_after, kind, at from posting where merchant_id = $1 and kind = 'payment'",
        "delete from posting where merchant_id = $1 and kind = 'collection fee'",
    ),
    "each part of a successful split payment": (
        "update posting set credit = 'beneficiary:RSother:NGN' where merchant_id = $1 and kind = 'split'",
        "update posting set amount = amount - 1 where merchant_id = $1 and kind = 'split'",
    ),
    "what went back of a payment": (
        "update payment set refunded = 0 where merchant_id = $1",
        "update payment set refunding = refunded where merchant_id = $1",
    ),
    "what is gathered for a day": (
        "update settlement_batch set amount = amount + 1 where merchant_id = $1 and kind = 'settlement'",
        "update settlement_batch set state = 'done' where merchant_id = $1 and kind = 'payout'",
        "delete from scheduled_job where merchant_id = $1 and kind = 'payout.send'",
    ),
    "an active plan has one job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'recurrent.charge'",
        "update payment_plan set state = 'stopped' where merchant_id = $1",
        "update payment_plan set charging = true where merchant_id = $1",
        "update payment_plan set paid = paid + 1 where merchant_id = $1",
    ),
    # --- loans
    "a loan's accounts hold what its schedule says": (
        "update loan_installment set paid_principal = 1 where merchant_id = $1 and n = 1",
        "update loan_installment set penalty = 1 where merchant_id = $1 and n = 2",
        "update loan set state = 'closed_written_off' where merchant_id = $1",
    ),
    "no part of an installment is repaid beyond": (
        "alter table loan_installment drop constraint loan_line_check1;"
        " update loan_installment set paid_interest = interest + 1 where merchant_id = $1 and n = 1",
        "update loan set state = 'closed_repaid' where merchant_id = $1",
    ),
    "a loan that was paid out has as many installments": (
        "delete from loan_installment where merchant_id = $1 and n = 12",
        "update loan set amount = amount + 1 where merchant_id = $1",
    ),
    "a loan is disbursing while its transfer is open": (
        "update loan set state = 'disbursing' where merchant_id = $1",
        "update loan set transfer = null where merchant_id = $1",
    ),
    "a loan with an installment that may yet be late": (
        "delete from scheduled_job where merchant_id = $1 and lane <> 'webhook'",
    ),
    "a client's open accounts are at least the loans": ("update client set open_accounts = 0 where merchant_id = $1",),
    # --- savings and thrift
    "closed savings are empty": (
        "update savings set state = 'closed' where merchant_id = $1",
        "delete from savings where merchant_id = $1",
    ),
    "savings that may still earn": ("update interest_batch set members = '' where merchant_id = $1",),
    "an open savings account counts for its client": (
        "update client set open_accounts = 0 where merchant_id = $1",
        "update client set status = 'inactive' where merchant_id = $1",
    ),
    "a thrift plan's pot is empty": ("update account set posted = 1 where merchant_id = $1 and name like 'thrift:%'",),
    "a thrift plan that runs has one job": (
        "delete from scheduled_job where merchant_id = $1 and lane = 'thrift'",
        "update thrift_plan set state = 'completed' where merchant_id = $1",
    ),
    "in every cycle of a thrift plan": (
        "update thrift_member set received = 5 where merchant_id = $1 and position = 2",
        "update thrift_member set owed = owed + 1 where merchant_id = $1 and position = 1",
    ),
    "what a member of a thrift plan owes": ("update savings set detail = '{}' where merchant_id = $1",),
    # --- cards, and the trail
    "a terminated card is empty": (
        "update virtual_card set state = 'terminated' where merchant_id = $1",
        "insert into scheduled_job select r.* from scheduled_job j join virtual_card c on c.key = j.subject"
        " cross join json_populate_record(j, json_build_object('key', '\\x01')) r where j.merchant_id = $1",
    ),
    "a card purchase took its amount from a card": (
        "delete from posting where merchant_id = $1 and debit like 'card:%'",
        "update virtual_card_entry set refunded = 1000000 where merchant_id = $1",
    ),
    "the audit trail is a chain without a gap": (
        "update audit_entry set hash = '\\x00' where merchant_id = $1 and seq = 1",
        "delete from audit_entry where merchant_id = $1 and seq = 1",
    ),
}


def make_history(shop: MerchantClient, deployment: Deployment) -> None:
    """Makes a merchant with some objects of every kind: finished, open, and scheduled."""
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    shop.transfer()
    send_money(shop)
    take_payments(PaymentClient(shop))
    enroll_clients(shop, deployment)
    LendingClient(shop.connection, shop.mid, shop.key).lend()
    save_together(shop)
    card = CardClient(shop)
    assert card.buy("20.00")["txnStatus"] == "successful"
    for _ in range(2):
        card.get(reveal=True)
    shop.advance(days=4)
    shop.transfer(accountnumber="0000000020", orderRef="open")
    assert shop.put("payment", action="checkout", amount="1500.00").body["status"] == 202
    assert PaymentClient(shop).paid()["txnStatus"] == "successful"


def send_money(shop: MerchantClient) -> None:
    """Makes a bulk with an order of each outcome, a bill, and two cashcodes."""
    order: dict[str, Any] = {"amount": "1500.00", "bankcode": "058", "accountnumber": "0000000000"}
    sent = {**order, "orderRef": "sent in bulk"}
    shop.bulk([sent, sent, {**order, "bankcode": "999", "orderRef": "refused in bulk"}])
    assert shop.put("bills", action="pay", **METER, orderRef="bill-1").body["txnStatus"] == "successful"
    for order_ref in ("cash-drawn", "cash-open"):
        asked: dict[str, Any] = {"amount": "5000.00", "pin": "2580", "channel": "ATM", "life_time": 10080}
        made = shop.put("cashcode", action="generate", **asked, orderRef=order_ref).body
        if order_ref == "cash-drawn":
            drawn: dict[str, Any] = {"pin": "2580", "channel": "ATM", "amount": "5000.00", "cashcode": made["cashcode"]}
            assert shop.put("sandbox", action="redeem_cashcode", **drawn).body["txnStatus"] == "successful"


def take_payments(payments: PaymentClient) -> None:
    """Makes a split payment, a refund, and a plan with past charges."""
    made = payments.shop.put("sandbox", action="beneficiary", name="B", bankcode="058", accountnumber="0000000000").body
    paid = payments.paid(split=[{"ref_code": made["ref_code"], "percentage": "33.33"}])
    assert payments.refund(paid["txnRef"], "100.00")["txnStatus"] == "successful"
    assert payments.paid(VISA_OK, **DAILY)["txnStatus"] == "successful"


def enroll_clients(shop: MerchantClient, deployment: Deployment) -> None:
    """Makes a client with a BVN, one whose data is erased, and one with a personalized account."""
    for person in ({**ADA, "bvn": BVN}, ADA):
        made = shop.put("clients", action="create", data=person, status="active").body
        assert made["status"] == 200, made
    deployment.run_command("client", "erase", shop.mid, made["data"]["client_id"], "--yes")
    asked: dict[str, Any] = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com"}
    assert shop.put("resources", request="personalized-accounts", **asked).body["status"] == 200


def save_together(shop: MerchantClient) -> None:
    """Makes a thrift plan of two members. The second has too little, and owes after the first cycle."""
    plan = savers.make_plan(shop, 2)
    for deposit in ("100.00", "30.00"):
        saved = savers.open_savings(shop, savers.enroll(shop), deposit, interestSettings=NO_INTEREST)
        savers.join(shop, plan, saved)
