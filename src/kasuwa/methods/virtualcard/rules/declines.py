"""The request of a shop to charge a card, and why a card declines it, with one code for each reason.

Contract: virtualcard#declines
"""

from functools import cache

import msgspec

from kasuwa.core.reference_tables import load_reference_data
from kasuwa.transactions.event_fields import DeclineReason


@cache
def response_code_meanings() -> dict[str, str]:
    return {row["code"]: row["meaning"] for row in load_reference_data("response_codes")["iso8583"]}


class Decline(msgspec.Struct, frozen=True):
    """A declined purchase: the ISO 8583 response code, the code of the reason, and the reason in words if the meaning
    of the response code is too general."""

    code: str
    reason: DeclineReason
    words: str = ""  # default: the meaning of the code

    @property
    def message(self) -> str:
        return self.words or response_code_meanings().get(self.code, "Declined")

    def fill(self, value: str) -> "Decline":
        """Returns the decline with a value in its words."""
        return msgspec.structs.replace(self, words=self.words.format(value))


class AuthorizationRequest(msgspec.Struct, frozen=True):
    """A shop's request to charge a card, from the sandbox or the Issuer port."""

    amount: int
    currency: str | None  # None means the card's
    merchant_name: str
    category: str | None
    cvv: str | None  # checked if given
    expiry: str | None  # checked if given
    merchant_id: str | None = None  # of the shop in the card network
    country: str | None = None
    channel: str = "online"


ISSUER_UNREACHABLE = "91"

# Declines, in order of precedence. Those by the card's limits (controls.py) come before the last one.
CARD_TERMINATED_DECLINE = Decline("78", "card_terminated", "The card is terminated")
CARD_BLOCKED_DECLINE = Decline("62", "card_blocked", "The card is blocked")
CARD_EXPIRED_DECLINE = Decline("54", "card_expired")
WRONG_CVV = Decline("82", "wrong_cvv")
CURRENCY_NOT_SUPPORTED = Decline("57", "currency_not_supported", "The card does not pay in this currency")
INSUFFICIENT_FUNDS = Decline("51", "insufficient_funds")
