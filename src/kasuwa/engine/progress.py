"""Tracks whether a running request may already have changed anything.

A request may take several commits with rail calls between them. `RequestProgress` records whether any of them is, or
may be, durable. Only it decides whether the reply to a failure may say that nothing was changed.
"""

from typing import Any

from kasuwa.core.decision import Decision
from kasuwa.engine.batch import Result, Submission
from kasuwa.engine.writer import Writer
from kasuwa.postgres.connections import DatabaseUnreachable, is_connection_error


class RequestProgress:
    __slots__ = ("may_have_changed", "path", "pending_reply")

    def __init__(self) -> None:
        self.path = "pages"  # of the API, or that a payer's page has sent it
        # Whether anything that this request wrote is durable, or its commit's outcome is not known.
        self.may_have_changed = False
        # What the committed decision answers while its follow-up runs: pending or processing, with a reference.
        self.pending_reply: Any = None

    def expect_changes(self) -> None:
        """Call before work whose commits are not made by `submit`: from here on its outcome is not known."""
        self.may_have_changed = True

    async def submit(self, writer: Writer, submission: Submission) -> Result:
        """Submits to the writer and records what became of it. Raises what the writer raises."""
        changed_before = self.may_have_changed
        # Holds for every error but those that say otherwise.
        self.may_have_changed = True
        try:
            result = await writer.submit(submission)
        except DatabaseUnreachable as error:
            self.may_have_changed = changed_before or error.is_outcome_unknown
            raise
        self.may_have_changed = changed_before or self._is_change(result)
        return result

    def _is_change(self, result: Result) -> bool:
        """A decision that only asks a question writes nothing. One that waits for a copy of the same request writes
        nothing either, but that copy is committed."""
        if not isinstance(result, Decision) or result.question is not None:
            return False
        self.pending_reply = result.reply if result.in_progress or result.follow_up is not None else None
        return True


def is_outage(error: BaseException) -> bool:
    """Whether an error means that the database cannot be reached. Any other error is a bug."""
    return isinstance(error, DatabaseUnreachable) or is_connection_error(error)
