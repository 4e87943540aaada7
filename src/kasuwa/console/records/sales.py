"""Record kinds of what a merchant sells: customers, invoices, their mails, links that sell tickets, and checkouts."""

from collections.abc import Mapping
from typing import Any, get_args

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.records.kind import YES_NO, RecordKind
from kasuwa.core.money import CURRENCIES
from kasuwa.methods.invoices.wire import InvoiceStatus, ReceivedMethod
from kasuwa.methods.mail.wire import MailStatus

# Lines of the forms, and how many of an invoice are shown at first. The API takes more.
INVOICE_ITEMS, SHOWN_ITEMS = 25, 4
TICKET_KINDS = 4


def item_fields(number: int) -> tuple[FormField, ...]:
    """Returns the fields of one item of an invoice."""
    place, is_folded = f"items.{number - 1}", number > SHOWN_ITEMS
    return (
        FormField(f"{place}.description", f"Item {number}", required=number == 1, group=place, is_folded=is_folded),
        FormField(
            f"{place}.quantity", f"Quantity of item {number}", input_mode="numeric", value_type="whole", group=place
        ),
        FormField(
            f"{place}.amount", f"Price of item {number}", input_mode="decimal", required=number == 1, group=place
        ),
    )


def kind_fields(number: int) -> tuple[FormField, ...]:
    """Returns the fields of one kind of ticket."""
    place = f"ticket_data.{number - 1}"
    return (
        FormField(f"{place}.name", f"Kind {number}", required=number == 1, group=place),
        FormField(
            f"{place}.amount", f"Price of kind {number}", input_mode="decimal", required=number == 1, group=place
        ),
        FormField(
            f"{place}.quantity",
            f"How many of kind {number}",
            "Leave empty for no limit.",
            "numeric",
            value_type="whole",
            group=place,
        ),
    )


# Fields of a sold ticket that the page of its sale shows already, or that the page of its payment has.
HIDDEN_TICKET_FIELDS = frozenset({"title", "phone", "checkoutRef"})


