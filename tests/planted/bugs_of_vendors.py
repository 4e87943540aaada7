"""Planted bugs in what vendors say, late or in pages, and in what it does to the books."""

from tests.planted.bug import Bug

WORD = "methods/disputes/test_vendors_word.py"
PAGES = "rails/vendors/test_pages.py"
CARDS = "methods/disputes/test_http_issued_cards.py"
ACTS = "console/test_vendors_word.py"

VENDORS = (
    Bug(
        "a dispute of a vendor expires without asking it",
        "methods/disputes/rules/deadline.py",
        "if dispute.due_at <= context.now and dispute.has_rail:",
        "if dispute.due_at <= context.now and not dispute.has_rail and dispute.has_rail:",
        f"{WORD}::test_the_vendor_is_asked_before_anything_is_taken",
    ),
    Bug(
        "a vendor that has not decided is not asked again",
        "methods/disputes/rules/ask_rail.py",
        "return Decision(jobs=(ask_job(dispute, due, job.attempt + 1),), notices=notices)",
        "return Decision(jobs_done=(job,), notices=notices)",
        f"{WORD}::test_the_vendor_is_asked_before_anything_is_taken",
    ),
    Bug(
        "a late win is not followed",
        "methods/disputes/rules/rail_dispute.py",
        "if not contradicts(dispute, announced.outcome):",
        "if True:",
        f"{WORD}::test_the_vendors_word_counts_however_late",
    ),
    Bug(
        "a late win gives the fee to the wallet twice",
        "methods/disputes/rules/correct_dispute.py",
        "    step = take_step(msgspec.structs.replace(dispute, state=WON, ended_at=context.now), WON, context)",
        "    postings = (*postings, *postings[1:])\n"
        "    step = take_step(msgspec.structs.replace(dispute, state=WON, ended_at=context.now), WON, context)",
        f"{WORD}::test_the_vendors_word_counts_however_late",
    ),
    Bug(
        "money that was won late still counts as disputed",
        "methods/disputes/rules/correct_dispute.py",
        "rows=(step.row, msgspec.structs.replace(taken.payment, disputed=payment.disputed - dispute.amount)),",
        "rows=(step.row,),",
        f"{WORD}::test_the_vendors_word_counts_however_late",
    ),
    Bug(
        "money that was refunded since is taken again by a late loss",
        "methods/disputes/rules/correct_dispute.py",
        "if payment.undisputed < dispute.amount:",
        "if payment.undisputed < 0:",
        f"{WORD}::test_a_late_loss_of_money_that_was_refunded_since_is_left_to_two_operators",
    ),
    Bug(
        "one operator gives a lost dispute back in live",
        "methods/disputes/rules/correct_dispute.py",
        'if context.merchant.environment != "test" or not',
        "if not",
        f"{WORD}::test_in_live_an_operator_does_not_contradict_an_outcome",
    ),
    Bug(
        "a changed resolution of a vendor is not looked at",
        "rails/inbox/feed_recording.py",
        "known == (dispute.status, dispute.resolution)",
        "known is not None and known[0] == dispute.status",
        "rails/vendors/test_live_disputes.py"
        "::test_paystack_is_asked_before_an_overdue_dispute_ends_and_its_late_word_counts",
    ),
    Bug(
        "a lost dispute does not pay a card that was issued here",
        "methods/disputes/rules/end_dispute.py",
        "card = tell_card(step.row, context) if state == WON else pay_card(step.row, payment, context)",
        "card = None",
        f"{CARDS}::test_what_is_left_of_a_partly_refunded_payment_goes_to_the_card",
    ),
    Bug(
        "a dispute that is lost again pays the card under its first key",
        "methods/disputes/rules/card_of_dispute.py",
        "    reference = event_reference(dispute.dispute_id, dispute.events)\n    subject",
        "    reference = event_reference(dispute.dispute_id, 2)\n    subject",
        f"{CARDS}::test_a_dispute_that_is_lost_again_pays_the_card_again",
    ),
    Bug(
        "a refund that was taken back still counts as refunded",
        "methods/virtualcard/rules/take_back.py",
        "refunded=refund.record.refunded - detail.amount",
        "refunded=refund.record.refunded",
        f"{CARDS}::test_a_late_win_takes_the_money_back_from_the_card",
    ),
    Bug(
        "a list of a vendor ends with a page that is shorter than was asked for",
        "rails/vendors/pages.py",
        "if not page.rows or not expects_more(page, len(known_keys)):",
        "if len(page.rows) < 100:",
        f"{PAGES}::test_receipts_of_paystack_are_read_to_the_end",
    ),
    Bug(
        "a list that became shorter is not read again",
        "rails/vendors/pages.py",
        "        if not is_shorter:\n            return\n",
        "        return\n",
        f"{PAGES}::test_a_row_that_moves_to_a_page_before_is_not_lost",
    ),
    Bug(
        "a marker that always promises more is followed",
        "rails/vendors/pages.py",
        "if repeats >= MOST_REPEATS:",
        "if number >= 500:",
        f"{PAGES}::test_a_marker_that_always_promises_more_is_not_followed_for_ever",
    ),
    Bug(
        "the NIP codes of a vendor's banks are not read",
        "rails/vendors/bank_codes.py",
        "by_nip = [other for other in listed if nip_code and other.nip_code == nip_code]",
        "by_nip: list[VendorBank] = []",
        "rails/vendors/test_paystack.py::test_banks_are_mapped_by_what_identifies_them",
    ),
    Bug(
        "banks are not known by the names that vendors use",
        "rails/vendors/bank_codes.py",
        "known = {exact_name(name) for name in KNOWN_NAMES.get(nip_code, ())}",
        "known: set[str] = set()",
        "rails/vendors/test_monnify.py::test_the_largest_banks_are_paid_whichever_list_the_vendor_gives",
    ),
    Bug(
        "the merchant's narration is shown as the bank's reason",
        "rails/vendors/paystack/transfers.py",
        'for name in ("gateway_response", "failures"))',
        'for name in ("gateway_response", "failures", "reason"))',
        "rails/vendors/test_paystack.py::test_the_reason_of_a_failed_transfer_is_the_banks_and_never_our_narration",
    ),
    Bug(
        "look-ups that succeed keep a failing money call going",
        "concurrency/breaker.py",
        "self._failures.pop(operation, None)",
        "self._failures.clear()",
        "rails/vendors/test_client.py::test_lookups_that_succeed_do_not_keep_a_failing_money_call_going",
    ),
    Bug(
        "the rails of a vendor log in each for itself",
        "rails/vendor_rails.py",
        "return MonnifyFeeds(self._transport, base_url, self._monnify_keys(), monitor, self._monnify_tokens)",
        "return MonnifyFeeds(self._transport, base_url, self._monnify_keys(), monitor)",
        "rails/vendors/test_monnify.py::test_the_rails_of_a_process_log_in_once",
    ),
    Bug(
        "a contradiction of a rail is a notice among others",
        "transactions/transactions.py",
        "is_contradiction=is_decided",
        "is_contradiction=False",
        f"{ACTS}::test_a_late_word_is_booked_when_two_operators_have_decided_so",
    ),
    Bug(
        "a refund that was paid after all can be refunded again",
        "console/operator/manual_posting.py",
        "        rows = (*rows, msgspec.structs.replace(taken.payment, disputed=payment.disputed + proposed.amount))\n",
        "",
        f"{ACTS}::test_a_late_word_is_booked_when_two_operators_have_decided_so",
    ),
)
