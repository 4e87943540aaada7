"""Requests of the HTTP tests of savings and thrift plans."""

from typing import Any

from tests.merchant_client import MerchantClient, to_minor_units

# The clock only moves by `advance`, so interest is the same in every run.
NOW = "2026-01-05T09:30:00+01:00"
# Bank accounts of clients: approved at once, pending until settled, declined.
PAYS, WAITS, DECLINES = "0000000000", "0000000020", "0000000500"


def invest(shop: MerchantClient, action: str, **fields: Any) -> Any:
    return shop.put("investments", action=action, **fields).body


def enroll(shop: MerchantClient, account: str = PAYS, status: str = "active") -> str:
    person = {
        "firstname": "Ada",
        "lastname": "Obi",
        "phone": "08031234567",
        "bankAccount": {"bank_code": "058", "account_number": account},
    }
    body = shop.put("clients", action="create", data=person, status=status).body
    assert body["status"] == 200, body
    return str(body["data"]["client_id"])


def open_savings(shop: MerchantClient, client_id: str, deposit: str | None = None, **fields: Any) -> str:
    """36.5 % a year: a thousandth of the balance a day."""
    ordinary = {
        "name": "School fees",
        "client_id": client_id,
        "interestSettings": {"interestRate": "36.5", "interestFrequency": "annualized"},
        "period": 12,
    }
    body = invest(shop, "create_savings", **{**ordinary, **fields})
    assert body["status"] == 200, body
    savings_id = str(body["data"]["savings_id"])
    if deposit is not None:
        assert make_deposit(shop, savings_id, deposit)["status"] == 200
    return savings_id


def make_deposit(shop: MerchantClient, savings_id: str, amount: str, **fields: Any) -> Any:
    return invest(shop, "deposit", savings_id=savings_id, payment_method="wallet", amount=amount, **fields)


def cash_out(
    shop: MerchantClient, savings_id: str, client_id: str, amount: str, method: str = "cash", **fields: Any
) -> Any:
    request = {"saving_id": savings_id, "client_id": client_id, "amount": amount, "method": method, **fields}
    return invest(shop, "cashout", **request)


def view(shop: MerchantClient, savings_id: str) -> Any:
    return invest(shop, "view_savings", savings_id=savings_id)["data"]


def balance(shop: MerchantClient, savings_id: str) -> int:
    return to_minor_units(view(shop, savings_id)["balance"])


def make_plan(shop: MerchantClient, members: int, **fields: Any) -> str:
    ordinary = {"name": "Esusu", "amount": "100.00", "start_date": shop.now()[:10], "frequency": "every_month"}
    body = invest(shop, "create_plan", **{**ordinary, "member_required": str(members), **fields})
    assert body["status"] == 200, body
    return str(body["data"]["thrift_id"])


def join(shop: MerchantClient, thrift_id: str, savings_id: str, **fields: Any) -> Any:
    return invest(shop, "subscribe", savings_id=savings_id, thrift_id=thrift_id, **fields)


def members_of(shop: MerchantClient, thrift_id: str) -> Any:
    return invest(shop, "subscriptions", thrift_id=thrift_id)["data"]
