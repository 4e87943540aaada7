"""Erases the owner's personal data from a personalized account. The bank and the rail keep theirs."""

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.privacy.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.transactions.inbound_accounts import PersonalizedAccountRow


def erase_owner(row: PersonalizedAccountRow) -> PersonalizedAccountRow | Refusal:
    """Returns the account without its owner's name, address and BVN. Its number stays, and money may still come in.

    Refuses an account that is being opened or closed, because its job has the owner's data.
    """
    if row.is_open:
        return TRANSACTION_IN_PROGRESS
    return msgspec.structs.replace(row, bvn_sealed=None, person_sealed=None)
