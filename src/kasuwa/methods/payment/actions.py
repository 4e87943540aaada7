"""The actions of `PUT /payment`, which collects money from payers. Read this first.

Three more tables belong to this slice and are added elsewhere by boot/app.py: actions of `resources` about payments
(RESOURCES), actions of the test environment (SANDBOX), and purposes of payments and transfers (PURPOSES).
"""

from functools import partial

import msgspec

from kasuwa.core.action import COLLECT, INTEGRATE, MANAGE, PAY, ApiMethod, FieldRule, MemoryRead, Read, Step, Write
from kasuwa.core.banks import check_account_number, check_bank_code
from kasuwa.methods.payment import lookups, model, payer_model, plan_model, steps, store, wire, wire_reply
from kasuwa.methods.payment.rules import (
    channels,
    charge_card,
    check_request,
    forget_card,
    on_rail_answer,
    preflight,
    refund,
    split_settlement,
)
from kasuwa.methods.payment.rules.plans import installments, recurrent, scheduled_charges
from kasuwa.methods.payment.rules.receipts import inbound_transfer, late_money, suspense
from kasuwa.rails.ports.orders import call_no_rail

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

# Lanes of payment jobs besides "card": a job runs in the lane of its rail.
OTHER_LANES = ("debit", "mobile")

PAYMENT = ApiMethod(
    name="payment",
    scope="collect",
    selectors=("action",),
    actions=(
        Write(
            name="initiate",
            variant=("paymentType", "card"),
            request=wire.InitiateCard,
            rules=preflight.CARD_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.INITIATE_CARD_FIELDS,
            needs=charge_card.need_initiate,
            decide=charge_card.decide_initiate,
            permission=COLLECT,
            summary="Begin a card payment: which authentication does the card want?",
            example={"action": "initiate", "paymentType": "card", **BODY, "card": CARD},
        ),
        Write(
            name="charge",
            variant=("paymentType", "card"),
            request=wire.ChargeCard,
            rules=preflight.CARD_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.CHARGE_CARD_FIELDS,
            needs=charge_card.need_charge,
            decide=charge_card.decide_charge,
            permission=COLLECT,
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
            rules=preflight.ACCOUNT_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.STEP_OUTCOME_FIELDS,
            needs=check_request.need_split,
            decide=partial(channels.begin_from_request, channels.build_account_order),
            permission=COLLECT,
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
            reply_fields=wire_reply.CODE_FIELDS,
            needs=charge_card.need_validate,
            decide=charge_card.decide_validate,
            permission=COLLECT,
            summary="Bring the OTP that the payer's bank sent",
            example={"action": "validate", "txnRef": "<txnRef>", "otp": "123456", "validate": "account"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "ussd"),
            request=wire.ChargeUssd,
            rules=preflight.USSD_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.USSD_FIELDS,
            needs=check_request.need_split,
            decide=partial(channels.begin_from_request, channels.build_ussd_order),
            permission=COLLECT,
            summary="A code that the payer dials",
            example={"action": "charge", "paymentType": "ussd", "user": USER, "amount": "1000.00", "bank": "gtb"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "phone"),
            request=wire.ChargePhone,
            rules=preflight.HOME_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.PHONE_FIELDS,
            needs=check_request.need_split,
            decide=partial(channels.begin_from_request, channels.build_phone_order),
            permission=COLLECT,
            summary="Prompt the payer on the telephone",
            example={"action": "charge", "paymentType": "phone", "amount": "1000.00", "phonenumber": "08000000009"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "qrpay"),
            request=wire.ChargeShown,
            rules=preflight.HOME_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.QR_FIELDS,
            needs=check_request.need_split,
            decide=partial(channels.begin_from_request, channels.build_qr_order),
            permission=COLLECT,
            summary="A QR code that the payer scans",
            example={"action": "charge", "paymentType": "qrpay", "amount": "1000.00", "business_name": "Ada Stores"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "bank_transfer"),
            request=wire.ChargeShown,
            rules=preflight.HOME_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.BANK_TRANSFER_FIELDS,
            needs=check_request.need_split,
            decide=partial(channels.begin_from_request, channels.build_bank_transfer_order),
            permission=COLLECT,
            summary="An account number that the payer pays into",
            example={"action": "charge", "paymentType": "bank_transfer", "amount": "1000.00"},
        ),
        Write(
            name="charge",
            variant=("paymentType", "mobile_money"),
            request=wire.ChargeMobileMoney,
            rules=preflight.MOBILE_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.STEP_OUTCOME_FIELDS,
            needs=check_request.need_split,
            decide=partial(channels.begin_from_request, channels.build_mobile_money_order),
            permission=COLLECT,
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
            rules=preflight.TOKEN_RULES,
            reply=wire_reply.PaymentReply,
            reply_fields=wire_reply.TOKEN_FIELDS,
            needs=charge_card.need_token_charge,
            decide=charge_card.decide_token_charge,
            permission=COLLECT,
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
            scope="payout",
            request=wire.RefundRequest,
            reply=wire_reply.RefundReply,
            needs=refund.need_refund,
            decide=refund.decide_refund,
            permission=PAY,
            summary="Pay back all or a part of a payment",
            example={"action": "refund", "txnRef": "<txnRef>", "amount": "500.00", "comment": "one shirt came back"},
        ),
    ),
    steps=(
        *(
            Step(
                kind,
                "card",
                steps.call_rail,
                on_rail_answer.need_answer,
                on_rail_answer.decide_answer,
                extra_lanes=OTHER_LANES,
                restore_secrets=steps.unseal_saved_card,
                open_job=payer_model.open_payment_job,
            )
            for kind in (model.OPEN, model.CHARGE, model.VALIDATE, model.QUERY)
        ),
        Step(
            model.EXPIRE,
            "card",
            call_no_rail,
            on_rail_answer.need_answer,
            on_rail_answer.decide_answer,
            extra_lanes=OTHER_LANES,
        ),
        *(
            Step(
                kind,
                "card",
                steps.call_refund,
                refund.need_refund_answer,
                refund.decide_refund_answer,
                extra_lanes=OTHER_LANES,
            )
            for kind in (refund.SEND_REFUND, refund.QUERY_REFUND)
        ),
        Step(
            model.WATCH,
            "card",
            steps.call_rail,
            late_money.need_watch,
            late_money.decide_watch,
            extra_lanes=OTHER_LANES,
            accepts_callback=False,
            open_job=payer_model.open_payment_job,
        ),
        *(
            Step(
                kind,
                suspense.LANE,
                steps.call_return,
                suspense.need_return_answer,
                suspense.decide_return_answer,
                accepts_callback=False,
            )
            for kind in (suspense.SEND_RETURN, suspense.QUERY_RETURN)
        ),
        Step(
            forget_card.DEACTIVATE,
            forget_card.LANE,
            steps.deactivate_card,
            forget_card.need_deactivation,
            forget_card.decide_deactivation,
            restore_secrets=steps.unseal_forgotten_card,
            accepts_callback=False,
        ),
        *(
            Step(
                kind,
                scheduled_charges.LANE,
                call_no_rail,
                scheduled_charges.need_due_charge,
                scheduled_charges.decide_due_charge,
                accepts_callback=False,
            )
            for kind in plan_model.CHARGE_JOB_KINDS.values()
        ),
        *(
            Step(
                kind,
                split_settlement.LANE,
                call_no_rail,
                split_settlement.need_due_batch,
                split_settlement.decide_due_batch,
                accepts_callback=False,
            )
            for kind in split_settlement.JOB_KINDS.values()
        ),
    ),
)

