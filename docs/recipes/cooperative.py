"""A cooperative society of 200 members in a year: they buy shares, save, take turns with a pot, borrow, pay by standing
orders and get a dividend; one leaves, and those who moved nothing for a year are dormant.

Run `make serve`, then `python docs/recipes/cooperative.py`. cooperative.md tells why each step is what it is.
"""

from datetime import date
from fractions import Fraction
from typing import Any

from society_year import Year, begin_year, check_orders, leave, pay_dividend, wake
from story import Merchant, kobo, naira, open_merchant, percent, read_arguments

CARD = {"card_no": "5123450000000008", "expiry_month": "12", "expiry_year": "30", "ccv": "000", "pin": "1234"}
PIN_CARD = {**CARD, "ccv": "100"}
SAVINGS_RATE, TAX_RATE = 12, 10


class Member:
    """A member and, counted by this script, what its savings should hold: each change with its day."""

    def __init__(self, name: str, client_id: str, savings_id: str) -> None:
        self.name = name
        self.client_id = client_id
        self.savings_id = savings_id
        self.changes: list[tuple[date, int]] = []

    @property
    def balance(self) -> int:
        return sum(amount for _, amount in self.changes)

    def change(self, day: str, amount: int) -> None:
        self.changes.append((date.fromisoformat(day), amount))

    def earned(self, first: date, end: date) -> int:
        """12 % a year, by the day on each end-of-day balance, rounded once a month."""
        days = [date.fromordinal(number) for number in range(first.toordinal(), end.toordinal())]
        balances = sum(amount * sum(day >= since for day in days) for since, amount in self.changes)
        exact = Fraction(balances * SAVINGS_RATE, 365 * 100)
        return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


def card_fee(society: Merchant, amount: str) -> int:
    """Returns the fee that the society pays for a collection by this card."""
    charges_reply = society.put("resources", inquire="charges", card_no=CARD["card_no"][:6], amount=amount)["data"]
    return kobo(charges_reply["fee"]) + kobo(charges_reply["vat"])


# --- members and their savings ------------------------------------------------------------------------------


def enrol(society: Merchant, firstname: str, lastname: str, phone: str) -> Member:
    account = {"bank_code": "058", "account_number": "0040000008"}
    person = {"firstname": firstname, "lastname": lastname, "phone": phone, "bankAccount": account}
    client = society.put("clients", action="create", data=person, status="active")["data"]
    terms = {"interestRate": str(SAVINGS_RATE), "interestFrequency": "annualized"}
    savings = society.put(
        "investments",
        action="create_savings",
        name=f"{firstname}'s share",
        client_id=client["client_id"],
        interestSettings=terms,
        tax_applied=True,
        tax_rate=TAX_RATE,
        period=12,
    )["data"]
    society.tell(f"{firstname} {lastname}: {client['client_id']}, savings {savings['savings_id']}")
    return Member(firstname, client["client_id"], savings["savings_id"])


def save_cash(society: Merchant, member: Member, amount: str) -> None:
    """The treasurer takes the cash and lets the wallet bring it into the savings."""
    fields = {"savings_id": member.savings_id, "payment_method": "wallet", "amount": amount}
    reply = society.put("investments", action="deposit", **fields)
    society.show(reply, "message", "txnRef", "balance")
    society.wallet -= kobo(amount)
    member.change("2026-01-05", kobo(amount))


def save_by_card(society: Merchant, member: Member, amount: str) -> None:
    fields = {"savings_id": member.savings_id, "payment_method": "card", "amount": amount, "card": CARD}
    otp_request = society.put("investments", 202, action="deposit", **fields)
    society.show(otp_request, "status", "state", "validate", "txnRef")
    done = society.put("investments", action="validate", txnRef=otp_request["txnRef"], otp="123456")
    society.show(done, "message", "txnStatus")
    society.wallet -= card_fee(society, amount)
    member.change("2026-01-05", kobo(amount))


# --- a fixed deposit ----------------------------------------------------------------------------------------

FIXED_RATE, FIXED_DAYS = 15, 30
FIXED_AMOUNT = "100000.00"


def fix_money(society: Merchant, member: Member) -> str:
    """The member fixes money for thirty days; each term's interest stays outside the next."""
    fixed = society.put(
        "investments",
        action="create_savings",
        name=f"{member.name}'s shop",
        client_id=member.client_id,
        interestSettings={"interestRate": str(FIXED_RATE), "interestFrequency": "annualized"},
        tax_applied=True,
        tax_rate=TAX_RATE,
        term_days=FIXED_DAYS,
        rollover="principal",
    )["data"]
    society.show(fixed, "savings_id", "term_days", "rollover", "matures_at")
    savings_id = str(fixed["savings_id"])
    fields = {"savings_id": savings_id, "payment_method": "wallet", "amount": FIXED_AMOUNT}
    society.show(society.put("investments", action="deposit", **fields), "message", "balance")
    society.wallet -= kobo(FIXED_AMOUNT)
    certificate = society.put("investments", action="certificate", savings_id=savings_id)
    society.show(certificate, "message", "expires")
    return savings_id


