"""The certificate of a fixed deposit as a PDF, and what proves it as JSON. Does no I/O besides what it writes to
memory.

Contract: investments#certificate
"""

import io
from typing import Any, Literal

import msgspec

from kasuwa.audit.close_tree import close_time_text
from kasuwa.core.calendar import lagos_text, utc_text
from kasuwa.core.decision import Merchant
from kasuwa.core.money import format_minor
from kasuwa.methods.investments.certificates.store import Certificate
from kasuwa.pages.pdf_qr import draw_qr
from kasuwa.pages.statement_files import BOLD, FONT, printable

LEFT, RIGHT, TOP = 70, 525, 770
LINE_HEIGHT = 22
QR_SIDE, QR_BOTTOM = 170, 120

ROLLOVER_TEXTS = {
    "none": "The deposit matures",
    "principal": "The principal begins a new term",
    "all": "Principal and interest begin a new term",
}


class ProvenPosting(msgspec.Struct):
    """The newest posting of the deposit."""

    reference: str
    number: int
    at: str
    balance: str


class ProvenClose(msgspec.Struct):
    """The signed close of the books that has the posting, as it is published."""

    number: int
    closed_at: str
    root: str
    public_key: str
    signature: str


class CertificateProof(msgspec.Struct):
    """The proof of a certificate: the deposit as it is now, its newest posting, and the close that has it."""

    merchant: str
    savings_id: str
    state: str
    balance: str
    matures_at: str
    posting: ProvenPosting
    proof: Literal["closed", "pending"]
    close: ProvenClose | None


def make_proof(certificate: Certificate, merchant: Merchant) -> CertificateProof:
    record, posting, close = certificate.record, certificate.posting, certificate.close
    return CertificateProof(
        merchant=merchant.name,
        savings_id=str(record.savings_id),
        state=record.state,
        balance=record.balance,
        matures_at=record.matures_at,
        posting=ProvenPosting(posting.reference, posting.number, utc_text(posting.at), format_minor(posting.balance)),
        proof="pending" if close is None else "closed",
        close=None
        if close is None
        else ProvenClose(
            close.number,
            close_time_text(close.closed_at),
            close.root.hex(),
            close.public_key.hex(),
            close.signature.hex(),
        ),
    )


def list_lines(certificate: Certificate) -> list[tuple[str, str]]:
    """Returns the lines of a certificate: label and value."""
    record = certificate.record
    interest = record.interest_settings
    tax = f"{record.tax_rate}% of the interest is withheld" if record.tax_applied else "None is withheld"
    return [
        ("Holder", certificate.holder),
        ("Account", f"{record.name} ({record.savings_id})"),
        ("State", record.state),
        ("Term", f"{record.term_days} days"),
        ("Ends", record.matures_at[:10] if record.state == "matured" else f"{record.matures_at} (UTC)"),
        ("Interest", f"{interest.interest_rate}% {interest.interest_frequency}"),
        ("Tax", tax),
        ("At the end of the term", ROLLOVER_TEXTS[str(record.rollover)]),
        ("Interest so far", f"NGN {record.accrued_interest}"),
        ("Last posting", f"{certificate.posting.reference}, {lagos_text(certificate.posting.at)}"),
    ]


def render_certificate(certificate: Certificate, merchant: Merchant, proof_link: str) -> bytes:
    # It takes a tenth of a second to import, and few processes ever write a PDF.
    from reportlab.lib.pagesizes import A4
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    # Without `invariant` a file would tell the time and the machine of its making.
    canvas: Any = Canvas(out, pagesize=A4, pageCompression=1, invariant=1)
    canvas.setTitle(printable(f"Fixed deposit {certificate.record.savings_id}"))
    canvas.setAuthor(printable(merchant.name))
    canvas.setFont(BOLD, 18)
    canvas.drawString(LEFT, TOP, "Certificate of fixed deposit")
    canvas.setFont(FONT, 11)
    canvas.drawString(LEFT, TOP - 20, printable(merchant.name, 80))
    if merchant.environment == "test":
        canvas.drawRightString(RIGHT, TOP, "TEST - no money is held")
    canvas.setFont(BOLD, 24)
    canvas.drawString(LEFT, TOP - 62, printable(f"NGN {certificate.record.balance}"))
    y = TOP - 100
    canvas.setFont(FONT, 10)
    for label, value in list_lines(certificate):
        canvas.drawString(LEFT, y, printable(label, 40))
        canvas.drawRightString(RIGHT, y, printable(value, 70))
        y -= LINE_HEIGHT
    canvas.drawString(LEFT, QR_BOTTOM + QR_SIDE + 14, "Scan this code to compare the certificate with the books:")
    draw_qr(canvas, proof_link, LEFT, QR_BOTTOM, QR_SIDE)
    canvas.showPage()
    canvas.save()
    return out.getvalue()
