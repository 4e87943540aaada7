"""The twin of Monnify: transfers from a wallet, with tokens that expire, and signed call-backs.

monnify_accounts.py has its reserved accounts, monnify_identity.py its comparison of persons, monnify_calls.py the forms
of its calls.

It is as strict as the vendor: a token before every call, references that are used once, amounts of two decimals, the
wallet's own number, and no two transfers of one amount to one account within two minutes. The last digits of the
account number choose the outcome:

    …01  pending until `settle` decides     …02  fails late     …03  wants an OTP
    …05  a status that nobody documents     …09  no such account     …99  refused with the catch-all code
    any other: pending, and a success at the first query

`transfers` keeps what was paid, to be compared with our books.
"""

import hmac
from base64 import b64encode
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha512
from typing import Any, Literal

import msgspec
from aiohttp import web

from kasuwa.rails.twins.facts import MONNIFY
from kasuwa.rails.twins.forms import Problem
from kasuwa.rails.twins.monnify_accounts import MonnifyAccountRules
from kasuwa.rails.twins.monnify_envelope import good, paged, refuse_form, refused
from kasuwa.rails.twins.monnify_identity import compare_person
from kasuwa.rails.twins.server import BODY

LOG_IN = "/api/v1/auth/login"
# Name, code and NIP code. Names and codes are the vendor's own.
BANKS = (
    ("Access bank", "044", "000014"),
    ("GTBank", "058", "000013"),
    ("First bank", "011", "000016"),
    ("Opay", "305", "100004"),
    ("9JAPAY MICROFINANCE BANK", "090629", "090629"),
)
STATUSES = {"01": "PENDING", "02": "FAILED", "03": "PENDING_AUTHORIZATION", "05": "ENCHANTED"}


class PaidTransfer(msgspec.Struct):
    """A transfer that was accepted."""

    reference: str
    amount: Decimal  # in naira
    account_number: str
    status: str
    at: datetime
    queries: int = 0


