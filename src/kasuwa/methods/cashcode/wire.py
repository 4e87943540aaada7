"""What `PUT /cashcode` takes and answers, and the redemption that the test environment adds.

Contract: cashcode#generate
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.core.fields import END, Amount, ChosenCurrency, NonNegativeInt, Pin, Reference

Channel = Literal["ATM", "POS", "WEB"]
Code = Annotated[str, Meta(pattern="^[0-9]{10}" + END, max_length=10, description="ten digits")]
State = Literal["active", "redeemed", "expired", "cancelled", "locked"]
TxnStatus = Literal["pending", "successful", "failed"]


class CashCurrency(ChosenCurrency):
    """Cash is paid in NGN from the NGN wallet; any other currency would be held as naira.

    Contract: cashcode#generate
    """

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: cash is drawn in NGN alone"


class GenerateRequest(msgspec.Struct, kw_only=True):
    """A code that draws an amount of cash. `life_time` is in minutes. Cash is drawn in NGN alone: `currency` may say
    so."""

    amount: Amount
    pin: Pin
    channel: Channel
    order_ref: Reference = field(name="orderRef")
    life_time: NonNegativeInt | None = None
    currency: CashCurrency | None = None
    dry_run: bool | None = None


class GenerateReply(msgspec.Struct, kw_only=True):
    """`cashcode` is shown once: the reply to a repeat has none. `amount` is as the request had it, text or number."""

    status: Literal[200] = 200
    order_ref: str = field(name="orderRef")
    cashcode: str | UnsetType = UNSET
    amount: str | int | float
    channel: Channel
    expires_at: str
    txn_status: TxnStatus = field(name="txnStatus")
    message: str


class OrderRequest(msgspec.Struct, kw_only=True):
    """A cashcode by the orderRef that it was generated under."""

    order_ref: Reference = field(name="orderRef")
    dry_run: bool | None = None


class VerifyReply(msgspec.Struct, kw_only=True):
    """`paid` is what was drawn; less than the amount where a POS or WEB redemption took a part."""

    status: Literal[200] = 200
    order_ref: str = field(name="orderRef")
    txn_status: TxnStatus = field(name="txnStatus")
    state: State
    amount: str
    paid: str
    fee: str
    vat: str
    channel: Channel
    expires_at: str
    message: str


class CancelReply(msgspec.Struct, kw_only=True):
    status: Literal[200] = 200
    order_ref: str = field(name="orderRef")
    txn_status: TxnStatus = field(name="txnStatus")
    state: State
    message: str


class RedeemRequest(msgspec.Struct, kw_only=True):
    """Cash is drawn: what a teller, a terminal or a page tells us."""

    cashcode: Code
    pin: Pin
    amount: Amount
    channel: Channel


class RedeemReply(msgspec.Struct, kw_only=True):
    """`returned` is what was held for the code and not drawn."""

    status: Literal[200] = 200
    order_ref: str = field(name="orderRef")
    txn_status: TxnStatus = field(name="txnStatus")
    amount: str | int | float
    returned: str
    channel: Channel
    message: str
