"""Transfers: accounts, job kinds, statuses and stored records.

A transfer is a `Transaction` of kind `transfer` (transactions/transactions.py). Its statuses:

    processing ⇄ pending        pending: the bank has answered, but without a final result, or it waits for approval
        │           │
        └─────┬─────┘
              ├──> successful   the bank paid: the hold is posted
              └──> failed       the bank refused, or the order could not be sent: the hold is voided

A bulk is a `TransferBatch`. It has no status of its own: verify derives one from its transfers.
"""

from datetime import datetime
from functools import lru_cache
from typing import ClassVar

import msgspec

from kasuwa.core.decision import Row
from kasuwa.core.references import row_key
from kasuwa.core.scenario import Scenario
from kasuwa.ledger import chart
from kasuwa.transactions.purpose import TransactionPurpose

KIND = "transfer"
CURRENCY = "NGN"
SEND = "disburse.send"
QUERY = "disburse.ask"
LANE = "bank"
PURPOSE = "bank"  # of its rails

WALLET = chart.wallet(CURRENCY)
RAIL = chart.rail("bank", CURRENCY)
INCOME = chart.income("transfer", CURRENCY)
VAT = chart.tax("vat", CURRENCY)
STAMP_DUTY = chart.tax("stamp_duty", CURRENCY)

# The status of an order of a bulk whose orderRef belongs to another order. It is never the status of a transfer.
CONFLICT = "conflict"
BATCH_REFERENCE_TYPE = "BT"
MAX_ORDERS = 1_000  # of a bulk
BATCH_PREFIX = f"GP|{BATCH_REFERENCE_TYPE}|"


class TransferDetail(msgspec.Struct, frozen=True, omit_defaults=True):
    """The beneficiary, source and purpose of a transfer. Stored as the `detail` of its transaction."""

    bank_code: str
    account_number: str
    sender_name: str
    narration: str
    # The account that pays the amount. The fee is always paid by the wallet.
    source_account: str = msgspec.field(default=WALLET, name="source")
    # The loan, savings account, split or schedule that the money is sent for; None for a merchant's own transfer.
    purpose: TransactionPurpose | None = None


TRANSFER_DETAIL_DECODER: "msgspec.json.Decoder[TransferDetail]" = msgspec.json.Decoder(TransferDetail)


class TransferJobData(msgspec.Struct, frozen=True):
    """The data of the job that calls the bank. Stored as `Job.work`."""

    sent_at: float  # business time of the first call, in seconds since the epoch
    order: TransferDetail
    amount: int
    scenario: Scenario
    resent_at: float = 0  # when it left, if the bank had refused it before
    counted_at: float = 0  # when the counters of the policy for money out counted it; 0 if they did not
    counted_client: str = ""  # the client whose counter counted it as well
    is_approved: bool = False  # it waited for approval, and has had events about that
    beneficiary_name: str = ""  # the name on the account, as its rail has looked it up before it sent the order


JOB_DATA_DECODER: "msgspec.json.Decoder[TransferJobData]" = msgspec.json.Decoder(TransferJobData)


@lru_cache(maxsize=1024)
def decode_job_data(text: str) -> TransferJobData:
    """Decodes `Job.work`. Cached because the steps of one transfer decode the same text several times."""
    return JOB_DATA_DECODER.decode(text)


class TransferBatch(Row):
    """A bulk that was accepted. `detail` lists its orders as `BatchOrder`s and never changes."""

    table: ClassVar[str] = "transfer_batch"

    batch_ref: str
    detail: str
    created_at: datetime

    @property
    def is_open(self) -> bool:
        return False


class BatchOrder(msgspec.Struct, frozen=True, omit_defaults=True):
    """One order of a bulk: either the txnRef of its transfer, or the message that explains its conflict."""

    order_ref: str
    txn_ref: str | None = None
    conflict: str | None = None


BATCH_ORDERS_DECODER: "msgspec.json.Decoder[list[BatchOrder]]" = msgspec.json.Decoder(list[BatchOrder])


def batch_key(merchant_id: int, batch_ref: str) -> bytes:
    return row_key(merchant_id, TransferBatch.table, batch_ref)
