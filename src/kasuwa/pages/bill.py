"""What a payer may see of one payment: the facts behind every page, and no more than they."""

from datetime import datetime

import msgspec


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """`amount` is what the payer pays. `kind` says which page shows it: challenge (3-D Secure), handoff (a wallet's
    own page), qr, or transfer (into an account). `awaits_payer` until the payer has answered or time is up; the
    outcome may still be pending then. `result` is that outcome as the API tells it."""

    reference: str
    kind: str
    status: str
    awaits_payer: bool
    merchant: str
    amount: int
    currency: str
    expires_at: datetime
    is_test: bool
    redirect_url: str | None = None
    result: bytes = b""
    card: str = ""
    tries_left: int = 0
    provider: str = ""
    payload: str = ""
    account_number: str = ""
    account_name: str = ""
    bank_name: str = ""
    received: int = 0
