"""The rows of payments with personal data that `kasuwa client` and `kasuwa customer` export and erase."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from kasuwa.core.decision import Refusal, Row
from kasuwa.core.vault import Vault
from kasuwa.methods.disputes.model import Dispute, DisputeFile, evidence_aad
from kasuwa.methods.disputes.rules.erase import erase_evidence, erase_file
from kasuwa.methods.payment.model import SavedCard
from kasuwa.methods.payment.rules.erase import (
    ENDING_JOBS,
    FOLLOWING_JOBS,
    ErasablePayment,
    ErasablePaymentTransaction,
    ErasablePlan,
    erase_customer,
    erase_payer,
    erase_plan_payer,
    erase_saved_card,
)
from kasuwa.privacy.dispute_rows import DisputeRows
from kasuwa.privacy.erasure import RowErasure

# Row type and erasing rule of a kind of row.
ErasingRules = dict[str, tuple[type[Row], Callable[[Any], Row | Refusal]]]

PAYER_ERASURES: ErasingRules = {
    "payment_transaction": (ErasablePaymentTransaction, erase_customer),
    "payment": (ErasablePayment, erase_payer),
    "plan": (ErasablePlan, erase_plan_payer),
    "saved_card": (SavedCard, erase_saved_card),
    "dispute": (Dispute, erase_evidence),
    "dispute_file": (DisputeFile, erase_file),
}


def make_erasures(rules: ErasingRules, keys: Mapping[str, Sequence[bytes]]) -> tuple[RowErasure, ...]:
    """Returns the erasure of each row that was found, given the keys of the rows by kind."""
    return tuple(
        RowErasure(kind, key, erase, FOLLOWING_JOBS.get(name), ends_job=name in ENDING_JOBS)
        for name, (kind, erase) in rules.items()
        for key in keys[name]
    )


def export_disputes(merchant_id: int, disputes: DisputeRows, vault: Vault) -> dict[str, list[msgspec.Raw]]:
    """Returns disputes and their decrypted evidence as JSON, by kind. Kinds without rows are left out."""
    records = {
        "dispute": [msgspec.Raw(text.encode()) for text in disputes.records],
        "dispute_evidence": [
            msgspec.Raw(vault.unseal(merchant_id, evidence_aad(dispute_id), sealed))
            for dispute_id, sealed in disputes.evidence
        ],
    }
    return {kind: rows for kind, rows in records.items() if rows}
