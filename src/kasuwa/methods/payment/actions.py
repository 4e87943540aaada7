"""`PUT /payment`: collecting money from payers, by every type. Read this first.

Three more tables are this slice's: what `resources` answers about payments, what the test environment can play, and
the purposes that payments and transfers are made for here. app.py puts them where they belong.
"""

from functools import partial

import msgspec

from kasuwa.core.action import COLLECT, INTEGRATE, MANAGE, PAY, Known, Method, Read, Rule, Step, Write
from kasuwa.core.banks import account_fits_bank, bank_is_known
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.payment import (
    decide,
    decide_answer,
    decide_ask,
    decide_card,
    decide_foretell,
    decide_inbound,
    decide_installments,
    decide_plan,
    decide_refund,
    decide_split,
    decide_types,
    lookups,
    steps,
    store,
    wire,
    wire_reply,
)
from kasuwa.rails.ports import call_nobody

USER = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
CARD = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "100", "pin": "1234"}
BODY = {
    "user": USER,
    "amount": "1500.00",
    "country": "NG",
    "currency": "NGN",
    "customer_txnref": "basket-77",
    "is_recurring": True,
    "recurrent": {"frequency": "monthly", "value": "30"},
}

# A payment's jobs run beside those of its own rail.
OTHER_LANES = ("debit", "mobile")

