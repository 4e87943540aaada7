"""Clients who leave or are erased: not while money can still reach or leave them, and none comes to them afterwards."""

from typing import Any

from tests.merchant_client import MerchantClient
from tests.methods.clients.enrollment import update, view
from tests.methods.investments import savers
from tests.methods.loans.lending_client import LendingClient
from tests.methods.payment.payment_client import card
from tests.running import Deployment

NO_INTEREST: dict[str, Any] = {"interestSettings": {"interestRate": "0", "interestFrequency": "annualized"}}
OTP = "123456"


def leave(shop: MerchantClient, client_id: str) -> Any:
    return update(shop, client_id, status="exited")


def await_transfer(shop: MerchantClient, savings_id: str, amount: str = "5000.00") -> Any:
    asked = savers.invest(shop, "deposit", savings_id=savings_id, payment_method="bank_transfer", amount=amount)
    assert asked["status"] == 202, asked
    return asked


def test_a_pending_deposit_keeps_the_savings_open_and_their_client(
    shop: MerchantClient, deployment: Deployment
) -> None:
    ada = savers.enroll(shop)
    savings_id = savers.open_savings(shop, ada, "100.00", **NO_INTEREST)
    asked = await_transfer(shop, savings_id)
    assert savers.cash_out(shop, savings_id, ada, "100.00")["status"] == 200
    assert savers.view(shop, savings_id)["state"] == "active"
    closing = savers.cash_out(shop, savings_id, ada, "0")
    assert (closing["status"], "a deposit to them is pending" in closing["errors"][0]["reason"]) == (104, True)
    refused = leave(shop, ada)
    assert (refused["status"], [fault["field"] for fault in refused["errors"]]) == (104, ["status"])
    assert "open loan or savings" in deployment.run_refused_command("client", "erase", shop.mid, ada, "--yes")
    paid = shop.put("sandbox", action="pay_account", accountNumber=asked["accountNumber"], amount="5000.00").body
    assert paid["txnStatus"] == "successful"
    assert (savers.balance(shop, savings_id), view(shop, ada)["data"]["status"]) == (500_000, "active")


def test_savings_close_and_their_client_leaves_after_a_deposit_has_expired(shop: MerchantClient) -> None:
    ada = savers.enroll(shop)
    savings_id = savers.open_savings(shop, ada, "100.00", **NO_INTEREST)
    asked = await_transfer(shop, savings_id)
    assert savers.cash_out(shop, savings_id, ada, "100.00")["status"] == 200
    shop.advance(minutes=11)
    assert shop.put("payment", action="verify", txnRef=asked["txnRef"]).body["txnStatus"] == "failed"
    assert savers.cash_out(shop, savings_id, ada, "0")["status"] == 200
    assert leave(shop, ada)["data"]["status"] == "exited"
    late = shop.put("sandbox", action="pay_account", accountNumber=asked["accountNumber"], amount="5000.00").body
    assert (late["txnStatus"], savers.view(shop, savings_id)["state"]) == ("failed", "closed")


def test_emptied_savings_that_matured_are_closed_by_the_deposit_that_fails(shop: MerchantClient) -> None:
    ada = savers.enroll(shop)
    savings_id = savers.open_savings(shop, ada, "100.00", period=1, **NO_INTEREST)
    shop.advance(days=40)
    await_transfer(shop, savings_id)
    assert savers.cash_out(shop, savings_id, ada, "100.00")["status"] == 200
    assert savers.view(shop, savings_id)["state"] == "matured"
    shop.advance(minutes=11)
    assert savers.view(shop, savings_id)["state"] == "closed"
    assert leave(shop, ada)["status"] == 200


