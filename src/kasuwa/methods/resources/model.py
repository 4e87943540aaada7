"""The jobs that open and close personalized accounts.

    opening ──→ open ⇄ closing ──→ closed       an account that its bank does not close is open again
       └──────→ failed ──→ opening, when the merchant asks again

`account.open` sends the order to the rail; `account.query` asks what became of it. `account.close` has the rail close
the account, and is repeated until the rail has answered.
"""

from base64 import b64encode
from collections.abc import Mapping

import msgspec

OPEN_ACCOUNT = "account.open"
QUERY_ACCOUNT = "account.query"
CLOSE_ACCOUNT = "account.close"
ACCOUNT_CLOSED = "account_closed"  # kind of the event
LANE = "accounts"
REFERENCE_KIND = "PA"  # of the references by which rails know accounts


class AccountJobData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The data of a job that opens or closes an account (column scheduled_job.work)."""

    rail: str
    bank_code: str
    sent_at: float  # business time of the request
    sealed_bvn: str = ""  # in base64
    sealed_person: str = ""  # an encrypted AccountOwner in base64, as the account's row has it
    facts: Mapping[str, str] = {}  # those of an account that is open
    seed: str = ""  # used by the sandbox only


ACCOUNT_JOB_DECODER: "msgspec.json.Decoder[AccountJobData]" = msgspec.json.Decoder(AccountJobData)
ACCOUNT_FACTS_DECODER: "msgspec.json.Decoder[dict[str, str]]" = msgspec.json.Decoder(dict[str, str])


def encode_sealed(sealed: bytes | None) -> str:
    """Returns a ciphertext as jobs have it."""
    return "" if sealed is None else b64encode(sealed).decode()


def bvn_aad(key: bytes) -> str:
    return f"personalized_account.bvn_sealed {key.hex()}"
