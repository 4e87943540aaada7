"""The merchant's answer to a dispute, decrypted for the rail that it is handed in at."""

from collections.abc import Sequence
from typing import Protocol

from kasuwa.core.vault import Vault
from kasuwa.methods.disputes.model import EVIDENCE_DECODER, EvidenceTexts, evidence_aad, file_aad
from kasuwa.rails.dispute_port import DisputeAnswer, EvidenceFile

EXTENSIONS = {"application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg"}


class AnsweredDispute(Protocol):
    """A dispute that its merchant has answered. Implemented by db/dispute_hand_ins.py."""

    @property
    def merchant_id(self) -> int: ...

    @property
    def dispute_id(self) -> str: ...

    @property
    def rail_dispute_id(self) -> str: ...

    @property
    def amount(self) -> int: ...

    @property
    def is_accepted(self) -> bool: ...

    @property
    def rail_account(self) -> str: ...


class SealedFile(Protocol):
    @property
    def place(self) -> int: ...

    @property
    def media_type(self) -> str: ...

    @property
    def content(self) -> bytes: ...


def read_answer(
    vault: Vault, dispute: AnsweredDispute, sealed_texts: bytes | None, files: Sequence[SealedFile]
) -> DisputeAnswer:
    """Returns the answer to a dispute. One that is accepted has no texts."""
    merchant_id, dispute_id = dispute.merchant_id, dispute.dispute_id
    texts = EvidenceTexts()
    if sealed_texts is not None:
        texts = EVIDENCE_DECODER.decode(vault.unseal(merchant_id, evidence_aad(dispute_id), sealed_texts))
    return DisputeAnswer(
        dispute_id=dispute.rail_dispute_id,
        is_accepted=dispute.is_accepted,
        amount=dispute.amount,
        account=dispute.rail_account,
        explanation=texts.explanation,
        service=texts.product_description or texts.explanation,
        customer_name=texts.customer_name,
        customer_email=texts.customer_email,
        customer_phone=texts.customer_phone,
        files=tuple(
            EvidenceFile(
                # The merchant's own name could be that of any file.
                name=f"{file.place + 1}.{EXTENSIONS[file.media_type]}",
                media_type=file.media_type,
                content=vault.unseal(merchant_id, file_aad(dispute_id, file.place), file.content),
            )
            for file in files
        ),
    )