def test_a_creditor_of_a_thrift_debt_does_not_leave_before_it_is_repaid(
    shop: MerchantClient, deployment: Deployment
) -> None:
    debtors_client, client_id = savers.enroll(shop), savers.enroll(shop)
    debtor, creditor = (savers.open_savings(shop, one, "100.00", **NO_INTEREST) for one in (debtors_client, client_id))
    thrift_id = savers.make_plan(shop, 2, frequency="every_week")
    for savings_id in (debtor, creditor):
        assert savers.join(shop, thrift_id, savings_id)["status"] == 200
    # The debtor gets the first pot and takes it out. Nothing is left for the creditor's.
    shop.advance(days=1)
    assert savers.cash_out(shop, debtor, debtors_client, "200.00")["status"] == 200
    shop.advance(days=20)
    assert [line["owed"] for line in savers.members_of(shop, thrift_id)] == ["100.00", "0.00"]
    assert (savers.invest(shop, "list_plans")["data"][0]["state"], savers.balance(shop, creditor)) == ("completed", 0)
    closing = savers.cash_out(shop, creditor, client_id, "0")
    assert "thrift debts are owed to them" in closing["errors"][0]["reason"]
    assert leave(shop, client_id)["status"] == 104
    assert "open loan or savings" in deployment.run_refused_command("client", "erase", shop.mid, client_id, "--yes")
    assert savers.make_deposit(shop, debtor, "500.00")["status"] == 200
    assert savers.balance(shop, creditor) == 10_000
    assert savers.cash_out(shop, creditor, client_id, "100.00")["status"] == 200
    assert (savers.view(shop, creditor)["state"], leave(shop, client_id)["status"]) == ("closed", 200)


def test_a_client_who_is_owed_a_loans_credit_stays_until_it_is_refunded(
    shop: MerchantClient, deployment: Deployment
) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    client_id = bank.client()
    loan_id = bank.request(client_id, amount=1000)["data"]["loan_id"]
    assert bank.loans("process", loan_id=loan_id, status="approve")["data"]["state"] == "active"
    both = [
        bank.loans("repay", loan_id=loan_id, payment_method="card", amount="1000.00", card=card()) for _ in range(2)
    ]
    assert bank.loans("validate", txnRef=both[0]["txnRef"], otp=OTP)["txnStatus"] == "successful"
    assert bank.view(loan_id)["state"] == "closed_repaid"
    assert "is still pending" in leave(shop, client_id)["message"]
    assert "is still pending" in deployment.run_refused_command("client", "erase", shop.mid, client_id, "--yes")
    assert bank.loans("validate", txnRef=both[1]["txnRef"], otp=OTP)["txnStatus"] == "successful"
    for status in ("exited", "blacklisted"):
        refused = update(shop, client_id, status=status)
        assert (refused["status"], "is owed 1000.00" in refused["message"]) == (104, True)
    assert "is owed 1000.00" in deployment.run_refused_command("client", "erase", shop.mid, client_id, "--yes")
    back = shop.put("payment", action="refund", txnRef=both[1]["txnRef"], amount="1000.00").body
    assert back["txnStatus"] == "successful"
    assert leave(shop, client_id)["data"]["status"] == "exited"
    deployment.run_command("client", "erase", shop.mid, client_id, "--yes")


def test_a_cash_out_in_progress_keeps_its_client(shop: MerchantClient) -> None:
    ada = savers.enroll(shop, savers.WAITS)
    savings_id = savers.open_savings(shop, ada, "100.00", **NO_INTEREST)
    sent = savers.cash_out(shop, savings_id, ada, "100.00", "transfer")
    assert leave(shop, ada)["status"] == 104
    shop.put("sandbox", action="settle", txnRef=sent["txnRef"], outcome="successful")
    assert (savers.view(shop, savings_id)["state"], leave(shop, ada)["status"]) == ("closed", 200)


def test_what_is_paid_of_a_loan_that_was_written_off_is_recovered(shop: MerchantClient, deployment: Deployment) -> None:
    bank = LendingClient(shop.connection, shop.mid, shop.key)
    client_id = bank.client()
    loan_id = bank.request(client_id, amount=1000)["data"]["loan_id"]
    assert bank.loans("process", loan_id=loan_id, status="approve")["data"]["state"] == "active"
    deployment.run_command("loan", "write-off", shop.mid, loan_id)
    assert leave(shop, client_id)["data"]["status"] == "exited"
    direct = bank.repay(loan_id, amount="100.00")
    assert (direct["status"], direct["data"]["state"]) == (200, "closed_written_off")
    paid = bank.loans("repay", loan_id=loan_id, payment_method="card", amount="200.00", card=card(auth="PIN"))
    assert paid["txnStatus"] == "successful"
    assert (bank.view(loan_id)["credit"], bank.view(loan_id)["state"]) == ("0.00", "closed_written_off")
    assert "unappliedAmount" not in shop.put("payment", action="verify", txnRef=paid["txnRef"]).body
    recovered = deployment.fetch(
        "select sum(amount) from posting where credit = 'lending:recovered:NGN'"
        " and merchant_id = (select merchant_id from loan where loan_id = $1)",
        loan_id,
    )
    assert int(recovered[0][0]) == 30_000
