"""Planted bugs in chains, closes and proofs, in keys and approvals, and in reconciliation."""

from tests.planted.bug import Bug

CHAINED = "db/test_chains.py::test_rows_are_chained_while_several_merchants_write_at_once"

PROOFS = (
    Bug(
        "postings are written without their chain",
        "db/batch.py",
        "if merchant_state.chained_posting_seq == first - 1:",
        "if merchant_state.chained_posting_seq == first:",
        CHAINED,
    ),
    Bug(
        "events are written without their chain",
        "db/batch.py",
        "if merchant_state.chained_event_seq == seq - 1:",
        "if merchant_state.chained_event_seq == seq:",
        CHAINED,
    ),
    Bug(
        "a chain goes on although earlier groups are not in it",
        "db/batch.py",
        "if merchant_state.chained_posting_seq == first - 1:",
        "if merchant_state.chained_posting_seq < first:",
        "db/test_chains.py::test_the_writer_goes_on_where_the_chain_was_completed",
    ),
    Bug(
        "the chain does not cover the balance after a posting",
        "ledger/chain.py",
        '{line.debit_after}\\0{line.credit_after}\\0{line.kind}\\0"',
        '{line.debit_after}\\0{line.debit_after}\\0{line.kind}\\0"',
        "ledger/test_chain.py::test_the_value_after_a_group_depends_on_each_field_of_a_posting",
    ),
    Bug(
        "the chain of events does not cover the payload",
        "ledger/chain.py",
        '{event.object}\\0{event.object_seq}\\0{event.kind}\\0{event.payload}\\0"',
        '{event.object}\\0{event.object_seq}\\0{event.kind}\\0\\0"',
        "ledger/test_chain.py::test_the_value_after_an_event_depends_on_each_field",
    ),
    Bug(
        "a close leaves the audit trail out",
        "db/closes.py",
        "coalesce(a.seq, 0), coalesce(a.hash, ''::bytea), p.posting_seq",
        "0, ''::bytea, p.posting_seq",
        "work/test_closes.py::test_an_entry_of_the_audit_trail_that_was_closed_cannot_be_rewritten",
    ),
    Bug(
        "a close keeps the old head of books whose audit trail alone has grown",
        "db/closes.py",
        "or (self.head.audit_seq, self.head.audit_head) != (self.before.audit_seq, self.before.audit_head)",
        "or self.head.audit_seq < self.before.audit_seq",
        "work/test_closes.py::test_books_whose_audit_trail_alone_has_grown_get_a_new_head",
    ),
    Bug(
        "a close does not name the one before",
        "db/closes.py",
        "previous=NO_CLOSE_BEFORE if before is None else close_hash(before),",
        "previous=NO_CLOSE_BEFORE,",
        "work/test_closer.py::test_the_worker_closes_once_a_day_and_names_the_close_before",
    ),
    Bug(
        "two workers close the same day",
        "db/closes.py",
        "        if not is_due(before):\n            return None\n",
        "",
        "work/test_closer.py::test_two_workers_make_one_close",
    ),
    Bug(
        "a close that could not be published is forgotten",
        "work/closes.py",
        "for directory in filter(None, (terms.copy_directory, terms.directory)):",
        "for directory in filter(None, (terms.directory, terms.copy_directory)):",
        "work/test_closer.py::test_a_close_is_published_in_all_places_and_again_after_a_failure",
    ),
    Bug(
        "the audit accepts a close of any key",
        "work/close_audit.py",
        "    if made.public_key not in trusted:\n",
        "    if not made.public_key:\n",
        "work/test_closes.py::test_a_close_that_is_missing_or_signed_by_another_key_is_found",
    ),
    Bug(
        "the audit does not compare closes with their files",
        "work/close_audit.py",
        "    if document == encode_close(made, changed):\n        return []\n",
        "    if document:\n        return []\n",
        "work/test_closes.py::test_a_close_that_was_computed_again_is_found_by_its_signature_and_file",
    ),
    Bug(
        "the verifier accepts a close of any key",
        "verify.py",
        "    if key not in keys:\n",
        "    if not keys:\n",
        "work/test_closes.py::test_the_command_verifies_a_proof_with_the_public_key_alone",
    ),
    Bug(
        "the verifier does not check the signature",
        "verify.py",
        "    except InvalidSignature:\n        raise ProofError",
        "    except InvalidSignature:\n        return\n        raise ProofError",
        "work/test_verify.py::test_a_proof_holds_only_if_nothing_was_changed",
    ),
    Bug(
        "the verifier accepts a statement with a movement left out",
        "verify.py",
        "if [found[:5] for found in expected] != shown:",
        "if any(movement not in [found[:5] for found in expected] for movement in shown):",
        "work/test_closes.py::test_a_statement_proves_that_no_movement_is_left_out",
    ),
)

