"""All tables whose rows have a code (core/row_codes.py), and all others with the reason why they have none.

A new table, and a new column of a coded one, must be listed: tests/walk/test_row_codes.py compares both.
"""

import msgspec

from kasuwa.authority.approvals import APPROVALS
from kasuwa.authority.cooling_off import POLICIES
from kasuwa.core.decision import Job, Row
from kasuwa.core.row_codes import CodedTable
from kasuwa.core.token_index import TokenIndexEntry
from kasuwa.merchants.endpoints import ENDPOINTS
from kasuwa.merchants.exchange_rates import RATES
from kasuwa.merchants.keys import KEYS
from kasuwa.merchants.merchants import MERCHANTS
from kasuwa.methods.clients.model import Client
from kasuwa.methods.disburse.payout_model import TransferApproval
from kasuwa.methods.groups.model import GroupLoan
from kasuwa.methods.investments.held_model import HeldDeposit
from kasuwa.methods.investments.reactivation_model import SavingsReactivation
from kasuwa.methods.loan_products.model import LoanProduct
from kasuwa.methods.loans.auto_repay_model import AutoRepayment
from kasuwa.methods.loans.group_model import ClientGroup
from kasuwa.methods.loans.guarantee_model import LoanGuarantee
from kasuwa.methods.loans.model import Loan, LoanWriteOff
from kasuwa.methods.payment.model import Payment
from kasuwa.methods.payment.settlement_model import Beneficiary
from kasuwa.methods.payouts.model import PayoutSchedule
from kasuwa.methods.shares.model import ShareRedemption
from kasuwa.methods.standing_orders.model import StandingOrder
from kasuwa.methods.virtualcard.card_decider import CardDecider
from kasuwa.methods.virtualcard.card_limits import CardUsage
from kasuwa.methods.virtualcard.model import Card
from kasuwa.people.sessions import SESSIONS
from kasuwa.people.users import LINKS, USERS
from kasuwa.postgres.row_codes import describe_table
from kasuwa.terms.payouts import COUNTERS
from kasuwa.transactions.inbound_accounts import PersonalizedAccountRow
from kasuwa.transactions.transactions import Transaction

SHOWN = "only shown"
IN_BOOKS = "its money is in the books, which are chained; the invariants compare both"
OF_PAYER = "what a payer is asked for; money moves as the rail reports it, and then in the books"
ORDER = "when it runs and who runs it, not what is done"


def table_with(kind: type[Row], **uncovered: str) -> CodedTable:
    """Returns the table of rows that the writer maintains, with the reasons for the columns without a code."""
    return msgspec.structs.replace(describe_table(kind), uncovered=uncovered)


