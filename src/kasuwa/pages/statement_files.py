"""Statements of account as files: the first and last lines of CSV, and PDF. Does no I/O besides what it writes to
memory."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from kasuwa.core.calendar import lagos_text
from kasuwa.core.money import format_minor
from kasuwa.methods.statements.model import Movement, StatementAccount
from kasuwa.methods.statements.wire import StatementTotal

# The lines of movements are made in methods/statements/files/store.py.
CSV_HEADER = ("date", "kind", "reference", "counterparty", "amount", "balance")


class StatementHead(msgspec.Struct, frozen=True):
    """The head of a file. Amounts are in minor units."""

    merchant_name: str
    mid: str
    account: StatementAccount
    first_day: date
    last_day: date
    opening: int
    closing: int

    @property
    def file_name(self) -> str:
        """The name under which the file is saved, without its ending."""
        return f"statement-{self.account.kind}-{self.account.currency}-{self.first_day}-{self.last_day}"


def csv_rows(rows: Iterable[Sequence[str]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def csv_head(head: StatementHead) -> bytes:
    """Returns the column names and the opening balance."""
    opening = (f"{head.first_day}", "opening balance", "", "", "", format_minor(head.opening))
    return csv_rows((CSV_HEADER, opening))


def csv_end(head: StatementHead, totals: Iterable[StatementTotal]) -> bytes:
    """Returns the closing balance and a line for each class of movements."""
    closing = (f"{head.last_day}", "closing balance", "", "", "", format_minor(head.closing))
    sums = (("", f"total {total.kind}", "", "", total.amount, "") for total in totals)
    return csv_rows((closing, *sums))


# --- PDF --------------------------------------------------------------------------------------------------------

# Left edge of each column in points on A4 (595 x 842), and the right edge of the amounts.
MARGIN, TOP, BOTTOM, LINE_HEIGHT = 40, 800, 50, 12
COLUMNS = ((40, "Date"), (128, "Kind"), (228, "Reference"), (340, "Counterparty"))
AMOUNT_EDGE, BALANCE_EDGE = 490, 555
# Widths of columns in points.
KIND_WIDTH, REFERENCE_WIDTH, COUNTERPARTY_WIDTH = 96, 108, 90
FONT, BOLD, SIZE = "Helvetica", "Helvetica-Bold", 7.5


def printable(text: str, length: int = 200) -> str:
    """Returns a text in the characters that the standard fonts of PDF have: accents that they lack are dropped."""
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    if not shown.isascii():
        signs = (sign if is_latin(sign) else unicodedata.normalize("NFKD", sign) for sign in shown)
        shown = "".join(
            sign if is_latin(sign) else "?" for part in signs for sign in part if not unicodedata.combining(sign)
        )
    return shown if len(shown) <= length else f"{shown[: length - 1]}…"


def fit_width(text: str, width: float, size: float, font: str = FONT) -> str:
    """Returns as much of a text as fits into a width in points."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    shown = printable(text, 80)
    while len(shown) > 1 and stringWidth(shown, font, size) > width:
        shown = f"{shown[:-2]}…"
    return shown


def is_latin(sign: str) -> bool:
    return sign.encode("cp1252", "ignore") != b""


class PdfPages:
    """Writes lines onto pages, with a head and a number on each."""

    def __init__(self, head: StatementHead) -> None:
        # It takes a tenth of a second to import, and few processes ever write a PDF.
        from reportlab.lib.pagesizes import A4
        from reportlab.pdfgen.canvas import Canvas

        self._out = io.BytesIO()
        # Without `invariant` a file would tell the time and the machine of its making.
        self._canvas: Any = Canvas(self._out, pagesize=A4, pageCompression=1, invariant=1)
        self._canvas.setTitle(head.file_name)
        self._canvas.setAuthor(printable(head.merchant_name))
        self._head = head
        self._page = 0
        self._y = 0
        self._begin_page()

    def _begin_page(self) -> None:
        self._page += 1
        canvas, head = self._canvas, self._head
        canvas.setFont(BOLD, 13)
        canvas.drawString(MARGIN, TOP, printable(f"Statement of account: {head.account.title}", 70))
        canvas.setFont(FONT, 9)
        canvas.drawString(MARGIN, TOP - 15, printable(f"{head.merchant_name} ({head.mid})", 90))
        period = f"{head.first_day} to {head.last_day}, Lagos time, amounts in {head.account.currency}"
        canvas.drawString(MARGIN, TOP - 28, period)
        canvas.setFont(FONT, 8)
        canvas.drawRightString(BALANCE_EDGE, 30, f"Page {self._page}")
        self._y = TOP - 50
        canvas.setFont(BOLD, SIZE)
        for edge, name in COLUMNS:
            canvas.drawString(edge, self._y, name)
        canvas.drawRightString(AMOUNT_EDGE, self._y, "Amount")
        canvas.drawRightString(BALANCE_EDGE, self._y, "Balance")
        canvas.line(MARGIN, self._y - 3, BALANCE_EDGE, self._y - 3)
        canvas.setFont(FONT, SIZE)

    def write_line(self, cells: Sequence[str], amount: str, balance: str, font: str = FONT) -> None:
        """Writes up to four cells, an amount and a balance on a line of their own."""
        self._y -= LINE_HEIGHT
        if self._y < BOTTOM:
            self._canvas.showPage()
            self._begin_page()
            self._y -= LINE_HEIGHT
        self._canvas.setFont(font, SIZE)
        for (edge, _), cell in zip(COLUMNS, cells, strict=False):
            self._canvas.drawString(edge, self._y, cell)
        self._canvas.drawRightString(AMOUNT_EDGE, self._y, amount)
        self._canvas.drawRightString(BALANCE_EDGE, self._y, balance)

    def finish(self) -> bytes:
        self._canvas.showPage()
        self._canvas.save()
        return self._out.getvalue()


def render_pdf(head: StatementHead, movements: Iterable[Movement], totals: Iterable[StatementTotal]) -> bytes:
    """Returns the statement as a PDF. Takes about a second for the longest one: call it in a thread."""
    pages = PdfPages(head)
    pages.write_line(("", "Opening balance"), "", format_minor(head.opening), BOLD)
    for movement in movements:
        cells = (
            lagos_text(movement.at)[:19].replace("T", " "),
            fit_width(movement.kind, KIND_WIDTH, SIZE),
            fit_width(movement.reference, REFERENCE_WIDTH, SIZE),
            fit_width(movement.counterparty, COUNTERPARTY_WIDTH, SIZE),
        )
        pages.write_line(cells, format_minor(movement.amount), format_minor(movement.balance))
    pages.write_line(("", "Closing balance"), "", format_minor(head.closing), BOLD)
    for total in totals:
        pages.write_line(("", f"Total {total.kind}"), total.amount, "")
    return pages.finish()
