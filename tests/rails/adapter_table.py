"""The table of adapters: for each of them and each thing that an adapter must be shown to do, the tests that show it.

An adapter is a vendor and a purpose, such as `paystack transfers`. A pair that has no test says why it needs none.
`test_adapter_table.py` fails while a pair is missing, or a test that is named does not exist.
"""

from collections.abc import Mapping

from tests.rails.adapter_rows import (
    EARLY,
    EVERY,
    LIVE,
    LIVE_ACCOUNTS,
    LIVE_COLLECTION,
    LOST,
    NO_DATE,
    NO_REFUNDS,
    NO_TOKENS,
    OF_LOOK_UPS,
    OWN_ACCOUNTS,
    QUIET,
    REMOTE,
    REMOTE_ACCOUNTS,
    SHARED_CLIENT,
    SHARED_ROUTE,
    Cell,
    NotNeeded,
    shown,
)

PAYSTACK: Mapping[str, Mapping[str, Cell]] = {
    "paystack transfers": {
        "statuses": shown(
            "vendors/test_paystack.py::test_statuses",
            "vendors/test_paystack.py::test_outcomes",
            "vendors/test_paystack.py::test_refusals_of_an_order_that_the_vendor_does_not_know",
            "vendors/test_paystack.py::test_short_balance_tells_the_operator_and_nothing_is_done",
        ),
        "undocumented": shown(
            "vendors/test_paystack.py::test_statuses",
            "vendors/test_paystack.py::test_refusals_of_an_order_that_the_vendor_does_not_know",
        ),
        "faults": shown(
            EVERY,
            "vendors/test_paystack.py::test_lost_answer_then_query",
            "vendors/test_paystack.py::test_trouble_before_the_money_call_means_that_nothing_was_sent",
        ),
        "lost": shown(LOST, f"{LIVE}::test_lost_transfer_is_asked_after_and_paid_once"),
        "duplicate": shown("vendors/test_paystack.py::test_used_reference_is_looked_up_and_paid_once"),
        "token": NO_TOKENS,
        "midnight": NO_DATE,
        "refund twice": NO_REFUNDS,
        "signature": shown(
            "vendors/test_paystack.py::test_signed_callback_names_its_order",
            f"{LIVE}::test_signed_call_back_ends_a_transfer",
        ),
        "order of call-backs": shown(EARLY, f"{LIVE}::test_reversed_transfer_becomes_a_notice"),
        "strangers": shown(
            "vendors/test_paystack.py::test_callback_of_nobody_names_no_order",
            "vendors/test_paystack.py::test_statuses",
            note="an amount is never read from a call-back: the query's is compared with the order's",
        ),
        "amounts": shown("vendors/test_paystack.py::test_amounts_are_exact_on_the_wire"),
        "secrets": shown(
            EVERY,
            QUIET,
            "vendors/test_paystack.py::test_wrong_key_tells_the_operator_and_shows_nothing",
            f"{LIVE}::test_no_secret_is_logged",
        ),
    },
    "paystack payments": {
        "statuses": shown(
            "vendors/test_paystack_collection.py::test_every_status_of_a_payment",
            "vendors/test_paystack_collection.py::test_what_a_bank_asks_of_its_customer",
            "vendors/test_paystack_collection.py::test_every_status_of_a_refund",
            "vendors/test_paystack_collection.py::test_refund_above_the_payment_fails_and_one_without_balance_waits",
        ),
        "undocumented": shown(
            "vendors/test_paystack_collection.py::test_every_status_of_a_payment",
            "vendors/test_paystack_collection.py::test_unknown_reference_is_not_found_and_other_refusals_are_no_verdict",
        ),
        "faults": shown(EVERY, "vendors/test_paystack_collection.py::test_faults_of_a_begin"),
        "lost": shown(
            "vendors/test_lost_orders.py::test_lost_payment_at_paystack_is_sent_once_whatever_its_query_says",
            "vendors/test_collection_contract.py::test_a_lost_begin_is_found_with_what_the_payer_must_do",
            f"{LIVE_COLLECTION}::test_lost_charge_of_a_saved_card_is_charged_once",
        ),
        "duplicate": shown(
            "vendors/test_paystack_collection.py::test_lost_charge_of_a_saved_card_is_asked_after_and_charged_once"
        ),
        "token": NO_TOKENS,
        "midnight": NO_DATE,
        "refund twice": shown(
            "vendors/test_paystack_collection.py::test_lost_refund_is_found_by_its_note_and_sent_once",
            "vendors/test_paystack_collection.py::"
            "test_refund_that_is_not_listed_is_unknown_for_an_hour_and_never_sent_again",
            "vendors/test_live_collection_kill.py::test_kill_between_begin_and_query_and_during_a_refund",
        ),
        "signature": shown("vendors/test_paystack.py::test_signed_callback_names_its_order"),
        "order of call-backs": shown(
            f"{LIVE_COLLECTION}::test_card_is_paid_on_the_page_and_a_call_back_ends_it",
            f"{LIVE_COLLECTION}::test_payer_who_pays_after_a_decline_gets_the_money_back",
            EARLY,
            note=SHARED_ROUTE,
        ),
        "strangers": shown(
            "vendors/test_paystack_collection.py::test_call_backs_name_payments_and_refunds",
            "vendors/test_paystack_collection.py::test_success_of_another_sum_is_unreadable_with_a_notice",
            "vendors/test_paystack_collection.py::test_refund_of_another_amount_or_currency_is_unreadable",
        ),
        "amounts": shown(
            "vendors/test_paystack_collection.py::test_amounts_are_exact_on_the_wire_and_back",
            note="the vendor takes 50 naira at least, so that 1 and 99 kobo come on top of these",
        ),
        "secrets": shown(
            EVERY,
            QUIET,
            "vendors/test_paystack_collection.py::test_nothing_secret_is_shown_by_orders_and_answers",
            f"{LIVE_COLLECTION}::test_no_secret_is_logged_or_stored_in_clear",
        ),
    },
    "paystack accounts": {
        "statuses": shown(
            "vendors/test_paystack_accounts.py::test_refusals",
            "vendors/test_paystack_accounts.py::test_statuses_of_receipts",
            "vendors/test_paystack_accounts.py::test_trouble_with_our_account_is_the_operators",
        ),
        "undocumented": shown(
            "vendors/test_paystack_accounts.py::test_statuses_of_receipts",
            "vendors/test_paystack_accounts.py::test_account_that_was_not_ordered_is_unreadable",
            "vendors/test_paystack_accounts.py::test_unclear_answer_about_a_receipt_is_no_answer",
        ),
        "faults": shown(
            EVERY, "vendors/test_paystack_accounts.py::test_lost_answer_is_asked_after_and_one_account_is_opened"
        ),
        "lost": shown(
            "vendors/test_paystack_accounts.py::test_lost_answer_is_asked_after_and_one_account_is_opened",
            "vendors/test_paystack_accounts.py::test_account_that_is_assigned_later_is_in_progress_until_then",
            f"{LIVE_ACCOUNTS}::test_lost_answer_to_the_opening_is_asked_after_and_one_account_is_opened",
        ),
        "duplicate": shown("vendors/test_paystack_accounts.py::test_second_opening_looks_first_and_opens_nothing"),
        "token": NO_TOKENS,
        "midnight": NO_DATE,
        "refund twice": shown(
            f"{LIVE_ACCOUNTS}::test_money_that_came_into_an_account_is_refunded_to_its_sender",
            f"{LIVE_ACCOUNTS}::test_money_in_suspense_is_returned_to_its_sender_by_its_rail",
        ),
        "signature": shown("vendors/test_paystack.py::test_signed_callback_names_its_order"),
        "order of call-backs": shown(
            f"{LIVE_ACCOUNTS}::test_two_payments_are_booked_once_each_whatever_repeats",
            f"{LIVE_ACCOUNTS}::test_account_that_is_assigned_later_says_so_and_opens_by_its_call_back",
            f"{LIVE_ACCOUNTS}::test_payment_that_is_still_pending_is_asked_after_until_it_ends",
        ),
        "strangers": shown(
            "vendors/test_hints_and_feeds.py::test_hints_of_paystack",
            f"{LIVE_ACCOUNTS}::test_money_for_an_unknown_account_is_shown_and_booked_nowhere",
            f"{LIVE_ACCOUNTS}::test_the_rails_word_is_booked_and_not_the_call_backs",
        ),
        "amounts": shown("vendors/test_paystack_accounts.py::test_receipt_is_fetched_exactly"),
        "secrets": shown(EVERY, QUIET, f"{LIVE_ACCOUNTS}::test_no_secret_or_bvn_is_logged"),
    },
    "paystack feeds": {
        **OF_LOOK_UPS,
        "statuses": shown("vendors/test_hints_and_feeds.py::test_disputes_and_settlements_of_paystack"),
        "undocumented": shown("vendors/test_hints_and_feeds.py::test_forms_that_nobody_documents_are_not_recorded"),
        "faults": shown(EVERY),
        "token": NO_TOKENS,
        "signature": shown("vendors/test_paystack.py::test_signed_callback_names_its_order"),
        "order of call-backs": shown(
            f"{LIVE_ACCOUNTS}::test_dispute_is_a_notice_at_once_and_again_when_it_is_resolved",
            f"{LIVE_ACCOUNTS}::test_a_dispute_that_is_announced_when_it_is_lost_is_opened_and_lost",
        ),
        "strangers": shown("vendors/test_hints_and_feeds.py::test_bodies_that_cannot_be_read_are_no_hints"),
        "amounts": shown("vendors/test_hints_and_feeds.py::test_disputes_and_settlements_of_paystack"),
        "secrets": shown(EVERY, QUIET),
    },
    "paystack disputes": {
        **OF_LOOK_UPS,
        "statuses": shown(
            "vendors/test_paystack_disputes.py::test_accepted_dispute_is_accepted_there_with_its_amount",
            "vendors/test_paystack_disputes.py::test_what_the_vendor_does_not_take_is_left_to_the_operator",
        ),
        "undocumented": shown(
            "vendors/test_paystack_disputes.py::test_what_the_vendor_does_not_take_is_left_to_the_operator"
        ),
        "faults": shown(
            EVERY, "vendors/test_paystack_disputes.py::test_lost_answer_is_looked_up_and_the_dispute_answered_once"
        ),
        "lost": shown("vendors/test_paystack_disputes.py::test_lost_answer_is_looked_up_and_the_dispute_answered_once"),
        "duplicate": shown("vendors/test_paystack_disputes.py::test_texts_and_files_are_handed_in_once"),
        "token": NO_TOKENS,
        "amounts": shown("vendors/test_paystack_disputes.py::test_accepted_dispute_is_accepted_there_with_its_amount"),
        "secrets": shown(
            EVERY, QUIET, "vendors/test_paystack_disputes.py::test_wrong_key_tells_the_operator_and_nothing_is_shown"
        ),
    },
}

