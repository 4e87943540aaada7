"""The actions of checkouts on `PUT /payment` and of payment links on `PUT /resources`, and those of payers' pages."""

from functools import partial

from kasuwa.core.action import COLLECT, INTEGRATE, AdminCommand, Read, Step, Write
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.checkout import commands, payer_model, store, wire
from kasuwa.methods.checkout.rules import attempt, on_attempt_end, open_checkout, pay_link
from kasuwa.rails.ports.orders import call_no_rail
from kasuwa.transactions.checkouts import EXPIRE, LANE

PAYMENT = (
    Write(
        name="checkout",
        request=wire.CheckoutRequest,
        reply=wire.CheckoutReply,
        rules=(REFUSE_DRY_RUN,),
        needs=open_checkout.need_checkout,
        decide=open_checkout.decide_checkout,
        permission=COLLECT,
        summary="Open a page on which a payer pays, by any channel",
        example={
            "action": "checkout",
            "amount": "1500.00",
            "currency": "NGN",
            "user": {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"},
            "customer_txnref": "basket-78",
            "redirect_url": "https://shop.example/thanks",
            "title": "Two shirts",
        },
    ),
)

RESOURCES = (
    Write(
        name="paylink",
        scope="collect",
        selector="request",
        request=wire.PaylinkRequest,
        reply=wire.PaylinkReply,
        rules=(REFUSE_DRY_RUN,),
        needs=pay_link.need_link,
        decide=pay_link.decide_link,
        permission=COLLECT,
        summary="Make a link that anybody may open to pay",
        example={
            "request": "paylink",
            "title": "Cooking class",
            "description": "Saturday, 10:00, Lekki",
            "amount": "5000.00",
            "currency": "NGN",
            "type": "one_time",
            "payer_bears_fees": True,
        },
    ),
    Read(
        name="paylink",
        scope="collect",
        title="paylinks",
        request=wire.PaylinksRequest,
        reply=wire.PaylinksReply,
        read=store.list_links,
        summary="Payment links, newest first",
        example={"inquire": "paylink"},
    ),
    Read(
        name="paylink",
        scope="collect",
        title="paylink_by_id",
        only_with="link_id",
        request=wire.PaylinkDetailRequest,
        reply=wire.PaylinkDetailReply,
        read=store.show_link_detail,
        summary="One payment link with its payments and totals, as paylink_detail",
        example={"inquire": "paylink", "link_id": "<link_id>"},
    ),
    Read(
        name="paylink_detail",
        scope="collect",
        request=wire.PaylinkDetailRequest,
        reply=wire.PaylinkDetailReply,
        read=store.show_link_detail,
        summary="One payment link with its payments and totals",
        example={"inquire": "paylink_detail", "link_id": "<link_id>"},
    ),
    *(
        Write(
            name="paylink",
            scope="collect",
            variant=("status", status),
            request=wire.SwitchPaylink,
            reply=wire.PaylinkReply,
            needs=pay_link.need_switch,
            decide=partial(pay_link.decide_switch, status),
            permission=COLLECT,
            summary=summary,
            example={"inquire": "paylink", "link_id": "<link_id>", "status": status},
        )
        for status, summary in (
            ("disable", "Disable a payment link: nobody can pay by it any more"),
            ("enable", "Enable a payment link again"),
        )
    ),
)

SANDBOX = (
    AdminCommand(
        name="checkout_origins",
        request=wire.OriginsRequest,
        reply=wire.OriginsReply,
        run=commands.set_origins,
        permission=INTEGRATE,
        summary="Set which sites may show the payers' pages of this merchant in a frame",
        example={"action": "checkout_origins", "origins": ["http://localhost:5173", "https://shop.example"]},
    ),
)

STEPS = (
    Step(
        EXPIRE,
        LANE,
        call_no_rail,
        open_checkout.need_expiry,
        open_checkout.decide_expiry,
        accepts_callback=False,
    ),
)

PURPOSES = (on_attempt_end.CHECKOUT_PURPOSE,)

# What payers do on the pages (pages/). Not reachable through the API.
BEGIN_ATTEMPT = Write(
    name="begin_attempt",
    request=payer_model.BeginAttempt,
    reply=object,
    needs=attempt.need_checkout_row,
    decide=attempt.decide_begin,
    permission=COLLECT,
    summary="A payer begins an attempt to pay",
    example={},
    accepts_idempotency_key=False,
)
CHARGE_ATTEMPT = Write(
    name="charge_attempt",
    request=payer_model.ChargeAttempt,
    reply=object,
    needs=attempt.need_attempt,
    decide=attempt.decide_charge_attempt,
    permission=COLLECT,
    summary="A payer's card is charged",
    example={},
    accepts_idempotency_key=False,
)
CONFIRM_ATTEMPT = Write(
    name="confirm_attempt",
    request=payer_model.ConfirmAttempt,
    reply=object,
    needs=attempt.need_attempt,
    decide=attempt.decide_confirm,
    permission=COLLECT,
    summary="A payer enters a code",
    example={},
    accepts_idempotency_key=False,
)
ABANDON_ATTEMPT = Write(
    name="abandon_attempt",
    request=payer_model.AbandonAttempt,
    reply=object,
    needs=attempt.need_attempt,
    decide=attempt.decide_abandon,
    permission=COLLECT,
    summary="A payer wants to pay another way",
    example={},
    accepts_idempotency_key=False,
)
OPEN_FROM_LINK = Write(
    name="open_from_link",
    request=payer_model.OpenFromLink,
    reply=object,
    needs=pay_link.need_open,
    decide=pay_link.decide_open,
    permission=COLLECT,
    summary="A payer fills in the page of a link",
    example={},
    accepts_idempotency_key=False,
)
PAYER_ACTIONS = (OPEN_FROM_LINK, BEGIN_ATTEMPT, CHARGE_ATTEMPT, CONFIRM_ATTEMPT, ABANDON_ATTEMPT)