# In the order in which rows get their codes: first what the service needs at once, the largest table last.
CODED_TABLES: tuple[CodedTable, ...] = (
    MERCHANTS,
    KEYS,
    RATES,
    USERS,
    SESSIONS,
    LINKS,
    APPROVALS,
    POLICIES,
    ENDPOINTS,
    table_with(
        Job,
        **dict.fromkeys(("lane", "due", "run_at", "leased_until", "claims", "attempt", "seq"), ORDER),
        idempotency_claim="names the stored reply that is replaced, which is encrypted for its own key",
        rail="which vendor carries out the order; a trigger keeps it from changing once it was sent",
        rail_account="as rail",
        is_rail_fixed="as rail",
        is_queried_first="set by a trigger, for good",
        endpoint_id="of deliveries alone, which have no code",
    ),
    table_with(Beneficiary, created_at=SHOWN, seq="the order of a list"),
    table_with(PayoutSchedule, changed_at=SHOWN, last_ref=SHOWN),
    COUNTERS,
    table_with(TransferApproval, created_at=SHOWN, decided_at=SHOWN),
    table_with(ShareRedemption, number="the order of a list", created_at=SHOWN, decided_at=SHOWN),
    table_with(
        StandingOrder,
        **dict.fromkeys(("number", "created_at", "payments", "paid", "missed", "reason"), SHOWN),
        **dict.fromkeys(("dates", "next_at", "is_retry"), ORDER),
        events="counts the events",
    ),
    table_with(
        ClientGroup,
        **dict.fromkeys(("number", "name", "created_at", "closed_at"), SHOWN),
        **dict.fromkeys(("loans", "events"), "counts rows"),
    ),
    table_with(GroupLoan, n="the order of a list", created_at=SHOWN),
    table_with(
        AutoRepayment,
        **dict.fromkeys(("created_at", "attempts", "collections", "collected", "missed", "reason"), SHOWN),
        **dict.fromkeys(("step", "due_on", "next_at", "tries", "misses"), ORDER),
        charging="names the charge in progress, whose rows have their own codes",
        events="counts the events",
    ),
    table_with(
        PersonalizedAccountRow,
        **dict.fromkeys(("bank_name", "message", "created_at", "closed_at"), SHOWN),
        facts="identifiers of the account at its vendor; the vendor refuses those of another",
        bvn_sealed="encrypted for its row",
        person_sealed="encrypted for its row",
        client_id="whose limits apply; moves nothing",
    ),
    table_with(TokenIndexEntry),
    table_with(
        Card,
        **dict.fromkeys(("network", "mask", "created_at"), SHOWN),
        **dict.fromkeys(("sealed_pan", "holder_sealed"), "encrypted for its row"),
        unpaid="months without a fee: ends the card, and moves nothing",
        client_id="whose limits apply; moves nothing",
        fee_job="names a job, which has a code",
        seq="the order of a list",
    ),
    table_with(CardUsage),
    table_with(CardDecider),
    table_with(
        Loan,
        **dict.fromkeys(("number", "created_at", "disbursed_at", "closed_at", "trail"), SHOWN),
        aged_to=IN_BOOKS,
        acts="counts the acts, which the invariants compare with the installments",
        events="counts the events",
        provision="the balance of an account, which the invariants compare",
        officer=SHOWN,
        guarantees="counts rows, which have codes",
        collaterals="counts rows of what is only shown",
        branch=SHOWN,
        **dict.fromkeys(("group_id", "group_loan_id"), "names the loan of a group, whose row has a code"),
        write_offs="counts the write-offs that wait",
        agreed="covered together with the rate",
        renewed="covered together with the rate",
        extra="compared with the installments by the invariants",
        reschedules="counts rows of what is only shown",
        topped_up_by="names a loan, which has a code",
        product="names where the terms were copied from, which are covered",
    ),
    table_with(
        LoanProduct,
        **dict.fromkeys(("number", "name", "created_at", "changed_at", "closed_at"), SHOWN),
        events="counts the events",
    ),
    table_with(LoanWriteOff, created_at=SHOWN, decided_at=SHOWN),
    table_with(SavingsReactivation, created_at=SHOWN, decided_at=SHOWN),
    table_with(
        LoanGuarantee,
        number="the order of a list",
        held=IN_BOOKS,
        owed=IN_BOOKS,
        short=SHOWN,
        created_at=SHOWN,
        released_at="what is held, which the books have",
    ),
    table_with(
        Client,
        **dict.fromkeys(("number", "bvn_mask", "created_at", "changed_at"), SHOWN),
        **dict.fromkeys(("bvn_sealed", "detail_sealed", "bvn_check_sealed"), "encrypted for its row"),
        **dict.fromkeys(("bvn_hash", "phone_hash", "email_hash"), "finds the client; made anew with another key"),
        **dict.fromkeys(
            ("open_accounts", "pending_payments", "credit", "erased_at", "savings", "held", "cards", "groups"),
            "compared by the invariants",
        ),
        **dict.fromkeys(("spent_on", "spent"), "counts for limits, and moves nothing"),
    ),
    table_with(HeldDeposit, **dict.fromkeys(("reason", "held_at", "ended_at"), SHOWN)),
    table_with(
        Payment,
        **dict.fromkeys(("stage", "received", "refunded", "refunding", "refunds", "disputed"), IN_BOOKS),
        **dict.fromkeys(("auth", "session", "tries", "facts", "expires_at"), OF_PAYER),
        **dict.fromkeys(("sealed_card", "payer_sealed"), "encrypted for its row"),
        token="names a saved card, which is encrypted for its token",
    ),
    table_with(
        Transaction,
        **dict.fromkeys(("status", "code", "final_at"), IN_BOOKS),
        **dict.fromkeys(("message", "trail", "created_at", "facts_sealed"), SHOWN),
        rail="which vendor carries out the order",
        rail_account="as rail",
        seq="the order of a list",
    ),
)