# The payer's answer on a hosted page (pages/). Not reachable through the API.
ANSWER_CHALLENGE = Write(
    name="answer_challenge",
    request=charge_card.ChallengeAnswer,
    reply=wire_reply.PaymentReply,
    needs=charge_card.need_challenge,
    decide=charge_card.answer_challenge,
    permission=COLLECT,
    summary="The payer approves or declines on a page",
    example={},
    accepts_idempotency_key=False,
)

RESOURCES = (
    MemoryRead(
        name="supported_chargable_banks",
        scope="any",
        request=wire.ChargeableBanksRequest,
        reply=wire_reply.ChargeableBanksReply,
        answer=lookups.list_chargeable,
        summary="The banks whose accounts can be debited",
        example={"inquire": "supported_chargable_banks"},
    ),
    MemoryRead(
        name="charges",
        scope="any",
        request=wire.ChargesRequest,
        reply=wire_reply.ChargesReply,
        answer=lookups.show_charges,
        rules=lookups.CHARGES_RULES,
        summary="What a payment would cost",
        example={"inquire": "charges", "card_no": "512345", "amount": "1500.00"},
    ),
    Read(
        name="recurrents",
        scope="collect",
        request=wire.PlansRequest,
        reply=list[wire_reply.RecurrentReply],
        read=store.list_recurrents,
        summary="Recurrent payments, newest first",
        example={"inquire": "recurrents"},
    ),
    Write(
        name="recurrent",
        scope="collect",
        request=wire.RecurrentRequest,
        reply=wire_reply.RecurrentChanged,
        needs=recurrent.need_recurrent,
        decide=recurrent.decide_recurrent,
        permission=MANAGE,
        read_only_without="status",
        summary="One recurrent payment; stop it or start it again",
        example={"inquire": "recurrent", "id": "<id>", "status": "stop"},
    ),
    Read(
        name="installments",
        scope="collect",
        request=wire.InstallmentsRequest,
        reply=list[wire_reply.InstallmentReply],
        read=store.list_installments,
        summary="Installment plans, newest first, finished ones too; or one, by its id",
        example={"inquire": "installments"},
    ),
    *(
        Write(
            name="installments",
            scope="collect",
            variant=("status", status),
            request=wire.InstallmentRequest,
            reply=wire_reply.InstallmentChanged,
            needs=installments.need_installment,
            decide=partial(installments.decide_installment, status),
            permission=MANAGE,
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

# Run by operators with `kasuwa split`, and in the test environment by merchants.
ADD_BENEFICIARY = Write(
    name="beneficiary",
    request=wire.BeneficiaryRequest,
    reply=wire_reply.BeneficiaryReply,
    rules=(
        FieldRule(("bank_code",), check_bank_code),
        FieldRule(("bank_code", "account_number"), check_account_number),
    ),
    needs=split_settlement.need_beneficiary,
    decide=split_settlement.decide_beneficiary,
    permission=PAY,
    summary="Somebody who gets a part of split payments",
    example={"action": "beneficiary", "name": "Bola Ade", "bankcode": "058", "accountnumber": "0000000000"},
)

SANDBOX = (
    msgspec.structs.replace(ADD_BENEFICIARY, permission=INTEGRATE),
    Write(
        name="pay_account",
        request=wire.PayAccountRequest,
        reply=wire_reply.InboundReply,
        needs=inbound_transfer.need_inbound,
        decide=inbound_transfer.decide_inbound,
        permission=INTEGRATE,
        summary="A customer's bank transfer into an account that was shown",
        example={"action": "pay_account", "accountNumber": "0123456789", "amount": "1000.00"},
    ),
)

PURPOSES = (*scheduled_charges.PURPOSES, split_settlement.SPLIT_PAYOUT)
