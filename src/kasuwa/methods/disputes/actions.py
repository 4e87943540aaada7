"""Rows of `PUT /payment` and `PUT /sandbox` about disputes, and the steps of their jobs."""

from kasuwa.core.action import INTEGRATE, PAY, Read, Step, Write
from kasuwa.methods.disputes import model, steps, store, wire
from kasuwa.methods.disputes.rules import (
    ask_rail,
    card_of_dispute,
    correct_dispute,
    deadline,
    debt,
    open_dispute,
    respond,
)
from kasuwa.rails.ports.orders import call_no_rail

PAYMENT = (
    Read(
        name="disputes",
        request=wire.DisputesRequest,
        reply=wire.DisputesReply,
        read=store.list_disputes,
        summary="Disputes of payments, newest first",
        example={"action": "disputes"},
    ),
    Read(
        name="dispute",
        request=wire.DisputeRequest,
        reply=wire.DisputeReply,
        read=store.read_dispute,
        summary="One dispute with its evidence and its steps",
        example={"action": "dispute", "dispute_id": "<dispute_id>"},
    ),
    Write(
        name="dispute_respond",
        scope="payout",
        request=wire.RespondRequest,
        reply=wire.DisputeChanged,
        needs=respond.need_response,
        decide=respond.decide_response,
        permission=PAY,
        max_body_bytes=model.MAX_BODY_BYTES,
        summary="Accept a dispute, or send evidence against it",
        example={
            "action": "dispute_respond",
            "dispute_id": "<dispute_id>",
            "evidence": {
                "explanation": "The parcel was handed to the customer on 3 January.",
                "tracking_number": "NG-7712",
                "files": [{"name": "receipt.pdf", "content": "JVBERi0xLjQK"}],
            },
        },
    ),
)

SANDBOX = (
    Write(
        name="dispute",
        request=wire.OpenRequest,
        reply=wire.DisputeChanged,
        needs=open_dispute.need_open,
        decide=open_dispute.decide_open,
        permission=INTEGRATE,
        summary="The payer's bank disputes a payment",
        example={"action": "dispute", "txnRef": "<txnRef>", "amount": "500.00", "reason": "product not received"},
    ),
    Write(
        name="dispute_outcome",
        request=wire.OutcomeRequest,
        reply=wire.DisputeChanged,
        needs=correct_dispute.need_outcome,
        decide=correct_dispute.decide_outcome,
        permission=INTEGRATE,
        summary="The payer's bank decides a dispute",
        example={"action": "dispute_outcome", "dispute_id": "<dispute_id>", "outcome": "won"},
    ),
)

STEPS: tuple[Step, ...] = (
    *(
        Step(kind, model.LANE, call_no_rail, needs, decide, accepts_callback=False)
        for kind, needs, decide in (
            (model.DEADLINE, deadline.need_dispute_job, deadline.decide_deadline),
            (model.REVIEW, deadline.need_dispute_job, deadline.decide_review),
            (model.COLLECT, debt.need_collection, debt.decide_collection),
        )
    ),
    Step(
        kind=model.ASK,
        lane=model.LANE,
        call=steps.ask_rail,
        needs=deadline.need_dispute_job,
        decide=ask_rail.decide_asked,
        accepts_callback=False,
    ),
    *(
        Step(
            kind=kind,
            lane=model.CARD_LANE,
            call=steps.call_issuer,
            needs=card_of_dispute.need_card_answer,
            decide=card_of_dispute.decide_card_answer,
            accepts_callback=False,
        )
        for kind in (model.PAY_CARD, model.TAKE_CARD, model.TELL_CARD)
    ),
)
