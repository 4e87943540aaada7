"""Planted bugs that reveal or lose secrets (see bugs.py)."""

from tests.planted.bug import Bug

SECRETS = (
    Bug(
        "the list of transactions has those of other merchants",
        "methods/transactions/store.py",
        'OF_MERCHANT = f"select {COLUMNS} from transaction t where t.merchant_id = u.merchant"',
        'OF_MERCHANT = f"select {COLUMNS} from transaction t where t.merchant_id > 0"',
        "walk/test_tenancy.py::test_a_list_shows_nothing_of_another_merchant",
    ),
    Bug(
        "verify finds another merchant's transfer",
        "methods/disburse/store.py",
        "where t.merchant_id = $2 and t.txn_ref = $3 and t.kind = any($4)",
        "where t.txn_ref = $3 and t.kind = any($4)",
        "test_tidy.py::test_stores_only_read_and_only_their_own_merchants_rows",
    ),
    Bug(
        "the text of an error is logged",
        "observe/log.py",
        'description: dict[str, object] = {"error": type(error).__name__, "places": places}',
        'description: dict[str, object] = {"error": repr(error), "places": places}',
        "observe/test_error_texts.py::test_a_rule_that_raises_in_a_request",
    ),
    Bug(
        "a saved card's ciphertext is not bound to its token",
        "methods/payment/model.py",
        'return f"saved_card.sealed {token}"',
        'return "saved_card.sealed"',
        "methods/payment/test_sealed_cards.py::test_a_plan_charge_does_not_decrypt_a_swapped_card",
    ),
    Bug(
        "a BVN is not bound to its client",
        "methods/clients/rules/manage_client.py",
        'return f"client.bvn_sealed {client_id}"',
        'return "client.bvn_sealed"',
        "walk/test_sealed_columns.py::test_what_is_sealed_in_one_row_does_not_open_in_another",
    ),
    Bug(
        "card numbers with spaces are not masked",
        "wire/masking.py",
        r'NUMBER = re.compile(rf"\d(?:{SEPARATOR}{{0,3}}\d){{{SHORTEST - 1},}}")',
        r'NUMBER = re.compile(rf"\d(?:\d){{{SHORTEST - 1},}}")',
        "wire/test_masking.py::test_a_card_number_is_masked_wherever_it_stands",
    ),
    Bug(
        "card numbers in references are not masked",
        "wire/decoding.py",
        "(REFERENCE_TEXT, mask_reference)",
        "(REFERENCE_TEXT, str)",
        "wire/test_decoding.py::test_card_numbers_in_references_are_masked",
    ),
    Bug(
        "the session that waited for the code stays valid after it",
        "console/account/signing_in.py",
        "        if visit.session is not None:\n            await sessions.end(",
        "        if visit.session is None:\n            await sessions.end(",
        "console/test_signing_in.py::test_with_a_second_factor_the_password_alone_opens_nothing",
    ),
    Bug(
        "a form of the console needs no CSRF token",
        "console/server.py",
        "is_valid = isinstance(token, str) and is_equal_constant_time(token.encode(), visit.csrf_token.encode())",
        "is_valid = isinstance(token, str)",
        "console/test_signing_in.py::test_forms_of_a_signed_in_user_need_their_csrf_token",
    ),
    Bug(
        "a merchant's rate limit is shared by all",
        "api/rate_limit.py",
        "bucket = self._buckets.get(merchant_id)",
        "bucket = next(iter(self._buckets.values()), None)",
        "api/test_settings.py::test_a_rate_is_one_merchants_own",
    ),
    Bug(
        "an event that should have a bad signature has a good one",
        "webhooks/signatures.py",
        'signing_keys = [b"not " + key for key in keys] if has_bad_signature else keys',
        "signing_keys = keys",
        "webhooks/test_delivery.py::test_a_badly_signed_event_fails_both_of_its_signatures",
    ),
)
