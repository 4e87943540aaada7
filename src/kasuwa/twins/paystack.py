"""The twin of Paystack: transfers to bank accounts, and signed call-backs. paystack_accounts.py has its accounts.

It is as strict as the vendor: recipients before transfers, references of 16 to 50 lower-case letters, digits, dashes
and underscores that are used once, whole kobo, and its balance. The last digits of the account number choose the
outcome:

    …01  pending until `settle` decides     …02  fails     …03  wants an OTP     …04  blocked
    …05  a status that nobody documents     …09  no such account
    any other: pending, and a success at the first query

`transfers` keeps what was paid, to be compared with our books.
"""

import hmac
import re
from collections.abc import Iterable
from hashlib import sha512
from typing import Any

import msgspec
from aiohttp import web

from kasuwa.twins.facts import PAYSTACK, ROWS_PER_PAGE
from kasuwa.twins.paystack_accounts import PaystackAccountRules
from kasuwa.twins.paystack_envelope import good, refused

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
        self.accounts = PaystackAccountRules(self.domain, self.refuse, self.sign)

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
        """Ends a transfer. Returns the body and the headers of the call-back."""
        self.transfers[reference].status = status
        return self.sign({"event": f"transfer.{status}", "data": self.describe(self.transfers[reference])})

    def sign(self, event: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
        body = msgspec.json.encode(event)
        return body, {"x-paystack-signature": hmac.new(self.secret_key.encode(), body, sha512).hexdigest()}

    async def list_banks(self, request: web.Request) -> web.Response:
        """Lists the banks in pages, each with the cursor of the next."""
        refusal = self.refuse(request)
        first = int(request.query.get("next", "from-0").removeprefix("from-"))
        rows = BANKS[first : first + ROWS_PER_PAGE]
        data = [
            {"name": name, "code": code, "active": True, "is_deleted": None, "supports_transfer": True}
            | ({"nip_sort_code": nip} if nip and request.query.get("include_nip_sort_code") else {})
            for name, code, nip in rows
        ]
        following = first + ROWS_PER_PAGE
        meta = {"next": f"from-{following}" if following < len(BANKS) else None, "perPage": ROWS_PER_PAGE}
        return refusal or web.json_response({"status": True, "message": "Banks retrieved", "data": data, "meta": meta})

    async def resolve(self, request: web.Request) -> web.Response:
        refusal = self.refuse(request)
        if refusal is not None:
            return refusal
        account, code = request.query.get("account_number", ""), request.query.get("bank_code")
        if code not in {bank[1] for bank in BANKS}:
            return refused(422, "Unknown bank code: check that the bank code is correct")
        if account.endswith("09"):
            return refused(422, "Could not resolve account name. Check parameters or try again.")
        return good("Account number resolved", {"account_name": "ADA OBI", "account_number": account})

    async def tell_balance(self, request: web.Request) -> web.Response:
        return self.refuse(request) or good("Balances retrieved", [{"currency": "NGN", "balance": self.balance}])

    async def make_recipient(self, request: web.Request) -> web.Response:
        refusal = self.refuse(request)
        if refusal is not None:
            return refusal
        body = await request.json()
        if body.get("type") != "nuban" or not body.get("name"):
            return refused(400, "Name is required", type="validation_error")
        account = (body["bank_code"], body["account_number"])
        code = "RCP_" + "".join(account)
        self.recipients[code] = account
        return good("Transfer recipient created successfully", {"recipient_code": code, "active": True}, 201)

    async def transfer(self, request: web.Request) -> web.Response:
        refusal = self.refuse(request)
        if refusal is not None:
            return refusal
        body = await request.json()
        reference, amount = body.get("reference", ""), body.get("amount")
        if not isinstance(reference, str) or not REFERENCE.fullmatch(reference):
            return refused(400, "Transfer reference can only contain certain characters", type="validation_error")
        if reference in self.transfers:
            words = "Please provide a unique reference. Reference already exists on a transfer"
            return refused(400, words, type="validation_error", code="duplicate_transfer_reference")
        if not isinstance(amount, int) or amount <= 0 or body.get("source") != "balance":
            return refused(400, "Amount is invalid", type="validation_error")
        if body.get("recipient") not in self.recipients:
            return refused(404, "Recipient specified is invalid", code="invalid_transfer_recipient")
        if amount > self.balance:
            return refused(400, "Your balance is not enough to fulfil this request")
        self.balance -= amount
        account = self.recipients[body["recipient"]][1]
        status = STATUSES.get(account[-2:], "pending")
        self.transfers[reference] = PaidTransfer(
            reference, amount, body["recipient"], account, status, str(body.get("reason") or "")
        )
        return good("Transfer has been queued", self.describe(self.transfers[reference]))

    async def verify(self, request: web.Request) -> web.Response:
        refusal = self.refuse(request)
        if refusal is not None:
            return refusal
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

    def refuse_parameter(self, name: str) -> web.Response:
        return refused(400, f'"{name}" is not allowed', type="validation_error", code="invalid_params")

    def refuse(self, request: web.Request) -> web.Response | None:
        if request.headers.get("Authorization") == f"Bearer {self.secret_key}":
            return None
        return refused(401, "Invalid key", code="invalid_Key")
