"""The planted bugs: mistakes that someone could make in this code, each with the test that exists to find it.

A bug replaces one text that occurs once in a file below src/kasuwa. `python -m tests.planted` plants each in a copy of
the sources and runs its test, which must fail there (`make planted`). When the code changes, tests/planted/test_bugs.py
says which bugs no longer fit. Further bugs are in the files bugs_of_*.py.
"""

from tests.planted.bug import Bug
from tests.planted.bugs_of_authority import AUTHORITY
from tests.planted.bugs_of_bounds import BOUNDS
from tests.planted.bugs_of_office import OFFICE
from tests.planted.bugs_of_proofs import KEYS, PROOFS, RECONCILIATION
from tests.planted.bugs_of_secrets import SECRETS
from tests.planted.bugs_of_shares import SHARES
from tests.planted.bugs_of_vendors import VENDORS

MONEY = (
    Bug(
        "percentages are computed in floating point",
        "core/money.py",
        "return (minor * numerator * 2 + denominator) // (denominator * 2)",
        "return int(minor * (numerator / denominator) + 0.5)",
        "core/test_money.py::test_a_half_always_goes_up",
    ),
    Bug(
        "a half is rounded down",
        "core/money.py",
        "return (minor * numerator * 2 + denominator) // (denominator * 2)",
        "return (minor * numerator * 2 + denominator - 1) // (denominator * 2)",
        "core/test_money.py::test_a_half_always_goes_up",
    ),
    Bug(
        "one decimal is read as kobo",
        "core/money.py",
        'int(cents.ljust(DECIMALS, "0"))',
        'int(cents or "0")',
        "core/test_money.py::test_a_numeric_text_is_read_into_minor_units",
    ),
    Bug(
        "VAT is taken on the payment instead of the fee",
        "transactions/pricing.py",
        "return fee, compute_percent(fee, tariff.vat_percent_on_fees)",
        "return fee, compute_percent(charged, tariff.vat_percent_on_fees)",
        "transactions/test_pricing.py::test_a_worked_card_payment_comes_out_to_the_kobo",
    ),
    Bug(
        "the flat fee is waived at its own threshold",
        "transactions/pricing.py",
        "charged >= convert_to_minor(rule.flat_waived_below)",
        "charged > convert_to_minor(rule.flat_waived_below)",
        "transactions/test_pricing.py::test_the_waiver_depends_on_the_charged_amount",
    ),
    Bug(
        "the parts of a split may exceed what is settled by rounding",
        "transactions/splits.py",
        "amounts.append(min(wanted or 0, settled - sum(amounts)))",
        "amounts.append(wanted or 0)",
        "transactions/test_splits.py::test_the_last_gets_no_more_than_is_left",
    ),
    Bug(
        "a posting credits without debiting",
        "ledger/apply.py",
        "    debit.posted -= posting.amount\n",
        "",
        "ledger/test_apply.py::test_a_posting_moves_money_and_shows_both_balances_after_it",
    ),
    Bug(
        "a posting changes its currency",
        "ledger/apply.py",
        "if posting.amount <= 0 or debit is credit or debit.currency != credit.currency:",
        "if posting.amount <= 0 or debit is credit:",
        "ledger/test_apply.py::test_money_does_not_change_its_currency",
    ),
    Bug(
        "held money can be spent",
        "ledger/apply.py",
        "if floor is None or account.available >= floor:",
        "if floor is None or account.posted >= floor:",
        "ledger/test_apply.py::test_held_money_cannot_be_spent",
    ),
    Bug(
        "a hold is ended twice",
        "ledger/apply.py",
        "if held.amount <= 0 or account.held < 0:",
        "if held.amount <= 0:",
        "engine/test_batch_state.py::test_a_hold_is_ended_once_within_one_decision_too",
    ),
)

