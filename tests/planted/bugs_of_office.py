"""Planted bugs in disputes, invoices, tickets, checkouts, payouts, reserves and lists."""

from tests.planted.bug import Bug

# Row-level security keeps such a read from showing anything: the rule of the sources finds it.
LISTS = "test_tidy.py::test_stores_only_read_and_only_their_own_merchants_rows"
PAYOUT = "methods/payouts/test_rules.py"
KEPT_SUMS = "methods/payouts/test_http_kept_sums.py::test_kept_sums_up_to_any_posting_change_no_settlement"

OFFICE = (
    Bug(
        "the hold of a dispute that was won is not released",
        "methods/disputes/rules/end_dispute.py",
        "return (PostingGroup(reference, WALLET_INSUFFICIENT, closes_hold=hold),) if hold is not None else ()",
        "return ()",
        "methods/disputes/test_rules.py::test_the_hold_of_a_dispute_that_is_won_is_released",
    ),
    Bug(
        "what is disputed can be refunded as well",
        "methods/payment/rules/refund.py",
        "return max(0, min(total - payment.refunded - payment.refunding, payment.undisputed))",
        "return max(0, total - payment.refunded - payment.refunding)",
        "methods/disputes/test_rules.py::test_a_refund_counts_what_is_disputed_and_a_dispute_what_is_refunded",
    ),
    Bug(
        "the bank decides a dispute twice",
        "methods/disputes/rules/end_dispute.py",
        "    if not dispute.is_open:\n        return ALREADY_ENDED\n",
        "",
        "methods/disputes/test_rules.py::test_the_bank_decides_once",
    ),
    Bug(
        "a dispute expires although the merchant has responded",
        "methods/disputes/rules/deadline.py",
        " or current_job.kind != DEADLINE:\n        return Decision()\n    assert dispute is not None\n"
        "    if dispute.state != NEEDS_RESPONSE:\n        return Decision(jobs_done=(current_job,))\n",
        ":\n        return Decision()\n    assert dispute is not None\n",
        "methods/disputes/test_rules.py::test_a_deadline_job_that_comes_after_the_response_changes_nothing",
    ),
    Bug(
        "what a dispute's hold lacks is not owed",
        "methods/disputes/rules/end_dispute.py",
        "left = posting.amount - done.get(posting.credit, 0)",
        "left = 0 if posting.credit in done else posting.amount",
        "methods/disputes/test_rules.py::test_whatever_the_wallet_has_the_books_balance",
    ),
    Bug(
        "an invoice is paid twice by two payers at once",
        "methods/invoices/rules/pay_invoice.py",
        "return PurposeEffects(rows=(msgspec.structs.replace(invoice, reserved=invoice.reserved + checkout.amount),))",
        "return PurposeEffects(rows=(invoice,))",
        "methods/invoices/test_pay_invoice.py::test_two_payers_of_the_whole_cannot_both_pay",
    ),
    Bug(
        "a failed attempt to pay an invoice keeps its part reserved",
        "methods/invoices/rules/pay_invoice.py",
        "return PurposeEffects(rows=(msgspec.structs.replace(invoice, reserved=invoice.reserved - checkout.amount),))",
        "return PurposeEffects()",
        "methods/invoices/test_pay_invoice.py::test_a_failed_attempt_gives_back_what_it_reserved",
    ),
    Bug(
        "a part beyond what is left of an invoice is paid",
        "methods/invoices/rules/pay_invoice.py",
        "    if amount > left:\n",
        "    if amount < 0:\n",
        "methods/invoices/test_pay_invoice.py::test_a_part_that_cannot_be_paid_is_refused",
    ),
    Bug(
        "the last ticket is sold twice",
        "methods/tickets/model.py",
        "(MAX_QUANTITY if self.quantity is None else self.quantity) - self.sold - self.reserved",
        "(MAX_QUANTITY if self.quantity is None else self.quantity) - self.sold",
        "methods/tickets/test_sell.py::test_the_last_ticket_is_reserved_for_who_begins_to_pay_first",
    ),
    Bug(
        "a ticket admits twice",
        "methods/tickets/rules/admit.py",
        "    if ticket.state == USED:\n        return refuse_used(ticket)\n",
        "",
        "methods/tickets/test_sell.py::test_a_code_admits_once",
    ),
    Bug(
        "a refund in part voids all tickets",
        "methods/tickets/rules/sell.py",
        "    if payment.refunded + amount < payment.charged:\n        return NO_EFFECTS\n",
        "",
        "methods/tickets/test_sell.py::test_a_refund_in_full_voids_what_was_not_used_and_frees_the_seats",
    ),
    Bug(
        "two attempts of a checkout are open at once",
        "methods/checkout/rules/attempt.py",
        "    if attempt is not None and not attempt[0].is_final:\n        return OTHER_ATTEMPT\n",
        "",
        "methods/checkout/test_attempt.py::test_no_attempt_begins_while_another_is_open",
    ),
    Bug(
        "more is charged than the payer's page showed",
        "methods/checkout/rules/attempt.py",
        "if order.price.charged > request.shown_total:",
        "if order.price.charged > 2 * request.shown_total:",
        "methods/checkout/test_attempt.py::test_a_higher_total_than_the_page_showed_is_not_charged",
    ),
    Bug(
        "a payout by schedule is larger than the balance with its fee",
        "methods/payouts/rules.py",
        "return better if better + calculate_transfer_fees(tariff, max(0, better)).total <= there else amount",
        "return there",
        f"{PAYOUT}::test_a_payout_leaves_the_fee_and_no_more_than_a_step_of_the_tariff",
    ),
    Bug(
        "a payout by schedule takes what disputes are owed",
        "methods/payouts/rules.py",
        "there = 0 if wallet is None else wallet.available - owed",
        "there = 0 if wallet is None else wallet.available",
        f"{PAYOUT}::test_a_payout_leaves_what_the_merchant_owes",
    ),
    Bug(
        "a payout by schedule takes money that is held",
        "methods/payouts/rules.py",
        "there = 0 if wallet is None else wallet.available - owed",
        "there = 0 if wallet is None else wallet.posted - owed",
        f"{PAYOUT}::test_a_payout_leaves_what_is_held",
    ),
    Bug(
        "a payout job that is run twice pays out before the next day",
        "methods/payouts/rules.py",
        "if schedule is None or current_job is None or current_job.due != job.due:",
        "if schedule is None or current_job is None:",
        f"{PAYOUT}::test_a_job_that_is_run_twice_pays_once",
    ),
    Bug(
        "a reserve is released twice",
        "methods/payment/rules/split_settlement.py",
        "seen.get(Job, job.key)\n    if row is None or current_job is None or row.state != DUE:",
        "job\n    if row is None:",
        "methods/payment/test_split_settlement.py::test_a_batch_whose_job_comes_again_is_moved_once",
    ),
    Bug(
        "a failed payout of a split is given up",
        "methods/payment/rules/split_settlement.py",
        "return PurposeEffects(rows=(msgspec.structs.replace(batch, state=DUE),), jobs=(again,), notices=(notice,))",
        "return PurposeEffects(rows=(msgspec.structs.replace(batch, state=DUE),), notices=(notice,))",
        "methods/payment/test_split_settlement.py"
        "::test_a_failed_payout_is_retried_the_next_day_and_an_operator_is_notified",
    ),
    Bug(
        "an answer of a redirect counts as delivered",
        "work/webhooks.py",
        "if 200 <= sent.status < 300:",
        "if 200 <= sent.status < 400:",
        "work/test_delivery_retries.py::test_a_redirect_is_a_failure_and_is_not_followed",
    ),
    Bug(
        "a bank that was sent an order is given another reference when it is asked",
        "rails/vendors/paystack.py",
        'path = f"/transfer/verify/{wire_reference(order.key)}"',
        'path = f"/transfer/verify/{wire_reference(order.key)[::-1]}"',
        "rails/vendors/test_paystack.py::test_lost_answer_then_query",
    ),
    Bug(
        "row-level security shows the rows of every merchant",
        "db/logins.py",
        'OF_MERCHANT = f"(int8eq(merchant_id, {SESSION_MERCHANT}) or {SESSION_SEES_ALL})"',
        'OF_MERCHANT = f"(merchant_id > 0 or {SESSION_SEES_ALL})"',
        "db/test_logins.py::test_three_ordinary_logins_keep_every_promise",
    ),
    Bug(
        "the list of customers has those of all merchants",
        "methods/customers/store.py",
        "    merchant_id = $1 and erased_at is null and",
        "    merchant_id > 0 * $1::bigint and erased_at is null and",
        LISTS,
    ),
    Bug(
        "the list of invoices has those of all merchants",
        "methods/invoices/store.py",
        'MATCHING = "merchant_id = $1 and',
        'MATCHING = "merchant_id > 0 * $1::bigint and',
        LISTS,
    ),
    Bug(
        "the list of disputes has those of all merchants",
        "methods/disputes/store.py",
        'MATCHING = "merchant_id = $1 and',
        'MATCHING = "merchant_id > 0 * $1::bigint and',
        LISTS,
    ),
    Bug(
        "a settlement counts postings that its sums have already",
        "methods/statements/settlements/store.py",
        "max(period.first, mark[0] + 1)",
        "period.first",
        KEPT_SUMS,
    ),
    Bug(
        "the sums of settlements skip a posting at each step",
        "db/settlement_sums.py",
        "seq > $2 and seq <= $3",
        "seq > $2 + 1 and seq <= $3",
        KEPT_SUMS,
    ),
)
