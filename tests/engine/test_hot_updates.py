"""Updates of rows are HOT updates: they change no column that an index is made of, so that no index is written.

An index is made of its columns, of those in its expressions and of those in its condition.
"""

from collections.abc import Iterator

import pytest

from kasuwa.commands import client
from kasuwa.core.decision import Row
from kasuwa.methods import tables
from tests.running import NEWEST, Deployments

# Kinds of rows that are updated in a column of an index, each with the reason why that must be or is seldom.
NOT_HOT = {
    "Job": "the worker finds jobs by the time at which they are due",
    "AmendedTransaction": "a payer chooses another way to pay",
    "AmendedPayment": "a payer chooses another way to pay",
    "PersonalizedAccountRow": "an account moves to another rail",
    "TransferApproval": "approvals that wait are listed",
    "PricedRefund": "a refund gets what counts for the price when it ends",
    "Client": "a client's data are changed, and found by what they are now",
    "Customer": "a customer's data are changed, and found by what they are now",
    "Dispute": "disputes that wait for an answer are listed",
    "GroupLoan": "its one transfer goes to who leads the group when it is approved, once",
    "Invoice": "open invoices are listed",
    "Loan": "loans in arrears are listed",
    "Plan": "paused plans are listed",
    "MailRow": "mails that failed are listed",
    "IdempotencyRecord": "records are deleted when they have expired; a key is used again after that",
    **dict.fromkeys(
        (
            "ErasableDeposit",
            "ErasablePayment",
            "ErasablePaymentTransaction",
            "ErasablePlan",
            "ErasableRepayment",
            "ErasableTransfer",
        ),
        "personal data are erased",
    ),
}

# Modules that import all kinds of rows.
IMPORTED = (tables, client)

INDEXED_COLUMNS = """
    select distinct c.relname || '.' || a.attname
    from pg_index x
    join pg_class c on c.oid = x.indrelid and c.relnamespace = 'public'::regnamespace
    join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = x.indexrelid
        and d.refclassid = 'pg_class'::regclass and d.refobjid = x.indrelid
    join pg_attribute a on a.attrelid = c.oid and a.attnum = d.refobjsubid
"""


@pytest.fixture(scope="module")
def indexed(deployments: Deployments) -> set[str]:
    return {row[0] for row in deployments.for_version(NEWEST).fetch(INDEXED_COLUMNS)}


def kinds_of_rows(kind: type[Row] = Row) -> Iterator[type[Row]]:
    for found in kind.__subclasses__():
        yield found
        yield from kinds_of_rows(found)


def test_updates_change_no_column_of_an_index(indexed: set[str]) -> None:
    assert "transaction.detail" in indexed, "it is part of expressions"
    changing = {
        kind.__name__
        for kind in kinds_of_rows()
        if any(f"{kind.table}.{column}" in indexed for column in kind.mutable_columns)
    }
    assert changing == set(NOT_HOT)