WRITER = (
    Bug(
        "the writer commits without waiting for the disk",
        "postgres/connections.py",
        '"synchronous_commit": "on",',
        '"synchronous_commit": "off",',
        "engine/test_writer_faults.py::test_commits_wait_for_the_disk_even_if_the_database_has_another_default",
    ),
    Bug(
        "the version of changed merchants is not checked",
        "postgres/bulk_sql.py",
        '" where t.ctid = f.place and t.version = x.expected returning 1"',
        '" where t.ctid = f.place returning 1"',
        "engine/test_writer_faults.py::test_two_writers_that_take_turns_on_one_merchant_never_overwrite_each_other",
    ),
    Bug(
        "the version of merchants that were only read is not checked",
        "postgres/bulk_sql.py",
        ' and t.version = x.expected"\n',
        '"\n',
        "engine/test_writer_faults.py::test_a_refusal_on_what_another_writer_has_changed_is_not_given",
    ),
    Bug(
        "a commit whose outcome is unknown is answered as a success",
        "engine/locked_batch.py",
        "ours, decided.results, None if committed else DatabaseUnreachable(is_outcome_unknown=True)",
        "ours, decided.results, None",
        "engine/test_writer_faults.py::test_a_commit_lost_in_an_outage_beyond_the_timeout_has_an_unknown_outcome[locked]",
    ),
    Bug(
        "a lost commit is run again without looking for its mark",
        "engine/locked_batch.py",
        "committed = await self._session.was_committed(lost, deadline)",
        "committed = False",
        "engine/test_writer_faults.py::test_a_commit_whose_answer_is_swallowed_is_found_by_its_mark[locked]",
    ),
    Bug(
        "a commit from the cache whose outcome is unknown is answered as a failure that did nothing",
        "engine/writer.py",
        "            fail_all(batch, DatabaseUnreachable(is_outcome_unknown=True))",
        "            fail_all(batch, DatabaseUnreachable(is_outcome_unknown=False))",
        "engine/test_writer_faults.py"
        "::test_a_commit_lost_in_an_outage_beyond_the_timeout_has_an_unknown_outcome[on memory]",
    ),
    Bug(
        "a repeat is refused as if the first request had never come",
        "engine/locked_batch.py",
        "    if existing:\n        raise",
        "    if len(existing) > len(results):\n        raise",
        "engine/test_new_rows.py::test_a_repeat_is_not_refused_because_the_wallet_is_empty_now",
    ),
    Bug(
        "a transaction goes on upon a new connection",
        "engine/writer_session.py",
        "if connection is None or connection.is_closed() or not connection.is_in_transaction():\n            raise",
        "if connection is None or connection.is_closed():\n            return await self.write_connection()\n"
        "        if not connection:\n            raise",
        "engine/test_writer_faults.py::test_a_connection_lost_between_lock_and_write_is_not_replaced",
    ),
    Bug(
        "a rule sees rows that only its neighbor in the batch requested",
        "engine/batch.py",
        "LoadedRows(self.rows, self.requested_keys[submission])",
        "LoadedRows(self.rows)",
        "engine/test_batch_state.py::test_a_rule_cannot_read_a_row_that_only_its_neighbor_requested",
    ),
    Bug(
        "a key that is rolled during a reset goes to the archived books",
        "merchants/merchants.py",
        'f"{SELECT_CURRENT_ID} for no key update"',
        "SELECT_CURRENT_ID",
        "merchants/test_merchant_locks.py::test_a_change_during_a_reset_reaches_the_new_books",
    ),
)

