"""The twin of Paystack: transfers to bank accounts, and signed call-backs. paystack_accounts.py has its accounts.

It is as strict as the vendor: recipients before transfers, references of 16 to 50 lower-case letters, digits, dashes
and underscores that are used once, whole kobo, and its balance. paystack_calls.py has the forms of its calls.
The last digits of the account number choose the outcome:

    …01  pending until `settle` decides     …02  fails     …03  wants an OTP     …04  blocked
    …05  a status that nobody documents     …09  no such account
    any other: pending, and a success at the first query

`transfers` keeps what was paid, to be compared with our books.
"""

import hmac
import re
from collections.abc import Iterable
from hashlib import sha512
from typing import Any, Literal

import msgspec
from aiohttp import web

from kasuwa.rails.twins.facts import PAYSTACK, ROWS_PER_PAGE
from kasuwa.rails.twins.forms import Problem
from kasuwa.rails.twins.paystack_accounts import PaystackAccountRules
from kasuwa.rails.twins.paystack_envelope import good, refuse_form, refused
from kasuwa.rails.twins.server import BODY

REFERENCE = re.compile(r"[a-z0-9_-]{16,50}", re.ASCII)
BANKS = (
    ("Access Bank", "044", "000014"),
    ("Guaranty Trust Bank", "058", "000013"),
    ("First Bank of Nigeria", "011", "000016"),
    ("United Bank For Africa", "033", ""),
    ("Zenith Bank", "057", "000015"),
    ("ALAT by WEMA", "035A", ""),
    ("OPay Digital Services Limited (OPay)", "999992", ""),
)
STATUSES = {"01": "pending", "02": "failed", "03": "otp", "04": "blocked", "05": "enchanted"}


class PaidTransfer(msgspec.Struct):
    """A transfer that was accepted."""

    reference: str
    amount: int
    recipient: str
    account_number: str
    status: str
    reason: str  # our narration
    queries: int = 0


class PaystackRules:
    name = "paystack"
    facts = PAYSTACK

    def __init__(self, secret_key: str = "sk_test_1") -> None:
        self.secret_key = secret_key
        self.domain = "live" if secret_key.startswith("sk_live_") else "test"
        self.balance = 10_000_000_00
        self.recipients: dict[str, tuple[str, str]] = {}
        self.transfers: dict[str, PaidTransfer] = {}
        self.bank_words: str | None = "Beneficiary's bank declined"  # of a failed transfer; the vendor may give none
        self.tells_duplicate_code = True
        self.unresolved_http: Literal[400, 422] = 422  # of an account that does not exist
        self.accounts = PaystackAccountRules(self.domain, self.sign)

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.get("/bank", self.list_banks),
            web.get("/bank/resolve", self.resolve),
            web.get("/balance", self.tell_balance),
            web.post("/transferrecipient", self.make_recipient),
            web.post("/transfer", self.transfer),
            web.get("/transfer/verify/{reference}", self.verify),
            *self.accounts.routes(),
        ]

    def settle(self, reference: str, status: str) -> tuple[bytes, dict[str, str]]:
        """Gives a transfer another status. Returns the body and the headers of a call-back.

        The vendor sends none for a status that is not announced: such a call-back has no kind that anybody documents.
        """
        self.transfers[reference].status = status
        return self.sign({"event": f"transfer.{status}", "data": self.describe(self.transfers[reference])})

    def sign(self, event: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
        body = msgspec.json.encode(event)
        return body, {"x-paystack-signature": hmac.new(self.secret_key.encode(), body, sha512).hexdigest()}

    async def list_banks(self, request: web.Request) -> web.Response:
        """Lists the banks in pages, each with the cursor of the next."""
        first = int(request.query.get("next", "from-0").removeprefix("from-"))
        rows = BANKS[first : first + ROWS_PER_PAGE]
        data = [
            {"name": name, "code": code, "active": True, "is_deleted": None, "supports_transfer": True}
            | ({"nip_sort_code": nip} if nip and request.query.get("include_nip_sort_code") else {})
            for name, code, nip in rows
        ]
        following = first + ROWS_PER_PAGE
        meta = {"next": f"from-{following}" if following < len(BANKS) else None, "perPage": ROWS_PER_PAGE}
        return web.json_response({"status": True, "message": "Banks retrieved", "data": data, "meta": meta})

    async def resolve(self, request: web.Request) -> web.Response:
        account, code = request.query["account_number"], request.query["bank_code"]
        if code not in {bank[1] for bank in BANKS}:
            return refused(422, "Unknown bank code: check that the bank code is correct")
        if account.endswith("09"):
            return refused(self.unresolved_http, "Could not resolve account name. Check parameters or try again.")
        return good("Account number resolved", {"account_name": "ADA OBI", "account_number": account})

    async def tell_balance(self, request: web.Request) -> web.Response:
        return good("Balances retrieved", [{"currency": "NGN", "balance": self.balance}])

    async def make_recipient(self, request: web.Request) -> web.Response:
        body = request[BODY]
        if body["bank_code"] not in {bank[1] for bank in BANKS}:
            return refused(400, "Bank is invalid", type="validation_error")
        account = (body["bank_code"], body["account_number"])
        code = "RCP_" + "".join(account)
        self.recipients[code] = account
        return good("Transfer recipient created successfully", {"recipient_code": code, "active": True}, 201)

    async def transfer(self, request: web.Request) -> web.Response:
        body = request[BODY]
        reference, amount = body["reference"], body["amount"]
        if not REFERENCE.fullmatch(reference):
            return refused(400, "Transfer reference can only contain certain characters", type="validation_error")
        if reference in self.transfers:
            words = "Please provide a unique reference. Reference already exists on a transfer"
            code = {"code": "duplicate_transfer_reference"} if self.tells_duplicate_code else {}
            return refused(400, words, type="validation_error", **code)
        if amount <= 0:
            return refused(400, "Amount is invalid", type="validation_error")
        if body["recipient"] not in self.recipients:
            return refused(404, "Recipient specified is invalid", code="invalid_transfer_recipient")
        if amount > self.balance:
            return refused(400, "Your balance is not enough to fulfil this request")
        self.balance -= amount
        account = self.recipients[body["recipient"]][1]
        status = STATUSES.get(account[-2:], "pending")
        self.transfers[reference] = PaidTransfer(
            reference, amount, body["recipient"], account, status, body.get("reason", "")
        )
        return good("Transfer has been queued", self.describe(self.transfers[reference]))

    async def verify(self, request: web.Request) -> web.Response:
        paid = self.transfers.get(request.match_info["reference"])
        if paid is None:
            return refused(404, "Transfer not found", type="validation_error", code="transfer_not_found")
        paid.queries += 1
        if paid.status == "pending" and paid.account_number[-2:] != "01":
            paid.status = "success"
        return good("Transfer retrieved", self.describe(paid))

    def describe(self, paid: PaidTransfer) -> dict[str, Any]:
        return {
            "domain": self.domain,
            "amount": paid.amount,
            "currency": "NGN",
            "reference": paid.reference,
            "source": "balance",
            "status": paid.status,
            "transfer_code": f"TRF_{paid.reference[-8:]}",
            "reason": paid.reason,
            "failures": None,
            "gateway_response": self.bank_words if paid.status == "failed" else None,
        }

    def refuse_form(self, problem: Problem) -> web.Response:
        return refuse_form(problem)

    def refuse(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") == f"Bearer {self.secret_key}":
            return None
        return refused(401, "Invalid key", code="invalid_Key")
