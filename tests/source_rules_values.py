"""The rules of the house about values: they travel in fields. Nothing reads one back from a sentence or a reference."""

import ast
import re
from collections.abc import Iterator

from tests.source_rules import Source

# Modules that parse days and times of this service's own records, of validated requests, or of trusted vendors.
OWN_DATES = {
    "integration/run.py",
    "console/merchant/payment_view.py",
    "console/kit/values.py",
    "wire/people.py",
    "rails/vendors/monnify/identity.py",
    "console/records/record_pages.py",
    "methods/investments/rules/thrift_plan.py",
    "methods/standing_orders/rules/manage.py",
    "methods/groups/store.py",
    "methods/invoices/rules/issue.py",
    "methods/invoices/rules/receive.py",
    "methods/payment/rules/plans/installments.py",
    "methods/payment/rules/plans/scheduled_charges.py",
    "methods/payment/rules/split_settlement.py",
    "rails/vendors/paystack/feeds.py",
    "reconciliation/camt_statements.py",
    "testing/merchant.py",
    "sandbox/triggers.py",
    "rails/twins/paystack_accounts.py",
    "pages/transfer_receipts.py",
}

# What a refusal, a reply or an entry says to people.
SENTENCES = {"reason", "message", "title", "label", "words"}
MATCHERS = {"match", "fullmatch", "search", "findall", "finditer", "split", "sub"}
CUTTERS = {"startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition", "split", "rsplit"}
AMOUNT_READERS = {"parse_minor"}  # `convert_to_minor` reads constants, and the texts of a tariff
# Rails answer in sentences of their own, and those are read there.
FOREIGN_SENTENCES = ("rails/", "reconciliation/", "outbound/")
# The reply to a bulk of many faults shortens messages that are too long in sum to the names of their fields.
SENTENCES_CUT_IN = ("methods/disburse/rules/bulk_transfer.py",)
# Amounts of documents that people or rails write, such as a policy or a catalogue. They are read where they enter.
AMOUNTS_IN_DOCUMENTS = ("terms/", "rails/", "settings/")

MEANING_IN_SQL = re.compile(
    r"\breference\s+(not\s+)?like\b|\b(txn_ref|reference)\s*~|starts_with\(\s*(\w+\.)?reference\b"
)
# Money that a rail announced for nobody has the name of the rail before the rail's own reference, which has no row of
# ours to join: the reconciliation tells by it which rail's statement has it.
MEANING_EXPECTED_IN = ("reconciliation/matching.py",)

SETTINGS = ("settings/", "terms/", "merchants/")
SWITCHES = {"on", "off", "yes", "no", "true", "false"}
UNTYPED = re.compile(r"\b(Mapping|MutableMapping|dict)\[str, object\]")


def parsed_sentences(source: Source) -> list[str]:
    """Regular expressions, cuts and amounts read from an attribute that is a sentence of ours."""
    if source.path.startswith(FOREIGN_SENTENCES) or source.path in SENTENCES_CUT_IN:
        return []
    return [
        f"{source.path}:{node.lineno} reads a value from `{ast.unparse(read)}`: give it a field"
        for node, read in sentences_read(source.nodes)
    ]


def sentences_read(nodes: list[ast.AST]) -> Iterator[tuple[ast.Call, ast.Attribute]]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        read: list[ast.expr] = []
        if isinstance(node.func, ast.Attribute) and node.func.attr in MATCHERS | CUTTERS:
            read = [*node.args, node.func.value] if node.func.attr in MATCHERS else [node.func.value]
        elif isinstance(node.func, ast.Name) and node.func.id in AMOUNT_READERS:
            read = list(node.args)
        for value in read:
            if isinstance(value, ast.Attribute) and value.attr in SENTENCES:
                yield node, value


def amounts_as_texts(source: Source) -> list[str]:
    """Amounts that a struct has as a text: `parse_minor(record.outstanding)`. Money is an int until the edge."""
    if source.path.startswith(AMOUNTS_IN_DOCUMENTS):
        return []
    return [
        f"{source.path}:{node.lineno} parses `{ast.unparse(node.args[0])}`: money is an int until the edge"
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in AMOUNT_READERS
        and node.args
        and isinstance(node.args[0], ast.Attribute)
    ]


def meanings_in_references(source: Source) -> list[str]:
    """SQL that tells what a row is by the beginning of its reference."""
    if source.path in MEANING_EXPECTED_IN:
        return []
    return [
        f"{source.path}:{node.lineno} tells by a reference what a row is: read the column that says it"
        for node in source.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and MEANING_IN_SQL.search(node.value)
    ]


def untyped_registries(source: Source) -> list[str]:
    """Fields and constants whose values may be anything: a registry has one type."""
    return [
        f"{source.path}:{node.lineno} `{ast.unparse(node.target)}` may hold anything: a registry has one type"
        for node in field_annotations(source)
        if UNTYPED.search(ast.unparse(node.annotation))
    ]


def switches_by_text(source: Source) -> list[str]:
    """Fields that are on or off by a text."""
    return [
        f"{source.path}:{node.lineno} `{ast.unparse(node.target)}` is on or off: make it a bool"
        for node in field_annotations(source)
        if source.path.startswith(SETTINGS)
        and ast.unparse(node.annotation) == "str"
        and isinstance(node.value, ast.Constant)
        and node.value.value in SWITCHES
    ]


def field_annotations(source: Source) -> Iterator[ast.AnnAssign]:
    """The annotated names of a module and of its classes, but not those of functions."""
    bodies = [node.body for node in source.nodes if isinstance(node, ast.Module | ast.ClassDef)]
    return (node for body in bodies for node in body if isinstance(node, ast.AnnAssign))
