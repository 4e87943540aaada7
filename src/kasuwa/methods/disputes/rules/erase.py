"""Erases the evidence of disputes, which has personal data of the customer. Contract: payment#disputes"""

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.methods.disputes.model import Dispute, DisputeFile
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS


def erase_evidence(dispute: Dispute) -> Dispute | Refusal:
    """Returns the dispute without its texts. Refuses one that is open: the payer's bank decides on them."""
    return TRANSACTION_IN_PROGRESS if dispute.is_open else msgspec.structs.replace(dispute, evidence_sealed=None)


def erase_file(file: DisputeFile) -> DisputeFile:
    return msgspec.structs.replace(file, content_sealed=b"")
