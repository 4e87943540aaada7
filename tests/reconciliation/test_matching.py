"""Matching statements with the books, rule by rule, on PostgreSQL. Each test has an account of its own."""

from collections.abc import Iterator
from datetime import date

import asyncpg
import pytest

from kasuwa.core.references import movement_reference
from kasuwa.reconciliation import reads
from kasuwa.reconciliation.model import StatementError
from kasuwa.reconciliation.reads import MAX_LISTED, EntryPlace
from kasuwa.reconciliation.statement_rows import clear_descriptions
from tests.reconciliation.ledger_database import LedgerDatabase, wire
from tests.reconciliation.test_formats import MT940
from tests.running import Deployments

pytestmark = pytest.mark.xdist_group("reconciliation")


@pytest.fixture(scope="module")
def books(deployments: Deployments) -> Iterator[LedgerDatabase]:
    made = LedgerDatabase(deployments.new_database("matching"))
    yield made
    made.close()


def test_lines_match_by_reference_whatever_their_day(books: LedgerDatabase) -> None:
    account = "rail:ref:NGN"
    ours, other = books.post(account, -1_000, "2026-11-02"), books.post(account, -1_000, "2026-11-02", 902)
    row = f"2026-11-04,,NIP {wire(other, 902)} Ada,-10.00,"
    books.import_rows(account, f"2026-11-05,{wire(ours)},,-10.00,", row)
    assert books.rules(account) == {"reference": 2}
    assert books.states(account) == {"matched": (2, -2_000)}
    pairs = books.fetch(
        "select l.merchant_id, l.txn_ref, e.merchant_id, p.reference from statement_line l"
        " join reconciled_entry e using (account_id, match_id)"
        " join posting p on p.merchant_id = e.merchant_id and p.seq = e.group_seq where l.account_id = $1",
        books.scope(account).account_id,
    )
    assert {tuple(pair) for pair in pairs} == {(901, ours, 901, ours), (902, other, 902, other)}


def test_a_reference_without_its_merchant_matches_if_only_one_has_it(books: LedgerDatabase) -> None:
    account = "rail:bare:NGN"
    only, shared = books.post(account, -500, "2026-11-02"), books.post(account, -700, "2026-11-02")
    books.post(account, -700, "2026-11-02", 902, shared)
    books.import_rows(account, f"2026-11-02,{only},,-5.00,", f"2026-11-02,{shared},,-7.00,")
    assert books.states(account) == {"matched": (1, -500), "theirs only": (1, -700), "ours only": (2, -1_400)}


def test_the_reference_of_a_rail_matches_what_it_brought_in(books: LedgerDatabase) -> None:
    account = "rail:receipts:NGN"
    paid = books.post(account, 900, "2026-11-02")
    books.post(account, 400, "2026-11-02", 901, "monnify M2")
    books.execute(
        "insert into inbound_receipt values ('a', 901, 'monnify', 'M1', '1', 900, 'NGN', $1, now()),"
        " ('b', 901, 'monnify', 'M2', '1', 400, 'NGN', '', now())",
        paid,
    )
    books.import_rows(account, "2026-11-09,M1,,9.00,", "2026-11-09,M2,,4.00,")
    assert books.rules(account) == {"reference": 2}


def test_an_amount_that_differs_is_shown_with_its_difference(books: LedgerDatabase) -> None:
    account = "rail:differ:NGN"
    ours = books.post(account, -1_000, "2026-11-02")
    result = books.import_rows(account, f"2026-11-02,{wire(ours)},,-10.50,")
    assert (result.matched, result.differing) == (0, 1)
    [line] = books.lines(account, "differing")
    assert (line.difference, line.open_amount) == (-50, -50)


def test_lines_with_one_reference_match_together(books: LedgerDatabase) -> None:
    account = "rail:parts:NGN"
    ours = books.post(account, -1_000, "2026-11-02")
    books.import_rows(account, f"2026-11-02,{wire(ours)},a,-6.00,")
    assert books.states(account) == {"differing": (1, -600)}
    books.import_rows(account, f"2026-11-03,{wire(ours)},b,-4.00,")
    assert books.states(account) == {"matched": (2, -1_000)}


def test_a_fee_line_with_the_same_reference_stays_theirs(books: LedgerDatabase) -> None:
    account = "rail:feeline:NGN"
    ours = books.post(account, -1_000, "2026-11-02")
    books.import_rows(account, f"2026-11-02,{wire(ours)},transfer,-10.00,", f"2026-11-02,{wire(ours)},fee,-0.50,")
    assert books.states(account) == {"matched": (1, -1_000), "theirs only": (1, -50)}


