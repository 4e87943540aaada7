"""Violations of each invariant of the books: the words that an invariant begins with, and statements that break it for
a merchant with the history of `make_history`. `$1` is the merchant.
"""

from typing import Any

from tests.console.visitor import sign_in_as, sign_in_link
from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import BVN
from tests.methods.guarantees import test_http as guarantees
from tests.methods.investments import savers
from tests.methods.investments.held import hold_deposit
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import VISA_OK, PaymentClient
from tests.methods.virtualcard.card_client import CardClient
from tests.payer_pages import begin_card, open_payment, pay_on_page
from tests.running import Deployment
from tests.walk.rows import make_group

NOW = "2026-01-30T08:00:00+01:00"
DAILY: dict[str, Any] = {"is_recurring": True, "recurrent": {"frequency": "daily", "value": "10"}}
METER: dict[str, Any] = {"paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678", "amount": "5000.00"}
ADA = {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
NO_INTEREST = {"interestRate": "0", "interestFrequency": "annualized"}

NEW_RECEIPT = (
    "insert into inbound_receipt (key, merchant_id, rail, rail_reference, account_number, amount, currency, txn_ref,"
    " booked_at)"
)
NEW_DECISION = (
    "insert into suspense_decision (key, merchant_id, rail, rail_reference, state, amount, currency, approval_id,"
    " other_merchant_id, reference, message, decided_at)"
)

OF_TEAM = "mid = (select mid from merchant where merchant_id = $1)"

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
    "the VAT on a fee is posted with a fee of its kind": (
        "update posting set kind = 'bill VAT' where merchant_id = $1 and kind = 'collection VAT'",
        "update posting set kind = 'card monthly fee' where merchant_id = $1 and kind = 'transfer fee'",
    ),
    "a payout is posted for a transfer that a schedule made": (
        "update posting set kind = 'payout' where merchant_id = $1 and kind = 'transfer'",
        "update transaction set detail = jsonb_set(detail::jsonb, '{purpose}',"
        ' \'{"purpose": "scheduled-payout", "reference": ""}\')::json where merchant_id = $1 and kind = \'transfer\'',
    ),
    "postings and events are numbered without a gap": (
        "update merchant_state set last_posting_seq = last_posting_seq + 1 where merchant_id = $1",
        "delete from event where merchant_id = $1 and seq = 1",
    ),
    "no account is below its floor": (
        "alter table account drop constraint account_floor;"
        " update account set held = posted + 1 where merchant_id = $1 and name = 'wallet:main:NGN'",
    ),
    # --- money in suspense
    "unidentified money is in suspense": (
        f"{NEW_RECEIPT} values ('\\x01', $1, 'paystack', 'T1', '', 100, 'NGN', '', now())",
        "update posting set kind = 'received for nobody known', credit = 'suspense:inbound:NGN'"
        " where merchant_id = $1 and seq = 1",
    ),
    "what was decided about money in suspense is the whole of a receipt": (
        f"{NEW_DECISION} values ('\\x01', $1, 'paystack', 'T1', 'assigned', 100, 'NGN', 0, 0, '', '', now())",
        f"{NEW_RECEIPT} values ('\\x01', $1, 'paystack', 'T1', '', 100, 'NGN', '', now()); "
        f"{NEW_DECISION} values ('\\x02', $1, 'paystack', 'T1', 'returned', 99, 'NGN', 0, 0, 'R1', '', now())",
    ),
    "money in suspense that is assigned to another merchant": (
        f"{NEW_DECISION} values ('\\x01', $1, 'paystack', 'T1', 'assigned', 100, 'NGN', 0, 7, '', '', now())",
        f"{NEW_DECISION} values ('\\x01', $1, 'paystack', 'T1', 'received', 100, 'NGN', 0, 7, '', '', now())",
    ),
    # --- holds, jobs, events
    "what an account holds is the sum of its pending holds": (
        f"{NEW_DECISION} values ('\\x02', $1, 'paystack', 'T1', 'returning', 100, 'NGN', 0, 0, 'R1', '', now())",
        "update account set held = held + 1 where merchant_id = $1 and name = 'wallet:main:NGN'",
        "update dispute set covered = covered - 1 where merchant_id = $1 and state = 'needs_response'",
        "update transaction set held = 1, held_on = 'card:x:NGN' where merchant_id = $1 and status = 'pending'",
    ),
    "no hold is pending without a live job": (
        "delete from scheduled_job where merchant_id = $1 and lane <> 'webhook'",
    ),
    "a final transaction has no job but its delivery": (
        "update transaction set status = 'pending' where merchant_id = $1 and status = 'successful'",
        "update transaction set status = 'failed' where merchant_id = $1 and status = 'pending'",
    ),
    "the list of failed transactions shows all of them": (
        "delete from failed_transaction where merchant_id = $1",
        "update failed_transaction set amount = amount + 1 where merchant_id = $1",
        "insert into failed_transaction select merchant_id, created_at, seq, key, kind, txn_ref, order_ref, currency,"
        " amount, fee, vat, duty, 'failed', message, detail, final_at from transaction"
        " where merchant_id = $1 and status = 'successful' limit 1",
    ),
    "every final transaction has exactly one event": (
        "delete from event where merchant_id = $1 and seq = 1",
        "update transaction set status = 'successful' where merchant_id = $1 and status = 'pending'",
    ),
    "the daily totals of a merchant count every final transaction": (
        "insert into daily_total (merchant_id, day, kind, currency, status, rail, code, reason, count, amount)"
        " values ($1, '2020-01-01', 'transfer', 'NGN', 'successful', '', '', '', 1, 100)",
        "delete from daily_total where merchant_id = $1; insert into daily_total_mark (merchant_id, event_seq)"
        " select merchant_id, last_event_seq from merchant_state where merchant_id = $1"
        " on conflict (merchant_id) do update set event_seq = excluded.event_seq",
    ),
    "the sums of a merchant's settlements are those of its postings": (
        "insert into settlement_sum (merchant_id, day, currency, line, reference, amount, count)"
        " values ($1, '2020-01-01', 'NGN', 'gross', '', 100, 1)",
        "insert into settlement_sum_mark (merchant_id, posting_seq)"
        " select merchant_id, last_posting_seq from merchant_state where merchant_id = $1",
    ),
    "what a hold gave was posted under its reference": (
        "update transaction set status = 'failed' where merchant_id = $1 and kind = 'bill'",
        "update transaction set held = held + 1 where merchant_id = $1 and held > 0 and status = 'successful'",
        "update posting set reference = 'GP|other' where merchant_id = $1 and debit = 'wallet:main:NGN'",
    ),
    # --- checkouts
    "a checkout is paid by one successful payment or not at all": (
        "update checkout set state = 'paid', payment_ref = 'GP0', ended_at = now() where merchant_id = $1",
        "delete from scheduled_job where merchant_id = $1 and kind = 'checkout.expire'",
    ),
    # --- invoices and tickets
    "what an invoice counts as paid": (
        "update invoice set paid = paid - 1 where merchant_id = $1 and status = 'partly_paid'",
        "update invoice set refunded = refunded + 1 where merchant_id = $1 and status = 'paid'",
        "update invoice set received_outside = received_outside + 1 where merchant_id = $1 and status = 'partly_paid'",
        "update invoice set reserved = 0 where merchant_id = $1 and reserved > 0",
        "update transaction set status = 'failed' where merchant_id = $1 and order_ref like 'INV-%'",
    ),
    "an invoice is paid if its total was": (
        "update invoice set status = 'paid' where merchant_id = $1 and status = 'partly_paid'",
        "update invoice set status = 'void', voided_at = now() where merchant_id = $1 and status = 'paid'",
        "delete from scheduled_job where merchant_id = $1 and kind = 'invoices.overdue'",
    ),
    "every change of an invoice has an event": (
        "delete from event where merchant_id = $1 and kind = 'invoice'",
        "update invoice set event_count = event_count - 1 where merchant_id = $1",
    ),
    "a mail is queued exactly while it has a job": (
        "update mail set status = 'failed' where merchant_id = $1 and status = 'queued'",
        "delete from scheduled_job where merchant_id = $1 and kind = 'mail.send'",
        "update mail set sent_at = now() where merchant_id = $1",
    ),
    "the invoices of a merchant are numbered without a gap": (
        "delete from invoice where merchant_id = $1 and number = 1",
        "update invoice_counter set last_number = last_number + 1 where merchant_id = $1",
        "delete from invoice_counter where merchant_id = $1",
    ),
    "what a kind of ticket counts as sold": (
        "update ticket_kind set sold = sold - 1 where merchant_id = $1 and sold > 0",
        "update ticket_kind set used = used + 1 where merchant_id = $1",
        "alter table ticket_kind drop constraint ticket_kind_check;"
        " update ticket_kind set quantity = sold + reserved - 1 where merchant_id = $1 and reserved > 0",
    ),
    "what is reserved of a kind of ticket": (
        "update ticket_kind set reserved = 0 where merchant_id = $1 and reserved > 0",
        "update ticket_kind set reserved = reserved + 1 where merchant_id = $1",
    ),
    "a paid purchase has as many tickets": (
        "delete from ticket where merchant_id = $1 and number = 2",
        "update ticket set payment_ref = 'GP0' where merchant_id = $1 and number = 1",
    ),
    "every ticket is found by its code": (
        "delete from token_index where merchant_id = $1 and kind = 'ticket'",
        "update ticket set state = 'void' where merchant_id = $1 and state = 'valid'",
        "update ticket set state = 'valid', used_at = null where merchant_id = $1 and state = 'void'",
    ),
    # --- transfers and bills
    "a successful transfer or bill took its amount": (
        "update transaction set fee = fee + 1 where merchant_id = $1 and kind = 'transfer'",
        "update transaction set held = held - 1 where merchant_id = $1 and held > 0 and status = 'successful'",
        "update transaction set vat = vat + 1 where merchant_id = $1 and kind = 'bill' and status = 'successful'",
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
        "update client set bvn_hash = (select bvn_hash from client where merchant_id = $1 and bvn_hash is not null"
        " limit 1) where merchant_id = $1",
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
        "update payment set refunding = refunded where merchant_id = $1 and 2 * refunded <= charged",
    ),
    # --- disputes
    "what is disputed of a payment": (
        "update payment set disputed = 0 where merchant_id = $1",
        "update dispute set state = 'won' where merchant_id = $1 and state = 'accepted'",
        "update payment set disputed = 1 where merchant_id = $1 and refunded = 0 and disputed = 0 and charged > 0",
    ),
    "an open dispute has one job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'dispute.deadline'",
        "update dispute set state = 'lost' where merchant_id = $1 and state = 'needs_response'",
    ),
    "a dispute that was not won took its amount": (
        "update dispute set vat = vat + 1 where merchant_id = $1 and state = 'accepted'",
        "delete from posting where merchant_id = $1 and kind = 'dispute fee'",
    ),
    "every step of a dispute has an event": (
        "update dispute set events = events + 1 where merchant_id = $1",
        "delete from event where merchant_id = $1 and kind = 'dispute'",
    ),
    "a debt of disputes is collected by a job": (
        "insert into account (key, merchant_id, name, currency, posted, held)"
        " values ('\\x01', $1, 'receivable:disputes:USD', 'USD', -1, 0)",
        "insert into account (key, merchant_id, name, currency, posted, held)"
        " values ('\\x01', $1, 'receivable:disputes:USD', 'USD', 1, 0)",
    ),
    "a payout schedule has a job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'payouts.send'",
        "update payout_schedule set frequency = 'off' where merchant_id = $1",
    ),
    "daily events of settlements have a job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'settlements.report'",
        "update settlement_events set is_daily = false where merchant_id = $1",
    ),
    "the batch of a day": (
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
        "alter table loan_installment drop constraint loan_installment_check1, drop constraint loan_installment_lost;"
        " update loan_installment set paid_interest = interest + 1 where merchant_id = $1 and n = 1",
        "update loan set state = 'closed_repaid' where merchant_id = $1",
    ),
    "the charges of an installment add up": (
        'update loan_installment set charges = \'[{"charge_id":"A1","name":"Fee","day":"2026-01-31",'
        '"amount":1}]\' where merchant_id = $1 and n = 1',
    ),
    "a loan has the acts that it counts": (
        "update loan set acts = acts + 1 where merchant_id = $1",
        "update loan_act set amount = amount * 2, applied = applied + 1 where merchant_id = $1 and amount > 0",
    ),
    "a loan that was paid out has as many installments": (
        "delete from loan_installment where merchant_id = $1 and n = 12",
        "update loan set amount = amount + 1 where merchant_id = $1",
    ),
    "an installment has the rows of what it was that it counts": (
        "update loan_installment set versions = versions + 1 where merchant_id = $1 and n = 1",
        "update loan_installment_version set version = version + 1 where merchant_id = $1",
    ),
    "what is set aside for a loan is on its account": (
        "update loan set provision = provision + 1 where merchant_id = $1",
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
    "a fixed deposit's term is the running one": (
        "update savings set unlocked = last_balance + 1 where merchant_id = $1",
        "update savings set term_days = 1 where merchant_id = $1",
        "update savings set reported_terms = 1 where merchant_id = $1",
    ),
    "savings count their events": ("update savings set event_count = 1, reported_terms = 1 where merchant_id = $1",),
    "an open savings account counts for its client": (
        "update client set open_accounts = 0 where merchant_id = $1",
        "update client set status = 'inactive' where merchant_id = $1",
    ),
    "savings and clients count the payments": (
        "update savings set pending_deposits = pending_deposits + 1 where merchant_id = $1",
        "update client set pending_payments = pending_payments + 1 where merchant_id = $1",
    ),
    "a client has a list of their open savings": (
        "update client set cards = 'abc' where merchant_id = $1",
        "update client set savings = '' where merchant_id = $1",
        "update client set held = '' where merchant_id = $1",
        "update client set savings = savings || ',SV1' where merchant_id = $1",
    ),
    "a held deposit is in suspense until": (
        "update held_deposit set amount = amount + 1 where merchant_id = $1",
        "update held_deposit set state = 'released' where merchant_id = $1",
        "delete from held_deposit where merchant_id = $1",
    ),
    "what a client is owed is what was paid beyond": ("update client set credit = 5 where merchant_id = $1",),
    "whoever is erased is owed nothing": (
        "update client set credit = 5 where merchant_id = $1 and erased_at is not null",
        "update savings set state = 'closed' where merchant_id = $1 and receivable > 0",
    ),
    "what others owe to savings": ("update savings set receivable = receivable + 1 where merchant_id = $1",),
    "a member's shares are what was paid for them": (
        "update account set posted = 1 where merchant_id = $1 and name like 'shares:%'",
        "update share_class set shares = 0 where merchant_id = $1",
        "update share_class set holders = 5 where merchant_id = $1",
    ),
    "the register of a class names every member once": (
        "update share_register set members = '' where merchant_id = $1",
        "update share_register set members = members || ',' || members where merchant_id = $1",
    ),
    "reserved shares are those of redemptions that wait": (
        "update shareholding set reserved = 0 where merchant_id = $1",
        "delete from scheduled_job where merchant_id = $1 and kind = 'shares.expire'",
        "update share_redemption set state = 'expired' where merchant_id = $1",
    ),
    "savings count the holdings with shares": (
        "update savings set holdings = 0 where merchant_id = $1",
        "update savings set state = 'closed' where merchant_id = $1 and holdings > 0",
    ),
    "a group has the members that it names": (
        "update client_group set members = leader where merchant_id = $1",
        "update client_group set leader = 'CLsomebody' where merchant_id = $1",
        "update group_member set left_at = now() where merchant_id = $1",
        "update client set groups = groups + 1 where merchant_id = $1",
    ),
    "a loan of a group has the loans that it names": (
        "update group_loan set loans = 'LNsomebody' where merchant_id = $1",
        "update loan set client_id = 'CLsomebody' where merchant_id = $1 and group_id <> ''",
    ),
    "a group knows its loans that are open": (
        "update client_group set loans = loans + 1 where merchant_id = $1",
        "update client_group set unsettled = '' where merchant_id = $1",
    ),
    "the one transfer of a loan of a group": (
        "update loan set amount = amount + 1 where merchant_id = $1 and group_id <> ''",
    ),
    "an automatic collection that waits has one job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'loans.collect'",
        "update loan_auto_repayment set state = 'paused', next_at = null where merchant_id = $1",
    ),
    "an automatic collection counts its attempts": (
        "update loan_auto_repayment set attempts = attempts + 1 where merchant_id = $1",
        "update loan_auto_repayment set collected = collected + 1 where merchant_id = $1",
        "update loan_collection set state = 'charging', txn_ref = 'GP1' where merchant_id = $1 and n = 1",
    ),
    "what was collected of a loan is a repayment of it": (
        "update loan_collection set txn_ref = 'GP1' where merchant_id = $1 and state = 'collected' and n = 1",
        "update loan_collection c set txn_ref = (select txn_ref from loan_collection o"
        " where o.merchant_id = $1 and o.loan_id = c.loan_id and o.state = 'collected' and o.n = 1)"
        " where merchant_id = $1 and state = 'collected' and n = 2",
        "update loan_act set amount = amount + 1, applied = applied + 1 where merchant_id = $1 and kind = 'repayment'",
    ),
    "a loan is collected from its own client": (
        "update loan_auto_repayment set client_id = 'CLsomebody' where merchant_id = $1",
        "update loan_auto_repayment set savings_id = 'SVsomebody', source = 'savings' where merchant_id = $1",
    ),
    "an active standing order has one job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'standing_orders.run'",
        "update standing_order set state = 'paused', next_at = null where merchant_id = $1",
    ),
    "what a standing order paid are its deposits": (
        "update standing_order set paid = paid + 1 where merchant_id = $1",
        "update standing_order set payments = payments - 1 where merchant_id = $1",
    ),
    "a standing order pays savings or a loan of the client": (
        "update standing_order set client_id = 'CLsomebody' where merchant_id = $1",
        "update standing_order set target_savings = 'SVsomebody' where merchant_id = $1",
    ),
    "a dividend's account has what is not paid yet": (
        "update account set posted = 1 where merchant_id = $1 and name like 'dividend:%'",
        "update dividend set state = 'paying', paid_at = null, paid = paid - 1 where merchant_id = $1",
        "update dividend set state = 'paying', paid_at = null where merchant_id = $1",
    ),
    "installments ask for the interest that grew in a grace": (
        "update loan_installment set grown = grown + 1 where merchant_id = $1",
        "update loan_installment set pending = 1 where merchant_id = $1 and n = 1",
    ),
    "a loan has the guarantees and the collateral": (
        "update loan set guarantees = guarantees + 1 where merchant_id = $1",
        "update loan set collaterals = collaterals + 1 where merchant_id = $1",
    ),
    "a guarantee holds its part of the principal": (
        "update loan_guarantee set held = held - 1 where merchant_id = $1 and held > 0",
        "update loan_guarantee set held = 0, short = 5 where merchant_id = $1 and held > 0",
    ),
    "what a borrower owes a guarantor": (
        "update loan_guarantee set owed = 0 where merchant_id = $1",
        "update savings set claims = claims + 1 where merchant_id = $1",
        "update client set open_accounts = 0 where merchant_id = $1",
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
    "an authorization that was captured has one purchase": (
        "update transaction set batch_ref = null where merchant_id = $1 and kind = 'card_purchase'",
        "update transaction set status = 'failed' where merchant_id = $1 and kind = 'card_authorization'"
        " and status = 'successful'",
        "update transaction set detail = replace(detail::text, '\"amount\":', '\"amount\":99')::json"
        " where merchant_id = $1 and kind = 'card_purchase' and batch_ref is not null",
    ),
    "a cardholder's dispute that was won": (
        "update virtual_card_dispute set credited = credited + 1 where merchant_id = $1 and state = 'won'",
        "update virtual_card_dispute set refund_ref = '' , credited = 0 where merchant_id = $1 and state = 'won'",
        "update transaction set batch_ref = 'x' where merchant_id = $1 and kind = 'card_refund'",
    ),
    "an open dispute of a cardholder is the only one": (
        "update virtual_card_entry set dispute_id = null where merchant_id = $1 and dispute_id is not null",
        "update virtual_card_dispute set amount = amount * 100 where merchant_id = $1 and state = 'submitted'",
    ),
    "an open dispute of a cardholder with a shop elsewhere has one job": (
        "delete from scheduled_job where merchant_id = $1 and kind = 'virtualcard.dispute_review'",
    ),
    "every step of a cardholder's dispute has an event": (
        "update virtual_card_dispute set events = events + 1 where merchant_id = $1",
        "delete from event where merchant_id = $1 and kind = 'card_dispute'",
    ),
    "the audit trail is a chain without a gap": (
        "update audit_entry set hash = '\\x00' where merchant_id = $1 and seq = 1",
        "delete from audit_entry where merchant_id = $1 and seq = 1",
    ),
    "a key that the audit trail says was made": (
        "update merchant_key set expires_at = null where merchant_id = $1 and name = 'revoked'",
        "delete from merchant_key where merchant_id = $1 and name = 'revoked'",
    ),
    "an account that was disabled": (
        f"update console_user set disabled_at = null where {OF_TEAM} and role = 'merchant:read-only'",
        f"update console_user set role = 'merchant:owner', account_since = null where {OF_TEAM}"
        " and role = 'merchant:finance'",
    ),
}


