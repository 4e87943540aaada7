"""Dry runs: a request that says `dry_run` is checked and answered, and changes nothing.

Every write that has something to preview honours it. The others refuse it by name: a merchant who sends it expects that
nothing happens, and must not find that money has moved.
"""

from kasuwa.core.action import FieldRule
from kasuwa.core.decision import Merchant

DRY_RUN_UNSUPPORTED = "not supported by this action: leave it out to go ahead"


def refuses_dry_run(merchant: Merchant, dry_run: bool | None) -> str | None:
    return DRY_RUN_UNSUPPORTED if dry_run else None


REFUSE_DRY_RUN = FieldRule(("dry_run",), refuses_dry_run)
