"""Requests that payers make on the page of tickets. They are not part of the API.

They have plain types only, because they may be sent to the process that owns the merchant (api/forwarding.py).
"""

import msgspec


class OpenTicketPurchase(msgspec.Struct, frozen=True, kw_only=True):
    """A payer has chosen tickets."""

    reference: str  # link_id
    page_token: str  # of the checkout's page
    chosen: tuple[tuple[int, int], ...]  # place of a kind, and how many
    fullname: str = ""
    email: str = ""
    phone: str = ""

    def __repr__(self) -> str:
        return "OpenTicketPurchase(…)"
