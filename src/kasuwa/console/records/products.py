"""Loan products in the table of record kinds."""

from collections.abc import Mapping
from typing import Any

from kasuwa.console.kit.forms import ActionForm, FormField
from kasuwa.console.records.kind import RecordKind
from kasuwa.console.records.lending import FREQUENCIES

METHODS = ("declining_equal_instalments", "equal_principal", "flat")


def list_ranges() -> tuple[FormField, ...]:
    return tuple(
        FormField(
            f"ranges.{name}.{end}",
            f"{label}: {title}",
            input_mode=mode,
            required=end != "default",
            value_type=kind,
            group=name,
        )
        for name, label, mode, kind in (
            ("amount", "Amount", "decimal", "text"),
            ("period", "Installments", "numeric", "whole"),
            ("interestRate", "Interest rate", "decimal", "text"),
        )
        for end, title in (("min", "least"), ("max", "most"), ("default", "usual"))
    )


TERMS = (
    FormField("tax_rate", "Tax in percent of the interest", input_mode="decimal"),
    FormField("penalty.rate", "Penalty in percent a day", "Leave empty for your lending setting.", "decimal"),
    FormField("penalty.tolerance_days", "Days of tolerance", input_mode="numeric", value_type="whole"),
    FormField("grace.principal", "Installments without principal", input_mode="numeric", value_type="whole"),
    FormField("grace.interest", "Of these without interest", input_mode="numeric", value_type="whole"),
)


def describe_product(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the numbers of a product's loans, and its ranges in words."""
    loans, ranges = row.get("loans") or {}, row["ranges"]
    return {
        **{f"loans_{name}": loans[name] for name in ("requested", "active", "in_arrears", "closed", "lent") if loans},
        **{name: f"{own['min']} to {own['max']}" for name, own in ranges.items()},
    }


def is_open(row: Mapping[str, Any]) -> bool:
    return bool(row["state"] == "open")


PRODUCTS = RecordKind(
    name="loan-products",
    label="Loan products",
    singular="Loan product",
    method="loans",
    key_field="product_id",
    columns=("product_id", "state", "code", "loans_requested", "loans_active", "loans_in_arrears", "loans_lent"),
    title_fields=("name",),
    hidden_fields=("loans", "ranges"),
    describe=describe_product,
    filters=(FormField("state", "State", options=("open", "closed")),),
    list_action="list_products",
    view_action="view_product",
    empty_text="A product has the terms of its loans, and the ranges within which a request may choose.",
    create_forms=(
        ActionForm(
            "create",
            "Create a product",
            "create_product",
            (
                FormField("name", "Name", required=True),
                FormField("code", "Your code", "No other product has it.", required=True),
                *list_ranges(),
                FormField("interestFrequency", "Interest period", options=FREQUENCIES),
                FormField("method", "Installments are computed", options=METHODS),
                *TERMS,
            ),
        ),
    ),
    update_forms=(
        ActionForm(
            "update",
            "Change for new loans",
            "update_product",
            (FormField("name", "Name"), *TERMS),
            is_possible=is_open,
            consequence="loans that are requested from now on have these terms.",
            has_preview=True,
        ),
        ActionForm(
            "close",
            "Close",
            "close_product",
            is_possible=is_open,
            consequence="no loan of it can be requested any more. Its loans go on.",
        ),
    ),
)
