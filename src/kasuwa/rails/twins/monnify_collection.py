"""Monnify's collections in its twin: the payment page, one-time accounts, saved cards, refunds.

It is as strict as the vendor: amounts of two decimals from 20 naira on, references of at most 64 characters that are
used once, our contract's code, saved cards that work with their own address alone, and refunds from 100 naira on.

A payer acts through `pay` and `fail`. Less than the amount goes back to the payer; more is kept, and the payment is
OVERPAID. `payments` and `refunds` keep what was collected and paid back, to be compared with our books.
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Literal, Protocol
from urllib.parse import quote

import msgspec
from aiohttp import web

from kasuwa.rails.twins.monnify_calls import REFERENCE as REFERENCE_FORM
from kasuwa.rails.twins.monnify_envelope import good, refused
from kasuwa.rails.twins.server import BODY

EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.ASCII)
REFERENCE = re.compile(REFERENCE_FORM, re.ASCII)
LEAST_AMOUNT, LEAST_REFUND = Decimal(20), Decimal(100)


class CollectedPayment(msgspec.Struct):
    """A payment that was made known to the vendor. Amounts are in naira."""

    reference: str  # ours
    vendor_reference: str
    amount: Decimal
    email: str
    method: str
    status: str = "PENDING"
    paid: Decimal = Decimal(0)
    account_number: str = ""
    redirect_url: str = ""
    refunded: Decimal = Decimal(0)


class PaidRefund(msgspec.Struct):
    """A refund that was accepted."""

    reference: str
    vendor_reference: str  # of its payment
    amount: Decimal
    status: str


class MonnifyAccess(Protocol):
    """The vendor's other rules, as far as collections need them."""

    api_key: str
    balance: Decimal
    not_found_http: Literal[400, 404]

    def sign(self, event: Any) -> tuple[bytes, dict[str, str]]: ...


