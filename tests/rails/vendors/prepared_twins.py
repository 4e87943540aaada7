"""Twins in a state in which they carry out each call as its form has it, for walks over all calls of all vendors."""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from kasuwa.rails.twins import (
    monnify,
    monnify_accounts,
    monnify_collection,
    paystack,
    paystack_accounts,
    paystack_collection,
)
from kasuwa.rails.twins.dojah import DojahRules
from kasuwa.rails.twins.server import VendorPart, VendorRules
from kasuwa.rails.twins.termii import TermiiRules
from kasuwa.rails.twins.vtpass import SoldBill, VtpassRules

NOON = datetime(2026, 1, 5, 11, tzinfo=UTC)
EMAIL = "payer@example.com"
BEFORE = "kz1-gp-fd-paid-before"  # the reference of what was paid before
VENDOR_REFERENCE = "MNFY|01|000000000000"


class PreparedTwin(msgspec.Struct):
    """The rules of a twin. `paths` are those of calls whose path has parts, `examples` the parameters and bodies of
    calls for which those of the form do not do."""

    rules: VendorRules
    parts: tuple[VendorPart, ...]
    keys: Mapping[str, str]
    paths: Mapping[str, str] = {}
    examples: Mapping[str, Mapping[str, Any]] = {}

    def headers(self, call: str) -> dict[str, str]:
        """Returns the keys that a call takes."""
        if self.rules.name == "monnify" and call.endswith("/auth/login"):
            return {"Authorization": "Basic " + b64encode(b"MK_TEST_1:secret-1").decode()}
        if self.rules.name == "vtpass":
            other = "secret-key" if call.startswith("GET") else "public-key"
            return {name: value for name, value in self.keys.items() if name != other}
        return dict(self.keys)

    def is_refused(self, status: int, body: Any) -> bool:
        if self.rules.name == "vtpass" and status == 200:
            return str(body.get("code", "000")) not in ("000", "020", "1")
        return status >= 400

    def state(self) -> list[str]:
        """Returns all that the twin keeps."""
        return [line for part in (self.rules, *self.parts) for line in list_state(part)]


def list_state(part: object) -> Iterator[str]:
    for name, value in vars(part).items():
        if hasattr(value, "routes"):
            yield from list_state(value) if name != "access" else ()
        elif not callable(value):
            yield f"{name} {value!r}"


def make_paystack() -> PreparedTwin:
    rules = paystack.PaystackRules()
    collection = paystack_collection.PaystackCollectionRules(rules)
    account = paystack_accounts.Account(758_908, "9960000000", "test-bank")
    customer = paystack_accounts.Customer(90_758_908, "CUS_90758908", EMAIL, "Ada", "Obi", "08031234567", account)
    rules.accounts.customers[EMAIL] = customer
    rules.accounts.dispute(BEFORE, 150_000)
    rules.accounts.dispute_answers.files["358950-receipt.pdf"] = b"%PDF-"
    rules.recipients["RCP_0580123456785"] = ("058", "0123456785")
    rules.transfers[BEFORE] = paystack.PaidTransfer(BEFORE, 1, "RCP_1", "0123456785", "success", "")
    collection.saved_cards["AUTH_1"] = EMAIL
    paid = paystack_collection.CollectedPayment(1, BEFORE, EMAIL, 150_000, "NGN", "bank", "success", 150_000)
    waiting = paystack_collection.CollectedPayment(2, "waiting", EMAIL, 150_000, "NGN", "bank", step="send_otp")
    collection.payments |= {BEFORE: paid, "waiting": waiting}
    collection.refunds.append(paystack_collection.PaidRefund(15, BEFORE, 1, "NGN", "", "processed", NOON))
    payment = {"email": EMAIL, "amount": 150_000, "reference": "kz1-gp-fd-123456789"}
    return PreparedTwin(
        rules,
        (collection,),
        {"Authorization": "Bearer sk_test_1"},
        {
            "/transfer/verify/{reference}": f"/transfer/verify/{BEFORE}",
            "/transaction/verify/{reference}": f"/transaction/verify/{BEFORE}",
            "/charge/{reference}": f"/charge/{BEFORE}",
            "/customer/{customer}": f"/customer/{EMAIL}",
            "/dedicated_account/{id}": "/dedicated_account/758908",
            "/dispute/{id}": "/dispute/358950",
            "/dispute/{id}/upload_url": "/dispute/358950/upload_url",
            "/dispute/{id}/evidence": "/dispute/358950/evidence",
            "/dispute/{id}/resolve": "/dispute/358950/resolve",
            "/refund/{id}": "/refund/15",
        },
        {
            "POST /charge": {**payment, "bank": {"code": "057", "account_number": "0000000000"}},
            "POST /charge/submit_otp": {"otp": "123456", "reference": "waiting"},
            "POST /refund": {"transaction": BEFORE, "amount": 100, "currency": "NGN", "merchant_note": "kz1-gp-rf-1"},
        },
    )


