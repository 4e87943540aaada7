"""Incidents, as they happen in live. Each returns the reference that a case is exported of."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.cases.live_ground import LiveShop
from tests.webhooks.event_log import wait_until

# Accounts of bank 058, with right check digits. The twin leaves those that end in 1 pending.
ACCOUNT, PENDING_ACCOUNT, OTHER_ACCOUNT = "0123456785", "0123400001", "0123456792"
METER = "45012345201"
OTP, WRONG_OTP = "123456", "654321"


def lose_the_answer_of_a_transfer(shop: LiveShop) -> str:
    shop.twins.paystack.add_fault("lose", "/transfer$")
    sent = shop.put("disburse", action="transfer", amount="1500.00", bankcode="058", accountnumber=ACCOUNT)
    assert sent["txnStatus"] == "processing"
    shop.go_to_next_job()
    shop.wait_for("disburse", sent["txnRef"], "successful")
    return str(sent["txnRef"])


def succeed_after_a_failure(shop: LiveShop) -> str:
    sent = shop.put("disburse", action="transfer", amount="700.00", bankcode="058", accountnumber=PENDING_ACCOUNT)
    reference = shop.wire(sent["txnRef"])
    shop.call_back(shop.twins.bank.settle(reference, "failed"))
    shop.wait_for("disburse", sent["txnRef"], "failed")
    shop.call_back(shop.twins.bank.settle(reference, "success"))
    notice = "select 1 from operator_notice where reference = $1 and is_contradiction"
    wait_until("it is noticed", lambda: shop.deployment.fetch(notice, sent["txnRef"]))
    return str(sent["txnRef"])


def refund_in_several_answers(shop: LiveShop) -> str:
    paid = pay_by_card(shop, "2000.00")
    refund = shop.put("payment", action="refund", txnRef=paid["txnRef"], amount="500.00")
    assert refund["txnStatus"] == "pending"
    for count in (2, 3):
        shop.go_to_next_job("payment.ask_refund")
        shop.wait_for_answers(refund["refundRef"], count)
    [paid_back] = [one for one in shop.twins.collections.refunds if one.note == shop.wire(refund["refundRef"])]
    shop.call_back(shop.twins.collections.end_refund(paid_back.id))
    shop.wait_for("payment", refund["refundRef"], "successful", name="refundRef")
    return str(refund["refundRef"])


def pay_an_expired_bank_transfer_late(shop: LiveShop) -> str:
    shown = shop.put("payment", action="charge", paymentType="bank_transfer", amount="1800.00")
    for count in range(2, 20):
        shop.go_to_next_job()
        shop.wait_for_answers(shown["txnRef"], count)
        if shop.client.put("payment", action="verify", txnRef=shown["txnRef"]).body["txnStatus"] == "failed":
            break
    reference = shop.wire(shown["txnRef"])
    shop.call_back(shop.twins.collections.pay(reference))
    refunds = shop.twins.collections.refunds
    wait_until("it is sent back", lambda: [one for one in refunds if one.reference == reference])
    [refund] = [one for one in refunds if one.reference == reference]
    shop.call_back(shop.twins.collections.end_refund(refund.id))
    returned = "select 1 from transaction where merchant_id = $1 and kind = 'refund' and status = 'successful'"
    wait_until("it is returned", lambda: shop.deployment.fetch(returned, shop.merchant_id))
    return str(shown["txnRef"])


def win_an_expired_dispute_late(shop: LiveShop) -> str:
    paid = pay_by_card(shop, "950.00")
    disputes = shop.twins.bank.accounts
    event = disputes.dispute(shop.wire(paid["txnRef"]), 95_000)
    number = list(disputes.disputes)[-1]
    disputes.disputes[number].due_at = datetime.now(UTC) + timedelta(days=5)
    shop.call_back(event)

    def show() -> Any:
        return shop.client.put("payment", action="disputes").body["data"]

    [opened] = wait_until("the dispute is open", show)
    resolved = disputes.resolve(number, "auto-accepted")  # the call-back is lost
    for _ in range(6):
        due = shop.go_to_next_job()
        wait_until("its job was run", lambda due=due: shop.has_run(due))  # type: ignore[misc]
        if show()[0]["state"] in ("lost", "expired"):
            break
    else:
        raise AssertionError("the dispute did not expire")
    shop.call_back(resolved)
    stored = "select 1 from rail_dispute where status = 'resolved' and dispute_id = $1"
    wait_until("the resolution is stored", lambda: shop.deployment.fetch(stored, str(number)))
    shop.call_back(disputes.resolve(number, "declined"))
    wait_until("it is won", lambda: show()[0]["state"] == "won")
    return str(opened["dispute_id"])


def owe_a_thrift_debt(shop: LiveShop) -> str:
    members = []
    for number, deposit in enumerate(("300.00", "300.00", "30.00")):
        person = {"firstname": "Ada", "lastname": "Obi", "phone": f"0803123456{number}"}
        client_id = shop.put("clients", action="create", data=person, status="active")["data"]["client_id"]
        interest = {"interestRate": "0", "interestFrequency": "annualized"}
        fields = {"name": "School fees", "client_id": client_id, "interestSettings": interest, "period": 12}
        savings_id = shop.put("investments", action="create_savings", **fields)["data"]["savings_id"]
        deposited = {"savings_id": savings_id, "payment_method": "wallet", "amount": deposit}
        shop.put("investments", action="deposit", **deposited)
        members.append(savings_id)
    today = shop.deployment.fetch("select (now() at time zone 'Africa/Lagos')::date::text")[0][0]
    plan = {"name": "Esusu", "amount": "100.00", "start_date": today, "frequency": "every_month"}
    thrift_id = shop.put("investments", action="create_plan", member_required="3", **plan)["data"]["thrift_id"]
    for savings_id in members:
        shop.put("investments", action="subscribe", savings_id=savings_id, thrift_id=thrift_id)

    def owed() -> list[str]:
        return [line["owed"] for line in shop.put("investments", action="subscriptions", thrift_id=thrift_id)["data"]]

    for _ in range(4):
        due = shop.go_to_next_job()
        wait_until("the cycle was tried", lambda due=due: shop.has_run(due))  # type: ignore[misc]
        if owed()[2] != "0.00":
            break
    assert owed() == ["0.00", "0.00", "70.00"]
    shop.put("investments", action="deposit", savings_id=members[2], payment_method="wallet", amount="100.00")
    assert owed() == ["0.00"] * 3
    return str(thrift_id)


def wait_long_for_a_bill(shop: LiveShop) -> str:
    fields = {"reference": METER, "amount": "5000.00", "orderRef": "light-bill"}
    paid = shop.put("bills", action="pay", paycode="ikeja-electric/prepaid", phonenumber="08031234567", **fields)
    assert paid["txnStatus"] == "pending"
    for count in (2, 3, 4):
        shop.go_to_next_job()
        shop.wait_for_answers(paid["txnRef"], count)
    bill = [bill for bill in shop.twins.bills.bills.values() if bill.customer == METER][-1]
    shop.call_back_about_bill(shop.twins.bills.settle(bill.request_id, "delivered"))
    shop.wait_for("bills", paid["txnRef"], "successful")
    return str(paid["txnRef"])


def enter_three_wrong_codes(shop: LiveShop) -> str:
    account = {"accountnumber": "0123456785", "bankcode": "058"}
    begun = shop.put("payment", action="charge", paymentType="account", amount="1200.00", account=account)
    for _ in range(3):
        shop.client.put("payment", action="validate", txnRef=begun["txnRef"], otp=WRONG_OTP)
    shop.wait_for("payment", begun["txnRef"], "failed")
    return str(begun["txnRef"])


def reverse_one_order_of_a_bulk(shop: LiveShop) -> str:
    accounts = (ACCOUNT, PENDING_ACCOUNT, OTHER_ACCOUNT)
    orders = [
        {"amount": f"{number}10.00", "bankcode": "058", "accountnumber": account, "orderRef": f"salary-{number}"}
        for number, account in enumerate(accounts, start=1)
    ]
    sent = shop.put("disburse", action="transfer", type="bulk", data=orders)
    references = [line["txnRef"] for line in sent["data"]]
    transfers = shop.twins.bank.transfers
    wait_until("the vendor has all", lambda: all(shop.wire(one) in transfers for one in references))
    shop.call_back(shop.twins.bank.settle(shop.wire(references[1]), "reversed"))
    shop.wait_for("disburse", references[1], "failed")
    for reference in (references[0], references[2]):
        shop.call_back(shop.twins.bank.settle(shop.wire(reference), "success"))
        shop.wait_for("disburse", reference, "successful")
    return str(sent["batchRef"])


def charge_a_plan_again(shop: LiveShop) -> str:
    rule = {"frequency": "daily", "value": "10"}
    paid = pay_by_card(shop, "300.00", is_recurring=True, recurrent=rule)
    charges = "select status from transaction where merchant_id = $1 and kind = 'payment' order by seq"

    def statuses() -> list[str]:
        return [row[0] for row in shop.deployment.fetch(charges, shop.merchant_id)]

    shop.twins.collections.token_status = "failed"
    shop.go_to_next_job()
    wait_until("it is declined", lambda: statuses() == ["successful", "failed"])
    shop.twins.collections.token_status = "success"
    shop.go_to_next_job()
    wait_until("it is charged", lambda: statuses() == ["successful", "failed", "successful"])
    return str(paid["txnRef"])


def collect_at_a_meeting(shop: LiveShop) -> str:
    members = []
    for number, account in enumerate((ACCOUNT, OTHER_ACCOUNT, ACCOUNT)):
        person = {"firstname": "Ada", "lastname": "Obi", "phone": f"0803123456{number}"}
        data = {**person, "bankAccount": {"account_number": account, "bank_code": "058", "account_name": "Ada Obi"}}
        members.append(shop.put("clients", action="create", data=data, status="active")["data"]["client_id"])
    grouped = {"name": "Weavers of Obi", "members": members[:2], "leader": members[0]}
    group_id = shop.put("loans", action="create_group", **grouped)["data"]["group_id"]
    shop.put("loans", action="update_group", group_id=group_id, add=members[2:])
    terms = {"interestSettings": {"interestRate": "0", "interestFrequency": "every_week"}, "period": 10}
    parts = [
        {"client_id": one, "amount": amount} for one, amount in zip(members[1:], ("800.00", "500.00"), strict=True)
    ]
    requested = {"group_id": group_id, "loans": parts, "disbursement": "one", **terms}
    group_loan = shop.put("loans", action="request_group_loan", **requested)["data"]
    approved = {"group_loan_id": group_loan["group_loan_id"], "status": "approve"}
    paid = shop.put("loans", action="process_group_loan", **approved)["data"]
    shop.call_back(shop.twins.bank.settle(shop.wire(paid["txnRef"]), "success"))
    shop.wait_for("disburse", paid["txnRef"], "successful")
    loans = [line["loan_id"] for line in group_loan["loans"]]
    for amounts in (("80.00", "20.00"), ("80.00", "80.00")):
        lines = [{"loan_id": loan_id, "amount": amount} for loan_id, amount in zip(loans, amounts, strict=True)]
        shop.put("loans", action="collect", group_id=group_id, amounts=lines)
        due = shop.go_to_next_job("loans.watch")
        wait_until("the loan is looked at", lambda due=due: shop.has_run(due))  # type: ignore[misc]
    # The second of the loans: a meeting is found by each of its repayments.
    return str(loans[1])


def pay_by_card(shop: LiveShop, amount: str, **fields: Any) -> Any:
    user = {"firstname": "Ada", "lastname": "Obi", "email": "ada@payers.example.com", "phone": "08031234567"}
    begun = shop.put("payment", action="initiate", paymentType="card", amount=amount, user=user, **fields)
    shop.call_back(shop.twins.collections.pay(shop.wire(begun["txnRef"])))
    return shop.wait_for("payment", begun["txnRef"], "successful")


INCIDENTS: tuple[Callable[[LiveShop], str], ...] = (
    lose_the_answer_of_a_transfer,
    succeed_after_a_failure,
    refund_in_several_answers,
    pay_an_expired_bank_transfer_late,
    win_an_expired_dispute_late,
    owe_a_thrift_debt,
    wait_long_for_a_bill,
    enter_three_wrong_codes,
    reverse_one_order_of_a_bulk,
    charge_a_plan_again,
    collect_at_a_meeting,
)