PAYMENT = Method(
    name="payment",
    selectors=("action",),
    actions=(
        Write(
            name="initiate",
            variant=("paymentType", "card"),
            request=wire.InitiateCard,
            rules=decide_foretell.CARD_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_card.need_initiate,
            decide=decide_card.decide_initiate,
            needs_role=COLLECT,
            summary="Begin a card payment: which authentication does the card want?",
            example={"action": "initiate", "paymentType": "card", **BODY, "card": CARD},
        ),
        Write(
            name="charge",
            variant=("paymentType", "card"),
            request=wire.ChargeCard,
            rules=decide_foretell.CARD_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_card.need_charge,
            decide=decide_card.decide_charge,
            needs_role=COLLECT,
            summary="Charge the card with the authentication it wants",
            example={
                "action": "charge",
                "paymentType": "card",
                **BODY,
                "card": CARD,
                "txnRef": "<txnRef>",
                "auth_type": "PIN",
            },
        ),
        Write(
            name="charge",
            variant=("paymentType", "account"),
            request=wire.ChargeAccount,
            rules=decide_foretell.ACCOUNT_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_ask.need_split,
            decide=partial(decide_types.begin_with, decide_types.ask_account),
            needs_role=COLLECT,
            summary="Debit a bank account, after an OTP",
            example={
                "action": "charge",
                "paymentType": "account",
                "user": USER,
                "amount": "2000.00",
                "account": {"accountnumber": "0000000000", "bankcode": "058"},
            },
        ),
        Write(
            name="validate",
            request=wire.ValidateRequest,
            reply=wire_reply.PaymentReply,
            needs=decide_card.need_validate,
            decide=decide_card.decide_validate,
            needs_role=COLLECT,
            summary="Bring the OTP that the payer's bank sent",
            example={"action": "validate", "txnRef": "<txnRef>", "otp": "123456", "validate": "account"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "ussd"),
            request=wire.ChargeUssd,
            rules=decide_foretell.USSD_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_ask.need_split,
            decide=partial(decide_types.begin_with, decide_types.ask_ussd),
            needs_role=COLLECT,
            summary="A code that the payer dials",
            example={"action": "charge", "paymentType": "ussd", "user": USER, "amount": "1000.00", "bank": "gtb"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "phone"),
            request=wire.ChargePhone,
            rules=decide_foretell.HOME_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_ask.need_split,
            decide=partial(decide_types.begin_with, decide_types.ask_phone),
            needs_role=COLLECT,
            summary="Prompt the payer on the telephone",
            example={"action": "charge", "paymentType": "phone", "amount": "1000.00", "phonenumber": "08000000009"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "qrpay"),
            request=wire.ChargeShown,
            rules=decide_foretell.HOME_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_ask.need_split,
            decide=partial(decide_types.begin_with, decide_types.ask_qrpay),
            needs_role=COLLECT,
            summary="A QR code that the payer scans",
            example={"action": "charge", "paymentType": "qrpay", "amount": "1000.00", "business_name": "Ada Stores"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "bank_transfer"),
            request=wire.ChargeShown,
            rules=decide_foretell.HOME_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_ask.need_split,
            decide=partial(decide_types.begin_with, decide_types.ask_bank_transfer),
            needs_role=COLLECT,
            summary="An account number that the payer pays into",
            example={"action": "charge", "paymentType": "bank_transfer", "amount": "1000.00"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "mobile_money"),
            request=wire.ChargeMobileMoney,
            rules=decide_foretell.MOBILE_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_ask.need_split,
            decide=partial(decide_types.begin_with, decide_types.ask_mobile_money),
            needs_role=COLLECT,
            summary="Mobile money: paga, ghana, mpesa",
            example={
                "action": "charge",
                "paymentType": "mobile_money",
                "type": "mpesa",
                "amount": "1000.00",
                "country": "KE",
                "currency": "KES",
                "phonenumber": "0700000009",
            },
        ),
        Write(
            name="charge",
            variant=("paymentType", "token"),
            request=wire.ChargeToken,
            rules=decide_foretell.TOKEN_RULES,
            reply=wire_reply.PaymentReply,
            needs=decide_card.need_token,
            decide=decide_card.decide_token,
            needs_role=COLLECT,
            summary="Charge a saved card again",
            example={"action": "charge", "paymentType": "token", "token": "<cardToken>", "amount": "1500.00"},
        ),
        Read(
            name="verify",
            request=wire.VerifyRequest,
            reply=wire_reply.VerifyReply,
            read=store.verify_payment,
            summary="What became of a payment, by txnRef or customer_txnref; or of a refund, by refundRef",
            example={"action": "verify", "txnRef": "<txnRef>"},
        ),
        Write(
            name="refund",
            request=wire.RefundRequest,
            reply=wire_reply.RefundReply,
            needs=decide_refund.need_refund,
            decide=decide_refund.decide_refund,
            needs_role=PAY,
            summary="Pay back all or a part of a payment",
            example={"action": "refund", "txnRef": "<txnRef>", "amount": 500, "comment": "one shirt came back"},
        ),
    ),
    steps=(
        *(
            Step(
                kind,
                *("card", steps.call_rail, decide_answer.need_answer, decide_answer.decide_answer),
                also=OTHER_LANES,
                recall=steps.recall_card,
            )
            for kind in (decide.OPEN, decide.CHARGE, decide.VALIDATE, decide.ASK)
        ),
        Step(
            decide.EXPIRE,
            *("card", call_nobody, decide_answer.need_answer, decide_answer.decide_answer),
            also=OTHER_LANES,
        ),
        *(
            Step(
                kind,
                *("card", steps.call_refund, decide_refund.need_refund_answer, decide_refund.decide_refund_answer),
                also=OTHER_LANES,
            )
            for kind in (decide_refund.SEND_REFUND, decide_refund.ASK_REFUND)
        ),
        *(
            Step(kind, decide_plan.LANE, call_nobody, decide_plan.need_due, decide_plan.decide_due, settles=False)
            for kind in decide_plan.CHARGES.values()
        ),
        *(
            Step(
                kind,
                *(decide_split.LANE, call_nobody, decide_split.need_gathered, decide_split.decide_gathered),
                settles=False,
            )
            for kind in (decide_split.SETTLE, decide_split.PAY_OUT)
        ),
    ),
)

