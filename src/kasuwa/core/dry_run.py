"""Dry runs: a request with `dry_run` is checked and answered, but changes nothing.

Writes without a dry run refuse the field instead of ignoring it: a merchant that sends it expects that no money moves.
"""

from kasuwa.core.action import FieldRule
from kasuwa.core.decision import Merchant

DRY_RUN_UNSUPPORTED = "not supported by this action: leave it out to go ahead"


def refuses_dry_run(merchant: Merchant, dry_run: bool | None) -> str | None:
    return DRY_RUN_UNSUPPORTED if dry_run else None


REFUSE_DRY_RUN = FieldRule(("dry_run",), refuses_dry_run)
