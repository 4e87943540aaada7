"""Acts that take a while, each begun and left in progress, for the tests that let a second actor come meanwhile."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.merchant_client import MerchantClient
from tests.methods.disputes.dispute_client import open_dispute
from tests.methods.investments import savers
from tests.methods.invoices.test_http import made as make_invoice
from tests.methods.invoices.test_http import show as show_invoice
from tests.methods.payment.payment_client import OTP, VISA_OK, PaymentClient, card
from tests.methods.tickets.test_http import BUYER, make_link
from tests.methods.virtualcard.card_client import CardClient
from tests.payer_pages import begin_card, hidden_fields, open_payment, post_form

NOW = "2026-01-05T08:30:00+01:00"
# A bank account whose transfers are pending until they are settled.
WAITS = "0000000020"
LOST = {"x-sandbox-scenario": "http=timeout"}


class Act(NamedTuple):
    """An act in progress."""

    shop: MerchantClient
    reference: str  # by which others can name it
    state: Callable[[], Any]  # what is shown of it
    finish: Callable[[], Any]  # ends it with success, and returns what is shown then
    again: Callable[[], Any] | None = None  # the same request once more
    client_id: str = ""
    savings_id: str = ""
    order_ref: str = ""  # of a cashcode
    invoice_id: str = ""
    link_id: str = ""
    plan_id: str = ""
    thrift_id: str = ""
    has_schedule: bool = False  # of payouts
    loan_id: str = ""  # of a loan that is being paid out
    card: str = ""  # the reference of a virtual card
    bought: str = ""  # a purchase with it that is disputed


def verify(shop: MerchantClient, path: str, reference: str) -> Any:
    return shop.put(path, action="verify", txnRef=reference).body["txnStatus"]


def settle(shop: MerchantClient, reference: str) -> None:
    body = shop.put("sandbox", action="settle", txnRef=reference, outcome="successful").body
    assert body["status"] == 200, body


def settled(shop: MerchantClient, path: str, reference: str) -> Any:
    settle(shop, reference)
    return verify(shop, path, reference)


def of_rail(shop: MerchantClient, path: str, reference: str, **names: Any) -> Act:
    """An act that ends when its rail answers."""
    return Act(shop, reference, lambda: verify(shop, path, reference), lambda: settled(shop, path, reference), **names)


# --- payments -------------------------------------------------------------------------------------------------------


def card_waits_for_its_code(shop: MerchantClient, number: str = VISA_OK) -> Act:
    client, given = PaymentClient(shop), card(number)
    begun = client.initiate(given)
    assert "validate" in client.charge(begun, given)
    reference = begun["txnRef"]
    return Act(
        shop,
        reference,
        lambda: verify(shop, "payment", reference),
        lambda: client.validate(reference, OTP)["txnStatus"],
        lambda: client.charge(begun, given),
    )


def card_waits_for_its_page(shop: MerchantClient) -> Act:
    client, given = PaymentClient(shop), card(auth="3DSecure")
    begun = client.initiate(given)
    client.charge(begun, given)
    return of_rail(shop, "payment", begun["txnRef"], again=lambda: client.charge(begun, given))


def ussd_waits(shop: MerchantClient) -> Act:
    client = PaymentClient(shop)
    begun = client.pay(action="charge", bank="gtb", **client.body(paymentType="ussd"))
    return of_rail(shop, "payment", begun["txnRef"])


def transfer_in_part(shop: MerchantClient) -> Act:
    client = PaymentClient(shop)
    begun = client.pay(action="charge", **client.body(paymentType="bank_transfer"))
    paid = {"action": "pay_account", "accountNumber": begun["accountNumber"]}
    shop.send_fields("sandbox", {**paid, "amount": "500.00"})
    return Act(
        shop,
        begun["txnRef"],
        lambda: verify(shop, "payment", begun["txnRef"]),
        lambda: shop.send_fields("sandbox", {**paid, "amount": "1000.00"}).body["txnStatus"],
    )


def refund_waits(shop: MerchantClient) -> Act:
    client = PaymentClient(shop)
    paid = client.paid()["txnRef"]
    waiting = client.refund(paid, "1000.00", LOST)
    assert waiting["txnStatus"] == "pending", waiting

    def state() -> Any:
        return client.pay(action="verify", refundRef=waiting["refundRef"])["txnStatus"]

    def finish() -> Any:
        shop.advance(minutes=1)
        return state()

    return Act(shop, paid, state, finish)


def dispute_is_open(shop: MerchantClient, evidence: str = "") -> Act:
    client = PaymentClient(shop)
    paid = client.paid()["txnRef"]
    dispute_id = open_dispute(client, paid, amount="1000.00")["data"]["dispute_id"]
    if evidence:
        given = {"action": "dispute_respond", "dispute_id": dispute_id, "evidence": {"explanation": evidence}}
        assert client.pay(**given)["status"] == 200

    def state() -> Any:
        return client.pay(action="dispute", dispute_id=dispute_id)["data"]["state"]

    def finish() -> Any:
        if not evidence:
            client.pay(action="dispute_respond", dispute_id=dispute_id, accept=True)
        else:
            shop.put("sandbox", action="dispute_outcome", dispute_id=dispute_id, outcome="won")
        return state()

    return Act(shop, paid, state, finish)


def dispute_is_reviewed(shop: MerchantClient) -> Act:
    return dispute_is_open(shop, "delivered")


def plan_charge_waits(shop: MerchantClient) -> Act:
    client = PaymentClient(shop)
    client.paid(is_recurring=True, recurrent={"frequency": "daily", "value": "9"})
    shop.put("sandbox", action="fault", rail="card", kind="timeout", times=1)
    shop.advance(minutes=30)
    [plan] = shop.put("resources", inquire="recurrents").body

    def finish() -> Any:
        shop.advance(minutes=1)
        return verify(shop, "payment", plan["txnRef"])

    return Act(shop, plan["txnRef"], lambda: verify(shop, "payment", plan["txnRef"]), finish, plan_id=plan["id"])


def issued_card_pays(shop: MerchantClient) -> Act:
    """A payment by a virtual card of the merchant's own, whose outcome comes later."""
    own = CardClient(shop, currency="NGN", amount="5000.00")
    year, month = own.data["expiration"].split("-")
    given = card(own.data["cardpan"], expiry_month=month, expiry_year=year[2:], ccv=own.data["cvv"])
    client = PaymentClient(shop)
    begun = client.charge(client.initiate(given), given, {"x-sandbox-scenario": "delay=60"})

    def finish() -> Any:
        shop.advance(minutes=5)
        return verify(shop, "payment", begun["txnRef"])

    return Act(shop, begun["txnRef"], lambda: verify(shop, "payment", begun["txnRef"]), finish, card=own.reference)


