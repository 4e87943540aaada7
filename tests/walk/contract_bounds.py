"""The bounds that docs/contract names, each with what tries it at, below and above: a bound of bounds.py, all of whose
values its test takes, or a test with values of its own and the reason for them.

Bounds of a field's type are tried by test_field_bounds.py, from the same words: the pages end the description of a
field with them. All other words that sound like a bound are here, as the page has them: in BOUNDS with their tests, in
SHOWN if they only say how much a reply shows, or in NO_BOUND with what they are. `**` is a sentence of the generated
reference, which is the same on several pages.
"""

import re
from collections.abc import Iterator

from tests.source_rules import REPOSITORY
from tests.walk import bounds
from tests.walk.bounds import Bound, OwnValues, Shown
from tests.walk.field_bounds import NAMES_BOUND, bounded_fields, sides_of

FOLDER = REPOSITORY / "docs" / "contract"
COUNT = r"(?:[0-9][0-9,.]*[0-9]|[0-9]|one|two|three|four|five|six|seven|ten|twenty)"
UNITS = (
    "day",
    "hour",
    "minute",
    "second",
    "month",
    "year",
    "character",
    "digit",
    "item",
    "attempt",
    "ticket",
    "file",
    "entrie",
    "transaction",
    "request",
    "payment",
    "addresse",
    "installment",
)
PHRASE = re.compile(
    r"\b(?:[0-9][0-9,.]* to [0-9][0-9,.]*|at most|at least|up to|no more than|not more than|between|within|more than"
    rf"|fewer than|longer than|{COUNT}(?: more| whole)? (?:(?:{'|'.join(UNITS)})s?|s|min|h|KiB|MiB|percent))\b",
    re.IGNORECASE,
)
# Examples have no sentences.
CODES = re.compile(r"<!-- codes -->.*?<!-- end of codes -->", re.DOTALL)
EXAMPLE = re.compile(r"^(?:```.*?^```$)", re.DOTALL | re.MULTILINE)

HERE = "walk/test_contract_bounds.py::"
# Why a test has values of its own.
FROM_WORDS = "the values are made from the words of the pages"
EXACT = "the test compares the figure itself"
MANY_VALUES = "the test tries many values, or many orders of events"
REAL_CLOCK = "a clock runs that the test cannot stop; it lowers or moves the bound"
FURTHER = "more than the bound: what else is refused, and how"

FIELDS = OwnValues("walk/test_field_bounds.py::test_a_field_accepts_what_its_words_say_and_no_more", FROM_WORDS)
FILES_OF_DISPUTE = OwnValues(
    "methods/disputes/test_http_crossings.py::test_large_bodies_are_for_evidence_alone", FURTHER
)
SENT_VALUE = OwnValues(
    "api/test_error_help.py::test_a_value_is_cut_after_100_characters_and_none_is_of_a_body_over_64_kib", EXACT
)
SCHEDULE_SUM = OwnValues("methods/payment/test_http_plans.py::test_a_schedule_that_does_not_add_up_is_refused", FURTHER)
TWO_SECONDS = OwnValues(HERE + "test_deciders_have_two_seconds_to_answer", EXACT)
TEN_SECONDS = OwnValues(HERE + "test_rails_and_endpoints_have_ten_seconds_to_answer", EXACT)
TRANSFER_RETRIES = "methods/disburse/test_on_bank_answer.py::"
WORLD_FILE = OwnValues(
    "methods/sandbox/test_http_world_files.py::test_a_world_whose_file_would_be_too_large_is_refused", EXACT
)
REQUEST_LOG = "sandbox/test_request_log_bounds.py::"
REQUEST_BODY = OwnValues(
    "sandbox/test_request_bodies.py::test_of_a_long_or_compressed_body_only_its_length_is_kept", EXACT
)
COOLING_OFF = "console/test_merchant_authority.py::test_new_people_and_keys_approve_nothing_during_the_cooling_off_time"

