"""An identical request changes nothing: every write is sent twice, without an Idempotency-Key.

What is a new order each time is listed by name with its reason, and must change something, so that the list stays true.
The merchant's clock stands still, and due jobs are run before the second request. Settings are also sent again when
time has passed: nothing that they have scheduled may move.
"""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from kasuwa.core.action import AdminCommand, Write
from tests.merchant_client import MerchantClient, RawReply
from tests.running import Deployment
from tests.walk.rows import ACTION_ROWS, NOW, ActionRow, prepare_example, send_examples
from tests.walk.test_tenancy import everything_of

PAYER_PAYS = "a payer may pay the same amount twice; customer_txnref is not unique"
MONEY_MOVES = "money may be moved twice; an Idempotency-Key tells a repeat"
MADE_ANEW = "two of the same kind may be made; the reply has a new reference"
SIMULATED = "each is another occurrence in the outside world of the test environment"
NEW_ORDERS = {
    **dict.fromkeys(
        (
            "payment-initiate-card",
            "payment-charge-account",
            "payment-charge-ussd",
            "payment-charge-phone",
            "payment-charge-qrpay",
            "payment-charge-bank_transfer",
            "payment-charge-mobile_money",
            "payment-charge-token",
            "loans-repay",
            "investments-deposit",
        ),
        PAYER_PAYS,
    ),
    **dict.fromkeys(
        (
            "payment-refund",
            "investments-cashout",
            "investments-cashout-cashcode",
            "investments-buy_shares",
            "loans-guarantee",
            "loans-call_guarantee",
            "loans-collect",
            "loans-pay_guarantor",
            "investments-transfer_shares",
            "investments-redeem_shares",
            "virtualcard-fund",
            "virtualcard-withdraw",
        ),
        MONEY_MOVES,
    ),
    **dict.fromkeys(
        (
            "payment-checkout",
            "clients-create",
            "loans-request",
            "loans-request_of_product",
            "loans-create_group",
            "loans-request_group_loan",
            "loans-request_group_loan_of_product",
            "loans-collateral",
            "loans-charge",
            "investments-create_savings",
            "investments-create_plan",
            "investments-create_share_class",
            "investments-standing_order",
            "virtualcard-create",
            "resources-paylink",
            "resources-invoice",
            "resources-ticket",
            "sandbox-beneficiary",
            "sandbox-new_key",
        ),
        MADE_ANEW,
    ),
    **dict.fromkeys(
        (
            "sandbox-pay_account",
            "sandbox-trigger",
            "sandbox-dispute",
            "sandbox-card_purchase",
            "sandbox-card_refund",
            "sandbox-card_authorize",
            "sandbox-fund_wallet",
            "sandbox-advance",
            "sandbox-fault",
            "sandbox-reset",
            "sandbox-restore",
        ),
        SIMULATED,
    ),
    "loans-reschedule": "a loan may get more installments twice; an Idempotency-Key tells a repeat",
    "disburse-transfer-bulk": "each bulk has a batchRef; its orders are repeats by their orderRef",
    "resources-resend": "each sends the events once more",
    "resources-mail": "each sends a mail that failed once more",
    "virtualcard-get": "each time that a number is shown is in the audit trail",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "resources-payout_schedule": {"frequency": "daily"},
    "resources-settlement_events": {},
    "resources-customer": {},
    "virtualcard-limits": {},
    "virtualcard-decider": {},
    "clients-update": {"status": None},
    "loans-auto_repay": {},
    "loans-update_product": {"name": "Yearly"},
    "investments-set_rollover": {},
}

# The kinds of tables that have state: no views of earlier versions, and nothing that counts commits.
STATE_TABLES = """
    select table_name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'
        and table_name not in ('commit_mark', 'merchant_state')
"""
# Version and decision_count count commits and decisions, whatever these change.
MERCHANT_STATE = """
    select (to_jsonb(s) - '{version,decision_count}'::text[])::text
    from merchant_state s join merchant m using (merchant_id)
    where m.mid = $1 order by 1
"""


def state_of(deployment: Deployment, shop: MerchantClient) -> dict[str, Any]:
    digests = everything_of(deployment, shop)
    found: dict[str, Any] = {name: digests[name] for (name,) in deployment.fetch(STATE_TABLES) if name in digests}
    return found | {"merchant_state": [text for (text,) in deployment.fetch(MERCHANT_STATE, shop.mid)]}


def is_write(row: ActionRow) -> bool:
    return isinstance(row.action, Write | AdminCommand)


class RepeatingClient(MerchantClient):
    """A merchant that sends each write twice, and records which tables the second request has changed."""

    def __init__(self, shop: MerchantClient, deployment: Deployment) -> None:
        super().__init__(shop.connection, shop.mid, shop.key)
        self.deployment = deployment
        self.row: ActionRow | None = None
        self.changed: dict[str, list[str]] = {}

    def before_each(self, row: ActionRow, fields: dict[str, Any]) -> None:
        self.row = row

    def send_fields(self, method: str, fields: Any, *, headers: Mapping[str, str] | None = None) -> RawReply:
        first = super().send_fields(method, fields, headers=headers)
        row, self.row = self.row, None
        if row is None or not is_write(row):
            return first
        super().put("sandbox", action="advance", seconds=0)
        before = state_of(self.deployment, self)
        super().send_fields(method, fields, headers=headers)
        after = state_of(self.deployment, self)
        self.changed[row.title] = [table for table in before if before[table] != after[table]]
        return first


def test_a_write_sent_again_changes_nothing_unless_it_is_a_new_order(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    client = RepeatingClient(open_shop(now=NOW), deployment)
    send_examples(client, before_each=client.before_each)
    assert set(client.changed) == {row.title for row in ACTION_ROWS if is_write(row)}
    changed = {title: tables for title, tables in client.changed.items() if tables}
    assert {title: tables for title, tables in changed.items() if title not in NEW_ORDERS} == {}
    assert set(NEW_ORDERS) - set(changed) == set()


@pytest.mark.parametrize("title", list(SETTINGS))
def test_a_setting_sent_again_after_hours_moves_nothing_that_it_scheduled(
    open_shop: Callable[..., MerchantClient], deployment: Deployment, title: str
) -> None:
    shop = open_shop(now=NOW)
    [row] = [row for row in ACTION_ROWS if row.title == title]
    fields = {name: value for name, value in {**prepare_example(shop, row), **SETTINGS[title]}.items() if value}
    assert shop.send_fields(row.method, fields).body["status"] == 200
    # From 09:30 to 08:30 of the next day: what is due at 09:00 is due soon.
    shop.advance(hours=23)
    before = state_of(deployment, shop)
    assert shop.send_fields(row.method, fields).body["status"] == 200
    assert state_of(deployment, shop) == before
