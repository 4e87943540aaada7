"""The row of `PUT /resources` for proofs."""

from kasuwa.core.action import Read
from kasuwa.methods.statements.proofs import store, wire

RESOURCES = (
    Read(
        name="proof",
        scope="read",
        request=wire.ProofRequest,
        reply=wire.ProofReply,
        read=store.show_proofs,
        summary="The proof that what a transaction posted is in a signed close of the books",
        example={"inquire": "proof", "reference": "order-1042"},
    ),
)
