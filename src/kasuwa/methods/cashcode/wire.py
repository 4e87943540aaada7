"""Requests and replies of `PUT /cashcode`, and of the sandbox action that redeems a code.

Contract: cashcode#generate
"""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from kasuwa.wire.fields import END, Amount, ChosenCurrency, NonNegativeInt, Pin, Reference
from kasuwa.wire.interest_wire import DryRunFigure

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
    """A code to be made, which draws an amount of cash with its PIN."""

    amount: Amount
    "Cash that the code draws, in naira. Amount, fee and VAT are held in the wallet until the code ends."
    pin: Pin
    "PIN that is needed to draw the cash. You choose it and tell it to the person who draws."
    channel: Channel
    """Place where the code can be used: a cash machine (`ATM`), a terminal (`POS`) or a web page (`WEB`). `ATM` pays
    the exact amount, the others up to it."""
    order_ref: Reference = field(name="orderRef")
    """Your reference of the code. Sent again with the same content it returns the first code's state, without the
    digits; with other content it is refused."""
    life_time: NonNegativeInt | None = None
    "Minutes until the code expires, from 5 to 10080. Default 1440, one day."
    currency: CashCurrency | None = None
    "May be left out: cash is always drawn in NGN."
    dry_run: bool | None = None
    "If true, the reply explains what the code would hold in the wallet, and none is made."


class GenerateReply(msgspec.Struct, kw_only=True):
    """A new cashcode, or the state of the first one if the request was repeated."""

    status: Literal[200] = 200
    "200."
    order_ref: str = field(name="orderRef")
    "Your reference of the code."
    cashcode: str | UnsetType = UNSET
    "The code. It is shown this once: absent from the reply to a repeated request, and of a dry run."
    amount: str | int | float
    "Cash that the code draws, in naira, as text or number as in the request."
    channel: Channel
    "Place where the code can be used."
    expires_at: str
    "Time at which the code expires, in UTC."
    txn_status: TxnStatus = field(name="txnStatus")
    """`pending` until the code ends; `successful` once cash was drawn; `failed` if it expired, was cancelled or is
    locked."""
    message: str
    "The state in words."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class OrderRequest(msgspec.Struct, kw_only=True):
    """A cashcode by the orderRef that it was generated under."""

    order_ref: Reference = field(name="orderRef")
    "The `orderRef` that the code was generated under."
    dry_run: bool | None = None
    "If true, `cancel` says what would be released, and changes nothing. `verify` ignores it."


class VerifyReply(msgspec.Struct, kw_only=True):
    """The current state of a cashcode."""

    status: Literal[200] = 200
    "200: the reference is known. `state` says what became of the code."
    order_ref: str = field(name="orderRef")
    "Your reference of the code."
    txn_status: TxnStatus = field(name="txnStatus")
    "`pending` while the code is active; `successful` once cash was drawn; else `failed`."
    state: State
    """`active`: can be used. `redeemed`: cash was drawn. `expired`, `cancelled` (by you) and `locked` (after three
    wrong PINs): the held money is available again."""
    amount: str
    "Cash that the code draws, in naira."
    paid: str
    "Cash that was drawn, in naira. It may be less than the amount by `POS` and `WEB`; the rest is available again."
    fee: str
    "Fee without VAT, in naira; 0.00 if the code ended without being used."
    vat: str
    "VAT on the fee, in naira; 0.00 if the code ended without being used."
    channel: Channel
    "Place where the code can be used."
    expires_at: str
    "Time at which the code expires, in UTC."
    message: str
    "The state in words."


class CancelReply(msgspec.Struct, kw_only=True):
    """A cancelled cashcode. The money that was held for it is available again."""

    status: Literal[200] = 200
    "200, also if the code was cancelled before."
    order_ref: str = field(name="orderRef")
    "Your reference of the code."
    txn_status: TxnStatus = field(name="txnStatus")
    "Always `failed`: no cash was drawn."
    state: State
    "Always `cancelled`."
    message: str
    "The state in words."
    dry_run: bool | UnsetType = UNSET
    "True in a dry run: nothing was changed. Else absent."
    explained: list[DryRunFigure] | UnsetType = UNSET
    "The figures of a dry run, each with how it comes about. Else absent."


class RedeemRequest(msgspec.Struct, kw_only=True):
    """Simulates that cash is drawn with a code, in the test environment."""

    cashcode: Code
    "The code, as `generate` returned it."
    pin: Pin
    "The PIN. The third wrong one locks the code."
    amount: Amount
    "Cash to draw, in naira: the exact amount by `ATM`, at most the amount by `POS` and `WEB`."
    channel: Channel
    "Place where the code is used, which must be the one it was generated for."


class RedeemReply(msgspec.Struct, kw_only=True):
    """The result of drawing cash, in the test environment."""

    status: Literal[200] = 200
    "200: the cash was paid."
    order_ref: str = field(name="orderRef")
    "Your reference of the code."
    txn_status: TxnStatus = field(name="txnStatus")
    "`successful`: the code is used up."
    amount: str | int | float
    "Cash that was paid, in naira, as text or number as in the request."
    returned: str
    "Part of the code's amount that was not drawn and is available in the wallet again, in naira."
    channel: Channel
    "Place where the code was used."
    message: str
    "The outcome in words."