def make_history(shop: MerchantClient, deployment: Deployment) -> None:
    """Makes a merchant with some objects of every kind: finished, open, and scheduled."""
    deployment.run_command("merchant", "set", shop.mid, "--settlement-days", "1")
    shop.transfer()
    make_trail(shop, deployment)
    send_money(shop)
    take_payments(PaymentClient(shop))
    enroll_clients(shop, deployment)
    lender = LendingClient(shop.connection, shop.mid, shop.key)
    assert lender.repay(lender.lend(), amount="1000.00")["txnStatus"] == "successful"
    guarantee_loan(lender)
    collect_loan(lender)
    make_group(shop, "loans-collect")
    save_together(shop)
    order_savings(shop)
    hold_deposit(shop)
    assert shop.put("sandbox", action="client_tiers", is_on=False).body["status"] == 200
    class_id, day = hold_shares(shop), shop.now()[:10]
    card = CardClient(shop)
    for outcome in ("won", ""):
        bought = card.buy("20.00")["txnRef"]
        filed = card.ask("dispute", id=bought, reason="not received")["data"]["dispute_id"]
        if outcome:
            shop.put("sandbox", action="card_dispute_outcome", dispute_id=filed, outcome=outcome)
    for _ in range(2):
        held = shop.put("sandbox", action="card_authorize", reference=card.reference, amount="10.00").body["txnRef"]
        card.get(reveal=True)
    assert shop.put("sandbox", action="card_capture", txnRef=held, amount="9.00").body["txnStatus"] == "successful"
    shop.advance(days=4)
    pay_dividend(shop, class_id, day)
    shop.transfer(accountnumber="0000000020", orderRef="open")
    assert shop.put("payment", action="checkout", amount="1500.00").body["status"] == 202
    sell_on_pages(shop)
    assert PaymentClient(shop).paid()["txnStatus"] == "successful"


