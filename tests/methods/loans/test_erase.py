"""A repayment from the wallet forgets what was told of its payer, and keeps its loan."""

import msgspec

from kasuwa.methods.loans.rules.erase import ErasableRepayment, erase_payer_metadata
from kasuwa.methods.loans.rules.repay import new_repayment
from kasuwa.methods.loans.wire import RepayRequest
from kasuwa.transactions.purpose import read_subject, subject_in
from tests.methods.loans.in_memory_lender import Lender, context_at


def test_erasure_removes_payer_data_of_a_repayment_and_keeps_its_loan_id() -> None:
    fields = {"loan_id": "LN1", "payment_method": "wallet", "ip": "102.89.2.1", "fingerprint": "f0"}
    request = msgspec.convert(fields, RepayRequest)
    given = context_at(Lender())
    row = new_repayment(100, given, request)
    assert "102.89.2.1" not in row.detail
    assert read_subject(row.merchant_id, row.txn_ref, row.detail, given.vault.unseal).ip == "102.89.2.1"
    kept = erase_payer_metadata(msgspec.convert(row, ErasableRepayment, from_attributes=True))
    assert subject_in(kept.detail) == {"loan_id": "LN1"}
    assert msgspec.json.decode(kept.detail) == {"loan_id": "LN1"}
    assert (kept.amount, kept.txn_ref) == (row.amount, row.txn_ref)