def issued_card_holds(shop: MerchantClient) -> Act:
    """An authorization of a virtual card, which the shop captures later."""
    own = CardClient(shop)
    held = shop.put("sandbox", action="card_authorize", reference=own.reference, amount="40.00").body["txnRef"]

    def finish() -> Any:
        return shop.put("sandbox", action="card_capture", txnRef=held, amount="25.00").body["txnStatus"]

    def state() -> Any:
        return shop.put("resources", inquire="transaction", reference=held).body["data"]["state"]

    return Act(shop, held, state, finish, card=own.reference)


def purchase_is_disputed(shop: MerchantClient) -> Act:
    """A dispute of a card purchase, which the card network decides later."""
    own = CardClient(shop)
    bought = own.buy("40.00")["txnRef"]
    request = {"id": bought, "reason": "not received", "amount": "30.00"}
    dispute_id = own.ask("dispute", **request)["data"]["dispute_id"]

    def state() -> Any:
        return shop.put("virtualcard", action="view_dispute", dispute_id=dispute_id).body["data"]["state"]

    def finish() -> Any:
        shop.put("sandbox", action="card_dispute_outcome", dispute_id=dispute_id, outcome="won")
        return state()

    return Act(shop, dispute_id, state, finish, card=own.reference, bought=bought)


# --- money out ------------------------------------------------------------------------------------------------------


def transfer_is_pending(shop: MerchantClient) -> Act:
    sent = shop.transfer(accountnumber=WAITS, orderRef="waits")
    again = lambda: shop.transfer(accountnumber=WAITS, orderRef="waits")  # noqa: E731
    return of_rail(shop, "disburse", sent["txnRef"], again=again)


def transfer_is_processing(shop: MerchantClient) -> Act:
    shop.put("sandbox", action="fault", rail="bank", kind="timeout", times=1)
    sent = shop.transfer(orderRef="lost")

    def finish() -> Any:
        shop.advance(minutes=1)
        return verify(shop, "disburse", sent["txnRef"])

    return Act(
        shop,
        sent["txnRef"],
        lambda: verify(shop, "disburse", sent["txnRef"]),
        finish,
        lambda: shop.transfer(orderRef="lost"),
    )


