"""Every write honors `dry_run` or refuses it by name: a client that sends it expects that nothing changes. (Contract:
bills#pay, loans#request, investments#savings, investments#thrift)
"""

import pytest

from kasuwa.core.action import Action, Write, title_of
from kasuwa.methods.investments.actions import INVESTMENTS
from kasuwa.methods.loans.actions import LOANS
from tests.merchant_client import MerchantClient
from tests.walk.rows import ACTION_ROWS, ActionRow, with_fresh_references

# Writes that honor it. The tests of their slice show how.
HONOURED = {"bills-pay"}
METHODS = ("bills", "cashcode", "disburse", "resources", "virtualcard")
# Shows a card without changing it, and the actions of payment plans.
LEFT_OUT = {"virtualcard-get", "resources-recurrent", "resources-installment", "resources-installments"}
WRITES = [
    row for row in ACTION_ROWS if row.method in METHODS and isinstance(row.action, Write) and row.title not in LEFT_OUT
]
REFUSED = [row for row in WRITES if row.title not in HONOURED]
# Paths whose writes all honor it.
LENDING_AND_SAVING = [
    action for method in (LOANS, INVESTMENTS) for action in method.actions if isinstance(action, Write)
]


@pytest.mark.parametrize("row", REFUSED, ids=[row.title for row in REFUSED])
def test_a_dry_run_is_refused_by_name_where_it_is_not_honoured(row: ActionRow, shop: MerchantClient) -> None:
    before = shop.wallets()
    refused = shop.send_fields(row.method, {**with_fresh_references(row, row.example), "dry_run": True}).body
    assert refused["status"] == 104
    assert "dry_run" in [fault["field"] for fault in refused["errors"]]
    assert shop.wallets() == before


def test_every_write_knows_the_field() -> None:
    assert {row.title for row in WRITES} >= HONOURED
    assert [row.title for row in WRITES if "dry_run" not in row.action.request.__struct_fields__] == []


@pytest.mark.parametrize("action", LENDING_AND_SAVING, ids=title_of)
def test_every_write_of_loans_and_savings_takes_dry_run_and_its_reply_says_so(action: Action) -> None:
    assert "dry_run" in action.request.__struct_fields__
    assert "dry_run" in action.reply.__struct_fields__
