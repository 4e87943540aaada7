"""Planted bugs in refusals that nothing but their own test reaches, in bounds, and in what a second actor does."""

from tests.planted.bug import Bug

BOUNDS = (
    Bug(
        "the surplus of a repayment is refunded again while a refund of it is in progress",
        "methods/payment/rules/refund.py",
        "min(total - payment.refunded - payment.refunding, payment.undisputed)",
        "min(total - payment.refunded, payment.undisputed)",
        "methods/payment/test_refund.py::test_of_a_surplus_what_is_being_refunded_is_not_refunded_again",
    ),
    Bug(
        "a verdict on a bulk decides an order that waits in another bulk",
        "methods/disburse/rules/approve.py",
        "if approval is not None and approval.batch_ref == request.txn_ref]",
        "if approval is not None]",
        "methods/disburse/test_approve.py::test_an_order_that_waits_in_another_bulk_is_not_decided_with_this_one",
    ),
    Bug(
        "the only key that signs events can be revoked",
        "merchants/keys.py",
        "    if row[1] and not await connection.fetchval(COUNT_OTHER_SIGNERS, merchant_id, key_id):\n"
        "        raise KeyRefused(LAST_SIGNER)\n",
        "",
        "merchants/test_keys.py::test_the_only_key_that_signs_events_is_not_revoked",
    ),
    Bug(
        "a gate admits the tickets of another event",
        "methods/tickets/rules/admit.py",
        "    if request.link_id not in (None, ticket.link_id):\n        return OTHER_LINK\n",
        "",
        "methods/tickets/test_sell.py::test_a_gate_of_another_event_admits_nobody",
    ),
    Bug(
        "a refund that the vendor paid in another currency is taken for ours",
        "rails/vendors/paystack/refunds.py",
        'if not is_same or data.get("currency", order.currency) != order.currency:',
        "if not is_same:",
        "rails/vendors/test_paystack_collection.py::test_refund_of_another_amount_or_currency_is_unreadable",
    ),
    Bug(
        "merchants have no owner while two of three processes are down",
        "cluster/partitions.py",
        "next((process for process in order if process in live), None)",
        "next((process for process in order[:2] if process in live), None)",
        "cluster/test_partitions.py::test_the_last_live_process_owns_everything",
    ),
    Bug(
        "events of the day before the given time are sent again",
        "webhooks/deliveries.py",
        "u.endpoint_id = $2 and f.at >= $3 and not exists",
        "u.endpoint_id = $2 and f.at >= $3::timestamptz - interval '1 day' and not exists",
        "console/test_event_pages.py::test_only_events_from_the_given_moment_on_are_resent",
    ),
    Bug(
        "events that another endpoint did not accept are sent again as well",
        "webhooks/deliveries.py",
        "where u.merchant_id = $1 and u.endpoint_id = $2 and f.at >= $3 and not exists",
        "where u.merchant_id = $1 and $2::bigint > 0 and f.at >= $3 and not exists",
        "console/test_endpoint_pages.py::test_events_that_another_endpoint_refused_are_not_sent_again",
    ),
    Bug(
        "the last kobo that debts leave cannot be taken out",
        "methods/investments/rules/cash_out.py",
        "if owed and available - owed < request.amount:",
        "if owed and available - owed <= request.amount:",
        "methods/investments/test_withdrawals.py::test_all_that_debts_leave_can_be_taken_out_and_no_more",
    ),
    Bug(
        "a bulk that two lines of a statement name is matched with one of them",
        "reconciliation/matching.py",
        "select min(line_id) as line_id, merchant_id, batch_ref from found group by merchant_id, batch_ref\n"
        "        having count(*) = 1),\n    noted as (insert into line_match select line_id, line_id, 'batch', 0",
        "select min(line_id) as line_id, merchant_id, batch_ref from found group by merchant_id, batch_ref\n"
        "        ),\n    noted as (insert into line_match select line_id, line_id, 'batch', 0",
        "reconciliation/test_matching.py::test_a_batch_that_two_lines_name_is_matched_with_neither",
    ),
    Bug(
        "what the fee leaves of a balance must reach the least of a payout",
        "methods/payouts/rules.py",
        "return amount if there >= schedule.least and amount",
        "return amount if amount >= schedule.least and amount",
        "methods/payouts/test_rules.py::test_the_balance_and_not_what_the_fee_leaves_of_it_must_reach_the_least",
    ),
    Bug(
        "the month of a card's expiry is compared without its year",
        "methods/payment/rules/check_request.py",
        "if (year, month) >= (today.year, today.month):",
        "if year >= today.year and month >= today.month:",
        "methods/payment/test_expiry.py::test_a_card_is_valid_until_the_end_of_its_month",
    ),
    Bug(
        "the day of a close is that of UTC",
        "audit/close_task.py",
        "return lagos_day(created_at if newest is None else newest.closed_at) < lagos_day(now)",
        "return (created_at if newest is None else newest.closed_at).date() < now.date()",
        "audit/test_closer.py::test_a_day_of_closes_begins_at_midnight_in_lagos",
    ),
    Bug(
        "what is being refunded of a disputed ticket does not count",
        "methods/tickets/rules/admit.py",
        "if payment.refunded + payment.refunding + payment.disputed >= row.amount:",
        "if payment.refunded + payment.disputed >= row.amount:",
        "methods/tickets/test_sell.py::test_a_ticket_that_is_partly_refunded_and_else_disputed_is_not_admitted",
    ),
    Bug(
        "a postponed thrift cycle shares its time with the next one",
        "methods/investments/rules/thrift_cycle.py",
        "due = max(lagos_moment(day, 0), job.due + MIN_RUN_INTERVAL)",
        "due = max(lagos_moment(day, 0), job.due)",
        "methods/investments/test_thrift_plan.py"
        "::test_a_cycle_that_is_due_with_the_postponed_one_runs_after_it_and_once",
    ),
)
