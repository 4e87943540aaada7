"""The tables of a world: every table with a merchant is one of them, or is named here with the reason why it is not.

tests/walk/test_world_tables.py compares both lists with the schema.
"""

from kasuwa.methods.virtualcard.rules.funding import MONTHLY_FEE_JOB

# In the order in which rows are written: first what others refer to. Rows of a table are written in the order of its
# identity, or of its primary key.
WORLD_TABLES = (
    "merchant_key",
    "signing_secret",
    "webhook_endpoint",
    "failing_endpoint",
    "account",
    "posting",
    "event",
    "transaction",
    "payment",
    "payment_word",
    "payment_word_mark",
    "saved_card",
    "payment_plan",
    "enrolled_phone",
    "beneficiary",
    "settlement_batch",
    "settlement_sum",
    "settlement_sum_mark",
    "settlement_events",
    "personalized_account",
    "customer",
    "customer_index",
    "checkout",
    "pay_link",
    "invoice_counter",
    "invoice",
    "mail",
    "mail_share",
    "ticket_kind",
    "ticket",
    "dispute",
    "dispute_file",
    "dispute_origin",
    "dispute_hand_in",
    "transfer_batch",
    "transfer_approval",
    "payout_counter",
    "payout_schedule",
    "virtual_card",
    "virtual_card_usage",
    "virtual_card_decider",
    "virtual_card_entry",
    "virtual_card_dispute",
    "cashcode",
    "cashcode_attempts",
    "bill_guard",
    "bill_voucher",
    "client",
    "client_bvn",
    "loan",
    "loan_installment",
    "loan_installment_version",
    "loan_act",
    "loan_write_off",
    "loan_schedule",
    "loan_product",
    "loan_guarantee",
    "loan_collateral",
    "savings",
    "held_deposit",
    "interest_batch",
    "thrift_plan",
    "thrift_member",
    "share_class",
    "share_register",
    "shareholding",
    "share_redemption",
    "dividend",
    "standing_order",
    "loan_auto_repayment",
    "loan_collection",
    "client_group",
    "group_member",
    "group_loan",
    "savings_reactivation",
    "rail_reversal",
    "manual_posting",
    "delivery_attempt",
    "undelivered_event",
    "idempotency_record",
    "scheduled_job",
    "token_index",
    "merchant_state",
)

# Rows that tie the books to those of others or to a vendor. A merchant that has one is refused.
CROSSINGS = {
    "inbound_receipt": "received from a vendor's rail, which knows each receipt once in the whole deployment",
    "suspense_decision": "assigns a receipt to another merchant, or from one",
}

OF_OPERATOR = "the operator's, about all merchants"

# Every other table with a merchant, and why it is not in a world.
TABLES_LEFT_OUT = {
    "merchant": "made for the new books, with the name and settings of the world",
    "advance_lease": "held while a world is made or restored",
    "commit_mark": "finds a commit that was lost, and says nothing of the books",
    "failed_transaction": "written by a trigger of transaction",
    **dict.fromkeys(("daily_total", "daily_total_mark"), "counted anew from the events"),
    **dict.fromkeys(("record_word", "record_word_due"), "made anew: a trigger of each record has its words made"),
    "audit_entry": "who did what with which books stays with them",
    **dict.fromkeys(("operator_notice", "notice_handling"), "told to operators, who would read it twice"),
    **dict.fromkeys(
        ("book_close_head", "book_close_mark"), "a close is of the books that it closed; the next one closes the copy"
    ),
    **dict.fromkeys(("data_key", "bill_item", "rail_dispute", "statement_line", "reconciled_entry"), OF_OPERATOR),
    "reconciliation_decision": OF_OPERATOR,
    **dict.fromkeys(("console_user", "person_mail"), "people stay the merchant's, whatever its books are"),
    "approval": "what people decide, or have decided, stays with them",
    "decision_input": "what the decisions of a world were made of stays with the books that they are in",
    "request_record": "the log of requests goes on",
    **dict.fromkeys(("world", "world_progress"), "worlds are not in worlds"),
}

# Columns that have the key of a row besides `key`.
KEY_COLUMNS = {
    "scheduled_job": ("subject",),
    "virtual_card_entry": ("card",),
    "customer_index": ("customer_key",),
}
# A column with the key of a job, and the kind of the job.
JOB_KEY_COLUMNS = {"virtual_card": ("fee_job", MONTHLY_FEE_JOB)}

# Tables in which a trigger writes rows of its own.
WRITTEN_BY_TRIGGER = frozenset({"undelivered_event"})
