"""Requests that payers make on the page of an invoice. They are not part of the API.

They have plain types only, because they may be sent to the process that owns the merchant (api/forwarding.py).
"""

import msgspec


class OpenInvoicePayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payer wants to pay an invoice, or a part of it."""

    reference: str  # invoice_id
    amount: int  # in minor units
    page_token: str  # of the checkout's page
