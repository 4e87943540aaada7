"""The port of deciders: a merchant's own service that approves or declines purchases with its cards.

Contract: virtualcard#decider
"""

from typing import Literal, Protocol

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.scenario import Scenario

OnTimeout = Literal["approve", "decline"]
# Why there is no answer that counts.
DeciderFault = Literal["timeout", "unreachable", "unreadable", "refused", "paused", "busy", "unsigned"]


class DeciderQuestion(msgspec.Struct, frozen=True):
    """Asks a decider whether a purchase is approved. Two questions about the same are equal."""

    url: str
    on_timeout: OnTimeout  # what counts if there is no answer
    operation: Literal["purchase", "authorization"]
    card: str  # its reference
    amount: int  # in the card's currency
    currency: str  # the card's
    shop_amount: int  # in the shop's currency
    shop_currency: str
    merchant_name: str
    merchant_id: str | None
    category: str | None
    country: str | None
    channel: str


class DeciderAnswer(msgspec.Struct, frozen=True):
    """The outcome of a question. Without an answer that counts, `approves` is what was set for that case."""

    question: DeciderQuestion
    id: str  # the header `webhook-id` of the question
    approves: bool
    ms: int  # from the question to the answer, or to the end of waiting
    reason: str = ""  # the decider's own
    fault: DeciderFault | None = None


class CardDecider(Protocol):
    async def ask(self, question: DeciderQuestion, merchant: Merchant, scenario: Scenario) -> DeciderAnswer:
        """Asks the decider of the merchant that issued the card, within a deadline. It never raises because of the
        decider: a missing answer is a fault of the result."""
        ...
