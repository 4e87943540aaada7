"""Every write of loans and investments can be tried dry: its request takes `dry_run`. (D30, D33, D34, D35)"""

import pytest

from kasuwa.core.action import Action, Write, title_of
from kasuwa.methods.investments.actions import INVESTMENTS
from kasuwa.methods.loans.actions import LOANS

WRITES = [action for method in (LOANS, INVESTMENTS) for action in method.actions if isinstance(action, Write)]


@pytest.mark.parametrize("action", WRITES, ids=title_of)
def test_every_write_takes_dry_run_and_its_reply_says_so(action: Action) -> None:
    assert "dry_run" in action.request.__struct_fields__
    assert "dry_run" in action.reply.__struct_fields__
