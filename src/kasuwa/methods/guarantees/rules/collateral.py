"""Rules of collateral: described and valued things that secure a loan. No money is held for them.

Contract: loans#collateral
"""

import msgspec

from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import Context, Decision, LoadedRows, Merchant, Needs, Refusal
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.methods.guarantees.wire import CollateralReply, CollateralRequest, ReturnCollateralRequest
from kasuwa.methods.loans.guarantee_model import (
    MAX_COLLATERAL,
    UNKNOWN_COLLATERAL,
    LoanCollateral,
    collateral_key,
    make_collateral_id,
    make_collateral_record,
)
from kasuwa.methods.loans.model import (
    OWING_STATES,
    UNDISBURSED_STATES,
    UNKNOWN_LOAN,
    Loan,
    loan_key,
    need_loan,
    refuse_in_state,
)

TOO_MUCH = Refusal(
    INVALID_REQUEST,
    f"The loan has {MAX_COLLATERAL} pieces of collateral already, which is the most",
    error_code="too_much_collateral",
)
RETURNED = Refusal(INVALID_REQUEST, "This collateral was given back already", error_code="collateral_returned")


def need_collateral(request: CollateralRequest, merchant: Merchant) -> Needs:
    return need_loan(merchant, request.loan_id)


def decide_collateral(
    request: CollateralRequest, context: Context, rows: LoadedRows
) -> Decision[CollateralReply] | Refusal:
    merchant_id = context.merchant.merchant_id
    loan = rows.get(Loan, loan_key(merchant_id, request.loan_id))
    if loan is None:
        return UNKNOWN_LOAN
    if loan.state not in OWING_STATES | UNDISBURSED_STATES:
        return refuse_in_state(loan.state, "secured")
    if loan.collaterals >= MAX_COLLATERAL:
        return TOO_MUCH
    counted = msgspec.structs.replace(loan, collaterals=loan.collaterals + 1)
    collateral_id = make_collateral_id(loan.loan_id, counted.collaterals)
    collateral = LoanCollateral(
        key=collateral_key(merchant_id, collateral_id),
        merchant_id=merchant_id,
        collateral_id=collateral_id,
        loan_id=loan.loan_id,
        n=counted.collaterals,
        client_id=loan.client_id,
        description=request.description,
        value=int(request.value),
        documents=",".join(request.documents or ()),
        created_at=context.now,
    )
    reply = CollateralReply(message="Collateral Recorded", data=make_collateral_record(collateral))
    if request.dry_run:
        reply.message, reply.dry_run, reply.data.collateral_id = DRY_RUN_MESSAGE, True, None
        return Decision(reply=reply)
    return Decision(reply=reply, rows=(counted, collateral))


def need_return(request: ReturnCollateralRequest, merchant: Merchant) -> Needs:
    return Needs(((LoanCollateral, collateral_key(merchant.merchant_id, request.collateral_id)),))


def decide_return(
    request: ReturnCollateralRequest, context: Context, rows: LoadedRows
) -> Decision[CollateralReply] | Refusal:
    collateral = rows.get(LoanCollateral, collateral_key(context.merchant.merchant_id, request.collateral_id))
    if collateral is None:
        return UNKNOWN_COLLATERAL
    if collateral.returned_at is not None:
        return RETURNED
    returned = msgspec.structs.replace(collateral, returned_at=context.now)
    reply = CollateralReply(message="Collateral Returned", data=make_collateral_record(returned))
    if request.dry_run:
        reply.message, reply.dry_run = DRY_RUN_MESSAGE, True
        return Decision(reply=reply)
    return Decision(reply=reply, rows=(returned,))