TOPPED_UP = OwnValues("methods/loans/test_top_up.py::test_the_amount_leaves_what_a_loan_is_at_least_to_pay_out", EXACT)
PRODUCT_RANGES = OwnValues("methods/loan_products/test_products.py::test_the_ends_of_a_range_are_inside", EXACT)
DAYS_LATE = OwnValues("methods/loans/test_provision.py::test_a_bucket_has_its_days", EXACT)
ANSWERS_FOR = OwnValues(
    "methods/guarantees/test_guarantees.py::test_a_guarantor_answers_for_the_amount_and_no_more", EXACT
)
CALLED_AT_MOST = OwnValues(
    "methods/guarantees/test_guarantees.py::test_a_call_is_refused_unless_the_loan_is_late_and_savings_are_held", EXACT
)
PORTFOLIO_DAYS = OwnValues(
    "methods/loans/test_http_portfolio.py::test_loans_are_counted_by_days_late_with_what_is_due_and_expected", EXACT
)
BOUNDS: dict[str, dict[str, tuple[Bound | Shown | OwnValues, ...]]] = {
    "clients": {
        "would hold more than the limit": (
            OwnValues("methods/clients/test_tiers.py::test_a_deposit_fits_up_to_the_kobo", EXACT),
        ),
        "After 7 days (the operator may set 1 to 90)": (
            OwnValues(
                "methods/investments/test_http_tiers.py"
                "::test_a_deposit_that_is_paid_above_the_limit_is_held_and_then_goes_back",
                EXACT,
            ),
            bounds.HELD_DAYS,
        ),
    },
    "README": {
        "as text of at most 100 characters": (SENT_VALUE,),
        "in bodies over 64 KiB": (SENT_VALUE,),
        "an overlap of up to seven days": (bounds.KEY_OVERLAP_HOURS,),
        "closed after five seconds without one": (bounds.HEADER_SECONDS,),
        "A body may have 256 KiB, on `/disburse` 1 MiB, of `dispute_respond` 15 MiB": (
            OwnValues("api/test_replies.py::test_a_body_over_its_bound_is_413", FURTHER),
            bounds.BODY,
            bounds.BULK_BODY,
            FILES_OF_DISPUTE,
            bounds.EVIDENCE_BODY,
        ),
        "with at most as many decimals as the currency has and at most 15 digits": (FIELDS,),
        "`errors` all of them, at most 50": (bounds.FIELD_ERRORS,),
        "(1 to 255 ASCII characters)": (bounds.IDEMPOTENCY_KEY,),
        "answer the stored reply for 24 hours": (bounds.STORED_REPLY,),
        "(default 50, at most 200;": (FIELDS,),
        "A page of more than 1 MiB is": (bounds.PAGE_BYTES,),
        "settles at least the amount": (
            OwnValues("transactions/test_pricing.py::test_no_smaller_gross_settles_the_amount", MANY_VALUES),
        ),
        "| NGN | 1.00 | 10,000,000.00 | | USD | 0.50 | 10,000.00 | | GHS | 1.00 | 100,000.00 | | KES | 10.00 | "
        "1,000,000.00 |": (OwnValues(HERE + "test_amounts_are_within_the_limits_of_their_currency", FROM_WORDS),),
        "100 requests a second per merchant with bursts of 200": (
            OwnValues(HERE + "test_a_live_merchant_has_its_rate_unless_another_is_set", EXACT),
            OwnValues("api/test_settings.py::test_a_merchant_over_its_rate_gets_the_time_to_retry", REAL_CLOCK),
        ),
        "A bulk holds at most 1,000": (bounds.BULK_ORDERS,),
    },
    "bills": {
        "for 24 hours more": (bounds.OLD_PAYCODE,),
        "an amount within the biller's bounds": (bounds.BILLER_AMOUNT,),
        "The same biller, customer and amount within 30 seconds": (bounds.DUPLICATE_SECONDS,),
        "within 30 s the same amount was paid": (bounds.DUPLICATE_SECONDS,),
        "an old one is accepted for 24 hours": (bounds.OLD_PAYCODE,),
        "`0` is an open amount, within the biller's bounds": (bounds.BILLER_AMOUNT,),
    },
    "cashcode": {
        "`pin` has four digits": (FIELDS,),
        "1440 by default, 5 to 10080": (bounds.CASHCODE_MINUTES,),
        "from 5 to 10080": (bounds.CASHCODE_MINUTES,),
        "WEB up to it, and the rest returns": (bounds.DRAWN,),
        "`ATM` pays the exact amount, the others up to it": (bounds.DRAWN,),
    },
    "disburse": {
        "Bank codes have 3, 5 or 6 digits": (FIELDS,),
        "if it comes within ten seconds": (
            OwnValues("api/test_deadline.py::test_a_rail_that_hangs_is_given_up_at_the_deadline", REAL_CLOCK),
            TEN_SECONDS,
        ),
        "after 5 s, 30 s, 2 min, 10 min, 30 min, then hourly": (
            OwnValues(
                TRANSFER_RETRIES + "test_an_unknown_outcome_follows_the_requery_schedule_to_exactly_one_day", EXACT
            ),
        ),
        '"not found" counts as failed after 24 hours only': (
            OwnValues(TRANSFER_RETRIES + "test_a_transfer_not_found_by_the_bank_fails_after_exactly_one_day", EXACT),
        ),
        "Send up to 1,000 transfers": (bounds.BULK_ORDERS,),
    },
    "events": {
        "2xx within ten seconds": (
            OwnValues("outbound/test_egress_hostile.py::test_a_status_line_that_drips_is_late", REAL_CLOCK),
            TEN_SECONDS,
        ),
        "after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h": (
            OwnValues(
                "webhooks/test_delivery_retries.py::test_an_event_is_retried_at_each_time_of_the_schedule_and_then_kept",
                EXACT,
            ),
        ),
        "fails for five days": (bounds.FAILING_SECONDS,),
        "the five days until it is switched off": (bounds.FAILING_SECONDS,),
        "up to ten others": (bounds.ENDPOINTS,),
    },
    "investments": {
        "comes to more than 1,000 percent a year": (bounds.INTEREST_A_YEAR,),
        "It may come to at most 1,000 percent a year": (bounds.INTEREST_A_YEAR,),
        "stops growing at the largest amount (15 digits)": (
            OwnValues("core/test_money_range.py::test_interest_stops_at_the_largest_amount", MANY_VALUES),
        ),
        "valid one day": (bounds.CASH_OUT_CODE,),
        "`amount` times `member_required` is at most the largest amount": (bounds.POT,),
        "tried daily for three days": (bounds.CYCLE_WAITS,),
        "answers all members, 500 at most": (bounds.PLAN_MEMBERS,),
        "Number of members, from 2 to 500": (bounds.PLAN_MEMBERS,),
        "Months until maturity, from 1 to 600": (bounds.SAVINGS_MONTHS,),
        "a term of so many days, from 1 to 3,650": (bounds.TERM_DAYS,),
        "today or within ten years": (bounds.PLAN_START,),
        "Number of shares, from 1 to 1,000,000": (bounds.SHARES,),
        "at most 2,000 members": (bounds.HOLDERS,),
        "waits for at most 30 days": (bounds.REDEMPTION_WAITS,),
        "waits for at most 72 hours": (bounds.REACTIVATION_HOURS,),
        "again 1, 3 and 7 days after its day": (
            OwnValues(
                "methods/standing_orders/test_standing_orders.py::test_a_short_payment_is_tried_after_1_3_and_7_days",
                "each attempt has the day of the next one",
            ),
        ),
        "`expired` after 30 days": (bounds.REDEMPTION_WAITS,),
        "at most 366 days before": (bounds.RECORD_DATE,),
        "before today, and at most 366 days ago": (bounds.RECORD_DATE,),
    },
    "keys": {
        "recorded at most once a minute": (bounds.RECORDED_USE,),
        "1 to 60 printable characters": (bounds.KEY_NAME,),
        "A merchant has at most 50 valid keys": (bounds.VALID_KEYS,),
        "works for up to seven more days": (bounds.KEY_OVERLAP_HOURS,),
        "stops working within a second": (
            OwnValues("api/test_settings.py::test_a_key_rolled_without_overlap_is_refused_after_a_second", REAL_CLOCK),
        ),
        "a transfer of more than this amount": (bounds.SENT_ALONE,),
        "After 72 hours of business time": (bounds.WAITING_SECONDS,),
        "the cooling-off time (24 hours in live, unless": (OwnValues(COOLING_OFF, REAL_CLOCK), bounds.LOOSER_POLICY),
        "after the cooling-off time (24 hours in live)": (bounds.LOOSER_POLICY,),
    },
    "loans": {
        "tried again 1, 3 and 7 days after the due date": (
            OwnValues(
                "methods/auto_repay/test_auto_repay.py::test_retries_are_made_after_1_3_and_7_days_and_then_given_up",
                "each attempt has the day of the next one",
            ),
        ),
        "Hour of the day in Lagos, from 0 to 23": (bounds.COLLECT_HOUR,),
        "Hour of the day in Lagos, from 00 to 23": (bounds.COLLECT_HOUR,),
        "Never more than is due by then, penalties and charges included": (
            OwnValues("methods/auto_repay/test_auto_repay.py::test_what_was_paid_before_is_not_collected", EXACT),
            OwnValues("methods/auto_repay/test_auto_repay.py::test_arrears_are_collected_with_their_penalties", EXACT),
        ),
        "ascending, each from 1 to 30": (bounds.RETRY_DAY,),
        "At most 5 numbers of days": (bounds.RETRIES,),
        "2 to 30 clients": (bounds.GROUP_MEMBERS,),
        "A group has 2 to 30 members": (bounds.GROUP_MEMBERS,),
        "All loans together have at most 2,000 installments": (
            bounds.GROUP_INSTALLMENTS,
            bounds.GROUP_INSTALLMENTS_OF_PRODUCT,
        ),
        "at most 10 loans that are not closed": (bounds.GROUP_LOANS,),
        "Number of installments of each loan, from 1 to 366": (bounds.GROUP_PERIOD,),
        "at most 366 days before or after today": (bounds.SHEET_DAYS,),
        "any part of what is owed, at most what closes the loan": (bounds.MEETING_AMOUNT,),
        "all that is due up to today, else": (bounds.LOAN_DUE_DAY,),
        "all that is due up to and including today": (bounds.LOAN_DUE_DAY,),
        "earned up to today": (
            OwnValues(
                "methods/loans/test_early_repayment.py::test_the_payoff_of_yesterday_leaves_only_the_interest_of_a_day",
                EXACT,
            ),
        ),
        "Number of installments, from 1 to 366": (bounds.LOAN_INSTALLMENTS,),
        "at least 1, more than 30 and more than 90 days late": (DAYS_LATE,),
        "at least 1 day late": (DAYS_LATE,),
        "more than 30 days late": (DAYS_LATE,),
        "more than 90 days late": (DAYS_LATE,),
        "the first day of the month up to the day": (PORTFOLIO_DAYS,),
        "expected in the next 7 and 30 days": (PORTFOLIO_DAYS,),
        "due up to the day": (PORTFOLIO_DAYS,),
        "due in the 7 days after the day": (PORTFOLIO_DAYS,),
        "due in the 30 days after the day": (PORTFOLIO_DAYS,),
        "More than is owed on this loan": (bounds.PAYOFF,),
        "repayments, up to what was written off": (bounds.RECOVERED,),
        "in naira, at most the payoff": (bounds.PAYOFF,),
        "what is due up to today of those parts": (bounds.PARTS_DUE_DAY,),
        "Penalties up to today are charged first": (
            OwnValues("methods/loans/test_write_off.py::test_a_merchant_writes_a_loan_off_with_a_reason", EXACT),
        ),
        "Writes off only what is due of these parts up to today": (bounds.PARTS_DUE_DAY,),
        "after 72 hours of business time": (bounds.WRITE_OFF_WAITING_SECONDS,),
        "has changed since this write-off was proposed, and more than its amount": (bounds.WRITE_OFF_GROWN,),
        "no more than the guarantee's amount": (ANSWERS_FOR,),
        "What the guarantor answers for at most": (ANSWERS_FOR,),
        "at most what is due, and what the guarantees hold": (CALLED_AT_MOST,),
        "in naira: at most what is owed": (
            OwnValues("methods/guarantees/test_guarantees.py::test_a_guarantor_is_repaid_into_the_savings", EXACT),
        ),
        "1 to 5 parts": (bounds.WRITE_OFF_PARTS,),
        "charges besides the interest, at most 5": (bounds.CHARGES_OF_LOAN,),
        "At most 5 charges": (bounds.CHARGES_OF_LOAN,),
        "An installment has at most 50 charges": (bounds.CHARGES_OF_INSTALLMENT,),
        "More than is owed: status 104": (bounds.WAIVED,),
        "A waiver never takes more than is owed then": (bounds.WAIVED,),
        "a first due date of its own, within 366 days": (bounds.FIRST_DUE_DAYS,),
        "The first due date, within 366 days from today": (bounds.FIRST_DUE_DAYS,),
        "ask for their interest either, at most `principal`": (
            OwnValues("methods/loans/test_grace.py::test_all_faults_of_a_grace_are_named_at_once", EXACT),
        ),
        "A loan has at most 366 installments": (bounds.EXTRA_INSTALLMENTS,),
        "Number of installments to add. A loan has at most 366": (bounds.EXTRA_INSTALLMENTS,),
        "A loan is rescheduled 12 times and no more": (bounds.RESCHEDULES,),
        "of the new loan, from 1 to 366": (bounds.LOAN_INSTALLMENTS,),
        "What is left to transfer is at least the least amount of a loan": (TOPPED_UP,),
        "in naira: at least the payoff of the old one": (TOPPED_UP,),
        "The largest number of installments, at most 366": (bounds.PRODUCT_PERIOD,),
        "before an installment is late, at most 365": (bounds.PRODUCT_TOLERANCE,),
        "the `ranges` within which a request may choose": (PRODUCT_RANGES,),
        "he ranges within which a request may choose": (PRODUCT_RANGES,),
        "Principal of the loan, in naira, within the range of the product": (PRODUCT_RANGES,),
        "Number of installments, within the range of the product": (PRODUCT_RANGES,),
        "Principal of the member's loan, in naira, within the range of the product": (PRODUCT_RANGES,),
        "Number of installments of each loan, within the range of the product": (PRODUCT_RANGES,),
        "The interest rate, within the range of the product": (PRODUCT_RANGES,),
        "A grace period with at most as many installments as that of the product": (PRODUCT_RANGES,),
        "waives interest that is due up to today": (
            OwnValues("methods/loans/test_charges.py::test_only_interest_that_is_due_is_waived_with_its_tax", EXACT),
        ),
    },
    "payment": {
        "not finished within its time fails": (bounds.PAYER_SECONDS, bounds.CARD_SECONDS),
        "of your own of at most 64 KiB": (bounds.OWN_OBJECT,),
        "newest first, at most 20": (bounds.REJECTIONS,),
        "after 1, 3 and 7 days": (
            OwnValues(
                "methods/payment/test_scheduled_charges.py::"
                "test_soft_declines_are_retried_after_one_three_and_seven_days_and_then_missed",
                EXACT,
            ),
        ),
        "percentages that add up to 100, or to amounts that add up to `total`": (
            bounds.INSTALLMENT_SUM,
            SCHEDULE_SUM,
        ),
        "the code to dial, valid ten minutes": (bounds.PAYER_SECONDS,),
        "as an image, valid ten minutes": (bounds.PAYER_SECONDS,),
        "for this payment, valid ten minutes": (bounds.ACCOUNT_SECONDS,),
        "After ten minutes the answer is": (bounds.OTP_SECONDS, bounds.CARD_SECONDS),
        "lends what is missing within the limit": (bounds.SPARE_CREDIT,),
        "at most 5 files of 2 MiB": (FIELDS,),
        "takes bodies of up to 15 MiB": (bounds.EVIDENCE_BODY, FILES_OF_DISPUTE),
        "There are 168 hours": (bounds.DISPUTE_SECONDS,),
        "`reminder` 48 and 12 hours before": (
            OwnValues("methods/disputes/test_rules.py::test_reminders_come_48_and_12_hours_before_the_deadline", EXACT),
        ),
        "**At most one attempt succeeds.**": (
            OwnValues(
                "methods/checkout/test_http_races.py::test_two_windows_at_once_pay_a_checkout_at_most_once", MANY_VALUES
            ),
        ),
        "A checkout has at most ten attempts": (bounds.CHECKOUT_ATTEMPTS,),
        "`expires`: 24 hours from now unless you say otherwise, at least a minute and at most 30 days": (
            bounds.CHECKOUT_LIFE,
        ),
        "at least a minute and at most 30 days from now": (bounds.CHECKOUT_LIFE,),
        "may end the checkout up to ten minutes later": (bounds.ATTEMPT_SECONDS,),
        "Forms have at most 4 KiB": (bounds.PAYER_FORM,),
        "may send 40 at once and then one every two seconds": (bounds.FORMS_AT_ONCE,),
    },
    "resources": {
        "An array is cut where it would be longer than 1 MiB": (bounds.PAGE_BYTES,),
        "looks at up to 10,000 transactions": (bounds.NEWER_TRANSACTIONS,),
        "any part, at least three characters": (FIELDS,),
        "at most 367 of them": (bounds.STATEMENT_DAYS,),
        "A PDF has at most 5,000 movements": (bounds.PDF_MOVEMENTS,),
        "gets four files at once": (bounds.FILES_AT_ONCE,),
        "for each of its groups of postings, at most 20": (bounds.PROVED_GROUPS,),
        "oldest first, at most 20": (bounds.PROVED_GROUPS,),
        "the newest 20 payments": (bounds.CUSTOMER_PAYMENTS,),
        "The newest 20 payments": (bounds.CUSTOMER_PAYMENTS,),
        "payments, newest first, at most 20": (bounds.CUSTOMER_CARDS,),
        "its newest 50 payments": (bounds.LINK_PAYMENTS,),
        "a page can have fewer than `limit`": (bounds.NEWER_TRANSACTIONS,),
        "It has 160 characters at most": (OwnValues("terms/test_sms.py::test_a_name_is_cut_and_a_link_is_not", EXACT),),
        "The newest 100 attempts": (bounds.DELIVERY_ATTEMPTS,),
        "The first 1,000 characters of your endpoint's answer": (bounds.EXCERPT,),
        "Last message about the transaction, at most 200 characters": (bounds.MESSAGE_CHARACTERS,),
        "A part is at least the smallest amount of the currency and leaves nothing or at least as much": (
            bounds.INVOICE_PART,
            OwnValues("methods/invoices/test_pay_invoice.py::test_a_part_that_cannot_be_paid_is_refused", FURTHER),
        ),
        "after ten minutes at most unless its bank": (bounds.INVOICE_ATTEMPT_SECONDS,),
        "up to 50 records": (
            OwnValues("methods/invoices/test_receive.py::test_an_invoice_takes_fifty_records", EXACT),
        ),
        "at most what is outstanding": (bounds.RECEIVED_OUTSIDE,),
        "more than is outstanding is refused": (bounds.RECEIVED_OUTSIDE,),
        "A list covers at most 92 days": (bounds.SETTLEMENT_DAYS,),
        "a list over more than a million postings": (bounds.POSTINGS_SUMMED,),
        "five minutes after the end of its day": (
            OwnValues(
                "methods/statements/test_settlement_events.py::test_a_day_is_due_five_minutes_after_midnight_in_lagos",
                EXACT,
            ),
        ),
        "at most the largest amount of one transfer": (bounds.PAYOUT,),
        "`ticket_data`, up to 20": (FIELDS,),
        "chooses up to 20 tickets": (bounds.TICKETS,),
        "(at least three letters of each)": (bounds.SEARCHED_LETTERS,),
        "At most 366 days after `from`": (bounds.STATEMENT_DAYS,),
        "At most 92 days after `from`": (bounds.SETTLEMENT_DAYS,),
        "At most the sum of the items": (bounds.FLAT_DISCOUNT,),
        "VAT in percent, at most 100": (bounds.INVOICE_VAT,),
        "transactions of at least this amount": (bounds.LEAST_LISTED,),
        "transactions of at most this amount": (bounds.MOST_LISTED,),
        "every day on which the wallet has at least `least`": (bounds.LEAST_BALANCE,),
    },
    "sandbox": {
        "An object of at most 50 fields": (FIELDS,),
        "The newest 100 attempts": (bounds.DELIVERY_ATTEMPTS,),
        "The first 1,000 characters of your endpoint's answer": (bounds.EXCERPT,),
        "at most 20 worlds, of at most 1,000,000 rows each and 2,000,000 together": (
            OwnValues("methods/sandbox/test_http_worlds.py::test_a_merchant_keeps_twenty_worlds", EXACT),
            OwnValues(
                "methods/sandbox/test_http_worlds.py::test_worlds_have_so_many_rows_at_most_alone_and_together", EXACT
            ),
        ),
        "at most 10 MiB": (WORLD_FILE,),
        "At most 10 MiB": (WORLD_FILE,),
        "of at least 12 characters": (
            OwnValues(
                "methods/sandbox/test_http_world_files.py::test_names_bounds_and_passphrases_of_files_are_checked",
                EXACT,
            ),
        ),
        "newest 10,000 requests of a merchant for 7 days": (
            OwnValues(REQUEST_LOG + "test_the_newest_ten_thousand_requests_of_a_merchant_are_kept", EXACT),
            OwnValues(REQUEST_LOG + "test_a_request_is_kept_for_seven_days", EXACT),
        ),
        "Of a body above 32 KiB": (REQUEST_BODY,),
        "if it was longer than 32 KiB": (REQUEST_BODY,),
        "the oldest of more than 1,000 requests": (
            OwnValues(
                "sandbox/test_request_records.py::test_of_too_many_pending_requests_of_a_merchant_the_newest_are_written",
                EXACT,
            ),
        ),
        "newest 1,000 entries at most": (bounds.TIMELINE,),
        "oldest first, at most 1,000": (bounds.TIMELINE,),
        "the exact amount by `ATM`, at most the amount by `POS` and `WEB`": (bounds.DRAWN,),
        "Transfers of more than this amount wait for approval": (bounds.SENT_ALONE,),
        "at most 20 percent above what was authorized": (bounds.CARD_ABOVE,),
    },
    "virtualcard": {
        "within 2 seconds": (
            TWO_SECONDS,
            OwnValues(
                "rails/test_deciders.py::test_a_silent_decider_is_given_up_and_its_late_answer_is_not_read", EXACT
            ),
        ),
        "nothing is sent for 15 seconds": (TWO_SECONDS,),
        "left alone for 15 seconds": (TWO_SECONDS,),
        "The `reason` of its answer, at most 200 characters": (bounds.DECIDER_REASON,),
        "larger than 4 KiB": (bounds.DECIDER_BODY,),
        "five in a row had one of the faults": (bounds.DECIDER_PAUSE,),
        "32 purchases of yours were being asked about": (bounds.DECIDER_PLACES,),
        "To withdraw more than the card holds": (bounds.WITHDRAWN,),
        "cannot pay it for three months is blocked": (bounds.UNPAID_FEES,),
        "Most that may be spent on one day in Lagos": (bounds.CARD_DAY,),
        "of the last 30 days by default": (bounds.LISTED_CARD_DAYS,),
        "would be more than `count`, or cost more than `amount`, with this one": (
            bounds.CARD_VELOCITY_COUNT,
            bounds.CARD_VELOCITY_AMOUNT,
        ),
        "A card with a velocity pays at most 500 purchases": (bounds.CARD_WINDOW,),
        "not captured for 7 days ends": (bounds.CARD_HOLD_LIFE,),
        "A purchase is disputed within 120 days": (bounds.CARD_DISPUTE_DAYS,),
        "at most 5 files of 2 MiB": (FIELDS,),
        "with 168 hours to respond": (bounds.DISPUTE_SECONDS,),
        "at most 20 percent above the authorized amount": (bounds.CARD_ABOVE,),
        "more than 20 percent above what it had authorized": (bounds.CARD_ABOVE,),
    },
    "**": {
        "A page of more than 1 MiB has fewer": (bounds.PAGE_BYTES,),
        "An array of more than 1 MiB has fewer": (bounds.PAGE_BYTES,),
        "The disputed amount, at most what was charged and not refunded": (bounds.DISPUTED,),
        "at most what was charged and not refunded yet": (bounds.REFUNDED,),
        "above 0 and at most 100": (bounds.SPLIT_PERCENTAGE,),
        "percentages that add up to 100, or amounts that add up to `total`": (
            bounds.INSTALLMENT_SUM,
            SCHEDULE_SUM,
        ),
        "the hour (`daily`, 00 to 23)": (bounds.HOUR_OF_DAY,),
        "Probability from 0 to 1": (FIELDS,),
        "A ticket code of 12 characters": (bounds.TICKET_CODE,),
        "1 to 30, at most the last day": (bounds.DAY_OF_MONTH,),
        "At most 64 KiB": (bounds.OWN_OBJECT,),
        "Default: 24 hours": (bounds.CHECKOUT_LIFE,),
        "PDF, PNG or JPEG, at most 2 MiB": (FIELDS,),
        "from 0 to 100": (bounds.TAX,),
    },
}