def make_monnify() -> PreparedTwin:
    rules = monnify.MonnifyRules(now=lambda: NOON)
    collection = monnify_collection.MonnifyCollectionRules(rules)
    rules.tokens.add("Bearer token-0")
    rules.transfers[BEFORE] = monnify.PaidTransfer(BEFORE, Decimal(1), "0000000000", "SUCCESS", NOON)
    rules.accounts.accounts[BEFORE] = monnify_accounts.Account(BEFORE, "Ada", EMAIL, {"035": "6010000000"})
    rules.accounts.pay_into("6010000000", Decimal("100.00"))
    rules.accounts.settle_payments("S-1")
    paid = monnify_collection.CollectedPayment(BEFORE, VENDOR_REFERENCE, Decimal("1500.00"), EMAIL, "ACCOUNT_TRANSFER")
    paid.status, paid.paid = "PAID", paid.amount
    collection.payments[BEFORE] = paid
    collection.refunds[BEFORE] = monnify_collection.PaidRefund(BEFORE, VENDOR_REFERENCE, Decimal(1), "COMPLETED")
    collection.saved_cards["MNFY_1"] = EMAIL
    reserved = "/bank-transfer/reserved-accounts"
    return PreparedTwin(
        rules,
        (collection,),
        {"Authorization": "Bearer token-0"},
        {
            f"/api/v2{reserved}/{{reference}}": f"/api/v2{reserved}/{BEFORE}",
            f"/api/v1{reserved}/reference/{{reference}}": f"/api/v1{reserved}/reference/{BEFORE}",
            "/api/v2/transactions/{reference}": f"/api/v2/transactions/{next(iter(rules.accounts.payments))}",
            "/api/v1/refunds/{reference}": f"/api/v1/refunds/{BEFORE}",
        },
        {
            "GET /api/v2/disbursements/single/summary": {"reference": BEFORE},
            f"GET /api/v1{reserved}/transactions": {"accountReference": BEFORE, "page": 0, "size": 10},
            "GET /api/v2/merchant/transactions/query": {"paymentReference": BEFORE},
        },
    )


def make_vtpass() -> PreparedTwin:
    rules = VtpassRules(now=lambda: NOON)
    rules.bills["202601051030kz1"] = SoldBill("202601051030kz1", "mtn", "08031234567", 100, "delivered", NOON)
    bill = {"serviceID": "ikeja-electric", "phone": "08011111111", "billersCode": "1111111111111", "amount": 1500}
    return PreparedTwin(
        rules,
        (),
        {"api-key": "api-1", "public-key": "PK_1", "secret-key": "SK_1"},
        examples={"POST /pay": {"request_id": "202601051200kz2", **bill, "variation_code": "prepaid"}},
    )


def make_dojah() -> PreparedTwin:
    return PreparedTwin(DojahRules(), (), {"Authorization": "test_sk_1", "AppId": "app-1"})


def make_termii() -> PreparedTwin:
    return PreparedTwin(TermiiRules(), (), {})


MAKERS = {
    "paystack": make_paystack,
    "monnify": make_monnify,
    "vtpass": make_vtpass,
    "dojah": make_dojah,
    "termii": make_termii,
}
