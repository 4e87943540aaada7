"""What a payer may see of one payment: the facts behind every page, and no more than they."""

from datetime import datetime

import msgspec


class CheckoutView(msgspec.Struct, frozen=True, kw_only=True):
    """`amount` is what the payer pays. `kind` says which page shows it: challenge (3-D Secure), handoff (a wallet's
    own page), qr, or transfer (into an account). `awaits_payer` until the payer has answered or time is up; the
    outcome may still be pending then. `result` is that outcome as the API tells it."""

    reference: str
    page_kind: str
    status: str
    is_awaiting_payer: bool
    merchant_name: str
    amount: int
    currency: str
    expires_at: datetime
    is_test: bool
    redirect_url: str | None = None
    result_json: bytes = b""
    card_mask: str = ""
    attempts_left: int = 0
    provider: str = ""
    qr_payload: str = ""
    account_number: str = ""
    account_name: str = ""
    bank_name: str = ""
    received_amount: int = 0
