"""A deposit from the wallet forgets what was told of its payer, and keeps its savings."""

import msgspec

from kasuwa.core.purpose import payer_in, subject_in
from kasuwa.core.transactions import NewTransaction, begin_transaction
from kasuwa.methods.investments.rules.erase import ErasableDeposit, erase_payer_metadata
from tests.rule_context import NOW, context


def test_payer_details_of_a_deposit_are_erased_and_its_savings_are_kept() -> None:
    values = {"savings_id": "SV1", "meta": '{"till":3}', "ip": "102.89.2.1", "fingerprint": "f0"}
    row = begin_transaction(context(NOW), NewTransaction(kind="deposit", txn_ref="GP|SD|1", amount=100, detail=values))
    assert payer_in(row.detail) == {"ip": "102.89.2.1", "fingerprint": "f0"}
    left = erase_payer_metadata(ErasableDeposit(*msgspec.structs.astuple(row)))
    assert (subject_in(left.detail), payer_in(left.detail)) == ({"savings_id": "SV1"}, {})
    assert msgspec.json.decode(left.detail) == {"savings_id": "SV1"}
    assert msgspec.structs.replace(left, detail=row.detail) == ErasableDeposit(*msgspec.structs.astuple(row))
