"""Requests and replies of `PUT /cashcode`, and of the sandbox action that redeems a code.

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
    """Accepts NGN only: cash is paid in NGN from the NGN wallet. Contract: cashcode#generate"""

    __slots__ = ()
    allowed = ("NGN",)
    reason = "NGN, or left out: cash is drawn in NGN alone"


class GenerateRequest(msgspec.Struct, kw_only=True):
    """A code to be made, which draws an amount of cash. `life_time` is in minutes. `currency` may be left out: it is
    always NGN."""

    amount: Amount
    pin: Pin
    channel: Channel
    order_ref: Reference = field(name="orderRef")
    life_time: NonNegativeInt | None = None
    currency: CashCurrency | None = None
    dry_run: bool | None = None


class GenerateReply(msgspec.Struct, kw_only=True):
    """`cashcode` is shown once: the reply to a repeated request has none. `amount` is text or number, as it was
    requested."""

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
    """`paid` is the cash drawn. It may be less than the amount if the code was redeemed by POS or WEB."""

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
    """A redemption as a teller, a terminal or a web page reports it."""

    cashcode: Code
    pin: Pin
    amount: Amount
    channel: Channel


class RedeemReply(msgspec.Struct, kw_only=True):
    """`returned` is the part of the amount that was held but not drawn."""

    status: Literal[200] = 200
    order_ref: str = field(name="orderRef")
    txn_status: TxnStatus = field(name="txnStatus")
    amount: str | int | float
    returned: str
    channel: Channel
    message: str
