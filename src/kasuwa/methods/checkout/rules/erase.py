"""Erases the payer's personal data from a checkout that was not paid yet. One that has ended has none."""

import msgspec

from kasuwa.transactions.checkouts import DETAIL_DECODER, Checkout, remove_payer
from kasuwa.transactions.transactions import encode_text


def erase_checkout_payer(checkout: Checkout) -> Checkout:
    """Returns the checkout without its payer. It can still be paid: its page asks for a name and address."""
    detail = msgspec.structs.replace(remove_payer(DETAIL_DECODER.decode(checkout.detail)), is_payer_given=False)
    return msgspec.structs.replace(checkout, detail=encode_text(detail), payer_sealed=None)
