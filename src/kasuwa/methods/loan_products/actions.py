"""Rows of `PUT /loans` for products, and for loans that are requested of one."""

from kasuwa.core.action import MANAGE, FieldRule, Read, Write, require_one
from kasuwa.methods.loan_products import store, wire
from kasuwa.methods.loan_products.rules import borrow, manage, product_terms
from kasuwa.methods.loans.rules.agreed_charges import check_charges
from kasuwa.methods.loans.rules.agreed_grace import check_grace_alone
from kasuwa.methods.loans.wire import LoanReply

PRODUCT_RULES = (
    FieldRule(("ranges",), product_terms.check_ranges),
    FieldRule(("tax_rate",), product_terms.check_tax),
    FieldRule(("penalty",), product_terms.check_penalty),
    FieldRule(("grace",), check_grace_alone),
    FieldRule(("charges",), check_charges),
    FieldRule(("allocation",), product_terms.check_allocation),
)
# The fields of which `update_product` has one.
CHANGEABLE = (
    "allocation",
    "charges",
    "grace",
    "penalty",
    "tax_rate",
    "method",
    "interest_frequency",
    "ranges",
    "name",
)

LOANS = (
    Write(
        name="create_product",
        request=wire.CreateProductRequest,
        reply=wire.ProductReply,
        rules=PRODUCT_RULES,
        needs=manage.need_new_product,
        decide=manage.decide_create,
        permission=MANAGE,
        summary="Create a loan product: the terms of its loans, and the ranges within which a request may choose",
        example={
            "action": "create_product",
            "name": "Market women",
            "code": "MW-12",
            "ranges": {
                "amount": {"min": "10000.00", "max": "500000.00", "default": "120000.00"},
                "period": {"min": 3, "max": 24, "default": 12},
                "interestRate": {"min": 18, "max": 36, "default": 24},
            },
            "interestFrequency": "annualized",
            "tax_rate": 7.5,
            "penalty": {"rate": 0.1, "tolerance_days": 3},
            "grace": {"principal": 1},
            "charges": [{"name": "Processing fee", "percent": 1, "when": "disbursement", "deduct": True, "vat": 7.5}],
        },
    ),
    Write(
        name="update_product",
        request=wire.UpdateProductRequest,
        reply=wire.ProductReply,
        rules=(*PRODUCT_RULES, require_one(*CHANGEABLE, reason="required, or another term that is to change")),
        needs=manage.need_existing,
        decide=manage.decide_update,
        permission=MANAGE,
        summary="Change a loan product for new loans",
        example={"action": "update_product", "product_id": "<product_id>", "tax_rate": 0},
    ),
    Read(
        name="list_products",
        request=wire.ListProductsRequest,
        reply=wire.ProductListReply,
        read=store.list_products,
        summary="Loan products, newest first, with the numbers of their loans",
        example={"action": "list_products", "state": "open"},
    ),
    Read(
        name="view_product",
        request=wire.ViewProductRequest,
        reply=wire.ProductReply,
        read=store.view_product,
        summary="One loan product with the numbers of its loans",
        example={"action": "view_product", "product_id": "<product_id>"},
    ),
    Write(
        name="request",
        title="request_of_product",
        only_with="product_id",
        request=wire.ProductLoanRequest,
        reply=LoanReply,
        needs=borrow.need_product_loan,
        decide=borrow.decide_product_loan,
        permission=MANAGE,
        summary="Request a loan of a product; what is left out comes from the product",
        example={
            "action": "request",
            "client_id": "<client_id>",
            "product_id": "<product_id>",
            "amount": "120000.00",
        },
    ),
    Write(
        name="close_product",
        request=wire.CloseProductRequest,
        reply=wire.ProductReply,
        needs=manage.need_existing,
        decide=manage.decide_close,
        permission=MANAGE,
        summary="Close a loan product: no loan of it can be requested any more",
        example={"action": "close_product", "product_id": "<product_id>"},
    ),
)
