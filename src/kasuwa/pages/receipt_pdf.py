"""The receipt of a payment as a PDF. Tickets and the dates of a long installment plan take further pages."""

import io
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import msgspec

from kasuwa.pages.hosted_view import ShownTicket
from kasuwa.pages.pdf_qr import draw_qr
from kasuwa.pages.pdf_text import wrap_words
from kasuwa.pages.statement_files import BOLD, FONT, printable

LEFT, RIGHT, TOP, BOTTOM = 70, 525, 770, 60
LINE_HEIGHT, NOTE_HEIGHT = 20, 14
TEXT_LENGTH = 60
TICKETS_PER_PAGE, TICKET_HEIGHT, QR_SIDE = 5, 145, 110
# The description of an event on a ticket. The receipt's page has the whole text.
EVENT_LINES, EVENT_LINE_LENGTH, EVENT_LINE_HEIGHT = 4, 65, 12


class Receipt(msgspec.Struct, frozen=True):
    """The content of a receipt: texts that are ready to be shown."""

    merchant_name: str
    total: str  # what was paid
    lines: Sequence[tuple[str, str]]  # label and value
    items: Sequence[tuple[str, str]] = ()  # what was paid for, and its amount
    notes: Sequence[str] = ()  # on later charges, a line each
    is_test: bool = False
    tickets: Sequence[ShownTicket] = ()
    event: str = ""  # what the tickets are for, as the merchant called it
    event_text: str = ""  # the merchant's description of it: where, when
    title: str = "Receipt"
    address: str = ""  # of the page that proves it, drawn as a QR code


def render_receipt_pdf(receipt: Receipt) -> bytes:
    # It takes a tenth of a second to import, and few processes ever write a PDF.
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    # Without `invariant` a file would tell the time and the machine of its making.
    canvas: Any = Canvas(out, pagesize=A4, pageCompression=1, invariant=1)
    canvas.setTitle(printable(f"Receipt of {receipt.merchant_name}"))
    canvas.setAuthor(printable(receipt.merchant_name))
    canvas.setFont(BOLD, 18)
    canvas.drawString(LEFT, TOP, receipt.title)
    canvas.setFont(FONT, 11)
    canvas.drawString(LEFT, TOP - 20, printable(receipt.merchant_name, 80))
    if receipt.is_test:
        canvas.drawRightString(RIGHT, TOP, "TEST - no money has moved")
    canvas.setFont(BOLD, 24)
    canvas.drawString(LEFT, TOP - 62, printable(receipt.total))
    y = TOP - 100
    for group in (receipt.items, receipt.lines):
        if group:
            y = draw_group(canvas, group, y)
    draw_notes(canvas, receipt.notes, y - 10)
    if receipt.address:
        draw_qr(canvas, receipt.address, LEFT, BOTTOM, QR_SIDE)
    if receipt.tickets:
        draw_tickets(canvas, receipt)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def draw_group(canvas: Any, group: Sequence[tuple[str, str]], y: int) -> int:
    """Draws labels and values below a rule. Those of several lines are shown whole. Returns the height below them."""
    canvas.setLineWidth(0.5)
    canvas.line(LEFT, y + 14, RIGHT, y + 14)
    for label, value in group:
        for left, right in zip_longest(wrap_words(label, TEXT_LENGTH), wrap_words(value, TEXT_LENGTH), fillvalue=""):
            if y < BOTTOM:
                canvas.showPage()
                y = TOP
            canvas.setFont(FONT, 10)
            canvas.drawString(LEFT, y, left)
            canvas.drawRightString(RIGHT, y, right)
            y -= NOTE_HEIGHT
        y -= LINE_HEIGHT - NOTE_HEIGHT
    return y


def draw_notes(canvas: Any, notes: Sequence[str], y: int) -> None:
    """Draws notes from a height on down, and on further pages if there are many."""
    for note in notes:
        if y < BOTTOM:
            canvas.showPage()
            y = TOP
        canvas.setFont(FONT, 10)
        canvas.drawString(LEFT, y, printable(note, 90))
        y -= NOTE_HEIGHT


def draw_tickets(canvas: Any, receipt: Receipt) -> None:
    """Draws tickets on pages of their own, with a QR code and the event on each."""
    about = wrap_words(receipt.event_text, EVENT_LINE_LENGTH)[:EVENT_LINES]
    for place, ticket in enumerate(receipt.tickets):
        row = place % TICKETS_PER_PAGE
        if row == 0:
            canvas.showPage()
        bottom = TOP - (row + 1) * TICKET_HEIGHT
        draw_qr(canvas, ticket.code, LEFT, bottom, QR_SIDE)
        left, y = LEFT + QR_SIDE + 30, bottom + QR_SIDE - 14
        canvas.setFont(BOLD, 12)
        canvas.drawString(left, y, printable(receipt.event, 50))
        canvas.setFont(FONT, 9)
        for line in about:
            y -= EVENT_LINE_HEIGHT
            canvas.drawString(left, y, line)
        canvas.setFont(BOLD, 14)
        canvas.drawString(left, bottom + 22, ticket.code)
        canvas.setFont(FONT, 11)
        canvas.drawString(left, bottom + 4, printable(ticket.kind, 60))
