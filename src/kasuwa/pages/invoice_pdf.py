"""Invoices as PDF. Does no I/O besides what it writes to memory."""

import io
from datetime import date, datetime
from typing import Any

from kasuwa.core.calendar import lagos_day
from kasuwa.core.money import format_grouped, minor_of
from kasuwa.methods.invoices.wire import InvoiceRecord
from kasuwa.pages.pdf_qr import draw_qr
from kasuwa.pages.pdf_text import wrap_words
from kasuwa.pages.statement_files import BOLD, FONT, printable

# Edges in points on A4 (595 x 842).
LEFT, RIGHT, TOP, BOTTOM = 50, 545, 790, 60
QUANTITY_EDGE, AMOUNT_EDGE = 370, 455
LINE_HEIGHT = 14
DESCRIPTION_LENGTH = 58
NOTE_LENGTH = 95
QR_SIDE = 80

STATUS_TEXTS = {
    "unpaid": "Unpaid",
    "partly_paid": "Partly paid",
    "paid": "Paid",
    "overdue": "Overdue",
    "void": "Void",
}


def grouped(amount: str) -> str:
    """Returns an amount of a reply with thousands separators."""
    sign, plain = ("-", amount[1:]) if amount.startswith("-") else ("", amount)
    return sign + format_grouped(minor_of(plain))


def day_text(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def summary_lines(record: InvoiceRecord) -> list[tuple[str, str]]:
    """Returns the lines below the items, each with its amount. Lines that are zero are left out, but for the total."""
    rate = "" if record.discount_rate is None else f" ({record.discount_rate} %)"
    lines = [
        ("Subtotal", record.subtotal),
        (f"Discount{rate}", f"-{record.discount}"),
        (f"VAT ({record.vat_rate} %)", record.vat),
        ("Shipping", record.shipping),
    ]
    shown = [(label, amount) for label, amount in lines if amount.lstrip("-") != "0.00" or label == "Subtotal"]
    paid = [("Paid", f"-{record.paid}")] if record.paid != "0.00" else []
    refunded = [("Refunded", record.refunded)] if record.refunded != "0.00" else []
    due = [("Amount due", record.outstanding)] if record.paid != "0.00" else []
    return [*shown, ("Total", record.total), *paid, *due, *refunded]


class InvoicePdf:
    """Writes an invoice onto pages, with a head and a number on each."""

    def __init__(self, record: InvoiceRecord, merchant_name: str, *, is_test: bool) -> None:
        # It takes a tenth of a second to import, and few processes ever write a PDF.
        from reportlab.lib.pagesizes import A4
        from reportlab.pdfgen.canvas import Canvas

        self._record = record
        self._merchant_name = merchant_name
        self._is_test = is_test
        self._out = io.BytesIO()
        # Without `invariant` a file would tell the time and the machine of its making.
        self._canvas: Any = Canvas(self._out, pagesize=A4, pageCompression=1, invariant=1)
        self._canvas.setTitle(f"Invoice {record.number}")
        self._canvas.setAuthor(printable(merchant_name))
        self._page = 0
        self._y = 0
        self._begin_page()

    def _begin_page(self) -> None:
        self._page += 1
        canvas, record = self._canvas, self._record
        canvas.setFont(BOLD, 16)
        canvas.drawString(LEFT, TOP, printable(self._merchant_name, 50))
        canvas.setFont(BOLD, 12)
        canvas.drawRightString(RIGHT, TOP, f"Invoice {record.number}")
        canvas.setFont(FONT, 9)
        state = STATUS_TEXTS[record.status] + (" - test, no money moves" if self._is_test else "")
        canvas.drawRightString(RIGHT, TOP - 14, state)
        canvas.drawRightString(RIGHT, 30, f"Page {self._page}")
        self._y = TOP - 40

    def _next_line(self, height: int = LINE_HEIGHT) -> int:
        self._y -= height
        if self._y < BOTTOM:
            self._canvas.showPage()
            self._begin_page()
            self._y -= height
        return self._y

    def write(self, text: str, font: str = FONT, size: float = 9) -> None:
        y = self._next_line()
        self._canvas.setFont(font, size)
        self._canvas.drawString(LEFT, y, printable(text, 110))

    def write_item(self, cells: tuple[str, str, str, str], font: str = FONT) -> None:
        """Writes a description, which may take several lines, a quantity, a unit amount and a total."""
        description, quantity, amount, total = cells
        for number, piece in enumerate(wrap_words(description, DESCRIPTION_LENGTH)):
            y = self._next_line()
            self._canvas.setFont(font, 9)
            self._canvas.drawString(LEFT, y, piece)
            if number == 0:
                self._canvas.drawRightString(QUANTITY_EDGE, y, quantity)
                self._canvas.drawRightString(AMOUNT_EDGE, y, amount)
                self._canvas.drawRightString(RIGHT, y, total)

    def write_sum(self, label: str, amount: str, font: str = FONT) -> None:
        y = self._next_line()
        self._canvas.setFont(font, 9)
        self._canvas.drawRightString(AMOUNT_EDGE, y, label)
        self._canvas.drawRightString(RIGHT, y, amount)

    def rule(self) -> None:
        y = self._next_line(6)
        self._canvas.line(LEFT, y, RIGHT, y)

    def draw_link(self, link: str) -> None:
        """Draws the link as a QR code."""
        y = self._next_line(QR_SIDE + 10)
        draw_qr(self._canvas, link, LEFT, y, QR_SIDE)

    def finish(self) -> bytes:
        self._canvas.showPage()
        self._canvas.save()
        return self._out.getvalue()


def render_invoice_pdf(record: InvoiceRecord, merchant_name: str, *, is_test: bool) -> bytes:
    """Returns the invoice as a PDF. The longest takes some 50 ms: call it in a thread."""
    pdf = InvoicePdf(record, merchant_name, is_test=is_test)
    pdf.write(f"Date: {day_text(lagos_day(datetime.fromisoformat(record.created_at)))}")
    if record.date_due is not None:
        pdf.write(f"Due: {day_text(date.fromisoformat(record.date_due))}")
    if record.customer is not None:
        pdf.write("Bill to", BOLD)
        customer = record.customer
        for text in filter(None, (customer.name, customer.address, customer.email, customer.phone)):
            for piece in wrap_words(text, NOTE_LENGTH):
                pdf.write(piece)
    pdf.write("")
    pdf.write_item(("Description", "Quantity", "Price", f"Amount ({record.currency})"), BOLD)
    pdf.rule()
    for item in record.items:
        pdf.write_item((item.description, f"{item.quantity:,}", grouped(item.amount), grouped(item.total)))
    pdf.rule()
    for label, amount in summary_lines(record):
        pdf.write_sum(label, grouped(amount), BOLD if label in ("Total", "Amount due") else FONT)
    if record.note:
        pdf.write("")
        for piece in wrap_words(record.note, NOTE_LENGTH):
            pdf.write(piece)
    if record.status in ("unpaid", "partly_paid", "overdue"):
        pdf.write("")
        pdf.write("Pay online:", BOLD)
        pdf.write(record.link)
        pdf.draw_link(record.link)
    return pdf.finish()