class MonnifyCollectionRules:
    """The collections of a twin."""

    def __init__(self, access: MonnifyAccess, contract_code: str = "4934121686") -> None:
        self.access = access
        self.contract_code = contract_code
        self.payments: dict[str, CollectedPayment] = {}
        self.refunds: dict[str, PaidRefund] = {}
        self.saved_cards: dict[str, str] = {}  # the address that each token is bound to
        self.refund_status = "IN_PROGRESS"  # of a refund that was accepted
        self.token_status = "PAID"  # of the next charges of saved cards
        self.refund_code = ""  # with which the next refunds are refused
        self.base_url = "https://sandbox.sdk.monnify.com"

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post("/api/v1/merchant/transactions/init-transaction", self.begin),
            web.post("/api/v1/merchant/bank-transfer/init-payment", self.open_account),
            web.post("/api/v1/merchant/cards/charge-card-token", self.charge_token),
            web.get("/api/v2/merchant/transactions/query", self.query),
            web.post("/api/v1/refunds/initiate-refund", self.refund),
            web.get("/api/v1/refunds/{reference}", self.query_refund),
            web.get("/checkout/{reference}", self.show_page),
            web.post("/checkout/{reference}", self.answer_page),
        ]

    # --- payers ----------------------------------------------------------------------------------------------------

    def pay(self, reference: str, amount: Decimal | None = None) -> tuple[bytes, dict[str, str]]:
        """Has the payer pay. Returns the body and the headers of the call-back."""
        payment = self.payments[reference]
        paid = payment.amount if amount is None else amount
        if paid < payment.amount:
            data = {
                "paymentReference": reference,
                "transactionReference": f"{payment.vendor_reference}|R",
                "amountPaid": str(paid),
                "expectedAmount": str(payment.amount),
                "paymentRejectionInformation": {"rejectionReason": "UNDER_PAYMENT"},
            }
            return self.access.sign({"eventType": "REJECTED_PAYMENT", "eventData": data})
        payment.paid = paid
        payment.status = "PAID" if paid == payment.amount else "OVERPAID"
        data = {**self.describe(payment), "product": {"type": "WEB_SDK", "reference": reference}}
        return self.access.sign({"eventType": "SUCCESSFUL_TRANSACTION", "eventData": data})

    async def show_page(self, request: web.Request) -> web.Response:
        """The payment page: a form that pays or declines."""
        payment = self.find_by_vendor_reference(request.match_info["reference"])
        if payment is None:
            return web.Response(status=404, text="no such page")
        body = f"<h1>Pay NGN {payment.amount}</h1><form method=post><button name=do value=pay>Pay</button>"
        decline = "<button name=do value=decline>Decline</button></form>"
        return web.Response(text=body + decline, content_type="text/html")

    async def answer_page(self, request: web.Request) -> web.Response:
        payment = self.find_by_vendor_reference(request.match_info["reference"])
        if payment is None or payment.status != "PENDING":
            return web.Response(status=404, text="no such page")
        if (await request.post()).get("do") == "pay":
            self.pay(payment.reference)
        else:
            self.fail(payment.reference)
        if not payment.redirect_url:
            return web.Response(text=payment.status)
        raise web.HTTPFound(f"{payment.redirect_url}?paymentReference={payment.reference}")

    def fail(self, reference: str, status: str = "FAILED") -> None:
        self.payments[reference].status = status

    def end_refund(self, reference: str, status: str = "COMPLETED") -> tuple[bytes, dict[str, str]]:
        """Ends a refund. Returns the body and the headers of the call-back."""
        self.refunds[reference].status = status
        kind = "SUCCESSFUL_REFUND" if status == "COMPLETED" else "FAILED_REFUND"
        return self.access.sign({"eventType": kind, "eventData": describe_refund(self.refunds[reference])})

    # --- payments --------------------------------------------------------------------------------------------------

    async def begin(self, request: web.Request) -> web.Response:
        body = request[BODY]
        refusal = self.refuse_payment(body)
        if refusal is not None:
            return refusal
        methods = body.get("paymentMethods") or ["CARD"]
        payment = self.take(body, methods[0])
        response_body = {
            "transactionReference": payment.vendor_reference,
            "paymentReference": payment.reference,
            "merchantName": "Test",
            "enabledPaymentMethod": methods,
            "checkoutUrl": f"{self.base_url}/checkout/{quote(payment.vendor_reference)}",
        }
        return good(response_body)

    async def open_account(self, request: web.Request) -> web.Response:
        payment = self.find_by_vendor_reference(request[BODY]["transactionReference"])
        if payment is None:
            return refused(404, "99", "Transaction not found")
        if payment.method != "ACCOUNT_TRANSFER":
            return refused(400, "99", "This transaction takes no transfers")
        payment.account_number = payment.account_number or f"50{len(self.payments):08d}"
        response_body = {
            "accountNumber": payment.account_number,
            "accountName": "Test - CHECKOUT",
            "bankName": "Wema bank",
            "bankCode": "035",
            "accountDurationSeconds": 2400,
            "totalPayable": float(payment.amount),
        }
        return good(response_body)

    async def charge_token(self, request: web.Request) -> web.Response:
        body = request[BODY]
        refusal = self.refuse_payment(body)
        if refusal is not None:
            return refusal
        if body["apiKey"] != self.access.api_key:
            return refused(400, "99", "Could not process")
        if self.saved_cards.get(body["cardToken"]) != body["customerEmail"]:
            return refused(400, "99", "Card token is invalid")
        payment = self.take(body, "CARD")
        payment.status = self.token_status
        if payment.status == "PAID":
            payment.paid = payment.amount
        return good(self.describe(payment))

    async def query(self, request: web.Request) -> web.Response:
        payment = self.payments.get(request.query["paymentReference"])
        if payment is None:
            return refused(
                self.access.not_found_http, "99", "There is no transaction matching this reference: not found"
            )
        return good(self.describe(payment))

    def refuse_payment(self, body: dict[str, Any]) -> web.Response | None:
        reference = body["paymentReference"]
        if body["contractCode"] != self.contract_code:
            return refused(404, "99", "Contract not found")
        if not EMAIL.fullmatch(body["customerEmail"]):
            return refused(400, "99", "customerEmail is not valid")
        if not REFERENCE.fullmatch(reference):
            return refused(400, "99", "paymentReference is not valid")
        if reference in self.payments:
            return refused(400, "99", "Duplicate payment reference")
        if body["amount"] < LEAST_AMOUNT or body["currencyCode"] != "NGN":
            return refused(400, "99", "amount or currency is not valid")
        if not 3 <= len(body["paymentDescription"]) <= 100:
            return refused(400, "99", "paymentDescription is not valid")
        return None

    def take(self, body: dict[str, Any], method: str) -> CollectedPayment:
        payment = CollectedPayment(
            reference=body["paymentReference"],
            vendor_reference=f"MNFY|01|{len(self.payments):012d}",
            amount=body["amount"],
            email=body["customerEmail"],
            method=method,
            redirect_url=body.get("redirectUrl", ""),
        )
        self.payments[payment.reference] = payment
        return payment

    def find_by_vendor_reference(self, reference: str) -> CollectedPayment | None:
        return next((paid for paid in self.payments.values() if paid.vendor_reference == reference), None)

    def describe(self, payment: CollectedPayment) -> dict[str, Any]:
        is_paid = payment.status in ("PAID", "OVERPAID")
        description: dict[str, Any] = {
            "transactionReference": payment.vendor_reference,
            "paymentReference": payment.reference,
            "amountPaid": f"{payment.paid:.2f}",
            "totalPayable": f"{payment.amount:.2f}",
            "paymentStatus": payment.status,
            "currency": "NGN",
            "paymentMethod": payment.method,
            "customer": {"email": payment.email, "name": "Payer"},
            "paidOn": "16/11/2026 9:10:11 AM" if is_paid else None,
            "cardDetails": None,
        }
        if is_paid and payment.method == "CARD":
            token = f"MNFY_{payment.vendor_reference[-12:]}"
            self.saved_cards.setdefault(token, payment.email)
            card = {"cardType": "Mastercard", "last4": "1111", "bin": "539983", "expMonth": "10", "expYear": "30"}
            description["cardDetails"] = {**card, "reusable": True, "cardToken": token}
        return description

    # --- refunds ---------------------------------------------------------------------------------------------------

    async def refund(self, request: web.Request) -> web.Response:
        body = request[BODY]
        refusal = self.refuse_refund(body)
        if refusal is not None:
            return refusal
        payment, amount = self.find_by_vendor_reference(body["transactionReference"]), body["refundAmount"]
        assert payment is not None
        self.access.balance -= amount
        payment.refunded += amount
        refund = PaidRefund(body["refundReference"], payment.vendor_reference, amount, self.refund_status)
        self.refunds[refund.reference] = refund
        return good(describe_refund(refund))

    def refuse_refund(self, body: dict[str, Any]) -> web.Response | None:
        if self.refund_code:
            return refused(400, self.refund_code, f"Refused with {self.refund_code}")
        if len(body["refundReason"]) > 64 or len(body["customerNote"]) > 16:
            return refused(400, "R8", "refundReason or customerNote is too long")
        if body["refundReference"] in self.refunds:
            return refused(400, "R9", "Refund reference was used")
        if ("destinationAccountNumber" in body) != ("destinationAccountBankCode" in body):
            return refused(400, "R6", "Customer account details are invalid")
        payment, amount = self.find_by_vendor_reference(body["transactionReference"]), body["refundAmount"]
        if payment is None or payment.status not in ("PAID", "OVERPAID"):
            return refused(404, "R1", "Transaction does not exist")
        if amount < LEAST_REFUND:
            return refused(400, "R4", "Refund amount is below the least amount")
        if payment.refunded + amount > payment.paid:
            return refused(400, "R3", "Refund amount is above the transaction's")
        if amount > self.access.balance:
            return refused(400, "R5", "Insufficient wallet balance")
        return None

    async def query_refund(self, request: web.Request) -> web.Response:
        refund = self.refunds.get(request.match_info["reference"])
        if refund is None:
            return refused(404, "R7", "There is no refund with this reference")
        return good(describe_refund(refund))


def describe_refund(refund: PaidRefund) -> dict[str, Any]:
    return {
        "refundReference": refund.reference,
        "transactionReference": refund.vendor_reference,
        "refundAmount": float(refund.amount),
        "refundStatus": refund.status,
        "comment": "The customer's bank declined" if refund.status == "FAILED" else "",
    }
