"""The action table of `PUT /virtualcard`: cards that a merchant issues to its customers. Start reading here."""

from kasuwa.core.action import INTEGRATE, MANAGE, PAY, ApiMethod, FieldRule, Read, Step, Write, require_one
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.virtualcard import card_limits, model, store, wire
from kasuwa.methods.virtualcard.rules import funding, manage_card, monthly_fee, purchase, refund
from kasuwa.rails.ports.orders import call_no_rail

EXAMPLE_BILLING = {
    "address": "12 Marina Road",
    "name": "Ada Obi",
    "city": "Lagos",
    "state": "Lagos",
    "postal_code": "101241",
}

CHECK_LIMITS = (
    FieldRule(("limits.velocity",), card_limits.check_velocity),
    FieldRule(("limits.from_date", "limits.to_date"), card_limits.check_days),
)


VIRTUALCARD = ApiMethod(
    name="virtualcard",
    scope="issue",
    selectors=("action",),
    actions=(
        Write(
            name="create",
            request=wire.CreateRequest,
            reply=wire.CardReply,
            rules=(
                FieldRule(("currency", "amount"), funding.check_initial_amount),
                *CHECK_LIMITS,
                REFUSE_DRY_RUN,
            ),
            needs=funding.need_create,
            decide=funding.decide_create,
            permission=PAY,
            summary="Create a card with an initial balance from the wallet; the reply has its number and CVV",
            example={
                "action": "create",
                "billing": EXAMPLE_BILLING,
                "amount": 10,
                "currency": "USD",
                "country": "NG",
            },
        ),
        Write(
            name="get",
            request=wire.GetRequest,
            reply=wire.CardReply,
            needs=model.need_card,
            decide=manage_card.decide_get,
            permission=PAY,
            read_only_without="reveal",
            summary="Show a card; reveal shows its number and CVV too and is recorded in the audit trail",
            example={"action": "get", "reference": "<reference>", "reveal": True},
            accepts_idempotency_key=False,
        ),
        Write(
            name="fund",
            request=wire.AmountRequest,
            reply=wire.DoneReply,
            rules=(REFUSE_DRY_RUN,),
            needs=funding.need_amount,
            decide=funding.decide_fund,
            permission=PAY,
            summary="Move money from the wallet to a card",
            example={"action": "fund", "reference": "<reference>", "amount": "50"},
        ),
        Write(
            name="withdraw",
            request=wire.AmountRequest,
            reply=wire.DoneReply,
            rules=(REFUSE_DRY_RUN,),
            needs=funding.need_amount,
            decide=funding.decide_withdraw,
            permission=PAY,
            summary="Move money from a card to the wallet",
            example={"action": "withdraw", "reference": "<reference>", "amount": 20},
        ),
        Write(
            name="limits",
            request=wire.LimitsRequest,
            reply=wire.LimitsReply,
            rules=(*CHECK_LIMITS, REFUSE_DRY_RUN),
            needs=manage_card.need_limits,
            decide=manage_card.decide_limits,
            permission=MANAGE,
            summary="Set or remove a card's limits: amounts, shops, countries, channels, days, and how often it pays",
            example={
                "action": "limits",
                "reference": "<reference>",
                "limits": {"per_transaction": "40.00", "per_day": "100.00", "categories": ["5411", "5812"]},
            },
        ),
        Read(
            name="transactions",
            request=wire.TransactionsRequest,
            reply=wire.TransactionsReply,
            read=store.list_transactions,
            summary="The transactions of a card, newest first",
            example={
                "action": "transactions",
                "reference": "<reference>",
                "from_date": "2026-01-01",
                "to_date": "2026-01-31",
            },
        ),
        Write(
            name="block",
            request=wire.CardRequest,
            reply=wire.DoneReply,
            rules=(REFUSE_DRY_RUN,),
            needs=model.need_card,
            decide=manage_card.decide_block,
            permission=MANAGE,
            summary="Stop purchases with a card",
            example={"action": "block", "reference": "<reference>"},
        ),
        Write(
            name="unblock",
            request=wire.CardRequest,
            reply=wire.DoneReply,
            rules=(REFUSE_DRY_RUN,),
            needs=model.need_card,
            decide=manage_card.decide_unblock,
            permission=MANAGE,
            summary="Unblock a card, so that it can pay again",
            example={"action": "unblock", "reference": "<reference>"},
        ),
        Write(
            name="terminate",
            request=wire.CardRequest,
            reply=wire.DoneReply,
            rules=(REFUSE_DRY_RUN,),
            needs=model.need_card,
            decide=funding.decide_terminate,
            permission=PAY,
            summary="Terminate a card for good; its balance returns to the wallet",
            example={"action": "terminate", "reference": "<reference>"},
        ),
    ),
    steps=(
        Step(
            funding.MONTHLY_FEE_JOB,
            funding.LANE,
            call_no_rail,
            monthly_fee.need_monthly_fee,
            monthly_fee.decide_monthly_fee,
            accepts_callback=False,
        ),
    ),
)

SANDBOX = (
    Write(
        name="card_purchase",
        request=wire.PurchaseRequest,
        rules=(require_one("cardpan", "reference", reason="required, or cardpan"),),
        reply=wire.PurchaseReply,
        needs=purchase.need_purchase,
        decide=purchase.decide_purchase,
        permission=INTEGRATE,
        summary="A shop charges a virtual card",
        example={
            "action": "card_purchase",
            "reference": "<reference>",
            "amount": "7.50",
            "merchant_name": "Book Shop",
            "category": "5411",
        },
    ),
    Write(
        name="card_refund",
        request=wire.RefundRequest,
        reply=wire.PurchaseReply,
        needs=refund.need_refund,
        decide=refund.decide_refund,
        permission=INTEGRATE,
        summary="A shop refunds a purchase, whole or in part",
        example={"action": "card_refund", "txnRef": "<txnRef>", "amount": "2.50"},
    ),
)
