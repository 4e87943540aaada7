"""`dry_run` is honored or refused by name by everything that writes, and never ignored: whoever sends it expects that
nothing moves. (Contract: #dry-run)

The rows are walked once, in the order of the tables: each example is sent as a dry run first and then as it is, so
that whatever a later row names is there.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from kasuwa.core.action import AdminCommand, Write
from kasuwa.core.decision import Context, Decision, LoadedRows
from kasuwa.core.dry_run import DryRunChanges, forbid_changes
from tests.console.test_try_it import path_of, reply_in
from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient, RawReply
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import ACTION_ROWS, NOW, ActionRow, check_reply, send_examples, with_fresh_references
from tests.walk.test_tenancy import everything_of

WRITES = [
    row
    for row in ACTION_ROWS
    if isinstance(row.action, Write) or (isinstance(row.action, AdminCommand) and row.action.writes)
]

# Why an action refuses dry runs. Everything else that writes has them, but for the sandbox: what it plays is not real.
NO_MONEY = "moves no money, and what it makes can be changed or taken back"
SENDS = "sends a mail or an event once more, and changes nothing else"
SEPARATE_ORDERS = "decides each of many orders on what those before it left: try the orders alone"
ASKS_OTHERS = "what it would do is for a bank to say, which a dry run does not ask"
SETTLES_LATER = "records what happened elsewhere, and is taken back by its brother"
REFUSING = {
    "disburse-transfer-bulk": SEPARATE_ORDERS,
    "disburse-approve": SEPARATE_ORDERS,
    "disburse-reject": SEPARATE_ORDERS,
    "payment-dispute_respond": "is final for the bank that asks, and is checked as it is sent",
    "payment-checkout": NO_MONEY,
    "resources-personalized-accounts": NO_MONEY,
    "resources-personalized_account": ASKS_OTHERS,
    "resources-close_personalized_account": ASKS_OTHERS,
    "resources-resend": SENDS,
    "resources-paylink": NO_MONEY,
    "resources-paylink-disable": NO_MONEY,
    "resources-paylink-enable": NO_MONEY,
    "resources-customer": NO_MONEY,
    "resources-settlement_events": NO_MONEY,
    "resources-payout_schedule": NO_MONEY,
    "resources-invoice": NO_MONEY,
    "resources-invoice_send": SENDS,
    "resources-invoice_received": SETTLES_LATER,
    "resources-invoice_not_received": SETTLES_LATER,
    "resources-invoice-void": NO_MONEY,
    "resources-ticket": NO_MONEY,
    "resources-ticket_use": NO_MONEY,
    "resources-mail": SENDS,
}


class DryRun(NamedTuple):
    received: RawReply
    tried: dict[str, Any]  # the reply in the console
    changed: list[str]  # names of the tables whose rows of the merchant differ afterwards


@pytest.fixture(scope="module")
def dry_runs(deployments: Deployments) -> Iterator[dict[str, DryRun]]:
    """The dry run of every row that writes, over the API and then by a person in the console, by the row's title."""
    deployment = deployments.for_version(NEWEST)
    found: dict[str, DryRun] = {}
    shop = deployment.open_shop(now=NOW)
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    with shop.connection:

        def try_first(row: ActionRow, fields: dict[str, Any]) -> None:
            if row in WRITES:
                found[row.title] = send_dry_run(shop, owner, deployment, row, fields)

        send_examples(shop, before_each=try_first)
        yield found


def send_dry_run(
    shop: MerchantClient, owner: Visitor, deployment: Deployment, row: ActionRow, fields: dict[str, Any]
) -> DryRun:
    request = {**with_fresh_references(row, fields), "dry_run": True}
    before = everything_of(deployment, shop)
    received = shop.send_fields(row.method, request)
    page = owner.post(path_of(row), body=msgspec.json.encode(request).decode())
    after = everything_of(deployment, shop)
    return DryRun(received, reply_in(page), sorted(name for name in after if after[name] != before[name]))


@pytest.mark.parametrize("row", WRITES, ids=[row.title for row in WRITES])
def test_a_dry_run_is_honored_or_refused_by_name_and_changes_nothing(
    row: ActionRow, dry_runs: dict[str, DryRun]
) -> None:
    received, _, changed = dry_runs[row.title]
    body = received.body
    assert changed == []
    check_reply(row, received)
    if body["status"] == 104:
        assert [fault["field"] for fault in body["errors"]] == ["dry_run"]
    else:
        assert (body["status"], body["dry_run"]) == (200, True)
    assert dry_runs[row.title].tried.get("dry_run") == body.get("dry_run")


@pytest.mark.parametrize("row", WRITES, ids=[row.title for row in WRITES])
def test_a_row_says_that_it_honors_dry_runs_if_it_does(row: ActionRow, dry_runs: dict[str, DryRun]) -> None:
    is_honored = dry_runs[row.title].received.body["status"] == 200
    assert ("dry_run" in row.action.reply.__struct_fields__) == is_honored
    assert not is_honored or "dry_run" in row.action.request.__struct_fields__


def test_what_refuses_dry_runs_has_its_reason(dry_runs: dict[str, DryRun]) -> None:
    refusing = {title for title, tried in dry_runs.items() if tried.received.body["status"] == 104}
    assert {title for title in refusing if not title.startswith("sandbox-")} == set(REFUSING)


def test_a_dry_run_neither_uses_nor_reads_an_idempotency_key(shop: MerchantClient) -> None:
    key, client = {"idempotency-key": "once"}, {"firstname": "Ada", "lastname": "Obi", "phone": "08031234567"}
    for _ in range(2):
        preview = shop.put("clients", headers=key, action="create", data=client, dry_run=True).body
        assert (preview["dry_run"], preview["data"]["client_id"]) == (True, None)
    created = shop.put("clients", headers=key, action="create", data=client).body
    assert created["data"]["client_id"].startswith("CL")
    assert shop.put("clients", headers=key, action="create", data=client, dry_run=True).body["dry_run"] is True
    assert shop.put("clients", headers=key, action="create", data=client).body == created
    assert shop.put("clients", action="list").body["total"] == 1


def test_an_unsupported_dry_run_is_named_with_every_other_fault(shop: MerchantClient) -> None:
    refused = shop.put("sandbox", action="fund_wallet", amount="-5", currency="XXX", dry_run="yes").body
    assert {fault["field"] for fault in refused["errors"]} == {"amount", "currency", "dry_run"}
    for absent in (False, None, ""):
        assert shop.put("sandbox", action="fund_wallet", amount="5.00", dry_run=absent).body["status"] == 200
    assert shop.wallet().balance == 1_000_001_500


def test_a_rule_that_would_change_something_in_a_dry_run_raises() -> None:
    """No rule does; this keeps one that forgets `dry_run` from moving money."""

    class Request(msgspec.Struct):
        dry_run: bool

    def decide(context: Context, rows: LoadedRows) -> Decision:
        return Decision(reply="done", numbers_used=1)

    unused: Any = None
    assert forbid_changes(decide, Request(False))(unused, LoadedRows({})) == Decision(reply="done", numbers_used=1)
    with pytest.raises(DryRunChanges):
        forbid_changes(decide, Request(True))(unused, LoadedRows({}))
