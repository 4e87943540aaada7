"""The actions of `PUT /disburse`: transfers from the merchant's wallet to bank accounts."""

from functools import partial

from kasuwa.core.action import PAY, ApiMethod, FieldRule, Read, Step, Write, amount_in_naira, require_one
from kasuwa.core.banks import check_account_number, check_bank_code
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.disburse import model, payout_model, steps, store, wire
from kasuwa.methods.disburse.rules import approve, bulk_transfer, on_bank_answer, transfer
from kasuwa.rails.ports import orders

TRANSFER_RULES = (
    FieldRule(("amount",), transfer.check_amount),
    FieldRule(("bank_code",), check_bank_code),
    FieldRule(("bank_code", "account_number"), check_account_number),
)
# An order of a bulk is sent with the others, so it has no dry run of its own.
ORDER_RULES = (*TRANSFER_RULES, REFUSE_DRY_RUN)

EXAMPLE_ORDER = {
    "amount": "1500.00",
    "bankcode": "058",
    "accountnumber": "0000000000",
    "sender_name": "Ada Stores",
    "narration": "Invoice 1042",
    "orderRef": "order-1042",
}

STEPS = tuple(
    Step(
        kind=kind,
        lane=model.LANE,
        call=steps.call_bank,
        needs=on_bank_answer.need_answer,
        decide=on_bank_answer.decide_answer,
        is_read_from_rows=True,
    )
    for kind in (model.SEND, model.QUERY)
)

DISBURSE = ApiMethod(
    name="disburse",
    scope="payout",
    selectors=("action",),
    max_body_bytes=1024 * 1024,
    actions=(
        Write(
            name="transfer",
            request=wire.TransferRequest,
            reply=wire.TransferReply,
            rules=TRANSFER_RULES,
            needs=transfer.need_transfer,
            decide=transfer.decide_transfer,
            permission=PAY,
            summary="Send money from the wallet to a bank account",
            unique_reference="orderRef",
            amount_moved=amount_in_naira,
            is_read_from_rows=True,
            example={"action": "transfer", **EXAMPLE_ORDER},
        ),
        Write(
            name="transfer",
            variant=("type", "bulk"),
            request=wire.BulkRequest,
            reply=wire.BulkReply,
            rules=(REFUSE_DRY_RUN,),
            unpack=partial(bulk_transfer.read_orders, rules=ORDER_RULES),
            weigh=len,
            needs=bulk_transfer.need_bulk,
            decide=bulk_transfer.decide_bulk,
            permission=PAY,
            amount_moved=partial(bulk_transfer.sum_orders, rules=ORDER_RULES),
            summary="Send up to 1,000 transfers in one request",
            example={"action": "transfer", "type": "bulk", "data": [EXAMPLE_ORDER]},
        ),
        Write(
            name="approve",
            scope="approve",
            request=wire.VerdictRequest,
            reply=wire.ApprovalReply,
            needs=approve.need_verdict,
            decide=partial(approve.decide_verdict, payout_model.APPROVED),
            decide_with_ended=partial(approve.decide_verdict, payout_model.APPROVED),
            weigh=approve.weigh_verdict,
            permission=PAY,
            summary="Approve a transfer that waits, or a bulk, with another key than the one that made it",
            example={"action": "approve", "txnRef": "<txnRef>"},
        ),
        Write(
            name="reject",
            scope="approve",
            request=wire.VerdictRequest,
            reply=wire.ApprovalReply,
            needs=approve.need_verdict,
            decide=partial(approve.decide_verdict, payout_model.REJECTED),
            weigh=approve.weigh_verdict,
            permission=PAY,
            summary="Reject a transfer that waits for approval, or a bulk, and release its money",
            example={"action": "reject", "txnRef": "<txnRef>"},
        ),
        Read(
            name="verify",
            request=wire.VerifyRequest,
            reply=wire.VerifyReply,
            rules=(require_one("batch_ref", "order_ref", "txn_ref", reason="required, or orderRef, or batchRef"),),
            read=store.verify_transfer,
            summary="The state of a transfer, by its orderRef or txnRef, or of a bulk, by its batchRef",
            example={"action": "verify", "txnRef": "order-1042"},
        ),
    ),
    steps=(
        *STEPS,
        Step(
            payout_model.EXPIRE,
            payout_model.EXPIRY_LANE,
            orders.call_no_rail,
            approve.need_expiry,
            approve.decide_expiry,
            accepts_callback=False,
        ),
    ),
)
