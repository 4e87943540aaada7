"""`PUT /sandbox`: a world that can be scripted, in the test environment alone. Read this first."""

from kasuwa.core.action import Command, Method, Rule, Write, one_of
from kasuwa.methods.sandbox import commands, decide, wire

SANDBOX = Method(
    name="sandbox",
    selectors=("action",),
    actions=(
        Command(
            name="new_merchant",
            request=wire.NewMerchantRequest,
            reply=wire.NewMerchantReply,
            run=commands.new_merchant,
            summary="A fresh, funded merchant; one per test, so that worlds never meet",
            example={"action": "new_merchant", "name": "Ada Stores"},
        ),
        Write(
            name="fund_wallet",
            request=wire.FundRequest,
            reply=wire.DoneReply,
            needs=decide.need_fund,
            decide=decide.decide_fund,
            summary="Credit the wallet",
            example={"action": "fund_wallet", "currency": "NGN", "amount": "5000.00"},
        ),
        Command(
            name="settle",
            request=wire.SettleRequest,
            rules=(one_of("order_ref", "txn_ref", reason="required, or orderRef"),),
            reply=wire.SettleReply,
            run=commands.settle,
            summary="The rail's call-back for anything pending",
            example={"action": "settle", "orderRef": "order-1042", "outcome": "successful"},
        ),
        Command(
            name="webhook",
            request=wire.WebhookRequest,
            reply=wire.DoneReply,
            run=commands.set_webhook,
            summary="Set where this merchant's events go, or switch them off",
            example={"action": "webhook", "url": "http://127.0.0.1:9999/events"},
        ),
        Command(
            name="explain",
            request=wire.ExplainRequest,
            rules=(one_of("reference", "order_ref", "txn_ref", reason="required, or orderRef, or reference"),),
            reply=wire.ExplainReply,
            run=commands.explain,
            summary="One timeline of what happened to a reference",
            example={"action": "explain", "orderRef": "order-1042"},
        ),
        Command(
            name="clock",
            request=wire.ClockRequest,
            reply=wire.ClockReply,
            run=commands.clock,
            summary="This merchant's business time",
            example={"action": "clock"},
        ),
        Command(
            name="advance",
            request=wire.AdvanceRequest,
            rules=(Rule(("seconds", "minutes", "hours", "days", "until"), decide.advance_fault),),
            reply=wire.AdvanceReply,
            run=commands.advance,
            summary="Move business time forward and run everything that falls due on the way",
            example={"action": "advance", "days": 1},
        ),
        Write(
            name="fault",
            request=wire.FaultRequest,
            rules=(Rule(("kind", "rail"), decide.rail_fault),),
            reply=wire.DoneReply,
            needs=decide.need_fault,
            decide=decide.decide_fault,
            summary="Make this merchant's next calls of a rail fail",
            example={"action": "fault", "rail": "bank", "kind": "timeout", "times": 1},
        ),
        Command(
            name="reset",
            request=wire.ResetRequest,
            reply=wire.DoneReply,
            run=commands.reset,
            summary="Fresh books for this mid and key; the old ones are kept aside",
            example={"action": "reset"},
        ),
    ),
)