def held_back(shop: MerchantClient) -> tuple[MerchantClient, MerchantClient]:
    """Sets a policy that holds back every transfer. Returns who pays and who approves."""
    assert shop.put("sandbox", action="payout_policy", approve_above="0.00").body["status"] == 200
    keys = [shop.put("sandbox", action="new_key", scopes=[scope]).body["key"] for scope in ("payout", "approve")]
    payer, approver = (MerchantClient(shop.connection, shop.mid, key) for key in keys)
    return payer, approver


def transfer_awaits_approval(shop: MerchantClient) -> Act:
    payer, approver = held_back(shop)
    sent = payer.transfer(orderRef="held")
    assert sent["message"] == "Waiting for approval", sent
    return Act(
        shop,
        sent["txnRef"],
        lambda: verify(shop, "disburse", sent["txnRef"]),
        lambda: approver.put("disburse", action="approve", txnRef=sent["txnRef"]).body["txnStatus"],
        lambda: payer.transfer(orderRef="held"),
    )


def bulk_awaits_approval(shop: MerchantClient) -> Act:
    payer, approver = held_back(shop)
    order = {"amount": "100.00", "bankcode": "058", "accountnumber": "0000000000"}
    orders = [{**order, "orderRef": f"held {number}"} for number in range(3)]
    batch = payer.bulk(orders)["batchRef"]

    def state() -> Any:
        return [line["txnStatus"] for line in shop.verify(batch)["data"]]

    def finish() -> Any:
        approver.put("disburse", action="approve", txnRef=batch)
        shop.advance(minutes=1)
        return state()

    return Act(shop, batch, state, finish, lambda: payer.bulk(orders))


def bill_waits(shop: MerchantClient) -> Act:
    shop.put("sandbox", action="fault", rail="biller", kind="timeout", times=1)
    [item] = [one for one in shop.put("bills", action="pull").body["data"]["items"] if one["name"] == "IKEDC Prepaid"]
    fields: dict[str, Any] = {
        "paycode": item["paycode"],
        "reference": "45012345678",
        "amount": "1000.00",
        "orderRef": "bill",
    }
    paid = shop.put("bills", action="pay", **fields).body

    def finish() -> Any:
        shop.advance(minutes=1)
        return verify(shop, "bills", paid["txnRef"])

    return Act(
        shop,
        paid["txnRef"],
        lambda: verify(shop, "bills", paid["txnRef"]),
        finish,
        lambda: shop.put("bills", action="pay", **fields).body,
    )


def payout_waits(shop: MerchantClient) -> Act:
    account: dict[str, Any] = {"bankcode": "058", "accountnumber": WAITS}
    shop.put("resources", request="payout_schedule", frequency="daily", **account)
    shop.advance(days=1, hours=1)
    sent = shop.put("resources", inquire="payout_schedule").body["data"]["last_payout"]
    return of_rail(shop, "disburse", sent, has_schedule=True)


def cashcode_is_active(shop: MerchantClient) -> Act:
    fields: dict[str, Any] = {"amount": "1000.00", "pin": "2580", "channel": "ATM", "orderRef": "cash"}
    made = shop.put("cashcode", action="generate", **fields).body

    def state() -> Any:
        return shop.put("cashcode", action="verify", orderRef="cash").body["state"]

    def finish() -> Any:
        drawn: dict[str, Any] = {"cashcode": made["cashcode"], "pin": "2580", "channel": "ATM", "amount": "1000.00"}
        shop.put("sandbox", action="redeem_cashcode", **drawn)
        return state()

    again = lambda: shop.put("cashcode", action="generate", **fields).body  # noqa: E731
    return Act(shop, "cash", state, finish, again, order_ref="cash")


# --- clients --------------------------------------------------------------------------------------------------------


def deposit_waits(shop: MerchantClient) -> Act:
    client_id = savers.enroll(shop)
    savings_id = savers.open_savings(shop, client_id)
    asked = savers.invest(shop, "deposit", savings_id=savings_id, payment_method="bank_transfer", amount="5000.00")
    paid = {"action": "pay_account", "accountNumber": asked["accountNumber"], "amount": "5000.00"}
    return Act(
        shop,
        asked["txnRef"],
        lambda: verify(shop, "payment", asked["txnRef"]),
        lambda: shop.send_fields("sandbox", paid).body["txnStatus"],
        client_id=client_id,
        savings_id=savings_id,
    )


def cash_out_waits(shop: MerchantClient) -> Act:
    client_id = savers.enroll(shop, WAITS)
    savings_id = savers.open_savings(shop, client_id, "5000.00")
    out = savers.cash_out(shop, savings_id, client_id, "5000.00", "transfer")
    names = {"client_id": client_id, "savings_id": savings_id}
    return of_rail(shop, "disburse", out["data"]["txnRef"] if "data" in out else out["txnRef"], **names)


