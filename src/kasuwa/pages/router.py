"""Serves payers' requests below /pay/.

    /pay/<token>          the page; its form is posted to the same URL
    /pay/<token>/qr.svg   the QR code as an image
    /pay/<token>/state    the payment's status, for pages that poll
    /pay/checkout/…       a hosted checkout, and /pay/link/… a payment link (hosted_checkout.py)
    /pay/invoice/…        an invoice (invoice_pages.py)

The token is the only credential. There are no cookies and no session, so that a page works in an iframe.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol
from urllib.parse import parse_qs

import msgspec
import structlog

from kasuwa.engine.progress import RequestProgress, is_outage
from kasuwa.http.page import Page
from kasuwa.observe.log import describe_error
from kasuwa.pages.checkout_view import CheckoutView
from kasuwa.pages.render import EMBEDDABLE_PAGES, JSON, make_raw_page, render_checkout, render_notice, render_qr_image

PAGE_PATH = re.compile(r"(/pay/([A-Za-z0-9]{20,100}))(/qr\.svg|/state)?", re.ASCII)
OTP_PATTERN = re.compile("[0-9]{4,8}", re.ASCII)
# The longest form, of tickets of twenty kinds, has 23 fields.
MAX_FORM_FIELDS = 30

OTP_REQUIRED = "Enter the code that your bank has sent you, 4 to 8 digits"

LOAD_AGAIN = "Load this page again"
NOT_FOUND = render_notice(
    404, "Payment not found", "Check the address, or go back to the merchant and try again.", notice="not_found"
)
METHOD_NOT_ALLOWED = render_notice(405, "Method not allowed", "Go back to the merchant and try again.")
INVALID_FORM = render_notice(
    400,
    "The form could not be read",
    "Go back, and approve or decline the payment again.",
    notice="form_unreadable",
    again=LOAD_AGAIN,
)
SERVICE_UNAVAILABLE = render_notice(
    503,
    "Please try again in a moment",
    "The payment could not be looked up. Nothing was changed.",
    notice="unavailable",
    again="Try again",
)
INTERNAL_ERROR = render_notice(
    500,
    "Something went wrong",
    "Go back to the merchant, who can see the status of the payment.",
    notice="internal_error",
)
# Shown once an answer may have reached the bank. A payer who is told to start again might pay twice.
OUTCOME_UNKNOWN = render_notice(
    503,
    "We do not know the outcome yet",
    "Your answer may have arrived. Do not pay again: load this page again in a moment, or ask the merchant.",
    notice="outcome_unknown",
    again=LOAD_AGAIN,
)

log = structlog.get_logger("kasuwa.pages")


class Checkout(Protocol):
    """Finds payments by their page token and submits payers' answers."""

    async def find(self, token: str) -> CheckoutView | None: ...

    async def submit_answer(self, token: str, otp: str | None, progress: RequestProgress) -> CheckoutView | str:
        """Approves with a code (empty if none is needed) or declines (None).

        Returns the new view, or a message for a payer who must answer again.
        """
        ...


class HostedPages(Protocol):
    """Pages of one kind below /pay/."""

    async def serve(
        self, method: str, path: str, form: Mapping[str, str], address: str, progress: RequestProgress
    ) -> Page | None:
        """Returns the page of a path, or None if it is of another kind."""
        ...


class CheckoutPages:
    """Routes requests below /pay/. Never raises: errors become pages. `hosted` are asked first, in order.

    `prepare` is awaited before each page: it has the templates compiled once, off the event loop."""

    def __init__(
        self, checkout: Checkout, *hosted: HostedPages, prepare: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        self._checkout = checkout
        self._hosted = hosted
        self._prepare = prepare

    async def serve(self, method: str, path: str, form: bytes, address: str = "") -> Page:
        progress = RequestProgress()
        try:
            if self._prepare is not None:
                await self._prepare()
            for pages in self._hosted:
                page = await pages.serve(method, path, read_form(form), address, progress)
                if page is not None:
                    return page
            return await self._route(method, path, form, progress)
        except Exception as error:
            if not is_outage(error):
                log.error("page failed", **describe_error(error))
            if progress.may_have_changed:
                return OUTCOME_UNKNOWN
            return SERVICE_UNAVAILABLE if is_outage(error) else INTERNAL_ERROR

    async def _route(self, method: str, path: str, form: bytes, progress: RequestProgress) -> Page:
        match = PAGE_PATH.fullmatch(path)
        view = None if match is None else await self._checkout.find(match[2])
        if match is None or view is None:
            return NOT_FOUND
        address, token, part = match.groups()
        if method == "POST" and part is None and view.page_kind in EMBEDDABLE_PAGES:
            return await self._submit_answer(view, address, token, read_form(form), progress)
        if method not in ("GET", "HEAD"):
            return METHOD_NOT_ALLOWED
        if part == "/state":
            return make_raw_page(JSON, msgspec.json.encode({"txnStatus": view.status}))
        if part == "/qr.svg":
            return await asyncio.to_thread(render_qr_image, view.qr_payload) if view.qr_payload else NOT_FOUND
        return await asyncio.to_thread(render_checkout, view, address)

    async def _submit_answer(
        self, view: CheckoutView, address: str, token: str, fields: dict[str, str], progress: RequestProgress
    ) -> Page:
        if view.status != "pending":
            return await asyncio.to_thread(render_checkout, view, address)
        # A repeated answer is not refused here: the rule makes it wait for the first one's result.
        decision, otp = fields.get("decision"), fields.get("otp", "").strip()
        if decision not in ("approve", "decline"):
            return INVALID_FORM
        if decision == "approve" and view.page_kind == "challenge" and not OTP_PATTERN.fullmatch(otp):
            return await asyncio.to_thread(render_checkout, view, address, OTP_REQUIRED)
        result = await self._checkout.submit_answer(token, otp if decision == "approve" else None, progress)
        if isinstance(result, str):
            return await asyncio.to_thread(render_checkout, view, address, result)
        return await asyncio.to_thread(render_checkout, result, address)


def read_form(form: bytes) -> dict[str, str]:
    """Parses an urlencoded form. Of a repeated field the first value counts. Returns {} if it cannot be parsed."""
    try:
        fields = parse_qs(form.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS, errors="strict")
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}
