"""Serves statements below /statements/: a sealed link is the only credential.

    /statements/<token>.csv     also the register of shareholders (share_register.py)
    /statements/<token>.pdf     also that register, and the certificate of a fixed deposit (certificates.py)
    /statements/<token>.json    what proves such a certificate

The token is the terms of the statement, encrypted. Nothing is stored. A link ends after an hour of the merchant's
business time, when the merchant is suspended, and when `reset` gives it new books. Contract: resources#statements
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import msgspec
import structlog

from kasuwa.concurrency.shares import FileShares, SharedFile
from kasuwa.core.addresses import find_network
from kasuwa.core.decision import Merchant
from kasuwa.core.keyring import UnsealError
from kasuwa.core.reading import RequestReader
from kasuwa.core.vault import Vault
from kasuwa.engine.progress import is_outage
from kasuwa.http.page import Page, StreamedPage
from kasuwa.merchants.merchants import MerchantDirectory
from kasuwa.methods.investments.certificates.store import read_certificate
from kasuwa.methods.shares.register.store import read_share_register
from kasuwa.methods.statements.files.store import PIECE_MOVEMENTS, Piece
from kasuwa.methods.statements.links import decode_link
from kasuwa.methods.statements.model import (
    CERTIFICATE,
    CERTIFICATE_PROOF,
    ENDINGS,
    LINK_AAD,
    LINK_OWNER,
    MAX_PDF_MOVEMENTS,
    REGISTER_ACCOUNT,
    REGISTER_CSV,
    TERMS_DECODER,
    StatementAccount,
    StatementTerms,
    Total,
    classify_movement,
    make_period,
)
from kasuwa.methods.statements.store import (
    Period,
    Place,
    add_to_total,
    business_now,
    find_account,
    find_period,
    list_movements,
    read_balances,
    read_piece,
    read_totals,
    show_totals,
)
from kasuwa.observe.log import describe_error
from kasuwa.pages.certificates import make_proof, render_certificate
from kasuwa.pages.render import render_notice
from kasuwa.pages.share_register import render_csv as render_register_csv
from kasuwa.pages.share_register import render_pdf as render_register_pdf
from kasuwa.pages.statement_files import StatementHead, csv_end, csv_head, render_pdf
from kasuwa.postgres.connection_pool import Pool
from kasuwa.postgres.merchant_rows import MerchantReader
from kasuwa.wire.fields import read_date

LINK_PATH = re.compile(r"/statements/([A-Za-z0-9_-]{40,1000})\.(csv|pdf|json)", re.ASCII)
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "pdf": "application/pdf", "json": "application/json"}

# An unknown, a changed and an expired link are answered alike.
NOT_FOUND = render_notice(404, "This link does not work", "It may have expired. Ask for a new one.")
TOO_MANY_FILES = render_notice(
    429, "Too many files at once", "Wait until the others have arrived, and open the link again.", retry_after=5
)
METHOD_NOT_ALLOWED = render_notice(405, "Method not allowed", "Open the link in a browser.")
SERVICE_UNAVAILABLE = render_notice(
    503, "Please try again in a moment", "The statement could not be read.", retry_after=2
)
INTERNAL_ERROR = render_notice(500, "Something went wrong", "Ask for the statement again.")

log = structlog.get_logger("kasuwa.pages")


class StatementPages:
    """Serves statements as files. Errors become pages."""

    def __init__(self, lists: Pool, vault: Vault, directory: MerchantDirectory, public_url: str) -> None:
        self._public_url = public_url
        self._lists = lists
        self._vault = vault
        self._directory = directory
        self._shares = FileShares()

    async def serve(self, method: str, path: str, address: str) -> Page | StreamedPage:
        match = LINK_PATH.fullmatch(path)
        terms = None if match is None else self._read_terms(match[1])
        if match is None or terms is None or ENDINGS.get(terms.format) != match[2]:
            return NOT_FOUND
        if method not in ("GET", "HEAD"):
            return METHOD_NOT_ALLOWED
        end = self._shares.begin(find_network(address), terms.merchant_id)
        if end is None:
            return TOO_MANY_FILES
        served: Page | StreamedPage = INTERNAL_ERROR
        try:
            served = await self._serve_statement(terms, end)
        except Exception as error:
            if is_outage(error):
                served = SERVICE_UNAVAILABLE
            else:
                log.error("statement failed", **describe_error(error))
        finally:
            if not isinstance(served, StreamedPage):
                end()
        return served

    def _read_terms(self, token: str) -> StatementTerms | None:
        sealed = decode_link(token)
        try:
            return None if sealed is None else TERMS_DECODER.decode(self._vault.unseal(LINK_OWNER, LINK_AAD, sealed))
        except (UnsealError, msgspec.ValidationError):
            return None

    async def _serve_statement(self, terms: StatementTerms, end: Callable[[], None]) -> Page | StreamedPage:
        merchant_id = await self._directory.find_current(terms.merchant_id)
        if merchant_id is None:
            return NOT_FOUND
        terms = msgspec.structs.replace(terms, merchant_id=merchant_id)
        reader = MerchantReader(self._lists, merchant_id)
        merchant = await self._directory.get_by_id(merchant_id)
        now = await business_now(merchant_id, reader)
        if merchant.suspended or now >= datetime.fromtimestamp(terms.expires, UTC):
            return NOT_FOUND
        if terms.account == REGISTER_ACCOUNT:
            return await self._serve_register(terms, now, merchant, reader)
        account = await find_account(terms.account, terms.id, terms.currency, merchant_id, reader)
        if account is None:
            return NOT_FOUND
        if terms.format in (CERTIFICATE, CERTIFICATE_PROOF):
            return await self._serve_certificate(terms, merchant, reader)
        head, period = await read_head(terms, account, merchant, reader)
        headers = file_headers(head.file_name, terms.format)
        if terms.format == "csv":
            pieces = stream_csv(head, account, period, merchant_id, reader)
            return StreamedPage(200, SharedFile(self._shares, pieces, merchant_id, end), headers)
        async with self._shares.reading_piece(merchant_id):
            movements = await list_movements(account, period, Place(), MAX_PDF_MOVEMENTS, merchant_id, reader)
            totals = await read_totals(account, period, merchant_id, reader)
            return Page(200, await asyncio.to_thread(render_pdf, head, movements, totals), headers)

    async def _serve_certificate(self, terms: StatementTerms, merchant: Merchant, reader: MerchantReader) -> Page:
        certificate = await read_certificate(terms.id, terms.merchant_id, reader, self._vault.unseal)
        if certificate is None:
            return NOT_FOUND
        if terms.format == CERTIFICATE_PROOF:
            proof = msgspec.json.encode(make_proof(certificate, merchant))
            return Page(200, proof, file_headers(f"proof-{terms.id}", "json"))
        link = f"{self._public_url}/statements/{terms.proof}.json"
        file = await asyncio.to_thread(render_certificate, certificate, merchant, link)
        return Page(200, file, file_headers(f"certificate-{terms.id}", "pdf"))

    async def _serve_register(
        self, terms: StatementTerms, now: datetime, merchant: Merchant, reader: MerchantReader
    ) -> Page:
        register = await read_share_register(terms, now, reader, self._vault.unseal)
        if register is None:
            return NOT_FOUND
        name = f"register-{terms.id}"
        if terms.format == REGISTER_CSV:
            return Page(200, await asyncio.to_thread(render_register_csv, register), file_headers(name, "csv"))
        return Page(200, await asyncio.to_thread(render_register_pdf, register, merchant), file_headers(name, "pdf"))


async def read_head(
    terms: StatementTerms, account: StatementAccount, merchant: Merchant, reader: RequestReader
) -> tuple[StatementHead, Period]:
    first, last = read_date(terms.first_day), read_date(terms.last_day)
    period = await find_period(terms.merchant_id, *make_period(first, last), reader)
    opening, closing = await read_balances(account, period, terms.merchant_id, reader)
    head = StatementHead(
        merchant_name=merchant.name,
        mid=merchant.mid,
        account=account,
        first_day=first.plain(),
        last_day=last.plain(),
        opening=opening,
        closing=closing,
    )
    return head, period


def file_headers(name: str, ending: str) -> tuple[tuple[str, str], ...]:
    """Returns the headers of a file. Its URL is a secret, so it must not be cached or sent as a referrer."""
    return (
        ("content-type", CONTENT_TYPES[ending]),
        ("content-disposition", f'attachment; filename="{name}.{ending}"'),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    )


async def stream_csv(
    head: StatementHead, account: StatementAccount, period: Period, merchant_id: int, reader: RequestReader
) -> AsyncIterator[bytes]:
    """Yields the file in pieces. Totals are summed on the way."""
    yield csv_head(head)
    totals: dict[str, Total] = {}
    piece, after = Piece(None, PIECE_MOVEMENTS, 0, 0, "[]"), Place()
    while piece.movements == PIECE_MOVEMENTS:
        piece = await read_piece(account, period, after, merchant_id, reader)
        for kind, other, amount, count in piece.list_totals():
            add_to_total(totals, classify_movement(kind, other, amount), amount, count)
        if piece.lines is not None:
            yield piece.lines.encode()
        after = Place(piece.seq or 0, piece.side or 0)
    yield csv_end(head, show_totals(totals))
