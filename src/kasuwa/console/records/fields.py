"""Fields of records on pages: names and links in place of ids, amounts with their currency, states with their symbol.

A page gives the names of the people whom its records refer to as `names`, by id, and the reference of its own record as
`reference`, which is not linked.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from kasuwa.console.kit.values import (
    AMOUNT_PATTERN,
    amount_html,
    format_value,
    group_thousands,
    is_numeric,
    money_html,
    status_html,
)
from kasuwa.console.kit.vocabulary import STATE_STYLES, humanize, method_text
from kasuwa.core.banks import bank_names
from kasuwa.core.money import parse_minor
from kasuwa.methods.virtualcard.dispute_model import REFERENCE_TYPE as CARD_DISPUTE_TYPE
from kasuwa.transactions.transactions import FAILED

# Fields that name another record, and the first part of the path of its page.
LINKED_FIELDS = {
    "checkoutRef": "checkouts",
    "borrower_id": "clients",
    "card_reference": "cards",
    "class_id": "shares",
    "client_id": "clients",
    "customer_id": "customers",
    "group_id": "groups",
    "leader": "clients",
    "dispute_id": "disputes",
    "invoice_id": "invoices",
    "link_id": "links",
    "loan_id": "loans",
    "mail_id": "mails",
    "order_id": "standing-orders",
    "product_id": "loan-products",
    "tops_up": "loans",
    "topped_up_by": "loans",
    "payment": "transactions",
    "ref_code": "beneficiaries",
    "refundOf": "transactions",
    "refundRef": "transactions",
    "savings_id": "savings",
    "settlement_id": "settlements",
    "thrift_id": "thrift",
    "ticket_sale": "tickets",
    "txnRef": "transactions",
    "txn_ref": "transactions",
}
# References of transactions begin so. Fields such as the origin of a posting may have one, or another id.
TRANSACTION_PREFIX = "GP"
# A cardholder's dispute has another page than one of a payment.
CARD_DISPUTE_PREFIX = f"{TRANSACTION_PREFIX}|{CARD_DISPUTE_TYPE}|"
MIXED_FIELDS = frozenset({"origin", "payouts"})
STATE_FIELDS = frozenset({"state", "status", "txnStatus"})
PERCENT_FIELDS = frozenset({"discount_rate", "interestRate", "penalty_rate", "tax_rate", "vat_rate"})
BANK_FIELDS = frozenset({"bank_code", "bankcode"})
METHOD_FIELDS = frozenset({"method", "payment_method", "paymentMethod"})
# Fields whose values are words of the API, written as labels are.
WORD_FIELDS = frozenset(
    (
        "brand",
        "card_type",
        "channel",
        "charge_user",
        "discount_type",
        "frequency",
        "kind",
        "reason",
        "source",
        "step",
        "type",
    )
)

WORD = re.compile(r"[a-z]+(_[a-z]+)*", re.ASCII)

# Record fields that are amounts of money. Other numbers are rates, units or counts.
MONEY_FIELDS = frozenset(
    (
        "accrued_interest",
        "amount",
        "balance",
        "called",
        "capital",
        "charges",
        "commission",
        "contributed",
        "credit",
        "credited",
        "discount",
        "disputed",
        "disputes",
        "effect",
        "fee",
        "gross",
        "held",
        "interest",
        "net",
        "outstanding",
        "overdue",
        "owed",
        "paid",
        "paid_out",
        "payoff",
        "penalty",
        "per_day",
        "per_month",
        "per_transaction",
        "price",
        "principal",
        "received",
        "refunded",
        "refunds",
        "reserve",
        "returned",
        "shipping",
        "shortfall",
        "split",
        "subtotal",
        "tax",
        "total",
        "unit_price",
        "value",
        "vat",
        "withheld_tax",
        "written_off",
    )
)
# What a transaction costs. A failed one costs nothing, although its record may have what was planned.
CHARGE_FIELDS = frozenset({"fee", "vat", "duty"})
# The most important columns of a list: on a telephone they are the first line of its cards.
LEAD_FIELDS = frozenset({"amount", "total", "balance", "net", *STATE_FIELDS})


@jinja2.pass_context
def field_html(context: jinja2.runtime.Context, value: Any, name: str, currency: str = "NGN") -> str:
    """Formats a field of a record."""
    if isinstance(value, str) and value:
        shown = format_known_text(value, name, context.get("names", {}), context.get("reference", ""))
        if shown is not None:
            return shown
    if name in PERCENT_FIELDS and value is not None:
        return f"{value} %"
    if isinstance(value, list) and name in MIXED_FIELDS:
        return Markup(", ").join(reference_html(item) for item in value) if value else format_value(value)
    is_text = isinstance(value, str) and bool(AMOUNT_PATTERN.fullmatch(value))
    if name in MONEY_FIELDS and (is_text or isinstance(value, float)):
        return amount_html(group_thousands(value if is_text else f"{value:.2f}"), currency)
    return format_value(value)


def format_known_text(value: str, name: str, names: Mapping[str, str], own_reference: str) -> str | None:
    """Formats a text whose field has a meaning of its own. Returns None for all others."""
    if name in STATE_FIELDS and value.lower() in STATE_STYLES:
        return status_html(value.lower())
    if name == "dispute_id" and value.startswith(CARD_DISPUTE_PREFIX):
        return link_html("card-disputes", value, names.get(value, "")) if value != own_reference else value
    if name in LINKED_FIELDS and value != own_reference:
        return link_html(LINKED_FIELDS[name], value, names.get(value, ""))
    if name in MIXED_FIELDS:
        return reference_html(value)
    if name == "email" and "@" in value:
        return Markup('<a href="/transactions?customer={}">{}</a>').format(quote(value, safe=""), value)
    if name in BANK_FIELDS and value in bank_names():
        return f"{bank_names()[value]} ({value})"
    if name in METHOD_FIELDS:
        return method_text(value)
    if name in WORD_FIELDS and WORD.fullmatch(value):
        return humanize(value)
    if "\n" in value:
        return Markup('<span class="lines">{}</span>').format(value)
    if value.startswith(("https://", "http://")):
        return Markup('<a class="address" href="{}" rel="noopener noreferrer">{}</a>').format(value, value)
    return None


def link_html(kind: str, reference: str, name: str = "") -> Markup:
    """Returns a link to a record: its name, or its reference if it has none."""
    style = Markup("") if name else Markup(' class="mono"')
    return Markup('<a{} href="/{}/{}">{}</a>').format(style, kind, quote(reference, safe=""), name or reference)


def reference_html(text: str) -> str:
    """Returns a link to a transaction, or the text if it is not the reference of one."""
    return link_html("transactions", text) if text.startswith(TRANSACTION_PREFIX) else text


def charges_html(line: Mapping[str, Any]) -> Markup:
    """Formats the sum of fee, VAT and duty of a transaction in the API's list. They are zero if it failed."""
    charges = sum(parse_minor(line[name]) or 0 for name in ("fee", "vat", "duty"))
    return money_html(charges, line["currency"])


