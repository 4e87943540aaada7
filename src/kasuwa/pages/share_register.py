"""The register of shareholders as CSV and as a PDF. Does no I/O besides what it writes to memory.

Contract: investments#register
"""

import io
from collections.abc import Sequence
from typing import Any

from kasuwa.core.calendar import lagos_text
from kasuwa.core.decision import Merchant
from kasuwa.methods.shares.register.store import ShareRegister
from kasuwa.pages.statement_files import BOLD, BOTTOM, FONT, LINE_HEIGHT, MARGIN, TOP, csv_rows, fit_width, printable
from kasuwa.wire.spreadsheet_cells import guard_cell

HEADER = ("member", "name", "since", "shares", "votes", "capital")
TITLES = ("No.", "Name", "Member", "Since", "Shares", "Votes", "Capital (NGN)")
# Left edges of the first four columns in points on A4, and right edges of the others.
TEXT_EDGES = (MARGIN, 70, 235, 370)
NUMBER_EDGES = (455, 495, 555)
SIZE = 8
TITLE_WIDTH, NAME_WIDTH, ID_LENGTH = 390, 159, 28


def list_totals(register: ShareRegister) -> tuple[str, str, str]:
    """Returns shares, votes and capital of all members."""
    return str(register.share_class.shares), str(register.votes), register.share_class.capital


def render_csv(register: ShareRegister) -> bytes:
    lines: list[Sequence[str]] = [HEADER]
    for member in register.members:
        numbers = str(member.shares), str(member.votes), member.capital
        lines.append((member.client_id, guard_cell(member.name or ""), member.since, *numbers))
    return csv_rows((*lines, ("total", "", "", *list_totals(register))))


def render_pdf(register: ShareRegister, merchant: Merchant) -> bytes:
    # It takes a tenth of a second to import, and few processes ever write a PDF.
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    # Without `invariant` a file would tell the time and the machine of its making.
    canvas: Any = Canvas(out, pagesize=A4, pageCompression=1, invariant=1)
    canvas.setTitle(printable(f"Register of {register.share_class.name}"))
    canvas.setAuthor(printable(merchant.name))
    page, y = 1, begin_page(canvas, register, merchant, 1)
    for number, member in enumerate(register.members, start=1):
        if y < BOTTOM:
            canvas.showPage()
            page += 1
            y = begin_page(canvas, register, merchant, page)
        texts = str(number), fit_width(member.name or "", NAME_WIDTH, SIZE), member.client_id[:ID_LENGTH], member.since
        draw_line(canvas, y, texts, (str(member.shares), str(member.votes), member.capital))
        y -= LINE_HEIGHT
    canvas.setFont(BOLD, SIZE)
    draw_line(canvas, y, ("", "Total", "", ""), list_totals(register))
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def begin_page(canvas: Any, register: ShareRegister, merchant: Merchant, page: int) -> float:
    """Writes the head of a page. Returns the height of its first line."""
    share_class = register.share_class
    canvas.setFont(BOLD, 13)
    canvas.drawString(MARGIN, TOP, fit_width(f"Register of members: {share_class.name}", TITLE_WIDTH, 13, BOLD))
    canvas.setFont(FONT, 9)
    canvas.drawString(MARGIN, TOP - 15, printable(f"{merchant.name} ({merchant.mid})", 90))
    vote = "each share has a vote" if share_class.votes == "share" else "each member has a vote"
    canvas.drawString(MARGIN, TOP - 28, f"{lagos_text(register.made_at)}, NGN {share_class.price} a share, {vote}")
    if merchant.environment == "test":
        canvas.drawRightString(NUMBER_EDGES[-1], TOP, "TEST - no shares are held")
    canvas.setFont(FONT, SIZE)
    canvas.drawRightString(NUMBER_EDGES[-1], 30, f"Page {page}")
    canvas.setFont(BOLD, SIZE)
    draw_line(canvas, TOP - 50, TITLES[:4], TITLES[4:])
    canvas.line(MARGIN, TOP - 53, NUMBER_EDGES[-1], TOP - 53)
    canvas.setFont(FONT, SIZE)
    return float(TOP - 50 - LINE_HEIGHT)


def draw_line(canvas: Any, y: float, texts: Sequence[str], numbers: Sequence[str]) -> None:
    for edge, text in zip(TEXT_EDGES, texts, strict=True):
        canvas.drawString(edge, y, text)
    for edge, text in zip(NUMBER_EDGES, numbers, strict=True):
        canvas.drawRightString(edge, y, text)
