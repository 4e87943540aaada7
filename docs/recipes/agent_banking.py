"""A day of an agent: one counter in a market that is a bank for the people around it.

Run `make serve`, then `python docs/recipes/agent_banking.py`. agent_banking.md tells why each step is what it is.
"""

from typing import Any

from story import Merchant, Surprise, kobo, naira, open_merchant, percent, read_arguments

METER, PHONE = "45012345678", "08031234567"
BVN = "22212345678"
# Accounts of the test environment say how the bank answers: at once, in a while, and with a refusal.
PAYS, PAYS_LATER, REFUSES = "0000000000", "0000000900", "0000005100"


class Counter:
    """The agent's drawer and wallet: what a customer brings in cash the wallet sends on, and the other way round."""

    def __init__(self, agent: Merchant) -> None:
        self.agent = agent
        self.drawer = 0
        self.savings = 0
        self.savings_id = ""
        self.client_id = ""

    # --- a client -------------------------------------------------------------------------------------------

    def enrol(self) -> None:
        register = self.agent.put("resources", "success", inquire="bvn", bvn=BVN)["data"]
        self.agent.show(register, "firstname", "lastname", "dob")
        person = {name: register[name] for name in ("firstname", "lastname", "dob", "phone", "bvn")}
        other = {**person, "lastname": "Somebody"}
        refused = self.agent.put("clients", 104, action="create", data=other, verify_bvn=True, status="active")
        self.agent.show(refused, "status", "message", "errors")
        client = self.agent.put("clients", action="create", data=person, verify_bvn=True, status="active")["data"]
        self.agent.show(client, "client_id", "bvn", "bvn_verified")
        self.client_id = client["client_id"]
        nothing = {"interestRate": "0", "interestFrequency": "annualized"}
        fields = {"name": "Counter account", "client_id": self.client_id, "interestSettings": nothing, "period": 12}
        self.savings_id = self.agent.put("investments", action="create_savings", **fields)["data"]["savings_id"]

    def take_deposit(self, amount: str) -> None:
        fields = {"savings_id": self.savings_id, "payment_method": "wallet", "amount": amount}
        reply = self.agent.put("investments", action="deposit", **fields)
        self.agent.show(reply, "message", "txnRef", "balance")
        self.drawer += kobo(amount)
        self.savings += kobo(amount)
        self.agent.wallet -= kobo(amount)

    def cash_out(self, amount: str, method: str, **more: Any) -> Any:
        fields = {"saving_id": self.savings_id, "client_id": self.client_id, "amount": amount, "method": method}
        return self.agent.put("investments", action="cashout", **fields, **more)

    def pay_out(self, amount: str) -> None:
        reply = self.cash_out(amount, "cash")
        self.agent.show(reply, "message", "txnRef", "balance")
        self.drawer -= kobo(amount)
        self.savings -= kobo(amount)
        self.agent.wallet += kobo(amount)

    def hand_code(self, amount: str) -> None:
        """A dry run first, so that the agent can say what it costs; then the code, which is shown this once."""
        would = self.cash_out(amount, "cashcode", dry_run=True)
        cost = {figure["what"]: figure["amount"] for figure in would["explained"]}
        self.agent.show(cost, "amount", "fee", "VAT", "balance after")
        code = self.cash_out(amount, "cashcode")
        self.agent.show(code, "message", "txnRef", "balance")
        self.agent.tell(f"the slip says: code {'*' * 10}, PIN {'*' * len(code['pin'])}")
        drawn = {"cashcode": code["cashcode"], "pin": code["pin"], "amount": amount, "channel": "ATM"}
        self.agent.show(self.agent.put("sandbox", action="redeem_cashcode", **drawn), "message", "amount")
        self.savings -= kobo(amount)
        self.agent.wallet -= kobo(cost["fee"]) + kobo(cost["VAT"])

    def lose_code(self, amount: str) -> None:
        code = self.cash_out(amount, "cashcode", pin="2580")
        self.agent.tell(f"{code['balance']} is left while the code stands")
        self.agent.advance("2026-01-06T10:00:00+01:00")
        ended = self.agent.put("cashcode", action="verify", orderRef=code["txnRef"])
        self.agent.show(ended, "state", "paid", "message")

    # --- whoever walks in -----------------------------------------------------------------------------------

    def send(self, amount: str, account: str, reference: str) -> str:
        fields = {"amount": amount, "bankcode": "058", "accountnumber": account, "orderRef": reference}
        reply = self.agent.put("disburse", action="transfer", **fields)
        self.agent.show(reply, "txnStatus", "message", "orderRef")
        return str(reply["txnStatus"])

    def keep_sent(self, amount: str, reference: str) -> None:
        """The customer has paid the amount in cash; the fee is what the agent earns its own price from."""
        sent = self.agent.put("disburse", action="verify", txnRef=reference)
        if sent["txnStatus"] != "successful":
            raise Surprise(f"{reference} is {sent['txnStatus']}")
        self.drawer += kobo(amount)
        self.agent.wallet -= kobo(amount) + kobo(sent["fee"]) + kobo(sent["vat"])

    def transfer(self) -> None:
        named = self.agent.put("resources", "success", inquire="accountname", bankcode="058", accountnumber=PAYS)
        self.agent.tell(f"the account is {named['data']['account_name']}'s: the customer nods")
        self.send("10000.00", PAYS, "counter-1")
        self.keep_sent("10000.00", "counter-1")
        self.agent.tell("the same slip is sent again by mistake, and no money moves twice:")
        self.send("10000.00", PAYS, "counter-1")
        self.agent.tell("a bank that takes its time; the agent asks again before the customer leaves:")
        self.send("2500.00", PAYS_LATER, "counter-2")
        self.agent.advance("2026-01-06T10:01:00+01:00")
        self.keep_sent("2500.00", "counter-2")
        self.agent.tell("a bank that refuses; the customer keeps the cash, and the wallet its money:")
        self.agent.same("the transfer", "failed", self.send("4000.00", REFUSES, "counter-3"))

    def pay_bill(self, name: str, category: str, customer: str, amount: str, reference: str) -> None:
        items = self.agent.put("bills", action="pull", category=category)["data"]["items"]
        [item] = [item for item in items if item["name"] == name]
        if item["require_name_query"]:
            found = self.agent.put("bills", action="resolve", paycode=item["paycode"], reference=customer)
            self.agent.show(found, "message", "custName")
        fields = {"paycode": item["paycode"], "reference": customer, "amount": amount, "orderRef": reference}
        paid = self.agent.put("bills", action="pay", **fields)
        self.agent.show(paid, "txnStatus", "message", "token", "units")
        bill = self.agent.put("bills", action="verify", txnRef=reference)
        commission = percent(kobo(amount), item["discount"])
        self.agent.tell(f"the agent's commission is {naira(commission)}")
        self.drawer += kobo(amount)
        self.agent.wallet -= kobo(amount) + kobo(bill["fee"]) + kobo(bill["vat"]) - commission

    # --- the evening ----------------------------------------------------------------------------------------

    def check_books(self) -> None:
        record = self.agent.put("investments", action="view_savings", savings_id=self.savings_id)["data"]
        self.agent.same("the client's savings", naira(self.savings), naira(kobo(record["balance"])))
        self.agent.check_wallet()
        self.agent.check_events()
        self.agent.tell(f"the drawer holds {naira(self.drawer)} in cash")
        print("\nThe books are right.")


def run(agent: Merchant) -> None:
    counter = Counter(agent)
    agent.step("A client is enrolled: the BVN register says who it is, and a name that differs is refused")
    counter.enrol()
    agent.step("She brings 20,000 in cash: the drawer has it, and the wallet puts it into her savings")
    counter.take_deposit("20000.00")
    agent.step("She takes 5,000 over the counter: out of the drawer, and the wallet gets it back")
    counter.pay_out("5000.00")
    agent.step("She wants 4,000 from a cash machine: a code and a PIN, shown once")
    counter.hand_code("4000.00")
    agent.step("Another code is never used: a day later its money is in her savings again")
    counter.lose_code("3000.00")
    agent.step("Customers send money home")
    counter.transfer()
    agent.step("Airtime for a customer")
    counter.pay_bill("MTN VTU (any amount)", "airtime", PHONE, "500.00", "counter-4")
    agent.step("Electricity for a customer: the meter's name first, then the token")
    counter.pay_bill("IKEDC Prepaid", "electricity", METER, "5000.00", "counter-5")
    agent.step("In the evening the drawer, the wallet and the savings are counted")
    counter.check_books()


if __name__ == "__main__":
    run(open_merchant(read_arguments("An agent's day"), "Nkechi's counter"))
