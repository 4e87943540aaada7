"""Who may not approve an act of a merchant that waits for another party than its maker.

Contract: keys#two-persons
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from kasuwa.core.callers import Caller, is_same_party
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, Refusal, RowT

COOLING_OFF = Refusal(
    INVALID_REQUEST,
    "This key or account is new or was changed recently, and cannot approve yet; ask a colleague",
    error_code="approver_cooling_off",
)


class SecondParty(msgspec.Struct, frozen=True):
    """The refusals of approvals of one kind of act."""

    own: Refusal  # whoever made it approves it
    ended: Refusal  # its maker was ended since

    def bar(
        self, makers: Iterable[Caller], context: Context, ended: frozenset[Caller] | None
    ) -> Decision[Any] | Refusal | None:
        """Returns why the caller may not approve what these have made, or None if they may.

        `ended` has the makers whose key or account was ended. It is None if that is not known yet: the decision that is
        returned asks for it by its `question`."""
        approver, makers = context.merchant.caller, tuple(dict.fromkeys(makers))
        if any(is_same_party(maker, approver) for maker in makers):
            return self.own
        if approver.is_cooling_off:
            return COOLING_OFF
        if ended is None:
            return Decision(question=makers)
        return None if ended.isdisjoint(makers) else self.ended


def find_maker(context: Context) -> Caller:
    """Returns the caller as it is kept with what it makes, without the addresses that its key may be used from: they
    may change meanwhile, and say nothing of who it is."""
    return msgspec.structs.replace(context.merchant.caller, addresses=())


def record_verdict(waiting: RowT, state: str, context: Context) -> RowT:
    """Returns what waited, decided by the caller."""
    by = context.merchant.caller.label or context.merchant.name
    return msgspec.structs.replace(waiting, state=state, decided_by=by, decided_at=context.now)
