"""Requests that payers make on the pages of checkouts. They are not part of the API.

They have plain types only, because they may be sent to the process that owns the merchant (api/forwarding.py). The
pages have checked every field. Their reprs show no values, so that no card number, PIN or code reaches a log.
"""

import msgspec


class PayerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A payer's request about one checkout."""

    reference: str  # txnRef of the checkout

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class EnteredCard(msgspec.Struct, frozen=True):
    """A card as its holder entered it. Held in memory only."""

    number: str
    expiry_month: str
    expiry_year: str
    cvv: str
    pin: str = ""

    def __repr__(self) -> str:
        return "EnteredCard(…)"


class BeginAttempt(PayerRequest, frozen=True, kw_only=True):
    """Begins an attempt to pay."""

    number: int  # of the attempt, counted from 1: the same form sent twice begins it once
    channel: str
    shown_total: int  # what the page said that the payer pays, in minor units
    card: EnteredCard | None = None
    token: str = ""  # of a saved card
    bank_code: str = ""  # of the account to debit
    account_number: str = ""
    ussd_bank: str = ""
    provider: str = ""  # of mobile money
    network: str = ""
    phone: str = ""  # that pays, or at which the payer is prompted
    fullname: str = ""
    email: str = ""
    contact_phone: str = ""
    address: str = ""  # IP address of the payer


class ChargeAttempt(PayerRequest, frozen=True, kw_only=True):
    """Charges the card of an attempt, after its bank has said which authentication it wants."""

    attempt_ref: str
    card: EnteredCard


class ConfirmAttempt(PayerRequest, frozen=True, kw_only=True):
    """Sends the code that the payer's bank has sent."""

    attempt_ref: str
    otp: str


class AbandonAttempt(PayerRequest, frozen=True, kw_only=True):
    """Ends an attempt, so that its payer can pay another way."""

    attempt_ref: str


class OpenFromLink(PayerRequest, frozen=True, kw_only=True):
    """Opens a checkout for a payer of a link. `reference` is the link's identifier."""

    page_token: str  # made by the page, which finds the checkout by it
    amount: int  # in minor units
    fullname: str
    email: str
    phone: str = ""