def earn_in_a_term() -> int:
    """15 % a year for the days of a term, rounded once."""
    exact = Fraction(kobo(FIXED_AMOUNT) * FIXED_RATE * FIXED_DAYS, 365 * 100)
    return (2 * exact.numerator + exact.denominator) // (2 * exact.denominator)


def end_term(society: Merchant, savings_id: str, number: int) -> None:
    """Compares the deposit after its term `number` with what this script works out."""
    interest = earn_in_a_term()
    society.wallet -= interest
    unlocked = (interest - percent(interest, TAX_RATE)) * number
    record = society.put("investments", action="view_savings", savings_id=savings_id)["data"]
    society.same(f"the fixed deposit after term {number}", kobo(FIXED_AMOUNT) + unlocked, kobo(record["balance"]))
    if record["state"] == "active":
        society.same("of which is unlocked", unlocked, kobo(record["unlocked"]))


def take_fixed(society: Merchant, member: Member, savings_id: str) -> None:
    """The deposit has matured: the treasurer pays all of it over the counter."""
    record = society.put("investments", action="view_savings", savings_id=savings_id)["data"]
    society.same("the fixed deposit", "matured", record["state"])
    fields = {"savings_id": savings_id, "client_id": member.client_id, "method": "cash"}
    taken = society.put("investments", action="cashout", amount=record["balance"], **fields)
    society.show(taken, "message", "balance")
    society.wallet += kobo(record["balance"])


# --- the thrift plan ----------------------------------------------------------------------------------------


def begin_plan(society: Merchant, members: list[Member], amount: str) -> str:
    plan = {"name": "Monthly turn", "amount": amount, "start_date": "2026-01-31", "frequency": "every_month"}
    made = society.put("investments", action="create_plan", **plan, member_required=len(members))["data"]
    thrift_id = str(made["thrift_id"])
    for member in members:
        fields = {"savings_id": member.savings_id, "thrift_id": thrift_id}
        place = society.put("investments", action="subscribe", **fields)["data"]
        society.tell(f"{member.name} has turn {place['position']}, on {place['payout_date']}")
    return thrift_id


def turn(members: list[Member], receiver: Member, day: str, amount: str) -> None:
    for member in members:
        member.change(day, -kobo(amount))
    receiver.change(day, kobo(amount) * len(members))


# --- the loan -----------------------------------------------------------------------------------------------


def lend(society: Merchant, member: Member, amount: str) -> str:
    terms = {"interestRate": "2", "interestFrequency": "every_month"}
    fields = {"client_id": member.client_id, "interestSettings": terms, "amount": amount, "period": 3}
    loan = society.put("loans", action="request", **fields)["data"]
    for line in loan["schedule"]:
        society.show(line, "n", "due", "principal", "interest", "total")
    paid_out = society.put("loans", action="process", loan_id=loan["loan_id"], status="approve")
    society.show(paid_out, "message")
    [event] = [line for line in society.put("resources", inquire="events")["data"] if line["kind"] == "transfer"]
    transfer = society.put("disburse", action="verify", txnRef=event["txnRef"])
    society.show(transfer, "txnStatus", "amount", "fee", "vat")
    society.wallet -= sum(kobo(transfer[name]) for name in ("amount", "fee", "vat"))
    return str(loan["loan_id"])


def due_now(society: Merchant, loan_id: str, number: int) -> str:
    loan = society.put("loans", action="view", loan_id=loan_id)["data"]
    return str(loan["schedule"][number - 1]["total"])


def repay_cash(society: Merchant, loan_id: str, amount: str) -> None:
    """The treasurer has the cash already: what the member owes goes down, and no money moves in the wallet."""
    fields = {"loan_id": loan_id, "payment_method": "wallet", "amount": amount}
    reply = society.put("loans", action="repay", **fields)
    society.show(reply, "message", "allocation")
    society.tell(f"the loan is {reply['data']['state']}, {reply['data']['outstanding']['total']} is owed")


def repay_by_card(society: Merchant, loan_id: str, amount: str) -> None:
    fields = {"loan_id": loan_id, "payment_method": "card", "amount": amount, "card": PIN_CARD}
    reply = society.put("loans", action="repay", **fields)
    society.show(reply, "message", "txnStatus", "chargedAmount")
    society.wallet += kobo(amount) - card_fee(society, amount)


# --- what a month brings ------------------------------------------------------------------------------------


def post_interest(society: Merchant, members: list[Member], first: str, end: str) -> None:
    """The service has posted it; this script works it out again, and compares."""
    since, until = date.fromisoformat(first), date.fromisoformat(end)
    for member in members:
        interest = member.earned(since, until)
        tax = percent(interest, TAX_RATE)
        society.wallet -= interest
        member.change(end, interest - tax)
        society.tell(f"{member.name} earned {naira(interest)}, less {naira(tax)} withholding tax")
        compare(society, member)


def compare(society: Merchant, member: Member) -> None:
    record = society.put("investments", action="view_savings", savings_id=member.savings_id)["data"]
    society.same(f"{member.name}'s savings", naira(member.balance), naira(kobo(record["balance"])))


