"""The actions of `PUT /sandbox`, which exists only in the test environment: they control merchants, clock and rails."""

from kasuwa.core.action import INTEGRATE, VIEW, AdminCommand, ApiMethod, FieldRule, Write, one_of
from kasuwa.methods.sandbox import commands, rules, wire

# Any one of the fields is enough. The error names `txnRef`, the first field: one_of reports its last argument.
EXPLAINED = one_of(
    *reversed(wire.ExplainRequest.__struct_fields__),
    reason="required, or " + ", ".join(wire.ExplainRequest.__struct_encode_fields__[1:]),
)

SANDBOX = ApiMethod(
    name="sandbox",
    selectors=("action",),
    actions=(
        AdminCommand(
            name="new_merchant",
            request=wire.NewMerchantRequest,
            reply=wire.NewMerchantReply,
            run=commands.new_merchant,
            permission=INTEGRATE,
            summary="Create a new, funded merchant, so that each test can have its own",
            example={"action": "new_merchant", "name": "Ada Stores"},
        ),
        Write(
            name="fund_wallet",
            request=wire.FundRequest,
            reply=wire.DoneReply,
            needs=rules.need_fund,
            decide=rules.decide_fund,
            permission=INTEGRATE,
            summary="Credit the wallet",
            example={"action": "fund_wallet", "currency": "NGN", "amount": "5000.00"},
        ),
        AdminCommand(
            name="settle",
            request=wire.SettleRequest,
            rules=(
                one_of(
                    "savings_id",
                    "loan_id",
                    "order_ref",
                    "txn_ref",
                    reason="required, or orderRef, loan_id or savings_id",
                ),
            ),
            reply=wire.SettleReply,
            run=commands.simulate_callback,
            permission=INTEGRATE,
            summary="Simulate the rail's call-back for a pending transaction",
            example={"action": "settle", "orderRef": "order-1042", "outcome": "successful"},
        ),
        AdminCommand(
            name="webhook",
            request=wire.WebhookRequest,
            reply=wire.DoneReply,
            run=commands.set_webhook,
            permission=INTEGRATE,
            summary="Set the URL that this merchant's events are sent to, or switch them off",
            example={"action": "webhook", "url": "http://127.0.0.1:9999/events"},
        ),
        AdminCommand(
            name="explain",
            request=wire.ExplainRequest,
            rules=(EXPLAINED,),
            reply=wire.ExplainReply,
            run=commands.explain,
            writes=False,
            permission=VIEW,
            summary="The timeline of everything that has a reference",
            example={"action": "explain", "orderRef": "order-1042"},
        ),
        AdminCommand(
            name="clock",
            request=wire.ClockRequest,
            reply=wire.ClockReply,
            run=commands.clock,
            writes=False,
            permission=VIEW,
            summary="This merchant's business time",
            example={"action": "clock"},
        ),
        AdminCommand(
            name="advance",
            request=wire.AdvanceRequest,
            rules=(FieldRule(("seconds", "minutes", "hours", "days", "until"), rules.check_advance),),
            reply=wire.AdvanceReply,
            run=commands.advance,
            permission=INTEGRATE,
            summary="Move business time forward and run everything that falls due on the way",
            example={"action": "advance", "days": 1},
        ),
        Write(
            name="fault",
            request=wire.FaultRequest,
            rules=(FieldRule(("kind", "rail"), rules.check_fault_rail),),
            reply=wire.DoneReply,
            needs=rules.need_fault,
            decide=rules.decide_fault,
            permission=INTEGRATE,
            summary="Make this merchant's next calls to a rail fail",
            example={"action": "fault", "rail": "bank", "kind": "timeout", "times": 1},
        ),
        AdminCommand(
            name="reset",
            request=wire.ResetRequest,
            reply=wire.DoneReply,
            run=commands.reset,
            permission=INTEGRATE,
            summary="Start this mid and key with empty books; the old books are kept",
            example={"action": "reset"},
        ),
    ),
)