MONNIFY: Mapping[str, Mapping[str, Cell]] = {
    "monnify transfers": {
        "statuses": shown(
            "vendors/test_monnify.py::test_statuses",
            "vendors/test_monnify.py::test_outcomes",
            "vendors/test_monnify.py::test_refusals_of_the_order_itself",
            "vendors/test_monnify.py::test_equal_transfer_within_two_minutes_waits",
            "vendors/test_monnify.py::test_short_wallet_tells_the_operator_and_nothing_is_done",
        ),
        "undocumented": shown(
            "vendors/test_monnify.py::test_statuses",
            "vendors/test_monnify.py::test_query_that_is_refused_for_another_reason_says_nothing",
        ),
        "faults": shown(
            EVERY,
            "vendors/test_monnify.py::test_lost_answer_then_query",
            "vendors/test_monnify.py::test_trouble_before_the_money_call_means_that_nothing_was_sent",
        ),
        "lost": shown(LOST),
        "duplicate": shown("vendors/test_monnify.py::test_used_reference_is_looked_up_and_paid_once"),
        "token": shown(
            "vendors/test_monnify.py::test_token_that_ends_during_an_order_is_renewed_and_it_is_sent_once",
            "vendors/test_monnify.py::test_one_token_serves_many_calls_until_it_is_old",
        ),
        "midnight": NO_DATE,
        "refund twice": NO_REFUNDS,
        "signature": shown(
            "vendors/test_monnify.py::test_signed_callback_names_its_order",
            "vendors/test_monnify.py::test_unsigned_callback_is_accepted_only_if_that_is_allowed",
        ),
        "order of call-backs": shown(EARLY, note=SHARED_ROUTE),
        "strangers": shown(
            "vendors/test_monnify.py::test_callback_of_nobody_names_no_order", "vendors/test_monnify.py::test_statuses"
        ),
        "amounts": shown("vendors/test_monnify.py::test_amounts_are_exact_on_the_wire"),
        "secrets": shown(EVERY, QUIET, "vendors/test_monnify.py::test_wrong_keys_tell_the_operator_and_show_nothing"),
    },
    "monnify payments": {
        "statuses": shown(
            "vendors/test_monnify_collection.py::test_every_status_of_a_payment",
            "vendors/test_monnify_collection.py::test_every_status_of_a_refund",
            "vendors/test_monnify_collection.py::test_refused_refunds_fail",
            "vendors/test_monnify_collection.py::test_refunds_wait_for_our_wallet_and_for_banks",
        ),
        "undocumented": shown(
            "vendors/test_monnify_collection.py::test_every_status_of_a_payment",
            "vendors/test_monnify_collection.py::test_every_status_of_a_refund",
        ),
        "faults": shown(EVERY, "vendors/test_monnify_collection.py::test_faults_of_a_begin"),
        "lost": shown(
            "vendors/test_lost_orders.py::test_lost_payment_at_monnify_is_sent_once_whatever_its_query_says",
            "vendors/test_monnify_collection.py::test_lost_answers_of_a_transfer_lead_to_the_same_account",
        ),
        "duplicate": shown(
            "vendors/test_monnify_collection.py::test_lost_charge_of_a_saved_card_is_asked_after_and_charged_once"
        ),
        "token": shown(
            "vendors/test_monnify_collection.py::"
            "test_token_that_expires_in_the_middle_is_renewed_and_the_order_sent_once"
        ),
        "midnight": NO_DATE,
        "refund twice": shown(
            "vendors/test_monnify_collection.py::test_lost_refund_is_found_by_its_reference_and_paid_once"
        ),
        "signature": shown("vendors/test_monnify.py::test_signed_callback_names_its_order"),
        "order of call-backs": shown(f"{LIVE_COLLECTION}::test_one_time_account_is_paid", EARLY, note=SHARED_ROUTE),
        "strangers": shown(
            "vendors/test_monnify_collection.py::test_call_backs_name_payments_and_refunds",
            "vendors/test_monnify_collection.py::test_payment_of_another_amount_currency_or_reference_is_unreadable",
            "vendors/test_monnify_collection.py::test_refund_of_another_amount_is_unreadable",
        ),
        "amounts": shown(
            "vendors/test_monnify_collection.py::test_amounts_are_exact_on_the_wire_and_back",
            note="the vendor takes 20 naira at least, so that 1 and 99 kobo come on top of these",
        ),
        "secrets": shown(EVERY, QUIET, f"{LIVE_COLLECTION}::test_no_secret_is_logged_or_stored_in_clear"),
    },
    "monnify accounts": {
        "statuses": shown(
            "vendors/test_monnify_accounts.py::test_refusals",
            "vendors/test_monnify_accounts.py::test_statuses_of_receipts",
            "vendors/test_monnify_accounts.py::test_trouble_with_our_contract_is_the_operators",
        ),
        "undocumented": shown(
            "vendors/test_monnify_accounts.py::test_statuses_of_receipts",
            "vendors/test_monnify_accounts.py::test_account_that_was_not_ordered_is_unreadable",
        ),
        "faults": shown(
            EVERY, "vendors/test_monnify_accounts.py::test_lost_answer_is_asked_after_and_one_account_is_opened"
        ),
        "lost": shown(
            "vendors/test_monnify_accounts.py::test_lost_answer_is_asked_after_and_one_account_is_opened",
            "vendors/test_monnify_accounts.py::test_query_that_is_not_answered_says_nothing_of_the_account",
        ),
        "duplicate": shown("vendors/test_monnify_accounts.py::test_second_opening_returns_the_first_account"),
        "token": shown("vendors/test_monnify_accounts.py::test_token_that_ends_is_renewed_and_the_account_opened_once"),
        "midnight": NO_DATE,
        "refund twice": NO_REFUNDS,
        "signature": shown("vendors/test_monnify.py::test_signed_callback_names_its_order"),
        "order of call-backs": shown(
            f"{LIVE_ACCOUNTS}::test_two_payments_are_booked_once_each_whatever_repeats", note=SHARED_ROUTE
        ),
        "strangers": shown(
            "vendors/test_hints_and_feeds.py::test_hints_of_monnify",
            "vendors/test_monnify_accounts.py::test_receipt_that_cannot_be_trusted_is_unreadable",
        ),
        "amounts": shown("vendors/test_monnify_accounts.py::test_receipt_is_fetched_exactly"),
        "secrets": shown(
            EVERY, QUIET, "vendors/test_monnify_accounts.py::test_nothing_of_the_owner_is_in_the_order_as_text"
        ),
    },
    "monnify identities": {
        **OF_LOOK_UPS,
        "statuses": shown(
            "vendors/test_monnify_identity.py::test_monnify_says_how_far_a_claim_agrees",
            "vendors/test_monnify_identity.py::test_refusals",
        ),
        "undocumented": shown("vendors/test_monnify_identity.py::test_refusals"),
        "faults": shown(EVERY, "vendors/test_monnify_identity.py::test_faults"),
        "token": shown("vendors/test_monnify.py::test_one_token_serves_many_calls_until_it_is_old"),
        "secrets": shown(EVERY, QUIET, f"{LIVE_ACCOUNTS}::test_no_secret_or_bvn_is_logged"),
    },
    "monnify feeds": {
        **OF_LOOK_UPS,
        "statuses": shown("vendors/test_hints_and_feeds.py::test_settlement_of_monnify_is_the_sum_of_its_payments"),
        "undocumented": shown("vendors/test_hints_and_feeds.py::test_forms_that_nobody_documents_are_not_recorded"),
        "faults": shown(
            "vendors/test_every_adapter.py::test_feed_that_has_nothing_to_ask_makes_no_call",
            "vendors/test_client.py::test_outcomes",
            note="a settlement is fetched through the client that judges every fault; disputes cannot be asked for",
        ),
        "token": shown("vendors/test_monnify.py::test_one_token_serves_many_calls_until_it_is_old"),
        "signature": shown("vendors/test_monnify.py::test_signed_callback_names_its_order"),
        "order of call-backs": NotNeeded("a settlement is stored as it is fetched, whenever and however often"),
        "strangers": shown("vendors/test_hints_and_feeds.py::test_hints_of_monnify"),
        "amounts": shown("vendors/test_hints_and_feeds.py::test_settlement_of_monnify_is_the_sum_of_its_payments"),
        "secrets": shown(QUIET),
    },
}