REPEATS = (
    Bug(
        "an Idempotency-Key does not stand for its action",
        "api/idempotency_key.py",
        "compared = (method, action.name, action.variant or action.only_with or None, fields)",
        "compared = (method, fields)",
        "walk/test_idempotency.py::test_a_key_used_to_fund_a_card_is_refused_for_a_withdrawal",
    ),
    Bug(
        "an Idempotency-Key is shared by all merchants",
        "engine/idempotency.py",
        'return row_key(merchant_id, "repeat", idempotency_key)',
        'return row_key(0, "repeat", idempotency_key)',
        "walk/test_idempotency.py::test_a_key_is_one_merchants_own",
    ),
    Bug(
        "an Idempotency-Key may be used with another request",
        "engine/idempotency.py",
        "if record.request_digest != claim.request_digest:\n        return IDEMPOTENCY_MISMATCH",
        "if not record.request_digest:\n        return IDEMPOTENCY_MISMATCH",
        "engine/test_idempotency.py::test_a_key_used_with_another_request_is_refused",
    ),
    Bug(
        "refusals are stored under an Idempotency-Key",
        "engine/idempotency.py",
        "    if isinstance(decision.reply, Refusal):\n        if claim",
        "    if decision.reply is None:\n        if claim",
        "engine/test_idempotency.py::test_a_refusal_that_leaves_something_behind_is_not_kept_either",
    ),
    Bug(
        "a secret that is shown once is stored with the reply",
        "engine/idempotency.py",
        "decision.reply if decision.replay_reply is None else decision.replay_reply",
        "decision.reply",
        "engine/test_idempotency.py::test_what_is_shown_once_is_not_in_the_kept_reply",
    ),
    Bug(
        "a dry run may change something",
        "core/dry_run.py",
        "            raise DryRunChanges(type(request).__name__)\n",
        "            return decided\n",
        "walk/test_dry_run.py::test_a_rule_that_would_change_something_in_a_dry_run_raises",
    ),
)

RAILS = (
    Bug(
        "an order without an answer is sent again",
        "transactions/requery.py",
        "refused = is_moved or (answer.status == UNAVAILABLE and job.kind == kinds.send)",
        "refused = is_moved or job.kind == kinds.send",
        "methods/disburse/test_requery_schedule.py::test_only_the_first_call_sends_and_all_others_ask",
    ),
    Bug(
        "a rail that is unavailable for a query makes the order be sent again",
        "transactions/requery.py",
        "refused = is_moved or (answer.status == UNAVAILABLE and job.kind == kinds.send)",
        "refused = is_moved or answer.status == UNAVAILABLE",
        "methods/disburse/test_on_bank_answer.py::test_a_refused_query_leaves_the_transfer_open_and_is_repeated",
    ),
    Bug(
        "an order that the rail does not know yet fails at once",
        "transactions/requery.py",
        "if answer.status == NOT_FOUND and age >= NOT_FOUND_IS_FAILED_AFTER_SECONDS:",
        "if answer.status == NOT_FOUND:",
        "simulate/test_rail_faults.py::test_a_request_that_was_lost_fails_after_a_day_and_not_before",
    ),
    Bug(
        "a job that was taken over after a crash sends without asking",
        "rails/ports/orders.py",
        "taken_over = job.claims > 1 or job.is_queried_first",
        "taken_over = False",
        "methods/disburse/test_requery_schedule.py::test_a_job_taken_over_after_a_crash_is_queried_before_it_is_sent",
    ),
    Bug(
        "a job that was taken over while its rail was away sends without asking later",
        "rails/ports/orders.py",
        "taken_over = job.claims > 1 or job.is_queried_first",
        "taken_over = job.claims > 1",
        "methods/disburse/test_requery_schedule.py::test_a_job_taken_over_waits_while_its_rail_cannot_be_queried",
    ),
    Bug(
        "the day of an order that is not found begins before it was sent",
        "transactions/requery.py",
        "return 0.0 if job.kind == kinds.send else now.timestamp() - (times.resent_at or times.sent_at)",
        "return 0.0 if job.kind == kinds.send else now.timestamp() - times.sent_at",
        "methods/disburse/test_on_bank_answer.py"
        "::test_the_day_begins_when_a_transfer_that_was_refused_for_days_has_left",
    ),
    Bug(
        "an order that may have left moves to another rail",
        "transactions/requery.py",
        "return answer.is_unsent and is_claimed_once and job.kind == claimed.kind == send and not job.is_rail_fixed",
        "return is_claimed_once and job.kind == claimed.kind == send and not job.is_rail_fixed",
        "methods/disburse/test_rail_of_transfer.py::test_order_moves_only_if_certainly_nothing_has_left",
    ),
    Bug(
        "money that came into an account is booked again",
        "methods/payment/rules/receipts/rail_receipt.py",
        "if known is not None:",
        "if known is receipt:",
        "methods/payment/test_rail_receipt.py::test_receipt_that_was_booked_before_changes_nothing",
    ),
    Bug(
        "a final transfer is ended again by a late answer",
        "methods/disburse/rules/on_bank_answer.py",
        "    if row.is_final:\n        return reply_final(row, job, answer, current_job, context, rows)\n",
        "",
        "methods/disburse/test_on_bank_answer.py::test_a_contradiction_of_a_final_status_becomes_an_operator_notice",
    ),
    Bug(
        "an answer that contradicts a final transfer leaves no notice",
        "methods/disburse/rules/on_bank_answer.py",
        "notices=notices,",
        "notices=(),",
        "methods/disburse/test_on_bank_answer.py::test_a_contradiction_of_a_final_status_becomes_an_operator_notice",
    ),
    Bug(
        "a lost answer of a vendor counts as not sent",
        "rails/vendors/client.py",
        "                raise NoAnswer(str(error)) from None",
        "                raise Unavailable(str(error)) from None",
        "rails/vendors/test_client.py::test_outcomes",
    ),
    Bug(
        "the call-backs of a vendor are accepted unsigned",
        "rails/vendors/signed_callbacks.py",
        "if path or not (is_signed or",
        "if path and not (is_signed or",
        "rails/vendors/test_paystack.py::test_signed_callback_names_its_order",
    ),
    Bug(
        "one allowed address of a name is enough",
        "outbound/egress.py",
        "                raise TargetRefused(fault)",
        "                if len(addresses) == 1:\n                    raise TargetRefused(fault)",
        "outbound/test_egress_addresses.py::test_all_addresses_of_a_name_must_be_allowed",
    ),
)

