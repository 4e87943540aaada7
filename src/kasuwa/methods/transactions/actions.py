"""The row of `PUT /resources` that lists transactions of every kind."""

from kasuwa.core.action import Read
from kasuwa.methods.transactions import rules, store, wire

RESOURCES = (
    Read(
        name="transactions",
        scope="read",
        request=wire.TransactionsRequest,
        reply=wire.TransactionsReply,
        rules=rules.LIST_RULES,
        read=store.list_transactions,
        summary="Transactions of every kind, newest first",
        example={"inquire": "transactions", "kind": "transfer", "status": "successful", "limit": 2},
    ),
)