def describe_sale(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the kinds of tickets of a sale, with words for those of which any number may be sold, and the tickets."""
    kinds = [{**kind, "quantity": kind["quantity"] or "no limit"} for kind in row["ticket_data"]]
    sold = [
        {name: value for name, value in ticket.items() if name not in HIDDEN_TICKET_FIELDS}
        for ticket in row.get("tickets", ())
    ]
    return {"ticket_data": kinds, **({"tickets": sold} if sold else {})}


INVOICE_FIELDS = (
    *(field for number in range(1, INVOICE_ITEMS + 1) for field in item_fields(number)),
    FormField("currency", "Currency", options=CURRENCIES),
    FormField("date_due", "Due date", input_type="date"),
    FormField("discount_type", "The discount is", options=("flat", "percentage")),
    FormField("discount", "Discount", input_mode="decimal"),
    FormField("vat", "VAT in percent", input_mode="decimal"),
    FormField("shipping", "Shipping", input_mode="decimal"),
    FormField("charge_user", "The customer pays", options=("full", "parts")),
    FormField("note", "Note to the customer"),
)

CUSTOMER = FormField(
    "customer_id", "Customer", "Choose by name, or enter the id.", required=True, refers_to="customers"
)

CUSTOMERS = RecordKind(
    name="customers",
    label="Customers",
    singular="Customer",
    method="resources",
    selector="inquire",
    key_field="customer_id",
    columns=("customer_id", "email", "phone", "spent", "payments", "last_payment"),
    title_fields=("name",),
    hidden_fields=("name",),
    filters=(FormField("search", "Name, email or phone", input_type="search"),),
    list_action="customer",
    view_action="customer_detail",
    empty_text="A customer is a person who pays you. Payments with the same email address belong to the customer. "
    "Who has no address is known by the telephone number.",
    create_forms=(
        ActionForm(
            "create",
            "Add a customer",
            "customer",
            (
                FormField("name", "Name", required=True),
                FormField("email", "Email", input_type="email"),
                FormField("phone", "Phone", "Needed if there is no email.", input_mode="tel"),
                FormField("address", "Address"),
            ),
            selector="request",
        ),
    ),
    update_forms=(
        ActionForm("invoice", "Make an invoice", "invoice", INVOICE_FIELDS, selector="request", preview="invoice"),
    ),
)

INVOICES = RecordKind(
    name="invoices",
    label="Invoices",
    singular="Invoice",
    method="resources",
    selector="inquire",
    key_field="invoice_id",
    state_field="status",
    columns=("invoice_id", "customer_id", "status", "total", "paid", "outstanding", "date_due"),
    title_fields=("number",),
    hidden_fields=("number", "customer"),
    filters=(
        FormField("status", "Status", options=get_args(InvoiceStatus)),
        FormField("customer_id", "Customer", refers_to="customers"),
    ),
    list_action="invoice",
    view_action="invoice",
    empty_text="An invoice has a page on which its customer sees and pays it. Add a customer first.",
    create_forms=(
        ActionForm(
            "create",
            "Make an invoice",
            "invoice",
            (
                FormField(
                    "customer_id",
                    "Customer",
                    required=True,
                    refers_to="customers",
                    hint="Name, email address or id.",
                ),
                *INVOICE_FIELDS,
            ),
            opens="send",
            selector="request",
            preview="invoice",
        ),
    ),
    update_forms=(
        ActionForm(
            "send",
            "Mail to the customer",
            "invoice_send",
            (
                FormField(
                    "reminders",
                    "Remind the customer",
                    "Three days before the due date, the day after it and a week after it.",
                    options=YES_NO,
                    value_type="flag",
                ),
            ),
            allowed_states=("unpaid", "partly_paid", "overdue"),
            selector="request",
        ),
        ActionForm(
            "received",
            "Record money received",
            "invoice_received",
            (
                FormField("amount", "Amount received", input_mode="decimal", required=True),
                FormField("method", "How", options=get_args(ReceivedMethod), required=True),
                FormField("reference", "Your reference", "Such as the number of a receipt or a teller.", required=True),
                FormField("received_on", "Received on", "Empty: today.", input_type="date"),
            ),
            allowed_states=("unpaid", "partly_paid", "overdue"),
            selector="request",
            consequence="the invoice counts it as paid. Nothing is added to your wallet.",
        ),
        ActionForm(
            "not-received",
            "Take a record of money received back",
            "invoice_not_received",
            (FormField("reference", "Reference of the record", required=True),),
            is_possible=lambda row: any(one["undone_at"] is None for one in row.get("received", ())),
            selector="request",
            consequence="the invoice is to be paid again.",
        ),
        ActionForm(
            "void",
            "Void the invoice",
            "invoice",
            allowed_states=("unpaid", "overdue"),
            is_possible=lambda row: row.get("paid") == "0.00",
            fixed_values=(("status", "void"),),
            consequence="it can no longer be paid. This cannot be undone.",
        ),
    ),
)

MAILS = RecordKind(
    name="mails",
    label="Mails",
    singular="Mail",
    method="resources",
    selector="inquire",
    key_field="mail_id",
    state_field="status",
    columns=("mail_id", "purpose", "channel", "to", "status", "attempts", "created_at"),
    title_fields=("subject",),
    hidden_fields=("subject", "html"),
    filters=(
        FormField("status", "Status", options=get_args(MailStatus)),
        FormField("customer_id", "Customer", refers_to="customers"),
    ),
    list_action="mail",
    view_action="mail",
    empty_text="Invoices, reminders and receipts that are sent in your name are listed here, with what became of them.",
    update_forms=(
        ActionForm(
            "send",
            "Send again",
            "mail",
            allowed_states=("failed", "unknown", "bounced"),
            selector="request",
            consequence="the customer may get it a second time if it was delivered after all.",
        ),
    ),
)

TICKETS = RecordKind(
    name="tickets",
    label="Tickets",
    singular="Ticket sale",
    method="resources",
    selector="inquire",
    key_field="link_id",
    state_field="status",
    columns=("link_id", "status", "received", "payments", "last_payment", "link"),
    title_fields=("title",),
    hidden_fields=("title",),
    list_action="ticket",
    view_action="ticket",
    record_field="sale",
    describe=describe_sale,
    empty_text="A ticket sale is a payment link that sells tickets, each with a code that admits once.",
    create_forms=(
        ActionForm(
            "create",
            "Sell tickets",
            "ticket",
            (
                FormField("title", "Title", required=True),
                FormField("description", "Description", "Say when and where it is: receipts and tickets show it."),
                FormField("currency", "Currency", options=CURRENCIES),
                *(field for number in range(1, TICKET_KINDS + 1) for field in kind_fields(number)),
                FormField("payer_bears_fees", "The payer bears the fee", options=YES_NO, value_type="flag"),
                FormField("custom_link", "Last part of the address"),
                FormField("custom_message", "Message after the payment"),
            ),
            selector="request",
        ),
    ),
    update_forms=(
        ActionForm(
            "admit",
            "Admit",
            "ticket_use",
            (FormField("code", "Code of the ticket", "Admits its holder, once.", required=True),),
            selector="request",
        ),
        ActionForm(
            "close", "Stop selling", "paylink", allowed_states=("active",), fixed_values=(("status", "disable"),)
        ),
        ActionForm("open", "Sell again", "paylink", allowed_states=("disabled",), fixed_values=(("status", "enable"),)),
    ),
)

CHECKOUTS = RecordKind(
    name="checkouts",
    label="Checkouts",
    singular="Checkout",
    method="console",
    key_field="txnRef",
    columns=("txnRef", "state", "amount", "title", "payer", "paid_with", "customer_txnref", "created_at"),
    list_action="checkouts",
    view_action="checkout",
    empty_text="A checkout is a page on which one payer pays one amount, for a link, tickets or an invoice.",
)
