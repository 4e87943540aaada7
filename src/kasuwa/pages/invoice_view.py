"""An invoice as its page and its PDF show it. Amounts are in minor units, times are times: the edge formats them."""

import msgspec

from kasuwa.core.decision import Merchant
from kasuwa.core.mail_text import format_day
from kasuwa.methods.invoices.model import DETAIL_DECODER, PAYABLE, Invoice, InvoiceDetail, InvoicePerson, page_path
from kasuwa.methods.invoices.rules.amounts import PERCENTAGE
from kasuwa.terms.business import BusinessTerms

STATUS_TEXTS = {
    "unpaid": "Unpaid",
    "partly_paid": "Partly paid",
    "paid": "Paid",
    "overdue": "Overdue",
    "void": "Void",
}


class SummaryLine(msgspec.Struct, frozen=True):
    """A line below the items."""

    label: str
    amount: int  # below zero if it lowers the total
    is_result: bool = False  # the total, or what is due


class InvoiceView(msgspec.Struct, frozen=True):
    """An invoice as its payer may see it."""

    invoice: Invoice
    detail: InvoiceDetail
    person: InvoicePerson | None  # None once the customer was erased
    merchant: Merchant
    public_url: str

    @property
    def address(self) -> str:
        return page_path(self.detail.page_token)

    @property
    def link(self) -> str:
        return self.public_url + self.address

    @property
    def is_test(self) -> bool:
        return self.merchant.environment == "test"

    @property
    def can_pay(self) -> bool:
        return self.invoice.status in PAYABLE

    @property
    def business(self) -> BusinessTerms:
        return self.merchant.terms(BusinessTerms)

    @property
    def due_day(self) -> str:
        """The due date as people write it. Empty if there is none."""
        return "" if self.invoice.due_on is None else format_day(self.invoice.due_on)

    @property
    def state_text(self) -> str:
        return STATUS_TEXTS[self.invoice.status]

    @property
    def lines(self) -> list[SummaryLine]:
        """The lines below the items. Those of zero are left out, but for subtotal and total."""
        invoice, detail = self.invoice, self.detail
        rate = f" ({detail.discount} %)" if detail.discount_type == PERCENTAGE else ""
        parts = (
            SummaryLine(f"Discount{rate}", -invoice.discount),
            SummaryLine(f"VAT ({detail.vat_rate} %)", invoice.vat),
            SummaryLine("Shipping", invoice.shipping),
        )
        lines = [SummaryLine("Subtotal", invoice.subtotal), *(line for line in parts if line.amount)]
        lines.append(SummaryLine("Total", invoice.total, is_result=True))
        if invoice.paid:
            lines.append(SummaryLine("Paid", -invoice.paid))
            lines.append(SummaryLine("Amount due", invoice.outstanding, is_result=True))
        if invoice.refunded:
            lines.append(SummaryLine("Refunded", invoice.refunded))
        return lines


def make_view(invoice: Invoice, person: InvoicePerson | None, merchant: Merchant, public_url: str) -> InvoiceView:
    return InvoiceView(invoice, DETAIL_DECODER.decode(invoice.detail), person, merchant, public_url)
