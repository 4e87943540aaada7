"""Erases the owner's personal data from a personalized account. The bank and the rail keep theirs."""

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.core.erasure import TRANSACTION_IN_PROGRESS
from kasuwa.core.inbound_accounts import PersonalizedAccountRow
from kasuwa.core.transactions import encode_text
from kasuwa.methods.resources.model import ACCOUNT_FACTS_DECODER
from kasuwa.rails.account_port import ACCOUNT_NAME


def erase_owner(row: PersonalizedAccountRow) -> PersonalizedAccountRow | Refusal:
    """Returns the account without its owner's name, address and BVN. Its number stays, and money may still come in.

    Refuses an account that is being opened or closed, because its job has the owner's data.
    """
    if row.is_open:
        return TRANSACTION_IN_PROGRESS
    facts = ACCOUNT_FACTS_DECODER.decode(row.facts)
    if ACCOUNT_NAME in facts:  # a row of an earlier version
        del facts[ACCOUNT_NAME]
        row = msgspec.structs.replace(row, facts=encode_text(facts))
    return msgspec.structs.replace(row, account_name="", email="", bvn_sealed=None, person_sealed=None)