# How much of what there is a reply shows, where no test tries it. tests/walk/test_reply_bounds.py knows the limit of
# every list of a reply.
SHOWN: dict[str, dict[str, str]] = {
    "resources": {
        "unless the period has more than 1,000,000 postings": "a sum that would take too long",
        "for a period with more than 1,000,000 postings": "a sum that would take too long",
        "customer's newest 1,000 payments": "payments whose cards are looked up: too many to make in a test",
        "which are at most some hundred postings": "the distance of marks, with which nothing is refused",
    },
    "sandbox": {"at most 20 of each invariant": "the first lines"},
}

NO_BOUND: dict[str, dict[str, str]] = {
    "investments": {"Time between two payments": "what a frequency is"},
    "**": {
        "last four digits": "what is shown of a card",
        "irst six digits": "what is used or shown of a card",
        "ast two digits of the year": "what is read",
        "last two digits": "what is shown of a BVN",
        "Time between two cycles": "an interval",
        "the interval between installments": "an interval",
        "no group between is left out": "an interval",
        "Default 0. Digits": "the end of one sentence and the beginning of another",
        "30 days before the last": "a default",
        "Days of 24 hours": "a unit",
        "Price of one ticket": "a price",
    },
    "bills": {"Token of 20 digits": "what the biller makes"},
    "clients": {
        "0 to 100. Absent": "what the register says",
        "between `inactive` and `active`": "two states",
    },
    "README": {
        "`GP` + 9 digits": "the form of our references",
        "`GP\\|FD\\|` + 9 digits": "the form of our references",
        "+ 22 characters": "the form of our references",
        "balances within one merchant": "inside of",
        "apply to one transaction": "what a limit is of",
        "idle for longer than": "advice to clients",
        "rounded half up to the minor unit": "rounding",
    },
    "cashcode": {"The code has ten digits": "what the service makes", "Default 1440, one day": "a default"},
    "disburse": {"transfers in one request": "a request"},
    "loans": {
        "has collected in one request and one commit": "a request",
        "a repayment of each loan, in one request": "a request",
    },
    "keys": {"a key that may do more than they may themselves": "authority, which tests/walk/test_authority.py walks"},
    "payment": {
        "several vendors for one payment type": "a type",
        "within the same request": "during",
        "fails within seconds (": "soon",
        '"Paid more than was asked for"': "a message",
    },
    "resources": {
        "no more than its first six digits are used": "what is looked up",
        "amounts of at least 1,000,000.00 are read from indexes": "speed; the result is the same",
        "no two transactions have the same place": "a count of nothing",
        "the other fields up to date": "current",
        "bring one up to date": "current",
        "rounded half up to the minor unit": "rounding",
        "of one currency on one day in Lagos": "what a settlement is",
        "One payment link": "what is shown",
        "one request looks at": "a request",
        "one payment of the whole amount": "a kind of payment",
        "three days before the due date, the day after it and a week after it": "when a reminder is sent",
    },
    "sandbox": {"overrides them for one request": "a request"},
    "virtualcard": {
        "Records between `from_date` and `to_date`": "both are chosen by the request",
        "add up to the balance": "a sum",
    },
}


def pages() -> dict[str, str]:
    """Returns the text of each page in one line, without examples. The page of codes repeats the words of refusals."""
    texts = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.md"))}
    return {name: " ".join(EXAMPLE.sub(" ", CODES.sub(" ", text)).split()) for name, text in texts.items()}


def type_words() -> set[str]:
    """Returns the sentences with which pages end the description of a field, of types that are tried as fields."""
    found = {field.words for field in bounded_fields() if NAMES_BOUND.search(field.words) and sides_of(field.words)}
    return {words[0].upper() + words[1:] for words in found}


def uncovered(page: str, text: str) -> Iterator[str]:
    """Yields the words around each phrase of a page that no table has."""
    known = [*type_words()]
    for table in (BOUNDS, SHOWN, NO_BOUND):
        known += [words for place in (page, "**") for words in table.get(place, {})]
    spans = [match.span() for words in known for match in re.finditer(re.escape(words), text)]
    for match in PHRASE.finditer(text):
        if not any(first <= match.start() and match.end() <= last for first, last in spans):
            yield text[max(0, match.start() - 60) : match.end() + 60]
