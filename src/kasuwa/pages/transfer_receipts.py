"""Serves the receipts of transfers below /pay/receipt/.

    /pay/receipt/<token>               the receipt, with the close of the books that has its postings
    /pay/receipt/<token>/receipt.pdf   the same as a file, with a QR code of the page's address

The token is the only credential: whoever has the receipt can check it. Contract: disburse#receipts
"""

import asyncio
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from markupsafe import Markup

from kasuwa.core.banks import bank_names
from kasuwa.core.calendar import LAGOS
from kasuwa.core.decision import Merchant
from kasuwa.engine.progress import RequestProgress
from kasuwa.http.page import Page
from kasuwa.methods.disburse.receipts import make_receipt_url, open_facts, read_receipt_token
from kasuwa.methods.disburse.store import PaidTransfer, find_paid_transfer
from kasuwa.methods.statements.proofs.store import find_close
from kasuwa.methods.statements.proofs.wire import ProofClose
from kasuwa.pages.hosted_checkout import METHOD_NOT_ALLOWED, HostedServices
from kasuwa.pages.hosted_render import render_hosted
from kasuwa.pages.receipt_pdf import Receipt, render_receipt_pdf
from kasuwa.pages.render import draw_qr_svg, format_amount, render_notice, security_headers

PREFIX = "/pay/receipt/"
PATH = re.compile(r"/pay/receipt/([A-Za-z0-9_-]{40,300})(/receipt\.pdf)?", re.ASCII)
NOT_FOUND = render_notice(404, "Receipt not found", "Check the address: it proves nothing unless it opens a receipt.")
RETURNED = "Returned: after it was paid, the bank sent the money back"
PENDING = "It will be in the next close of the books, which is signed once a day."


class TransferReceipt(msgspec.Struct, frozen=True):
    """The content of the page and the file."""

    merchant: Merchant
    address: str
    total: str
    is_returned: bool
    lines: list[tuple[str, str]]  # label and value
    close: ProofClose | None  # None until the books are closed


class TransferReceiptPages:
    def __init__(self, services: HostedServices) -> None:
        self._services = services

    async def serve(
        self, method: str, path: str, form: Mapping[str, str], address: str, progress: RequestProgress
    ) -> Page | None:
        """Returns the page of a path, or None if it is none of ours."""
        match = PATH.fullmatch(path)
        if match is None:
            return NOT_FOUND if path.startswith(PREFIX) else None
        if method not in ("GET", "HEAD"):
            return METHOD_NOT_ALLOWED
        receipt = await self._find(match[1])
        if receipt is None:
            return NOT_FOUND
        return await asyncio.to_thread(make_file if match[2] else render_receipt_page, receipt)

    async def _find(self, token: str) -> TransferReceipt | None:
        services = self._services
        named = read_receipt_token(token, services.vault.digest)
        if named is None:
            return None
        number, txn_ref = named
        merchant_id = await services.merchants.find_current(number)
        if merchant_id is None:
            return None
        reader = services.reads.rows_of(merchant_id)
        transfer = await find_paid_transfer(merchant_id, txn_ref, reader)
        if transfer is None:
            return None
        merchant = await services.merchants.get_by_id(merchant_id)
        return TransferReceipt(
            merchant,
            make_receipt_url(services.public_url, number, txn_ref, services.vault.digest),
            format_amount(transfer.amount, transfer.currency),
            transfer.is_returned,
            list_lines(transfer, merchant, services.vault),
            await find_close(txn_ref, merchant_id, reader),
        )


def list_lines(transfer: PaidTransfer, merchant: Merchant, vault: Any) -> list[tuple[str, str]]:
    facts = open_facts(merchant.merchant_id, transfer.txn_ref, transfer.facts_sealed, vault.unseal)
    order, paid_at = transfer.order, transfer.paid_at
    lines = (
        ("State", RETURNED if transfer.is_returned else ""),
        ("To", facts.name),
        ("Bank", bank_names().get(order.bank_code, order.bank_code)),
        ("Account number", order.account_number),
        ("From", order.sender_name or merchant.name),
        ("Narration", order.narration),
        ("Paid", describe_time(paid_at)),
        ("Reference", transfer.txn_ref),
        ("Session id", facts.session),
    )
    return [(label, value) for label, value in lines if value]


def describe_time(moment: datetime) -> str:
    at = moment.astimezone(LAGOS)
    return f"{at.day} {at:%b %Y, %H:%M:%S}, Lagos time"


def describe_close(close: ProofClose | None) -> str:
    """Returns what the books prove, in words."""
    if close is None:
        return PENDING
    closed_at = describe_time(datetime.fromisoformat(close.closed_at))
    return f"It is in close {close.number} of the books, which was signed on {closed_at}."


def render_receipt_page(receipt: TransferReceipt) -> Page:
    values: dict[str, Any] = {
        "receipt": receipt,
        "merchant_name": receipt.merchant.name,
        "logo": receipt.merchant.logo,
        "is_test": receipt.merchant.environment == "test",
        "proof": describe_close(receipt.close),
        "qr_svg": Markup(draw_qr_svg(receipt.address).decode()),
        "polls": False,
    }
    return render_hosted("transfer_receipt.html", values, None)


def make_file(receipt: TransferReceipt) -> Page:
    close = receipt.close
    root = () if close is None else (f"Root {close.root}",)
    body = render_receipt_pdf(
        Receipt(
            merchant_name=receipt.merchant.name,
            total=receipt.total,
            lines=receipt.lines,
            notes=(
                describe_close(close),
                *root,
                "Scan the code, or open the address that it has, to check this receipt.",
            ),
            is_test=receipt.merchant.environment == "test",
            title="Receipt of a transfer",
            address=receipt.address,
        )
    )
    headers = security_headers("application/pdf", "default-src 'none'; frame-ancestors 'none'")
    return Page(200, body, (*headers, ("content-disposition", 'attachment; filename="transfer-receipt.pdf"')))
