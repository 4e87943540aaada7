"""The actions of checkouts on `PUT /payment` and of payment links on `PUT /resources`, and those of payers' pages."""

from kasuwa.core.action import COLLECT, Step, Write
from kasuwa.core.checkouts import EXPIRE, LANE
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.checkout import payer_model, wire
from kasuwa.methods.checkout.rules import attempt, on_attempt_end, open_checkout
from kasuwa.rails.ports import call_no_rail

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
PAYER_ACTIONS = (BEGIN_ATTEMPT, CHARGE_ATTEMPT, CONFIRM_ATTEMPT, ABANDON_ATTEMPT)