def make_trail(shop: MerchantClient, deployment: Deployment) -> None:
    """Revokes a key, disables a person, and gives another one another role."""
    made = deployment.run_command("merchant", "add-key", shop.mid, "--name", "revoked", "--scope", "read")
    deployment.run_command("merchant", "revoke-key", shop.mid, made.split()[1])
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    disabled, _ = sign_in_link(deployment, "merchant:read-only", shop.mid)
    deployment.run_command("user", "disable", disabled)
    promoted, _ = sign_in_link(deployment, "merchant:developer", shop.mid)
    [[user_id]] = deployment.fetch("select user_id from console_user where email = $1", promoted)
    assert owner.post(f"/team/{user_id}/role", role="merchant:finance").http == 303


def guarantee_loan(lender: LendingClient) -> None:
    """Makes a loan that was written off and that two clients guarantee: one has paid, the other may have to."""
    members = [guarantees.guarantor(lender), guarantees.guarantor(lender)]
    loan_id = lender.lend(**guarantees.PLAIN)
    pledged = [guarantees.pledge(lender, loan_id, member)["data"]["guarantee_id"] for member in members]
    assert lender.loans("collateral", loan_id=loan_id, description="A tricycle", value="1.00")["status"] == 200
    assert lender.loans("write_off", loan_id=loan_id, reason="gone")["status"] == 200
    called = lender.loans("call_guarantee", loan_id=loan_id, guarantee_id=pledged[0])
    assert called["amount"] == "4000.00", called