def thrift_cycle_is_short(shop: MerchantClient) -> Act:
    """A cycle that waits for a member who cannot pay."""
    rich, poor = savers.enroll(shop), savers.enroll(shop)
    full, empty = savers.open_savings(shop, rich, "1000.00"), savers.open_savings(shop, poor, "1.00")
    thrift_id = savers.make_plan(shop, 2)
    for savings_id in (full, empty):
        savers.join(shop, thrift_id, savings_id)
    shop.advance(hours=2)

    def state() -> Any:
        return [member["received"] for member in savers.members_of(shop, thrift_id)]

    def finish() -> Any:
        assert savers.make_deposit(shop, empty, "500.00")["status"] == 200
        shop.advance(days=1)
        return state()

    return Act(shop, thrift_id, state, finish, client_id=poor, savings_id=empty, thrift_id=thrift_id)


def loan_is_paid_out(shop: MerchantClient) -> Act:
    client_id = savers.enroll(shop, WAITS)
    terms: dict[str, Any] = {
        "interestSettings": {"interestRate": "24", "interestFrequency": "annualized"},
        "amount": 120000,
    }
    asked = shop.put("loans", action="request", client_id=client_id, period=12, **terms).body["data"]["loan_id"]
    shop.put("loans", action="process", loan_id=asked, status="approve")

    def state() -> Any:
        return shop.put("loans", action="view", loan_id=asked).body["data"]["state"]

    def finish() -> Any:
        settle(shop, asked)
        return state()

    again = lambda: shop.put("loans", action="process", loan_id=asked, status="approve").body  # noqa: E731
    return Act(shop, asked, state, finish, again, client_id=client_id, loan_id=asked)


def repayment_waits(shop: MerchantClient) -> Act:
    client_id = savers.enroll(shop)
    terms: dict[str, Any] = {
        "interestSettings": {"interestRate": "24", "interestFrequency": "annualized"},
        "amount": 120000,
    }
    loan_id = shop.put("loans", action="request", client_id=client_id, period=12, **terms).body["data"]["loan_id"]
    shop.put("loans", action="process", loan_id=loan_id, status="approve")
    asked = {"action": "repay", "loan_id": loan_id, "payment_method": "bank_transfer", "amount": "120000.00"}
    begun = shop.send_fields("loans", asked).body
    paid = {"action": "pay_account", "accountNumber": begun["accountNumber"], "amount": "120000.00"}
    return Act(
        shop,
        begun["txnRef"],
        lambda: verify(shop, "payment", begun["txnRef"]),
        lambda: shop.send_fields("sandbox", paid).body["txnStatus"],
        client_id=client_id,
        loan_id=loan_id,
    )


# --- pages ----------------------------------------------------------------------------------------------------------


def confirm(shop: MerchantClient, path: str, page: str) -> None:
    post_form(shop.connection, path, {**hidden_fields(page, "otp"), "otp": OTP})


def attempt_of_checkout(shop: MerchantClient) -> Act:
    client = PaymentClient(shop)
    fields: dict[str, Any] = {"amount": "1500.00", "user": client.body()["user"], "customer_txnref": "basket"}
    opened = shop.put("payment", action="checkout", **fields).body
    path = "/pay" + opened["checkoutURL"].partition("/pay")[2]
    page = begin_card(shop.connection, path)

    def finish() -> Any:
        confirm(shop, path, page)
        return verify(shop, "payment", opened["txnRef"])

    return Act(shop, opened["txnRef"], lambda: verify(shop, "payment", opened["txnRef"]), finish)


def invoice_is_being_paid(shop: MerchantClient) -> Act:
    record = make_invoice(shop)
    path = open_payment(shop.connection, record["link"], {})
    page = begin_card(shop.connection, path)

    def state() -> Any:
        return show_invoice(shop, record["invoice_id"])["status"]

    def finish() -> Any:
        confirm(shop, path, page)
        return state()

    return Act(shop, record["invoice_id"], state, finish, invoice_id=record["invoice_id"])


def ticket_is_being_bought(shop: MerchantClient) -> Act:
    link = make_link(shop)
    path = open_payment(shop.connection, link["link"], {**BUYER, "count_0": "1"})
    page = begin_card(shop.connection, path)

    def state() -> Any:
        return shop.put("resources", inquire="ticket", link_id=link["link_id"]).body["total"]

    def finish() -> Any:
        confirm(shop, path, page)
        return state()

    return Act(shop, link["link_id"], state, finish, link_id=link["link_id"])