def tell_statement(society: Merchant, loan_id: str) -> None:
    lines = society.put("loans", action="statement", loan_id=loan_id)["data"]
    for line in reversed(lines):
        day, part = line["dateCreated"][:10], line["part"]
        society.tell(f"{day}  {part:<10} {line['narration']:<20} {line['amount']:>12} {line['balance']:>12}")


def run(society: Merchant) -> None:
    society.step("Three members join, each with savings: 12 % a year, 10 % tax on the interest")
    ada = enrol(society, "Ada", "Obi", "08031234567")
    bola = enrol(society, "Bola", "Ade", "08031234568")
    chidi = enrol(society, "Chidi", "Eze", "08031234569")
    members = [ada, bola, chidi]
    society.step("They save: two in cash, one by card with a one-time password")
    save_cash(society, ada, "50000.00")
    save_by_card(society, bola, "50000.00")
    save_cash(society, chidi, "50000.00")
    society.step("Chidi fixes 100,000 for thirty days at 15 %, and again for as long as nobody says otherwise")
    fixed_id = fix_money(society, chidi)
    society.step("A thrift plan: 10,000 each month out of everyone's savings, the pot to one of them in turn")
    thrift_id = begin_plan(society, members, "10000.00")
    society.step("Ada asks for a loan of 60,000 at 2 % a month; the society approves, and her bank account has it")
    loan_id = lend(society, ada, "60000.00")

    year = begin_year(society)

    society.step("The first turn is Ada's")
    society.advance("2026-01-31T10:00:00+01:00")
    turn(members, ada, "2026-01-31", "10000.00")
    compare(society, ada)
    society.step("The month ends: interest is posted, and Ada repays her first installment in cash")
    society.advance("2026-02-05T10:00:00+01:00")
    post_interest(society, members, "2026-01-05", "2026-02-05")
    end_term(society, fixed_id, 1)
    repay_cash(society, loan_id, due_now(society, loan_id, 1))
    society.step("The second turn is Bola's; Ada repays the second installment by card")
    society.advance("2026-02-28T10:00:00+01:00")
    turn(members, bola, "2026-02-28", "10000.00")
    society.advance("2026-03-05T10:00:00+01:00")
    post_interest(society, members, "2026-02-05", "2026-03-05")
    repay_by_card(society, loan_id, due_now(society, loan_id, 2))
    society.step("Chidi's second term ends, and the third shall be the last")
    society.advance("2026-03-06T10:00:00+01:00")
    end_term(society, fixed_id, 2)
    changed = society.put("investments", action="set_rollover", savings_id=fixed_id, rollover="none")
    society.show(changed["data"], "rollover", "matures_at")
    society.step("The third turn is Chidi's, and the plan is complete; Ada pays the rest")
    society.advance("2026-03-31T10:00:00+01:00")
    turn(members, chidi, "2026-03-31", "10000.00")
    society.advance("2026-04-05T10:00:00+01:00")
    post_interest(society, members, "2026-03-05", "2026-04-05")
    end_term(society, fixed_id, 3)
    take_fixed(society, chidi, fixed_id)
    repay_cash(society, loan_id, due_now(society, loan_id, 3))
    end_year(society, members, year)
    check_books(society, thrift_id, loan_id)


# --- the rest of the year ---------------------------------------------------------------------------------


def end_year(society: Merchant, members: list[Member], year: Year) -> None:
    society.step("The year goes by: interest for the first three, and every order on its day")
    first = "2026-04-05"
    for month in range(5, 13):
        end = f"2026-{month:02}-05"
        society.advance(f"{end}T10:00:00+01:00")
        post_interest(society, members, first, end)
        first = end
    society.advance("2026-12-31T10:00:00+01:00")
    check_orders(society, year)
    society.step("A dividend of eight percent on every share, less ten percent tax")
    pay_dividend(society, year.class_id, year.savers)
    society.step("A member leaves, and is paid out")
    leave(society, year.class_id, year.savers[-4])
    society.step("A year and a day after the first meeting, savings that nobody moved are dormant")
    society.advance("2027-01-06T10:00:00+01:00")
    post_interest(society, members, first, "2027-01-05")
    wake(society, year, len(members))


def check_books(society: Merchant, thrift_id: str, loan_id: str) -> None:
    society.step("The loan's statement, line by line")
    tell_statement(society, loan_id)
    society.step("The books, counted by this script and by the service")
    places: Any = society.put("investments", action="subscriptions", thrift_id=thrift_id)["data"]
    for place in places:
        society.same(
            f"turn {place['position']} paid in and got", ("30000.00",) * 2, (place["contributed"], place["received"])
        )
    loan = society.put("loans", action="view", loan_id=loan_id)["data"]
    society.same("the loan", ("closed_repaid", "0.00"), (loan["state"], loan["outstanding"]["total"]))
    society.check_wallet()
    society.check_events()
    print("\nThe books are right.")


if __name__ == "__main__":
    run(open_merchant(read_arguments("A cooperative society"), "Unity Cooperative"))
