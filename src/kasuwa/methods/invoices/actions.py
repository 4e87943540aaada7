"""Rows of `PUT /resources` about invoices, and the steps of their due dates and reminders."""

from kasuwa.core.action import COLLECT, FieldRule, Read, Step, Write
from kasuwa.core.dry_run import REFUSE_DRY_RUN
from kasuwa.methods.invoices import model, payer_model, store, wire
from kasuwa.methods.invoices.rules import check_invoice, issue, pay_invoice, receive, send
from kasuwa.rails.ports.orders import call_no_rail

RESOURCES = (
    Write(
        name="invoice",
        scope="collect",
        selector="request",
        request=wire.InvoiceRequest,
        reply=wire.InvoiceReply,
        rules=(
            FieldRule(("items",), check_invoice.check_items),
            FieldRule(("vat",), check_invoice.check_vat),
            FieldRule(("discount_type", "discount"), check_invoice.check_discount),
            REFUSE_DRY_RUN,
        ),
        needs=issue.need_invoice,
        decide=issue.decide_invoice,
        permission=COLLECT,
        summary="Make an invoice for a customer, or change an unpaid one",
        example={
            "request": "invoice",
            "customer_id": "<customer_id>",
            "items": [
                {"description": "Ankara fabric, 6 yards", "quantity": 2, "amount": "12500.00"},
                {"description": "Tailoring", "amount": "8000.00"},
            ],
            "currency": "NGN",
            "discount_type": "percentage",
            "discount": 10,
            "vat": 7.5,
            "shipping": "1500.00",
            "note": "Thank you, Ada.",
            "charge_user": "parts",
        },
    ),
    Read(
        name="invoice",
        scope="collect",
        title="invoices",
        request=wire.InvoicesRequest,
        reply=wire.InvoicesReply,
        read=store.list_invoices,
        summary="Invoices, newest first: all, or those in a state or of a customer",
        example={"inquire": "invoice", "status": "unpaid"},
    ),
    Read(
        name="invoice",
        scope="collect",
        title="invoice_detail",
        only_with="invoice_id",
        request=wire.InvoiceShowRequest,
        reply=wire.InvoiceReply,
        read=store.show_one,
        summary="One invoice with its items and payments",
        example={"inquire": "invoice", "invoice_id": "<invoice_id>"},
    ),
    Write(
        name="invoice_send",
        scope="collect",
        selector="request",
        request=wire.InvoiceSendRequest,
        reply=wire.InvoiceSendReply,
        rules=(REFUSE_DRY_RUN,),
        needs=send.need_sending,
        decide=send.decide_sending,
        permission=COLLECT,
        summary="Mail an invoice to its customer, with reminders if you like",
        example={"request": "invoice_send", "invoice_id": "<invoice_id>"},
    ),
    Write(
        name="invoice_received",
        scope="collect",
        selector="request",
        request=wire.InvoiceReceivedRequest,
        reply=wire.InvoiceReply,
        rules=(REFUSE_DRY_RUN,),
        needs=receive.need_receipt,
        decide=receive.decide_receipt,
        permission=COLLECT,
        summary="Record what you received for an invoice yourself, in cash or at your bank",
        example={
            "request": "invoice_received",
            "invoice_id": "<invoice_id>",
            "amount": "5000.00",
            "method": "cash",
            "reference": "receipt 118",
        },
    ),
    Write(
        name="invoice_not_received",
        scope="collect",
        selector="request",
        request=wire.InvoiceNotReceivedRequest,
        reply=wire.InvoiceReply,
        rules=(REFUSE_DRY_RUN,),
        needs=receive.need_receipt,
        decide=receive.decide_no_receipt,
        permission=COLLECT,
        summary="Take back what was recorded as received by mistake",
        example={"request": "invoice_not_received", "invoice_id": "<invoice_id>", "reference": "receipt 118"},
    ),
    Write(
        name="invoice",
        scope="collect",
        variant=("status", model.VOID),
        only_with="invoice_id",
        request=wire.InvoiceVoidRequest,
        reply=wire.InvoiceReply,
        rules=(REFUSE_DRY_RUN,),
        needs=issue.need_invoice,
        decide=issue.decide_void,
        permission=COLLECT,
        summary="Void an invoice on which nothing was paid",
        example={"inquire": "invoice", "invoice_id": "<invoice_id>", "status": "void"},
    ),
)

STEPS = (
    Step(
        model.BECOME_OVERDUE,
        model.LANE,
        call_no_rail,
        issue.need_due_invoice,
        issue.decide_overdue,
        accepts_callback=False,
    ),
    Step(
        model.REMIND,
        model.LANE,
        call_no_rail,
        send.need_reminder,
        send.decide_reminder,
        accepts_callback=False,
    ),
)

# What payers do on the page of an invoice (pages/). Not reachable through the API.
OPEN_INVOICE_PAYMENT = Write(
    name="open_invoice_payment",
    request=payer_model.OpenInvoicePayment,
    reply=object,
    needs=pay_invoice.need_payment,
    decide=pay_invoice.decide_payment,
    permission=COLLECT,
    summary="A payer wants to pay an invoice or a part of it",
    example={},
    accepts_idempotency_key=False,
)
PAYER_ACTIONS = (OPEN_INVOICE_PAYMENT,)
