"""The kinds of postings: one table in the sources, and the same in the database."""

import re
from importlib.resources import files

from kasuwa.ledger.posting_kinds import POSTING_KINDS, VAT_OF_FEES
from kasuwa.ledger.settlement_lines import LINES_BY_KIND
from kasuwa.methods.payment.rules.receipts.late_money import ABOVE_LIMIT, PAID_LATE, PAID_TOO_MUCH, RETURNED_KINDS
from kasuwa.methods.statements.settlements.model import LINES, PAID_OUT

MIGRATIONS = files("kasuwa.postgres.migrations")
KINDS_CHECK = re.compile(r"constraint posting_kind check \(kind in \((.*?)\n    \)\)", re.DOTALL)


def test_the_database_takes_the_kinds_of_the_table_and_no_others() -> None:
    """The newest migration that sets the list counts."""
    scripts = sorted((entry.name, entry.read_text()) for entry in MIGRATIONS.iterdir() if entry.name.endswith(".sql"))
    checks = [check for _, script in scripts for check in KINDS_CHECK.findall(script)]
    without_comments = re.sub(r"--.*", "", checks[-1])
    kinds = [kind.replace("''", "'") for kind in re.findall(r"'((?:[^']|'')*)'", without_comments)]
    assert sorted(kinds) == sorted(POSTING_KINDS)


def test_every_line_of_a_settlement_has_a_kind() -> None:
    assert set(LINES_BY_KIND.values()) == {*LINES, PAID_OUT, "settled"}


def test_the_VAT_of_every_fee_has_a_kind() -> None:
    fees = {kind for kind in POSTING_KINDS if kind.endswith(" fee")}
    assert sorted(fee for fees_of_vat in VAT_OF_FEES.values() for fee in fees_of_vat) == sorted(fees)


def test_money_that_is_returned_has_a_kind_for_every_reason() -> None:
    assert set(RETURNED_KINDS) == {PAID_LATE, PAID_TOO_MUCH, ABOVE_LIMIT}
    assert set(RETURNED_KINDS.values()) <= set(POSTING_KINDS)