CHAINED = "rows are chained, and chains are closed"
CIPHERTEXT = "encrypted for its row"
LOG = "a record of what happened: nothing is decided by it"
CACHE = "made anew from other tables"
SERVICE = "of the running service itself"

# Every other table, and why its rows have no code. docs/proofs.md says the same to readers.
TABLES_WITHOUT_CODES = {
    **dict.fromkeys(("posting", "event", "audit_entry"), CHAINED),
    "merchant_state": "compared with the chains, which it has values of",
    **dict.fromkeys(("book_close", "book_close_head", "book_close_level", "book_close_mark"), "signed"),
    "account": "compared with the postings",
    **dict.fromkeys(("data_key", "wrapped_key", "key_move"), "keys are encrypted for their purpose and version"),
    "deployment": "the root is encrypted; the time of a permit has a keyed hash",
    "migration": SERVICE,
    **dict.fromkeys(("saved_card", "bill_voucher"), CIPHERTEXT),
    "signing_secret": "encrypted for its merchant, and compared with its verifier. Its end only says whether events are"
    " signed with it as well: whoever receives them checks them with the secret that they hold",
    **dict.fromkeys(("customer", "dispute_file", "ticket", "mail", "person_mail"), CIPHERTEXT),
    "person_mail_off": "which mails a person has turned off; those about security cannot be",
    "idempotency_record": CIPHERTEXT,
    "world_part": CIPHERTEXT,
    "world": "of the test environment; its content is encrypted for its number",
    "world_progress": SHOWN,
    **dict.fromkeys(("payment_plan", "checkout", "pay_link", "invoice", "ticket_kind"), OF_PAYER),
    **dict.fromkeys(("settlement_batch", "cashcode", "savings"), IN_BOOKS),
    **dict.fromkeys(("loan_installment", "loan_installment_version", "loan_act"), IN_BOOKS),
    "loan_collateral": SHOWN,
    "loan_schedule": SHOWN,
    **dict.fromkeys(
        ("thrift_plan", "thrift_member", "dispute", "virtual_card_entry", "virtual_card_dispute"), IN_BOOKS
    ),
    "loan_collection": IN_BOOKS,
    "group_member": "who is a member is in the row of the group, which has a code; the invariants compare both",
    **dict.fromkeys(("share_class", "share_register", "shareholding", "dividend"), IN_BOOKS),
    **dict.fromkeys(("inbound_receipt", "rail_reversal", "manual_posting", "suspense_decision"), IN_BOOKS),
    "transfer_batch": "names the transfers of a bulk, which have codes",
    **dict.fromkeys(("failed_transaction", "undelivered_event", "customer_index", "interest_batch"), CACHE),
    **dict.fromkeys(("payment_word", "payment_word_mark", "record_word", "record_word_due"), CACHE),
    **dict.fromkeys(("daily_total", "daily_total_mark", "settlement_sum", "settlement_sum_mark"), CACHE),
    **dict.fromkeys(("client_bvn", "bill_guard", "enrolled_phone", "invoice_counter", "dispute_origin"), CACHE),
    **dict.fromkeys(("cashcode_attempts", "sign_in_throttle", "console_device"), "counts guesses"),
    **dict.fromkeys(("delivery_attempt", "decision_input", "operator_notice", "request_record", "rail_timing"), LOG),
    **dict.fromkeys(("failing_endpoint", "dispute_hand_in", "settlement_events", "mail_share"), "what is to be sent"),
    **dict.fromkeys(("invariant_result", "console_list", "notice_handling"), SHOWN),
    **dict.fromkeys(("statement_account", "statement_import", "statement_line"), "statements of banks, as imported"),
    **dict.fromkeys(("reconciled_entry", "reconciliation_decision"), "what was matched with them"),
    **dict.fromkeys(
        ("rail_balance", "rail_dispute", "rail_health", "rail_inbox", "rail_listing"), "as a rail reported it"
    ),
    **dict.fromkeys(
        ("rail_settlement", "rail_shadow", "rail_shadow_difference", "account_listing"), "as a rail reported it"
    ),
    **dict.fromkeys(("vendor_account", "vendor_account_alias"), "names of accounts; their keys are settings"),
    **dict.fromkeys(("bill_category", "bill_edition", "bill_item", "bill_refresh", "biller"), "as the biller lists it"),
    **dict.fromkeys(("api_process", "advance_lease", "commit_mark"), SERVICE),
}