OTHERS: Mapping[str, Mapping[str, Cell]] = {
    "vtpass bills": {
        "statuses": shown("vendors/test_vtpass_codes.py::test_codes", "vendors/test_vtpass_codes.py::test_statuses"),
        "undocumented": shown(
            "vendors/test_vtpass.py::test_undocumented_code_is_unreadable",
            "vendors/test_vtpass_codes.py::test_statuses",
            "vendors/test_vtpass_codes.py::test_missing_transaction_is_unreadable",
        ),
        "faults": shown(
            EVERY,
            "vendors/test_vtpass.py::test_lost_answer_then_query",
            "vendors/test_vtpass.py::test_unreachable_vendor_has_nothing",
        ),
        "lost": shown(LOST, f"{LIVE}::test_lost_answer_is_asked_after_and_nothing_is_sold_twice"),
        "duplicate": shown("vendors/test_vtpass.py::test_used_request_id_is_looked_up_and_sold_once"),
        "token": NO_TOKENS,
        "midnight": shown(
            "vendors/test_vtpass.py::test_nothing_is_sent_after_midnight",
            "vendors/test_vtpass.py::test_bill_that_was_sold_before_midnight_is_found_after_it",
        ),
        "refund twice": NO_REFUNDS,
        "signature": shown(
            "vendors/test_vtpass.py::test_callback_names_its_order",
            "vendors/test_vtpass.py::test_callback_without_the_secret_is_refused",
            note="its call-backs are not signed: the path has a secret, and nothing in the body is believed",
        ),
        "order of call-backs": shown(
            f"{LIVE}::test_call_back_makes_the_service_ask_at_once",
            f"{LIVE}::test_reversal_after_success_becomes_one_notice",
            EARLY,
            note=SHARED_ROUTE,
        ),
        "strangers": shown(
            "vendors/test_vtpass.py::test_callback_of_nobody_names_no_order",
            "vendors/test_vtpass_codes.py::test_another_amount_or_request_id_is_unreadable_and_tells_the_operator",
        ),
        "amounts": shown(
            "vendors/test_vtpass.py::test_amounts_are_exact_on_the_wire",
            "vendors/test_vtpass.py::test_part_of_a_naira_is_never_sent",
            note="the vendor takes whole naira: parts are refused when the bill is taken",
        ),
        "secrets": shown(
            EVERY,
            QUIET,
            "vendors/test_vtpass.py::test_wrong_keys_tell_the_operator_and_show_nothing",
            f"{LIVE}::test_no_secret_is_logged",
        ),
    },
    "termii messages": {
        **OF_LOOK_UPS,
        "statuses": shown(
            "vendors/test_termii.py::test_a_refusal_is_final_for_the_message_unless_it_is_about_our_account",
            "vendors/test_termii.py::test_too_many_requests_hold_the_next_message_back",
        ),
        "undocumented": shown("vendors/test_termii.py::test_an_answer_that_nobody_documents_is_not_known"),
        "faults": shown(EVERY, "vendors/test_termii.py::test_faults"),
        "lost": NotNeeded("the vendor cannot be asked for a message: one whose answer was lost is not sent again"),
        "duplicate": NotNeeded("a message has no key: the vendor knows no second sending"),
        "token": NO_TOKENS,
        "secrets": shown(EVERY, QUIET, "vendors/test_termii.py::test_a_wrong_key_tells_the_operator_and_is_not_shown"),
    },
    "dojah identities": {
        **OF_LOOK_UPS,
        "statuses": shown(
            "vendors/test_dojah.py::test_refusals",
            "vendors/test_dojah.py::test_unknown_bvn",
            "vendors/test_dojah.py::test_used_up_balance_tells_the_operator",
        ),
        "undocumented": shown("vendors/test_dojah.py::test_undocumented_replies_are_unreadable"),
        "faults": shown(EVERY, "vendors/test_dojah.py::test_faults"),
        "token": NO_TOKENS,
        "secrets": shown(EVERY, QUIET, "vendors/test_dojah.py::test_wrong_keys_tell_the_operator_and_show_nothing"),
    },
}