KEYS = (
    Bug(
        "the scope of a key is not checked",
        "web/dispatch.py",
        "beyond = refuse_scope(path.method, action, merchant.caller)",
        "beyond = None",
        "walk/test_scopes.py::test_a_key_is_refused_every_action_beyond_its_scope",
    ),
    Bug(
        "a forwarded request has all scopes",
        "web/forwarding.py",
        "merchant = msgspec.structs.replace(merchant, caller=request.caller)",
        "merchant = msgspec.structs.replace(merchant, caller=NO_CALLER)",
        "web/test_forwarding.py::test_a_forwarded_request_has_the_scopes_and_the_identity_of_its_key",
    ),
    Bug(
        "a key works from any address",
        "core/callers.py",
        "        if not self.addresses:\n            return True\n",
        "        if self.key_id:\n            return True\n",
        "web/test_keys.py::test_a_key_is_refused_from_outside_its_ranges",
    ),
    Bug(
        "whoever made a transfer approves it",
        "methods/disburse/rules/approve.py",
        "if verdict == APPROVED and is_same_party(maker, context.merchant.caller):",
        "if verdict == APPROVED and maker is context.merchant.caller:",
        "methods/disburse/test_approve.py::test_the_maker_may_reject_but_not_approve",
    ),
    Bug(
        "a rolled key approves what the key before it made",
        "core/callers.py",
        "return maker.lineage == approver.lineage",
        "return maker.key_id == approver.key_id",
        "core/test_callers.py::test_rolled_keys_and_keys_of_ones_own_are_no_other_party",
    ),
    Bug(
        "a transfer that was rejected is approved after all",
        "methods/disburse/rules/approve.py",
        "return None if approval.state == verdict else DECIDED[approval.state]",
        "return None",
        "methods/disburse/test_approve.py::test_a_decided_transfer_is_not_decided_again",
    ),
    Bug(
        "a transfer is approved after its time",
        "methods/disburse/rules/approve.py",
        "    if context.now >= approval.expires_at:\n        return DECIDED[EXPIRED]\n",
        "",
        "methods/disburse/test_approve.py::test_a_verdict_after_72_hours_comes_too_late",
    ),
    Bug(
        "the money of a rejected transfer stays held",
        "methods/disburse/rules/approve.py",
        "groups=end_holds(end.row, WALLET, (), seen),",
        "groups=(),",
        "methods/disburse/test_approve.py::test_a_rejected_transfer_releases_its_hold_and_is_not_counted",
    ),
    Bug(
        "a failed transfer counts against the limits",
        "methods/disburse/rules/payout_checks.py",
        "return tuple(take_from_counter(counter, row.amount, counted_at) for counter in found)",
        "return ()",
        "methods/disburse/test_http_approvals.py::test_limits_refuse_by_name_and_failed_transfers_do_not_count",
    ),
)

RECONCILIATION = (
    Bug(
        "an entry that was matched is matched again",
        "db/reconciliation_matching.py",
        "and r.group_seq = m.group_seq)",
        "and r.group_seq < 0)",
        "reconciliation/test_matching.py::test_an_entry_that_was_matched_is_not_matched_by_a_later_file",
    ),
    Bug(
        "lines of the same amount match every entry of it",
        "db/reconciliation_matching.py",
        "e.day + $1::integer = l.booked_on and e.place = l.place),",
        "e.day + $1::integer = l.booked_on),",
        "reconciliation/test_matching.py::test_several_alike_are_matched_in_order_and_marked",
    ),
    Bug(
        "money in is matched with money out",
        "db/reconciliation_matching.py",
        "sum(case when p.debit = $2 then p.amount else -p.amount end)::bigint as amount,",
        "sum(p.amount)::bigint as amount,",
        "reconciliation/test_matching.py::test_money_in_is_never_matched_with_money_out",
    ),
    Bug(
        "the posting of a decision is matched as well",
        "db/reconciliation_matching.py",
        "        and not exists (select 1 from decided d where d.reference = m.reference)\n",
        "",
        "reconciliation/test_matching.py::test_an_approved_decision_settles_its_line_and_its_own_posting",
    ),
    Bug(
        "a line about which a decision waits is matched meanwhile",
        "db/reconciliation_matching.py",
        "d.merchant_id = e.merchant_id and d.group_seq = e.group_seq and a.state = 'open')",
        "d.merchant_id = e.merchant_id and d.group_seq = e.group_seq and a.state = 'x')",
        "reconciliation/test_matching.py::test_what_waits_for_a_verdict_is_not_matched_meanwhile",
    ),
)
