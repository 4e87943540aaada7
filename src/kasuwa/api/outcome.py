"""Replies to requests that raised: "nothing was changed", pending, or "the outcome is not known"."""

from typing import Any

import msgspec

from kasuwa.core.codes import ERROR
from kasuwa.core.decision import Refusal
from kasuwa.core.row_codes import RowChanged
from kasuwa.engine.progress import RequestProgress, is_outage

INTERNAL_ERROR = Refusal(ERROR, "An error has occurred; nothing was changed", error_code="internal_error")
UNREACHABLE = Refusal(
    ERROR,
    "The service cannot be reached for a moment; nothing was changed, try again",
    error_code="service_unavailable",
)
RECORD_CHANGED = Refusal(
    ERROR,
    "A record that this needs was changed outside of the service, and is not used; the operator must look at it",
    error_code="record_changed",
)
RAIL_TIMEOUT = Refusal(
    ERROR, "There was no answer in time; nothing was changed, try again later", error_code="rail_timeout"
)
OUTCOME_UNKNOWN = Refusal(
    ERROR, "The outcome is not known; verify by your reference before you send it again", error_code="outcome_unknown"
)


class FailureReply(msgspec.Struct, frozen=True):
    """The reply to a request that raised."""

    reply: Any
    http: int | None = None  # None: derived from the status of the reply, as for any other


def reply_to_failure(error: BaseException, progress: RequestProgress) -> FailureReply:
    """Returns the reply to a request that ended with `error`. If anything of it may be committed, that is the pending
    reply of the committed decision, or OUTCOME_UNKNOWN if it has none."""
    if progress.pending_reply is not None:
        return FailureReply(progress.pending_reply)
    http = 503 if is_outage(error) else 500
    if isinstance(error, RowChanged) and not progress.may_have_changed:
        return FailureReply(RECORD_CHANGED, http)
    if progress.may_have_changed:
        return FailureReply(OUTCOME_UNKNOWN, http)
    return FailureReply(UNREACHABLE if is_outage(error) else INTERNAL_ERROR, http)