def is_lead_field(name: str) -> bool:
    return name in LEAD_FIELDS


# --- which fields are shown -----------------------------------------------------------------------------------------


def is_table(value: Any) -> bool:
    """Returns whether a value is a list of objects, which is shown as a table."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def detail_items(row: Mapping[str, Any], hidden: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yields the fields of a record that its details show.

    Tables are shown elsewhere, and the currency with the amounts. A masked card number is shown once. Empty fields are
    left out. A failed transaction has no charges."""
    has_money = any(name in MONEY_FIELDS for name in row)
    for name, value in row.items():
        if (name in CHARGE_FIELDS and row.get("txnStatus") == FAILED) or value in (None, "", [], {}):
            continue
        is_repeated = (name == "currency" and has_money) or (name == "cardpan" and value == row.get("maskedpan"))
        if not (is_repeated or name in hidden or is_table(value)):
            yield name, value


def table_columns(rows: Sequence[Mapping[str, Any]], own_reference: str = "") -> list[str]:
    """Returns the columns of a table of objects. A column without any value, equal to one before, or that only repeats
    the reference of the page's record is left out."""
    fields = list(dict.fromkeys(name for row in rows for name in row))
    has_money = any(name in MONEY_FIELDS for name in fields)
    names, columns = [], list[list[Any]]()
    for name in fields:
        values = [row.get(name) for row in rows]
        is_empty = all(value in (None, "", [], own_reference) for value in values)
        is_same = isinstance(values[0], str) and not is_numeric(values[0]) and values in columns
        if not (is_empty or is_same or (name == "currency" and has_money)):
            names.append(name)
            columns.append(values)
    return names