JOBS = (
    Bug(
        "the newest of the due jobs are claimed first",
        "jobs/leases.py",
        "        order by d.run_at, d.due, d.seq\n",
        "        order by d.run_at desc, d.due desc, d.seq desc\n",
        "jobs/test_job_order.py::test_of_more_jobs_than_one_claim_takes_the_earliest_come_first",
    ),
    Bug(
        "the lease of an advance is not renewed",
        "jobs/clock_leases.py",
        "        while not held.is_lost:\n",
        "        while False:\n",
        "jobs/test_clock_leases.py::test_a_lease_outlasts_its_length_while_it_is_held",
    ),
    Bug(
        "a job that is run early charges the monthly fee of a card",
        "methods/virtualcard/rules/monthly_fee.py",
        "if context.now < current_job.due:",
        "if current_job is None:",
        "methods/virtualcard/test_model.py::test_a_job_run_before_its_day_takes_nothing_and_stays",
    ),
    Bug(
        "a due date of a plan is charged twice",
        "methods/payment/rules/plans/scheduled_charges.py",
        "if plan is None or current_job is None or plan.state != ACTIVE or plan.charging:",
        "if plan is None or plan.state != ACTIVE:",
        "methods/payment/test_scheduled_charges.py::test_a_due_date_that_is_run_twice_is_charged_once",
    ),
    Bug(
        "later charges of a plan ignore who bears the fee",
        "methods/payment/rules/check_request.py",
        "price_request(charges.bearer, merchant, fee_class, charges.currency, amount)",
        'price_request("merchant", merchant, fee_class, charges.currency, amount)',
        "methods/payment/test_scheduled_charges.py::test_a_later_charge_is_priced_like_the_first",
    ),
    Bug(
        "later charges of a plan are priced as a local card",
        "methods/payment/rules/check_request.py",
        "fee_class = card_fee_class(charges.card)",
        "fee_class = card_class(None)",
        "methods/payment/test_scheduled_charges.py::test_a_later_charge_is_priced_like_the_first",
    ),
    Bug(
        "a thrift cycle runs twice",
        "methods/investments/rules/thrift_cycle.py",
        "if current_job is None or current_job.due != job.due or plan is None:",
        "if current_job is None or plan is None:",
        "methods/investments/test_thrift_plan.py::test_a_job_that_is_run_twice_pays_once",
    ),
    Bug(
        "debts are repaid newest first",
        "methods/investments/thrift.py",
        "    for debt in debts:\n        part = min(money, debt.amount)",
        "    for debt in reversed(debts):\n        part = min(money, debt.amount)",
        "methods/investments/test_withdrawals.py::test_two_debts_and_money_for_one_repay_the_older",
    ),
    Bug(
        "a contribution ignores the holds on a member's savings",
        "methods/investments/rules/thrift_cycle.py",
        "changes.account(member.savings_id).available",
        "changes.account(member.savings_id).posted",
        "methods/investments/test_withdrawals.py::test_money_held_for_an_open_cashcode_is_not_a_members_to_contribute",
    ),
)

