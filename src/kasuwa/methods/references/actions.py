"""The row of `PUT /resources` that finds anything by its reference."""

from kasuwa.core.action import Read
from kasuwa.methods.references import store, wire

RESOURCES = (
    Read(
        name="transaction",
        scope="read",
        request=wire.TransactionRequest,
        reply=wire.TransactionReply,
        read=store.show_record,
        summary="Anything that has a reference, with its related references and timeline",
        example={"inquire": "transaction", "reference": "order-1042"},
    ),
)