def test_a_stated_fee_is_part_of_what_the_books_have(books: LedgerDatabase) -> None:
    account = "rail:fee:NGN"
    ours = books.post(account, 1_000, "2026-11-02")
    books.import_rows(account, f"2026-11-02,{wire(ours)},,9.85,0.15")
    [line] = books.lines(account, "matched")
    assert (line.amount, line.fee, line.difference) == (985, 15, 0)


def test_lines_without_reference_match_by_amount_and_nearest_day(books: LedgerDatabase) -> None:
    account = "rail:days:NGN"
    books.post(account, 1_000, "2026-11-02")
    near = books.post(account, 1_000, "2026-11-04")
    books.import_rows(account, "2026-11-05,,x,10.00,", "2026-11-20,,late,10.00,")
    assert books.rules(account) == {"amount": 1}
    assert [entry.reference for entry in books.ours_only(account)] != [near]
    assert books.states(account) == {"matched": (1, 1_000), "theirs only": (1, 1_000), "ours only": (1, 1_000)}


def test_several_alike_are_matched_in_order_and_marked(books: LedgerDatabase) -> None:
    account = "rail:alike:NGN"
    for _ in range(3):
        books.post(account, 1_000, "2026-11-02")
    books.import_rows(account, "2026-11-02,,a,10.00,", "2026-11-02,,b,10.00,")
    assert books.rules(account) == {"amount of several": 2}
    assert books.states(account) == {"matched": (2, 2_000), "ours only": (1, 1_000)}


def test_a_line_with_a_reference_of_ours_is_never_matched_by_amount(books: LedgerDatabase) -> None:
    account = "rail:strict:NGN"
    books.post(account, -1_000, "2026-11-02")
    unknown = wire("GP|FD|000000001|20261105O")
    books.import_rows(account, f"2026-11-02,{unknown},,-10.00,")
    assert books.states(account) == {"theirs only": (1, -1_000), "ours only": (1, -1_000)}


def test_money_in_is_never_matched_with_money_out(books: LedgerDatabase) -> None:
    account = "rail:signs:NGN"
    books.post(account, 1_000, "2026-11-02")
    books.post(account, -3_000, "2026-11-02")
    books.import_rows(account, "2026-11-02,,x,-10.00,", "2026-11-02,,y,30.00,")
    assert books.states(account) == {"theirs only": (2, 2_000), "ours only": (2, -2_000)}


def test_a_batch_that_two_lines_name_is_matched_with_neither(books: LedgerDatabase) -> None:
    account = "rail:twice:NGN"
    batch = movement_reference("BT", 7, date(2026, 11, 2))
    for amount in (-100, -200):
        books.add_transaction(books.post(account, amount, "2026-11-02"), batch_ref=batch)
    books.import_rows(account, f"2026-11-02,{wire(batch)},bulk,-3.00,", f"2026-11-03,{wire(batch)},bulk,-3.00,")
    assert "batch" not in books.rules(account)


def test_a_batch_reference_matches_all_transfers_of_the_batch(books: LedgerDatabase) -> None:
    account = "rail:bulk:NGN"
    batch = movement_reference("BT", 1, date(2026, 11, 2))
    for amount in (-100, -200, -300):
        books.add_transaction(books.post(account, amount, "2026-11-02"), batch_ref=batch)
    books.import_rows(account, f"2026-11-02,{wire(batch)},bulk,-6.00,")
    assert books.rules(account) == {"batch": 1}
    assert books.states(account) == {"matched": (1, -600)}


def test_a_lump_sum_of_a_day_less_fees_matches_all_its_payments(books: LedgerDatabase) -> None:
    account = "rail:lump:NGN"
    for amount in (1_000, 2_000, 3_000):
        books.post(account, amount, "2026-11-02")
    books.post(account, 700, "2026-11-03")
    books.execute(
        "insert into rail_settlement (rail, settlement_id, status, currency, gross, fees, amount, payments, settled_on)"
        " values ('bank', 'SETTLE-77', 'paid', 'NGN', 6000, 90, 5910, 3, '2026-11-03')"
    )
    books.import_rows(account, "2026-11-03,,payout SETTLE-77,59.10,")
    assert books.rules(account) == {"days": 1}
    [line] = books.lines(account, "matched")
    assert (line.amount, line.fee) == (5_910, 90)
    assert [entry.amount for entry in books.ours_only(account)] == [700]


def test_the_only_few_entries_that_add_up_match_a_line(books: LedgerDatabase) -> None:
    account = "rail:few:NGN"
    for amount in (101, 202, 404, 5_000):
        books.post(account, amount, "2026-11-02")
    books.import_rows(account, "2026-11-02,,part payout,5.05,")
    assert books.rules(account) == {"sum": 1}
    assert {entry.amount for entry in books.ours_only(account)} == {202, 5_000}


