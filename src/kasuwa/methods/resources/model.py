"""The jobs that open personalized accounts.

    opening ──→ open ──→ closed
       └──────→ failed ──→ opening, when the merchant asks again

`account.open` sends the order to the rail; `account.query` asks what became of it.
"""

import msgspec

OPEN_ACCOUNT = "account.open"
QUERY_ACCOUNT = "account.query"
LANE = "accounts"
REFERENCE_KIND = "PA"  # of the references by which rails know accounts


class AccountJobData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The data of a job that opens an account (column scheduled_job.work)."""

    rail: str
    name: str
    email: str
    bank_code: str
    sent_at: float  # business time of the request
    sealed_bvn: str = ""  # in base64
    seed: str = ""  # used by the sandbox only


ACCOUNT_JOB_DECODER: "msgspec.json.Decoder[AccountJobData]" = msgspec.json.Decoder(AccountJobData)


def bvn_aad(key: bytes) -> str:
    return f"personalized_account.bvn_sealed {key.hex()}"
