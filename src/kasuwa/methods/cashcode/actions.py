"""`PUT /cashcode`: codes that draw cash. Read this first."""

from kasuwa.core.action import INTEGRATE, PAY, Method, Read, Rule, Step, Write
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.cashcode import decide, decide_end, decide_redeem, store, wire
from kasuwa.rails import ports

GENERATE_RULES = (
    Rule(("amount",), decide.amount_fits),
    Rule(("life_time",), decide.life_time_fits),
    REFUSE_DRY_RUN,
)

CASHCODE = Method(
    name="cashcode",
    selectors=("action",),
    actions=(
        Write(
            name="generate",
            request=wire.GenerateRequest,
            reply=wire.GenerateReply,
            rules=GENERATE_RULES,
            needs=decide.need_generate,
            decide=decide.decide_generate,
            needs_role=PAY,
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
            summary="What became of a cashcode, by its orderRef",
            example={"action": "verify", "orderRef": "cash-1042"},
        ),
        Write(
            name="cancel",
            request=wire.OrderRequest,
            reply=wire.CancelReply,
            rules=(REFUSE_DRY_RUN,),
            needs=decide_end.need_cancel,
            decide=decide_end.decide_cancel,
            needs_role=PAY,
            summary="Take a cashcode back that was not used; what was held for it returns",
            example={"action": "cancel", "orderRef": "cash-1042"},
            repeatable=False,
        ),
    ),
    steps=(
        Step(
            decide.EXPIRE,
            decide.LANE,
            ports.call_nobody,
            decide_end.need_expiry,
            decide_end.decide_expiry,
            settles=False,
        ),
    ),
)

# What the test environment can play: the outside's part.
SANDBOX = (
    Write(
        name="redeem_cashcode",
        request=wire.RedeemRequest,
        reply=wire.RedeemReply,
        needs=decide_redeem.need_redeem,
        decide=decide_redeem.decide_redeem,
        needs_role=INTEGRATE,
        summary="Cash is drawn with a code and its PIN",
        example={
            "action": "redeem_cashcode",
            "cashcode": "0123456789",
            "pin": "2580",
            "amount": "5000.00",
            "channel": "ATM",
        },
        repeatable=False,
    ),
)