def test_a_settlement_feed_is_a_statement_of_its_vendor(books: LedgerDatabase) -> None:
    account = "rail:fed:NGN@feedrail"
    mine = [books.post("rail:fed:NGN", amount, "2026-11-02") for amount in (1_000, 2_000)]
    for reference in mine:
        books.add_transaction(reference, rail="feedrail")
    books.add_transaction(books.post("rail:fed:NGN", 9_999, "2026-11-02"), rail="other")
    books.execute(
        "insert into rail_settlement (rail, settlement_id, status, currency, gross, fees, amount, payments, settled_on)"
        " values ('feedrail', 'F-1', 'paid', 'NGN', 3000, 45, 2955, 2, '2026-11-03'),"
        " ('feedrail', 'F-2', 'pending', 'NGN', 500, 5, 495, 1, null)"
    )
    assert books.import_feed(account).new_lines == 1
    assert books.states(account) == {"matched": (1, 2_955)}
    assert books.import_feed(account).is_repeated


def test_a_feed_needs_its_vendor_and_a_settlement(books: LedgerDatabase) -> None:
    with pytest.raises(StatementError, match="name the vendor"):
        books.import_feed("rail:fed:NGN")
    with pytest.raises(StatementError, match="no settlement in USD"):
        books.import_feed("rail:fed:USD@feedrail")


# --- importing again ------------------------------------------------------------------------------------------------


def stored(books: LedgerDatabase) -> list[int]:
    query = "select (select count(*) from statement_line), (select count(*) from reconciled_entry), "
    return list(books.fetch(query + "(select count(*) from statement_import), (select count(*) from audit_entry)")[0])


def test_the_same_file_again_changes_nothing(books: LedgerDatabase) -> None:
    account = "rail:again:NGN"
    rows = (f"2026-11-02,{wire(books.post(account, -1_000, '2026-11-02'))},,-10.00,", "2026-11-02,,fee,-0.50,")
    first = books.import_rows(account, *rows)
    before = stored(books)
    again = books.import_rows(account, *rows)
    assert (again.is_repeated, again.import_id) == (True, first.import_id)
    assert stored(books) == before


def test_overlapping_files_add_each_line_once(books: LedgerDatabase) -> None:
    account = "rail:overlap:NGN"
    books.import_rows(account, "2026-11-02,,fee,-0.50,", "2026-11-02,,fee,-0.50,", "2026-11-03,,a,1.00,")
    result = books.import_rows(
        account, "2026-11-02,,fee,-0.50,", "2026-11-02,,fee,-0.50,", "2026-11-03,,a,1.00,", "2026-11-04,,b,2.00,"
    )
    assert (result.lines, result.new_lines) == (4, 1)
    assert books.states(account) == {"theirs only": (4, 200)}


def test_a_line_that_came_before_its_posting_matches_with_a_later_file(books: LedgerDatabase) -> None:
    account = "rail:later:NGN"
    books.import_rows(account, "2026-11-02,,x,10.00,")
    books.post(account, 1_000, "2026-11-02")
    books.import_rows(account, "2026-11-03,,y,20.00,")
    assert books.states(account) == {"matched": (1, 1_000), "theirs only": (1, 2_000)}


def test_an_entry_that_was_matched_is_not_matched_by_a_later_file(books: LedgerDatabase) -> None:
    account = "rail:once:NGN"
    ours = books.post(account, 1_000, "2026-11-02")
    books.import_rows(account, f"2026-11-02,{wire(ours)},,10.00,")
    books.import_rows(account, "2026-11-02,,the same amount,10.00,", f"2026-11-03,{wire(ours)},sent again,10.00,")
    assert books.states(account) == {"matched": (1, 1_000), "theirs only": (2, 2_000)}
    entries = "select count(*) from reconciled_entry where account_id = $1"
    assert books.fetch(entries, books.scope(account).account_id)[0][0] == 1


def test_a_faulty_file_changes_nothing(books: LedgerDatabase) -> None:
    before = stored(books)
    with pytest.raises(StatementError, match="line 3: 'x' is not an amount"):
        books.import_rows("rail:faulty:NGN", "2026-11-02,,a,10.00,", "2026-11-02,,b,x,")
    with pytest.raises(StatementError, match="no lines"):
        books.import_rows("rail:faulty:NGN")
    assert stored(books) == before


def test_a_day_that_is_misread_is_refused(books: LedgerDatabase) -> None:
    with pytest.raises(StatementError, match="a line is of 0026-11-02: is `date_form`"):
        books.import_rows("rail:ancient:NGN", "0026-11-02,,a,10.00,")


def test_a_file_of_another_bank_account_is_refused(books: LedgerDatabase) -> None:
    account = "rail:number:NGN"
    books.import_rows(account, "2026-11-02,,a,10.00,")
    books.execute("update statement_account set bank_account = '111' where name = $1", account)
    with pytest.raises(StatementError, match="the file is of account 0123456789, and earlier files of"):
        books.import_content(account, MT940.encode())


