"""A deposit from the wallet forgets what was told of its payer, and keeps its savings."""

import msgspec
import pytest

from kasuwa.core.keyring import UnsealError
from kasuwa.methods.investments.rules.erase import ErasableDeposit, erase_payer_metadata
from kasuwa.transactions.purpose import device_in, read_subject, seal_payer_field, subject_device, subject_in
from kasuwa.transactions.transactions import NewTransaction, begin_transaction
from tests.rule_context import NOW, context


def test_payer_details_of_a_deposit_are_erased_and_its_savings_are_kept() -> None:
    given, payer = context(NOW), {"meta": '{"till":3}', "ip": "102.89.2.1", "fingerprint": "f0"}
    values = {"savings_id": "SV1", **seal_payer_field(given, "GP|SD|1", payer)}
    row = begin_transaction(given, NewTransaction(kind="deposit", txn_ref="GP|SD|1", amount=100, detail=values))
    assert ("102.89.2.1" in row.detail, "till" in row.detail) == (False, False)
    subject = read_subject(row.merchant_id, row.txn_ref, row.detail, given.vault.unseal)
    assert (subject_device(subject), subject.meta) == ({"ip": "102.89.2.1", "fingerprint": "f0"}, payer["meta"])
    with pytest.raises(UnsealError):
        read_subject(row.merchant_id, "GP|SD|2", row.detail, given.vault.unseal)
    left = erase_payer_metadata(ErasableDeposit(*msgspec.structs.astuple(row)))
    assert (subject_in(left.detail), device_in(left.detail)) == ({"savings_id": "SV1"}, {})
    assert msgspec.json.decode(left.detail) == {"savings_id": "SV1"}
    assert msgspec.structs.replace(left, detail=row.detail) == ErasableDeposit(*msgspec.structs.astuple(row))
