"""The booking of money that a rail received on an account: once, to its owner or to suspense."""

from typing import Any

import msgspec
import pytest

from kasuwa.core.decision import Decision, LoadedRows, NeedsMore, Posting, Row
from kasuwa.methods.payment.model import DETAIL_DECODER, FACTS_DECODER, Payment
from kasuwa.methods.payment.rules.receipts.rail_receipt import decide_receipt, need_receipt_rows
from kasuwa.methods.resources.rules.open_account import seal_owner
from kasuwa.transactions.inbound_accounts import (
    AccountOwner,
    ArrivedReceipt,
    InboundReceipt,
    PersonalizedAccountRow,
    personalized_key,
    receipt_key,
)
from tests.rule_context import MERCHANT, NOW, context

ACCOUNT_KEY = personalized_key(MERCHANT.merchant_id, "tenant")
KEY = receipt_key(MERCHANT.merchant_id, "monnify", "MNFY|1")
RECEIPT = ArrivedReceipt("monnify", "MNFY|1", "", "tenant", 150_000, "NGN", "CHIDI EZE")
ACCOUNT = PersonalizedAccountRow(
    ACCOUNT_KEY,
    MERCHANT.merchant_id,
    "tenant",
    "6010000000",
    "035",
    "Wema bank",
    None,
    NOW,
    "open",
    "monnify",
    "GP|PA|1",
    person_sealed=seal_owner(ACCOUNT_KEY, AccountOwner("Ada Obi", "ada@example.com"), context()),
)


def decide(
    receipt: ArrivedReceipt = RECEIPT,
    account: PersonalizedAccountRow | None = ACCOUNT,
    known: InboundReceipt | None = None,
) -> Decision:
    rows: dict[bytes, Row | None] = {KEY: known}
    if receipt.account_reference:
        rows[ACCOUNT_KEY] = account
    assert {key for _, key in need_receipt_rows(receipt, MERCHANT).rows} == set(rows)
    outcome = decide_receipt(receipt, context(), LoadedRows(rows))
    while isinstance(outcome, NeedsMore):
        rows |= {key: None for _, key in outcome.needs.rows}
        outcome = decide_receipt(receipt, context(), LoadedRows(rows))
    return outcome


def test_receipt_is_a_payment_that_keeps_the_rails_reference() -> None:
    decision = decide()
    [payment] = [row for row in decision.rows if isinstance(row, Payment)]
    assert (payment.charged, payment.session) == (150_000, "MNFY|1")
    # A refund goes to the vendor that has the money, by the vendor's reference.
    assert DETAIL_DECODER.decode(payment.detail).vendor == "monnify"
    assert FACTS_DECODER.decode(payment.facts).rail == {"transaction": "MNFY|1"}
    receipt = decision.reply
    assert (receipt.txn_ref, receipt.account_number, receipt.amount) == (payment.txn_ref, "6010000000", 150_000)
    assert (receipt in decision.rows, len(decision.events), decision.numbers_used) == (True, 1, 1)


def test_receipt_that_was_booked_before_changes_nothing() -> None:
    booked = decide().reply
    again = decide(known=booked)
    assert (again.reply, again.changes_anything) == (booked, False)


@pytest.mark.parametrize(
    ("changes", "account"),
    [
        ({"account_reference": "", "account_number": "9900000009"}, None),
        ({}, msgspec.structs.replace(ACCOUNT, state="closed")),
        ({}, msgspec.structs.replace(ACCOUNT, state="opening")),
        ({"currency": "USD"}, ACCOUNT),
    ],
)
def test_money_for_nobody_known_goes_to_suspense_with_a_notice(
    changes: dict[str, Any], account: PersonalizedAccountRow | None
) -> None:
    receipt = msgspec.structs.replace(RECEIPT, **changes)
    decision = decide(receipt, account)
    [group], [notice] = decision.groups, decision.notices
    rail, suspense = f"rail:debit:{receipt.currency}", f"suspense:inbound:{receipt.currency}"
    assert group.postings == (Posting(rail, suspense, 150_000, "received for nobody known"),)
    assert (decision.reply.txn_ref, decision.events) == ("", ())
    assert f"{receipt.currency} 1500.00 came into account" in notice.message
