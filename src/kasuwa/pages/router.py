"""One visit of a payer: which page an address below /pay/ names, and what its form does.

    /pay/<token>          the page; its form comes back to the same address
    /pay/<token>/qr.svg   the QR code alone
    /pay/<token>/state    how the payment stands, for a page that waits

The token is all a payer shows. There is no cookie and no session, so that a page works in a frame and in any browser.
"""

import re
from typing import Protocol
from urllib.parse import parse_qs

import msgspec
import structlog

from kasuwa.core.page import Page
from kasuwa.db.progress import RequestProgress, is_outage
from kasuwa.observe.log import describe_error
from kasuwa.pages.checkout_view import CheckoutView
from kasuwa.pages.render import EMBEDDABLE_PAGES, JSON, make_raw_page, render_checkout, render_notice, render_qr_image

PAGE_PATH = re.compile(r"(/pay/([A-Za-z0-9]{20,100}))(/qr\.svg|/state)?", re.ASCII)
OTP_PATTERN = re.compile("[0-9]{4,8}", re.ASCII)
# The form has three fields; more is no form of ours.
MAX_FORM_FIELDS = 10

OTP_REQUIRED = "Enter the code that your bank has sent you, 4 to 8 digits"

NOT_FOUND = render_notice(
    404, "There is no such payment", "Check the address, or go back to the merchant and try again."
)
METHOD_NOT_ALLOWED = render_notice(405, "This does not work here", "Go back to the merchant and try again.")
INVALID_FORM = render_notice(400, "The form could not be read", "Go back, and approve or decline the payment again.")
SERVICE_UNAVAILABLE = render_notice(
    503, "Please try again in a moment", "The payment could not be looked up. Nothing was changed."
)
INTERNAL_ERROR = render_notice(
    500, "Something went wrong", "Go back to the merchant, who can see how the payment stands."
)
# Shown once an answer may have reached the bank: a payer who is told to begin anew may pay twice.
OUTCOME_UNKNOWN = render_notice(
    503,
    "We do not know the outcome yet",
    "Your answer may have arrived. Do not pay again: load this page again in a moment, or ask the merchant.",
)

log = structlog.get_logger("kasuwa.pages")


class Checkout(Protocol):
    """Where payments are found and answered."""

    async def find(self, token: str) -> CheckoutView | None: ...

    async def submit_answer(self, token: str, otp: str | None, progress: RequestProgress) -> CheckoutView | str:
        """The payer approves with a code (empty where none is asked for) or declines (None). The bill as it then
        stands, or what the payer must do better."""
        ...


class CheckoutPages:
    def __init__(self, till: Checkout) -> None:
        self._checkout = till

    async def serve(self, verb: str, path: str, form: bytes) -> Page:
        progress = RequestProgress()
        try:
            return await self._route(verb, path, form, progress)
        except Exception as error:
            if not is_outage(error):
                log.error("page failed", **describe_error(error))
            if progress.may_have_changed:
                return OUTCOME_UNKNOWN
            return SERVICE_UNAVAILABLE if is_outage(error) else INTERNAL_ERROR

    async def _route(self, verb: str, path: str, form: bytes, progress: RequestProgress) -> Page:
        named = PAGE_PATH.fullmatch(path)
        bill = None if named is None else await self._checkout.find(named[2])
        if named is None or bill is None:
            return NOT_FOUND
        address, token, part = named.groups()
        if verb == "POST" and part is None and bill.page_kind in EMBEDDABLE_PAGES:
            return await self._submit_answer(bill, address, token, read_form(form), progress)
        if verb not in ("GET", "HEAD"):
            return METHOD_NOT_ALLOWED
        if part == "/state":
            return make_raw_page(JSON, msgspec.json.encode({"txnStatus": bill.status}))
        if part == "/qr.svg":
            return render_qr_image(bill.qr_payload) if bill.qr_payload else NOT_FOUND
        return render_checkout(bill, address)

    async def _submit_answer(
        self, bill: CheckoutView, address: str, token: str, fields: dict[str, str], progress: RequestProgress
    ) -> Page:
        if bill.status != "pending":
            return render_checkout(bill, address)
        # An answer that is at the rail this moment is waited for by its copies, as everywhere: the rule knows.
        decision, otp = fields.get("decision"), fields.get("otp", "").strip()
        if decision not in ("approve", "decline"):
            return INVALID_FORM
        if decision == "approve" and bill.page_kind == "challenge" and not OTP_PATTERN.fullmatch(otp):
            return render_checkout(bill, address, OTP_REQUIRED)
        answered = await self._checkout.submit_answer(token, otp if decision == "approve" else None, progress)
        if isinstance(answered, str):
            return render_checkout(bill, address, answered)
        return render_checkout(answered, address)


def read_form(form: bytes) -> dict[str, str]:
    """The fields of a form as browsers send it; of a field that comes twice, the first. None that can be read: none."""
    try:
        fields = parse_qs(form.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS, errors="strict")
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}
