"""Where each table is when the database is distributed (docs/scaling.md): `kasuwa database distribute` puts them there.

A new table needs a line here. tests/postgres/test_distribution.py compares the lines with the schema.
"""

from functools import cache

# Rows are on the server of their merchant. Every unique key has merchant_id, and rows of one merchant are together, so
# that a statement that names its merchant runs there as a whole. The first table determines the others' servers.
BY_MERCHANT = (
    "merchant_state",
    "account",
    "posting",
    "event",
    "transaction",
    "scheduled_job",
    "commit_mark",
    "idempotency_record",
    "failed_transaction",
    "undelivered_event",
    "delivery_attempt",
    "failing_endpoint",
    "webhook_endpoint",
    "operator_notice",
    "payment",
    "saved_card",
    "payment_plan",
    "beneficiary",
    "settlement_batch",
    "enrolled_phone",
    "rail_reversal",
    "settlement_sum",
    "settlement_sum_mark",
    "settlement_events",
    "personalized_account",
    "suspense_decision",
    "payment_word",
    "payment_word_mark",
    "transfer_batch",
    "transfer_approval",
    "payout_counter",
    "payout_schedule",
    "manual_posting",
    "virtual_card",
    "virtual_card_entry",
    "cashcode",
    "cashcode_attempts",
    "bill_guard",
    "bill_voucher",
    "client",
    "client_bvn",
    "loan",
    "loan_installment",
    "savings",
    "interest_batch",
    "thrift_plan",
    "thrift_member",
    "customer",
    "customer_index",
    "checkout",
    "pay_link",
    "invoice",
    "invoice_counter",
    "ticket",
    "ticket_kind",
    "dispute",
    "dispute_origin",
    "dispute_file",
    "dispute_hand_in",
)

# The same on every server, because statements of a merchant's server join them.
ON_EVERY_SERVER = {
    "merchant": "its mid is unique among all merchants, and most reads join it",
}

# On the coordinator, and written by the same commits as rows of merchants: Citus knows them, so that it commits both or
# neither.
ON_COORDINATOR_IN_COMMITS = {
    "token_index": "a token is unique among all merchants, and is looked up without a merchant",
    "inbound_receipt": "a receipt is unique among all merchants by its rail's reference",
    "audit_entry": "its trigger reads the entry before; the operator's chain has no merchant",
    "merchant_key": "it is read with the mid, before the merchant is known",
    "signing_secret": "the same commits replace secrets and keys",
}

# On the coordinator, unknown to Citus.
ON_COORDINATOR = {
    "deployment": "one row",
    "migration": "of the schema",
    "data_key": "of the deployment",
    "wrapped_key": "of the deployment",
    "key_move": "of the deployment",
    "api_process": "of the deployment; written every second",
    "advance_lease": "of the sandbox; read before jobs are claimed",
    "bill_category": "the catalogue is the same for all merchants",
    "bill_edition": "the catalogue is the same for all merchants",
    "bill_refresh": "the catalogue is the same for all merchants",
    "bill_item": "the catalogue is the same for all merchants",
    "biller": "the catalogue is the same for all merchants",
    "exchange_rate": "rates are the same for all merchants",
    "book_close": "a close is of all merchants",
    "book_close_level": "a close is of all merchants",
    "book_close_head": "written with book_close",
    "book_close_mark": "written with book_close",
    "daily_total": "has sums of all merchants too, counted in the same commit",
    "daily_total_mark": "written with daily_total",
    "invariant_result": "of all merchants",
    "approval": "of the operator",
    "authority_policy": "of the deployment",
    "console_user": "of the console",
    "console_session": "of the console",
    "console_link": "of the console",
    "console_device": "of the console",
    "console_list": "of the console",
    "sign_in_throttle": "of the console",
    "request_record": "of the test environment; by mid",
    "world": "of the test environment; by mid",
    "world_part": "of world",
    "rail_balance": "of rails",
    "rail_dispute": "of rails; its merchant may be unknown",
    "rail_health": "of rails",
    "rail_inbox": "of rails",
    "rail_listing": "of rails",
    "rail_settlement": "of rails",
    "rail_shadow": "of rails",
    "rail_shadow_difference": "of rails",
    "account_listing": "of rails",
    "vendor_account": "of rails",
    "vendor_account_alias": "of rails",
    "statement_account": "of the operator's bank statements",
    "statement_import": "of the operator's bank statements",
    "statement_line": "of the operator's bank statements; its merchant may be unknown",
    "reconciled_entry": "written with statement_line",
    "reconciliation_decision": "of the operator's bank statements; its merchant may be unknown",
}

# Tables by merchant with a column that the database numbers. The coordinator numbers it, so that the order is one.
NUMBERED = frozenset(
    {
        "transaction",
        "scheduled_job",
        "payment_plan",
        "beneficiary",
        "virtual_card",
        "saved_card",
        "checkout",
        "pay_link",
        "operator_notice",
    }
)


@cache
def is_by_merchant(table: str) -> bool:
    return table in BY_MERCHANT
