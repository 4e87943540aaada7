"""A deposit that is held because it is above the limits of its client's tier."""

from tests.merchant_client import MerchantClient
from tests.methods.clients.tiered import enroll_in, turn_on
from tests.methods.investments.savers import invest, open_savings
from tests.methods.payment.payment_client import OTP, card


def begin_deposit(shop: MerchantClient, savings_id: str, amount: str) -> str:
    """Begins a deposit by card, which `finish_deposit` pays."""
    given = card(auth="OTP")
    begun = invest(shop, "deposit", savings_id=savings_id, payment_method="card", amount=amount, card=given)
    assert begun["status"] == 202, begun
    return str(begun["txnRef"])


def finish_deposit(shop: MerchantClient, txn_ref: str) -> None:
    assert invest(shop, "validate", txnRef=txn_ref, otp=OTP)["status"] == 200


def hold_deposit(shop: MerchantClient, amount: str = "100.00") -> tuple[str, str, str]:
    """Holds a deposit of a client of tier 1. Returns the client, the savings and the payment. The limits stay on."""
    client_id = enroll_in(shop, 1)
    savings_id = open_savings(shop, client_id)
    txn_ref = begin_deposit(shop, savings_id, amount)
    turn_on(shop, tiers=[{"tier": 1, "balance": "1.00"}])
    finish_deposit(shop, txn_ref)
    return client_id, savings_id, txn_ref
