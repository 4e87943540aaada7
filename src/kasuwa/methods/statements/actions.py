"""The row of `PUT /resources` for statements of account."""

from kasuwa.core.action import Read
from kasuwa.methods.statements import rules, store, wire

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
)
