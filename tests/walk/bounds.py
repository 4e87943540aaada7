"""Values around bounds that docs/contract names: at each bound, just within it and just beyond it.

A test takes its values from here, by the decorator `tries` or by a loop over `sides`, so that it tries all of them. The
table of contract_bounds.py says which words of the contract a bound belongs to, and which test tries it.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import pytest


class Bound(NamedTuple):
    """Values that are accepted up to a bound and refused beyond it."""

    test: str  # path and name of the test that tries it
    within: tuple[Any, ...]
    beyond: tuple[Any, ...]

    @property
    def sides(self) -> tuple[tuple[Any, bool], ...]:
        """Every value, with whether it is within."""
        return (*((value, True) for value in self.within), *((value, False) for value in self.beyond))

    @property
    def tries(self) -> pytest.MarkDecorator:
        """Runs a test for every value, as `value` and `is_within`."""
        return pytest.mark.parametrize(("value", "is_within"), self.sides)


class Shown(NamedTuple):
    """The most that a reply shows of what there is."""

    test: str
    most: int

    @property
    def sides(self) -> tuple[tuple[int, int], ...]:
        """Every number of things to try, with how many of them are shown."""
        return tuple((count, min(count, self.most)) for count in (self.most - 1, self.most, self.most + 1))

    @property
    def tries(self) -> pytest.MarkDecorator:
        return pytest.mark.parametrize(("count", "shown"), self.sides)


class OwnValues(NamedTuple):
    """A test with values of its own, and why it takes none from a bound."""

    test: str
    reason: str


def whole(test: str, least: int, most: int) -> Bound:
    """Returns the bound of whole numbers, both included."""
    return Bound(test, (least, least + 1, most - 1, most), (least - 1, most + 1))


def at_most(test: str, most: int) -> Bound:
    return Bound(test, (most - 1, most), (most + 1,))


def named_bounds() -> Iterator[tuple[str, Bound | Shown]]:
    """Yields every bound of this module with its name."""
    for name, value in globals().items():
        if isinstance(value, Bound | Shown):
            yield name, value


HERE = "walk/test_contract_bounds.py::"

# --- amounts and percentages ----------------------------------------------------------------------------------------

INVOICE_VAT = Bound(
    HERE + "test_the_vat_of_an_invoice_is_at_most_100_percent", ("0", "99.999999", "100"), ("100.000001",)
)
INVOICE_PART = Bound(
    HERE + "test_a_part_of_an_invoice_has_and_leaves_at_least_the_smallest_amount",
    (100, 101, 99_899, 99_900, 100_000),
    (99, 99_901, 99_999, 100_001),
)
DISPUTED = Bound(
    HERE + "test_what_was_charged_and_not_refunded_can_be_disputed_and_no_more", ("999.99", "1000.00"), ("1000.01",)
)
INTEREST_A_YEAR = Bound(
    HERE + "test_interest_comes_to_1000_percent_a_year_and_no_more",
    (("1000", "annualized"), ("83.333332", "every_month"), ("83.333333", "every_month")),
    (("83.333334", "every_month"), ("1000", "every_month")),
)
TAX = Bound(HERE + "test_tax_is_at_most_all_of_the_interest", ("0", "99.999999", "100"), ("100.000001",))
BILLER_AMOUNT = Bound(
    "methods/bills/test_pay_bill.py::test_an_open_amount_is_bounded_by_its_biller",
    ("500.00", "500.01", "999999.99", "1000000.00"),
    ("499.99", "1000000.01"),
)
DRAWN = Bound(
    "methods/cashcode/test_http.py::test_a_terminal_draws_up_to_the_amount", ("4999.99", "5000.00"), ("5000.01",)
)
WITHDRAWN = Bound(
    "methods/virtualcard/test_model.py::test_a_withdrawal_is_at_most_what_the_card_holds",
    ("99.99", "100.00"),
    ("100.01",),
)
CARD_DAY = Bound(
    "methods/virtualcard/test_http_purchase.py::test_a_card_spends_its_limit_of_a_day_in_lagos_and_no_more",
    ("19.99", "20.00"),
    ("20.01",),
)
CARD_VELOCITY_COUNT = Bound(
    "methods/virtualcard/test_controls.py::test_purchases_are_counted_within_hours_that_end_with_each_purchase",
    (1, 3),
    (4,),
)
DECIDER_REASON = Bound("rails/test_deciders.py::test_a_reason_has_at_most_200_characters", (199, 200), (201,))
# Bytes.
DECIDER_BODY = Bound("rails/test_deciders.py::test_an_answer_is_at_most_4_kib", (4095, 4096), (4097,))
# Failures in a row, after which a decider is still asked or not.
DECIDER_PAUSE = Bound("rails/test_deciders.py::test_a_dead_decider_is_left_alone_for_a_while", (4,), (5,))
# Questions that are under way, and one more.
DECIDER_PLACES = Bound("rails/test_deciders.py::test_a_slow_decider_keeps_its_share_and_no_more", (31,), (32,))
CARD_ABOVE = Bound(
    "methods/virtualcard/test_authorization.py::test_a_capture_may_be_a_fifth_above_its_authorization_and_no_more",
    ("40.01", "48.00"),
    ("48.01",),
)
# Hours.
CARD_HOLD_LIFE = Bound(
    "methods/virtualcard/test_authorization.py::test_an_authorization_expires_after_seven_days", (167,), (168, 169)
)
# Days, less a second.
CARD_DISPUTE_DAYS = Bound(
    "methods/virtualcard/test_card_disputes.py::test_a_purchase_is_disputed_within_120_days", (0.5, 120), (121,)
)
CARD_WINDOW = Bound(
    "methods/virtualcard/test_controls.py::test_a_card_with_a_velocity_pays_a_bounded_number_of_purchases",
    (499, 500),
    (501,),
)
CARD_VELOCITY_AMOUNT = Bound(
    "methods/virtualcard/test_controls.py::test_amounts_are_added_up_within_hours", ("19.99", "20"), ("20.01",)
)
LEAST_BALANCE = Bound(
    "methods/payouts/test_rules.py::test_the_balance_and_not_what_the_fee_leaves_of_it_must_reach_the_least",
    (500_000, 500_001),
    (499_999,),
)
INSTALLMENT_SUM = Bound(
    "methods/payment/test_http_plans.py::test_a_schedule_adds_up_to_all_and_no_more", (50,), (49, 51)
)
REFUNDED = Bound(
    "methods/payment/test_refund.py::test_what_was_charged_and_not_refunded_is_refunded_and_no_more",
    ("499.99", "500.00"),
    ("500.01",),
)
SPLIT_PERCENTAGE = Bound(
    "transactions/test_splits.py::test_a_percentage_is_above_0_and_at_most_100",
    ("0.0001", "99.9999", "100"),
    ("0", "100.0001"),
)
RECOVERED = at_most("methods/loans/test_repay.py::test_repayments_are_recovered_up_to_what_was_written_off", 126_188)
PAYOFF = Bound(
    "methods/loans/test_http_repay.py::test_the_payoff_by_card_closes_the_loan_and_more_is_refused",
    ("119999.99", "120000.00"),
    ("120000.01",),
)
RECEIVED_OUTSIDE = Bound(
    "methods/invoices/test_receive.py::test_what_is_outstanding_is_received_and_no_more",
    ("399.99", "400.00"),
    ("400.01",),
)
SENT_ALONE = Bound(
    "methods/disburse/test_http_approvals.py::test_a_transfer_of_the_amount_is_sent_and_more_waits",
    ("999.99", "1000.00"),
    ("1000.01",),
)
LEAST_LISTED = Bound(HERE + "test_transactions_are_filtered_by_amounts_both_included", ("100.00", "100.01"), ("99.99",))
MOST_LISTED = Bound(HERE + "test_transactions_are_filtered_by_amounts_both_included", ("99.99", "100.00"), ("100.01",))
FLAT_DISCOUNT = Bound(
    "methods/invoices/test_amounts.py::test_a_flat_discount_is_at_most_the_sum_of_the_items",
    ("499.99", "500.00"),
    ("500.01",),
)
POT = at_most("core/test_money_range.py::test_a_pot_of_two_is_at_most_the_largest_amount", 999_999_999_999_999_00 // 2)
PAYOUT = Shown(HERE + "test_a_payout_is_at_most_the_largest_transfer", 1_000_000_000)
# What the credit has more than the wallet lacks, in kobo.
SPARE_CREDIT = Bound(
    "methods/disputes/test_rules.py::test_a_dispute_is_covered_if_the_credit_is_what_the_wallet_lacks", (1, 0), (-1,)
)

# --- numbers and sizes ----------------------------------------------------------------------------------------------

LOAN_INSTALLMENTS = whole(HERE + "test_a_loan_has_1_to_366_installments", 1, 366)
PLAN_MEMBERS = whole(HERE + "test_a_plan_has_2_to_500_members", 2, 500)
SAVINGS_MONTHS = whole(HERE + "test_savings_mature_after_1_to_600_months", 1, 600)
TERM_DAYS = whole(HERE + "test_a_fixed_deposit_is_for_1_to_3650_days", 1, 3650)
HELD_DAYS = whole("methods/clients/test_tiers.py::test_a_deposit_is_held_for_1_to_90_days", 1, 90)
SHARES = whole(HERE + "test_a_request_is_for_1_to_1000000_shares", 1, 1_000_000)
KEY_NAME = whole(HERE + "test_the_name_of_a_key_has_1_to_60_characters", 1, 60)
VALID_KEYS = at_most(HERE + "test_a_merchant_has_50_valid_keys_and_no_more", 50)
TICKETS = at_most(HERE + "test_a_payer_chooses_twenty_tickets_and_no_more", 20)
PAYER_FORM = at_most(HERE + "test_a_form_of_a_payer_has_4_kib_and_no_more", 4096)
OWN_OBJECT = at_most(HERE + "test_an_object_of_ones_own_has_64_kib_and_no_more", 64 * 1024)
SEARCHED_LETTERS = Bound(HERE + "test_customers_are_searched_by_three_letters_of_a_word", ("ada", "adao"), ("ad",))
IDEMPOTENCY_KEY = whole("walk/test_reached_refusals.py::test_a_key_of_idempotency_has_1_to_255_characters", 1, 255)
EVIDENCE_BODY = at_most("methods/disputes/test_http_crossings.py::test_a_response_has_15_mib_and_no_more", 15 << 20)
BODY = at_most("api/test_replies.py::test_a_body_up_to_its_bound_is_read", 256 * 1024)
BULK_BODY = at_most(
    "methods/disburse/test_http_bulk.py::test_a_bulk_of_a_megabyte_is_read_and_more_is_not", 1024 * 1024
)
TICKET_CODE = Bound("methods/tickets/test_ticket_codes.py::test_a_code_has_twelve_characters", (12,), (11, 13))
FILES_AT_ONCE = at_most("methods/statements/test_files.py::test_a_merchant_gets_four_files_at_once_and_no_more", 4)
BULK_ORDERS = at_most(
    "methods/disburse/test_http_bulk.py::test_a_thousand_orders_go_and_one_more_is_refused_whole", 1000
)
CHECKOUT_ATTEMPTS = at_most("methods/checkout/test_attempt.py::test_attempts_are_bounded", 10)
PAGE_BYTES = at_most("api/test_pages.py::test_a_page_and_an_array_have_1_mib_and_no_more", 1 << 20)
ENDPOINTS = at_most(
    "console/test_endpoint_pages.py::test_endpoints_are_checked_bounded_tested_and_of_their_merchant_only", 10
)
# With the one that is searched, a request looks at one more.
NEWER_TRANSACTIONS = at_most("methods/transactions/test_http.py::test_rare_matches_are_found_beyond_the_window", 9_999)
PDF_MOVEMENTS = at_most("methods/statements/test_http.py::test_a_pdf_has_5000_movements_and_no_more", 5_000)
FORMS_AT_ONCE = at_most("pages/test_hosted_checkout.py::test_an_address_sends_40_forms_at_once_and_no_more", 40)
POSTINGS_SUMMED = at_most(
    "projections/test_settlement_sums.py::test_a_list_is_refused_only_for_a_million_postings_behind_the_mark",
    1_000_000,
)

# --- times ----------------------------------------------------------------------------------------------------------

KEY_OVERLAP_HOURS = Bound(HERE + "test_a_rolled_key_overlaps_for_seven_days_at_most", ("167.99", "168"), ("168.01",))
STATEMENT_DAYS = at_most(HERE + "test_a_statement_covers_367_days", 367)
SETTLEMENT_DAYS = at_most(HERE + "test_a_list_of_settlements_covers_93_days", 93)
PLAN_START = Bound(
    HERE + "test_a_plan_starts_today_or_within_ten_years",
    ("2026-01-05", "2026-01-06", "2036-01-04", "2036-01-05"),
    ("2026-01-04", "2036-01-06"),
)
CHECKOUT_LIFE = Bound(
    HERE + "test_a_checkout_lives_a_minute_to_30_days",
    ("2026-01-05T09:31:00.123457+00:00", "2026-02-04T09:30:00.123457+00:00"),
    ("2026-01-05T09:31:00.123456+00:00", "2026-02-04T09:30:00.123458+00:00"),
)
CASHCODE_MINUTES = whole("methods/cashcode/test_issue.py::test_a_code_lives_5_to_10080_minutes", 5, 10_080)
DUPLICATE_SECONDS = Bound(
    "methods/bills/test_pay_bill.py::test_the_same_payment_under_another_order_within_30_seconds_is_refused",
    (0, 29.999),
    (30, 30.001, 3600),
)
WAITING_SECONDS = Bound(
    "methods/disburse/test_approve.py::test_a_verdict_after_72_hours_comes_too_late",
    (72 * 3600 - 1,),
    (72 * 3600, 72 * 3600 + 1),
)
PARTS_DUE_DAY = Bound(
    "methods/loans/test_write_off.py::test_parts_are_written_off_from_the_day_on_which_they_are_due", (28, 29), (27,)
)
WRITE_OFF_WAITING_SECONDS = Bound(
    "methods/loans/test_write_off.py::test_a_write_off_waits_for_72_hours", (72 * 3600 - 1,), (72 * 3600, 72 * 3600 + 1)
)
# What is charged after the proposal, when 100.00 were repaid.
WRITE_OFF_GROWN = Bound(
    "methods/loans/test_write_off.py::test_a_changed_loan_is_written_off_up_to_the_proposed_amount",
    ("99.99", "100.00"),
    ("100.01",),
)
CHARGES_OF_LOAN = at_most("methods/loans/test_charges.py::test_a_loan_is_agreed_with_at_most_five_charges", 5)
CHARGES_OF_INSTALLMENT = at_most("methods/loans/test_charges.py::test_an_installment_has_at_most_fifty_charges", 50)
WAIVED = at_most("methods/loans/test_charges.py::test_no_more_is_waived_than_is_owed", 10_750)
PRODUCT_PERIOD = at_most("methods/loan_products/test_products.py::test_a_product_has_up_to_366_installments", 366)
PRODUCT_TOLERANCE = at_most(
    "methods/loan_products/test_products.py::test_a_product_has_up_to_365_days_of_tolerance", 365
)
FIRST_DUE_DAYS = Bound(
    "methods/loans/test_grace.py::test_the_first_due_date_is_a_day_from_tomorrow_on_within_a_year",
    (1, 365, 366),
    (0, 367),
)
RESCHEDULES = at_most("methods/loans/test_reschedule.py::test_a_loan_is_rescheduled_at_most_twelve_times", 12)
EXTRA_INSTALLMENTS = at_most("methods/loans/test_reschedule.py::test_a_loan_has_at_most_366_installments", 362)
WRITE_OFF_PARTS = whole("methods/loans/test_write_off.py::test_a_write_off_names_one_part_to_five", 1, 5)
OTP_SECONDS = Bound(
    "methods/payment/test_charge_card.py::test_an_otp_after_ten_minutes_is_refused_even_before_the_expiry_job_has_run",
    (599,),
    (600, 601),
)
DISPUTE_SECONDS = Bound(
    "methods/disputes/test_rules.py::test_a_dispute_is_answered_within_168_hours", (168 * 3600 - 1,), (168 * 3600,)
)
HEADER_SECONDS = Bound(
    "http/test_http_server.py::test_a_connection_without_complete_headers_is_closed_in_time", (0, 4.999), (5,)
)
STORED_REPLY = Bound(
    "engine/test_idempotency.py::test_a_key_is_kept_for_a_day_of_wall_time",
    (timedelta(0), timedelta(hours=24, microseconds=-1)),
    (timedelta(hours=24), timedelta(hours=24, microseconds=1)),
)
ATTEMPT_SECONDS = Bound(
    "methods/checkout/test_open_checkout.py::test_an_attempt_that_expires_in_time_leaves_the_checkout_open",
    (599,),
    (600, 601),
)
ACCOUNT_SECONDS = Bound(
    "methods/payment/test_inbound_transfer.py::test_an_account_of_a_payment_takes_money_for_ten_minutes",
    (599, 600),
    (600.000001, 601),
)
HOUR_OF_DAY = whole("transactions/test_schedule.py::test_an_hour_is_from_0_to_23", 0, 23)
DAY_OF_MONTH = whole("transactions/test_schedule.py::test_a_day_of_a_month_is_from_1_to_30", 1, 30)
LOAN_DUE_DAY = Bound(
    "methods/loans/test_repay.py::test_without_an_amount_all_that_is_due_is_paid_today_included",
    ("2026-03-31", "2026-04-01"),
    ("2026-03-30",),
)
PAYER_SECONDS = Bound(
    "methods/payment/test_http.py::test_a_payment_that_the_payer_does_not_complete_fails_at_expiry",
    (599,),
    (600, 601),
)
CARD_SECONDS = Bound(
    "methods/payment/test_http_card.py::test_after_ten_minutes_the_payment_has_failed", (599,), (600, 601)
)
INVOICE_ATTEMPT_SECONDS = Bound(
    "methods/invoices/test_http_payments.py::test_an_attempt_that_is_left_gives_its_part_back", (599,), (600, 601)
)
FAILING_SECONDS = Bound(
    "webhooks/test_delivery_retries.py::test_an_endpoint_is_switched_off_once_it_has_failed_for_five_days",
    (5 * 86_400 - 1,),
    (5 * 86_400, 5 * 86_400 + 1),
)
RECORDED_USE = Bound(
    "merchants/test_keys.py::test_a_use_is_recorded_again_after_a_minute",
    ("0 seconds 1 microsecond", "59.999999 seconds"),
    ("60 seconds", "60.000001 seconds"),
)
UNPAID_FEES = Bound(
    "methods/virtualcard/test_http_fees.py::test_a_card_that_its_fees_blocked_has_three_months_again",
    ("2026-06-15T00:00:00+01:00", "2026-07-14T23:59:59+01:00"),
    ("2026-07-15T00:00:00+01:00",),
)
CYCLE_WAITS = Bound(
    "methods/investments/test_thrift_plan.py::test_after_three_days_the_cycle_pays_what_it_has_and_the_rest_is_owed",
    (("2026-01-05", 9), ("2026-01-07", 23)),
    (("2026-01-08", 0),),
)
# Hours since it was asked for.
REACTIVATION_HOURS = Bound("methods/investments/test_dormancy.py::test_a_reactivation_waits_72_hours", (71,), (72, 73))
HOLDERS = at_most("methods/shares/test_shares.py::test_a_register_takes_2000_members_and_no_more", 2_000)
REDEMPTION_WAITS = Bound(
    "methods/shares/test_shares.py::test_a_redemption_that_nobody_decides_expires_after_30_days",
    (("2026-01-05", 9), ("2026-02-04", 8)),
    (("2026-02-04", 9), ("2026-02-05", 9)),
)
# Days before the declaration.
RECORD_DATE = whole("methods/shares/test_dividends.py::test_a_record_date_is_1_to_366_days_ago", 1, 366)
CASH_OUT_CODE = Bound(
    "methods/investments/test_cash_out_by_code.py::test_a_code_for_savings_is_valid_for_a_day",
    (("2026-01-05", 9), ("2026-01-06", 8)),
    (("2026-01-06", 9), ("2026-01-06", 10)),
)
# The clock of the database runs between the change of an age and its use.
OLD_PAYCODE = Bound(
    "rails/test_catalogue.py::test_an_old_paycode_is_accepted_for_a_day_of_wall_time_and_not_longer",
    ("23 hours 59 minutes",),
    ("24 hours", "24 hours 1 minute"),
)
LISTED_CARD_DAYS = Bound(
    "methods/virtualcard/test_http.py::test_without_days_a_list_shows_the_last_thirty", (29, 30), (31,)
)
# Since a looser policy was asked for, while the one before is in force.
LOOSER_POLICY = Bound(
    "terms/test_payouts.py::test_a_looser_policy_is_in_force_from_its_time_on",
    (timedelta(0), timedelta(hours=24, microseconds=-1)),
    (timedelta(hours=24), timedelta(hours=24, microseconds=1)),
)

# --- what replies show ----------------------------------------------------------------------------------------------

FIELD_ERRORS = Shown("http/test_bodies.py::test_at_most_fifty_faults_are_listed_and_the_rest_is_counted", 50)
PROVED_GROUPS = Shown(HERE + "test_a_proof_has_20_groups_of_postings_and_no_more", 20)
REJECTIONS = Shown("methods/payment/test_reject_transfer.py::test_many_rejections_are_bounded", 20)
DELIVERY_ATTEMPTS = Shown("webhooks/test_delivery_records.py::test_the_newest_hundred_attempts_are_shown", 100)
EXCERPT = Shown("webhooks/test_response_excerpt.py::test_the_first_1000_characters_of_an_answer_are_kept", 1_000)
MESSAGE_CHARACTERS = Shown(
    "methods/transactions/test_http.py::test_a_list_shows_the_first_200_characters_of_a_message", 200
)
NEWEST_OF_CUSTOMER = "methods/customers/test_http.py::test_a_customer_is_shown_with_the_newest_20_payments_and_cards"
CUSTOMER_PAYMENTS = Shown(
    "methods/customers/test_http.py::test_a_customer_is_shown_with_the_newest_20_payments_and_cards", 20
)
TIMELINE = Shown(HERE + "test_a_timeline_has_its_newest_1000_entries", 1_000)
CUSTOMER_CARDS = Shown(
    "methods/customers/test_http.py::test_a_customer_is_shown_with_the_newest_20_payments_and_cards", 20
)
LINK_PAYMENTS = Shown("methods/checkout/test_http_checkout.py::test_a_link_is_shown_with_its_newest_50_payments", 50)

COLLECTIONS = "methods/auto_repay/test_auto_repay.py::"
COLLECT_HOUR = whole(COLLECTIONS + "test_a_loan_is_collected_at_an_hour_from_0_to_23", 0, 23)
RETRY_DAY = whole(COLLECTIONS + "test_a_retry_is_made_after_1_to_30_days", 1, 30)
RETRIES = at_most(COLLECTIONS + "test_there_are_5_retries_and_no_more", 5)
GROUPS = "methods/groups/test_groups.py::"
GROUP_MEMBERS = whole(GROUPS + "test_a_group_has_2_to_30_members", 2, 30)
GROUP_PERIOD = whole(GROUPS + "test_loans_of_a_group_have_1_to_366_installments_each", 1, 366)
MEETING_AMOUNT = Bound(
    GROUPS + "test_a_meeting_records_what_closes_a_loan_and_no_more", ("999.99", "1000.00"), ("1000.01",)
)
GROUP_INSTALLMENTS = Bound(
    GROUPS + "test_loans_of_a_group_have_at_most_2000_installments", (1_990, 2_000), (2_010, 2_020)
)
GROUP_INSTALLMENTS_OF_PRODUCT = Bound(
    "methods/groups/test_loans_of_product.py::test_loans_of_a_product_have_at_most_2000_installments",
    (1_990, 2_000),
    (2_010, 2_020),
)
GROUP_LOANS = at_most(GROUPS + "test_a_group_has_at_most_10_open_loans", 10)
SHEET_DAYS = Bound(
    "methods/groups/test_http.py::test_a_sheet_is_of_a_day_within_366_days", (-366, -365, 365, 366), (-367, 367)
)