OF_REMOTE: Mapping[str, Cell] = {
    "statuses": shown(
        f"{REMOTE}::test_outcomes_of_a_transfer", f"{REMOTE}::test_refusals_of_a_transfer", note=SHARED_CLIENT
    ),
    "undocumented": shown(
        f"{REMOTE}::test_outcomes_of_a_transfer", f"{REMOTE}::test_an_answer_that_is_not_signed_is_not_believed"
    ),
    "faults": shown(EVERY, f"{REMOTE}::test_lost_answers", note=SHARED_CLIENT),
    "lost": shown(LOST, note=SHARED_CLIENT),
    "duplicate": shown(f"{REMOTE}::test_a_used_key_is_looked_up_and_never_fails_the_order", note=SHARED_CLIENT),
    "token": NotNeeded("each request is signed with a secret that does not expire"),
    "midnight": NO_DATE,
    "refund twice": NO_REFUNDS,
    "signature": shown(f"{REMOTE}::test_call_backs_with_a_wrong_signature_are_refused"),
    "order of call-backs": shown(
        "remote/test_remote_live.py::test_a_call_back_ends_a_transfer_before_it_would_be_asked_for",
        EARLY,
        note=SHARED_ROUTE,
    ),
    "strangers": shown(f"{REMOTE}::test_call_backs_name_an_order", f"{REMOTE}::test_outcomes_of_a_transfer"),
    "amounts": shown(f"{REMOTE}::test_amounts_are_exact", f"{REMOTE}::test_amounts_of_every_message_are_exact"),
    "secrets": shown(
        EVERY,
        QUIET,
        f"{REMOTE}::test_secrets_and_cards_are_not_shown",
        "remote/test_remote_live.py::test_doctor_speaks_to_the_rail_and_no_secret_is_logged",
    ),
}

