"""Dry runs: a request with `dry_run` is checked and answered, but changes nothing.

A merchant that sends `dry_run` expects that no money moves, so no write ignores it. An action without dry runs refuses
the field by name, also if its request type does not have it. The rule of an action with dry runs may return only a
reply: `forbid_changes` raises if it returns more, and nothing is written. Contract: #dry-run
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from kasuwa.core.action import Action, AdminCommand, FieldRule, Write
from kasuwa.core.decision import Context, Decision, FieldError, LoadedRows, Merchant, Outcome

ReplyT = TypeVar("ReplyT", bound=msgspec.Struct)

DRY_RUN_UNSUPPORTED = "not supported by this action: leave it out to go ahead"
DRY_RUN_MESSAGE = "Nothing was changed: this is what would happen"


def refuses_dry_run(merchant: Merchant, dry_run: bool | None) -> str | None:
    return DRY_RUN_UNSUPPORTED if dry_run else None


REFUSE_DRY_RUN = FieldRule(("dry_run",), refuses_dry_run)


def unknown_dry_run_faults(action: Action, dry_run: Any) -> tuple[FieldError, ...]:
    """Returns an error if a request asks for a dry run and its type has no such field. Unknown fields are ignored
    otherwise, and the action would be carried out. Actions that change nothing may ignore it."""
    changes = isinstance(action, Write) or (isinstance(action, AdminCommand) and action.writes)
    is_absent = dry_run is None or dry_run is False or dry_run == ""
    if is_absent or not changes or "dry_run" in action.request.__struct_fields__:
        return ()
    return (FieldError("dry_run", DRY_RUN_UNSUPPORTED),)


def preview_decision(decision: Decision[ReplyT], explained: Iterable[Any], **shown: Any) -> Decision[ReplyT]:
    """Returns the dry run of a decision. Its reply is explained, and `shown` differs in it. An account refuses it as
    it would refuse the decision, of which nothing else is left."""
    reply = msgspec.structs.replace(
        decision.reply, message=DRY_RUN_MESSAGE, dry_run=True, explained=list(explained), **shown
    )
    return Decision(reply=reply, tried_groups=decision.groups)


def is_dry_run(request: Any) -> bool:
    return bool(getattr(request, "dry_run", None))


class DryRunChanges(Exception):
    """Raised if the rule of a dry run returns a decision that changes something, which is a bug."""


def forbid_changes(
    decide: Callable[[Context, LoadedRows], Outcome], request: Any
) -> Callable[[Context, LoadedRows], Outcome]:
    """Returns the rule unchanged, or for a dry run one that raises DryRunChanges instead of changing anything."""
    if not is_dry_run(request):
        return decide

    def decide_without_changes(context: Context, rows: LoadedRows) -> Outcome:
        decided = decide(context, rows)
        if isinstance(decided, Decision) and (decided.changes_anything or decided.combine is not None):
            raise DryRunChanges(type(request).__name__)
        return decided

    return decide_without_changes
