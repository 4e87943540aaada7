"""Invoices as PDF. Does no I/O besides what it writes to memory."""

import io
from base64 import b64decode
from typing import Any

from kasuwa.core.calendar import lagos_day
from kasuwa.core.mail_text import format_day
from kasuwa.core.money import format_grouped
from kasuwa.pages.invoice_view import InvoiceView
from kasuwa.pages.pdf_qr import draw_qr
from kasuwa.pages.pdf_text import wrap_width, wrap_words
from kasuwa.pages.statement_files import BOLD, FONT, fit_width, printable

# Edges in points on A4 (595 x 842).
LEFT, RIGHT, TOP, BOTTOM = 50, 545, 790, 60
QUANTITY_EDGE, AMOUNT_EDGE = 370, 455
LINE_HEIGHT = 14
NAME_WIDTH, DESCRIPTION_WIDTH = 365, 265
NOTE_LENGTH = 95
QR_SIDE = 80
LOGO_WIDTH, LOGO_HEIGHT = 150, 50


def grouped(minor: int) -> str:
    return f"-{format_grouped(-minor)}" if minor < 0 else format_grouped(minor)


class InvoicePdf:
    """Writes an invoice onto pages, with a head and a number on each."""

    def __init__(self, view: InvoiceView) -> None:
        # It takes a tenth of a second to import, and few processes ever write a PDF.
        from reportlab.lib.pagesizes import A4
        from reportlab.pdfgen.canvas import Canvas

        self._view = view
        self._out = io.BytesIO()
        # Without `invariant` a file would tell the time and the machine of its making.
        self._canvas: Any = Canvas(self._out, pagesize=A4, pageCompression=1, invariant=1)
        self._canvas.setTitle(f"Invoice {view.invoice.label}")
        self._canvas.setAuthor(printable(view.merchant.name))
        self._page = 0
        self._y = 0
        self._begin_page()

    def _begin_page(self) -> None:
        self._page += 1
        canvas, view = self._canvas, self._view
        canvas.setFont(BOLD, 16)
        for line, piece in enumerate(wrap_width(printable(view.merchant.name, 75), NAME_WIDTH, 16, BOLD)[:2]):
            canvas.drawString(LEFT, TOP - 18 * line, fit_width(piece, NAME_WIDTH, 16, BOLD))
        canvas.setFont(BOLD, 12)
        canvas.drawRightString(RIGHT, TOP, f"Invoice {view.invoice.label}")
        canvas.setFont(FONT, 9)
        state = view.state_text + (" - test, no money moves" if view.is_test else "")
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
        for number, piece in enumerate(wrap_width(description, DESCRIPTION_WIDTH, 9, font)):
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

    def draw_logo(self) -> None:
        """Draws the merchant's logo, on the first page, no larger than its place."""
        logo = self._view.merchant.logo
        if not logo:
            return
        from reportlab.lib.utils import ImageReader

        picture = ImageReader(io.BytesIO(b64decode(logo.partition(",")[2])))
        y = self._next_line(LOGO_HEIGHT)
        place = {"width": LOGO_WIDTH, "height": LOGO_HEIGHT, "preserveAspectRatio": True, "anchor": "sw"}
        self._canvas.drawImage(picture, LEFT, y, mask="auto", **place)

    def finish(self) -> bytes:
        self._canvas.showPage()
        self._canvas.save()
        return self._out.getvalue()


def write_business(pdf: InvoicePdf, view: InvoiceView) -> None:
    """Writes the address and the tax identification number of the merchant."""
    business = view.business
    for piece in wrap_words(business.address, NOTE_LENGTH) if business.address else ():
        pdf.write(piece)
    if business.tin:
        pdf.write(f"TIN: {business.tin}")
    if business.address or business.tin:
        pdf.write("")


def render_invoice_pdf(view: InvoiceView) -> bytes:
    """Returns the invoice as a PDF. The longest takes some 50 ms: call it in a thread."""
    pdf, invoice, person = InvoicePdf(view), view.invoice, view.person
    pdf.draw_logo()
    write_business(pdf, view)
    pdf.write(f"Date: {format_day(lagos_day(invoice.created_at))}")
    if view.due_day:
        pdf.write(f"Due: {view.due_day}")
    if person is not None:
        pdf.write("Bill to", BOLD)
        for text in filter(None, (person.name, person.address, person.email, person.phone)):
            for piece in wrap_words(text, NOTE_LENGTH):
                pdf.write(piece)
    pdf.write("")
    pdf.write_item(("Description", "Quantity", "Price", f"Amount ({invoice.currency})"), BOLD)
    pdf.rule()
    for item in view.detail.items:
        pdf.write_item((item.description, f"{item.quantity:,}", grouped(item.amount), grouped(item.total)))
    pdf.rule()
    for line in view.lines:
        pdf.write_sum(line.label, grouped(line.amount), BOLD if line.is_result else FONT)
    if person is not None and person.note:
        pdf.write("")
        for piece in wrap_words(person.note, NOTE_LENGTH):
            pdf.write(piece)
    if view.can_pay:
        pdf.write("")
        pdf.write("Pay online:", BOLD)
        pdf.write(view.link)
        pdf.draw_link(view.link)
    return pdf.finish()