REMOTES: Mapping[str, Mapping[str, Cell]] = {
    "remote transfers": {**OF_REMOTE, "lost": shown(LOST)},
    "remote bills": {
        **OF_REMOTE,
        "statuses": shown(f"{REMOTE}::test_bills", f"{REMOTE}::test_outcomes_of_a_transfer", note=SHARED_CLIENT),
    },
    "remote payments": {
        **OF_REMOTE,
        "statuses": shown(
            f"{REMOTE}::test_payments_and_refunds", f"{REMOTE}::test_outcomes_of_a_transfer", note=SHARED_CLIENT
        ),
        "refund twice": shown(
            f"{REMOTE_ACCOUNTS}::test_money_that_comes_in_is_found_listed_and_given_back_once",
            f"{REMOTE}::test_a_used_key_is_looked_up_and_never_fails_the_order",
            note="refunds have keys of ours: a second one under the same key is the first",
        ),
    },
    "remote accounts": {
        **OF_REMOTE,
        "statuses": shown(f"{REMOTE_ACCOUNTS}::test_states_of_an_account"),
        "undocumented": shown(f"{REMOTE_ACCOUNTS}::test_an_answer_for_another_account_is_unreadable"),
        "lost": shown(f"{REMOTE_ACCOUNTS}::test_an_account_whose_answer_is_lost_may_be_open"),
        "duplicate": OWN_ACCOUNTS,
        "order of call-backs": shown(
            "remote/test_remote_collect_live.py::test_money_that_comes_into_an_account_is_booked_once"
        ),
        "strangers": shown(
            f"{REMOTE_ACCOUNTS}::test_a_call_back_of_a_credit_is_a_hint",
            f"{REMOTE_ACCOUNTS}::test_an_answer_for_another_account_is_unreadable",
        ),
    },
    "remote identities": {
        **OF_LOOK_UPS,
        "statuses": shown(f"{REMOTE}::test_people", f"{REMOTE}::test_refusals_of_a_look_up"),
        "undocumented": shown(
            f"{REMOTE}::test_refusals_of_a_look_up", f"{REMOTE}::test_an_answer_that_is_not_signed_is_not_believed"
        ),
        "faults": shown(EVERY),
        "token": OF_REMOTE["token"],
        "secrets": OF_REMOTE["secrets"],
    },
}

TABLE: Mapping[str, Mapping[str, Cell]] = {**PAYSTACK, **MONNIFY, **OTHERS, **REMOTES}