class MonnifyRules:
    name = "monnify"
    facts = MONNIFY

    def __init__(
        self,
        api_key: str = "MK_TEST_1",
        secret_key: str = "secret-1",
        wallet_account: str = "8016472829",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.api_key = api_key
        self.secret_key = secret_key
        self.wallet_account = wallet_account
        self.now = now
        self.balance = Decimal(10_000_000)
        self.transfers: dict[str, PaidTransfer] = {}
        self.token_number = 0
        self.tokens: set[str] = set()
        self.are_twins_held_apart = True
        self.has_two_factor = False
        self.tells_nip_codes = True
        self.writes_amounts_as_text = False  # in replies about transfers
        self.writes_codes_as_numbers = False  # in replies to log-ins, and in refusals of our keys
        self.not_found_http: Literal[400, 404] = 404  # of unknown transfers
        self.accounts = MonnifyAccountRules(self.sign)

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post(LOG_IN, self.log_in),
            web.get("/api/v1/banks", self.list_banks),
            web.get("/api/v1/disbursements/account/validate", self.validate_account),
            web.get("/api/v2/disbursements/wallet-balance", self.tell_balance),
            web.post("/api/v2/disbursements/single", self.transfer),
            web.get("/api/v2/disbursements/single/summary", self.summarize),
            web.get("/api/v2/disbursements/single/transactions", self.list_transfers),
            web.post("/api/v1/vas/bvn-details-match", self.compare_bvn),
            *self.accounts.routes(),
        ]

    def end_token(self) -> None:
        """Makes the tokens that were given worthless."""
        self.tokens.clear()

    def settle(self, reference: str, status: str) -> tuple[bytes, dict[str, str]]:
        """Ends a transfer. Returns the body and the headers of the call-back."""
        self.transfers[reference].status = status
        kind = {"SUCCESS": "SUCCESSFUL", "REVERSED": "REVERSED"}.get(status, "FAILED")
        event = {"eventType": f"{kind}_DISBURSEMENT", "eventData": self.describe(self.transfers[reference])}
        return self.sign(event)

    def sign(self, event: Any) -> tuple[bytes, dict[str, str]]:
        body = msgspec.json.encode(event)
        return body, {"monnify-signature": hmac.new(self.secret_key.encode(), body, sha512).hexdigest()}

    async def log_in(self, request: web.Request) -> web.Response:
        self.token_number += 1
        self.tokens.add(f"Bearer token-{self.token_number}")
        return good({"accessToken": f"token-{self.token_number}", "expiresIn": 3599}, self.write_code("0"))

    async def list_banks(self, request: web.Request) -> web.Response:
        ussd = {"ussdTemplate": None, "baseUssdCode": None, "transferUssdTemplate": None}
        rows = [
            {"name": name, "code": code, **ussd, **({"nipBankCode": nip} if self.tells_nip_codes else {})}
            for name, code, nip in BANKS
        ]
        return good(rows)

    async def validate_account(self, request: web.Request) -> web.Response:
        account, bank = request.query["accountNumber"], request.query["bankCode"]
        if bank not in {code for _, code, _ in BANKS}:
            return refused(400, "99", "Bank not supported")
        if account.endswith("09"):
            return refused(400, "99", "Invalid account number")
        return good({"accountNumber": account, "accountName": "ADA OBI", "bankCode": bank})

    async def tell_balance(self, request: web.Request) -> web.Response:
        if request.query["accountNumber"] != self.wallet_account:
            return refused(404, "99", "Could not find a wallet with this account number")
        balances = {"availableBalance": float(self.balance), "ledgerBalance": float(self.balance)}
        return good(balances)

    async def compare_bvn(self, request: web.Request) -> web.Response:
        return compare_person(request[BODY])

    async def transfer(self, request: web.Request) -> web.Response:
        body = request[BODY]
        amount, reference, account = body["amount"], body["reference"], body["destinationAccountNumber"]
        if amount <= 0:
            return refused(400, "99", "amount is not valid")
        if body["sourceAccountNumber"] != self.wallet_account:
            return refused(400, "99", "Could not process")
        if body["destinationBankCode"] not in {code for _, code, _ in BANKS}:
            return refused(400, "99", "Bank not supported")
        if account.endswith("99"):
            return refused(400, "99", "Something went wrong")
        if reference in self.transfers:
            return refused(400, "D05", "Transaction with the same reference exists")
        recent = (paid for paid in self.transfers.values() if self.now() - paid.at < timedelta(minutes=2))
        if self.are_twins_held_apart and any((p.amount, p.account_number) == (amount, account) for p in recent):
            return refused(400, "D07", "Please wait two minutes before this transfer again")
        if amount > self.balance:
            return refused(400, "D02", "The wallet does not have sufficient balance")
        self.balance -= amount
        status = STATUSES.get(account[-2:], "PENDING")
        self.transfers[reference] = PaidTransfer(reference, amount, account, status, self.now())
        return good(self.describe(self.transfers[reference]))

    async def summarize(self, request: web.Request) -> web.Response:
        paid = self.transfers.get(request.query["reference"])
        if paid is None:
            return refused(self.not_found_http, "99", "Could not find a disbursement with this reference")
        paid.queries += 1
        if paid.status == "PENDING" and paid.account_number[-2:] != "01":
            paid.status = "SUCCESS"
        return good(self.describe(paid) | {"twoFaEnabled": self.has_two_factor})

    async def list_transfers(self, request: web.Request) -> web.Response:
        rows = [self.describe(paid) for paid in reversed(self.transfers.values())]
        return paged(rows, request.query, self.accounts.page_marker, ("pageNo", "pageSize"))

    def describe(self, paid: PaidTransfer) -> dict[str, Any]:
        return {
            "amount": f"{paid.amount:.2f}" if self.writes_amounts_as_text else float(paid.amount),
            "reference": paid.reference,
            "status": paid.status,
            "destinationAccountNumber": paid.account_number,
            "transactionDescription": "Beneficiary's bank declined" if paid.status == "FAILED" else "",
            "dateCreated": "2026-01-05T09:00:00.000+0000",
        }

    def refuse_form(self, problem: Problem) -> web.Response:
        return refuse_form(problem)

    def refuse(self, request: web.Request) -> web.Response | None:
        authorization = request.headers.get("Authorization")
        if request.path == LOG_IN:
            basic = b64encode(f"{self.api_key}:{self.secret_key}".encode()).decode()
            return None if authorization == f"Basic {basic}" else self.refuse_keys("Invalid API key or secret")
        return None if authorization in self.tokens else self.refuse_keys("Access token is expired or invalid")

    def refuse_keys(self, words: str) -> web.Response:
        return refused(401, self.write_code("99"), words)

    def write_code(self, code: str) -> str | int:
        return int(code) if self.writes_codes_as_numbers else code
