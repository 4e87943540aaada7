"""Rules of manual postings."""

import pytest

from kasuwa.console.operator.manual_posting import (
    INSUFFICIENT_FUNDS_REFUSAL,
    ManualPosting,
    ProposedPosting,
    Verdict,
    decide_verdict,
    need_verdict,
    parse_posting,
    posting_key,
    write_off_accounts,
)
from kasuwa.core.decision import AuditEntry, Decision, FieldError, LoadedRows, Posting
from tests.rule_context import context

WALLET, OUTSIDE = "wallet:main:NGN", "outside:funding:NGN"
MOVEMENT = ProposedPosting(OUTSIDE, WALLET, 150_000, "manual posting")


def test_a_form_is_parsed_to_a_posting_in_minor_units() -> None:
    assert parse_posting(OUTSIDE, WALLET, "1500.00", "manual posting") == MOVEMENT


@pytest.mark.parametrize(
    ("debit", "credit", "amount", "fields"),
    [
        ("wallet", WALLET, "1", ["debit"]),
        ("treasure:main:NGN", WALLET, "1", ["debit"]),
        (OUTSIDE, "wallet::NGN", "1", ["credit"]),
        (OUTSIDE, WALLET, "-1", ["amount"]),
        (OUTSIDE, WALLET, "0", ["amount"]),
        (WALLET, WALLET, "1", ["credit"]),
        (OUTSIDE, "wallet:main:USD", "1", ["credit"]),
        ("x", "y", "z", ["debit", "credit", "amount"]),
    ],
)
def test_every_error_of_a_form_is_reported(debit: str, credit: str, amount: str, fields: list[str]) -> None:
    faults = parse_posting(debit, credit, amount, "manual posting")
    assert isinstance(faults, tuple)
    assert [fault.field for fault in faults if isinstance(fault, FieldError)] == fields


def test_a_write_off_moves_a_balance_towards_zero() -> None:
    assert write_off_accounts("rail:bank:NGN", -5) == ("income:write_off:NGN", "rail:bank:NGN")
    assert write_off_accounts("rail:bank:NGN", 5) == ("rail:bank:NGN", "income:write_off:NGN")


ENTRY = AuditEntry("ada@example.com", "approved a manual posting", "approval 7")
APPROVED = Verdict(7, "approved", 3, MOVEMENT, ENTRY)
REJECTED = Verdict(7, "rejected", 4, MOVEMENT, ENTRY)


def test_an_approved_posting_is_made_with_its_verdict_and_audit_entry() -> None:
    here = context()
    key = posting_key(here.merchant.merchant_id, 7)
    needs = need_verdict(APPROVED, here.merchant)
    assert (needs.rows, needs.accounts) == (((ManualPosting, key),), (OUTSIDE, WALLET))
    first = decide_verdict(APPROVED, here, LoadedRows({key: None}))
    assert isinstance(first, Decision)
    assert [(g.reference, g.shortfall_refusal, g.postings) for g in first.groups] == [
        ("approval 7", INSUFFICIENT_FUNDS_REFUSAL, (Posting(OUTSIDE, WALLET, 150_000, "manual posting"),))
    ]
    assert first.rows == (ManualPosting(key, here.merchant.merchant_id, 7, "approved", 3),)
    assert (first.reply, first.audit_entries) == (first.rows[0], (ENTRY,))


def test_a_rejected_posting_moves_nothing_and_needs_no_account() -> None:
    here = context()
    key = posting_key(here.merchant.merchant_id, 7)
    assert need_verdict(REJECTED, here.merchant).accounts == ()
    decided = decide_verdict(REJECTED, here, LoadedRows({key: None}))
    assert isinstance(decided, Decision)
    assert (decided.groups, decided.rows) == ((), (ManualPosting(key, here.merchant.merchant_id, 7, "rejected", 4),))


@pytest.mark.parametrize(("first", "second"), [(APPROVED, APPROVED), (APPROVED, REJECTED), (REJECTED, APPROVED)])
def test_the_first_verdict_stands_and_is_the_reply_to_a_second(first: Verdict, second: Verdict) -> None:
    here = context()
    key = posting_key(here.merchant.merchant_id, 7)
    decided = decide_verdict(first, here, LoadedRows({key: None}))
    assert isinstance(decided, Decision)
    again = decide_verdict(second, here, LoadedRows({key: decided.rows[0]}))
    assert again == Decision(reply=decided.rows[0])