def collect_loan(lender: LendingClient) -> None:
    """Makes a loan that is due every day, and is collected from the wallet."""
    daily = {"interestRate": "0", "interestFrequency": "every_day"}
    loan_id = lender.lend(interestSettings=daily, amount=100, period=30, tax_applied=False, tax_rate=None)
    agreed = lender.loans("auto_repay", loan_id=loan_id, source="wallet")
    assert agreed["status"] == 200
    # A repayment that has the reference of those that are collected is none of them.
    lender.repay(loan_id, amount="1.00", customer_txnref=agreed["data"]["auto_repay_id"])


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
    for is_accepted in (True, False):
        disputed: dict[str, Any] = {"txnRef": payments.paid()["txnRef"], "reason": "fraudulent", "hours": 720}
        opened = payments.shop.put("sandbox", action="dispute", **disputed).body["data"]
        if is_accepted:
            answered = payments.pay(action="dispute_respond", dispute_id=opened["dispute_id"], accept=True)
            assert answered["data"]["state"] == "accepted"
    scheduled: dict[str, Any] = {
        "frequency": "monthly",
        "least": "90000000000.00",
        "bankcode": "058",
        "accountnumber": "0000000000",
    }
    assert payments.shop.put("resources", request="payout_schedule", **scheduled).body["status"] == 200
    assert payments.shop.put("resources", request="settlement_events", daily=True).body["status"] == 200


