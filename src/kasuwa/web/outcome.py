"""Replies to requests that failed: chooses between "nothing was changed", pending and "not known"."""

from typing import Any

import msgspec

from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Refusal
from kasuwa.db.progress import RequestProgress, is_outage

INTERNAL_ERROR = Refusal(ERROR, "An error has occurred; nothing was changed")
UNREACHABLE = Refusal(ERROR, "The service cannot be reached for a moment; nothing was changed, try again")
RAIL_TIMEOUT = Refusal(ERROR, "There was no answer in time; nothing was changed, try again later")
OUTCOME_UNKNOWN = Refusal(ERROR, "The outcome is not known; verify by your reference before you send it again")


class FailureReply(msgspec.Struct, frozen=True):
    """`http` is None where the reply is an ordinary one, whose own status says it."""

    reply: Any
    http: int | None = None


def reply_to_failure(error: BaseException, progress: RequestProgress) -> FailureReply:
    """Returns what may be said of a request that ended with `error`. Once anything of it may be durable the reply does
    not deny it: it is the committed decision's own pending reply, or UNSURE where the decision has none."""
    if progress.pending_reply is not None:
        return FailureReply(progress.pending_reply)
    http = 503 if is_outage(error) else 500
    if progress.may_have_changed:
        return FailureReply(OUTCOME_UNKNOWN, http)
    return FailureReply(UNREACHABLE if is_outage(error) else INTERNAL_ERROR, http)
