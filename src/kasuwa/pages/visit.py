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
from kasuwa.db.progress import Progress, is_outage
from kasuwa.observe.log import where_it_broke
from kasuwa.pages.bill import Bill
from kasuwa.pages.render import FRAMED, JSON, bare, render_bill, render_code, render_notice

ADDRESS = re.compile(r"(/pay/([A-Za-z0-9]{20,100}))(/qr\.svg|/state)?", re.ASCII)
OTP = re.compile("[0-9]{4,8}", re.ASCII)
# The form has three fields; more is no form of ours.
MOST_FIELDS = 10

CODE_NEEDED = "Enter the code that your bank has sent you, 4 to 8 digits"

NOT_FOUND = render_notice(
    404, "There is no such payment", "Check the address, or go back to the merchant and try again."
)
NO_SUCH_VERB = render_notice(405, "This does not work here", "Go back to the merchant and try again.")
NOT_OUR_FORM = render_notice(400, "The form could not be read", "Go back, and approve or decline the payment again.")
AWAY = render_notice(503, "Please try again in a moment", "The payment could not be looked up. Nothing was changed.")
BROKEN = render_notice(500, "Something went wrong", "Go back to the merchant, who can see how the payment stands.")
# Shown once an answer may have reached the bank: a payer who is told to begin anew may pay twice.
UNKNOWN = render_notice(
    503,
    "We do not know the outcome yet",
    "Your answer may have arrived. Do not pay again: load this page again in a moment, or ask the merchant.",
)

log = structlog.get_logger("kasuwa.pages")


class Till(Protocol):
    """Where payments are found and answered."""

    async def find(self, token: str) -> Bill | None: ...

    async def answer(self, token: str, otp: str | None, progress: Progress) -> Bill | str:
        """The payer approves with a code (empty where none is asked for) or declines (None). The bill as it then
        stands, or what the payer must do better."""
        ...


class Visits:
    def __init__(self, till: Till) -> None:
        self._till = till

    async def answer(self, verb: str, path: str, form: bytes) -> Page:
        progress = Progress()
        try:
            return await self._answer(verb, path, form, progress)
        except Exception as error:
            if not is_outage(error):
                log.error("page failed", **where_it_broke(error))
            if progress.may_have_changed:
                return UNKNOWN
            return AWAY if is_outage(error) else BROKEN

    async def _answer(self, verb: str, path: str, form: bytes, progress: Progress) -> Page:
        named = ADDRESS.fullmatch(path)
        bill = None if named is None else await self._till.find(named[2])
        if named is None or bill is None:
            return NOT_FOUND
        address, token, part = named.groups()
        if verb == "POST" and part is None and bill.kind in FRAMED:
            return await self._take_answer(bill, address, token, read_form(form), progress)
        if verb not in ("GET", "HEAD"):
            return NO_SUCH_VERB
        if part == "/state":
            return bare(JSON, msgspec.json.encode({"txnStatus": bill.status}))
        if part == "/qr.svg":
            return render_code(bill.payload) if bill.payload else NOT_FOUND
        return render_bill(bill, address)

    async def _take_answer(
        self, bill: Bill, address: str, token: str, fields: dict[str, str], progress: Progress
    ) -> Page:
        if bill.status != "pending":
            return render_bill(bill, address)
        # An answer that is at the rail this moment is waited for by its copies, as everywhere: the rule knows.
        decision, otp = fields.get("decision"), fields.get("otp", "").strip()
        if decision not in ("approve", "decline"):
            return NOT_OUR_FORM
        if decision == "approve" and bill.kind == "challenge" and not OTP.fullmatch(otp):
            return render_bill(bill, address, CODE_NEEDED)
        answered = await self._till.answer(token, otp if decision == "approve" else None, progress)
        if isinstance(answered, str):
            return render_bill(bill, address, answered)
        return render_bill(answered, address)


def read_form(form: bytes) -> dict[str, str]:
    """The fields of a form as browsers send it; of a field that comes twice, the first. None that can be read: none."""
    try:
        fields = parse_qs(form.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}
