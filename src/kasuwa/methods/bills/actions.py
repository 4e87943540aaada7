"""`PUT /bills`: airtime and bills, paid from the merchant's wallet. Read this first."""

from kasuwa.core.action import PAY, Known, Lookup, Method, Read, Step, Write, one_of
from kasuwa.methods.bills import decide, decide_answer, lookups, steps, store, wire

PREPAID_METER = {"paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678"}

BILLS = Method(
    name="bills",
    selectors=("action",),
    actions=(
        Known(
            name="pull",
            request=wire.PullRequest,
            reply=wire.PullReply,
            answer=lookups.pull_catalogue,
            rules=lookups.PULL_RULES,
            summary="What can be paid: the whole catalogue, a category of it, or one bill",
            example={"action": "pull", "bills_id": 14},
        ),
        Lookup(
            name="resolve",
            request=wire.ResolveRequest,
            reply=wire.ResolveReply,
            rail=decide.LANE,
            ask=lookups.resolve_customer,
            rules=lookups.RESOLVE_RULES,
            summary="The name behind a customer reference, such as a meter number",
            example={"action": "resolve", **PREPAID_METER},
        ),
        Write(
            name="pay",
            request=wire.PayRequest,
            reply=wire.PayReply,
            needs=decide.need_pay,
            decide=decide.decide_pay,
            rules=lookups.PAY_RULES,
            needs_role=PAY,
            summary="Pay a bill or top up a phone from the wallet",
            example={"action": "pay", **PREPAID_METER, "amount": "5000.00", "orderRef": "bill-1042"},
        ),
        Read(
            name="verify",
            request=wire.VerifyRequest,
            reply=wire.VerifyReply,
            rules=(one_of("order_ref", "txn_ref", reason="required, or orderRef"),),
            read=store.verify_bill,
            summary="What became of a bill, by its orderRef or txnRef, and what it brought",
            example={"action": "verify", "txnRef": "bill-1042"},
        ),
    ),
    steps=tuple(
        Step(
            kind=kind,
            lane=decide.LANE,
            call=steps.call_biller,
            needs=decide_answer.need_answer,
            decide=decide_answer.decide_answer,
            told=steps.hear_biller,
        )
        for kind in (decide.SEND, decide.ASK)
    ),
)
