"""The data of a payer's page: everything that a payer may see of a payment."""

from datetime import datetime

import msgspec


class CheckoutView(msgspec.Struct, frozen=True, kw_only=True):
    """One payment as its payer may see it. Built by checkout.py, rendered by render.py."""

    reference: str  # txnRef
    # challenge (3-D Secure), handoff (a wallet's own page), qr, transfer (to an account) or hosted (a vendor's page)
    page_kind: str
    status: str  # txnStatus
    is_awaiting_payer: bool  # False once the payer has answered or the time is up; status may still be pending then
    merchant_name: str
    amount: int  # what the payer pays, in minor units
    currency: str
    expires_at: datetime
    is_test: bool
    redirect_url: str | None = None  # the merchant's URL for the payer's return
    result_json: bytes = b""  # the API's reply for this payment
    card_mask: str = ""  # challenge
    attempts_left: int = 0  # challenge: how often a code may still be entered
    provider: str = ""  # handoff: name of the wallet
    qr_payload: str = ""  # qr
    account_number: str = ""  # transfer
    account_name: str = ""  # transfer
    bank_name: str = ""  # transfer
    origins: tuple[str, ...] = ()  # the merchant's sites that may show the page in a frame
    vendor_url: str = ""  # hosted: the vendor's page
    received_amount: int = 0  # transfer: what has arrived so far, in minor units
