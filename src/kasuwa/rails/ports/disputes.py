"""The port of rails that take the merchant's answer to a dispute."""

from typing import Protocol

import msgspec

from kasuwa.rails.ports.orders import Answer


class EvidenceFile(msgspec.Struct, frozen=True):
    name: str
    media_type: str
    content: bytes

    def __repr__(self) -> str:
        return "EvidenceFile(…)"


class DisputeAnswer(msgspec.Struct, frozen=True):
    """The merchant's answer to a dispute: it is accepted, or these texts and files speak against it."""

    dispute_id: str  # the rail's
    is_accepted: bool
    amount: int  # that is disputed, in minor units
    explanation: str = ""
    service: str = ""  # what was sold
    customer_name: str = ""
    customer_email: str = ""
    customer_phone: str = ""
    files: tuple[EvidenceFile, ...] = ()
    account: str = ""  # our account with the rail that has the payment

    def __repr__(self) -> str:
        return f"DisputeAnswer({self.dispute_id})"


class DisputeRail(Protocol):
    """A rail that takes the answer to a dispute.

    `answer_dispute` answers SUCCESSFUL if the rail has an answer, also an earlier one, and FAILED if it does not take
    this one: an operator must hand it in. It looks first what the rail has, so that it may be repeated after anything
    it raises: Unavailable or NoAnswer."""

    async def answer_dispute(self, answer: DisputeAnswer) -> Answer: ...
