"""The actions of `PUT /bills`: airtime and bills, paid from the merchant's wallet."""

from kasuwa.core.action import PAY, ApiMethod, Lookup, MemoryRead, Read, Step, Write, amount_in_naira, require_one
from kasuwa.methods.bills import lookups, model, steps, store, wire
from kasuwa.methods.bills.rules import on_biller_answer, pay_bill

PREPAID_METER = {"paycode": "IfuR3XxiIpxqbZQ", "reference": "45012345678"}

BILLS = ApiMethod(
    name="bills",
    scope="payout",
    selectors=("action",),
    actions=(
        MemoryRead(
            name="pull",
            request=wire.PullRequest,
            reply=wire.PullReply,
            answer=lookups.pull_catalogue,
            rules=lookups.PULL_RULES,
            summary="The catalogue of bills: all of it, one category, or one bill",
            example={"action": "pull", "bills_id": 14},
        ),
        Lookup(
            name="resolve",
            request=wire.ResolveRequest,
            reply=wire.ResolveReply,
            rail=model.LANE,
            ask=lookups.resolve_customer,
            rules=lookups.RESOLVE_RULES,
            summary="The name behind a customer reference, such as a meter number",
            example={"action": "resolve", **PREPAID_METER},
        ),
        Write(
            name="pay",
            request=wire.PayRequest,
            reply=wire.PayReply,
            needs=pay_bill.need_pay,
            decide=pay_bill.decide_pay,
            rules=lookups.PAY_RULES,
            permission=PAY,
            amount_moved=amount_in_naira,
            unique_reference="orderRef",
            summary="Pay a bill or top up a phone from the wallet",
            example={"action": "pay", **PREPAID_METER, "amount": "5000.00", "orderRef": "bill-1042"},
        ),
        Read(
            name="verify",
            request=wire.VerifyRequest,
            reply=wire.VerifyReply,
            rules=(require_one("order_ref", "txn_ref", reason="required, or orderRef"),),
            read=store.verify_bill,
            summary="The state of a bill, by its orderRef or txnRef, with its token or PIN",
            example={"action": "verify", "txnRef": "bill-1042"},
        ),
    ),
    steps=tuple(
        Step(
            kind=kind,
            lane=model.LANE,
            call=steps.call_biller,
            needs=on_biller_answer.need_answer,
            decide=on_biller_answer.decide_answer,
            enrich_callback=steps.fetch_delivery,
            is_read_from_rows=True,
        )
        for kind in (model.SEND, model.QUERY)
    ),
)
