"""The action table of `PUT /loans`: loans to a merchant's clients, and their repayments. Start reading here."""

from kasuwa.core.action import COLLECT, MANAGE, PAY, ApiMethod, FieldRule, Read, Step, Write
from kasuwa.methods.loans import store, wire
from kasuwa.methods.loans.rules import arrears, origination, repay, reverse
from kasuwa.methods.payment.rules.charge_card import need_validate
from kasuwa.methods.payment.rules.collect import PAYER_RULES
from kasuwa.rails.ports.orders import call_no_rail

EXAMPLE_TERMS = {
    "client_id": "<client_id>",
    "interestSettings": {"interestRate": "24", "interestFrequency": "annualized"},
    "amount": 120000,
    "tax_applied": True,
    "tax_rate": 7.5,
    "period": 12,
}

LOANS = ApiMethod(
    name="loans",
    scope="lend",
    selectors=("action",),
    actions=(
        Write(
            name="request",
            request=wire.LoanRequest,
            reply=wire.LoanReply,
            rules=(
                FieldRule(("amount",), origination.check_amount),
                FieldRule(("period",), origination.check_period),
                FieldRule(("tax_applied", "tax_rate"), origination.check_tax_rate),
            ),
            needs=origination.need_request,
            decide=origination.decide_request,
            permission=MANAGE,
            summary="Request a loan for an active client; the reply has the schedule it would have from today",
            example={"action": "request", **EXAMPLE_TERMS},
        ),
        Write(
            name="process",
            request=wire.ProcessRequest,
            reply=wire.LoanReply,
            needs=origination.need_process,
            decide=origination.decide_process,
            permission=PAY,
            summary="Approve a loan and pay it out to the client's bank account, or reject or cancel it",
            example={"action": "process", "loan_id": "<loan_id>", "status": "approve"},
        ),
        Write(
            name="repay",
            request=wire.RepayRequest,
            rules=(FieldRule(("currency",), repay.check_currency), *PAYER_RULES),
            reply=wire.RepayReply,
            needs=repay.need_repay,
            decide=repay.decide_repay,
            permission=COLLECT,
            summary="Repay a loan: what is due, an amount, or all of it",
            example={
                "action": "repay",
                "loan_id": "<loan_id>",
                "payment_method": "card",
                "amount": "11527.15",
                "card": {
                    "card_no": "5123450000000008",
                    "expiry_month": "12",
                    "expiry_year": "30",
                    "ccv": "000",
                    "pin": "1234",
                },
            },
        ),
        Write(
            name="validate",
            request=wire.ValidateRepayment,
            reply=wire.ValidateReply,
            needs=need_validate,
            decide=repay.decide_validation,
            permission=COLLECT,
            summary="Submit the OTP that the payer's bank sent for a repayment",
            example={"action": "validate", "txnRef": "<txnRef>", "otp": "123456"},
        ),
        Write(
            name="reverse",
            request=wire.ReverseRequest,
            reply=wire.ReverseReply,
            needs=reverse.need_reverse,
            decide=reverse.decide_reverse,
            permission=PAY,
            summary="Reverse a repayment that was not honored: the loan is what it would be without it",
            example={"action": "reverse", "txnRef": "<txnRef>", "reason": "The transfer was recalled"},
        ),
        Read(
            name="view",
            request=wire.ViewRequest,
            reply=wire.LoanReply,
            read=store.view_loan,
            summary="One loan with its schedule and what is outstanding today",
            example={"action": "view", "loan_id": "<loan_id>"},
        ),
        Read(
            name="list",
            request=wire.ListRequest,
            reply=wire.ListReply,
            read=store.list_loans,
            summary="Loans newest first: all, or a client's, or those in a state; without their schedules",
            example={"action": "list", "offset": 0, "limit": 10},
        ),
        Read(
            name="statement",
            request=wire.StatementRequest,
            reply=wire.StatementReply,
            read=store.show_statement,
            summary="The ledger postings of a loan, newest first",
            example={"action": "statement", "loan_id": "<loan_id>"},
        ),
    ),
    steps=(
        Step(
            origination.CHECK_ARREARS,
            origination.LANE,
            call_no_rail,
            arrears.need_arrears_check,
            arrears.decide_arrears_check,
            accepts_callback=False,
        ),
    ),
)
