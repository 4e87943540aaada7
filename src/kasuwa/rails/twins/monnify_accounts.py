"""Reserved accounts and settlements of the twin of Monnify.

An account needs our contract, a reference of at most 64 characters that is used once, a customer and a BVN. It has a
number at each of the vendor's banks. `pay_into` simulates a payer. The returned call-back need not be delivered.
BVNs choose the outcome:

    …01  refused for the BVN     …02  refused with the catch-all code     …03  refused for want of a permission
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
from aiohttp import web

from kasuwa.rails.twins.monnify_envelope import PageMarker, good, paged, refused
from kasuwa.rails.twins.server import BODY, deliver

BANKS = {"50515": "Moniepoint Microfinance Bank", "035": "Wema bank", "232": "Sterling bank"}
BVN = re.compile("[0-9]{11}", re.ASCII)


class Account(msgspec.Struct):
    """A reserved account: its numbers by the code of their bank."""

    reference: str
    name: str
    email: str
    numbers: dict[str, str]
    status: str = "ACTIVE"


class Payment(msgspec.Struct):
    """Money that a payer paid into an account."""

    reference: str
    account: str
    number: str
    amount: Decimal  # in naira
    status: str
    at: datetime
    sender: str
    product: str = "RESERVED_ACCOUNT"


class MonnifyAccountRules:
    """The part of the vendor that knows reserved accounts and settlements."""

    def __init__(
        self,
        sign: Callable[[Any], tuple[bytes, dict[str, str]]],
        contract_code: str = "4934121686",
    ) -> None:
        self.lists_sources = True  # of payments: a list of accounts, or one
        self.sign = sign
        self.contract_code = contract_code
        self.page_marker: PageMarker = "last"
        # Answers for transactions that are no payments into accounts, if another part of the API has them.
        self.show_other: Callable[[web.Request], Awaitable[web.Response]] | None = None
        self.accounts: dict[str, Account] = {}
        self.payments: dict[str, Payment] = {}
        self.settlements: dict[str, list[str]] = {}

    def routes(self) -> Iterable[web.RouteDef]:
        reserved = "/api/v2/bank-transfer/reserved-accounts"
        return [
            web.post("/_twin/pay_into", self.pay_on_request),
            web.post(reserved, self.reserve),
            web.get(reserved + "/{reference}", self.show_account),
            web.delete("/api/v1/bank-transfer/reserved-accounts/reference/{reference}", self.release),
            web.get("/api/v1/bank-transfer/reserved-accounts/transactions", self.list_payments),
            web.get("/api/v2/transactions/{reference}", self.show_payment),
            web.get("/api/v1/transactions/find-by-settlement-reference", self.list_settled),
        ]

    # --- what happens outside ------------------------------------------------------------------------------------

    def pay_into(self, number: str, amount: Decimal, sender: str = "CHIDI EZE") -> tuple[bytes, dict[str, str]]:
        """Pays into an account. Returns the body and the headers of the call-back."""
        account = next(candidate for candidate in self.accounts.values() if number in candidate.numbers.values())
        reference = f"MNFY|{len(self.payments):02d}|20260105103000|{number}"
        self.payments[reference] = Payment(
            reference, account.reference, number, amount, "PAID", datetime.now(UTC), sender
        )
        return self.announce(reference)

    async def pay_on_request(self, request: web.Request) -> web.Response:
        """Pays into an account for a person who tries the twin: `account_number`, `amount` in naira, `callback_url`."""
        body = await request.json()
        event = self.pay_into(body["account_number"], Decimal(str(body["amount"])))
        status = await deliver(body["callback_url"], event) if body.get("callback_url") else None
        return web.json_response({"event": event[0].decode(), "headers": event[1], "answer": status})

    def announce(self, reference: str) -> tuple[bytes, dict[str, str]]:
        payment = self.payments[reference]
        event = {
            **self.describe_payment(payment),
            "amountPaid": float(payment.amount),
            "destinationAccountInformation": {"accountNumber": payment.number, "bankName": "Wema bank"},
            "paymentSourceInformation": self.describe_source(payment),
        }
        return self.sign({"eventType": "SUCCESSFUL_TRANSACTION", "eventData": event})

    def settle_payments(self, reference: str) -> tuple[bytes, dict[str, str]]:
        """Pays out what came in. Returns the body and the headers of the call-back."""
        self.settlements[reference] = list(self.payments)
        total = sum(payment.amount for payment in self.payments.values())
        data = {"settlementReference": reference, "amount": f"{total}", "settlementTime": "05/01/2026 10:00:00 PM"}
        return self.sign({"eventType": "SETTLEMENT", "eventData": {**data, "transactionsCount": len(self.payments)}})

    # --- accounts --------------------------------------------------------------------------------------------------

    async def reserve(self, request: web.Request) -> web.Response:
        body = request[BODY]
        bvn, reference = body.get("bvn", ""), body["accountReference"]
        if body["contractCode"] != self.contract_code:
            return refused(404, "99", "No contract with the code exists for this merchant")
        if body["restrictPaymentSource"]:
            return refused(400, "99", "allowedPaymentSources must be set if payment sources are restricted")
        if not BVN.fullmatch(bvn):
            return refused(400, "99", "BVN or NIN is required")
        if reference in self.accounts:
            return refused(422, "R42", "You can not reserve more than 1 account with the same reference")
        match bvn[-2:]:
            case "01":
                return refused(422, "R20", "Invalid BVN supplied")
            case "02":
                return refused(400, "99", "Something went wrong")
            case "03":
                return refused(400, "99", "Reserved accounts are not enabled for you")
        serial = 10_000_000 + len(self.accounts)
        numbers = {code: f"{place}{serial:09d}" for place, code in enumerate(BANKS, start=5)}
        if not body["getAllAvailableBanks"]:
            numbers = {code: number for code, number in numbers.items() if code in body.get("preferredBanks", [])}
        if not numbers:
            return refused(400, "99", "preferredBanks is not valid")
        self.accounts[reference] = Account(reference, body["accountName"], body["customerEmail"], numbers)
        return good(self.describe_account(self.accounts[reference]))

    async def show_account(self, request: web.Request) -> web.Response:
        account = self.accounts.get(request.match_info["reference"])
        if account is None:
            return refused(404, "99", "Cannot find reserved account")
        return good(self.describe_account(account))

    async def release(self, request: web.Request) -> web.Response:
        account = self.accounts.pop(request.match_info["reference"], None)
        if account is None:
            return refused(404, "99", "Cannot find reserved account")
        return good({**self.describe_account(account), "status": "INACTIVE"})

    # --- payments and settlements ------------------------------------------------------------------------------------

    async def show_payment(self, request: web.Request) -> web.Response:
        payment = self.payments.get(request.match_info["reference"])
        if payment is None and self.show_other is not None:
            return await self.show_other(request)
        if payment is None:
            return refused(404, "99", "Could not find a transaction with this reference")
        return good(self.describe_payment(payment))

    async def list_payments(self, request: web.Request) -> web.Response:
        account = request.query["accountReference"]
        if account not in self.accounts:
            return refused(404, "99", "Cannot find reserved account")
        rows = [
            self.describe_payment(payment) for payment in reversed(self.payments.values()) if payment.account == account
        ]
        return paged(rows, request.query, self.page_marker)

    async def list_settled(self, request: web.Request) -> web.Response:
        references = self.settlements.get(request.query["reference"])
        if references is None:
            return refused(404, "99", "Could not find a settlement with this reference")
        rows = [
            self.describe_payment(payment) | {"settlementAmount": f"{payment.amount - Decimal(10):.2f}"}
            for payment in map(self.payments.__getitem__, references)
        ]
        return paged(rows, request.query, self.page_marker)

    # --- forms -------------------------------------------------------------------------------------------------------

    def describe_account(self, account: Account) -> dict[str, Any]:
        return {
            "contractCode": self.contract_code,
            "accountReference": account.reference,
            "accountName": account.name,
            "currencyCode": "NGN",
            "customerEmail": account.email,
            "accounts": [
                {"bankCode": code, "bankName": BANKS[code], "accountNumber": number, "accountName": account.name}
                for code, number in account.numbers.items()
            ],
            "reservationReference": f"RSV{account.reference[-8:]}",
            "status": account.status,
        }

    def describe_payment(self, payment: Payment) -> dict[str, Any]:
        return {
            "transactionReference": payment.reference,
            "paymentReference": payment.reference,
            "amountPaid": f"{payment.amount:.2f}",
            "totalPayable": f"{payment.amount:.2f}",
            "currency": "NGN",
            "paymentStatus": payment.status,
            "paymentMethod": "ACCOUNT_TRANSFER",
            "paidOn": "05/01/2026 10:30:00 AM",
            "product": {"type": payment.product, "reference": payment.account},
            "accountPayments": self.describe_source(payment),
        }

    def describe_source(self, payment: Payment) -> Any:
        source = {"accountName": payment.sender, "accountNumber": "0065432190", "bankCode": "000014"}
        return [source] if self.lists_sources else source
