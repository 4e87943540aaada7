"""Paystack's collections in its twin: the payment page, direct charges, saved cards, refunds.

It is as strict as the vendor: an email address, whole minor units above the least amount, references of letters,
digits, dashes, dots and equals signs that are used once, saved cards that work with their own address alone. Refunds
know no key: what is asked for twice is paid twice, up to the payment's amount.

A payer acts through `pay` and `decline`: at the page, by telephone, or by a transfer. A direct charge of a bank account
asks for the OTP 123456. The last digits of the bank account choose what its bank wants:

    …01  an OTP     …02  a date of birth     …03  the bank's own page     …04  nothing: pending, then paid when asked
    …05  a status that nobody documents      …06  declined                any other: an OTP

`payments` and `refunds` keep what was collected and paid back, to be compared with our books.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

import msgspec
from aiohttp import web

from kasuwa.rails.twins.paystack_accounts import PaystackAccountRules, is_between
from kasuwa.rails.twins.paystack_envelope import good, paged, refused
from kasuwa.rails.twins.server import BODY

REFERENCE = re.compile(r"[A-Za-z0-9.=-]{1,100}", re.ASCII)
EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}", re.ASCII)
LEAST_AMOUNTS = {"NGN": 50_00, "GHS": 10, "KES": 3_00, "USD": 2_00}
MOBILE_MONEY = {"GHS": ("mtn", "vod", "atl"), "KES": ("mpesa",)}
OTP = "123456"
BANK_STEPS = {"02": "send_birthday", "03": "open_url", "04": "pending", "05": "enchanted", "06": "failed"}
OPEN = ("abandoned", "ongoing", "pending")


class CollectedPayment(msgspec.Struct):
    """A payment that was made known to the vendor. `paid` is what the payer has paid."""

    id: int
    reference: str
    email: str
    amount: int
    currency: str
    channel: str
    status: str = "abandoned"
    paid: int = 0
    step: str = ""  # what a direct charge asks of the payer
    words: str | None = None
    access_code: str = ""
    callback_url: str = ""
    saved: str = ""  # the saved card that was charged
    refunded: int = 0


class PaidRefund(msgspec.Struct):
    """A refund that was accepted."""

    id: int
    reference: str  # of its payment
    amount: int
    currency: str
    note: str
    status: str
    at: datetime


class PaystackAccess(Protocol):
    """The vendor's other rules, as far as collections need them."""

    domain: str
    balance: int
    accounts: PaystackAccountRules  # answers for payments into accounts, and asks collections for all others

    def sign(self, event: dict[str, Any]) -> tuple[bytes, dict[str, str]]: ...


