"""Serves the pages of invoices below /pay/invoice/.

    /pay/invoice/<token>               the invoice; its form opens a checkout for all of it or a part
    /pay/invoice/<token>/invoice.pdf   the invoice as a file

The token is the only credential. Contract: resources#invoice-page
"""

import asyncio
import os
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kasuwa.core.decision import Refusal
from kasuwa.core.money import format_minor
from kasuwa.engine import token_index
from kasuwa.engine.progress import RequestProgress
from kasuwa.http.page import Page
from kasuwa.methods.invoices.actions import OPEN_INVOICE_PAYMENT
from kasuwa.methods.invoices.model import INVOICE_PAGE
from kasuwa.methods.invoices.payer_model import OpenInvoicePayment
from kasuwa.methods.invoices.rules.states import read_person
from kasuwa.methods.invoices.store import find_invoice
from kasuwa.pages.hosted_checkout import METHOD_NOT_ALLOWED, TOO_MANY_REQUESTS, TRY_AGAIN, HostedServices
from kasuwa.pages.hosted_forms import AMOUNT_FIELD, errors_for_payer, read_fields
from kasuwa.pages.hosted_render import NO_FORM, PageForm, redirect, render_hosted
from kasuwa.pages.invoice_pdf import render_invoice_pdf
from kasuwa.pages.invoice_view import InvoiceView, make_view
from kasuwa.pages.render import format_amount, render_notice, security_headers
from kasuwa.terms.checkout_origins import CheckoutOrigins
from kasuwa.transactions.checkouts import TOKEN_DIGITS

PATH = re.compile(rf"(/pay/invoice/([0-9a-f]{{{TOKEN_DIGITS}}}))(/invoice\.pdf)?", re.ASCII)

NOT_FOUND = render_notice(
    404, "Invoice not found", "Check the address, or ask the merchant for a new link.", notice="not_found"
)
PART_FIELD = msgspec.structs.replace(AMOUNT_FIELD, label="Amount to pay now")


def make_form(view: InvoiceView) -> PageForm:
    """Returns the form of the page: an amount if parts may be paid, else only a button."""
    if not view.can_pay or not view.invoice.allows_parts:
        return NO_FORM
    return PageForm((PART_FIELD,), {PART_FIELD.name: format_minor(view.invoice.outstanding)})


class InvoicePages:
    def __init__(self, services: HostedServices) -> None:
        self._services = services

    async def serve(
        self, method: str, path: str, form: Mapping[str, str], address: str, progress: RequestProgress
    ) -> Page | None:
        """Returns the page of a path, or None if it is none of ours."""
        match = PATH.fullmatch(path)
        if match is None:
            return NOT_FOUND if path.startswith("/pay/invoice/") else None
        if method not in ("GET", "HEAD", "POST") or (method == "POST" and match[3]):
            return METHOD_NOT_ALLOWED
        take = self._services.take
        if method == "POST" and take is not None and take(address) > 0:
            return TOO_MANY_REQUESTS
        view = await self._find(match[2])
        if view is None:
            return NOT_FOUND
        if match[3]:
            return await invoice_file(view)
        return (
            await self._open_payment(view, form, progress)
            if method == "POST"
            else render_invoice(view, make_form(view))
        )

    async def _find(self, token: str) -> InvoiceView | None:
        services = self._services
        owner = await token_index.find_owner(services.reads.tokens, services.vault, INVOICE_PAGE, token)
        if owner is None:
            return None
        merchant_id, invoice_id = owner
        merchant = await services.merchants.get_by_id(merchant_id)
        invoice = await find_invoice(merchant_id, invoice_id, services.reads.rows_of(merchant_id))
        if invoice is None or merchant.suspended:
            return None
        person = read_person(invoice, services.vault.unseal)
        return make_view(invoice, person, merchant, services.public_url)

    async def _open_payment(self, view: InvoiceView, form: Mapping[str, str], progress: RequestProgress) -> Page:
        shown = msgspec.structs.replace(make_form(view), entered=form)
        entered = read_fields(shown.fields, form)
        if entered.errors:
            return render_invoice(view, msgspec.structs.replace(shown, errors=entered.errors))
        amount = int(entered.values.get(PART_FIELD.name, 0)) or view.invoice.outstanding
        token = os.urandom(TOKEN_DIGITS // 2).hex()
        request = OpenInvoicePayment(reference=view.invoice.invoice_id, amount=amount, page_token=token)
        reply = await self._services.writes.run_write(OPEN_INVOICE_PAYMENT, request, view.merchant, progress)
        if not isinstance(reply, Refusal):
            return redirect(f"/pay/checkout/{token}")
        errors, problem = errors_for_payer(reply.field_errors, shown.fields)
        problem = problem or ("" if errors else reply.message or TRY_AGAIN)
        after = await self._find(view.detail.page_token) or view
        return render_invoice(after, msgspec.structs.replace(shown, errors=errors, problem=problem))


def render_invoice(view: InvoiceView, form: PageForm) -> Page:
    invoice = view.invoice
    values: dict[str, Any] = {
        "shown": view,
        "merchant_name": view.merchant.name,
        "logo": view.merchant.logo,
        "is_test": view.is_test,
        "due": format_amount(invoice.outstanding if view.can_pay else invoice.total, invoice.currency),
        "form": form,
        "polls": False,
    }
    return render_hosted("invoice.html", values, None, view.merchant.terms(CheckoutOrigins).origins)


async def invoice_file(view: InvoiceView) -> Page:
    body = await asyncio.to_thread(render_invoice_pdf, view)
    headers = security_headers("application/pdf", "default-src 'none'; frame-ancestors 'none'")
    name = f"invoice-{view.invoice.label}.pdf"
    return Page(200, body, (*headers, ("content-disposition", f'attachment; filename="{name}"')))
