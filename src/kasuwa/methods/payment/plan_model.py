"""Plans: recurrent payments and installment plans, and their states.

    recurrent     active ─┬─> paused     the card was declined, or MAX_MISSED_CYCLES cycles were missed
                          ├─> stopped    by the merchant
                          └─> cancelled  the payer was erased
    installments  active ─┬─> paused     likewise, or by the merchant
                          ├─> cancelled  by the merchant, who keeps what was collected, or the payer was erased
                          ├─> finished   the whole total was collected
                          ├─> incomplete the last date is over and a part of the total was collected
                          └─> unpaid     the last date is over and nothing was collected

The merchant can start a paused or stopped plan again, unless its payer was erased, which cancels it.
An active plan has one job while it waits for its due date, and none while a charge is in progress (`charging`).
"""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from kasuwa.core.decision import Row
from kasuwa.core.references import row_key
from kasuwa.methods.payment.model import PaymentDetail
from kasuwa.transactions.pricing import Price

# Kinds of plans, and the purposes of their charges. The values are stored.
RECURRENT = "recurrent"
INSTALLMENT = "instalment"
CHARGE_JOB_KINDS = {RECURRENT: "recurrent.charge", INSTALLMENT: "instalment.charge"}

ACTIVE = "active"
PAUSED = "paused"
STOPPED = "stopped"
FINISHED = "finished"
CANCELLED = "cancelled"
INCOMPLETE = "incomplete"
UNPAID = "unpaid"


class PlanTerms(msgspec.Struct, frozen=True, omit_defaults=True):
    """The amounts and due dates of a plan (column plan.detail). They never change."""

    amount: int = 0  # of each charge of a recurrence
    total: int = 0  # of an installment plan, the first charge included
    frequency: Literal["daily", "weekly", "monthly"] = "daily"
    value: int = 0  # hour, ISO weekday or day of the month
    # Due time (ISO 8601) and amount in minor units of each installment after the first charge.
    later_charges: tuple[tuple[str, int], ...] = msgspec.field(default=(), name="later")
    detail: PaymentDetail = PaymentDetail()  # of every charge
    customer_txnref: str = ""
    # The price of each installment. Empty for a recurrence, which has that of its first charge.
    prices: tuple[Price, ...] = ()


TERMS_DECODER: "msgspec.json.Decoder[PlanTerms]" = msgspec.json.Decoder(PlanTerms)


class Plan(Row):
    """A recurrent payment or an installment plan."""

    table: ClassVar[str] = "payment_plan"
    mutable_columns: ClassVar[tuple[str, ...]] = (
        "state",
        "cycle",
        "cycle_due",
        "attempt",
        "misses",
        "paid",
        "last_ref",
        "charging",
        "facts",
    )

    plan_id: str
    kind: str
    token: str  # of the saved card
    currency: str
    first_ref: str  # of the payment that started the plan
    detail: str  # a PlanTerms without personal fields, see payer_model.py
    created_at: datetime
    state: str
    cycle: int  # number of the current due date, from 1
    cycle_due: datetime  # due date that is charged next, or now
    attempt: int  # charges made for it so far
    misses: int  # cycles that failed in a row
    paid: int  # collected so far, the first charge included
    last_ref: str  # of the newest charge
    charging: bool  # whether a charge is in progress
    facts: str  # JSON list of the cycles that were missed
    payer_sealed: bytes | None = None  # the encrypted PayerData of its charges

    @property
    def is_open(self) -> bool:
        return False


def plan_key(merchant_id: int, plan_id: str) -> bytes:
    return row_key(merchant_id, "plan", plan_id)
