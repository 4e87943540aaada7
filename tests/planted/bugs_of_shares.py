"""Planted bugs in what one merchant, network or request may take from others: files, password hashing, jobs."""

from tests.planted.bug import Bug

FILES = "methods/statements/test_large_files.py"

SHARES = (
    Bug(
        "all merchants have one share of statement files",
        "pages/statements.py",
        "self._shares.begin(find_network(address), terms.merchant_id)",
        "self._shares.begin(find_network(address), 0)",
        f"{FILES}::test_who_takes_all_files_of_a_merchant_holds_up_no_other_merchant",
    ),
    Bug(
        "the lines of a statement file are made in Python all at once",
        "pages/statements.py",
        "            yield piece.lines.encode()",
        "            rows = await list_movements(account, period, Place(), 1_000_000, merchant_id, reader)\n"
        '            yield "".join(f"{row}" for row in rows).encode()[:0] + piece.lines.encode()',
        f"{FILES}::test_a_file_of_20000_lines_does_not_hold_the_event_loop",
    ),
    Bug(
        "each export of the console has a share of its own",
        "console/kit/exports.py",
        "end = shares.begin(find_network",
        "end = type(shares)().begin(find_network",
        "console/test_files_at_once.py::test_a_merchant_exports_four_files_at_once_and_another_merchant_its_own",
    ),
    Bug(
        "all networks wait in one queue for a password to be verified",
        "console/account/signing_in.py",
        "HashTurn(source, email.lower())",
        "HashTurn(ALL_SOURCES, email.lower())",
        "console/test_sign_in_throttling.py::test_a_flood_from_one_address_keeps_nobody_else_from_signing_in",
    ),
    Bug(
        "a merchant is suspended before all processes know",
        "merchants/merchants.py",
        "    await asyncio.sleep(STALE_AFTER_SECONDS)",
        "    await asyncio.sleep(0)",
        "console/test_operator_pages.py::test_a_suspended_merchant_is_refused_everywhere_until_it_is_resumed",
    ),
    Bug(
        "an advance takes a job that a request gave back for one that its run left",
        "sandbox/advance.py",
        "if current is not None and job_version(current) == job_version(job):",
        "if current is not None:",
        "methods/sandbox/test_http_parallel_advance.py"
        "::test_an_advance_past_a_payments_end_while_its_code_is_refused_is_answered",
    ),
)
