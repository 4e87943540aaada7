"""The page of one transaction: its parties, amounts, related records, timeline and forms."""

from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from kasuwa.console.kit.people import read_names, read_other_side
from kasuwa.console.kit.timelines import page_timeline
from kasuwa.console.kit.visit import NotFound, Visit
from kasuwa.console.merchant import store
from kasuwa.console.merchant.payment_view import PaymentView, read_payment_view
from kasuwa.console.merchant.transaction_forms import TransactionForm, list_available_forms
from kasuwa.console.records.collections import INSTALLMENTS
from kasuwa.methods.disburse.model import KIND as TRANSFER
from kasuwa.methods.disburse.receipts import NO_FACTS, make_receipt_url, open_facts
from kasuwa.methods.disburse.rules.waiting import WAITING_MESSAGE
from kasuwa.transactions.transactions import FAILED, SUCCESSFUL, Transaction

# Pages of related records, by the kind that the API gives them.
RELATED_PAGES = {
    "batch": "transfers/batches",
    "beneficiary": "beneficiaries",
    "checkout": "checkouts",
    "client": "clients",
    "customer": "customers",
    "dispute": "disputes",
    "group": "groups",
    "invoice": "invoices",
    "link": "links",
    "loan": "loans",
    "loan_product": "loan-products",
    "personalized_account": "accounts",
    "savings": "savings",
    "share_class": "shares",
    "thrift_plan": "thrift",
    "virtual_card": "cards",
}
# Related records without a page of their own.
PAGELESS = frozenset({"group_loan", "plan", "saved_card"})
# Pages of records that a search finds and that are not shown as related.
FOUND_PAGES = {
    "recurrent": "recurrents",
    "instalment": INSTALLMENTS.name,
    "ticket": "tickets",
}


def related_path(kind: str, reference: str) -> str:
    """Returns the path of a related record's page, or nothing if it has none."""
    if kind in PAGELESS:
        return ""
    return f"/{RELATED_PAGES.get(kind, 'transactions')}/{quote(reference, safe='')}"


def record_path(kind: str, reference: str) -> str:
    """Returns the path of the page of a record that a search found."""
    return f"/{FOUND_PAGES.get(kind) or RELATED_PAGES[kind]}/{quote(reference, safe='')}"


async def show_transaction(visit: Visit, status: int = 200, faults: dict[str, str] | None = None) -> Response:
    merchant = visit.merchant
    async with visit.snapshot() as reader:
        row = await store.find_transaction(reader, merchant, visit.path_parameter("ref"))
        if row is None:
            raise NotFound
        timeline = await visit.services.read_timeline(reader, row)
        postings = await store.list_postings(reader, merchant, row.txn_ref)
        event = await store.find_event_by_reference(reader, merchant, row.txn_ref)
        delivered = await store.add_endpoints(reader, merchant, [event] if event is not None else [])
        reply = await visit.call_action("resources", inquire="transaction", reference=row.txn_ref)
        related: list[dict[str, Any]] = reply.body["data"]["related"] if reply.is_success else []
        payment = await read_payment_view(visit, reader, row, postings)
        customers = [{"customer_id": one["reference"]} for one in related if one["kind"] == "customer"]
        names = await read_names(visit, reader, customers)
    shown = hide_shown_elsewhere(related, payment)
    return visit.render(
        "transaction.html",
        status,
        row=row,
        is_charged=row.status != FAILED,
        is_waiting=row.is_open and row.message == WAITING_MESSAGE,
        payment=payment,
        other_side=None if payment is not None else read_other_side(row.detail),
        **read_receipt(visit, row),
        customer=customers[0]["customer_id"] if customers else "",
        names=names,
        related=[(one, related_path(one["kind"], one["reference"])) for one in shown],
        **page_timeline(visit, timeline),
        postings=postings,
        event=event,
        event_state=delivered[0].state if delivered else "",
        forms=list_available_forms(visit, row, payment),
        faults=faults or {},
        submitted=dict(visit.form),
    )


def read_receipt(visit: Visit, row: Transaction) -> dict[str, Any]:
    """Returns what the rail reported of a successful transfer, and the address of its receipt."""
    if row.kind != TRANSFER or row.status != SUCCESSFUL:
        return {"rail_facts": NO_FACTS, "receipt_url": ""}
    vault = visit.services.vault
    return {
        "rail_facts": open_facts(row.merchant_id, row.txn_ref, row.facts_sealed, vault.unseal),
        "receipt_url": make_receipt_url(visit.services.api_url, visit.merchant.shown_number, row.txn_ref, vault.digest),
    }


def hide_shown_elsewhere(related: list[dict[str, Any]], payment: PaymentView | None) -> list[dict[str, Any]]:
    """Returns the related records without those that the page of a payment shows in sections of their own."""
    if payment is None:
        return related
    return [one for one in related if one["kind"] not in ("refund", "dispute", "customer")]


async def submit_form(visit: Visit) -> Response:
    """Runs the form in the path, such as a refund, once the user has confirmed it. Raises NotFound if there is none."""
    async with visit.snapshot() as reader:
        row = await store.find_transaction(reader, visit.merchant, visit.path_parameter("ref"))
        payment = None if row is None else await read_payment_view(visit, reader, row, [])
    if row is None:
        raise NotFound
    form = find_form(visit, row, payment)
    request = form.build_request(row, visit.form_text)
    preview = await visit.preview_action(form.method, request) if form.has_preview else None
    if preview is not None and not preview.is_success:
        return await show_transaction(visit, 422, preview.faults)
    visit.ask_first(*form.confirmation(row, request), f"/transactions/{quote(row.txn_ref, safe='')}")
    reply = await visit.run_action(form.method, request, form.label.lower())
    if not reply.is_success:
        return await show_transaction(visit, 422, reply.faults)
    return visit.redirect(f"/transactions/{quote(row.txn_ref, safe='')}", reply.message or "Done.")


def find_form(visit: Visit, row: Transaction, payment: PaymentView | None) -> TransactionForm:
    name = visit.path_parameter("transaction_form")
    form = next((form for form in list_available_forms(visit, row, payment) if form.name == name), None)
    if form is None:
        raise NotFound
    return form
