"""The actions of `PUT /cashcode`: codes that draw cash, and the sandbox action that redeems one."""

from kasuwa.core.action import INTEGRATE, PAY, ApiMethod, FieldRule, Read, Step, Write, amount_in_naira
from kasuwa.methods.cashcode import model, store, wire
from kasuwa.methods.cashcode.rules import finish, issue, redeem
from kasuwa.rails.ports import orders

GENERATE_RULES = (
    FieldRule(("amount",), issue.check_amount),
    FieldRule(("life_time",), issue.check_lifetime),
)

CASHCODE = ApiMethod(
    name="cashcode",
    scope="payout",
    selectors=("action",),
    actions=(
        Write(
            name="generate",
            request=wire.GenerateRequest,
            reply=wire.GenerateReply,
            rules=GENERATE_RULES,
            needs=issue.need_generate,
            decide=issue.decide_generate,
            permission=PAY,
            amount_moved=amount_in_naira,
            unique_reference="orderRef",
            summary="A code, shown once, that draws an amount of cash with its PIN",
            example={
                "action": "generate",
                "amount": "5000.00",
                "pin": "2580",
                "channel": "ATM",
                "orderRef": "cash-1042",
                "life_time": "1440",
            },
        ),
        Read(
            name="verify",
            request=wire.OrderRequest,
            reply=wire.VerifyReply,
            read=store.verify_code,
            summary="The state of a cashcode, by its orderRef",
            example={"action": "verify", "orderRef": "cash-1042"},
        ),
        Write(
            name="cancel",
            request=wire.OrderRequest,
            reply=wire.CancelReply,
            needs=finish.need_cancel,
            decide=finish.decide_cancel,
            permission=PAY,
            summary="Cancel an unused cashcode and release the money held for it",
            example={"action": "cancel", "orderRef": "cash-1042"},
            accepts_idempotency_key=False,
        ),
    ),
    steps=(
        Step(
            model.EXPIRE,
            model.LANE,
            orders.call_no_rail,
            finish.need_expiry,
            finish.decide_expiry,
            accepts_callback=False,
        ),
    ),
)

# Actions of `PUT /sandbox`: they simulate the cash rail.
SANDBOX = (
    Write(
        name="redeem_cashcode",
        request=wire.RedeemRequest,
        reply=wire.RedeemReply,
        needs=redeem.need_redeem,
        decide=redeem.decide_redeem,
        permission=INTEGRATE,
        summary="Simulate drawing cash with a code and its PIN",
        example={
            "action": "redeem_cashcode",
            "cashcode": "0123456789",
            "pin": "2580",
            "amount": "5000.00",
            "channel": "ATM",
        },
        accepts_idempotency_key=False,
    ),
)
