"""Rows of `PUT /investments` for standing orders."""

from kasuwa.core.action import PAY, FieldRule, Read, Step, Write
from kasuwa.methods.disburse.rules.transfer import check_amount
from kasuwa.methods.standing_orders import store, wire
from kasuwa.methods.standing_orders.rules import manage, pay
from kasuwa.rails.ports.orders import call_no_rail

INVESTMENTS = (
    Write(
        name="standing_order",
        request=wire.StandingOrderRequest,
        reply=wire.StandingOrderReply,
        rules=(FieldRule(("amount",), check_amount),),
        needs=manage.need_new_order,
        decide=manage.decide_new_order,
        permission=PAY,
        summary="Pay from savings on a schedule: other savings, a loan or a thrift; dry_run shows what it would pay",
        example={
            "action": "standing_order",
            "from": "<savings_id>",
            "to": "<loan_id>",
            "amount": "5000.00",
            "frequency": "every_month",
            "from_date": "2035-12-31",
        },
    ),
    Write(
        name="change_standing_order",
        request=wire.ChangeStandingOrderRequest,
        reply=wire.StandingOrderReply,
        needs=manage.need_order,
        decide=manage.decide_change,
        permission=PAY,
        summary="Pause, resume or cancel a standing order",
        example={"action": "change_standing_order", "order_id": "<order_id>", "change": "pause"},
    ),
    Read(
        name="list_standing_orders",
        request=wire.ListStandingOrdersRequest,
        reply=wire.StandingOrderListReply,
        read=store.list_orders,
        summary="Standing orders, newest first",
        example={"action": "list_standing_orders", "state": "active"},
    ),
)

STEPS = (
    Step(
        manage.RUN_ORDER,
        manage.LANE,
        call_no_rail,
        pay.need_payment,
        pay.decide_payment,
        accepts_callback=False,
    ),
)