class PaystackCollectionRules:
    """The collections of a twin."""

    def __init__(self, access: PaystackAccess) -> None:
        self.access = access
        access.accounts.verify_other = self.verify
        self.payments: dict[str, CollectedPayment] = {}
        self.refunds: list[PaidRefund] = []
        self.refunded_receipts: dict[str, CollectedPayment] = {}  # payments into accounts
        self.saved_cards: dict[str, str] = {}  # the address that each authorization is bound to
        self.refund_status = "pending"  # of a refund that was accepted
        self.token_status = "success"  # of the next charges of saved cards
        self.wrong_otp: Literal["refused", "failed"] = "refused"
        self.card_country = "NG"  # of the issuer of the cards that payers enter
        self.base_url = "https://checkout.paystack.com"

    def routes(self) -> Iterable[web.RouteDef]:
        return [
            web.post("/transaction/initialize", self.initialize),
            web.post("/transaction/charge_authorization", self.charge_authorization),
            web.post("/customer/authorization/deactivate", self.deactivate),
            web.post("/charge", self.charge),
            web.post("/charge/submit_otp", self.submit_otp),
            web.get("/charge/{reference}", self.show_charge),
            web.post("/refund", self.refund),
            web.get("/refund", self.list_refunds),
            web.get("/refund/{id}", self.show_refund),
            web.get("/pay/{access_code}", self.show_page),
            web.post("/pay/{access_code}", self.answer_page),
        ]

    # --- payers ----------------------------------------------------------------------------------------------------

    def pay(self, reference: str, amount: int | None = None) -> tuple[bytes, dict[str, str]]:
        """Has the payer pay. Returns the body and the headers of the call-back.

        A transfer of a wrong sum goes back, and the call-back says so.
        """
        payment = self.payments[reference]
        if amount is not None and amount != payment.amount and payment.channel == "bank_transfer":
            return self.access.sign(
                {
                    "event": "bank.transfer.rejected",
                    "data": {"reference": reference, "amount": amount, "message_type": "INCORRECT_AMOUNT"},
                }
            )
        payment.status, payment.paid = "success", payment.amount if amount is None else amount
        return self.access.sign({"event": "charge.success", "data": self.describe(payment)})

    def decline(self, reference: str, words: str = "Insufficient Funds") -> None:
        payment = self.payments[reference]
        payment.status, payment.words = "failed", words

    def end_refund(self, refund_id: int, status: str = "processed") -> tuple[bytes, dict[str, str]]:
        """Ends a refund. Returns the body and the headers of the call-back."""
        refund = next(refund for refund in self.refunds if refund.id == refund_id)
        if status == "failed" and refund.status != "failed":
            self.access.balance += refund.amount
            refunded = self.find_refundable(refund.reference)
            assert refunded is not None
            refunded.refunded -= refund.amount
        refund.status = status
        data = {"status": status, "transaction_reference": refund.reference, "amount": str(refund.amount)}
        return self.access.sign({"event": f"refund.{status}", "data": data})

    async def show_page(self, request: web.Request) -> web.Response:
        """The payment page: a form that pays or declines."""
        payment = self.find_page(request)
        if payment is None:
            return web.Response(status=404, text="no such page")
        amount = f"{payment.currency} {payment.amount / 100:.2f}"
        body = f"<h1>Pay {amount}</h1><form method=post><button name=do value=pay>Pay</button>"
        decline = "<button name=do value=decline>Decline</button></form>"
        return web.Response(text=body + decline, content_type="text/html")

    async def answer_page(self, request: web.Request) -> web.Response:
        payment = self.find_page(request)
        if payment is None or payment.status == "success":
            return web.Response(status=404, text="no such page")
        if (await request.post()).get("do") == "pay":
            self.pay(payment.reference)
        else:
            self.decline(payment.reference)
        if not payment.callback_url:
            return web.Response(text=payment.status)
        query = f"?trxref={payment.reference}&reference={payment.reference}"
        raise web.HTTPFound(payment.callback_url + query)

    def find_page(self, request: web.Request) -> CollectedPayment | None:
        code = request.match_info["access_code"]
        return next((paid for paid in self.payments.values() if paid.access_code == code), None)

    # --- payments --------------------------------------------------------------------------------------------------

    async def initialize(self, request: web.Request) -> web.Response:
        body = request[BODY]
        refusal = self.refuse_payment(body)
        if refusal is not None:
            return refusal
        channels = body.get("channels") or ["card"]
        payment = self.take(body, channels[0])
        payment.access_code = f"ac{payment.id:012d}"
        payment.callback_url = body.get("callback_url", "")
        data = {
            "authorization_url": f"{self.base_url}/pay/{payment.access_code}",
            "access_code": payment.access_code,
            "reference": payment.reference,
        }
        return good("Authorization URL created", data)

    async def charge(self, request: web.Request) -> web.Response:
        body = request[BODY]
        refusal = self.refuse_payment(body)
        if refusal is not None:
            return refusal
        channels = [name for name in ("bank", "ussd", "mobile_money", "bank_transfer") if name in body]
        if len(channels) != 1:
            return refused(400, "Exactly one channel is required", type="validation_error")
        [channel] = channels
        providers = MOBILE_MONEY.get(body.get("currency", "NGN"), ())
        if channel == "mobile_money" and body[channel]["provider"] not in providers:
            return refused(400, "Mobile money provider is not valid", type="validation_error")
        payment = self.take(body, channel)
        payment.step = first_step(channel, body)
        if payment.step == "failed":
            self.decline(payment.reference, "Declined")
        elif payment.step in ("pending", "enchanted"):
            payment.status = payment.step
        return good("Charge attempted", self.describe_charge(payment))

    async def show_charge(self, request: web.Request) -> web.Response:
        payment = self.payments.get(request.match_info["reference"])
        if payment is None:
            return self.access.accounts.not_found()
        return good("Reference check successful", self.describe_charge(payment))

    async def submit_otp(self, request: web.Request) -> web.Response:
        body = request[BODY]
        payment = self.payments.get(body["reference"])
        if payment is None:
            return self.access.accounts.not_found()
        if payment.step != "send_otp" or payment.status not in OPEN:
            return refused(400, "Transaction is not awaiting an OTP", type="validation_error")
        if body["otp"] != OTP and self.wrong_otp == "failed":
            self.decline(payment.reference, "Token authorization failed")
            return good("Charge attempted", self.describe_charge(payment))
        if body["otp"] != OTP:
            return refused(400, "Token authorization failed. Please provide correct token", type="api_error")
        self.pay(payment.reference)
        return good("Charge attempted", self.describe_charge(payment))

    async def charge_authorization(self, request: web.Request) -> web.Response:
        body = request[BODY]
        refusal = self.refuse_payment(body)
        if refusal is not None:
            return refusal
        code = body["authorization_code"]
        if self.saved_cards.get(code) != body["email"]:
            return refused(400, "Email does not match Authorization code", type="validation_error")
        payment = self.take(body, "card")
        payment.saved = code
        if self.token_status == "paused":
            payment.access_code = f"ac{payment.id:012d}"
            url = f"{self.base_url}/pay/{payment.access_code}"
            return good("Please, redirect your customer", {"paused": True, "authorization_url": url})
        if self.token_status == "success":
            self.pay(payment.reference)
        else:
            payment.status, payment.words = self.token_status, "Insufficient Funds"
        return good("Charge attempted", self.describe(payment))

    async def verify(self, request: web.Request) -> web.Response:
        payment = self.payments.get(request.match_info["reference"])
        if payment is None:
            return self.access.accounts.not_found()
        if payment.status == "pending" and payment.channel == "bank":
            self.pay(payment.reference)
        return good("Verification successful", self.describe(payment))

    def refuse_payment(self, body: dict[str, Any]) -> web.Response | None:
        reference, amount, currency = body["reference"], body["amount"], body.get("currency", "NGN")
        if not EMAIL.fullmatch(body["email"]):
            return refused(400, "Invalid Email Address Passed", type="validation_error", code="invalid_params")
        if not REFERENCE.fullmatch(reference):
            return refused(400, "Reference has characters that are not allowed", type="validation_error")
        if reference in self.payments:
            words = "Duplicate Transaction Reference"
            return refused(400, words, type="validation_error", code="duplicate_reference")
        if currency not in LEAST_AMOUNTS:
            return refused(403, "Currency not supported by merchant", type="validation_error")
        if amount < LEAST_AMOUNTS[currency]:
            return refused(400, "Invalid Amount Sent", type="validation_error", code="invalid_params")
        return None

    def take(self, body: dict[str, Any], channel: str) -> CollectedPayment:
        payment = CollectedPayment(
            id=4_000_000_000 + len(self.payments),
            reference=body["reference"],
            email=body["email"],
            amount=body["amount"],
            currency=body.get("currency", "NGN"),
            channel=channel,
        )
        self.payments[payment.reference] = payment
        return payment

    def describe_charge(self, payment: CollectedPayment) -> dict[str, Any]:
        if payment.status != "abandoned":
            return self.describe(payment)
        data: dict[str, Any] = {"reference": payment.reference, "status": payment.step}
        match payment.step:
            case "send_otp":
                data["display_text"] = "Please enter the OTP sent to 080****1234"
            case "open_url":
                data["url"] = f"{self.base_url}/bank/{payment.reference}"
            case "pay_offline" if payment.channel == "ussd":
                data["ussd_code"] = f"*737*000*{payment.id % 10000}#"
                data["display_text"] = "Please dial the code to complete the transaction"
            case "pay_offline":
                data["display_text"] = "Please complete the authorization on your phone"
            case "pending_bank_transfer":
                data["account_number"] = f"99{payment.id % 100_000_000:08d}"
                data["account_name"] = "PAYSTACK CHECKOUT"
                data["bank"] = {"slug": "test-bank", "name": "Test Bank", "id": 24}
                data["account_expires_at"] = "2030-01-01T00:00:00.000Z"
        return data

    def describe(self, payment: CollectedPayment) -> dict[str, Any]:
        is_paid = payment.status in ("success", "reversed")
        return {
            "id": payment.id,
            "domain": self.access.domain,
            "status": payment.status,
            "reference": payment.reference,
            "amount": payment.paid if is_paid else payment.amount,
            "requested_amount": payment.amount,
            "currency": payment.currency,
            "channel": payment.channel,
            "gateway_response": "Approved" if payment.status == "success" else payment.words,
            "customer": {"email": payment.email, "customer_code": f"CUS_{payment.id}"},
            "authorization": self.make_authorization(payment) if is_paid else {},
        }

    def make_authorization(self, payment: CollectedPayment) -> dict[str, Any]:
        if payment.channel != "card":
            return {"channel": payment.channel, "reusable": False}
        code = payment.saved or f"AUTH_{payment.id}"
        self.saved_cards.setdefault(code, payment.email)
        return {
            "authorization_code": code,
            "bin": "408408",
            "last4": "4081",
            "exp_month": "12",
            "exp_year": "2030",
            "channel": "card",
            "card_type": "visa ",
            "bank": "TEST BANK",
            "country_code": self.card_country,
            "brand": "visa",
            "reusable": True,
            "signature": "SIG_yEXu7dLBeqG0kU7g95Ke",
        }

    async def deactivate(self, request: web.Request) -> web.Response:
        if self.saved_cards.pop(request[BODY]["authorization_code"], None) is None:
            return refused(404, "Authorization code not found", type="validation_error")
        return good("Authorization has been deactivated", {})

    # --- refunds ---------------------------------------------------------------------------------------------------

    def find_refundable(self, reference: str) -> CollectedPayment | None:
        """Returns a payment, or money that came into an account as one."""
        arrived = self.access.accounts.payments.get(reference)
        if arrived is None:
            return self.payments.get(reference)
        paid = CollectedPayment(0, reference, "", arrived.amount, arrived.currency, arrived.channel, arrived.status)
        paid.paid = arrived.amount
        return self.refunded_receipts.setdefault(reference, paid)

    async def refund(self, request: web.Request) -> web.Response:
        body = request[BODY]
        payment = self.find_refundable(body["transaction"])
        if payment is None or payment.status not in ("success", "reversed"):
            return refused(404, "Transaction not found", type="validation_error", code="transaction_not_found")
        amount = body.get("amount", payment.paid)
        if body.get("currency", payment.currency) != payment.currency:
            return refused(400, "Currency is not that of the transaction", type="validation_error")
        if amount <= 0 or payment.refunded + amount > payment.paid:
            return refused(400, "Refund amount cannot exceed the transaction amount", type="validation_error")
        if amount > self.access.balance:
            return refused(400, "Insufficient balance to process this refund", type="api_error")
        self.access.balance -= amount
        payment.refunded += amount
        if payment.refunded == payment.paid:
            payment.status = "reversed"
        refund = PaidRefund(
            id=15_000_000 + len(self.refunds),
            reference=payment.reference,
            amount=amount,
            currency=payment.currency,
            note=body.get("merchant_note", ""),
            status=self.refund_status,
            at=datetime.now(UTC),
        )
        self.refunds.append(refund)
        return good("Refund has been queued for processing", describe_refund(refund))

    async def list_refunds(self, request: web.Request) -> web.Response:
        rows = [describe_refund(refund) for refund in reversed(self.refunds) if is_between(refund.at, request.query)]
        return paged("Refunds retrieved", rows, request.query, marker=self.access.accounts.page_marker)

    async def show_refund(self, request: web.Request) -> web.Response:
        refunds = [refund for refund in self.refunds if str(refund.id) == request.match_info["id"]]
        if not refunds:
            return refused(404, "Refund not found", type="validation_error")
        return good("Refund retrieved", describe_refund(refunds[0]))


def first_step(channel: str, body: dict[str, Any]) -> str:
    """Returns what a direct charge asks of the payer first."""
    match channel:
        case "bank":
            return BANK_STEPS.get(body["bank"]["account_number"][-2:], "send_otp")
        case "bank_transfer":
            return "pending_bank_transfer"
    return "pay_offline"


def describe_refund(refund: PaidRefund) -> dict[str, Any]:
    return {
        "id": refund.id,
        "transaction_reference": refund.reference,
        "amount": refund.amount,
        "currency": refund.currency,
        "merchant_note": refund.note,
        "status": refund.status,
        "createdAt": refund.at.isoformat(),
    }
