"""`PUT /disburse`: transfers from the merchant's wallet to bank accounts. Read this first."""

from functools import partial

from kasuwa.core.action import PAY, Method, Read, Rule, Step, Write, one_of
from kasuwa.core.banks import account_fits_bank, bank_is_known
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.disburse import decide, decide_answer, decide_bulk, steps, store, wire

TRANSFER_RULES = (
    Rule(("amount",), decide.amount_fits),
    REFUSE_DRY_RUN,
    Rule(("bank_code",), bank_is_known),
    Rule(("bank_code", "account_number"), account_fits_bank),
)

EXAMPLE_ORDER = {
    "amount": "1500.00",
    "bankcode": "058",
    "accountnumber": "0000000000",
    "sender_name": "Ada Stores",
    "narration": "Invoice 1042",
    "orderRef": "order-1042",
}

DISBURSE = Method(
    name="disburse",
    selectors=("action",),
    most_bytes=1024 * 1024,
    actions=(
        Write(
            name="transfer",
            request=wire.TransferRequest,
            reply=wire.TransferReply,
            rules=TRANSFER_RULES,
            needs=decide.need_transfer,
            decide=decide.decide_transfer,
            needs_role=PAY,
            summary="Send money from the wallet to a bank account",
            example={"action": "transfer", **EXAMPLE_ORDER},
        ),
        Write(
            name="transfer",
            variant=("type", "bulk"),
            request=wire.BulkRequest,
            reply=wire.BulkReply,
            rules=(REFUSE_DRY_RUN,),
            unpack=partial(decide_bulk.read_orders, rules=TRANSFER_RULES),
            needs=decide_bulk.need_bulk,
            decide=decide_bulk.decide_bulk,
            needs_role=PAY,
            summary="Send up to 1,000 transfers at once, each on its own",
            example={"action": "transfer", "type": "bulk", "data": [EXAMPLE_ORDER]},
        ),
        Read(
            name="verify",
            request=wire.VerifyRequest,
            reply=wire.VerifyReply,
            rules=(one_of("batch_ref", "order_ref", "txn_ref", reason="required, or orderRef, or batchRef"),),
            read=store.verify_transfer,
            summary="The state of a transfer, by its orderRef or txnRef, or of a bulk, by its batchRef",
            example={"action": "verify", "txnRef": "order-1042"},
        ),
    ),
    steps=(
        Step(decide.SEND, decide.LANE, steps.call_bank, decide_answer.need_answer, decide_answer.decide_answer),
        Step(decide.ASK, decide.LANE, steps.call_bank, decide_answer.need_answer, decide_answer.decide_answer),
    ),
)
