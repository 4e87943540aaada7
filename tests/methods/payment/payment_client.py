"""An API client with the steps of a payment, for the tests over HTTP."""

from typing import Any

from kasuwa.api.openapi.schemas import to_wire_names
from kasuwa.api.replies import ErrorBody
from kasuwa.core.action import Write
from kasuwa.methods.payment.actions import PAYMENT
from tests.merchant_client import MerchantClient, new_reference

VISA_OK = "4111110000000013"
MASTERCARD_OK = "5123450000000016"
AUTH = {"OTP": "000", "PIN": "100", "3DSecure": "200"}
OTP = "123456"


def card(number: str = VISA_OK, auth: str = "OTP", **changes: str) -> dict[str, str]:
    return {
        "card_no": number,
        "expiry_month": "12",
        "expiry_year": "30",
        "ccv": AUTH[auth],
        "pin": "1234",
        **changes,
    }


def check_fields(request: dict[str, Any], reply: Any) -> None:
    """Asserts that a reply has no field that the OpenAPI document does not have for its action and payment type."""
    for action in PAYMENT.actions:
        is_variant = action.variant is None or request.get(action.variant[0]) == action.variant[1]
        if isinstance(action, Write) and action.reply_fields and action.name == request.get("action") and is_variant:
            described = {*to_wire_names(action.reply, action.reply_fields), *ErrorBody.__struct_encode_fields__}
            assert set(reply) <= described, (request, reply)


class PaymentClient:
    def __init__(self, shop: MerchantClient) -> None:
        self.shop = shop

    def pay(self, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        request = {name: value for name, value in fields.items() if value is not None}
        reply = self.shop.put("payment", headers=headers, **request).body
        check_fields(request, reply)
        return reply

    def body(self, **changes: Any) -> dict[str, Any]:
        user = {"firstname": "Ada", "lastname": "Obi", "email": "ada@example.com"}
        return {"paymentType": "card", "user": user, "amount": "1500.00", **changes}

    def initiate(self, given: dict[str, str], headers: dict[str, str] | None = None, **changes: Any) -> Any:
        return self.pay(headers, action="initiate", card=given, **self.body(**changes))

    def charge(self, begun: Any, given: dict[str, str], headers: dict[str, str] | None = None, **changes: Any) -> Any:
        result = self.body(**{"txnRef": begun["txnRef"], "auth_type": begun["apply_auth"], **changes})
        return self.pay(headers, action="charge", card=given, **result)

    def validate(self, txn_ref: str, otp: str = OTP, headers: dict[str, str] | None = None, **fields: Any) -> Any:
        return self.pay(headers, action="validate", txnRef=txn_ref, otp=otp, **fields)

    def verify(self, txn_ref: str) -> Any:
        return self.pay(action="verify", txnRef=txn_ref)

    def refund(self, txn_ref: str, amount: Any, headers: dict[str, str] | None = None) -> Any:
        return self.pay(headers, action="refund", txnRef=txn_ref, amount=amount)

    def paid(self, number: str = VISA_OK, auth: str = "PIN", **changes: Any) -> Any:
        """A completed card payment, by PIN."""
        given = card(number, auth)
        begun = self.initiate(given, **changes)
        assert begun["status"] == 202, begun
        return self.charge(begun, given, **changes)

    def token(self, number: str = VISA_OK) -> str:
        return str(self.paid(number)["cardToken"])

    def charge_token(self, token: str, headers: dict[str, str] | None = None, **changes: Any) -> Any:
        fields = {"amount": "1500.00", "customer_txnref": new_reference("basket"), **changes}
        return self.pay(headers, action="charge", paymentType="token", token=token, **fields)