def sell_on_pages(shop: MerchantClient) -> None:
    """Makes invoices and tickets that are paid, partly paid, refunded, used, and just being paid."""
    customer: dict[str, Any] = {"name": "Ada Obi", "email": "ada@example.com"}
    customer_id = shop.put("resources", request="customer", **customer).body["data"]["customer_id"]
    terms: dict[str, Any] = {"customer_id": customer_id, "charge_user": "parts", "date_due": "2099-01-01"}
    goods: dict[str, Any] = {"items": [{"description": "Fabric", "quantity": 2, "amount": "2500.00"}]}
    paid, partly = (shop.put("resources", request="invoice", **terms, **goods).body["data"] for _ in range(2))
    # The mailbox stays busy, so that a mail is queued.
    busy = shop.put("resources", request="customer", name="Busy", email="busy@example.com").body["data"]["customer_id"]
    mailed = shop.put("resources", request="invoice", **{**terms, "customer_id": busy}, **goods).body["data"]
    sent = shop.put("resources", request="invoice_send", invoice_id=mailed["invoice_id"], reminders=True).body
    assert sent["status"] == 200, sent
    pay_on_page(shop, paid["link"], {"amount": "5000.00"})
    pay_on_page(shop, partly["link"], {"amount": "2000.00"})
    begin_card(shop.connection, open_payment(shop.connection, partly["link"], {"amount": "1000.00"}))
    kinds = [{"name": "Regular", "amount": "5000.00", "quantity": 9}, {"name": "Table", "amount": "40000.00"}]
    sale = shop.put("resources", request="ticket", title="Jazz Night", ticket_data=kinds).body["data"]
    buyer = {"fullname": "Ada Obi", "email": "ada@example.com"}
    for bought in ({"count_0": "2", "count_1": "1"}, {"count_0": "1"}):
        pay_on_page(shop, sale["link"], {**buyer, **bought})
    begin_card(shop.connection, open_payment(shop.connection, sale["link"], {**buyer, "count_0": "1"}))
    tickets = shop.put("resources", inquire="ticket", link_id=sale["link_id"]).body["data"]
    [table] = [ticket for ticket in tickets if ticket["ticket"] == "Table"]
    [single] = [ticket for ticket in tickets if ticket["txnRef"] != table["txnRef"]]
    assert PaymentClient(shop).refund(single["txnRef"], "5000.00")["txnStatus"] == "successful"
    assert shop.put("resources", request="ticket_use", code=table["code"]).body["status"] == 200


