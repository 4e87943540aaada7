"""Rows of `PUT /loans` for automatic collection: what falls due is collected without a request."""

from kasuwa.core.action import PAY, FieldRule, Read, Step, Write
from kasuwa.methods.auto_repay import store, wire
from kasuwa.methods.auto_repay.rules import agree, collect, dates
from kasuwa.rails.ports.orders import call_no_rail

LOANS = (
    Write(
        name="auto_repay",
        request=wire.AutoRepayRequest,
        reply=wire.AutoRepayReply,
        rules=(
            FieldRule(("source", "token"), agree.check_token),
            FieldRule(("source", "savings_id"), agree.check_savings),
            FieldRule(("at",), agree.check_hour),
            FieldRule(("retry",), agree.check_retry),
        ),
        needs=agree.need_auto_repay,
        decide=agree.decide_auto_repay,
        permission=PAY,
        summary="Collect what falls due of a loan: from a saved card, savings or the wallet",
        example={
            "action": "auto_repay",
            "loan_id": "<loan_id>",
            "source": "savings",
            "savings_id": "<savings_id>",
            "retry": [1, 3, 7],
        },
    ),
    Write(
        name="stop_auto_repay",
        request=wire.StopAutoRepayRequest,
        reply=wire.AutoRepayReply,
        needs=agree.need_stop,
        decide=agree.decide_stop,
        permission=PAY,
        summary="Stop collecting a loan",
        example={"action": "stop_auto_repay", "loan_id": "<loan_id>"},
    ),
    Read(
        name="collections",
        request=wire.CollectionsRequest,
        reply=wire.CollectionsReply,
        read=store.list_collections,
        summary="Attempts to collect loans, newest first: what was collected and what was declined, and why",
        example={"action": "collections", "state": "declined"},
    ),
)

STEPS = (
    Step(
        dates.RUN,
        dates.LANE,
        call_no_rail,
        collect.need_run,
        collect.decide_run,
        accepts_callback=False,
    ),
)