def test_stored_lines_cannot_be_changed_or_deleted(books: LedgerDatabase) -> None:
    account = "rail:fixed:NGN"
    books.import_rows(account, "2026-11-02,,a,10.00,")
    for change in (
        "update statement_line set amount = amount + 1",
        "delete from statement_line",
        "truncate statement_line",
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="append-only"):
            books.execute(change)


def test_lists_continue_after_the_last_row_of_a_page(books: LedgerDatabase) -> None:
    account = "rail:pages:NGN"
    for number in range(MAX_LISTED + 5):
        books.post(account, 100_000 + number, "2026-11-02")
    books.import_rows(account, *(f"2026-11-20,,line {number},{number + 1}.00," for number in range(MAX_LISTED + 5)))
    entries = books.ours_only(account)
    last = entries[MAX_LISTED - 1]
    place = EntryPlace(last.day, last.merchant_id, last.group_seq)
    rest = books.run(reads.list_entries(books.connection, books.scope(account), place))
    assert (len(entries), len(rest), rest[0]) == (MAX_LISTED + 1, 5, entries[MAX_LISTED])
    lines = books.lines(account, "theirs only")
    place_of_line = lines[MAX_LISTED - 1].line_id
    scope = books.scope(account)
    further = books.run(reads.list_lines(books.connection, scope, "theirs only", place_of_line))
    assert (len(lines), len(further)) == (MAX_LISTED + 1, 5)


# --- decisions ------------------------------------------------------------------------------------------------------


def propose(books: LedgerDatabase, account: str, line_id: int | None, group_seq: int | None, state: str) -> int:
    """Adds a decision of a person with an approval in this state. Returns the number of the approval."""
    books.execute(
        "insert into console_user (email, role) values ('a@example.com', 'operator:admin'),"
        " ('b@example.com', 'operator:admin') on conflict do nothing"
    )
    [(number,)] = books.fetch(
        "insert into approval (mid, kind, proposal, reason, proposed_by, state, decided_by, decided_at)"
        " select 'GP0000901', 'posting', '{}', 'x', min(user_id), $1::text, case $1 when 'open' then null"
        " else max(user_id) end, case $1 when 'open' then null else now() end from console_user returning approval_id",
        state,
    )
    merchant_id = None if group_seq is None else 901
    books.execute(
        "insert into reconciliation_decision values ($1, $2, $3, $4, $5)",
        number,
        books.scope(account).account_id,
        line_id,
        merchant_id,
        group_seq,
    )
    return int(number)


def test_an_approved_decision_settles_its_line_and_its_own_posting(books: LedgerDatabase) -> None:
    account = "rail:decided:NGN"
    books.import_rows(account, "2026-11-02,,fee,-0.50,")
    [line] = books.lines(account, "theirs only")
    number = propose(books, account, line.line_id, None, "approved")
    books.post(account, -50, "2026-11-02", 901, f"approval {number}")
    books.import_rows(account, "2026-11-02,,fee,-0.50,", "2026-11-03,,other,-0.50,")
    assert books.states(account) == {"decided": (1, -50), "theirs only": (1, -50)}


@pytest.mark.parametrize(("state", "states"), [("open", {"theirs only", "ours only"}), ("rejected", {"matched"})])
def test_what_waits_for_a_verdict_is_not_matched_meanwhile(books: LedgerDatabase, state: str, states: set[str]) -> None:
    account = f"rail:waits{state}:NGN"
    books.import_rows(account, "2026-11-01,,first,0.01,")
    reference = books.post(account, -700, "2026-11-02")
    [entry] = books.ours_only(account)
    propose(books, account, None, entry.group_seq, state)
    books.import_rows(account, f"2026-11-02,{wire(reference)},,-7.00,")
    found = {name for name, (_, amount) in books.states(account).items() if abs(amount) > 1}
    assert found == states


def test_a_second_import_of_an_account_waits_for_the_first(books: LedgerDatabase) -> None:
    account = "rail:locked:NGN"
    books.import_rows(account, "2026-11-01,,first,0.01,")
    with pytest.raises(StatementError, match="another import of rail:locked:NGN is running"):
        books.import_while_locked(account)


def test_old_descriptions_of_matched_lines_are_emptied(books: LedgerDatabase) -> None:
    account = "rail:old:NGN"
    books.post(account, 1_000, "2026-01-05")
    rows = ("2026-01-05,,from Ada,10.00,", "2026-01-06,,from Obi,20.00,")
    books.import_rows(account, *rows)
    assert books.run(clear_descriptions(books.connection, date(2026, 2, 1))) >= 1
    [matched], [theirs] = books.lines(account, "matched"), books.lines(account, "theirs only")
    assert (matched.description, theirs.description) == ("", "from Obi")
    assert books.import_rows(account, *rows, "2026-01-07,,new,1.00,").new_lines == 1