def enroll_clients(shop: MerchantClient, deployment: Deployment) -> None:
    """Makes a client with a BVN, one whose data is erased, and one with a personalized account."""
    for person in ({**ADA, "bvn": BVN}, ADA):
        made = shop.put("clients", action="create", data=person, status="active").body
        assert made["status"] == 200, made
    deployment.run_command("client", "erase", shop.mid, made["data"]["client_id"], "--yes")
    asked: dict[str, Any] = {"name": "Ada Obi", "reference": "customer-17", "email": "ada@example.com"}
    assert shop.put("resources", request="personalized-accounts", **asked).body["status"] == 200


def order_savings(shop: MerchantClient) -> None:
    """Makes a standing order that pays every day, first at once."""
    client_id = savers.enroll(shop)
    source = savers.open_savings(shop, client_id, "500.00", interestSettings=NO_INTEREST)
    target = savers.open_savings(shop, client_id, interestSettings=NO_INTEREST)
    order: dict[str, Any] = {"from": source, "to": target, "amount": "1.00", "frequency": "every_day"}
    made = savers.invest(shop, "standing_order", **order, from_date=shop.now()[:10])
    assert made["status"] == 200, made
    shop.advance(seconds=1)


def hold_shares(shop: MerchantClient) -> str:
    """Makes a member with shares, and a redemption that waits. Returns the class."""
    made = savers.invest(shop, "create_share_class", name="Ordinary", price="10.00")["data"]
    client_id = savers.enroll(shop)
    member = {"class_id": made["class_id"], "client_id": client_id}
    savings_id = savers.open_savings(shop, client_id, interestSettings=NO_INTEREST)
    bought = savers.invest(shop, "buy_shares", **member, shares=10, payment_method="wallet", savings_id=savings_id)
    assert bought["status"] == 200, bought
    assert savers.invest(shop, "redeem_shares", **member, shares=4)["status"] == 200
    return str(made["class_id"])


def pay_dividend(shop: MerchantClient, class_id: str, day: str) -> None:
    declared = savers.invest(shop, "declare_dividend", class_id=class_id, rate="10", record_date=day)
    assert declared["status"] == 200, declared
    shop.advance(seconds=0)
    assert savers.invest(shop, "list_dividends", class_id=class_id)["data"][0]["state"] == "paid"


def save_together(shop: MerchantClient) -> None:
    """Makes a thrift plan of two members. The second has too little, and owes after the first cycle."""
    plan = savers.make_plan(shop, 2)
    for deposit in ("100.00", "30.00"):
        saved = savers.open_savings(shop, savers.enroll(shop), deposit, interestSettings=NO_INTEREST)
        savers.join(shop, plan, saved)
