"""Rows of `PUT /resources` about customers."""

from kasuwa.core.action import COLLECT, FieldRule, Read, Write, require_one
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.customers import rules, store, wire

RESOURCES = (
    Write(
        name="customer",
        scope="collect",
        selector="request",
        request=wire.CustomerRequest,
        reply=wire.CustomerReply,
        rules=(
            REFUSE_DRY_RUN,
            require_one("phone", "email", reason="required, or a telephone number"),
            FieldRule(("email", "phone"), rules.check_identity),
        ),
        needs=rules.need_customer,
        decide=rules.decide_customer,
        permission=COLLECT,
        summary="Register a customer, or bring one up to date",
        example={
            "request": "customer",
            "name": "Ada Obi",
            "email": "ada.obi@example.com",
            "phone": "08031234567",
            "address": "12 Marina Road, Lagos",
        },
    ),
    Read(
        name="customer",
        scope="collect",
        title="customers",
        request=wire.CustomersRequest,
        reply=wire.CustomersReply,
        read=store.list_customers,
        summary="Customers, newest first",
        example={"inquire": "customer", "search": "ada"},
    ),
    Read(
        name="customer_detail",
        scope="collect",
        request=wire.CustomerDetailRequest,
        reply=wire.CustomerDetailReply,
        read=store.show_customer_detail,
        summary="One customer with totals, saved cards and newest payments",
        example={"inquire": "customer_detail", "customer_id": "<customer_id>"},
    ),
)