PAYMENTS = (
    Bug(
        "refunds in progress do not count against what can be refunded",
        "methods/payment/rules/refund.py",
        "return max(0, min(total - payment.refunded - payment.refunding, payment.undisputed))",
        "return max(0, min(total - payment.refunded, payment.undisputed + payment.refunding))",
        "methods/payment/test_refund.py::test_refunds_never_exceed_the_charge",
    ),
    Bug(
        "a payment that did not succeed is refunded",
        "methods/payment/rules/refund.py",
        "    if row.status != SUCCESSFUL:\n        return PAYMENT_NOT_SUCCESSFUL\n",
        "",
        "methods/payment/test_refund.py::test_only_a_successful_payment_of_a_refundable_method_is_refunded",
    ),
    Bug(
        "another card than the initiated one is charged",
        "methods/payment/rules/charge_card.py",
        "if detail.card is None or given_hash != detail.card.hash:",
        "if detail.card is None:",
        "methods/payment/test_charge_card.py::test_a_charge_that_differs_from_its_first_step_changes_nothing",
    ),
    Bug(
        "a transfer that comes late is kept",
        "methods/payment/rules/receipts/inbound_transfer.py",
        "    if context.now > payment.expires_at:\n        return end_late(row, payment, job, amount, context, rows)\n",
        "",
        "methods/payment/test_inbound_transfer.py::test_a_transfer_after_the_end_or_expiry_is_returned",
    ),
    Bug(
        "an account number of another merchant is credited",
        "methods/payment/rules/receipts/inbound_transfer.py",
        "if entry is None or entry.merchant_id != context.merchant.merchant_id:\n        return UNKNOWN_ACCOUNT",
        "if entry is None:\n        return UNKNOWN_ACCOUNT",
        "methods/payment/test_inbound_transfer.py::test_an_unused_or_foreign_account_number_is_unknown",
    ),
    Bug(
        "a cashcode's PIN is compared on three digits",
        "methods/cashcode/rules/redeem.py",
        "if not is_equal_constant_time(code.pin, hash_pin(context, code.order_ref, request.pin)):",
        "pins = (request.pin[:3] + str(last) for last in range(10))\n"
        "    if not any(is_equal_constant_time(code.pin, hash_pin(context, code.order_ref, pin)) for pin in pins):",
        "methods/cashcode/test_redeem.py::test_a_pin_that_is_wrong_in_any_one_digit_is_wrong",
    ),
    Bug(
        "wrong PINs of a cashcode are not counted",
        "methods/cashcode/rules/redeem.py",
        "counted = msgspec.structs.replace(cashcode.code, tries=cashcode.code.tries + 1)",
        "counted = cashcode.code",
        "methods/cashcode/test_redeem.py::test_the_third_wrong_pin_locks_and_gives_the_money_back",
    ),
    Bug(
        "the fee of a failed transfer is kept",
        "methods/disburse/rules/on_bank_answer.py",
        "for one in (held, fee_held) if one is not None)",
        "for one in (held,) if one is not None)",
        "methods/disburse/test_payouts.py::test_a_failure_releases_both_holds_and_posts_the_extra_group",
    ),
)

BUGS = (
    *MONEY,
    *WRITER,
    *REPEATS,
    *RAILS,
    *JOBS,
    *PAYMENTS,
    *SECRETS,
    *PROOFS,
    *KEYS,
    *RECONCILIATION,
    *OFFICE,
    *VENDORS,
    *BOUNDS,
    *AUTHORITY,
    *SHARES,
)
