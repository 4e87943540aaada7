"""The action tables of disputes of card purchases: of `PUT /virtualcard`, of the sandbox, and their jobs."""

from kasuwa.core.action import INTEGRATE, MANAGE, Read, Step, Write
from kasuwa.methods.disputes.model import MAX_BODY_BYTES
from kasuwa.methods.virtualcard import dispute_calls, store
from kasuwa.methods.virtualcard import dispute_model as model
from kasuwa.methods.virtualcard import dispute_wire as wire
from kasuwa.methods.virtualcard.rules import dispute, dispute_at_shop, end_dispute
from kasuwa.rails.ports.orders import call_no_rail

VIRTUALCARD = (
    Write(
        name="dispute",
        request=wire.CardDisputeRequest,
        reply=wire.CardDisputeChanged,
        needs=dispute.need_dispute,
        decide=dispute.decide_dispute,
        permission=MANAGE,
        max_body_bytes=MAX_BODY_BYTES,
        summary="Dispute a purchase of a card, in whole or in part, for the cardholder",
        example={
            "action": "dispute",
            "reference": "<reference>",
            "id": "<txnRef>",
            "reason": "not received",
            "amount": "5.00",
            "evidence": {"explanation": "The book was due on 3 January and never came."},
        },
    ),
    Read(
        name="disputes",
        request=wire.CardDisputesRequest,
        reply=wire.CardDisputesReply,
        read=store.list_disputes,
        summary="Disputes of card purchases, newest first",
        example={"action": "disputes", "reference": "<reference>"},
    ),
    Read(
        name="view_dispute",
        request=wire.CardDisputeNamed,
        reply=wire.CardDisputeReply,
        read=store.read_dispute,
        summary="One dispute of a card purchase with its evidence and its steps",
        example={"action": "view_dispute", "dispute_id": "<dispute_id>"},
    ),
    Write(
        name="withdraw_dispute",
        request=wire.WithdrawRequest,
        reply=wire.CardDisputeChanged,
        needs=dispute.need_withdrawal,
        decide=dispute.decide_withdrawal,
        permission=MANAGE,
        summary="Withdraw a dispute of a card purchase that is not decided yet",
        example={"action": "withdraw_dispute", "dispute_id": "<dispute_id>"},
    ),
)

OUTCOME = Write(
    name="card_dispute_outcome",
    request=wire.CardOutcomeRequest,
    reply=wire.CardDisputeDecided,
    needs=end_dispute.need_outcome,
    decide=end_dispute.decide_outcome,
    permission=INTEGRATE,
    summary="The card network decides a dispute of a card purchase",
    example={"action": "card_dispute_outcome", "dispute_id": "<dispute_id>", "outcome": "lost"},
)

STEPS: tuple[Step, ...] = (
    Step(
        model.REVIEW,
        model.LANE,
        call_no_rail,
        end_dispute.need_review,
        end_dispute.decide_review,
        accepts_callback=False,
    ),
    *(
        Step(
            kind=kind,
            lane=model.LANE,
            call=dispute_calls.call_shop,
            needs=dispute_at_shop.need_shop_answer,
            decide=decide,
            accepts_callback=False,
        )
        for kind, decide in (
            (model.OPEN_AT_SHOP, dispute_at_shop.decide_opened),
            (model.END_AT_SHOP, dispute_at_shop.decide_ended),
        )
    ),
)
