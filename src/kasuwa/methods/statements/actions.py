"""Rows of `PUT /resources` for statements of account and settlements."""

from kasuwa.core.action import Read
from kasuwa.methods.statements import rules, store, wire
from kasuwa.methods.statements.settlements import store as settlement_store
from kasuwa.methods.statements.settlements import wire as settlement_wire

RESOURCES = (
    Read(
        name="statement",
        scope="read",
        request=wire.StatementRequest,
        reply=wire.StatementReply,
        rules=rules.STATEMENT_RULES,
        read=store.show_statement,
        summary="The movements of an account, its balances and totals, in pages or as a file",
        example={"inquire": "statement", "account": "wallet", "from": "2026-01-01", "to": "2026-01-31", "limit": 3},
    ),
    Read(
        name="settlements",
        scope="read",
        request=settlement_wire.SettlementsRequest,
        reply=settlement_wire.SettlementsReply,
        read=settlement_store.list_settlements,
        summary="What collections did to the wallet, day by day",
        example={"inquire": "settlements", "currency": "NGN"},
    ),
    Read(
        name="settlement",
        scope="read",
        request=settlement_wire.SettlementRequest,
        reply=settlement_wire.SettlementReply,
        read=settlement_store.show_settlement,
        summary="One settlement with its lines",
        example={"inquire": "settlement", "settlement_id": "<settlement_id>"},
    ),
)
