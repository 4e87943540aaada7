"""Rows of `PUT /loans` for what secures a loan: guarantees by savings of other clients, and collateral."""

from kasuwa.core.action import MANAGE, PAY, Read, Write
from kasuwa.methods.guarantees import store, wire
from kasuwa.methods.guarantees.rules import call, claims, collateral, pledge

LOANS = (
    Write(
        name="guarantee",
        request=wire.PledgeRequest,
        reply=wire.GuaranteeReply,
        needs=pledge.need_pledge,
        decide=pledge.decide_pledge,
        permission=MANAGE,
        summary="Pledge a part of a client's savings for the loan of another client",
        example={
            "action": "guarantee",
            "loan_id": "<loan_id>",
            "client_id": "<client_id>",
            "savings_id": "<savings_id>",
            "amount": "20000.00",
        },
    ),
    Read(
        name="guarantees",
        request=wire.ListGuaranteesRequest,
        reply=wire.GuaranteeListReply,
        read=store.list_guarantees,
        summary="Guarantees, newest first: of a loan, or by a client for others, or for a client by others",
        example={"action": "guarantees", "loan_id": "<loan_id>"},
    ),
    Write(
        name="call_guarantee",
        request=wire.CallGuaranteeRequest,
        reply=wire.CallGuaranteeReply,
        needs=call.need_call,
        decide=call.decide_call,
        permission=PAY,
        summary="Pay what is due of a loan in arrears out of the savings that guarantee it",
        example={"action": "call_guarantee", "loan_id": "<loan_id>", "amount": "5000.00"},
    ),
    Write(
        name="pay_guarantor",
        request=wire.PayGuarantorRequest,
        reply=wire.PayGuarantorReply,
        needs=claims.need_claim,
        decide=claims.decide_claim,
        permission=PAY,
        summary="Give a guarantor back what was called, or record that the guarantor waives it",
        example={
            "action": "pay_guarantor",
            "guarantee_id": "<guarantee_id>",
            "amount": "1000.00",
            "payment_method": "wallet",
        },
    ),
    Write(
        name="release_guarantee",
        request=wire.ReleaseGuaranteeRequest,
        reply=wire.GuaranteeReply,
        needs=pledge.need_release,
        decide=pledge.decide_release,
        permission=MANAGE,
        summary="Release what a guarantee holds on the guarantor's savings, for good",
        example={"action": "release_guarantee", "guarantee_id": "<guarantee_id>"},
    ),
    Write(
        name="collateral",
        request=wire.CollateralRequest,
        reply=wire.CollateralReply,
        needs=collateral.need_collateral,
        decide=collateral.decide_collateral,
        permission=MANAGE,
        summary="Record a thing that secures a loan, with its value and the hashes of its documents",
        example={
            "action": "collateral",
            "loan_id": "<loan_id>",
            "description": "Tricycle, chassis MD2A45AZ9DWC00001",
            "value": "850000.00",
            "documents": ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
        },
    ),
    Write(
        name="return_collateral",
        request=wire.ReturnCollateralRequest,
        reply=wire.CollateralReply,
        needs=collateral.need_return,
        decide=collateral.decide_return,
        permission=MANAGE,
        summary="Record that collateral was given back",
        example={"action": "return_collateral", "collateral_id": "<collateral_id>"},
    ),
)