# What payers do on their pages (pages/): no path of the API leads here.
ANSWER_CHALLENGE = Write(
    name="answer_challenge",
    request=decide_card.AnswerChallenge,
    reply=wire_reply.PaymentReply,
    needs=decide_card.need_challenge,
    decide=decide_card.answer_challenge,
    needs_role=COLLECT,
    summary="The payer approves or declines on a page",
    example={},
    repeatable=False,
)

RESOURCES = (
    Known(
        name="supported_chargable_banks",
        request=wire.ChargeableBanksRequest,
        reply=wire_reply.ChargeableBanksReply,
        answer=lookups.list_chargeable,
        summary="The banks whose accounts can be debited",
        example={"inquire": "supported_chargable_banks"},
    ),
    Known(
        name="charges",
        request=wire.ChargesRequest,
        reply=wire_reply.ChargesReply,
        answer=lookups.show_charges,
        rules=lookups.CHARGES_RULES,
        summary="What a payment would cost",
        example={"inquire": "charges", "card_no": "512345", "amount": "1500.00"},
    ),
    Read(
        name="recurrents",
        request=wire.PlansRequest,
        reply=list[wire_reply.RecurrentReply],
        read=store.list_recurrents,
        summary="Recurrent payments, newest first",
        example={"inquire": "recurrents"},
    ),
    Write(
        name="recurrent",
        request=wire.RecurrentRequest,
        reply=wire_reply.RecurrentChanged,
        needs=decide_plan.need_recurrent,
        decide=decide_plan.decide_recurrent,
        needs_role=MANAGE,
        reads_without="status",
        summary="One recurrent payment; stop it or start it again",
        example={"inquire": "recurrent", "id": "<id>", "status": "stop"},
    ),
    Read(
        name="installments",
        request=wire.InstallmentsRequest,
        reply=list[wire_reply.InstallmentReply],
        read=store.list_installments,
        summary="Installment plans, newest first, finished ones too; or one, by its id",
        example={"inquire": "installments"},
    ),
    *(
        Write(
            name="installments",
            variant=("status", status),
            request=wire.InstallmentRequest,
            reply=wire_reply.InstallmentChanged,
            needs=decide_installments.need_installment,
            rules=(REFUSE_DRY_RUN,),
            decide=partial(decide_installments.decide_installment, status),
            needs_role=MANAGE,
            summary=summary,
            example={"inquire": "installments", "id": "<id>", "status": status},
        )
        for status, summary in (
            ("resume", "Resume a paused installment plan: what fell due meanwhile is charged at once"),
            ("pause", "Pause an installment plan"),
            ("cancel", "Cancel an installment plan: nothing more is charged"),
        )
    ),
)

# An operator adds them by `kasuwa split`, the test environment by itself too.
ADD_BENEFICIARY = Write(
    name="beneficiary",
    request=wire.BeneficiaryRequest,
    reply=wire_reply.BeneficiaryReply,
    rules=(Rule(("bank_code",), bank_is_known), Rule(("bank_code", "account_number"), account_fits_bank)),
    needs=decide_split.need_beneficiary,
    decide=decide_split.decide_beneficiary,
    needs_role=PAY,
    summary="Somebody who gets a part of split payments",
    example={"action": "beneficiary", "name": "Bola Ade", "bankcode": "058", "accountnumber": "0000000000"},
)

SANDBOX = (
    msgspec.structs.replace(ADD_BENEFICIARY, needs_role=INTEGRATE),
    Write(
        name="pay_account",
        request=wire.PayAccountRequest,
        reply=wire_reply.InboundReply,
        needs=decide_inbound.need_inbound,
        decide=decide_inbound.decide_inbound,
        needs_role=INTEGRATE,
        summary="A customer's bank transfer into an account that was shown",
        example={"action": "pay_account", "accountNumber": "0123456789", "amount": "1000.00"},
    ),
)

PURPOSES = (*decide_plan.PURPOSES, decide_split.SPLIT_PAYOUT)
